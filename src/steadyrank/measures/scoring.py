"""From a run and judgments to one score per measure and topic.

First the judged documents of a run are found, once: their ranks and their rows in
the qrels. That is all any measure needs, it is small, and it stays true when
grades change, so that scoring again costs a fraction of a millisecond.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steadyrank.compute.kernels import kernel, lean_kernel
from steadyrank.data.qrels import Qrels, find_judged
from steadyrank.data.run import Run
from steadyrank.errors import InputError
from steadyrank.measures import kernels as k
from steadyrank.measures.names import Measure

NO_CUTOFF = np.iinfo(np.int64).max

(AP, NDCG, P, R, RPREC, RR, RBP, ERR, NERR, Q, PPLUS, NG, TWIST, SUCCESS, JUDGED) = range(15)

CODES = {
    "AP": AP, "nDCG": NDCG, "P": P, "R": R, "Rprec": RPREC, "RR": RR, "RBP": RBP, "ERR": ERR,
    "nERR": NERR, "Q": Q, "Pplus": PPLUS, "nG": NG, "Twist": TWIST, "Success": SUCCESS,
    "Judged": JUDGED,
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class JudgedRun:
    """Where a run's judged documents stand, for the topics of the qrels.

    The judged documents of topic t are entries `blocks[t]` to `blocks[t + 1]` of
    `ranks` and `rows` (of the qrels). `lengths[t]` is the length of the ranking, or
    -1 where the run lacks the topic.
    """

    blocks: np.ndarray
    ranks: np.ndarray
    rows: np.ndarray
    lengths: np.ndarray


@kernel
def _match(
    run_data, run_offsets, run_hashes, run_blocks, run_topic, data, offsets, first_rows,
    slots, slot_bounds,
):  # fmt: skip
    n_topics = len(run_topic)
    blocks = np.zeros(n_topics + 1, np.int64)
    lengths = np.full(n_topics, -1, np.int64)
    room = 0
    for t in range(n_topics):
        if run_topic[t] >= 0:
            lengths[t] = run_blocks[run_topic[t] + 1] - run_blocks[run_topic[t]]
            room += min(lengths[t], first_rows[t + 1] - first_rows[t])
    ranks = np.empty(room + 1, np.int32)
    rows = np.empty(room + 1, np.int32)
    for t in range(n_topics):
        blocks[t + 1] = blocks[t]
        if run_topic[t] >= 0:
            start, stop = run_blocks[run_topic[t]], run_blocks[run_topic[t] + 1]
            blocks[t + 1] += find_judged(
                run_data, run_offsets, run_hashes, start, stop, data, offsets, first_rows[t],
                slots, slot_bounds[t], slot_bounds[t + 1], ranks, rows, blocks[t],
            )  # fmt: skip
    return blocks, ranks[: blocks[n_topics]], rows[: blocks[n_topics]], lengths


def find_judged_documents(run: Run, qrels: Qrels) -> JudgedRun:
    """Look every retrieved document up in the judgments of its topic."""
    positions = {topic: t for t, topic in enumerate(run.topics)}
    run_topic = np.array([positions.get(topic, -1) for topic in qrels.topics], np.int64)
    slot_bounds, slots = qrels.slots
    blocks, ranks, rows, lengths = _match(
        run.documents.data, run.documents.offsets, run.documents.hashes, run.blocks, run_topic,
        qrels.documents.data, qrels.documents.offsets, qrels.blocks, slots, slot_bounds,
    )  # fmt: skip
    return JudgedRun(blocks, ranks, rows, lengths)


@lean_kernel
def _score(
    code, blocks, all_ranks, all_grades, lengths, ideal_blocks, all_ideal, gain, level, cutoff,
    parameter, no_relevant, missing, out,
):  # fmt: skip
    """One measure on every topic."""
    for t in range(len(lengths)):
        ideal = all_ideal[ideal_blocks[t] : ideal_blocks[t + 1]]
        if code != JUDGED and (len(ideal) == 0 or ideal[0] < level):
            out[t] = no_relevant
            continue
        if lengths[t] < 0:
            out[t] = missing
            continue
        out[t] = _one_topic(
            code, all_ranks[blocks[t] : blocks[t + 1]], all_grades[blocks[t] : blocks[t + 1]],
            lengths[t], ideal, gain, level, cutoff, parameter,
        )  # fmt: skip


@lean_kernel
def _one_topic(code, ranks, grades, length, ideal, gain, level, cutoff, parameter):
    if code == AP:
        return k.average_precision(ranks, grades, length, ideal, gain, level, cutoff, parameter)
    if code == NDCG:
        return k.ndcg(ranks, grades, length, ideal, gain, level, cutoff, parameter)
    if code == P:
        return k.precision(ranks, grades, length, ideal, gain, level, cutoff, parameter)
    if code == R:
        return k.recall(ranks, grades, length, ideal, gain, level, cutoff, parameter)
    if code == RPREC:
        return k.r_precision(ranks, grades, length, ideal, gain, level, cutoff, parameter)
    if code == RR:
        return k.reciprocal_rank(ranks, grades, length, ideal, gain, level, cutoff, parameter)
    if code == RBP:
        return k.rank_biased_precision(ranks, grades, length, ideal, gain, level, cutoff, parameter)
    if code == ERR:
        return k.expected_reciprocal_rank(
            ranks, grades, length, ideal, gain, level, cutoff, parameter
        )
    if code == NERR:
        return k.normalized_err(ranks, grades, length, ideal, gain, level, cutoff, parameter)
    if code == Q:
        return k.q_measure(ranks, grades, length, ideal, gain, level, cutoff, parameter)
    if code == PPLUS:
        return k.p_plus(ranks, grades, length, ideal, gain, level, cutoff, parameter)
    if code == NG:
        return k.normalized_gain(ranks, grades, length, ideal, gain, level, cutoff, parameter)
    if code == TWIST:
        return k.twist(ranks, grades, length, ideal, gain, level, cutoff, parameter)
    if code == SUCCESS:
        return k.success(ranks, grades, length, ideal, gain, level, cutoff, parameter)
    return k.judged_share(ranks, grades, length, ideal, gain, level, cutoff, parameter)


@dataclass(frozen=True, slots=True, eq=False)
class Recipe:
    """A measure made ready for one set of judgments: what its kernel is called with."""

    code: int
    gain: np.ndarray
    level: int
    cutoff: int
    parameter: float


def prepare(measure: Measure, max_grade: int) -> Recipe:
    """The recipe of a measure where the largest grade is `max_grade`."""
    level = measure.parameter("rel") or 1
    parameter = measure.parameter("p") or measure.parameter("beta") or 0.0
    return Recipe(
        CODES[measure.name],
        _gain_table(measure, max_grade),
        int(level),  # type: ignore[arg-type]
        measure.cutoff or NO_CUTOFF,
        float(parameter),  # type: ignore[arg-type]
    )


def _gain_table(measure: Measure, max_grade: int) -> np.ndarray:
    """What each grade from 0 to `max_grade` is worth to the measure."""
    grades = np.arange(max_grade + 1, dtype=np.float64)
    top = _max_rel(measure, max_grade)
    if measure.name in ("ERR", "nERR"):
        return np.asarray((np.exp2(grades) - 1.0) / np.exp2(top))
    if measure.name == "RBP":
        return grades / max(top, 1) if measure.parameter("graded") else np.ones(len(grades))
    gains = measure.parameter("gains")
    if gains is not None:
        if len(gains) <= max_grade:  # type: ignore[arg-type]
            raise InputError(
                f"{measure}: the qrels hold grade {max_grade}, which gains does not cover: "
                f"give {max_grade + 1} gains"
            )
        grades = np.array(gains[: max_grade + 1], np.float64)  # type: ignore[index]
    if measure.parameter("dcg") == "exp-log2":
        return np.exp2(grades) - 1.0
    return grades


def _max_rel(measure: Measure, max_grade: int) -> int:
    top = measure.parameter("max_rel")
    if top is None:
        return max_grade
    if int(top) < max_grade:  # type: ignore[arg-type]
        raise InputError(
            f"{measure}: the qrels hold grade {max_grade}, above max_rel: give max_rel={max_grade}"
        )
    return int(top)  # type: ignore[arg-type]


@kernel
def _with_gain(blocks, ranks, rows, all_grades):
    """The entries whose grade is above 0: no measure but Judged looks at the others."""
    new_blocks = np.zeros_like(blocks)
    new_ranks = np.empty_like(ranks)
    grades = np.empty_like(ranks)
    n = 0
    for t in range(len(blocks) - 1):
        for i in range(blocks[t], blocks[t + 1]):
            grade = all_grades[rows[i]]
            new_ranks[n] = ranks[i]
            grades[n] = grade
            n += np.int64(grade > 0)
        new_blocks[t + 1] = n
    return new_blocks, new_ranks[:n], grades[:n]


def score_topics(
    judged: JudgedRun,
    qrels: Qrels,
    recipes: list[Recipe],
    *,
    missing: float = 0.0,
    no_relevant: float = 0.0,
) -> np.ndarray:
    """Scores [measure, topic] of one run; `missing` and `no_relevant` stand for cells without."""
    few = _with_gain(judged.blocks, judged.ranks, judged.rows, qrels.grades)
    scores = np.empty((len(recipes), len(qrels.topics)))
    for row, recipe in zip(scores, recipes, strict=True):
        all_of_them = (judged.blocks, judged.ranks, judged.ranks)
        blocks, ranks, grades = all_of_them if recipe.code == JUDGED else few
        _score(
            recipe.code, blocks, ranks, grades, judged.lengths, qrels.blocks, qrels.ideal,
            recipe.gain, recipe.level, recipe.cutoff, recipe.parameter, no_relevant, missing, row,
        )  # fmt: skip
    return scores

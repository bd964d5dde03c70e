"""From a run and judgments to one score per measure and topic.

First the judged documents of a run are found, once: their ranks and their rows in
the qrels. That is all any measure needs, it is small, and it stays true when
grades change, so that scoring again costs a fraction of a millisecond.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyrank.compute.kernels import kernel, specialised
from steadyrank.data.qrels import Qrels, find_judged
from steadyrank.data.run import Run
from steadyrank.errors import InputError
from steadyrank.measures import kernels as k
from steadyrank.measures.names import Measure
from steadyrank.measures.own import Function, own_function, score_own

NO_CUTOFF = np.iinfo(np.int64).max

KERNELS = {
    "AP": k.average_precision,
    "nDCG": k.ndcg,
    "P": k.precision,
    "R": k.recall,
    "Rprec": k.r_precision,
    "RR": k.reciprocal_rank,
    "RBP": k.rank_biased_precision,
    "ERR": k.expected_reciprocal_rank,
    "nERR": k.normalized_err,
    "Q": k.q_measure,
    "Pplus": k.p_plus,
    "nG": k.normalized_gain,
    "Twist": k.twist,
    "Success": k.success,
    "Judged": k.judged_share,
}

ANY_GRADE = -(2**31)


@dataclass(frozen=True, slots=True, eq=False)
class JudgedRun:
    """Where a run's judged documents stand, for the topics of the qrels.

    The judged (or only the relevant) documents of topic t are entries `blocks[t]` to
    `blocks[t + 1]` of `ranks` and `rows` (of the qrels). `lengths[t]` is the length of the
    ranking, or -1 where the run lacks the topic.
    """

    blocks: np.ndarray
    ranks: np.ndarray
    rows: np.ndarray
    lengths: np.ndarray


@kernel
def _match(
    run_data,
    run_offsets,
    run_hashes,
    run_blocks,
    run_topic,
    data,
    offsets,
    first_rows,
    slots,
    slot_bounds,
):
    n_topics = len(run_topic)
    blocks = np.zeros(n_topics + 1, np.int64)
    lengths = np.full(n_topics, -1, np.int64)
    room = 0
    for t in range(n_topics):
        if run_topic[t] >= 0:
            lengths[t] = run_blocks[run_topic[t] + 1] - run_blocks[run_topic[t]]
            # A table is at most a quarter full.
            room += min(lengths[t], (slot_bounds[t + 1] - slot_bounds[t]) // 4)
    ranks = np.empty(room, np.int32)
    rows = np.empty(room, np.int32)
    for t in range(n_topics):
        blocks[t + 1] = blocks[t]
        if run_topic[t] >= 0:
            start, stop = run_blocks[run_topic[t]], run_blocks[run_topic[t] + 1]
            blocks[t + 1] += find_judged(
                run_data,
                run_offsets,
                run_hashes,
                start,
                stop,
                data,
                offsets,
                first_rows[t],
                slots,
                slot_bounds[t],
                slot_bounds[t + 1],
                ranks,
                rows,
                blocks[t],
            )
    return blocks, ranks[: blocks[n_topics]], rows[: blocks[n_topics]], lengths


def find_judged_documents(run: Run, qrels: Qrels, *, relevant_only: bool = False) -> JudgedRun:
    """Look every retrieved document up in the judgments of its topic.

    `relevant_only` looks for documents of grade 1 and above alone, all that any measure
    but Judged asks for, in a fraction of the time.
    """
    positions = {topic: t for t, topic in enumerate(run.topics)}
    run_topic = np.array([positions.get(topic, -1) for topic in qrels.topics], np.int64)
    slot_bounds, slots = qrels.relevant_slots if relevant_only else qrels.all_slots
    blocks, ranks, rows, lengths = _match(
        run.documents.data,
        run.documents.offsets,
        run.documents.hashes,
        run.blocks,
        run_topic,
        qrels.documents.data,
        qrels.documents.offsets,
        qrels.blocks,
        slots,
        slot_bounds,
    )
    return JudgedRun(blocks, ranks, rows, lengths)


def _score_topics(
    blocks,
    all_ranks,
    all_grades,
    lengths,
    ideal_blocks,
    all_ideal,
    gain,
    level,
    cutoff,
    parameter,
    no_relevant,
    missing,
    out,
):
    """One measure, the global `one_topic`, on every topic: the body of each measure's kernel."""
    for t in range(len(lengths)):
        ideal = all_ideal[ideal_blocks[t] : ideal_blocks[t + 1]]
        if len(ideal) == 0 or ideal[0] < level:
            out[t] = no_relevant
        elif lengths[t] < 0:
            out[t] = missing
        else:
            out[t] = one_topic(  # noqa: F821
                all_ranks[blocks[t] : blocks[t + 1]],
                all_grades[blocks[t] : blocks[t + 1]],
                lengths[t],
                ideal,
                gain,
                level,
                cutoff,
                parameter,
            )


@functools.cache
def scoring_kernel(measure: str) -> Any:
    """The compiled loop over topics of one measure; only measures in use are ever compiled."""
    return specialised(_score_topics, f"score_{measure}", one_topic=KERNELS[measure])


@dataclass(frozen=True, slots=True, eq=False)
class Recipe:
    """A measure made ready for one set of judgments: what its kernel is called with."""

    measure: Measure
    gain: np.ndarray
    level: int
    cutoff: int
    parameter: float
    function: Function | None = None
    """The user's own, where the measure is."""

    @property
    def needs_all(self) -> bool:
        """Whether documents of grade 0 and below matter to it."""
        return self.function is not None or self.measure.name == "Judged"


def prepare(measure: Measure, max_grade: int) -> Recipe:
    """The recipe of a measure where the largest grade is `max_grade`."""
    # Judged alone makes sense where nothing is relevant.
    level = ANY_GRADE if measure.name == "Judged" else measure.parameter("rel") or 1
    parameter = measure.parameter("p") or measure.parameter("beta") or 0.0
    return Recipe(
        measure,
        _gain_table(measure, max_grade),
        int(level),  # type: ignore[arg-type]
        measure.cutoff or NO_CUTOFF,
        float(parameter),  # type: ignore[arg-type]
        own_function(measure.name),
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
        if recipe.function is not None:
            score_own(
                recipe.function,
                recipe.measure,
                (judged.blocks, judged.ranks, qrels.grades[judged.rows]),
                judged.lengths,
                (qrels.blocks, qrels.ideal),
                no_relevant=no_relevant,
                missing=missing,
                out=row,
            )
            continue
        everything = (judged.blocks, judged.ranks, judged.ranks)
        blocks, ranks, grades = everything if recipe.needs_all else few
        scoring_kernel(recipe.measure.name)(
            blocks,
            ranks,
            grades,
            judged.lengths,
            qrels.blocks,
            qrels.ideal,
            recipe.gain,
            recipe.level,
            recipe.cutoff,
            recipe.parameter,
            no_relevant,
            missing,
            row,
        )
    return scores

"""Score a run against judgments: one score per measure and topic.

The judged documents of a run are looked up once: their ranks and their rows in the qrels. Every
measure is computed from these. They do not depend on the grades, so that scoring again with other
grades takes a fraction of a millisecond.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyrank.compute.kernels import kernel, specialised
from steadyrank.data.qrels import JudgedRun, Qrels, judged_row
from steadyrank.data.run import Run
from steadyrank.errors import InputError
from steadyrank.measures import ideal_kernels
from steadyrank.measures import kernels as k
from steadyrank.measures.names import OWN_FUNCTIONS, Function, Measure

NO_CUTOFF = np.iinfo(np.int64).max

KERNELS = {
    "AP": k.average_precision,
    "nDCG": k.ndcg,
    "P": k.precision,
    "R": k.recall,
    "Rprec": k.r_precision,
    "RR": k.reciprocal_rank,
    "RBP": k.rank_biased_precision,
    "RBP residual": k.rbp_residual,
    "ERR": k.expected_reciprocal_rank,
    "nERR": k.normalized_err,
    "Q": k.q_measure,
    "Pplus": k.p_plus,
    "nG": k.normalized_gain,
    "Twist": ideal_kernels.twist,
    "Success": k.success,
    "Judged": k.judged_share,
    "Bpref": k.binary_preference,
    "infAP": k.inferred_ap,
    "IPrec": k.interpolated_precision,
    "SetP": k.set_precision,
    "SetP relative": k.relative_set_precision,
    "SetR": k.set_recall,
    "SetF": k.set_f,
    "SetAP": k.set_average_precision,
    "NumRet": k.n_retrieved,
    "NumRel": k.n_judged_relevant,
    "NumRelRet": k.n_relevant_retrieved,
    "Compat": ideal_kernels.compatibility,
}

_LOOK_AT_ALL = ("Judged", "Bpref", "infAP", "RBP residual")
"""Measures that depend on documents of grade 0 and below."""

_OF_ANY_TOPIC = ("Judged", "NumRet", "NumRel", "NumRelRet", "RBP residual")
"""Measures that are defined for topics without relevant documents."""

_WITHOUT_RUN = ("NumRel", "RBP residual")
"""Measures that are defined for topics that the run lacks."""

ANY_GRADE = -(2**31)

Entries = tuple[np.ndarray, np.ndarray, np.ndarray]


@kernel
def _match(retrieved, run_blocks, run_topic, among, blocks, ranks, rows):
    """Write ranks and rows of the judged documents, and the end of each topic into `blocks`."""
    run_data, run_offsets, run_hashes = retrieved
    data, offsets, first_rows, slots, slot_bounds = among
    for t in range(len(run_topic)):
        place = blocks[t]
        if run_topic[t] >= 0:
            start, stop = run_blocks[run_topic[t]], run_blocks[run_topic[t] + 1]
            first, low, high = first_rows[t], slot_bounds[t], slot_bounds[t + 1]
            for i in range(start, stop):
                begin, end, code = run_offsets[i], run_offsets[i + 1], run_hashes[i]
                row = judged_row(run_data, begin, end, code, data, offsets, first, slots, low, high)
                if row >= 0:
                    ranks[place], rows[place] = i - start + 1, row
                    place += 1
        blocks[t + 1] = place


def find_judged_documents(run: Run, qrels: Qrels, *, relevant_only: bool = False) -> JudgedRun:
    """Look up every retrieved document in the judgments of its topic.

    `relevant_only` finds only documents of grade 1 and above, in a fraction of the time; most
    measures require no others (`Recipe.needs_all`).
    """
    positions = {topic: t for t, topic in enumerate(run.topics)}
    run_topic = np.array([positions.get(topic, -1) for topic in qrels.topics], np.int64)
    among = qrels.relevant if relevant_only else qrels
    slot_bounds, slots = among.slots
    lengths = np.append(np.diff(run.blocks), -1)[run_topic]  # position -1: the run lacks the topic
    room = int(np.minimum(np.maximum(lengths, 0), among.sizes).sum())
    blocks = np.zeros(len(run_topic) + 1, np.int64)
    ranks, rows = np.empty((2, room), np.int32)
    ids, judged = run.documents, among.documents
    table = (judged.data, judged.offsets, among.blocks, slots, slot_bounds)
    retrieved = (ids.data, ids.offsets, ids.hashes)
    _match(retrieved, run.blocks, run_topic, table, blocks, ranks, rows)
    rows = rows[: blocks[-1]]
    if relevant_only:
        rows = qrels.relevant_rows[rows]
    return JudgedRun(blocks, ranks[: blocks[-1]], rows, lengths)


def _score_topics(entries, lengths, ideal_lists, constants, no_relevant, missing, out):
    """Score every topic by the global `one_topic`: the body of each measure's kernel."""
    blocks, ranks, grades = entries
    ideal_blocks, all_ideal = ideal_lists
    gain, level, cutoff, parameter = constants
    for t in range(len(lengths)):
        rank, grade = ranks[blocks[t] : blocks[t + 1]], grades[blocks[t] : blocks[t + 1]]
        ideal = all_ideal[ideal_blocks[t] : ideal_blocks[t + 1]]
        if len(ideal) == 0 or ideal[0] < level:
            out[t] = no_relevant
        elif lengths[t] < 0:
            out[t] = missing
        else:
            out[t] = one_topic(  # noqa: F821
                rank, grade, lengths[t], ideal, gain, level, cutoff, parameter
            )


@functools.cache
def scoring_kernel(measure: str) -> Any:
    """Return the compiled loop over topics for one measure; it is compiled on first use."""
    name = f"score_{measure.replace(' ', '_')}"
    return specialised(_score_topics, name, one_topic=KERNELS[measure])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recipe:
    """A measure prepared for one set of judgments: the arguments of its kernel."""

    measure: Measure
    kernel: str
    """Key in `KERNELS`."""
    gain: np.ndarray
    level: int
    cutoff: int
    parameter: float
    function: Function | None
    judged_only: bool
    """Whether unjudged documents leave the ranking before it is scored."""
    needs_all: bool
    """Whether it depends on documents of grade 0 and below."""
    lengths_matter: bool
    """Whether it is undefined for topics that the run lacks."""

    @property
    def constants(self) -> tuple[np.ndarray, int, int, float]:
        """Arguments of the kernel that are the same for all topics."""
        return self.gain, self.level, self.cutoff, self.parameter


@functools.cache
def kernel_of(measure: Measure) -> str:
    """Return the key in `KERNELS` of a measure; some parameters select another kernel."""
    variants = {
        "NumRet": ("NumRelRet", measure.parameter("rel") is not None),
        "SetP": ("SetP relative", measure.parameter("relative")),
        "RBP": ("RBP residual", measure.parameter("residual")),
    }
    variant, is_meant = variants.get(measure.name, ("", False))
    return variant if is_meant else measure.name


def prepare(measure: Measure, max_grade: int) -> Recipe:
    """Return the recipe of a measure for judgments whose largest grade is `max_grade`."""
    return _prepared(measure, max_grade, OWN_FUNCTIONS.get(measure.name))


@functools.lru_cache(maxsize=256)
def _prepared(measure: Measure, max_grade: int, function: Function | None) -> Recipe:
    level = measure.parameter("rel") or 1
    constants = (measure.parameter(key) for key in ("p", "beta", "recall"))
    # Counts have no constant: their parameter is the lowest grade that they count.
    parameter = next((constant for constant in constants if constant is not None), level)
    kernel, judged_only = kernel_of(measure), measure.parameter("judged_only") is True
    return Recipe(
        measure=measure,
        kernel=kernel,
        gain=_gain_table(measure, max_grade),
        level=ANY_GRADE if kernel in _OF_ANY_TOPIC else int(level),  # type: ignore[arg-type]
        cutoff=measure.cutoff or NO_CUTOFF,
        parameter=float(parameter),  # type: ignore[arg-type]
        function=function,
        judged_only=judged_only,
        needs_all=function is not None or kernel in _LOOK_AT_ALL or judged_only,
        lengths_matter=kernel not in _WITHOUT_RUN,
    )


def _gain_table(measure: Measure, max_grade: int) -> np.ndarray:
    """Return the gain of each grade from 0 to `max_grade`."""
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


def _only(entries: Entries, kept: np.ndarray) -> Entries:
    blocks, ranks, grades = entries
    return np.concatenate([[0], np.cumsum(kept)])[blocks], ranks[kept], grades[kept]


def _condensed(entries: Entries, lengths: np.ndarray) -> tuple[Entries, np.ndarray]:
    """Return entries and lengths without unjudged documents; a negative grade is no judgment."""
    blocks, ranks, grades = entries
    here = slice(blocks[0], blocks[-1])  # the entries may be those of many runs, the blocks of one
    blocks, _, grades = _only((blocks - blocks[0], ranks[here], grades[here]), grades[here] >= 0)
    sizes = np.diff(blocks)
    new_ranks = np.arange(1, len(grades) + 1) - np.repeat(blocks[:-1], sizes)
    return (blocks, new_ranks.astype(ranks.dtype), grades), np.where(lengths >= 0, sizes, -1)


def score_recipe(
    recipe: Recipe,
    entries: Entries,
    lengths: np.ndarray,
    ideal: tuple[np.ndarray, np.ndarray],
    *,
    no_relevant: float,
    missing: float,
    out: np.ndarray,
) -> None:
    """Write the scores of one measure on every topic into `out`.

    `entries` hold all judged documents if `recipe.needs_all`, otherwise those of grade 1 and above;
    `ideal` holds blocks and grades of the ideal lists.
    """
    if recipe.function is not None:
        _score_own(recipe, entries, lengths, ideal, no_relevant, missing, out)
        return
    if recipe.judged_only:
        entries, lengths = _condensed(entries, lengths)
    if not recipe.lengths_matter:
        lengths = np.maximum(lengths, 0)
    scoring_kernel(recipe.kernel)(
        entries, lengths, ideal, recipe.constants, no_relevant, missing, out
    )


def _score_own(
    recipe: Recipe,
    entries: Entries,
    lengths: np.ndarray,
    ideal: tuple[np.ndarray, np.ndarray],
    no_relevant: float,
    missing: float,
    out: np.ndarray,
) -> None:
    """Score every topic by the user's function."""
    (blocks, ranks, grades), (ideal_blocks, all_ideal) = entries, ideal
    function: Any = recipe.function
    for t, length in enumerate(lengths.tolist()):
        judged = all_ideal[ideal_blocks[t] : ideal_blocks[t + 1]].copy()  # all runs share them
        if len(judged) == 0 or judged[0] < 1 or length < 0:
            out[t] = missing if len(judged) > 0 and judged[0] >= 1 else no_relevant
            continue
        here, ranked = slice(blocks[t], blocks[t + 1]), np.zeros(length, np.int32)
        ranked[ranks[here] - 1] = grades[here]
        try:
            out[t] = float(function(ranked[: recipe.cutoff], judged))
        except Exception as error:
            raise InputError(
                f"measure {recipe.measure} failed: {type(error).__name__}: {error}: "
                "it must turn (ranked, judged) into a number"
            ) from error


def score_topics(
    judged: JudgedRun,
    qrels: Qrels,
    recipes: list[Recipe],
    *,
    missing: float = 0.0,
    no_relevant: float = 0.0,
) -> np.ndarray:
    """Return scores [measure, topic] of one run."""
    everything = (judged.blocks, judged.ranks, qrels.grades[judged.rows])
    few = _only(everything, everything[2] > 0)  # sufficient for most measures
    scores = np.empty((len(recipes), len(qrels.topics)))
    for row, recipe in zip(scores, recipes, strict=True):
        score_recipe(
            recipe,
            everything if recipe.needs_all else few,
            judged.lengths,
            (qrels.blocks, qrels.ideal),
            no_relevant=no_relevant,
            missing=missing,
            out=row,
        )
    return scores

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
from steadyrank.data.qrels import JudgedRun, Qrels, judged_row
from steadyrank.data.run import Run
from steadyrank.errors import InputError
from steadyrank.measures import ideal_kernels
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
    "Compat raw": ideal_kernels.raw_compatibility,
}

_LOOK_AT_ALL = ("Judged", "Bpref", "infAP", "RBP residual")
"""Measures to which documents of grade 0 and below matter."""

_OF_ANY_TOPIC = ("Judged", "NumRet", "NumRel", "NumRelRet", "RBP residual")
"""Measures that make sense where nothing is relevant."""

_WITHOUT_RUN = ("NumRel", "RBP residual")
"""Measures that are known of a topic that the run lacks."""

ANY_GRADE = -(2**31)


Entries = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Blocks, ranks and grades of documents."""


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
    blocks,
    ranks,
    rows,
):
    """Write ranks and rows of the judged documents, and where each topic's end into `blocks`."""
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
    """Look every retrieved document up in the judgments of its topic.

    `relevant_only` looks for documents of grade 1 and above alone, all that most measures
    ask for (`Recipe.needs_all`), in a fraction of the time.
    """
    positions = {topic: t for t, topic in enumerate(run.topics)}
    run_topic = np.array([positions.get(topic, -1) for topic in qrels.topics], np.int64)
    among = qrels.relevant if relevant_only else qrels
    slot_bounds, slots = among.slots
    lengths = np.append(np.diff(run.blocks), -1)[run_topic]  # the last, where there is none
    room = int(np.minimum(np.maximum(lengths, 0), among.sizes).sum())
    blocks = np.zeros(len(run_topic) + 1, np.int64)
    ranks, rows = np.empty((2, room), np.int32)
    _match(
        run.documents.data,
        run.documents.offsets,
        run.documents.hashes,
        run.blocks,
        run_topic,
        among.documents.data,
        among.documents.offsets,
        among.blocks,
        slots,
        slot_bounds,
        blocks,
        ranks,
        rows,
    )
    rows = rows[: blocks[-1]]
    if relevant_only:
        rows = qrels.relevant_rows[rows]
    return JudgedRun(blocks, ranks[: blocks[-1]], rows, lengths)


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
    name = f"score_{measure.replace(' ', '_')}"
    return specialised(_score_topics, name, one_topic=KERNELS[measure])


@dataclass(frozen=True, eq=False)
class Recipe:
    """A measure made ready for one set of judgments: what its kernel is called with."""

    measure: Measure
    gain: np.ndarray
    level: int
    cutoff: int
    parameter: float
    function: Function | None = None
    """The user's own, where the measure is."""

    @functools.cached_property
    def judged_only(self) -> bool:
        """Whether unjudged documents leave the ranking before it is scored."""
        return self.measure.parameter("judged_only") is True

    @functools.cached_property
    def needs_all(self) -> bool:
        """Whether documents of grade 0 and below matter to it."""
        looks = self.kernel in _LOOK_AT_ALL
        return self.function is not None or looks or self.judged_only

    @functools.cached_property
    def kernel(self) -> str:
        """Which of `KERNELS` computes it."""
        return kernel_of(self.measure)

    @functools.cached_property
    def lengths_matter(self) -> bool:
        """Whether it is unknown where the run lacks a topic."""
        return self.kernel not in _WITHOUT_RUN


@functools.cache
def kernel_of(measure: Measure) -> str:
    """Which of `KERNELS` computes a measure: some parameters make another one of it.

    >>> kernel_of(Measure("SetP")), kernel_of(Measure("SetP")(relative=True))
    ('SetP', 'SetP relative')
    """
    variants = {
        "NumRet": ("NumRelRet", measure.parameter("rel") is not None),
        "SetP": ("SetP relative", measure.parameter("relative")),
        "RBP": ("RBP residual", measure.parameter("residual")),
        "Compat": ("Compat raw", measure.parameter("normalize") is False),
    }
    variant, is_meant = variants.get(measure.name, ("", False))
    return variant if is_meant else measure.name


def prepare(measure: Measure, max_grade: int) -> Recipe:
    """The recipe of a measure where the largest grade is `max_grade`."""
    return _prepared(measure, max_grade, own_function(measure.name))


@functools.lru_cache(maxsize=256)
def _prepared(measure: Measure, max_grade: int, function: Function | None) -> Recipe:
    level = measure.parameter("rel") or 1
    constants = (measure.parameter(key) for key in ("p", "beta", "recall"))
    # Counts have no constant: they are given the grade from which on they count.
    parameter = next((constant for constant in constants if constant is not None), level)
    if kernel_of(measure) in _OF_ANY_TOPIC:
        level = ANY_GRADE
    return Recipe(
        measure,
        _gain_table(measure, max_grade),
        int(level),  # type: ignore[arg-type]
        measure.cutoff or NO_CUTOFF,
        float(parameter),  # type: ignore[arg-type]
        function,
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


def _only(entries: Entries, kept: np.ndarray) -> Entries:
    blocks, ranks, grades = entries
    return np.concatenate([[0], np.cumsum(kept)])[blocks], ranks[kept], grades[kept]


def _condensed(entries: Entries, lengths: np.ndarray) -> tuple[Entries, np.ndarray]:
    """Entries and lengths once unjudged documents are gone; a negative grade is no judgment."""
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
    """Write one measure of every topic into `out`: the only place that calls kernels.

    `entries` are those of all judged documents where `recipe.needs_all`, else of those with gain;
    `ideal` has the blocks and the grades of the ideal lists.
    """
    without: Any = {"no_relevant": no_relevant, "missing": missing}
    if recipe.function is not None:
        score_own(recipe.function, recipe.measure, entries, lengths, ideal, **without, out=out)
        return
    if recipe.judged_only:
        entries, lengths = _condensed(entries, lengths)
    if not recipe.lengths_matter:
        lengths = np.maximum(lengths, 0)
    scoring_kernel(recipe.kernel)(
        *entries,
        lengths,
        *ideal,
        recipe.gain,
        recipe.level,
        recipe.cutoff,
        recipe.parameter,
        no_relevant,
        missing,
        out,
    )


def score_topics(
    judged: JudgedRun,
    qrels: Qrels,
    recipes: list[Recipe],
    *,
    missing: float = 0.0,
    no_relevant: float = 0.0,
) -> np.ndarray:
    """Scores [measure, topic] of one run; `missing` and `no_relevant` stand for cells without."""
    everything = (judged.blocks, judged.ranks, qrels.grades[judged.rows])
    few = _only(everything, everything[2] > 0)  # all that most measures look at
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

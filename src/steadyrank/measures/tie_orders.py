"""How much do tied scores affect the measures of a run? Expectations, and the extreme orders.

The order of documents with equal scores is arbitrary; trec_eval orders them by their ids. This
module computes the exact mean of a measure over all orders of the tied documents (McSherry &
Najork, ECIR 2008, doi:10.1007/978-3-540-78646-7_38), and its values for the worst and the best
order.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyrank.compute.kernels import kernel, part, specialised
from steadyrank.data.qrels import JudgedRun, Qrels
from steadyrank.data.run import Run
from steadyrank.errors import InputError, arg
from steadyrank.measures import tie_kernels as expected
from steadyrank.measures.names import Measure
from steadyrank.measures.scoring import KERNELS, Recipe, find_judged_documents, score_topics

_EXPECTATIONS = {
    "AP": expected.average_precision,
    "nDCG": expected.ndcg,
    "P": expected.precision,
    "R": expected.recall,
    "Rprec": expected.r_precision,
    "RR": expected.reciprocal_rank,
    "RBP": expected.rank_biased_precision,
    "RBP residual": expected.rbp_residual,
    "ERR": expected.expected_reciprocal_rank,
    "nERR": expected.normalized_err,
    "Q": expected.q_measure,
    "nG": expected.normalized_gain,
    "Success": expected.success,
    "Judged": expected.judged_share,
    "Bpref": expected.binary_preference,
}

_OF_SETS = ("SetP", "SetP relative", "SetR", "SetF", "SetAP", "NumRet", "NumRel", "NumRelRet")
"""Measures that do not depend on the order: their expectation is the score."""


def _expect_topics(entries, ideal_lists, constants, scratch, no_relevant, missing, out):
    """Compute the expectation of one measure, the global `one_topic`, on every topic."""
    blocks, firsts, lasts, grades, lengths = entries
    ideal_blocks, all_ideal = ideal_lists
    gain, level, cutoff, parameter = constants
    for t in range(len(lengths)):
        low, high, length = blocks[t], blocks[t + 1], lengths[t]
        first, last, grade = firsts[low:high], lasts[low:high], grades[low:high]
        ideal = all_ideal[ideal_blocks[t] : ideal_blocks[t + 1]]
        if len(ideal) == 0 or ideal[0] < level:
            out[t] = no_relevant
        elif length < 0:
            out[t] = missing
        else:
            out[t] = one_topic(  # noqa: F821
                first, last, grade, length, ideal, gain, level, cutoff, parameter, scratch
            )


@functools.cache
def _expectation_kernel(measure: str) -> Any:
    """Return the compiled loop over topics for the expectation of one measure."""
    name = measure.replace(" ", "_")
    if measure in _OF_SETS:
        of_set: Any = {"how": part, "measure": KERNELS[measure]}
        one_topic = specialised(expected.whatever_the_order, f"expected_{name}", **of_set)
    else:
        one_topic = _EXPECTATIONS[measure]
    return specialised(_expect_topics, f"expect_{name}", one_topic=one_topic)


@kernel
def _tie_groups(blocks, ranks, lengths, starts, scores, firsts, lasts, heads):
    """Write the first and last rank of the tie group of every entry, and its first entry."""
    for t in range(len(lengths)):
        last = np.int64(0)
        for i in range(blocks[t], blocks[t + 1]):
            if ranks[i] > last:
                score = scores[starts[t] + ranks[i] - 1]
                before, first, head = last, np.int64(ranks[i]), i
                while first - 1 > before and scores[starts[t] + first - 2] == score:
                    first -= 1
                last = np.int64(ranks[i])
                while last < lengths[t] and scores[starts[t] + last] == score:
                    last += 1
            firsts[i], lasts[i], heads[i] = first, last, head


def _condensed_groups(
    blocks: np.ndarray, heads: np.ndarray, grades: np.ndarray, lengths: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Return tie groups and lengths without unjudged documents; a negative grade is no judgment.

    If a whole group is permuted uniformly, so are its judged documents.
    """
    kept = grades >= 0
    blocks = np.concatenate([[0], np.cumsum(kept)])[blocks]
    sizes, group = np.diff(blocks), heads[kept]
    before = np.repeat(blocks[:-1], sizes)  # entries of earlier topics
    firsts = np.searchsorted(group, group) - before + 1
    lasts = np.searchsorted(group, group, side="right") - before
    return blocks, firsts, lasts, grades[kept], np.where(lengths >= 0, sizes, -1)


@dataclass(frozen=True, slots=True, eq=False)
class _TiedRun:
    """Judged documents of a run with their tie groups, as written by `_tie_groups`."""

    judged: JudgedRun
    firsts: np.ndarray
    lasts: np.ndarray
    heads: np.ndarray


def _find_tied_documents(run: Run, qrels: Qrels, recipes: Sequence[Recipe]) -> _TiedRun:
    relevant_only = not any(recipe.needs_all for recipe in recipes)
    judged = find_judged_documents(run, qrels, relevant_only=relevant_only)
    first_rows = dict(zip(run.topics, run.blocks.tolist(), strict=False))
    starts = np.array([first_rows.get(topic, -1) for topic in qrels.topics], np.int64)
    # Allocated here: a kernel that allocates arrays takes longer to load than to run.
    groups = np.empty((3, len(judged.ranks)), np.int64)
    _tie_groups(judged.blocks, judged.ranks, judged.lengths, starts, run.scores, *groups)
    return _TiedRun(judged, *groups)


def has_expectation(measure: Measure) -> bool:
    """Return whether `expected_scores` supports a measure.

    It supports all but P+, Twist, infAP, IPrec, Compat and registered measures.

    >>> has_expectation(Measure("AP")), has_expectation(Measure("Twist"))
    (True, False)
    """
    return measure.name in _EXPECTATIONS or measure.name in _OF_SETS


def _has_ties(run: Run) -> bool:
    """Return whether some topic has two documents of equal score; requires no compilation."""
    equal = run.scores[1:] == run.scores[:-1]
    starts = run.blocks[(run.blocks > 0) & (run.blocks < len(run))]
    equal[starts - 1] = False
    return bool(equal.any())


def expected_scores(
    run: Run,
    qrels: Qrels,
    recipes: Sequence[Recipe],
    *,
    missing: float = 0.0,
    no_relevant: float = 0.0,
) -> np.ndarray:
    """Return scores [measure, topic], each the mean over all orders of the tied documents.

    The means are exact: every group of equal scores is permuted uniformly and independently of the
    others. The time is linear in the length of the list. No formula is known for P+, Twist, infAP,
    IPrec, Compat and registered measures (`has_expectation`).

    McSherry & Najork, "Computing information retrieval performance measures efficiently in
    the presence of tied scores", ECIR 2008, doi:10.1007/978-3-540-78646-7_38, treat P, R,
    AP, RR and nDCG; the others follow in the same way.

    >>> from steadyrank.data.qrels import qrels_from_dict
    >>> from steadyrank.data.run import run_from_dict
    >>> qrels = qrels_from_dict({"301": {"d1": 1}})
    >>> run = run_from_dict({"301": {"d1": 2.0, "d2": 2.0}}, name="mine")
    >>> from steadyrank.measures.scoring import prepare
    >>> expected_scores(run, qrels, [prepare(Measure("AP"), 1)]).tolist()
    [[0.75]]
    """
    check_expectations(recipes)
    tied = _find_tied_documents(run, qrels, recipes)
    grades = qrels.grades[tied.judged.rows]
    scratch = np.empty((2, tied.judged.lengths.max(initial=0) + 1))
    scores = np.empty((len(recipes), len(qrels.topics)))
    for row, recipe in zip(scores, recipes, strict=True):
        entries, ideal = _entries_for(recipe, tied, grades), (qrels.blocks, qrels.ideal)
        _expectation_kernel(recipe.kernel)(
            entries, ideal, recipe.constants, scratch, no_relevant, missing, row
        )
    return scores


def _entries_for(recipe: Recipe, tied: _TiedRun, grades: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return blocks, first and last ranks, and grades of the measure's documents; list lengths."""
    judged = tied.judged
    lengths = judged.lengths if recipe.lengths_matter else np.maximum(judged.lengths, 0)
    if recipe.judged_only:
        return _condensed_groups(judged.blocks, tied.heads, grades, lengths)
    if recipe.needs_all:
        return judged.blocks, tied.firsts, tied.lasts, grades, lengths
    few = grades > 0
    few_blocks = np.concatenate([[0], np.cumsum(few)])[judged.blocks]
    return few_blocks, tied.firsts[few], tied.lasts[few], grades[few], lengths


def check_expectations(recipes: Sequence[Recipe]) -> None:
    """Raise an error for a measure whose expectation is not known."""
    for recipe in recipes:
        if not has_expectation(recipe.measure):
            raise InputError(
                f"{recipe.measure} has no known expectation over the orders of tied documents: "
                f"omit it, or use {arg('ties', 'trec_eval')}"
            )


def tie_bounds(
    run: Run,
    qrels: Qrels,
    recipes: Sequence[Recipe],
    *,
    missing: float = 0.0,
    no_relevant: float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Return scores [measure, topic] for the worst and for the best order of tied documents.

    In the worst order the judged documents of a tie group take its last ranks, the highest grades
    last; in the best order its first ranks, the highest grades first. These are the smallest and
    the largest score of all orders for every measure that never falls when a document of a higher
    grade moves up. For P+, Twist, registered measures and, with negative grades, infAP, other
    orders may score lower or higher.
    """
    without = {"missing": missing, "no_relevant": no_relevant}
    if not _has_ties(run):
        relevant_only = not any(recipe.needs_all for recipe in recipes)
        judged = find_judged_documents(run, qrels, relevant_only=relevant_only)
        scores = score_topics(judged, qrels, list(recipes), **without)
        return scores, scores
    tied = _find_tied_documents(run, qrels, recipes)
    judged = tied.judged
    grades = qrels.grades[judged.rows].astype(np.int64)
    entries = np.arange(len(grades))
    tails = np.searchsorted(tied.heads, tied.heads, side="right") - 1
    ranks_last = tied.lasts - (tails - entries)
    ranks_first = tied.firsts + (entries - tied.heads)
    orders = (
        (ranks_last, np.lexsort((grades, tied.heads))),
        (ranks_first, np.lexsort((-grades, tied.heads))),
    )
    lowest, highest = (
        score_topics(
            JudgedRun(judged.blocks, ranks.astype(np.int32), judged.rows[order], judged.lengths),
            qrels,
            list(recipes),
            **without,
        )
        for ranks, order in orders
    )
    # A residual falls where scores rise.
    return np.minimum(lowest, highest), np.maximum(lowest, highest)

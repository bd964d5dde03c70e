"""Exact means of measures over the orders of tied documents, which are arbitrary.

Every group of equal scores is permuted uniformly and independently of the others (McSherry &
Najork, ECIR 2008, doi:10.1007/978-3-540-78646-7_38). The kernels share the signature of
`measures.kernels`, with ranks replaced by tie groups: entry i is tied with all documents at ranks
`firsts[i]` to `lasts[i]`. `scratch` is memory for two rows as long as the list.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from steadyrank.compute.kernels import inlined, kernel, part, specialised
from steadyrank.data.qrels import JudgedRun, Qrels
from steadyrank.data.run import Run
from steadyrank.errors import InputError, arg
from steadyrank.measures.kernels import ideal_dcg, ideal_err, n_judged_other, n_relevant, worth
from steadyrank.measures.names import Measure
from steadyrank.measures.scoring import Recipe, find_judged_documents, score_topics

_NEGLIGIBLE = 60.0
"""Probabilities below exp(-60), about 1e-26, change no score."""


@inlined
def _group(firsts, grades, gain, level, start):
    """Return end, number of relevant documents and total gain of the tie group of entry `start`."""
    stop = start
    relevant = 0
    gained = 0.0
    while stop < len(firsts) and firsts[stop] == firsts[start]:
        if grades[stop] >= level:
            relevant += 1
            gained += worth(gain, grades[stop])
        stop += 1
    return stop, relevant, gained


@inlined
def _found(firsts, lasts, grades, level, cutoff):
    """Return the expected number of relevant documents at ranks up to `cutoff`."""
    whole = 0
    cut = 0
    share = 0.0
    for i in range(len(firsts)):
        if firsts[i] > cutoff:
            break
        if grades[i] < level:
            continue
        if lasts[i] <= cutoff:
            whole += 1
        else:
            cut += 1
            share = (cutoff - firsts[i] + 1) / (lasts[i] - firsts[i] + 1)
    return whole + cut * share


@part
def precision(firsts, lasts, grades, length, ideal, gain, level, cutoff, parameter, scratch):
    """E[P@k]: expected relevant documents in the top k, over k."""
    return _found(firsts, lasts, grades, level, cutoff) / cutoff


@part
def recall(firsts, lasts, grades, length, ideal, gain, level, cutoff, parameter, scratch):
    """E[R@k]: expected relevant documents in the top k, over R."""
    return _found(firsts, lasts, grades, level, cutoff) / n_relevant(ideal, level)


@part
def r_precision(firsts, lasts, grades, length, ideal, gain, level, cutoff, parameter, scratch):
    """E[Rprec]: expected precision at rank R."""
    relevant = n_relevant(ideal, level)
    return _found(firsts, lasts, grades, level, relevant) / relevant


@part
def judged_share(firsts, lasts, grades, length, ideal, gain, level, cutoff, parameter, scratch):
    """E[Judged@k]: expected judged documents in the top k, over the documents there."""
    depth = min(length, cutoff)
    return _found(firsts, lasts, grades, level, cutoff) / depth if depth > 0 else 0.0


@inlined
def _blended(firsts, lasts, grades, ideal, gain, level, cutoff, beta):
    """Return the expected sum of the blended ratios at the relevant ranks up to `cutoff`.

    In a group of g documents, m of them relevant with total gain s, after c relevant documents of
    gain G, the j-th rank holds a relevant document with probability m/g. Then each of the j - 1
    before it is one of the other m - 1 with probability (m-1)/(g-1), and has the mean gain s/m.
    So with r the rank, the j-th term of the sum is

        [m (c+1) + beta (m G + s) + (j-1) (m-1)/(g-1) (m + beta s)] / g / (r + beta cg*(r)).
    """
    total = 0.0
    found = 0
    gained = 0.0
    best = 0.0
    reached = 0
    i = 0
    while i < len(firsts) and firsts[i] <= cutoff:
        stop, m, s = _group(firsts, grades, gain, level, i)
        first, size = firsts[i], lasts[i] - firsts[i] + 1.0
        at_first = (m * (found + 1.0) + beta * (m * gained + s)) / size
        step = (m - 1.0) / (size - 1.0) * (m + beta * s) / size if size > 1.0 else 0.0
        for rank in range(first, min(lasts[i], cutoff) + 1 if m > 0 else first):
            while reached < min(rank, len(ideal)) and ideal[reached] >= level:
                best += worth(gain, ideal[reached])
                reached += 1
            total += (at_first + (rank - first) * step) / (rank + beta * best)
        found += m
        gained += s
        i = stop
    return total


@part
def average_precision(
    firsts, lasts, grades, length, ideal, gain, level, cutoff, parameter, scratch
):
    """E[AP] = sum over groups and j of m/g (c + 1 + (j-1) (m-1)/(g-1)) / rank, over R."""
    total = _blended(firsts, lasts, grades, ideal, gain, level, cutoff, 0.0)
    return total / n_relevant(ideal, level)


@part
def q_measure(firsts, lasts, grades, length, ideal, gain, level, cutoff, parameter, scratch):
    """E[Q@k]: the denominator of a blended ratio depends only on the rank, so means add up."""
    total = _blended(firsts, lasts, grades, ideal, gain, level, cutoff, parameter)
    return total / min(n_relevant(ideal, level), cutoff)


@part
def success(firsts, lasts, grades, length, ideal, gain, level, cutoff, parameter, scratch):
    """E[Success@k] = 1, or 1 - C(g-m, k)/C(g, k) for a group with k ranks up to the cutoff.

    Computed as the sum of the probabilities to meet the first relevant document at each step, so
    that no digits cancel; m and k are interchangeable, so the smaller is the number of steps.
    """
    i = 0
    while i < len(firsts) and firsts[i] <= cutoff:
        stop, m, _ = _group(firsts, grades, gain, level, i)
        if m > 0 and lasts[i] <= cutoff:
            return 1.0
        if m > 0:
            size, above = lasts[i] - firsts[i] + 1, cutoff - firsts[i] + 1
            met = 0.0
            for j in range(min(m, above)):
                met += (1.0 - met) * (max(m, above) / (size - j))
            return met
        i = stop
    return 0.0


@part
def reciprocal_rank(firsts, lasts, grades, length, ideal, gain, level, cutoff, parameter, scratch):
    """E[RR]: a sum over the ranks of the first group with a relevant document.

    The first of its m relevant documents is the j-th of all g with probability
    m/(g-j+1) prod_{i<j} (g-m-i+1)/(g-i+1).
    """
    start, i, m = 0, 0, 0
    while i < len(firsts) and m == 0:
        start = i
        i, m, _ = _group(firsts, grades, gain, level, start)
    if m == 0:
        return 0.0
    total = 0.0
    none_yet = 1.0
    for rank in range(firsts[start], min(lasts[start], cutoff) + 1):
        left = lasts[start] - rank + 1.0
        total += none_yet * m / left / rank
        none_yet *= max(left - m, 0.0) / left
        if none_yet < math.exp(-_NEGLIGIBLE):
            break
    return total


@part
def ndcg(firsts, lasts, grades, length, ideal, gain, level, cutoff, parameter, scratch):
    """E[nDCG]: every rank of a group has the group's mean gain."""
    dcg = 0.0
    i = 0
    while i < len(firsts) and firsts[i] <= cutoff:
        stop, _, gained = _group(firsts, grades, gain, level, i)
        mean = gained / (lasts[i] - firsts[i] + 1)
        for rank in range(firsts[i], min(lasts[i], cutoff) + 1 if gained > 0.0 else 0):
            dcg += mean / math.log2(rank + 1.0)
        i = stop
    best = ideal_dcg(ideal, gain, cutoff)
    return dcg / best if best > 0.0 else 0.0


@part
def rank_biased_precision(
    firsts, lasts, grades, length, ideal, gain, level, cutoff, parameter, scratch
):
    """E[RBP]: ranks a+1 to a+n of a group add p^a (1 - p^n) times its mean gain."""
    total = 0.0
    i = 0
    while i < len(firsts) and firsts[i] <= cutoff:
        stop, _, gained = _group(firsts, grades, gain, level, i)
        mean = gained / (lasts[i] - firsts[i] + 1)
        n = min(lasts[i], cutoff) - firsts[i] + 1
        total -= mean * parameter ** (firsts[i] - 1.0) * math.expm1(n * math.log(parameter))
        i = stop
    return total


@part
def rbp_residual(firsts, lasts, grades, length, ideal, gain, level, cutoff, parameter, scratch):
    """E[RBP(residual=True)] = 1 minus the expected weight of the judged documents."""
    weight = 0.0
    for i in range(len(firsts)):
        if firsts[i] > cutoff:
            break
        if grades[i] >= 0:
            n = min(lasts[i], cutoff) - firsts[i] + 1
            share = -math.expm1(n * math.log(parameter)) / (lasts[i] - firsts[i] + 1)
            weight += share * parameter ** (firsts[i] - 1.0)
    return 1.0 - weight


@part
def _stop_chances(grades, gain, size, stops, goes):
    """Write to stops[j] the probability to stop at the j-th document of a group in random order.

    Documents are inserted one by one, at a random one of n positions. A user stops at the inserted
    document with probability p. Its position is before rank j (j-1 positions), at j (one), or after
    it (n-j):

        stops[j] <- [(j-1) (1-p) stops[j-1] + p goes[j-1] + (n-j) stops[j]] / n,
        goes[j] <- [j (1-p) goes[j-1] + (n-j) goes[j]] / n,

    where goes[j] is the probability to continue past rank j. All terms are positive.
    """
    n = size - len(grades)
    for j in range(len(stops)):
        stops[j] = 0.0
        goes[j] = 1.0 if j <= n else 0.0
    for i in range(len(grades)):
        p = worth(gain, grades[i])
        n += 1
        for j in range(min(n, len(stops) - 1), 0, -1):
            ahead = (j - 1) * (1.0 - p) * stops[j - 1] + p * goes[j - 1]
            stops[j] = (ahead + (n - j) * stops[j]) / n
            goes[j] = (j * (1.0 - p) * goes[j - 1] + (n - j) * goes[j]) / n


@part
def expected_reciprocal_rank(
    firsts, lasts, grades, length, ideal, gain, level, cutoff, parameter, scratch
):
    """E[ERR] = sum over ranks of the probability to reach and to stop there, over the rank.

    By Maclaurin's inequality the probability to continue past the j-th of g documents whose
    stopping probabilities sum to s is at most (1 - s/g)^j <= exp(-j s/g). It is negligible beyond
    60 g/s, so a group of m documents takes at most 60 g m/s steps.
    """
    total = 0.0
    go_on = 1.0
    i = 0
    while i < len(firsts) and firsts[i] <= cutoff:
        stop, _, s = _group(firsts, grades, gain, level, i)
        size = lasts[i] - firsts[i] + 1
        depth = min(size, cutoff - firsts[i] + 1)
        if s * depth > _NEGLIGIBLE * size:
            depth = np.int64(_NEGLIGIBLE * size / s) + 1
        stops, goes = scratch[0, : depth + 1], scratch[1, : depth + 1]
        _stop_chances(grades[i:stop], gain, size, stops, goes)
        for j in range(1, depth + 1):
            total += go_on * stops[j] / (firsts[i] + j - 1)
        for j in range(i, stop):
            go_on *= 1.0 - worth(gain, grades[j])
        i = stop
    return total


@part
def normalized_err(firsts, lasts, grades, length, ideal, gain, level, cutoff, parameter, scratch):
    """E[nERR@k] = E[ERR@k] / ERR@k of the ideal list."""
    best = ideal_err(ideal, gain, cutoff)
    if best == 0.0:
        return 0.0
    return (
        expected_reciprocal_rank(
            firsts, lasts, grades, length, ideal, gain, level, cutoff, parameter, scratch
        )
        / best
    )


@part
def binary_preference(
    firsts, lasts, grades, length, ideal, gain, level, cutoff, parameter, scratch
):
    """E[Bpref]: a relevant document is below 0 to m of the m non-relevant ones of its group."""
    relevant = n_relevant(ideal, level)
    most = min(n_judged_other(ideal, level), relevant)
    above = 0
    total = 0.0
    start = 0
    while start < len(firsts):
        stop, found, _ = _group(firsts, grades, gain, level, start)
        others = 0
        for i in range(start, stop):
            others += 0 <= grades[i] < level
        lost = 0.0
        for ahead in range(above, above + others + 1):
            lost += min(ahead, relevant)
        total += found * (1.0 - lost / ((others + 1) * most) if most > 0 else 1.0)
        above += others
        start = stop
    return total / relevant


_EXPECTATIONS = {
    "AP": average_precision,
    "nDCG": ndcg,
    "P": precision,
    "R": recall,
    "Rprec": r_precision,
    "RR": reciprocal_rank,
    "RBP": rank_biased_precision,
    "RBP residual": rbp_residual,
    "ERR": expected_reciprocal_rank,
    "nERR": normalized_err,
    "Q": q_measure,
    "nG": ndcg,  # at rank 1
    "Success": success,
    "Judged": judged_share,
    "Bpref": binary_preference,
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
    name = f"expect_{measure.replace(' ', '_')}"
    return specialised(_expect_topics, name, one_topic=_EXPECTATIONS[measure])


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
    """Return tie groups and lengths without unjudged documents; a negative grade is no judgment."""
    kept = grades >= 0
    blocks = np.concatenate([[0], np.cumsum(kept)])[blocks]
    sizes, group = np.diff(blocks), heads[kept]
    before = np.repeat(blocks[:-1], sizes)  # entries of earlier topics
    firsts = np.searchsorted(group, group) - before + 1
    lasts = np.searchsorted(group, group, side="right") - before
    return blocks, firsts, lasts, grades[kept], np.where(lengths >= 0, sizes, -1)


def has_expectation(measure: Measure) -> bool:
    """Return whether `expected_scores` supports a measure."""
    return measure.name in _EXPECTATIONS or measure.name in _OF_SETS


def check_expectations(recipes: Sequence[Recipe]) -> None:
    """Raise an error for a measure whose expectation is not known."""
    for recipe in recipes:
        if not has_expectation(recipe.measure):
            raise InputError(
                f"{recipe.measure} has no known expectation over the orders of tied documents: "
                f"omit it, or use {arg('ties', 'trec_eval')}"
            )


def expected_scores(
    run: Run,
    qrels: Qrels,
    recipes: Sequence[Recipe],
    *,
    missing: float = 0.0,
    no_relevant: float = 0.0,
) -> np.ndarray:
    """Return scores [measure, topic], each the mean over all orders of the tied documents.

    The means are exact, in a time that is linear in the length of the list. McSherry & Najork treat
    P, R, AP, RR and nDCG; the others follow in the same way. No formula is known for P+, Twist,
    infAP, IPrec, Compat and registered measures.
    """
    check_expectations(recipes)
    relevant_only = not any(recipe.needs_all for recipe in recipes)
    judged = find_judged_documents(run, qrels, relevant_only=relevant_only)
    first_rows = dict(zip(run.topics, run.blocks.tolist(), strict=False))
    starts = np.array([first_rows.get(topic, -1) for topic in qrels.topics], np.int64)
    # Allocated here: a kernel that allocates arrays takes longer to load than to run.
    groups = np.empty((3, len(judged.ranks)), np.int64)
    _tie_groups(judged.blocks, judged.ranks, judged.lengths, starts, run.scores, *groups)
    scratch = np.empty((2, judged.lengths.max(initial=0) + 1))
    scores = np.empty((len(recipes), len(qrels.topics)))
    ideal, without = (qrels.blocks, qrels.ideal), (no_relevant, missing)
    for row, recipe in zip(scores, recipes, strict=True):
        if recipe.kernel in _OF_SETS:
            score = score_topics(judged, qrels, [recipe], no_relevant=no_relevant, missing=missing)
            row[:] = score[0]
        else:
            entries = _entries_of(recipe, judged, groups, qrels.grades[judged.rows])
            expect = _expectation_kernel(recipe.kernel)
            expect(entries, ideal, recipe.constants, scratch, *without, row)
    return scores


def _entries_of(
    recipe: Recipe, judged: JudgedRun, groups: np.ndarray, grades: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Return blocks, first and last ranks, and grades of the measure's documents; list lengths."""
    firsts, lasts, heads = groups
    lengths = judged.lengths if recipe.lengths_matter else np.maximum(judged.lengths, 0)
    if recipe.judged_only:
        return _condensed_groups(judged.blocks, heads, grades, lengths)
    if recipe.needs_all:
        return judged.blocks, firsts, lasts, grades, lengths
    few = grades > 0
    few_blocks = np.concatenate([[0], np.cumsum(few)])[judged.blocks]
    return few_blocks, firsts[few], lasts[few], grades[few], lengths

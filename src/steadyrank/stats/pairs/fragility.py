"""How few topics carry a lead: the fewest without which a run is no longer above another.

With w_j d_j the weighted differences of a pair on the topics that both have, the sign of the mean
over what is left is the sign of the sum over it. So the fewest topics to drop are those with the
largest w_j d_j, until what is left is not above 0. Topics of a cluster go together: their sums take
the place of single differences.

Only the number is needed for all pairs, and no order among the topics that are dropped: like
quickselect, the kernel splits the differences at one of them, and goes on in the part in which the
sum of the largest reaches the total. That takes time in proportion to the topics, not to sorting.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steadyrank.compute.kernels import kernel
from steadyrank.stats.run_means import SAME_MEAN

NO_LEAD = -1
"""In place of a number where two runs have the same mean, or no topic in common."""


class Carried(NamedTuple):
    """The units that carry a lead, those that count most first, of how many."""

    units: list[int]
    n: int


def fragility(
    scores: np.ndarray,
    pairs: np.ndarray,
    weights: np.ndarray | None = None,
    clusters: np.ndarray | None = None,
) -> np.ndarray:
    """Of each pair, the fewest topics or clusters without which its lead is gone.

    `scores` [run, topic] may have gaps; `clusters` has a code from 0 for each topic.

    >>> scores = np.array([[0.9, 0.2, 0.3, 0.3], [0.1, 0.3, 0.3, 0.2]])
    >>> fragility(scores, np.array([[0, 1], [0, 0]])).tolist()
    [1, -1]
    """
    topics = np.arange(scores.shape[1])
    weight = np.ones(len(topics)) if weights is None else np.asarray(weights, float)
    unit = topics if clusters is None else np.asarray(clusters)
    n_units = int(unit.max(initial=-1)) + 1
    weighted = np.ascontiguousarray(scores * weight)
    tolerance = SAME_MEAN * float(weight.sum())
    fewest = np.empty(len(pairs), np.int64)
    sums = np.empty(n_units)
    _fewest(weighted, np.asarray(pairs, np.int64), unit.astype(np.int64), tolerance, sums, fewest)
    return fewest


def carried(
    difference: np.ndarray, weights: np.ndarray | None = None, clusters: np.ndarray | None = None
) -> Carried:
    """Which units carry the lead of one pair, given its differences by topic, NaN where missing.

    >>> carried(np.array([0.8, -0.1, 0.0, 0.1]))
    Carried(units=[0], n=4)
    """
    weight = np.ones(len(difference)) if weights is None else weights
    unit = np.arange(len(difference)) if clusters is None else np.asarray(clusters)
    there = ~np.isnan(difference)
    sums = np.bincount(unit[there], (difference * weight)[there], int(unit.max(initial=-1)) + 1)
    known = np.unique(unit[there])
    total = float(sums.sum())
    if abs(total) <= SAME_MEAN * float(np.sum(weight)):
        return Carried([], len(known))
    towards = sums * np.sign(total)
    order = known[np.argsort(-towards[known], kind="stable")]
    left = abs(total) - np.cumsum(towards[order])
    n = int(np.argmax(left <= SAME_MEAN * float(np.sum(weight)))) + 1
    return Carried([int(one) for one in order[:n]], len(known))


@kernel
def _fewest(weighted, pairs, unit, tolerance, sums, fewest):
    """`sums` [unit] is room for those of a pair."""
    for p in range(len(pairs)):
        a, b = pairs[p]
        sums[:] = 0.0
        total = 0.0
        for topic in range(weighted.shape[1]):
            gap = weighted[a, topic] - weighted[b, topic]
            if gap == gap:  # not missing
                sums[unit[topic]] += gap
                total += gap
        if abs(total) <= tolerance:
            fewest[p] = -1
            continue
        # What is dropped is above 0. Written whether it is or not: no branch to mispredict.
        n, lead = 0, 1.0 if total > 0.0 else -1.0
        for u in range(len(sums)):
            towards = lead * sums[u]
            sums[n] = towards
            n += towards > 0.0
        fewest[p] = _largest_reaching(sums, n, abs(total) - tolerance)


@kernel
def _largest_reaching(values, n, goal):
    """How many of the first `n` values, largest first, add up to `goal`; their order is lost."""
    low, high, taken = 0, n, 0
    while high - low > 1:
        pivot = values[(low + high) // 2]
        # The larger ones before the pivot, equal ones after them, smaller ones last.
        i, j, k = low, low, high
        above = 0.0
        while j < k:
            value = values[j]
            if value > pivot:
                above += value
                values[i], values[j] = value, values[i]
                i += 1
                j += 1
            elif value < pivot:
                k -= 1
                values[j], values[k] = values[k], value
            else:
                j += 1
        if above >= goal:
            high = i
            continue
        # All above the pivot are taken; of those equal to it, as many as it needs.
        goal -= above
        taken += i - low
        for _ in range(i, j):
            goal -= pivot
            taken += 1
            if goal <= 0.0:
                return taken
        low = j
    return taken + 1 if high > low else taken

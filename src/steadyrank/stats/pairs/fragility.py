"""How few topics decide a lead? The fewest topics without which a run is no longer above another.

With w_j d_j the weighted differences of a pair on the topics that both have, the mean over the
remaining topics has the sign of their sum. So the fewest topics to drop are those with the largest
w_j d_j, until the remaining sum is not above 0. Topics of a cluster are dropped together: their
sums replace single differences.

Only the number is needed for all pairs, and no order among the dropped topics: like quickselect,
the kernel splits the differences at one of them, and continues in the part in which the sum of the
largest reaches the total. The time is proportional to the number of topics, without sorting.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steadyrank.compute.kernels import kernel
from steadyrank.stats.run_means import SAME_MEAN

NO_LEAD = -1
"""Value for two runs with the same mean, or without shared topics."""


class Carried(NamedTuple):
    """The units that decide a lead, largest contribution first, and the number of all units."""

    units: list[int]
    n: int


def fragility(
    scores: np.ndarray,
    pairs: np.ndarray,
    weights: np.ndarray | None = None,
    clusters: np.ndarray | None = None,
) -> np.ndarray:
    """Return for each pair the fewest topics or clusters without which its lead is gone.

    `scores` [run, topic] may have NaN; `clusters` has a number from 0 for each topic.

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
    """Return the units that decide the lead of one pair, given its differences by topic.

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
    """Write the fewest units of each pair; `sums` [unit] is scratch memory."""
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
        # Only positive sums can be dropped. All are written, so that there is no branch.
        n, lead = 0, 1.0 if total > 0.0 else -1.0
        for u in range(len(sums)):
            towards = lead * sums[u]
            sums[n] = towards
            n += towards > 0.0
        fewest[p] = _largest_reaching(sums, n, abs(total) - tolerance)


@kernel
def _largest_reaching(values, n, goal):
    """Return how many of the first `n` values, largest first, sum to `goal`; reorders them."""
    low, high, taken = 0, n, 0
    while high - low > 1:
        pivot = values[(low + high) // 2]
        # Move larger values before the pivot, equal ones after them, smaller ones last.
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
        # Take all values above the pivot, and as many equal ones as needed.
        goal -= above
        taken += i - low
        for _ in range(i, j):
            goal -= pivot
            taken += 1
            if goal <= 0.0:
                return taken
        low = j
    return taken + 1 if high > low else taken

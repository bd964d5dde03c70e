"""Measures that compare a ranking with the ideal list, position by position: Twist and Compat.

The ideal list holds the judged documents by descending grades; documents of one grade occupy an
interval of its ranks. Twist adds up the distance of each document of the ranking from the interval
of its grade. Compat counts at each depth the documents that both lists have so far; since the order
of documents of equal grade is arbitrary, counts of grades suffice, and no document is looked up.
The signature is that of `measures.kernels`.
"""

from __future__ import annotations

import numpy as np

from steadyrank.compute.kernels import inlined, part
from steadyrank.measures.kernels import n_found, n_relevant


@inlined
def _interval(ideal, level, relevant, grade):
    """Return the ranks [low, high] that documents of a grade occupy in the ideal list."""
    if grade < level:
        return relevant + 1, np.iinfo(np.int64).max
    low = 0
    while ideal[low] > grade:
        low += 1
    high = low
    while high < relevant and ideal[high] == grade:
        high += 1
    return low + 1, high


@inlined
def _misplaced(ideal, level, relevant, grade, rank):
    """Return the relative position: how far a document at `rank` is past (+) its interval."""
    low, high = _interval(ideal, level, relevant, grade)
    if rank > high:
        return rank - high
    return min(rank - low, 0)


@part
def twist(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """Twist = mean of the recovery ratio and the space ratio of the cumulated relative position.

    Ferro, Silvello, Keskustalo, Pirkola & Jarvelin, JASIST 67(3), 2016,
    doi:10.1002/asi.23416. Ranks between judged documents hold non-relevant ones, which are
    misplaced only up to rank R. Beyond R the cumulated position changes only at relevant
    documents, so the loop ends at the last judged rank or R.
    """
    relevant = n_relevant(ideal, level)
    if n_found(ranks, grades, level, cutoff) == 0:
        return 0.0
    last = max(np.int64(ranks[len(ranks) - 1]), relevant)
    position = 0
    cumulated = 0
    ever_moved = False
    turn = 0
    forward, backward = 0.0, 0.0
    for rank in range(1, last + 1):
        grade = level - 1
        if position < len(ranks) and ranks[position] == rank:
            grade = max(level - 1, np.int64(grades[position]))
            position += 1
        moved = _misplaced(ideal, level, relevant, grade, rank)
        was_positive = cumulated > 0
        cumulated += moved
        if rank > 1 and turn == 0 and (cumulated > 0) != was_positive:
            turn = rank - 1
        ever_moved = ever_moved or cumulated != 0
        forward += max(moved, 0)
        backward -= min(moved, 0)
    recovery = 0.0 if ever_moved else 1.0
    if turn > 0:
        recovery = relevant / max(relevant, turn)
    worst_forward, worst_backward = 0.0, 0.0
    judged = len(ideal)
    for rank in range(1, judged + 1):  # the worst list: the ideal one upside down
        moved = _misplaced(ideal, level, relevant, ideal[judged - rank], rank)
        worst_forward += max(moved, 0)
        worst_backward -= min(moved, 0)
    f = _kept(forward, worst_forward)
    b = _kept(backward, worst_backward)
    space = 2.0 * f * b / (f + b) if f + b > 0.0 else 0.0
    return (recovery + space) / 2.0


@inlined
def _kept(moved, worst):
    """Return 1 - moved / worst within [0, 1], and 1 if nothing moved."""
    if moved == 0.0:
        return 1.0
    if worst == 0.0:
        return 0.0
    return max(0.0, 1.0 - moved / worst)


@inlined
def _rank_biased_overlap(ranks, grades, ideal, level, depth, persistence):
    """Return the sum over depths d of p^(d-1) (documents that both lists have in their top d) / d.

    The ideal list has documents of equal grade in the order of the ranking, so that the number of
    shared documents of a grade is the smaller of its counts in the two tops. In the ideal top d all
    documents of grades above that of document d are present, and none of lower grades.
    """
    relevant = n_relevant(ideal, level)
    total = 0.0
    weight = 1.0
    position = 0
    higher = 0
    alike = 0
    first = 1
    for d in range(1, depth + 1):
        if d <= relevant and (d == 1 or ideal[d - 1] != ideal[d - 2]):
            # The next grade begins: the last one is complete in the ideal top.
            first = d
            higher += alike
            alike = 0
            for i in range(position):
                alike += grades[i] == ideal[d - 1]
        elif d == relevant + 1:  # from here on the ideal top holds every relevant document
            higher = n_found(ranks, grades, level, d - 1)
        while position < len(ranks) and ranks[position] <= d:
            if d > relevant:
                higher += grades[position] >= level
            else:
                higher += grades[position] > ideal[d - 1]
                alike += grades[position] == ideal[d - 1]
            position += 1
        shared = higher if d > relevant else higher + min(alike, d - first + 1)
        total += weight * shared / d
        weight *= persistence
    return total


@part
def compatibility(ranks, grades, length, ideal, gain, level, cutoff, parameter):
    """Compat: rank-biased overlap with the ideal list, over that of the ideal list with itself.

    Clarke, Vtyurina & Smucker, TOIS 39(2), 2021, doi:10.1145/3451161.
    """
    relevant = n_relevant(ideal, level)
    depth = max(length, relevant)
    best = 0.0
    weight = 1.0
    for d in range(1, depth + 1):
        best += weight * min(d, relevant) / d
        weight *= parameter
    return _rank_biased_overlap(ranks, grades, ideal, level, depth, parameter) / best

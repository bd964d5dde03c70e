"""Count reversals of every pair of runs between two disjoint sets of topics, in every split."""

from __future__ import annotations

import numpy as np

from steadyrank.compute.kernels import kernel, part
from steadyrank.stats.pairs.difference_bins import N_BINS, ROUNDED

AGREE, REVERSED, TIED = 0, 1, 2
"""Order of a pair in the second set relative to the first; tied if either set has no order."""

N_KINDS = 3
SLOTS = 32
"""Places of a table for each kind: the bins, rounded up to a power of two."""

N_TABLES = 4
"""Neighbouring pairs use different tables, so that no sum waits for another."""

_LAST = N_BINS - 1.0
_ONE = np.uint32(1)


@kernel
def count_reversals(scores, orders, sizes, width, tiny, both, counts, sums, keys, tables):
    """Count the pairs of each size of difference that agree, are reversed or tied.

    scores [topic, run] are complete; orders [trial, topic] are permutations, whose first n topics
    are one set and last n the other; sizes ascend, to half the topics at most. counts [row, size,
    kind, bin] takes the trials of orders in equal parts, in order. A pair's bin is that of its
    difference in the first set; with `both`, it counts a second time with the sets exchanged.
    sums [4, run], keys [run] (int32) and tables [N_TABLES, N_KINDS + 1, SLOTS] (uint32) are
    scratch. Differences are in units of the bins' `width`; those up to `tiny` are ties.
    """
    n_trials, n_topics = orders.shape
    n_runs = scores.shape[1]
    for b in range(n_trials):
        sums[:] = 0.0
        done = 0
        for s in range(len(sizes)):
            for t in range(done, sizes[s]):
                one, other = orders[b, t], orders[b, n_topics - 1 - t]
                for i in range(n_runs):
                    sums[0, i] += scores[one, i]
                    sums[1, i] += scores[other, i]
            done = sizes[s]
            scale = 1.0 / (width * done)
            for i in range(n_runs):
                sums[2, i] = sums[0, i] * scale
                sums[3, i] = sums[1, i] * scale
            tables[:] = 0
            _count_pairs(sums[2], sums[3], tiny, keys, tables.reshape(N_TABLES, -1))
            if both:
                _count_pairs(sums[3], sums[2], tiny, keys, tables.reshape(N_TABLES, -1))
            _add(tables, counts[b * len(counts) // n_trials, s])


@part
def _count_pairs(first, second, tiny, keys, tables):
    """Count each pair in the table, at its kind times SLOTS plus its bin.

    Kind TIED + REVERSED holds ties whose differences have opposite signs.
    """
    n_runs = len(first)
    for i in range(n_runs - 1):
        here, there = first[i], second[i]
        n = n_runs - 1 - i
        firsts, seconds = first[i + 1 :], second[i + 1 :]
        for j in range(n):  # without branches, so that it compiles to vector instructions
            d, e = here - firsts[j], there - seconds[j]
            place = min(abs(d) + ROUNDED, _LAST)
            place += REVERSED * SLOTS if d * e < 0.0 else 0.0
            place += TIED * SLOTS if min(abs(d), abs(e)) <= tiny else 0.0
            keys[j] = np.int32(place)
        whole = n - n % N_TABLES
        for j in range(0, whole, N_TABLES):
            tables[0, np.uint32(keys[j])] += _ONE
            tables[1, np.uint32(keys[j + 1])] += _ONE
            tables[2, np.uint32(keys[j + 2])] += _ONE
            tables[3, np.uint32(keys[j + 3])] += _ONE
        for j in range(whole, n):
            tables[0, np.uint32(keys[j])] += _ONE


@part
def _add(tables, counts):
    """Sum the tables, [kind, bin]; ties of opposite signs count as ties."""
    for table in range(N_TABLES):
        for place in range(N_BINS):
            for kind in range(N_KINDS):
                counts[kind, place] += tables[table, kind, place]
            counts[TIED, place] += tables[table, N_KINDS, place]

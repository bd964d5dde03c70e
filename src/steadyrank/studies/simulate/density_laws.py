"""The laws from which the documents in the bins of two kernel densities are drawn.

Small counts are compared with the shares of their law, which is right for any mean; larger ones
come from alias tables. The other documents of a ranking are multinomial: independent Poisson counts
given their sum. The bins of the top are drawn until they are accepted, with the probability that
the deep bins below them, which are Poisson too, hold the rest of the ranking.

The tables of deep bins are shared with other cells. What the counts of a sample's deep bins lack,
or have too much, is spread over them in proportion. That leaves their means, covariances and third
moments those of the multinomial law, as the bridge of a Poisson process has them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from steadyrank.compute.kernels import part
from steadyrank.studies.simulate.sampler_kernels import SIDE_BY_SIDE
from steadyrank.studies.simulate.sampler_laws import (
    HALF,
    KEPT_ENTRIES,
    SHARES,
    add_table,
    columns_at_most,
    poisson_table,
    set_law,
    total_weight,
)

TOP = 32.0
"""Other documents that are expected in the top, and in the deep bins, at least."""

SMALL = 16.0
"""Means up to this are compared with the shares of their law."""

FEWEST = 1.0 / 16.0
"""The share of other documents that deep bins hold, at least, so that tops are accepted often."""

LARGEST_HALF = 2.0**32 - 1.0
RARE = 5.6
"""Standard deviations from its mean beyond which the number of deep documents is never accepted."""


class Deep(NamedTuple):
    """The other documents of a cell that are expected in its bins and, last, below them."""

    means: np.ndarray
    share: np.ndarray
    """The share of the deep bins' documents in those down to each."""
    lacks: np.ndarray
    """What the means of their laws, summed down to each bin, fall short of theirs."""
    sums: np.ndarray
    """Of the samples side by side, as are all that follow: documents of deep bins as drawn."""
    ends: np.ndarray
    """Deep documents down to a bin."""
    rooms: np.ndarray
    """Deep documents in all."""
    drifts: np.ndarray
    """How many more these are than drawn."""
    dithers: np.ndarray
    """What is added before fractions of documents are cut off."""


class Plan(NamedTuple):
    """How the other documents of a cell are drawn."""

    first_deep: int
    """The first bin that is deep; -1: all documents are drawn one by one."""
    acceptance: int
    """Where the table begins of how probable a number of deep documents is."""
    lowest: int
    """The number that its first entry stands for."""
    size: int
    places: tuple[int, int, int]
    """The law of the bin that a document falls into, where they are drawn one by one."""
    has_others: bool


@part
def _set_small_law(rows, row, mean, table, at):
    """Let rows[row] be the law of Poisson(mean) as shares to exceed; the next free entry."""
    chance = math.exp(-mean)
    below, n = chance, 0
    while True:
        share = min(below * 2.0**32, 2.0**32)
        table[at + n] = HALF(max(0.0, share - 1.0))
        n += 1
        if share >= LARGEST_HALF and n % 4 == 0:
            break
        chance *= mean / n
        below += chance
    rows[row, 0], rows[row, 1], rows[row, 2] = at, 0, n
    return at + n


@part
def _set_own_law(rows, row, mean, laws, free):
    """Let rows[row] be the law of Poisson(mean), of this cell alone; the next free entry."""
    if mean <= SMALL:
        return _set_small_law(rows, row, mean, laws.table, free)
    low, bits = poisson_table(mean, laws, free)
    rows[row, 0], rows[row, 1], rows[row, 2] = free, bits, low
    return free + (1 << bits)


@part
def _set_deep_law(rows, row, mean, laws, free):
    """Let rows[row] be a law of almost `mean` that cells share; the next free entry, what lacks."""
    if mean <= SMALL:
        return _set_small_law(rows, row, mean, laws.table, free), 0.0
    weight = math.ceil(mean)
    share = np.int64(mean / weight * SHARES)
    free = set_law(rows, row, share, weight, laws, free, KEPT_ENTRIES)
    return free, mean - share / SHARES * weight


@part
def _first_deep(means, n_relevant):
    """The first deep bin, or -1 where documents are drawn one by one.

    A single deep bin simply holds the rest, however few that are.
    """
    bins = len(means) - 1
    total = above = 0.0
    last = 0
    for i in range(bins + 1):
        total += means[i]
        if means[i] > 0.0:
            last = i
    if total == means[last]:
        return 0 if total > 0.0 else -1
    first = 0
    while first < bins and above < TOP:
        above += means[first]
        first += 1
    below = total - above
    enough = below >= TOP or first >= last
    often = below >= FEWEST * total and total >= n_relevant
    return first if enough and often else -1


@part
def _set_acceptance(mean, laws, free):
    """Write how probable each Poisson(mean) number is next to the most probable one.

    The lowest number, and how many there are.
    """
    mode = np.int64(mean)
    reach = np.int64(RARE * math.sqrt(mean) + 4.0)
    lowest, size = max(0, mode - reach) - 1, mode + reach - max(0, mode - reach) + 2
    share = LARGEST_HALF
    for n in range(mode, lowest, -1):
        laws.table[free + n - lowest] = HALF(share)
        share *= n / mean
    share = LARGEST_HALF
    for n in range(mode + 1, lowest + size):
        share *= mean / n
        laws.table[free + n - lowest] = HALF(share)
    # Numbers beyond both ends are never accepted.
    laws.table[free] = laws.table[free + size - 1] = HALF(0)
    return lowest, size


@part
def _set_places(means, laws, free):
    """The law of falling into bins in proportion to their means; the next free entry."""
    total = max(total_weight(means, 0.0), 1e-300)
    for i in range(len(means)):
        laws.law[i] = means[i] / total
    return add_table(laws.law, len(means), laws.table, free, laws.small, laws.large)


@part
def _set_deep_laws(first, laws, deep, bins, free):
    """The laws of deep bins; the next free entry."""
    total = total_weight(deep.means[first : bins + 1], 0.0)
    down = lack = 0.0
    for i in range(first, bins + 1):
        free, lacks = _set_deep_law(laws.others, i, deep.means[i], laws, free)
        lack += lacks
        down += deep.means[i]
        deep.lacks[i], deep.share[i] = lack, down / total
    return free


@part
def _set_means(others, tail, expected, deep):
    """Write how many other documents are expected in each bin and in the tail."""
    bins = len(others)
    total = total_weight(others, tail)
    share = expected / total if total > 0.0 else 0.0
    for i in range(bins):
        deep.means[i] = share * others[i]
    deep.means[bins] = share * tail


@part
def make_plan(relevant, others, tail, depth, n_relevant, unretrieved, laws, deep):
    """The laws of a cell, and how its other documents are drawn."""
    bins = len(relevant)
    _set_means(others, tail, max(0.0, depth - n_relevant), deep)
    free = KEPT_ENTRIES
    for i in range(bins):
        free = _set_own_law(laws.relevant, i, relevant[i], laws, free)
    free = _set_own_law(laws.relevant, bins, unretrieved, laws, free)
    first = _first_deep(deep.means[: bins + 1], n_relevant)
    if first < 0:
        _set_means(others, tail, 1.0, deep)
        bits = _set_places(deep.means[: bins + 1], laws, free)
        none = free + (1 << bits)
        for i in range(bins + 1):
            _set_small_law(laws.others, i, 0.0, laws.table, none)
        return Plan(first, 0, 0, 0, (free, bits, 0), total_weight(others, tail) > 0.0)
    for i in range(first):
        free = _set_own_law(laws.others, i, deep.means[i], laws, free)
    free = _set_deep_laws(first, laws, deep, bins, free)
    below = total_weight(deep.means[first : bins + 1], 0.0)
    lowest, size = _set_acceptance(below, laws, free)
    return Plan(first, free, lowest, size, (0, 0, 0), True)


def entries_needed(most: int, largest: int) -> int:
    """Entries that the tables of a cell with `most` bins and `largest` documents need at most."""
    # Tables grow with the square root of their mean, which is concave.
    own = 2 * most * (int(columns_at_most(largest / most)) + 64)
    return own + 3 * int(columns_at_most(largest)) + 4 * most


def make_deep(most: int) -> Deep:
    """Room for cells with at most so many bins, the tail being one."""
    return Deep(
        means=np.zeros(most),
        share=np.zeros(most),
        lacks=np.zeros(most),
        sums=np.zeros(SIDE_BY_SIDE, HALF),
        ends=np.zeros(SIDE_BY_SIDE),
        rooms=np.zeros(SIDE_BY_SIDE),
        drifts=np.zeros(SIDE_BY_SIDE),
        dithers=np.zeros(SIDE_BY_SIDE),
    )

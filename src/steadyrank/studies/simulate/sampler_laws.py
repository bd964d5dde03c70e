"""Walker's alias tables of Poisson and categorical laws, from which counts are drawn.

A law over n outcomes is divided into n columns of equal probability. Each holds at most two
outcomes: its index up to a share of its height, and another one, its alias, above. A draw therefore
costs one look-up and one comparison for any law.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from steadyrank.compute.kernels import part

NEVER = 1e-11
"""Outcomes below this probability are rarer than the 32 random bits of a draw can show."""

HALF = np.uint32
"""Tables are looked up with half a random word."""


class Laws(NamedTuple):
    """Alias tables, one after the other: where each begins, its bits, its lowest outcome.

    Rows of `relevant` and `others` are the bins of a cell; the last row is the relevant documents
    that were not retrieved, and the tail.
    """

    table: np.ndarray
    relevant: np.ndarray
    others: np.ndarray
    law: np.ndarray
    """From here on: memory for making a table."""
    small: np.ndarray
    large: np.ndarray


@part
def _poisson_law(mean, law):
    """Write the law of Poisson(mean); return its first likely outcome and its length."""
    if mean <= 0.0:
        law[0] = 1.0
        return 0, 1
    spread = math.sqrt(mean)
    low = max(0, int(mean - 7.0 * spread - 3.0))
    high = int(mean + 7.0 * spread + 16.0)
    mode = int(mean)
    law[mode - low] = math.exp(mode * math.log(mean) - mean - math.lgamma(mode + 1.0))
    for n in range(mode + 1, high + 1):
        law[n - low] = law[n - 1 - low] * mean / n
    for n in range(mode - 1, low - 1, -1):
        law[n - low] = law[n + 1 - low] * (n + 1) / mean
    return _trimmed(law, low, high - low + 1)


@part
def _trimmed(law, low, size):
    """Drop outcomes at both ends that never occur, and scale the rest to a sum of 1."""
    first = 0
    while law[first] < NEVER:
        first += 1
    while law[size - 1] < NEVER:
        size -= 1
    total = 0.0
    for i in range(first, size):
        total += law[i]
    for i in range(first, size):
        law[i - first] = law[i] / total
    return low + first, size - first


@part
def _add_table(law, size, table, at, small, large):
    """Write the alias table of a law (Vose's method) from entry `at` on; return its column bits.

    The upper of 32 random bits choose a column. If the lower bits reach the upper part of the
    column's entry, the outcome is the entry's lower part instead of the column. Every probability
    is correct to 2^-32.
    """
    bits = 1
    while (1 << bits) < size:
        bits += 1
    columns = 1 << bits
    whole = 2.0 ** (32 - bits)
    n_small = n_large = 0
    for i in range(columns):
        law[i] = law[i] * columns if i < size else 0.0
        table[at + i] = i
        if law[i] < 1.0:
            small[n_small] = i
            n_small += 1
        else:
            large[n_large] = i
            n_large += 1
    while n_small > 0 and n_large > 0:
        n_small -= 1
        poor, rich = small[n_small], large[n_large - 1]
        share = min(law[poor] * whole + 0.5, whole - 1.0)
        table[at + poor] = (np.int64(share) << bits) | rich
        law[rich] -= 1.0 - law[poor]
        if law[rich] < 1.0:
            n_large -= 1
            small[n_small] = rich
            n_small += 1
    return bits


@part
def total_weight(others, tail):
    """Return the weight of the other documents in all bins and in the tail."""
    total = tail
    for weight in others:
        total += weight
    return total


@part
def _set_law(rows, row, mean, laws, free):
    """Write the law of Poisson(mean) into rows[row], from entry `free` on; return the next one."""
    low, size = _poisson_law(mean, laws.law)
    bits = _add_table(laws.law, size, laws.table, free, laws.small, laws.large)
    rows[row, 0], rows[row, 1], rows[row, 2] = free, bits, low
    return free + (1 << bits)


@part
def make_laws(relevant, others, tail, share, unretrieved, laws):
    """Write the laws of a cell's bins; return the law of the bin of a single other document.

    The mean number of other documents of a bin is `share` times their weight.
    """
    bins = len(relevant)
    free = 0
    for i in range(bins):
        free = _set_law(laws.relevant, i, relevant[i], laws, free)
        free = _set_law(laws.others, i, share * others[i], laws, free)
    free = _set_law(laws.relevant, bins, unretrieved, laws, free)
    free = _set_law(laws.others, bins, share * tail, laws, free)
    whole = max(total_weight(others, tail), 1e-300)
    for i in range(bins + 1):
        laws.law[i] = (others[i] if i < bins else tail) / whole
    bits = _add_table(laws.law, bins + 1, laws.table, free, laws.small, laws.large)
    return free, bits, 0


@part
def columns_at_most(mean):
    """Return an upper bound of the columns of the table of Poisson(mean)."""
    return 2 * np.int64(14.0 * math.sqrt(mean) + 24.0)


def make_room(most: int, entries: int) -> Laws:
    """Return memory for the laws of cells with at most `most` bins and `entries` entries."""
    room = max(entries, 2 * most)
    return Laws(
        table=np.empty(entries, HALF),
        relevant=np.empty((most, 3), np.int64),
        others=np.empty((most, 3), np.int64),
        law=np.empty(room),
        small=np.empty(room, np.int64),
        large=np.empty(room, np.int64),
    )

"""Tables from which counts are drawn: Walker's alias tables of Poisson and categorical laws.

A draw costs one look-up and one comparison. Laws of the same mean are made once and shared by
all cells that need them, which is most of them: weights are whole numbers of documents.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from steadyrank.compute.kernels import part

SHARES = 256
"""Poisson means of other documents are multiples of 1 / SHARES, so that cells share tables."""

KEPT_ENTRIES = 1 << 20
"""Entries of all tables that cells share."""

LARGEST_TABLE = 1 << 12
"""Entries of any one of them, at most."""

NEVER = 1e-11
"""Outcomes rarer than the 32 random bits of a draw can show."""

HALF = np.uint32
"""Tables are looked up with half a random word."""


class Laws(NamedTuple):
    """Alias tables, one after the other: where each begins, its bits, its lowest outcome.

    Rows of `relevant` and `others` are a cell's bins, and last the relevant documents that were
    not retrieved, and the tail. `kept` holds the laws of Poisson(row / SHARES · column), which
    cells share, -1 where not made yet; `used` says how many entries they take.
    """

    table: np.ndarray
    relevant: np.ndarray
    others: np.ndarray
    kept: np.ndarray
    used: np.ndarray
    law: np.ndarray
    small: np.ndarray
    large: np.ndarray


@part
def _poisson_law(mean, law):
    """Write the law of Poisson(mean) from its first likely outcome on; that, and its length."""
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
    """Drop the outcomes that never occur at both ends, and let the rest sum to one."""
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
def add_table(law, size, table, at, small, large):
    """Write the alias table of a law (Vose's method) from entry `at` on; the bits of its columns.

    Of 32 random bits the upper ones choose a column, and the others, where they reach the
    entry's upper part, its lower part in place of the column. Every probability is right to
    2^-32.
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
    """Of the other documents in all bins and in the tail."""
    total = tail
    for weight in others:
        total += weight
    return total


@part
def poisson_table(mean, laws, at):
    """Write the table of Poisson(mean) from entry `at` on; its lowest outcome and its bits."""
    low, size = _poisson_law(mean, laws.law)
    return low, add_table(laws.law, size, laws.table, at, laws.small, laws.large)


@part
def set_law(rows, row, share, weight, laws, free, limit):
    """Let rows[row] be the law of Poisson(share / SHARES · weight); the next free entry.

    Laws of whole weights are kept below `limit`, while there is room, for the cells to come.
    """
    column = np.int64(weight)
    shared = share <= SHARES and column == weight and column < laws.kept.shape[1]
    if shared and laws.kept[share, column, 1] >= 0:
        for i in range(3):
            rows[row, i] = laws.kept[share, column, i]
        return free
    keep = shared and laws.used[0] + LARGEST_TABLE < limit
    at = laws.used[0] if keep else free
    low, bits = poisson_table(share / SHARES * weight, laws, at)
    rows[row, 0], rows[row, 1], rows[row, 2] = at, bits, low
    if not keep:
        return at + (1 << bits)
    for i in range(3):
        laws.kept[share, column, i] = rows[row, i]
    laws.used[0] = at + (1 << bits)
    return free


@part
def make_laws(relevant, others, tail, share, unretrieved, laws, limit):
    """The laws of a cell's bins; and where its completing draws' table is, and its bits."""
    bins = len(relevant)
    free = limit
    for i in range(bins):
        free = set_law(laws.relevant, i, SHARES, relevant[i], laws, free, limit)
        free = set_law(laws.others, i, share, others[i], laws, free, limit)
    free = set_law(laws.relevant, bins, SHARES, unretrieved, laws, free, limit)
    free = set_law(laws.others, bins, share, tail, laws, free, limit)
    whole = max(total_weight(others, tail), 1e-300)
    for i in range(bins + 1):
        laws.law[i] = (others[i] if i < bins else tail) / whole
    bits = add_table(laws.law, bins + 1, laws.table, free, laws.small, laws.large)
    return free, bits, 0


@part
def columns_at_most(mean):
    """Columns of the table of Poisson(mean), at most."""
    return 2 * np.int64(14.0 * math.sqrt(mean) + 24.0)


def make_room(most: int, entries: int, room: int) -> Laws:
    """Room for the laws of cells with at most so many bins and entries of their own."""
    return Laws(
        table=np.empty(KEPT_ENTRIES + entries, HALF),
        relevant=np.empty((most, 3), np.int64),
        others=np.empty((most, 3), np.int64),
        kept=np.full((SHARES + 1, 1024, 3), -1, np.int32),
        used=np.zeros(1, np.int64),
        law=np.empty(room),
        small=np.empty(room, np.int64),
        large=np.empty(room, np.int64),
    )

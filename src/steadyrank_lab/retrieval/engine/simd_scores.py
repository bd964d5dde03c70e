"""Scores side by side: sums of one document by up to eight models, added and compared at once.

Eight numbers of 64 bits are one line of the cache, and one register of the widest kind; LLVM makes
one instruction of each loop over them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from steadyrank.compute.kernels import WORD, inlined

EIGHT = 8
"""Models that one pass over the postings serves."""

_SIGN = np.uint32(0x80000000)


@inlined
def ordered_bits(score: Any) -> Any:
    """A score rounded to 32 bits, as an integer with the same order; -0 is 0."""
    bits = np.float32(np.float32(score) + np.float32(0.0)).view(np.uint32)
    return WORD(~bits if bits & _SIGN else bits | _SIGN)


@inlined
def score_of_bits(bits: Any) -> Any:
    """The score whose ordered bits are these."""
    short = np.uint32(bits)
    short = np.uint32(short ^ _SIGN if short & _SIGN else ~short)
    return np.float64(np.uint32(short).view(np.float32))


@inlined
def add_eight(sums: Any, place: Any, table: Any, row: Any) -> None:
    """Add eight numbers of `table` from `row` on to those of `sums` from `place` on."""
    for k in range(EIGHT):
        sums[place + WORD(k)] += table[row + WORD(k)]


@inlined
def eight_above(sums: Any, place: Any, limits: Any) -> Any:
    """Which of eight sums from `place` on are above their limits: one bit each, lowest first."""
    above = WORD(0)
    for k in range(EIGHT):
        above |= WORD(sums[WORD(place) + WORD(k)] > limits[k]) << WORD(k)
    return above


@inlined
def add_one(sums: Any, place: Any, table: Any, row: Any) -> None:
    """What `add_eight` does, for a single model."""
    sums[place] += table[row]


@inlined
def one_above(sums: Any, place: Any, limits: Any) -> Any:
    """What `eight_above` says, for a single model."""
    return WORD(sums[place] > limits[0])

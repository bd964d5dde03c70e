"""The order of several relevant documents among the others of one bin of a density.

Most bins of most samples hold one relevant document or none. Those with two to four are collected
from all samples and bins, and worked through 64 at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steadyrank.compute.kernels import WORD, inlined, part
from steadyrank.compute.random_kernels import GOLDEN, mixed_bits
from steadyrank.studies.simulate.sampler_kernels import SIDE_BY_SIDE
from steadyrank.studies.simulate.sampler_laws import HALF

MOST_MARKS = 4
"""Relevant documents of a bin that are put in order at once; more are too rare to need a tilt."""

SEVERAL = 2 << 32
"""Steps of a sample's stream from which their places come: far from all others."""

AWAY = 1 << 30


class Groups(NamedTuple):
    """Relevant documents of some samples that share a bin with others, and room to work in."""

    n: np.ndarray
    """How many groups there are: one number."""
    lanes: np.ndarray
    streams: np.ndarray
    """Where the random words of each begin."""
    relevant: np.ndarray
    others: np.ndarray
    above_relevant: np.ndarray
    above_others: np.ndarray
    tilts: np.ndarray
    ranks: np.ndarray
    """Of each document of each group: documents above it."""
    higher: np.ndarray
    """Others among these."""
    worth: np.ndarray
    """What a relevant document below so many is worth, as a share of `higher`'s."""
    sums: np.ndarray
    """Of each group."""
    values: np.ndarray
    """Of the samples side by side, from groups alone; the last is of no sample."""


@inlined
def add_group(groups, lanes, lane, place, bin_number, tilt):
    """Collect the documents of one bin of one sample."""
    n = groups.n[0]
    groups.lanes[n] = lane
    groups.streams[n] = lanes.keys[lane] + WORD(SEVERAL + 2 * bin_number) * GOLDEN
    groups.relevant[n], groups.others[n] = lanes.relevant[place], lanes.others[place]
    groups.above_relevant[n] = lanes.above_relevant[lane]
    groups.above_others[n] = lanes.above_others[lane]
    groups.tilts[n] = tilt
    groups.n[0] = n + 1


@inlined
def _insert(half, others, low, middle, high, n):
    """Put one more document anywhere among some others and n relevant documents.

    How many others are above it: its slot, less the relevant documents above that.
    """
    slot = np.int64((WORD(half) * WORD(others + n + 1)) >> WORD(32))
    return slot - (low < slot) - (middle + 1 < slot) - (high + 2 < slot)


@inlined
def _put_in_order(first, second, relevant, others):
    """How many others are above each of two to four relevant documents, without branches."""
    away = np.int64(AWAY)
    low = _insert(HALF(first), others, away, away, away, 0)
    middle = _insert(HALF(first >> WORD(32)), others, low, away, away, 1)
    low, middle = min(low, middle), max(low, middle)
    third = _insert(HALF(second), others, low, middle, away, 2)
    third = third if relevant > 2 else away
    low, third = min(low, third), max(low, third)
    middle, high = min(middle, third), max(middle, third)
    fourth = _insert(HALF(second >> WORD(32)), others, low, middle, high, 3)
    fourth = fourth if relevant > 3 else away
    low, fourth = min(low, fourth), max(low, fourth)
    middle, fourth = min(middle, fourth), max(middle, fourth)
    return low, middle, min(high, fourth), max(high, fourth)


@inlined
def _write_place(groups, e, i, mark, turned):
    """Write how many documents are above document i of a group, and how many others."""
    relevant, others = np.int64(groups.relevant[e]), np.int64(groups.others[e])
    here = i < relevant
    before = others - mark if turned else mark
    above = relevant - 1 - i if turned else np.int64(i)
    higher = np.int64(groups.above_others[e]) + (before if here else 0)
    rank = np.int64(groups.above_relevant[e]) + (above if here else 0) + higher
    groups.higher[i * SIDE_BY_SIDE + e] = np.int32(higher)
    groups.ranks[i * SIDE_BY_SIDE + e] = HALF(rank)


@inlined
def _order_groups(groups):
    """Put the documents of 64 groups in order.

    The law of each is right to all orders of the tilt, their joint law to the first.
    """
    for e in range(SIDE_BY_SIDE):
        relevant, others = np.int64(groups.relevant[e]), np.int64(groups.others[e])
        first, second = mixed_bits(groups.streams[e]), mixed_bits(groups.streams[e] + GOLDEN)
        a, b, c, d = _put_in_order(first, second, relevant, others)
        ranks = relevant * (relevant + 1) // 2 + a + b
        ranks += (c if relevant > 2 else 0) + (d if relevant > 3 else 0)
        size = np.float64(others + relevant + 1)
        lean = groups.tilts[e] * (np.float64(relevant) * size - 2.0 * np.float64(ranks))
        rest = HALF(WORD(HALF(first)) * WORD(others + 1))
        turned = np.float64(rest) * size < -lean * 2.0**32
        _write_place(groups, e, 0, a, turned)
        _write_place(groups, e, 1, b, turned)
        _write_place(groups, e, 2, c, turned)
        _write_place(groups, e, 3, d, turned)


@inlined
def _sum_groups(groups, gain, steps):
    """What the documents of 64 groups are worth."""
    ranks, higher, worth, sums = groups.ranks, groups.higher, groups.worth, groups.sums
    for i in range(MOST_MARKS * SIDE_BY_SIDE):
        worth[i] = steps[ranks[i]]
    for e in range(SIDE_BY_SIDE):
        sums[e] = 0.0
    per_relevant, per_other, constant = gain.per_relevant, gain.per_other, gain.constant
    for i in range(MOST_MARKS):
        for e in range(SIDE_BY_SIDE):
            place = WORD(i * SIDE_BY_SIDE) + WORD(e)
            here = per_relevant + (per_other * higher[place] + constant) * worth[place]
            sums[e] += here if i < groups.relevant[e] else 0.0


@inlined
def _first_of_groups(groups, gain):
    """What the first relevant document is worth where it is one of a group's."""
    for e in range(SIDE_BY_SIDE):
        groups.sums[e] = 0.0
        if groups.above_relevant[e] == 0 and groups.relevant[e] > 0:
            last = (np.int64(groups.relevant[e]) - 1) * SIDE_BY_SIDE
            topmost = min(groups.higher[e], groups.higher[last + e])
            groups.sums[e] = gain.cumulated[topmost + 1]


@part
def work_through(groups, gain, steps):
    """Add what the first 64 groups are worth to their samples, and forget them."""
    _order_groups(groups)
    if gain.first_only:
        _first_of_groups(groups, gain)
    else:
        _sum_groups(groups, gain, steps)
    for e in range(SIDE_BY_SIDE):
        groups.values[groups.lanes[e]] += groups.sums[e]
    left = max(0, groups.n[0] - SIDE_BY_SIDE)
    for e in range(left):
        _move(groups, SIDE_BY_SIDE + e, e)
    groups.n[0] = left


@inlined
def _move(groups, e, to):
    """Let one group take the place of another."""
    groups.lanes[to], groups.streams[to] = groups.lanes[e], groups.streams[e]
    groups.relevant[to], groups.others[to] = groups.relevant[e], groups.others[e]
    groups.above_relevant[to] = groups.above_relevant[e]
    groups.above_others[to] = groups.above_others[e]
    groups.tilts[to] = groups.tilts[e]


@part
def work_through_rest(groups, gain, steps):
    """The same for the fewer than 64 that are left."""
    for e in range(groups.n[0], SIDE_BY_SIDE):
        groups.lanes[e] = SIDE_BY_SIDE
        groups.streams[e] = WORD(0)
        groups.relevant[e] = groups.others[e] = HALF(0)
        groups.above_relevant[e] = groups.above_others[e] = HALF(0)
        groups.tilts[e] = 0.0
    work_through(groups, gain, steps)


def make_groups() -> Groups:
    """Room for the groups that one bin of 64 samples adds to fewer than 64."""
    room, documents = 2 * SIDE_BY_SIDE, MOST_MARKS * SIDE_BY_SIDE
    return Groups(
        n=np.zeros(1, np.int64),
        lanes=np.zeros(room, np.int64),
        streams=np.zeros(room, np.uint64),
        relevant=np.zeros(room, HALF),
        others=np.zeros(room, HALF),
        above_relevant=np.zeros(room, HALF),
        above_others=np.zeros(room, HALF),
        tilts=np.zeros(room),
        ranks=np.zeros(documents, HALF),
        higher=np.zeros(documents, np.int32),
        worth=np.zeros(documents),
        sums=np.zeros(SIDE_BY_SIDE),
        values=np.zeros(SIDE_BY_SIDE + 1),
    )

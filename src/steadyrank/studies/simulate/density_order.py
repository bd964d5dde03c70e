"""The order of several relevant documents among the others of one bin of a density.

Most bins of most samples hold one relevant document or none. Those with two to four are collected
from all samples and bins, and worked through 64 at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steadyrank.compute.kernels import WORD, inlined, part
from steadyrank.compute.random_kernels import GOLDEN
from steadyrank.studies.simulate.density_vectors import order_groups
from steadyrank.studies.simulate.sampler_kernels import (
    SIDE_BY_SIDE,
    add_one,
    mingle,
    number_below,
    word_of,
)
from steadyrank.studies.simulate.sampler_laws import HALF

MOST_MARKS = 4
"""Relevant documents of a bin that are put in order at once; more are too rare to need a tilt."""

MANY = 16
"""Up to so many are put in order one by one; more, document by document of both kinds."""

SEVERAL = 2 << 32
"""Steps of a sample's stream from which their places come: far from all others."""


class Groups(NamedTuple):
    """Relevant documents of some samples that share a bin with others, and room to work in."""

    n: np.ndarray
    """How many groups there are: one number."""
    places: np.ndarray
    """Of their counts among those of all samples and bins."""
    above_relevant: np.ndarray
    above_others: np.ndarray
    streams: np.ndarray
    """Where the random words of each begin."""
    relevant: np.ndarray
    others: np.ndarray
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
    """Of the samples side by side, from groups alone."""
    marks: np.ndarray
    """Of one sample: others above each of many relevant documents."""
    kept: np.ndarray
    """Of the samples side by side: relevant documents of a bin that are in no group."""


@inlined
def add_group(groups, lanes, lane, place):
    """Collect the documents of one bin of one sample."""
    n = WORD(groups.n[0])
    groups.places[n] = place
    groups.above_relevant[n] = lanes.above_relevant[lane]
    groups.above_others[n] = lanes.above_others[lane]
    groups.n[0] += 1


@inlined
def _insert(slot, n, marks):
    """Put one more document into a slot among some others and n documents in order."""
    place = 0
    while place < n and marks[place] + place < slot:
        place += 1
    for i in range(n, place, -1):
        marks[i] = marks[i - 1]
    marks[place] = slot - place


@part
def order_many(lanes, lane, place, marks, gain):
    """Put one sample's documents of a bin in random order and add what they are worth."""
    relevant, others = np.int64(lanes.relevant[place]), np.int64(lanes.others[place])
    if relevant > MANY or others < relevant:
        mingle(lanes, lane, place, gain)
        return
    key, step = lanes.keys[lane], lanes.steps[lane]
    for n in range(relevant):
        _insert(number_below(word_of(key, step + n), others + n + 1), n, marks)
    lanes.steps[lane] = step + relevant
    above, higher = np.int64(lanes.above_relevant[lane]), np.int64(lanes.above_others[lane])
    for n in range(relevant):
        add_one(lanes, lane, above + n, higher + marks[n], gain)
    lanes.above_relevant[lane] = above + relevant
    lanes.above_others[lane] = higher + others
    lanes.relevant[place] = lanes.others[place] = 0


@inlined
def _sum_groups(groups, gain, steps):
    """What the documents of 64 groups are worth."""
    ranks, higher, worth, sums = groups.ranks, groups.higher, groups.worth, groups.sums
    for i in range(MOST_MARKS * SIDE_BY_SIDE):
        worth[i] = steps[WORD(ranks[i])]
    for e in range(SIDE_BY_SIDE):
        sums[e] = 0.0
    per_relevant, per_other, constant = gain.per_relevant, gain.per_other, gain.constant
    for i in range(MOST_MARKS):
        for e in range(SIDE_BY_SIDE):
            place = WORD(i * SIDE_BY_SIDE) + WORD(e)
            weight = per_other * np.int32(higher[place]) + constant
            here = per_relevant + weight * worth[place]
            sums[e] += here if i < groups.relevant[e] else 0.0


@inlined
def _first_of_groups(groups, gain):
    """What the first relevant document is worth where it is one of a group's."""
    for e in range(SIDE_BY_SIDE):
        groups.sums[e] = 0.0
        if groups.above_relevant[e] == 0 and groups.relevant[e] > 0:
            last = (np.int64(groups.relevant[e]) - 1) * SIDE_BY_SIDE
            topmost = min(np.int64(groups.higher[e]), np.int64(groups.higher[last + e]))
            groups.sums[e] = gain.cumulated[topmost + 1]


@inlined
def _look_up(groups, lanes, tilt):
    """Write what there is to know of the first 64 groups; padding has no documents."""
    for e in range(SIDE_BY_SIDE):
        place = WORD(groups.places[e])
        lane, bin_number = place % WORD(SIDE_BY_SIDE), place // WORD(SIDE_BY_SIDE)
        is_group = e < groups.n[0]
        groups.streams[e] = lanes.keys[lane] + (WORD(SEVERAL) + bin_number * WORD(2)) * GOLDEN
        groups.relevant[e] = lanes.relevant[place] if is_group else HALF(0)
        groups.others[e] = lanes.others[place]
        groups.tilts[e] = tilt[bin_number]


@part
def work_through(groups, lanes, tilt, gain, steps):
    """Add what the first 64 groups are worth to their samples, and forget them."""
    _look_up(groups, lanes, tilt)
    order_groups(
        groups.streams,
        groups.relevant,
        groups.others,
        groups.above_relevant,
        groups.above_others,
        groups.tilts,
        groups.higher,
        groups.ranks,
    )
    if gain.first_only:
        _first_of_groups(groups, gain)
    else:
        _sum_groups(groups, gain, steps)
    n = groups.n[0]
    for e in range(min(n, SIDE_BY_SIDE)):
        groups.values[WORD(groups.places[e]) % WORD(SIDE_BY_SIDE)] += groups.sums[e]
    left = max(0, n - SIDE_BY_SIDE)
    for e in range(left):
        groups.places[e] = groups.places[SIDE_BY_SIDE + e]
        groups.above_relevant[e] = groups.above_relevant[SIDE_BY_SIDE + e]
        groups.above_others[e] = groups.above_others[SIDE_BY_SIDE + e]
    groups.n[0] = left


@part
def work_through_rest(groups, lanes, tilt, gain, steps):
    """The same for the fewer than 64 that are left."""
    for e in range(groups.n[0], SIDE_BY_SIDE):
        groups.places[e] = groups.above_relevant[e] = groups.above_others[e] = HALF(0)
    work_through(groups, lanes, tilt, gain, steps)


def make_groups() -> Groups:
    """Room for the groups that one bin of 64 samples adds to fewer than 64."""
    room, documents = 2 * SIDE_BY_SIDE, MOST_MARKS * SIDE_BY_SIDE
    return Groups(
        n=np.zeros(1, np.int64),
        places=np.zeros(room, HALF),
        above_relevant=np.zeros(room, HALF),
        above_others=np.zeros(room, HALF),
        streams=np.zeros(SIDE_BY_SIDE, np.uint64),
        relevant=np.zeros(SIDE_BY_SIDE, HALF),
        others=np.zeros(SIDE_BY_SIDE, HALF),
        tilts=np.zeros(SIDE_BY_SIDE),
        ranks=np.zeros(documents, HALF),
        higher=np.zeros(documents, HALF),
        worth=np.zeros(documents),
        sums=np.zeros(SIDE_BY_SIDE),
        values=np.zeros(SIDE_BY_SIDE),
        marks=np.zeros(MANY, np.int64),
        kept=np.zeros(SIDE_BY_SIDE, HALF),
    )

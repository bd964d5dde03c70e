"""The order of several relevant documents among the others of one bin of a density.

Most bins of most samples hold one relevant document or none. Those with more are collected from all
samples and bins, and worked through 64 at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steadyrank.compute.kernels import WORD, inlined, part
from steadyrank.compute.random_kernels import GOLDEN
from steadyrank.studies.simulate.density_vectors import AT_ONCE, order_groups
from steadyrank.studies.simulate.sampler_kernels import SIDE_BY_SIDE
from steadyrank.studies.simulate.sampler_laws import HALF

FEW, MANY = 4, 8
"""Most groups are of two to four documents. More than eight are too rare to need a tilt."""

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
    entries: tuple[int, ...]
    """Where `ranks` and `higher` have the first documents of all groups, the second, and so on."""
    ranks: np.ndarray
    """Documents above a document."""
    higher: np.ndarray
    """Others among these."""
    worth: np.ndarray
    """What one document of each group is worth."""
    sums: np.ndarray
    """The same of all its documents."""
    values: np.ndarray
    """Of the samples side by side, from groups alone."""


@inlined
def add_group(groups, lanes, lane, place):
    """Collect the documents of one bin of one sample."""
    n = WORD(groups.n[0])
    groups.places[n] = place
    groups.above_relevant[n] = lanes.above_relevant[lane]
    groups.above_others[n] = lanes.above_others[lane]
    groups.n[0] += 1


@inlined
def _sum_groups(groups, size, gain, steps):
    """What the documents of the first groups are worth."""
    worth, sums = groups.worth, groups.sums
    for e in range(size):
        sums[e] = 0.0
    per_relevant, per_other, constant = gain.per_relevant, gain.per_other, gain.constant
    ranks, higher = groups.ranks, groups.higher
    for i in range(len(groups.entries)):
        entry = WORD(i * SIDE_BY_SIDE)
        for e in range(size):
            worth[WORD(e)] = steps[WORD(ranks[entry + WORD(e)])]
        for e in range(size):
            weight = per_other * np.int32(higher[entry + WORD(e)]) + constant
            sums[e] += per_relevant + weight * worth[e] if i < groups.relevant[e] else 0.0


@inlined
def _first_of_groups(groups, size, gain):
    """What the first relevant document is worth where it is one of a group's."""
    for e in range(size):
        relevant, topmost = np.int64(groups.relevant[e]), np.int64(groups.higher[e])
        for i in range(1, relevant):
            topmost = min(topmost, np.int64(groups.higher[i * SIDE_BY_SIDE + e]))
        is_first = relevant > 0 and groups.above_relevant[e] == 0
        groups.sums[e] = gain.cumulated[topmost + 1] if is_first else 0.0


@inlined
def _look_up(groups, size, lanes, tilt):
    """Write what there is to know of the first groups; padding has no documents."""
    for e in range(size):
        place = WORD(groups.places[e])
        lane, bin_number = place % WORD(SIDE_BY_SIDE), place // WORD(SIDE_BY_SIDE)
        is_group = e < groups.n[0]
        groups.streams[e] = lanes.keys[lane] + (WORD(SEVERAL) + bin_number * WORD(4)) * GOLDEN
        groups.relevant[e] = lanes.relevant[place] if is_group else HALF(0)
        groups.others[e] = lanes.others[place]
        groups.tilts[e] = tilt[bin_number]


@inlined
def _order(groups, size):
    """Put the documents of the first groups in order."""
    for start in range(0, size, AT_ONCE):
        order_groups(
            start,
            groups.streams,
            groups.relevant,
            groups.others,
            groups.above_relevant,
            groups.above_others,
            groups.tilts,
            groups.entries,
            groups.higher,
            groups.ranks,
        )


@part
def work_through(groups, size, lanes, tilt, gain, steps):
    """Add what the first groups are worth to their samples, and forget them."""
    _look_up(groups, size, lanes, tilt)
    _order(groups, size)
    if gain.first_only:
        _first_of_groups(groups, size, gain)
    else:
        _sum_groups(groups, size, gain, steps)
    n = groups.n[0]
    for e in range(min(n, size)):
        groups.values[WORD(groups.places[e]) % WORD(SIDE_BY_SIDE)] += groups.sums[e]
    left = max(0, n - size)
    for e in range(left):
        groups.places[e] = groups.places[size + e]
        groups.above_relevant[e] = groups.above_relevant[size + e]
        groups.above_others[e] = groups.above_others[size + e]
    groups.n[0] = left


@inlined
def work_through_rest(groups, lanes, tilt, gain, steps):
    """The same for all that are left, with as much padding as it takes."""
    n = groups.n[0]
    size = -(-n // AT_ONCE) * AT_ONCE
    for e in range(n, size):
        groups.places[e] = groups.above_relevant[e] = groups.above_others[e] = HALF(0)
    work_through(groups, size, lanes, tilt, gain, steps)


def make_groups(most: int) -> Groups:
    """Room for groups of so many documents: those of one bin of 64 samples, and fewer than 64."""
    room = 2 * SIDE_BY_SIDE
    return Groups(
        n=np.zeros(1, np.int64),
        places=np.zeros(room, HALF),
        above_relevant=np.zeros(room, HALF),
        above_others=np.zeros(room, HALF),
        streams=np.zeros(SIDE_BY_SIDE, np.uint64),
        relevant=np.zeros(SIDE_BY_SIDE, HALF),
        others=np.zeros(SIDE_BY_SIDE, HALF),
        tilts=np.zeros(SIDE_BY_SIDE),
        entries=tuple(range(0, most * SIDE_BY_SIDE, SIDE_BY_SIDE)),
        ranks=np.zeros(most * SIDE_BY_SIDE, HALF),
        higher=np.zeros(most * SIDE_BY_SIDE, HALF),
        worth=np.zeros(SIDE_BY_SIDE),
        sums=np.zeros(SIDE_BY_SIDE),
        values=np.zeros(SIDE_BY_SIDE),
    )

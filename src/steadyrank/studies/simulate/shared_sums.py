"""Measures that are sums over the documents with a gain, for all samples side by side.

Of a document with a gain the first copies are added to the totals of all samples at once, whether
a sample has them or not; the few further ones follow one by one. A total grows in the order of
ranks, as `evaluate` adds it up, and comes out the same to the last bit.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from steadyrank.compute.kernels import (
    WORD,
    add_bytes,
    bytes_up_to,
    inlined,
    part,
    specialised,
    trailing_zeros,
)
from steadyrank.measures.kernels import worth
from steadyrank.measures.scoring import Recipe
from steadyrank.studies.simulate.shared_counts import (
    MOST_COPIES,
    NO_LIMIT,
    SIDE_BY_SIDE,
    Lists,
    all_full,
    pass_by,
)
from steadyrank.studies.simulate.shared_ties import grade_of, order_tied

AT_ONCE = 2
"""Copies that are added without asking how many there are: one document in twelve has more."""


class Scoring(NamedTuple):
    """What the kernel of a measure is called with, beside a ranking."""

    gain: np.ndarray
    level: int
    cutoff: int
    parameter: float
    weights: np.ndarray
    """[rank]"""


def scoring_of(recipe: Recipe, lists: Lists) -> Scoring:
    """A measure made ready for the kernels of these lists."""
    return Scoring(
        recipe.gain, recipe.level, recipe.cutoff, recipe.parameter, rank_weights(recipe, lists)
    )


def rank_weights(recipe: Recipe, lists: Lists) -> np.ndarray:
    """What a rank is divided or multiplied by, as the kernels of `evaluate` compute it.

    For every rank of a simulated ranking, and of an ideal one, that can count.
    """
    longest = min(lists.depth.max(initial=0), MOST_COPIES * np.diff(lists.starts).max(initial=0))
    deepest = max(longest, MOST_COPIES * np.diff(lists.ideal).max(initial=0))
    ranks = range(1, int(min(recipe.cutoff, deepest)) + AT_ONCE + 1)
    weights: list[float] = []
    if recipe.kernel == "RBP":
        weights = [recipe.parameter ** (rank - 1.0) for rank in ranks]
    elif recipe.kernel == "nDCG":
        weights = [math.log2(rank + 1.0) for rank in ranks]
    return np.array([0.0, *weights])


@inlined
def _precision(n_found, rank, value, weights):
    return np.float64(n_found) / np.float64(rank)


@inlined
def _discounted_gain(n_found, rank, value, weights):
    return value / weights[WORD(rank)]


ADDENDS = {"AP": _precision, "nDCG": _discounted_gain}
"""What a document at a rank, the n-th with a gain, adds to a measure; sums are as those of
`measures.kernels.precision_sum` and `dcg`."""


def summing(measure: str) -> Any:
    """The kernel that sums up a measure's addends over one ranking."""
    addend = {"of_copy": ADDENDS[measure]}
    takes = {
        "take_first": specialised(_take_first, f"take_first_{measure}", how=inlined, **addend),
        "take_rest": specialised(_take_rest, f"take_rest_{measure}", how=inlined, **addend),
        "take_tied": specialised(_take_tied, f"take_tied_{measure}", how=part, **addend),
    }
    return specialised(_sum_up, f"sum_up_{measure}", how=part, **takes)


def _sum_up(lists, cell, topic, key, first, scoring, scratch):
    """Sum up the addends of one run's ranking in 64 samples from `first` on."""
    counts, position = scratch.counts, scratch.position
    position[:] = 0
    scratch.n_found[:] = 0
    scratch.total[:] = 0.0
    limit = np.int32(min(lists.depth[cell], scoring.cutoff, NO_LIMIT - MOST_COPIES))
    start = lists.starts[cell]
    place = start
    for event in range(lists.events[cell], lists.events[cell + 1]):
        at, size = start + lists.at[event], lists.size[event]
        pass_by(lists.places, place, at, counts, position)
        if all_full(at - start, position, limit):
            return
        place = at + size
        if size == 1:
            number = lists.places[at]
            value = worth(scoring.gain, grade_of(lists, topic, number))
            take_first(number * SIDE_BY_SIDE, value, limit, scoring.weights, scratch)  # noqa: F821
            take_rest(number * SIDE_BY_SIDE, value, limit, scoring.weights, scratch)  # noqa: F821
            add_bytes(position, counts, (number * SIDE_BY_SIDE,))
            add_bytes(scratch.n_found, counts, (number * SIDE_BY_SIDE,))
        else:
            take_tied(lists, topic, at, size, key, first, limit, scoring, scratch)  # noqa: F821
            pass_by(lists.places, at, place, counts, position)


def _take_first(row, value, limit, weights, scratch):
    """Add the first copies of a document, in every sample that has them and room for them."""
    counts, position, n_found = scratch.counts, scratch.position, scratch.n_found
    total = scratch.total
    for lane in range(SIDE_BY_SIDE):
        at = WORD(lane)
        copies = np.int32(counts[WORD(row) + at])
        so_far = total[at]
        # How many copies there are is a coin's toss, which a branch would often guess wrong.
        for copy in range(1, AT_ONCE + 1):
            rank = position[at] + np.int32(copy)
            addend = of_copy(n_found[at] + np.int32(copy), min(rank, limit), value, weights)  # noqa: F821
            so_far += addend if (copies >= copy) & (rank <= limit) else 0.0
        total[at] = so_far


def _take_rest(row, value, limit, weights, scratch):
    """Add the further copies of a document, in the samples that have any."""
    many = ~bytes_up_to(scratch.counts, row, np.uint8(AT_ONCE))
    while many != 0:
        lane = trailing_zeros(many)
        many &= many - WORD(1)
        copies = np.int32(scratch.counts[WORD(row) + lane])
        room = limit - scratch.position[lane]
        for copy in range(AT_ONCE + 1, min(copies, room) + 1):
            n_found, rank = scratch.n_found[lane] + copy, scratch.position[lane] + copy
            scratch.total[lane] += of_copy(n_found, rank, value, weights)  # noqa: F821


def _take_tied(lists, topic, place, size, key, first, limit, scoring, scratch):
    """Add the copies of tied documents, sample by sample, in their order."""
    for lane in range(SIDE_BY_SIDE):
        n_tied = order_tied(lists, topic, place, size, key, first + lane, lane, scratch)
        above, n_found = scratch.position[lane], scratch.n_found[lane]
        for i in range(n_tied):
            if scratch.tied[i] > 0:
                n_found += np.int32(1)
                rank = above + i + 1
                if rank <= limit:
                    value = worth(scoring.gain, scratch.tied[i])
                    scratch.total[lane] += of_copy(n_found, rank, value, scoring.weights)  # noqa: F821
        scratch.n_found[lane] = n_found

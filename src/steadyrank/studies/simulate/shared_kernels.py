"""Score the same new collection for every run: each document has one count for all runs.

In a sample, each document of a run's ranking is repeated as often as it occurs in the collection.
For each event of the ranking (`shared_lists`) the position is known in 64 samples. How copies
become a value depends on the measure.

**Sums** (AP, nDCG): the first copies of a document with a gain are added to the totals of all
samples at once, with weight 0 where a sample lacks them; the few further copies follow one by one.
A total grows in the order of ranks, as in `evaluate`, and is the same to the last bit.

**Lists** (all others): the copies get their ranks, and the kernels of `evaluate` score the lists,
sample by sample.

The divisor of a value, the number of relevant documents or the gain of the ideal list, depends only
on the collection and is computed once for all runs.
"""

from __future__ import annotations

import functools
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
from steadyrank.measures import kernels as measures
from steadyrank.measures.scoring import KERNELS, Recipe
from steadyrank.studies.simulate.shared_lists import (
    MOST_COPIES,
    NO_LIMIT,
    SIDE_BY_SIDE,
    RankingArrays,
    Scratch,
    all_full,
    draw_topic,
    grade_of,
    order_tied,
    pass_by,
)

SUMMED = 2
"""Copies that are added without a branch: one document in twelve has more."""

LISTED = 4
"""Copies that are listed without a branch: few documents have more."""


class Scoring(NamedTuple):
    """Arguments of the kernel of a measure in addition to a ranking."""

    gain: np.ndarray
    level: int
    cutoff: int
    parameter: float
    weights: np.ndarray
    """[rank]: divisor of a rank, as the kernels of `evaluate` compute it."""


def scoring_of(recipe: Recipe, lists: RankingArrays) -> Scoring:
    """Prepare a measure for the kernels of these lists, with weights for all ranks that count."""
    longest = min(lists.depth.max(initial=0), MOST_COPIES * np.diff(lists.starts).max(initial=0))
    deepest = max(longest, MOST_COPIES * np.diff(lists.ideal).max(initial=0))
    ranks = range(1, int(min(recipe.cutoff, deepest)) + SUMMED + 1)
    weights = [math.log2(rank + 1.0) for rank in ranks] if recipe.kernel == "nDCG" else []
    return Scoring(*recipe.constants, np.array([0.0, *weights]))


@inlined
def _precision(n_found, rank, value, weights):
    return np.float64(n_found) / np.float64(rank)


@inlined
def _discounted_gain(n_found, rank, value, weights):
    return value / weights[WORD(rank)]


ADDENDS = {"AP": _precision, "nDCG": _discounted_gain}
"""Contribution of a document at a rank, the n-th with a gain; sums agree with those of
`measures.kernels.precision_sum` and `dcg`."""


def _walk(lists, cell, topic, key, first, scoring, scratch):
    """Process one run's ranking from the top down in 64 samples from `first` on."""
    counts, position, n_found = scratch.counts, scratch.position, scratch.n_found
    position[:] = 0
    n_found[:] = 0
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
            row = number * SIDE_BY_SIDE
            take_copies(row, grade_of(lists, topic, number), limit, scoring, scratch)  # noqa: F821
            add_bytes(position, counts, (row,))
            add_bytes(n_found, counts, (row,))
        else:
            for lane in range(SIDE_BY_SIDE):
                n_tied = order_tied(lists, topic, at, size, key, first + lane, lane, scratch)
                take_tied(n_tied, lane, limit, scoring, scratch)  # noqa: F821
            pass_by(lists.places, at, place, counts, position)


def _sum_copies(row, grade, limit, scoring, scratch):
    """Add the contributions of the copies of a document in every sample."""
    counts, position, n_found = scratch.counts, scratch.position, scratch.n_found
    total, weights, value = scratch.total, scoring.weights, measures.worth(scoring.gain, grade)
    for lane in range(SIDE_BY_SIDE):
        at = WORD(lane)
        copies = np.int32(counts[WORD(row) + at])
        so_far = total[at]
        # The number of copies is random: a branch would often be predicted wrongly.
        for copy in range(1, SUMMED + 1):
            rank = position[at] + np.int32(copy)
            addend = of_copy(n_found[at] + np.int32(copy), min(rank, limit), value, weights)  # noqa: F821
            so_far += addend if (copies >= copy) & (rank <= limit) else 0.0
        total[at] = so_far
    many = ~bytes_up_to(counts, row, np.uint8(SUMMED))
    while many != 0:
        lane = trailing_zeros(many)
        many &= many - WORD(1)
        last = min(np.int32(counts[WORD(row) + lane]), limit - position[lane])
        for copy in range(SUMMED + 1, last + 1):
            total[lane] += of_copy(n_found[lane] + copy, position[lane] + copy, value, weights)  # noqa: F821


def _sum_tied(n_tied, lane, limit, scoring, scratch):
    """Add the contributions of the copies of tied documents in one sample, in their order."""
    above, n_found = scratch.position[lane], scratch.n_found[lane]
    for i in range(n_tied):
        if scratch.tied[i] > 0:
            n_found += np.int32(1)
            rank = above + i + 1
            if rank <= limit:
                value = measures.worth(scoring.gain, scratch.tied[i])
                scratch.total[lane] += of_copy(n_found, rank, value, scoring.weights)  # noqa: F821
    scratch.n_found[lane] = n_found


@inlined
def _list_copies(row, grade, limit, scoring, scratch):
    """Write ranks and grades of the copies of a document, in every sample."""
    counts, position, n_found = scratch.counts, scratch.position, scratch.n_found
    ranks, grades, room = scratch.ranks, scratch.grades, scratch.room[0]
    same = np.int32(grade)
    for lane in range(SIDE_BY_SIDE):
        n = WORD(lane * room + n_found[lane])
        copies = WORD(counts[WORD(row) + WORD(lane)])
        first = position[lane] + np.int32(1)
        # Without a branch, as in `_sum_copies`; the next copies overwrite what is too much.
        for copy in range(LISTED):
            ranks[n + WORD(copy)] = first + np.int32(copy)
        for copy in range(LISTED):
            grades[n + WORD(copy)] = same
        if copies > WORD(LISTED):
            for copy in range(LISTED, copies):
                ranks[n + WORD(copy)] = first + np.int32(copy)
                grades[n + WORD(copy)] = same


@part
def _list_tied(n_tied, lane, limit, scoring, scratch):
    """Write ranks and grades of the copies of tied documents in one sample, in their order."""
    n = lane * scratch.room[0] + scratch.n_found[lane]
    for i in range(n_tied):
        if scratch.tied[i] > 0:
            scratch.ranks[n] = scratch.position[lane] + i + 1
            scratch.grades[n] = scratch.tied[i]
            n += 1
    scratch.n_found[lane] = n - lane * scratch.room[0]


_list_up = specialised(_walk, "list_up", how=part, take_copies=_list_copies, take_tied=_list_tied)


@part
def make_ideal(lists, topic, scratch):
    """Write the grades of each sample's ideal ranking, which has all documents with a gain.

    Sample s has `n_ideal` of them, from entry s * `room` on.
    """
    n_ideal, counts = scratch.n_ideal, scratch.counts
    low, high = lists.ideal[topic], lists.ideal[topic + 1]
    n_ideal[:] = 0
    for number in range(high - low):
        for lane in range(SIDE_BY_SIDE):
            n_ideal[lane] += counts[number * SIDE_BY_SIDE + lane]
    room = LISTED
    for lane in range(SIDE_BY_SIDE):
        room = max(room, n_ideal[lane] + LISTED)
        n_ideal[lane] = 0
    scratch.room[0] = room
    for number in range(high - low):
        grade = lists.grades[low + number]
        for lane in range(SIDE_BY_SIDE):
            copies = WORD(counts[WORD(number * SIDE_BY_SIDE + lane)])
            n = WORD(lane * room + n_ideal[lane])
            for copy in range(LISTED):
                scratch.ideal[n + WORD(copy)] = grade
            for copy in range(LISTED, copies):
                scratch.ideal[n + WORD(copy)] = grade
            n_ideal[lane] += np.int64(copies)


def make_scratch(lists: RankingArrays) -> Scratch:
    """Return memory for any cell of these lists."""
    most_documents, most_ideal = (
        int(np.diff(bounds).max(initial=0)) for bounds in (lists.documents, lists.ideal)
    )
    room = SIDE_BY_SIDE * (MOST_COPIES * max(most_ideal, 1) + LISTED)
    widest = MOST_COPIES * int(lists.size.max(initial=0)) + 1
    counts = np.empty((most_documents + 1) * SIDE_BY_SIDE, np.uint8)
    counts[most_documents * SIDE_BY_SIDE :] = 0
    return Scratch(
        counts=counts,
        position=np.empty(SIDE_BY_SIDE, np.int32),
        n_found=np.empty(SIDE_BY_SIDE, np.int32),
        total=np.empty(SIDE_BY_SIDE),
        room=np.zeros(1, np.int64),
        ranks=np.empty(room, np.int32),
        grades=np.empty(room, np.int32),
        ideal=np.empty(room, np.int32),
        n_ideal=np.empty(SIDE_BY_SIDE, np.int64),
        best=np.empty(SIDE_BY_SIDE),
        keys=np.empty(widest, np.uint64),
        tied=np.empty(widest, np.int32),
    )


@part
def _one(ideal, gain, level, cutoff):
    return 1.0


@part
def _relevant(ideal, gain, level, cutoff):
    return float(measures.n_relevant(ideal, level))


@part
def _ideal_dcg(ideal, gain, level, cutoff):
    return measures.ideal_dcg(ideal, gain, cutoff)


IDEALS = {"AP": _relevant, "nDCG": _ideal_dcg}
"""Divisors of sums of `ADDENDS`, which depend on the collection alone."""


@functools.cache
def shared_kernel(measure: str) -> Any:
    """Return the compiled sampler of a measure, which sums or uses the kernel of `evaluate`."""
    name = measure.replace(" ", "_")
    if measure in ADDENDS:
        addend = {"of_copy": ADDENDS[measure]}
        copies = specialised(_sum_copies, f"sum_copies_{name}", how=inlined, **addend)
        tied = specialised(_sum_tied, f"sum_tied_{name}", how=part, **addend)
        score = specialised(_walk, f"sum_up_{name}", how=part, take_copies=copies, take_tied=tied)
    else:
        each = {"of_list": KERNELS[measure]}
        score = specialised(_score_each, f"score_each_{name}", how=part, **each)
    of_ideal = IDEALS.get(measure, _one)
    return specialised(_sample_lists, f"sample_{name}", score=score, of_ideal=of_ideal)


def _score_each(lists, cell, topic, key, first, scoring, scratch):
    """Score one run's ranking in 64 samples from `first` on, one after the other."""
    depth, cutoff = lists.depth[cell], scoring.cutoff
    _list_up(lists, cell, topic, key, first, scoring, scratch)
    for lane in range(SIDE_BY_SIDE):
        if scratch.n_ideal[lane] == 0:
            continue  # Kernels require a relevant document.
        begin = lane * scratch.room[0]
        end = begin + np.int64(scratch.n_found[lane])
        while end > begin and scratch.ranks[end - 1] > depth:
            end -= 1
        scratch.total[lane] = of_list(  # noqa: F821
            scratch.ranks[begin:end],
            scratch.grades[begin:end],
            depth,
            scratch.ideal[begin : begin + scratch.n_ideal[lane]],
            scoring.gain,
            scoring.level,
            cutoff,
            scoring.parameter,
        )


def _sample_lists(lists, keys, first_item, last_item, first, scoring, scratch, out):
    """Fill out[cell, sample - first] for some items, each of which is 64 samples of a topic.

    The measure is the ratio of the globals `score` and `of_ideal`. Return how often a topic had no
    relevant document in a sample; it scores 0 there.
    """
    n_cells, n_samples = out.shape
    n_topics = len(lists.documents) - 1
    n_chunks = -(-n_samples // SIDE_BY_SIDE)
    best = scratch.best
    without = 0
    for item in range(first_item, last_item):
        topic, done = item // n_chunks, item % n_chunks * SIDE_BY_SIDE
        key, start = keys[topic], first + done
        draw_topic(lists, topic, key, start, scratch)
        make_ideal(lists, topic, scratch)
        lanes = min(SIDE_BY_SIDE, n_samples - done)
        for lane in range(lanes):
            begin = lane * scratch.room[0]
            ideal = scratch.ideal[begin : begin + scratch.n_ideal[lane]]
            best[lane] = 0.0
            if len(ideal) > 0:
                best[lane] = of_ideal(ideal, scoring.gain, scoring.level, scoring.cutoff)  # noqa: F821
            without += len(ideal) == 0 and lists.ideal[topic] < lists.ideal[topic + 1]
        for cell in range(topic, n_cells, n_topics):
            score(lists, cell, topic, key, start, scoring, scratch)  # noqa: F821
            for lane in range(lanes):
                divisor = best[lane]
                out[cell, done + lane] = scratch.total[lane] / divisor if divisor != 0.0 else 0.0
    return without

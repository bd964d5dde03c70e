"""Score the same new collection for every run: each document has one count, seen by all.

A document of a topic is in a simulated collection Poisson(1) times, relevant or not. A run's
ranking there is its own with every document repeated as often as it is in the collection.
Samples lie side by side: the counts of one document in 64 collections are one line of memory,
and adding them moves 64 rankings at once. Only a document with a gain needs more than that.

The count of a document depends on the topic's key, on the document's own hash and on the sample
alone: not on the other runs, which may come and go without changing those that stay.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from steadyrank.compute.kernels import WORD, inlined, kernel, part, specialised
from steadyrank.compute.random_kernels import GOLDEN, mixed_bits
from steadyrank.measures import kernels as measure_kernels
from steadyrank.measures.scoring import KERNELS

SIDE_BY_SIDE = 64
"""Samples whose rankings are walked together."""

HALF_SIDE = SIDE_BY_SIDE // 2
"""A random word serves two samples."""

MOST_COPIES = 12
"""More copies of one document are rarer than the 32 random bits of a draw can show."""

AT_ONCE = 4
"""Copies that are written without asking how many there are: few documents have more."""

LOOK_UP = 8
"""Documents after which a walk asks whether all rankings are full."""

_TIE = WORD(0x6A09E667F3BCC909)
"""Tells the words that order tied documents from those that count them."""

HALF = np.uint32


class Lists(NamedTuple):
    """The rankings of all runs; cell c = run * n_topics + topic.

    Documents of topic t are numbered from 0, those with a gain first, best first; their hashes
    are hashes[documents[t] : documents[t + 1]]. A ranking names its documents by these numbers,
    down to the last that can matter. An event is a document with a gain, or a group of tied
    documents whose order matters.
    """

    documents: np.ndarray
    hashes: np.ndarray
    ideal: np.ndarray
    """Where the grades of each topic's documents with a gain begin and end."""
    grades: np.ndarray
    starts: np.ndarray
    places: np.ndarray
    events: np.ndarray
    at: np.ndarray
    """Where in its ranking an event stands, from 0."""
    size: np.ndarray
    """How many documents an event has: 1, or those of a group."""
    depth: np.ndarray


class Scratch(NamedTuple):
    """Memory of one task."""

    counts: np.ndarray
    is_drawn: np.ndarray
    position: np.ndarray
    before: np.ndarray
    room: np.ndarray
    """Documents with a gain that a sample has room for."""
    ranks: np.ndarray
    grades: np.ndarray
    n_listed: np.ndarray
    ideal: np.ndarray
    n_ideal: np.ndarray
    best: np.ndarray
    """What a value is divided by."""
    keys: np.ndarray
    tied: np.ndarray


@inlined
def _poisson(half):
    """Poisson(1) by inversion of 32 random bits: how many of its cumulated shares they reach."""
    return np.uint8(
        HALF(half >= HALF(1580030169))
        + HALF(half >= HALF(3160060337))
        + HALF(half >= HALF(3950075422))
        + HALF(half >= HALF(4213413783))
        + HALF(half >= HALF(4279248374))
        + HALF(half >= HALF(4292415292))
        + HALF(half >= HALF(4294609778))
        + HALF(half >= HALF(4294923276))
        + HALF(half >= HALF(4294962463))
        + HALF(half >= HALF(4294966817))
        + HALF(half >= HALF(4294967253))
        + HALF(half >= HALF(4294967292))
    )


@inlined
def _stream(key, code):
    return mixed_bits(key ^ mixed_bits(code))


@part
def draw_counts(key, code, first, counts, row):
    """Counts of the document of hash `code` in samples from `first`, a multiple of 64, on."""
    start = _stream(key, code) + WORD(first // 2) * GOLDEN
    for i in range(HALF_SIDE):
        word = mixed_bits(start + WORD(i + 1) * GOLDEN)
        counts[WORD(row) + WORD(i)] = _poisson(HALF(word))
        counts[WORD(row) + WORD(i + HALF_SIDE)] = _poisson(HALF(word >> WORD(32)))


@inlined
def _pass_by(lists, topic, number, key, first, scratch):
    """Let the copies of a document stand above what follows."""
    row = number * SIDE_BY_SIDE
    if not scratch.is_drawn[number]:
        scratch.is_drawn[number] = 1
        code = lists.hashes[lists.documents[topic] + number]
        draw_counts(key, code, first, scratch.counts, row)
    counts, position = scratch.counts, scratch.position
    for i in range(SIDE_BY_SIDE):
        position[i] += np.int32(counts[WORD(row) + WORD(i)])


@inlined
def _least(position):
    least = position[0]
    for i in range(SIDE_BY_SIDE):
        least = min(least, position[i])
    return least


@part
def walk(lists, cell, topic, key, first, limit, scratch):
    """Write how many documents stand above each event; the number of events that are reached."""
    start, stop = lists.starts[cell], lists.starts[cell + 1]
    event, last = lists.events[cell], lists.events[cell + 1]
    position = scratch.position
    position[:] = 0
    n = end = 0
    for i in range(stop - start):
        if event + n < last and lists.at[event + n] == i:
            end = i + lists.size[event + n]
            row = n * SIDE_BY_SIDE
            for lane in range(SIDE_BY_SIDE):
                scratch.before[row + lane] = position[lane]
            n += 1
        _pass_by(lists, topic, lists.places[start + i], key, first, scratch)
        # A ranking that is full in every sample needs no more documents, but a group needs all.
        if i >= limit and i >= end and i % LOOK_UP == 0 and _least(position) >= limit:
            break
    return n


@inlined
def _grade(lists, topic, number):
    at = lists.ideal[topic] + number
    return lists.grades[at] if at < lists.ideal[topic + 1] else 0


@part
def _sort_tied(keys, grades, n):
    """Order copies by their keys (Shell's method): groups are small, or few."""
    gap = n // 2
    while gap > 0:
        for i in range(gap, n):
            key, grade = keys[i], grades[i]
            j = i
            while j >= gap and keys[j - gap] > key:
                keys[j], grades[j] = keys[j - gap], grades[j - gap]
                j -= gap
            keys[j], grades[j] = key, grade
        gap //= 2


@part
def _add_tied(lists, topic, first_place, size, key, sample, lane, above, scratch):
    """Write the ranks of tied documents with a gain, in an order that all runs share."""
    n_tied = 0
    for i in range(first_place, first_place + size):
        number = lists.places[i]
        stream = _stream(key, lists.hashes[lists.documents[topic] + number] ^ _TIE)
        for copy in range(scratch.counts[number * SIDE_BY_SIDE + lane]):
            place = WORD(sample * 16 + copy + 1)
            scratch.keys[n_tied] = mixed_bits(stream + place * GOLDEN)
            scratch.tied[n_tied] = _grade(lists, topic, number)
            n_tied += 1
    _sort_tied(scratch.keys, scratch.tied, n_tied)
    n = np.int64(scratch.n_listed[lane])
    for i in range(n_tied):
        if scratch.tied[i] > 0:
            scratch.ranks[n] = above + i + 1
            scratch.grades[n] = scratch.tied[i]
            n += 1
    scratch.n_listed[lane] = n


@inlined
def _add_copies(row, before, grade, scratch):
    """Write the ranks of all copies of one document, in every sample."""
    counts, above, n_listed = scratch.counts, scratch.before, scratch.n_listed
    ranks, grades = scratch.ranks, scratch.grades
    for lane in range(SIDE_BY_SIDE):
        n = WORD(n_listed[lane])
        copies = WORD(counts[WORD(row) + WORD(lane)])
        first = above[WORD(before) + WORD(lane)] + np.int32(1)
        # How many copies there are is a coin's toss, which a branch would often guess wrong.
        for copy in range(AT_ONCE):
            ranks[n + WORD(copy)] = first + np.int32(copy)
        for copy in range(AT_ONCE):
            grades[n + WORD(copy)] = grade
        if copies > WORD(AT_ONCE):
            for copy in range(AT_ONCE, copies):
                ranks[n + WORD(copy)] = first + np.int32(copy)
                grades[n + WORD(copy)] = grade
        n_listed[lane] = n + copies


@part
def unfold(lists, cell, topic, key, first, n_events, scratch):
    """Write ranks and grades of the documents with a gain in every sample, one after the other.

    Those of a sample begin at its multiple of `room` and end at `n_listed`.
    """
    for lane in range(SIDE_BY_SIDE):
        scratch.n_listed[lane] = lane * scratch.room[0]
    for e in range(n_events):
        event = lists.events[cell] + e
        place = lists.starts[cell] + lists.at[event]
        before = e * SIDE_BY_SIDE
        if lists.size[event] == 1:
            number = lists.places[place]
            grade = _grade(lists, topic, number)
            _add_copies(number * SIDE_BY_SIDE, before, np.int32(grade), scratch)
        else:
            for lane in range(SIDE_BY_SIDE):
                _add_tied(
                    lists,
                    topic,
                    place,
                    lists.size[event],
                    key,
                    first + lane,
                    lane,
                    scratch.before[before + lane],
                    scratch,
                )


@inlined
def _bounds_of(lane, depth, scratch):
    """Where the ranks of a sample begin and end that its ranking is deep enough for."""
    start, end = lane * scratch.room[0], np.int64(scratch.n_listed[lane])
    while end > start and scratch.ranks[end - 1] > depth:
        end -= 1
    return start, end


@part
def draw_ideal(lists, topic, key, first, scratch):
    """The grades of each sample's ideal ranking: of all its documents with a gain."""
    scratch.n_ideal[:] = 0
    low, high = lists.ideal[topic], lists.ideal[topic + 1]
    for number in range(high - low):
        row = number * SIDE_BY_SIDE
        scratch.is_drawn[number] = 1
        code = lists.hashes[lists.documents[topic] + number]
        draw_counts(key, code, first, scratch.counts, row)
        for lane in range(SIDE_BY_SIDE):
            n = scratch.n_ideal[lane]
            copies = scratch.counts[row + lane]
            for copy in range(copies):
                scratch.ideal[lane, n + copy] = lists.grades[low + number]
            scratch.n_ideal[lane] = n + copies


@part
def _largest(bounds):
    largest = 0
    for i in range(len(bounds) - 1):
        largest = max(largest, bounds[i + 1] - bounds[i])
    return largest


@kernel
def make_scratch(lists):
    """Memory for any cell of these lists."""
    most_events, most_ideal = _largest(lists.events), _largest(lists.ideal)
    widest = 0
    for size in lists.size:
        widest = max(widest, size)
    most_documents = max(1, _largest(lists.documents))
    room = MOST_COPIES * max(most_ideal, 1) + AT_ONCE
    return Scratch(
        np.empty(most_documents * SIDE_BY_SIDE, np.uint8),
        np.empty(most_documents, np.uint8),
        np.empty(SIDE_BY_SIDE, np.int32),
        np.empty(max(1, most_events) * SIDE_BY_SIDE, np.int32),
        np.full(1, room),
        np.empty(SIDE_BY_SIDE * room, np.int32),
        np.empty(SIDE_BY_SIDE * room, np.int32),
        np.empty(SIDE_BY_SIDE, np.uint64),
        np.empty((SIDE_BY_SIDE, room), np.int32),
        np.empty(SIDE_BY_SIDE, np.int64),
        np.empty(SIDE_BY_SIDE),
        np.empty(MOST_COPIES * widest + 1, np.uint64),
        np.empty(MOST_COPIES * widest + 1, np.int32),
    )


@part
def _as_it_is(ideal, gain, cutoff):
    """What a measure is divided by that is no ratio to the ideal ranking's."""
    return 1.0


RATIOS = {
    "nDCG": (measure_kernels.dcg, measure_kernels.ideal_dcg),
    "nERR": (measure_kernels.expected_reciprocal_rank, measure_kernels.ideal_err),
}
"""Measures that are a ratio to that of the ideal ranking, which all runs share."""


@functools.cache
def shared_kernel(measure: str) -> Any:
    """The compiled sampler of one measure, by the kernel that `evaluate` scores it with."""
    of_list, of_ideal = RATIOS.get(measure, (KERNELS[measure], _as_it_is))
    name = f"sample_{measure.replace(' ', '_')}"
    return specialised(_sample_lists, name, how=kernel, of_list=of_list, of_ideal=of_ideal)


def _sample_lists(
    lists, keys, first_item, last_item, first, gain, level, cutoff, parameter, scratch, out
):
    """Fill out[cell, sample - first] for some items: topics, each cut into 64 samples at a time.

    The measure is the ratio of the globals `of_list` and `of_ideal`. Returns how many topics had
    no relevant document in a sample; they score 0.
    """
    n_cells, n_samples = out.shape
    n_topics = len(lists.documents) - 1
    n_chunks = -(-n_samples // SIDE_BY_SIDE)
    best = scratch.best
    without = 0
    for item in range(first_item, last_item):
        topic, done = item // n_chunks, item % n_chunks * SIDE_BY_SIDE
        key, start = keys[topic], first + done
        scratch.is_drawn[:] = 0
        draw_ideal(lists, topic, key, start, scratch)
        lanes = min(SIDE_BY_SIDE, n_samples - done)
        for lane in range(lanes):
            ideal = scratch.ideal[lane, : scratch.n_ideal[lane]]
            best[lane] = of_ideal(ideal, gain, cutoff) if len(ideal) > 0 else 0.0  # noqa: F821
            without += len(ideal) == 0 and lists.ideal[topic] < lists.ideal[topic + 1]
        for cell in range(topic, n_cells, n_topics):
            depth = lists.depth[cell]
            n_events = walk(lists, cell, topic, key, start, min(depth, cutoff), scratch)
            unfold(lists, cell, topic, key, start, n_events, scratch)
            for lane in range(lanes):
                if best[lane] == 0.0:
                    out[cell, done + lane] = 0.0
                    continue
                begin, end = _bounds_of(lane, depth, scratch)
                value = of_list(  # noqa: F821
                    scratch.ranks[begin:end],
                    scratch.grades[begin:end],
                    depth,
                    scratch.ideal[lane, : scratch.n_ideal[lane]],
                    gain,
                    level,
                    cutoff,
                    parameter,
                )
                out[cell, done + lane] = value / best[lane]
    return without

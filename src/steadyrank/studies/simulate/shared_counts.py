"""Counts of shared documents, and how far they push what stands below them.

A document of a topic is in a simulated collection Poisson(1) times, relevant or not. Samples lie
side by side: the counts of one document in 64 collections are one line of memory, and adding them
moves 64 rankings at once. Only a document with a gain needs more than that (`shared_kernels`).

The count of a document depends on the topic's key, on the document's own hash and on the sample
alone: not on the other runs, which may come and go without changing those that stay.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steadyrank.compute.kernels import WORD, inlined, part
from steadyrank.compute.random_kernels import GOLDEN, mixed_bits

SIDE_BY_SIDE = 64
"""Samples whose rankings are walked together."""

HALF_SIDE = SIDE_BY_SIDE // 2
"""A random word serves two samples."""

MOST_COPIES = 12
"""More copies of one document are rarer than the 32 random bits of a draw can show."""

TOGETHER = 4
"""Documents whose copies are added up in bytes before they move the rankings."""

LOOK_UP = 8
"""Documents after which a walk asks whether all rankings are full."""

NO_LIMIT = 2**31 - 1

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
def stream_of(key, code):
    """The random words of a document: the one that they are counted from."""
    return mixed_bits(key ^ mixed_bits(code))


@part
def draw_counts(key, code, first, counts, row):
    """Counts of the document of hash `code` in samples from `first`, a multiple of 64, on."""
    start = stream_of(key, code) + WORD(first // 2) * GOLDEN
    for i in range(HALF_SIDE):
        word = mixed_bits(start + WORD(i + 1) * GOLDEN)
        counts[WORD(row) + WORD(i)] = _poisson(HALF(word))
        counts[WORD(row) + WORD(i + HALF_SIDE)] = _poisson(HALF(word >> WORD(32)))


@part
def draw_topic(lists, topic, key, first, scratch):
    """Count every document of a topic in all samples."""
    low = lists.documents[topic]
    for number in range(lists.documents[topic + 1] - low):
        draw_counts(key, lists.hashes[low + number], first, scratch.counts, number * SIDE_BY_SIDE)


@inlined
def _pass_by(counts, row, position):
    """Let the copies of a document stand above what follows."""
    for i in range(SIDE_BY_SIDE):
        position[i] += np.int32(counts[WORD(row) + WORD(i)])


@inlined
def _pass_by_four(counts, rows, position):
    """The same of four documents: their sum still fits a byte."""
    a, b, c, d = rows
    for i in range(SIDE_BY_SIDE):
        lane = WORD(i)
        few = np.uint8(
            counts[WORD(a) + lane]
            + counts[WORD(b) + lane]
            + counts[WORD(c) + lane]
            + counts[WORD(d) + lane]
        )
        position[i] += np.int32(few)


@part
def _pass_by_all(lists, first, last, counts, position, limit):
    """Let the documents at some places stand above what follows; whether all rankings are full."""
    i = first
    while i + TOGETHER <= last:
        rows = (
            lists.places[i] * SIDE_BY_SIDE,
            lists.places[i + 1] * SIDE_BY_SIDE,
            lists.places[i + 2] * SIDE_BY_SIDE,
            lists.places[i + 3] * SIDE_BY_SIDE,
        )
        _pass_by_four(counts, rows, position)
        i += TOGETHER
        if (i - first) % LOOK_UP == 0 and _least(position) >= limit:
            return True
    while i < last:
        _pass_by(counts, lists.places[i] * SIDE_BY_SIDE, position)
        i += 1
    return False


@inlined
def _least(position):
    least = position[0]
    for i in range(SIDE_BY_SIDE):
        least = min(least, position[i])
    return least


@part
def walk(lists, cell, limit, scratch):
    """Write how many documents stand above each event; the number of events that are reached."""
    start, event = lists.starts[cell], lists.events[cell]
    position = scratch.position
    position[:] = 0
    place = start
    for n in range(lists.events[cell + 1] - event):
        at = start + lists.at[event + n]
        # A ranking that is full in every sample needs no more documents.
        if _pass_by_all(lists, place, at, scratch.counts, position, limit):
            return n
        row = n * SIDE_BY_SIDE
        for lane in range(SIDE_BY_SIDE):
            scratch.before[row + lane] = position[lane]
        place = at + lists.size[event + n]
        _pass_by_all(lists, at, place, scratch.counts, position, NO_LIMIT)
    return lists.events[cell + 1] - event

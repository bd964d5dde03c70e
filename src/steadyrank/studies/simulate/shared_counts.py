"""Counts of shared documents, and how far they push what stands below them.

A document of a topic is in a simulated collection Poisson(1) times, relevant or not. Samples lie
side by side: the counts of one document in 64 collections are one line of memory, and adding them
moves 64 rankings at once. Only a document with a gain needs more than that (`shared_sums`,
`shared_kernels`).

The count of a document depends on the topic's key, on the document's own hash and on the sample
alone: not on the other runs, which may come and go without changing those that stay.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steadyrank.compute.kernels import WORD, add_bytes, inlined, part
from steadyrank.compute.random_kernels import GOLDEN, count_reached, mixed_bits

SIDE_BY_SIDE = 64
"""Samples whose rankings are walked together."""

MOST_COPIES = 12
"""More copies of one document are rarer than the 32 random bits of a draw can show."""

TOGETHER = 8
"""Documents whose copies are added up in bytes before they move the rankings."""

NO_LIMIT = 2**31 - 1

HALF = np.uint32

SHARES = (
    HALF(1580030169),
    HALF(3160060337),
    HALF(3950075422),
    HALF(4213413783),
    HALF(4279248374),
    HALF(4292415292),
    HALF(4294609778),
    HALF(4294923276),
    HALF(4294962463),
    HALF(4294966817),
    HALF(4294967253),
    HALF(4294967292),
)
"""Cumulated probabilities of Poisson(1), of 2**32: a number of 32 random bits that reaches n of
them is a count of n."""

FEW = SHARES[:6]
"""Those that suffice to count a document in 64 samples, nineteen times out of twenty."""


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
    """[document, sample]; a last row of zeros stands for no document."""
    position: np.ndarray
    """[sample]: documents above what comes next."""
    n_found: np.ndarray
    """[sample]: of these, documents with a gain."""
    total: np.ndarray
    """[sample]: what the measure of a ranking has come to."""
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
def stream_of(key, code):
    """The random words of a document: the one that they are counted from."""
    return mixed_bits(key ^ mixed_bits(code))


@part
def draw_counts(key, code, first, counts, row):
    """Counts of the document of hash `code` in samples from `first`, a multiple of 64, on."""
    start = stream_of(key, code) + WORD(first // 2) * GOLDEN
    if count_reached(start, FEW, counts, row) != 0:
        count_reached(start, SHARES, counts, row)


@part
def draw_topic(lists, topic, key, first, scratch):
    """Count every document of a topic in all samples."""
    low = lists.documents[topic]
    for number in range(lists.documents[topic + 1] - low):
        draw_counts(key, lists.hashes[low + number], first, scratch.counts, number * SIDE_BY_SIDE)


@inlined
def _row(places, i, last, nothing):
    """Where the counts of the document at place i begin, or those of none from `last` on."""
    return np.int64(places[WORD(i)]) * SIDE_BY_SIDE if i < last else nothing


@inlined
def _rows(places, i, last, nothing):
    return (
        _row(places, i, last, nothing),
        _row(places, i + 1, last, nothing),
        _row(places, i + 2, last, nothing),
        _row(places, i + 3, last, nothing),
        _row(places, i + 4, last, nothing),
        _row(places, i + 5, last, nothing),
        _row(places, i + 6, last, nothing),
        _row(places, i + 7, last, nothing),
    )


@part
def pass_by(places, first, last, counts, position):
    """Let the copies of the documents at some places stand above what follows."""
    nothing = len(counts) - SIDE_BY_SIDE
    i = first
    while i + TOGETHER <= last:
        # LLVM sees that none of these is beyond `last`.
        add_bytes(position, counts, _rows(places, i, i + TOGETHER, nothing))
        i += TOGETHER
    if i < last:
        add_bytes(position, counts, _rows(places, i, last, nothing))


@part
def all_full(n_places, position, limit):
    """Whether every ranking has `limit` documents, after so many places: it needs no more then."""
    # With a copy per document on average, 64 rankings are not all full before.
    if n_places < limit:
        return False
    least = position[0]
    for lane in range(SIDE_BY_SIDE):
        least = min(least, position[lane])
    return least >= limit


@part
def walk(lists, cell, limit, scratch):
    """Write how many documents stand above each event; the number of events that are reached."""
    start, event = lists.starts[cell], lists.events[cell]
    position = scratch.position
    position[:] = 0
    place = start
    for n in range(lists.events[cell + 1] - event):
        at = start + lists.at[event + n]
        pass_by(lists.places, place, at, scratch.counts, position)
        if all_full(at - start, position, limit):
            return n
        row = n * SIDE_BY_SIDE
        for lane in range(SIDE_BY_SIDE):
            scratch.before[row + lane] = position[lane]
        place = at + lists.size[event + n]
        pass_by(lists.places, at, place, scratch.counts, position)
    return lists.events[cell + 1] - event

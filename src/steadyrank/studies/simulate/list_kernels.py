"""Rankings of documents that all runs share: which matter, how often each occurs, what it moves.

**Which documents matter.** A measure looks at the documents with a gain, so a run's ranking is cut
below its last one, and where no simulated ranking still has room (`outline`). Documents of equal
score stand in random order: where that can change a value, because a group has documents of
different gains, the group is one *event*; any other document with a gain is an event of its own.
Documents are numbered per topic, those with a gain first, so that all runs mean the same document
by the same number (`number_documents`).

**How often each occurs.** A document of a topic is in a simulated collection Poisson(1) times,
relevant or not. The count depends on the topic's key, on the document's own hash and on the sample
alone: not on the other runs, which may come and go without changing those that stay. Copies of tied
documents are ordered by random words of the same kind.

**What it moves.** Samples lie side by side: the counts of one document in 64 collections are one
line of memory, and adding them moves 64 rankings at once (`pass_by`). Only an event needs more than
that: `shared_kernels` scores it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steadyrank.compute.kernels import WORD, add_bytes, inlined, kernel, part
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


_TIE = WORD(0x6A09E667F3BCC909)
"""Tells the words that order tied documents from those that count them."""


class RankingArrays(NamedTuple):
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
    room: np.ndarray
    """Documents with a gain that a sample has room for."""
    ranks: np.ndarray
    grades: np.ndarray
    ideal: np.ndarray
    n_ideal: np.ndarray
    best: np.ndarray
    """What a value is divided by."""
    keys: np.ndarray
    tied: np.ndarray


@part
def _group(scores, start, stop, at):
    """First and last place of the documents that share the score of place `at`."""
    low, high = at, at + 1
    while low > start and scores[low - 1] == scores[at]:
        low -= 1
    while high < stop and scores[high] == scores[at]:
        high += 1
    return low, high


@kernel
def outline(
    scores, starts, stops, blocks, ranks, grades, horizon, by_score, kept, events, at, size
):
    """How many documents of each topic are kept, and where those with a gain stand among them.

    A group of tied documents is one event if it matters in which order they stand. kept and the
    bounds of events, which begin with a 0, are by topic; the number of events is returned.
    """
    n = 0
    for t in range(len(starts)):
        start, stop = starts[t], stops[t]
        end = start
        for i in range(blocks[t], blocks[t + 1]):
            place = start + ranks[i] - 1
            if place < end:
                continue  # It belongs to the group before.
            low, high = place, place + 1
            if by_score:
                low, high = _group(scores, start, stop, place)
            if low - start >= horizon:
                break
            is_mixed = False
            for j in range(low, high):
                # Relevant documents of one grade may stand in any order.
                k = i + j - low
                same = low == place and k < blocks[t + 1] and start + ranks[k] - 1 == j
                is_mixed |= not (same and grades[k] == grades[i])
            if is_mixed:
                at[n], size[n] = low - start, high - low
                n += 1
            else:
                for j in range(low, high):
                    at[n], size[n] = j - start, 1
                    n += 1
            end = high
        kept[t] = end - start
        events[t + 1] = n
    return n


@kernel
def number_documents(hashes, slots, numbers, n_known, places):
    """Write the number of each document into `places`; how many there are by now.

    `slots` holds the hashes that have a number; a hash of 64 bits stands for its document, since
    in a topic of a million documents two share one with a chance below one in ten millions.
    """
    mask = WORD(len(slots) - 1)
    for i in range(len(hashes)):
        slot = mixed_bits(hashes[i]) & mask
        while numbers[slot] >= 0 and slots[slot] != hashes[i]:
            slot = (slot + WORD(1)) & mask
        if numbers[slot] < 0:
            slots[slot] = hashes[i]
            numbers[slot] = n_known
            n_known += 1
        places[i] = numbers[slot]
    return n_known


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


@inlined
def grade_of(lists, topic, number):
    """The grade of a document of a topic, 0 if it has no gain."""
    at = lists.ideal[topic] + number
    return lists.grades[at] if at < lists.ideal[topic + 1] else 0


@part
def order_tied(lists, topic, place, size, key, sample, lane, scratch):
    """Write the grades of all copies of tied documents in their order; how many they are.

    The documents are those at `size` places from `place` on.
    """
    n_tied = 0
    for i in range(place, place + size):
        number = lists.places[i]
        stream = stream_of(key, lists.hashes[lists.documents[topic] + number] ^ _TIE)
        for copy in range(scratch.counts[number * SIDE_BY_SIDE + lane]):
            word = WORD(sample * 16 + copy + 1)
            scratch.keys[n_tied] = mixed_bits(stream + word * GOLDEN)
            scratch.tied[n_tied] = grade_of(lists, topic, number)
            n_tied += 1
    _sort_tied(scratch.keys, scratch.tied, n_tied)
    return n_tied


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

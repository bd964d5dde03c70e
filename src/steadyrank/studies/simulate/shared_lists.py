"""The rankings of all runs over one numbering of documents: what `shared_kernels` samples.

**Which documents matter.** A measure depends on the documents with a gain, so a ranking is cut
below the last of them, and where no simulated ranking has room for more (`outline`). Documents of
equal score are in random order. A group of them is one *event* if that order can change a value,
because their gains differ; any other document with a gain is a separate event. Documents are
numbered by topic, those with a gain first: a number means the same document in all runs
(`number_documents`).

**How often each occurs.** A simulated collection holds Poisson(1) copies of each document of a
topic, relevant or not. The count depends only on the topic's key, the document's hash and the
sample, so that other runs can be added or removed without changing it. Copies of tied documents are
ordered by random words of the same kind.

**What it moves.** The counts of one document in 64 collections are one line of memory, and adding
them moves 64 rankings at once (`pass_by`). Only events need more work: `shared_kernels` scores
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import pdtr

from steadyrank.compute.executors import Progress
from steadyrank.compute.kernels import (
    GOLDEN,
    WORD,
    add_bytes,
    count_reached,
    inlined,
    kernel,
    mixed_bits,
    part,
)
from steadyrank.data.qrels import Qrels
from steadyrank.data.read.runs import header_of, read_runs
from steadyrank.data.run import Run
from steadyrank.measures.scoring import NO_CUTOFF, Recipe, find_judged_documents, score_topics
from steadyrank.studies.simulate.profiles import (
    Depth,
    RunNotes,
    ScoreSource,
    in_order_of_names,
    is_constant,
    relevant_ranks,
    topic_rows,
)

NEVER = 2.0**-64
"""Chance that a simulated ranking needs documents beyond those that are kept."""

SIDE_BY_SIDE = 64
"""Samples whose rankings are processed together."""

MOST_COPIES = 12
"""More copies of one document are rarer than the 32 random bits of a draw can show."""

TOGETHER = 8
"""Documents whose copies are summed in bytes before they move the rankings."""

NO_LIMIT = 2**31 - 1

HALF = np.uint32

FEW = tuple(map(HALF, (1580030169, 3160060337, 3950075422, 4213413783, 4279248374, 4292415292)))
"""These suffice to count a document in 64 samples in 19 of 20 cases."""

RARE = tuple(map(HALF, (4294609778, 4294923276, 4294962463, 4294966817, 4294967253, 4294967292)))

SHARES = FEW + RARE
"""Cumulated probabilities of Poisson(1) times 2**32: 32 random bits that reach n of them are a
count of n."""

_TIE = WORD(0x6A09E667F3BCC909)
"""Separates the random words that order tied documents from those that count them."""


class RankingArrays(NamedTuple):
    """The rankings of all runs; cell c = run * n_topics + topic.

    Documents of topic t are numbered from 0, those with a gain first, best first; their hashes
    are hashes[documents[t] : documents[t + 1]]. A ranking holds these numbers, down to the last
    document that can matter.
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
    """Place of an event in its ranking, from 0."""
    size: np.ndarray
    """Number of documents of an event: 1, or those of a group of ties."""
    depth: np.ndarray


class Scratch(NamedTuple):
    """Memory of one task."""

    counts: np.ndarray
    """[document, sample]; the last row is zeros and means no document."""
    position: np.ndarray
    """[sample]: number of documents above the next event."""
    n_found: np.ndarray
    """[sample]: number of these documents that have a gain."""
    total: np.ndarray
    """[sample]: sum of the measure so far."""
    room: np.ndarray
    """Most documents with a gain that the arrays below can hold for one sample."""
    ranks: np.ndarray
    grades: np.ndarray
    ideal: np.ndarray
    n_ideal: np.ndarray
    best: np.ndarray
    keys: np.ndarray
    tied: np.ndarray


@kernel
def outline(scores, rows, relevant, horizon, by_score, out):
    """Write how many documents of each topic are kept, and its events; return the number of events.

    `rows` holds the first and last row of each topic; `relevant` the blocks of topics, and the
    ranks and grades in them. `out` takes the documents kept and the bounds of events (after a 0) by
    topic, and the place and size of each event.
    """
    (starts, stops), (blocks, ranks, grades), (kept, events, at, size) = rows, relevant, out
    n = 0
    for t in range(len(starts)):
        start, stop = starts[t], stops[t]
        end = start
        for i in range(blocks[t], blocks[t + 1]):
            place = start + ranks[i] - 1
            if place < end:
                continue  # It belongs to the previous group.
            low, high = place, place + 1
            while by_score and low > start and scores[low - 1] == scores[place]:
                low -= 1
            while by_score and high < stop and scores[high] == scores[place]:
                high += 1
            if low - start >= horizon:
                break
            is_mixed = False
            for j in range(low, high):
                # The order of relevant documents of one grade changes nothing.
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
    """Write the number of each document into `places`; return how many documents are numbered.

    `slots` holds the hashes that have a number. A hash of 64 bits identifies its document: among a
    million documents, two have the same one with a probability below one in ten million.
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
    """Start of the random words of the document of hash `code`."""
    return mixed_bits(key ^ mixed_bits(code))


@part
def draw_counts(key, code, first, counts, row):
    """Draw the counts of one document in 64 samples from `first`, a multiple of 64, on."""
    start = stream_of(key, code) + WORD(first // 2) * GOLDEN
    if count_reached(start, FEW, counts, row) != 0:
        count_reached(start, SHARES, counts, row)


@part
def draw_topic(lists, topic, key, first, scratch):
    """Draw the counts of every document of a topic in 64 samples."""
    low = lists.documents[topic]
    for number in range(lists.documents[topic + 1] - low):
        draw_counts(key, lists.hashes[low + number], first, scratch.counts, number * SIDE_BY_SIDE)


@inlined
def _row(places, i, last, nothing):
    """Row of the counts of the document at place i; the row of zeros from `last` on."""
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
    """Add the copies of the documents from place `first` to `last` to the positions."""
    nothing = len(counts) - SIDE_BY_SIDE
    i = first
    while i + TOGETHER <= last:
        # LLVM sees that none of these exceeds `last`.
        add_bytes(position, counts, _rows(places, i, i + TOGETHER, nothing))
        i += TOGETHER
    if i < last:
        add_bytes(position, counts, _rows(places, i, last, nothing))


@part
def all_full(n_places, position, limit):
    """Whether every ranking has `limit` documents after `n_places` places and needs no more."""
    # With one copy per document on average, 64 rankings are not all full earlier.
    if n_places < limit:
        return False
    least = position[0]
    for lane in range(SIDE_BY_SIDE):
        least = min(least, position[lane])
    return least >= limit


@inlined
def grade_of(lists, topic, number):
    """Grade of a document of a topic, 0 if it has no gain."""
    at = lists.ideal[topic] + number
    return lists.grades[at] if at < lists.ideal[topic + 1] else 0


@part
def order_tied(lists, topic, place, size, key, sample, lane, scratch):
    """Write the grades of all copies of `size` tied documents in random order; return how many."""
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
    """Sort copies by their keys (Shell's method, as groups are small or few)."""
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


class SharedLists(NamedTuple):
    """The rankings of a simulation whose documents all runs share; runs are sorted by name."""

    lists: RankingArrays
    notes: RunNotes
    raw: np.ndarray


def shared_lists(
    runs: Any,
    qrels: Qrels,
    recipe: Recipe,
    *,
    topics: Sequence[str],
    depth: Depth = "retrieved",
    score_source: ScoreSource = "score",
    jobs: int | None = None,
    progress: Progress | None = None,
) -> SharedLists:
    """Return the rankings of every run on every topic of `topics`, for one measure."""
    wanted = np.array([qrels.position[topic] for topic in topics], np.int64)
    by_score = score_source == "score"
    horizon = documents_needed(recipe.cutoff)

    def one(run: Run) -> _RunLists:
        starts, stops = rows = topic_rows(run, topics)
        judged = find_judged_documents(run, qrels, relevant_only=True)
        relevant = relevant_ranks(judged, qrels, wanted, recipe.level)
        kept, events = np.empty(len(starts), np.int64), np.zeros(len(starts) + 1, np.int64)
        at, size = np.empty((2, len(relevant[1])), np.int32)
        n = outline(run.scores, rows, relevant, horizon, by_score, (kept, events, at, size))
        places = np.repeat(starts - _bounds(kept)[:-1], kept) + np.arange(kept.sum())
        return _RunLists(
            run=header_of(run),
            lengths=stops - starts,
            n_relevant=np.diff(relevant[0]),
            constant=by_score and is_constant(run.scores, starts, stops),
            raw=score_topics(judged, qrels, [recipe])[0, wanted],
            kept=kept,
            hashes=run.documents.hashes[places],
            events=events,
            at=at[:n],
            size=size[:n],
        )

    parts, notes = in_order_of_names(read_runs(runs).map(one, jobs=jobs, progress=progress))
    lengths = np.concatenate([part.lengths for part in parts])
    starts = _bounds(np.concatenate([part.kept for part in parts]))
    ideal, gainful, grades = _gainful(qrels, wanted, recipe.level)
    documents, hashes, places = _numbered(ideal, gainful, parts, starts)
    offsets = _bounds([len(part.at) for part in parts])
    events = [part.events[1:] + offset for part, offset in zip(parts, offsets[:-1], strict=True)]
    lists = RankingArrays(
        documents=documents,
        hashes=hashes,
        ideal=ideal,
        grades=grades,
        starts=starts,
        places=places,
        events=np.concatenate([[0], *events]).astype(np.int64),
        at=np.concatenate([part.at for part in parts]),
        size=np.concatenate([part.size for part in parts]),
        depth=lengths if depth == "retrieved" else np.full(len(lengths), depth, np.int64),
    )
    return SharedLists(lists, notes, np.stack([part.raw for part in parts]))


def documents_needed(cutoff: int) -> int:
    """Return how many documents of a ranking fill the top `cutoff` of every simulated one."""
    if cutoff > 10_000:
        return NO_CUTOFF
    # n documents have Poisson(n) copies together; fewer than `cutoff` copies must be rare.
    numbers = np.arange(cutoff, 3 * cutoff + 200)
    return int(numbers[np.argmax(pdtr(cutoff - 1, numbers) < NEVER)])


class _RunLists(NamedTuple):
    run: Run
    lengths: np.ndarray
    n_relevant: np.ndarray
    constant: bool
    raw: np.ndarray
    kept: np.ndarray
    hashes: np.ndarray
    events: np.ndarray
    at: np.ndarray
    size: np.ndarray


def _gainful(qrels: Qrels, wanted: np.ndarray, level: int) -> tuple[np.ndarray, ...]:
    """Return blocks, hashes and grades of judged documents with a gain, by topic, best first."""
    rows = []
    for t in wanted:
        start, stop = qrels.blocks[t : t + 2]
        order = np.argsort(-qrels.grades[start:stop], kind="stable")
        rows.append(start + order[qrels.grades[start:stop][order] >= level])
    together = np.concatenate([np.zeros(0, np.int64), *rows])
    grades = qrels.grades[together].astype(np.int32)
    return _bounds([*map(len, rows)]), qrels.documents.hashes[together], grades


def _bounds(sizes: Any) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _numbered(
    blocks: np.ndarray, gainful: np.ndarray, parts: list[_RunLists], starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return where each topic's documents begin, all hashes, and the rankings as numbers.

    Documents with a gain, topic by topic in `gainful`, are numbered first.
    """
    n_topics = len(blocks) - 1
    places = np.empty(starts[-1], np.int32)
    own = [_bounds(part.kept) for part in parts]
    by_topic = [np.zeros(0, np.uint64)]
    for t in range(n_topics):
        listed = [gainful[blocks[t] : blocks[t + 1]]]
        targets = [np.empty(len(listed[0]), np.int32)]
        for r, run in enumerate(parts):
            cell = r * n_topics + t
            listed.append(run.hashes[own[r][t] : own[r][t + 1]])
            targets.append(places[starts[cell] : starts[cell + 1]])
        room = 1 << (2 * sum(map(len, listed)) + 1).bit_length()
        slots, numbers = np.zeros(room, np.uint64), np.full(room, -1, np.int32)
        known = 0
        for hashes, target in zip(listed, targets, strict=True):
            known = number_documents(hashes, slots, numbers, known, target)
        filled = numbers >= 0
        by_topic.append(np.empty(known, np.uint64))
        by_topic[-1][numbers[filled]] = slots[filled]
    return _bounds([len(hashes) for hashes in by_topic[1:]]), np.concatenate(by_topic), places

"""All documents scored for all topics by up to eight models at once, and the best ones kept.

A posting's weight depends on the document only through tf and the document's length, so that
weights are computed once for each distinct pair of a unit, and looked up for each posting. A
score and a document's place among all ids make one 64-bit key: the larger key ranks first.

Documents are scored in blocks whose sums stay in a core's cache, all topics' postings being in
order of documents. Of each model the keys above the smallest one kept are gathered until there is
no more room, and then cut to the best. Indices in hot loops are unsigned (`WORD`): of signed ones
Numba checks whether they are negative.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steadyrank.compute.kernels import (
    WORD,
    inlined,
    kernel,
    leading_zeros,
    part,
    specialised,
    trailing_zeros,
)
from steadyrank_lab.retrieval.engine.simd_scores import (
    EIGHT,
    add_eight,
    add_one,
    eight_above,
    one_above,
    ordered_bits,
    score_of_bits,
)

BLOCK_SUMS = 1 << 14
"""Sums, of a block of documents, that are held together: 128 KiB."""

SHARED_COUNTS = 32
"""Occurrences from which on a posting has a weight of its own."""

_BUCKETS = 256
_HALF = WORD(32)
_LOW = WORD(0xFFFFFFFF)


@kernel
def number_rows(starts, document, count, length_code, seen, row, row_posting, unit_rows):
    """Number the distinct (tf, length) of each unit: `row` of every posting within its unit.

    `row_posting` names one posting of each row; rows unit_rows[u]:unit_rows[u + 1] are unit
    u's. `seen[tf, length]`, -1 everywhere at first, remembers the last row of such a pair.
    """
    n = 0
    for unit in range(len(starts) - 1):
        first = n
        unit_rows[unit] = first
        for p in range(starts[unit], starts[unit + 1]):
            tf = count[p]
            if tf < SHARED_COUNTS:
                known = seen[tf, length_code[document[p]]]
                if known >= first:
                    row[p] = known - first
                    continue
                seen[tf, length_code[document[p]]] = n
            row[p] = n - first
            row_posting[n] = p
            n += 1
    unit_rows[len(starts) - 1] = n
    return n


def fill_weights(
    term_unit, term_rows, term_count, unit_rows, tf, dl, df, cf, collection, parameters, column
):
    """The weights by one model, the global `weight`, of every row of every term of the topics."""
    n_documents, tokens, avgdl = collection
    for term in range(len(term_unit)):
        unit = term_unit[term]
        first = unit_rows[unit]
        out = column[term_rows[term] : term_rows[term + 1]]
        qtf = term_count[term]
        for i in range(len(out)):
            p = first + i
            out[i] = weight(  # noqa: F821
                tf[p], dl[p], df[unit], cf[unit], n_documents, tokens, avgdl, qtf, *parameters
            )


@part
def keep_largest(keys, size, depth, spare):
    """Move the `depth` largest of keys[:size] to the front, in any order; return the smallest.

    Keys differ from each other. They are counted by their leading bits between smallest and
    largest, and only those that share the bucket of the last one kept are looked at again.
    """
    counts = spare[len(spare) - _BUCKETS :]
    low, high = 0, size
    while True:
        some = keys[low:high]
        least, most = some[0], some[0]
        for i in range(len(some)):
            least = min(least, some[i])
            most = max(most, some[i])
        if high == depth:
            # The keys of the last round are all below those of earlier ones.
            return least
        # The leading eight bits of what the keys span: as many values as there are buckets.
        shift = WORD(max(0, 56 - np.int64(leading_zeros((most - least) | WORD(1)))))
        counts[:] = WORD(0)
        for i in range(len(some)):
            counts[(some[i] - least) >> shift] += WORD(1)
        edge, above = _edge(counts, depth - low)
        _move_above(some, least, shift, edge, spare)
        for i in range(counts[edge]):
            some[above + i] = spare[i]
        low, high = low + above, low + above + np.int64(counts[edge])


@inlined
def _edge(counts, wanted):
    """The bucket that holds the last of the `wanted` largest, and how many lie above it."""
    edge, above = len(counts) - 1, 0
    while above + np.int64(counts[edge]) < wanted:
        above += np.int64(counts[edge])
        edge -= 1
    return WORD(edge), above


@inlined
def _move_above(some, least, shift, edge, spare):
    """Move the keys of higher buckets to the front, copy those of the bucket `edge`."""
    place, tied = WORD(0), WORD(0)
    for i in range(len(some)):
        key = some[i]
        bucket = (key - least) >> shift
        # Written in any case, and kept where the place moves on: a branch would be guessed wrong.
        some[place] = key
        spare[tied] = key
        place += WORD(bucket > edge)
        tied += WORD(bucket == edge)


class Terms(NamedTuple):
    """What the topics ask for: units, each with its number of occurrences in the topic.

    Topic q has the terms term[starts[q]:starts[q + 1]]; term t is `unit[t]`, and has rows
    rows[t]:rows[t + 1] of the table of weights.
    """

    starts: np.ndarray
    term: np.ndarray
    unit: np.ndarray
    rows: np.ndarray


class Postings(NamedTuple):
    """Unit u has entries starts[u]:starts[u + 1]; `row` is counted from the unit's first."""

    starts: np.ndarray
    document: np.ndarray
    row: np.ndarray


class Best(NamedTuple):
    """The best documents so far of one topic, for each model; sums above `limits` may enter."""

    limits: np.ndarray
    smallest: np.ndarray
    keys: np.ndarray
    sizes: np.ndarray
    spare: np.ndarray


class Block(NamedTuple):
    """A block of documents: their sums, which of them have any, and which of these count."""

    sums: np.ndarray
    touched: np.ndarray
    chosen: np.ndarray


@inlined
def _offer(best, lane, key, depth):
    """Take a key in; when there is no room left, drop all but the best."""
    if key < best.smallest[lane]:
        return
    best.keys[lane, best.sizes[lane]] = key
    best.sizes[lane] += 1
    if best.sizes[lane] == best.keys.shape[1]:
        least = keep_largest(best.keys[lane], best.sizes[lane], depth, best.spare)
        best.smallest[lane] = least
        # What rounds to the score of the smallest key lies above the second score below it;
        # next below zero is minus zero, which zero does not exceed.
        best.limits[lane] = score_of_bits((least >> _HALF) - WORD(2))
        best.sizes[lane] = depth


def _harvest(first, size, sums, touched, chosen, id_rank, best, depth):
    """Offer the sums of a block's touched documents to the best so far."""
    n = WORD(0)
    for i in range(size):
        chosen[n] = i  # without a branch, as in `_move_above`
        above = which_above(sums, i * LANES, best.limits)  # noqa: F821
        n += WORD(touched[i]) & WORD(above != WORD(0))
    for c in range(np.int64(n)):
        i = WORD(chosen[c])
        rank = WORD(id_rank[WORD(first) + i])
        above = which_above(sums, np.int64(i) * LANES, best.limits)  # noqa: F821
        while above != WORD(0):
            lane = trailing_zeros(above)
            above &= above - WORD(1)
            bits = ordered_bits(sums[i * WORD(LANES) + lane])  # noqa: F821
            _offer(best, lane, (bits << _HALF) | rank, depth)


@inlined
def _first_from(document, start, stop, limit):
    """The first of the ascending document[start:stop] from `limit` on."""
    while start < stop:
        middle = (start + stop) >> 1
        if document[middle] < limit:
            start = middle + 1
        else:
            stop = middle
    return start


def _search_topic(topic, terms, postings, table, id_rank, depth, places, block, best):
    """Score every document of one topic, a block of documents after the other."""
    entries = terms.term[terms.starts[topic] : terms.starts[topic + 1]]
    for e in range(len(entries)):
        places[e] = postings.starts[terms.unit[entries[e]]]
    size = len(block.touched)
    for first in range(0, len(id_rank), size):
        stop = min(first + size, len(id_rank))
        n_postings = 0
        for e in range(len(entries)):
            end = postings.starts[terms.unit[entries[e]] + 1]
            here = _first_from(postings.document, places[e], end, stop)
            weights = table[terms.rows[entries[e]] * LANES :]  # noqa: F821
            documents, rows = postings.document[places[e] : here], postings.row[places[e] : here]
            n_postings += len(rows)
            for p in range(len(rows)):
                i = WORD(documents[p]) - WORD(first)
                block.touched[i] = 1
                add(block.sums, i * WORD(LANES), weights, WORD(rows[p]) * WORD(LANES))  # noqa: F821
            places[e] = here
        if n_postings > 0:
            harvest(  # noqa: F821
                first, stop - first, block.sums, block.touched, block.chosen, id_rank, best, depth
            )
            block.sums[:] = 0.0
            block.touched[:] = 0


def _search_topics(terms, postings, table, id_rank, n_models, keys, n_ranked):
    """The best documents of each topic by each model, in any order.

    Writes their keys to keys[model, topic, :depth] and their number to n_ranked[model, topic].
    """
    n_topics, depth = keys.shape[1], keys.shape[2]
    capacity = 2 * max(depth, 512)
    best = Best(
        np.empty(LANES),  # noqa: F821
        np.empty(LANES, np.uint64),  # noqa: F821
        np.empty((LANES, capacity), np.uint64),  # noqa: F821
        np.empty(LANES, np.int64),  # noqa: F821
        np.empty(capacity + _BUCKETS, np.uint64),
    )
    places = np.empty(len(terms.term), np.int64)
    width = min(BLOCK_SUMS // LANES, len(id_rank))  # noqa: F821
    block = Block(np.zeros(width * LANES), np.zeros(width, np.uint8), np.empty(width, np.int32))  # noqa: F821
    for topic in range(n_topics):
        best.smallest[:] = 0
        best.sizes[:] = 0
        best.limits[:n_models] = -np.inf
        best.limits[n_models:] = np.inf  # places without a model: nothing enters
        search_topic(  # noqa: F821
            topic, terms, postings, table, id_rank, depth, places, block, best
        )
        for lane in range(n_models):
            if best.sizes[lane] > depth:
                keep_largest(best.keys[lane], best.sizes[lane], depth, best.spare)
            size = min(depth, best.sizes[lane])
            n_ranked[lane, topic] = size
            for i in range(size):  # an assignment of arrays would compile text for its errors
                keys[lane, topic, i] = best.keys[lane, i]


def _search_kernel(name, lanes, add, which_above):
    """The search for a fixed number of models."""
    harvest = specialised(
        _harvest, f"harvest_{name}", how=part, LANES=lanes, which_above=which_above
    )
    topic = specialised(
        _search_topic, f"search_topic_{name}", how=part, LANES=lanes, add=add, harvest=harvest
    )
    return specialised(
        _search_topics, f"search_{name}", how=kernel, LANES=lanes, search_topic=topic
    )


search_one = _search_kernel("one", 1, add_one, one_above)
search_eight = _search_kernel("eight", EIGHT, add_eight, eight_above)


class Wanted(NamedTuple):
    """The judged documents to look for: topic t has entries starts[t]:starts[t + 1].

    `topic[t]` is its place among the rankings, or -1; `id_rank` and `row` (of the qrels) are
    those of the documents.
    """

    topic: np.ndarray
    starts: np.ndarray
    id_rank: np.ndarray
    row: np.ndarray


@inlined
def _rank_of(key, keys):
    above = 1
    for i in range(len(keys)):
        above += np.int64(keys[i] > key)
    return above


@kernel
def find_ranks(keys, n_ranked, wanted, n_documents):
    """Where the judged documents stand: blocks, ranks, rows and lengths of a `JudgedRun`.

    `keys[topic, :n_ranked[topic]]` are in any order: only judged documents need a rank, and
    counting the keys above each is less work than sorting all.
    """
    n_topics = len(wanted.topic)
    blocks = np.zeros(n_topics + 1, np.int64)
    lengths = np.full(n_topics, -1, np.int64)
    ranks = np.empty(len(wanted.row), np.int32)
    rows = np.empty(len(wanted.row), np.int32)
    marks = np.zeros(n_documents, np.int32)
    standing = np.zeros(keys.shape[1] + 1, np.int32)
    n = 0
    for t in range(n_topics):
        topic = wanted.topic[t]
        if topic >= 0 and n_ranked[topic] > 0:
            lengths[t] = n_ranked[topic]
            for j in range(wanted.starts[t], wanted.starts[t + 1]):
                marks[wanted.id_rank[j]] = j + 1
            here = keys[topic, : n_ranked[topic]]
            for i in range(len(here)):
                mark = marks[np.int64(here[i] & _LOW)]
                if mark > 0:
                    standing[_rank_of(here[i], here)] = mark
            for j in range(wanted.starts[t], wanted.starts[t + 1]):
                marks[wanted.id_rank[j]] = 0
            for rank in range(1, len(here) + 1):
                if standing[rank] > 0:
                    ranks[n] = rank
                    rows[n] = wanted.row[standing[rank] - 1]
                    standing[rank] = 0
                    n += 1
        blocks[t + 1] = n
    return blocks, ranks[:n], rows[:n], lengths

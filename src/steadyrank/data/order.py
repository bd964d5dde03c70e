"""Orders: of the documents in a ranking, and of the topics and runs that studies work in.

trec_eval ranks documents by score descending, then by document id descending as bytes, and ignores
the rank column. Most files are already in that order, so blocks are checked first and sorted only
when they must be.

Topics and runs are sorted by name, numbers in names by size. The order of lines in a file, or of
files on a command line, says nothing about systems. Random numbers meet topics and runs by their
place, and sums are rounded in the order in which they are taken: with an order of our own, neither
can change a result.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from steadyrank.compute.kernels import WORD, inlined, kernel, part
from steadyrank.data.ids import Ids, bytes_above, same_bytes

if TYPE_CHECKING:
    from steadyrank.data.qrels import Qrels
    from steadyrank.data.scores import Scores

NONE = -1

LONG_BLOCK = 20_000
"""Rows of a topic from which on equal ids are searched exactly at once."""

_NUMBERS = re.compile(r"([0-9]+)")

_Part = str | tuple[int, str]


@inlined
def _comes_before(scores, data, offsets, i, j):
    if scores[i] != scores[j]:
        return scores[i] > scores[j]
    return bytes_above(data, offsets[i], offsets[i + 1], offsets[j], offsets[j + 1])


@part
def _is_ranked(scores, data, offsets, start, stop):
    for i in range(start + 1, stop):
        # Nearly all scores fall: one comparison, without a look at the ids.
        if scores[i] >= scores[i - 1] and _comes_before(scores, data, offsets, i, i - 1):
            return False
    return True


@kernel
def _merge_sort(order, spare, scores, data, offsets):
    """Sort the rows in `order` into ranking order (stable, bottom up).

    Neighbours that are already in order are not merged, so that the usual block,
    sorted but for its ties, takes little more than a look.
    """
    size = len(order)
    width = 1
    while width < size:
        for left in range(0, size - width, 2 * width):
            middle, right = left + width, min(left + 2 * width, size)
            if not _comes_before(scores, data, offsets, order[middle], order[middle - 1]):
                continue
            for k in range(left, middle):
                spare[k] = order[k]
            a, b = left, middle
            for k in range(left, right):
                if a == middle:
                    break
                if b < right and _comes_before(scores, data, offsets, order[b], spare[a]):
                    order[k] = order[b]
                    b += 1
                else:
                    order[k] = spare[a]
                    a += 1
        width *= 2


@kernel
def n_ranked(scores, data, offsets, blocks):
    """How many blocks stand before the first one that is not in ranking order."""
    for t in range(len(blocks) - 1):
        if not _is_ranked(scores, data, offsets, blocks[t], blocks[t + 1]):
            return t
    return len(blocks) - 1


def rank_blocks(documents: Ids, scores: np.ndarray, blocks: np.ndarray) -> None:
    """Put every topic's block into ranking order, in place; blocks in order are not touched."""
    data, offsets = documents.data, documents.offsets
    block = n_ranked(scores, data, offsets, blocks)
    while block < len(blocks) - 1:
        start, stop = int(blocks[block]), int(blocks[block + 1])
        order = np.arange(start, stop)
        _merge_sort(order, np.empty_like(order), scores, data, offsets)
        ranked = documents.take(order)
        first, last = offsets[start], offsets[stop]
        data[first:last] = ranked.data[: last - first]
        offsets[start : stop + 1] = ranked.offsets + first
        documents.hashes[start:stop] = ranked.hashes
        scores[start:stop] = scores[order]
        block += 1 + n_ranked(scores, data, offsets, blocks[block + 1 :])


@kernel
def _repeats(hashes, blocks, bits):
    """Whether some block holds a hash twice.

    Each hash sets two bits of one word of `bits`, of which a block uses a power of two, at least
    one per hash; only a hash that finds both set is compared with those before it.
    """
    for t in range(len(blocks) - 1):
        start, stop = blocks[t], blocks[t + 1]
        size = 1
        while size < stop - start:
            size *= 2
        for k in range(size):
            bits[k] = WORD(0)
        for i in range(start, stop):
            code = hashes[WORD(i)]
            word = (code >> WORD(12)) & WORD(size - 1)  # without a sign, so that none is looked at
            two = (WORD(1) << (code & WORD(63))) | (WORD(1) << ((code >> WORD(6)) & WORD(63)))
            if bits[word] & two == two:
                for j in range(start, i):
                    if hashes[j] == code:
                        return True
            bits[word] |= two
    return False


@kernel
def _find_duplicates(hashes, data, offsets, blocks):
    """For each row, the first row of its block with the same id, or NONE."""
    largest = 1
    for t in range(len(blocks) - 1):
        largest = max(largest, blocks[t + 1] - blocks[t])
    size = 4
    while size < 2 * largest:
        size *= 2
    table = np.full(size, NONE, np.int32)
    firsts = np.empty(0, np.int64)
    for t in range(len(blocks) - 1):
        start, stop = blocks[t], blocks[t + 1]
        # A table no larger than the block needs stays in the fastest cache.
        used = 4
        while used < 2 * (stop - start):
            used *= 2
        table[:used] = NONE
        mask = WORD(used - 1)
        for i in range(start, stop):
            slot = np.int64(hashes[i] & mask)
            while table[slot] != NONE:
                other = start + table[slot]
                if hashes[other] == hashes[i] and same_bytes(
                    data, offsets[i], offsets[i + 1], data, offsets[other], offsets[other + 1]
                ):
                    if len(firsts) == 0:
                        firsts = np.full(len(hashes), NONE, np.int64)
                    firsts[i] = other
                    break
                slot = (slot + 1) & np.int64(mask)
            else:
                table[slot] = i - start
    return firsts


def repeated_rows(documents: Ids, blocks: np.ndarray) -> np.ndarray:
    """For each row, the first row of its block with the same id, or NONE; empty if none repeats."""
    longest = int(np.diff(blocks).max(initial=0))
    if longest <= LONG_BLOCK:
        bits = np.empty(1 << longest.bit_length(), np.uint64)
        if not _repeats(documents.hashes, blocks, bits):
            return np.empty(0, np.int64)
    firsts: np.ndarray = _find_duplicates(
        documents.hashes, documents.data, documents.offsets, blocks
    )
    return firsts


def group_by_topic(
    names: list[str], first_rows: np.ndarray, n_rows: int
) -> tuple[list[str], np.ndarray, np.ndarray | None]:
    """Blocks from segments: segment k holds topic names[k] from row first_rows[k] on.

    Returns the topics in order of first appearance, the blocks' bounds, and the
    stable row order that makes them contiguous (None when they already are).
    """
    bounds = np.append(first_rows, n_rows).astype(np.int64)
    codes: dict[str, int] = {}
    segment_codes = np.array([codes.setdefault(name, len(codes)) for name in names], np.int64)
    topics = list(codes)
    steps = np.diff(segment_codes, prepend=-1)
    if (steps >= 0).all():
        # Segments of one topic are adjacent: only a chunk boundary split them.
        return topics, np.append(bounds[:-1][steps > 0], n_rows), None
    row_codes = np.repeat(segment_codes, np.diff(bounds))
    order = np.argsort(row_codes, kind="stable")
    sizes = np.bincount(row_codes, minlength=len(topics))
    return topics, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), order


def natural_key(name: str) -> tuple[list[_Part], str]:
    """What sorts names as people do: 2 before 10, and 02 next to 2."""
    parts: list[_Part] = list(_NUMBERS.split(name))
    # Numbers by their digits: int refuses very long ones.
    for place in range(1, len(parts), 2):
        digits = str(parts[place]).lstrip("0")
        parts[place] = (len(digits), digits)
    return parts, name


def order_by_name(names: Sequence[str]) -> np.ndarray:
    """Where the names stand, smallest name first."""
    return np.array(_places_in_order(tuple(names)), np.int64)


@functools.lru_cache(maxsize=32)
def _places_in_order(names: tuple[str, ...]) -> list[int]:
    keys = [natural_key(name) for name in names]
    return sorted(range(len(names)), key=keys.__getitem__)


def places_by_name(names: Sequence[str]) -> np.ndarray:
    """The place of each name among all of them, which `order_by_name` inverts."""
    return np.asarray(np.argsort(order_by_name(names)))


def scores_in_order(scores: Scores, *, runs: bool = False) -> Scores:
    """The scores with topics in order; runs too, for results that do not list them."""
    topics = order_by_name(scores.topics)
    rows = order_by_name(scores.runs) if runs else np.arange(len(scores.runs))
    if _is_sorted(topics) and _is_sorted(rows):
        return scores
    return scores.select(
        topics=[scores.topics[t] for t in topics], runs=[scores.runs[r] for r in rows]
    )


def qrels_in_order(qrels: Qrels) -> Qrels:
    """The judgments with topics in order."""
    order = order_by_name(qrels.topics)
    if _is_sorted(order):
        return qrels
    owner = np.repeat(np.argsort(order), qrels.sizes)
    rows = np.argsort(owner, kind="stable")
    return replace(
        qrels,
        topics=tuple(qrels.topics[t] for t in order),
        blocks=np.concatenate([[0], np.cumsum(qrels.sizes[order])]).astype(np.int64),
        documents=qrels.documents.take(rows),
        grades=qrels.grades[rows],
    )


def _is_sorted(order: np.ndarray) -> bool:
    return bool((np.diff(order) > 0).all())

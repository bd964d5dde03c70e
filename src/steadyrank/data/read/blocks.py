"""Rows in any order to one contiguous block per topic, in trec_eval's order.

trec_eval ranks by score descending, then by document id descending as bytes,
and ignores the rank column. Most files are already in that order, so blocks are
checked first and sorted only when they must be.
"""

from __future__ import annotations

import numpy as np

from steadyrank.compute.kernels import WORD, inlined, kernel, lean_kernel, part
from steadyrank.data.ids import Ids, bytes_above, same_bytes

NONE = -1

LONG_BLOCK = 20_000


@inlined
def _comes_before(scores, data, offsets, i, j):
    if scores[i] != scores[j]:
        return scores[i] > scores[j]
    return bytes_above(data, offsets[i], offsets[i + 1], offsets[j], offsets[j + 1])


@part
def _is_ranked(scores, data, offsets, start, stop):
    for i in range(start + 1, stop):
        if scores[i] >= scores[i - 1] and _comes_before(scores, data, offsets, i, i - 1):
            return False
    return True


@part
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


def rank_blocks(documents: Ids, scores: np.ndarray, blocks: np.ndarray) -> None:
    """Put every topic's block into ranking order, in place; blocks in order are not touched."""
    first = n_ranked(scores, documents.data, documents.offsets, blocks)
    if first < len(blocks) - 1:
        longest = int(np.diff(blocks).max())
        most_bytes = int(np.diff(documents.offsets[blocks]).max())
        _sort_blocks(
            scores,
            documents.hashes,
            documents.data,
            documents.offsets,
            blocks,
            first,
            np.empty(longest, np.int64),
            np.empty(longest, np.int64),
            np.empty(longest, np.float64),
            np.empty(longest, np.uint64),
            np.empty(longest + 1, np.int64),
            np.empty(most_bytes, np.uint8),
        )


@lean_kernel
def n_ranked(scores, data, offsets, blocks):
    """How many blocks stand before the first one that is not in ranking order."""
    for t in range(len(blocks) - 1):
        if not _is_ranked(scores, data, offsets, blocks[t], blocks[t + 1]):
            return t
    return len(blocks) - 1


@lean_kernel
def _sort_blocks(
    scores,
    hashes,
    data,
    offsets,
    blocks,
    first,
    order,
    spare,
    old_scores,
    old_hashes,
    old_offsets,
    old_data,
):
    """Sort the blocks from `first` on; apart, since files in order need none of its code.

    The rest is memory for the longest block.
    """
    for t in range(first, len(blocks) - 1):
        start, stop = blocks[t], blocks[t + 1]
        if _is_ranked(scores, data, offsets, start, stop):
            continue
        for k in range(stop - start):
            order[k] = start + k
        _merge_sort(order[: stop - start], spare, scores, data, offsets)
        _reorder(
            order[: stop - start],
            scores[start:stop],
            hashes[start:stop],
            offsets[start : stop + 1],
            data,
            start,
            old_scores,
            old_hashes,
            old_offsets,
            old_data,
        )


@part
def _reorder(
    order, scores, hashes, offsets, data, start, old_scores, old_hashes, old_offsets, old_data
):
    """Lay the rows of one block out in `order`; the last four are scratch."""
    first = offsets[0]
    for k in range(len(order)):
        old_scores[k] = scores[k]
        old_hashes[k] = hashes[k]
        old_offsets[k] = offsets[k] - first
    old_offsets[len(order)] = offsets[len(order)] - first
    for i in range(old_offsets[len(order)]):
        old_data[i] = data[first + i]
    position = first
    for k in range(len(order)):
        row = order[k] - start
        scores[k] = old_scores[row]
        hashes[k] = old_hashes[row]
        offsets[k] = position
        for i in range(old_offsets[row], old_offsets[row + 1]):
            data[position] = old_data[i]
            position += 1


@part
def has_repeats(hashes, start, stop, bits):
    """Whether hashes[start:stop] holds one twice.

    Each hash sets two bits of one of as many words of `bits`, a power of two, as there are
    hashes; only one that finds both set is compared with those before it.
    """
    size = 1
    while size < stop - start:
        size *= 2
    for k in range(size):
        bits[k] = WORD(0)
    mask = WORD(size - 1)
    for i in range(start, stop):
        code = hashes[WORD(i)]
        word = (code >> WORD(12)) & mask  # without a sign, so that none is looked at
        two = (WORD(1) << (code & WORD(63))) | (WORD(1) << ((code >> WORD(6)) & WORD(63)))
        if bits[word] & two == two:
            for j in range(start, i):
                if hashes[j] == code:
                    return True
        bits[word] |= two
    return False


@lean_kernel
def _repeats(hashes, blocks, bits):
    """Whether some block holds a hash twice."""
    t = 0
    while t < len(blocks) - 1 and not has_repeats(hashes, blocks[t], blocks[t + 1], bits):
        t += 1
    return t < len(blocks) - 1


def may_repeat(hashes: np.ndarray, blocks: np.ndarray) -> bool:
    """Whether some block may hold two equal ids; False is certain, and the usual answer.

    Very long blocks are left to the exact search.
    """
    longest = int(np.diff(blocks).max(initial=0))
    if longest > LONG_BLOCK:
        return True
    return bool(_repeats(hashes, blocks, np.empty(1 << longest.bit_length(), np.uint64)))


@kernel
def find_duplicates(hashes, data, offsets, blocks):
    """For each row, the first row of its block with the same id, or NONE.

    The answer is empty when no id repeats.
    """
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
    """What `find_duplicates` says, at the price of a glance where nothing repeats."""
    if not may_repeat(documents.hashes, blocks):
        return np.empty(0, np.int64)
    firsts: np.ndarray = find_duplicates(
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
    segment_codes = [codes.setdefault(name, len(codes)) for name in names]
    topics = list(codes)
    if all(b >= a for a, b in zip(segment_codes, segment_codes[1:], strict=False)):
        # Segments of one topic are adjacent: only a chunk boundary split them.
        starts = [
            int(bounds[k])
            for k, code in enumerate(segment_codes)
            if k == 0 or code != segment_codes[k - 1]
        ]
        return topics, np.array([*starts, n_rows], np.int64), None
    row_codes = np.repeat(np.array(segment_codes), np.diff(bounds))
    order = np.argsort(row_codes, kind="stable")
    sizes = np.bincount(row_codes, minlength=len(topics))
    return topics, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), order

"""From plain words to counts: a table of all words met so far, and each document's own counts."""

from __future__ import annotations

import numpy as np

from steadyrank.compute.kernels import (
    WORD,
    bytes_up_to,
    inlined,
    lean_kernel,
    load_byte,
    trailing_zeros,
)
from steadyrank.data.ids import copy_id, same_bytes

BLANK, END_OF_DOCUMENT = 32, 10

WORDS, PAIRS = range(2)
"""Where the counters, over all batches, stand in a kernel's `state`."""


@inlined
def _word_end(data, position):
    while True:
        separators = bytes_up_to(data, position, BLANK)
        if separators != WORD(0):
            return position + np.int64(trailing_zeros(separators))
        position += 64


@inlined
def _slot_of(slots, hashes, offsets, arena, hashed, start, end):
    """The slot that holds the word arena[start:end], or the free one where it belongs."""
    mask = len(slots) - 1
    slot = np.int64(hashed & WORD(mask))
    while True:
        word = slots[slot]
        if word < 0:
            return slot
        if hashes[word] == hashed and same_bytes(
            arena, start, end, arena, offsets[word], offsets[word + 1]
        ):
            return slot
        slot = (slot + 1) & mask


@lean_kernel
def count_batch(
    data, end, arena, offsets, hashes, slots, pair_of, pair_word, pair_count, pair_ends, state
):
    """Count the words of the documents in data[:end], each closed by END_OF_DOCUMENT.

    Words stand end to end in `arena`, word w from offsets[w] to offsets[w + 1]. Pairs (word,
    count) are numbered over all batches: `pair_of[w]` is the last one of word w, `pair_ends`
    receives the number behind the last one of each document. The arrays must have room for as
    many words and pairs as `data` can hold, and `slots` (a power of two) for twice the words.
    """
    n_words, n_pairs = state[WORDS], state[PAIRS]
    base = first = n_pairs
    document = 0
    position = 0
    while position < end:
        byte = load_byte(data, position)
        if byte == END_OF_DOCUMENT:
            pair_ends[document] = n_pairs
            document += 1
            first = n_pairs
            position += 1
        elif byte == BLANK:
            position += 1
        else:
            start = position
            position = _word_end(data, position)
            # The word is copied behind the known ones, where it stays only if it is new.
            target = offsets[n_words]
            stop = target + position - start
            hashed = copy_id(data, start, position, arena, target)
            slot = _slot_of(slots, hashes, offsets, arena, hashed, target, stop)
            word = np.int64(slots[slot])
            if word < 0:
                word = n_words
                slots[slot] = word
                hashes[word] = hashed
                offsets[word + 1] = stop
                pair_of[word] = -1
                n_words += 1
            pair = pair_of[word]
            if pair < first:
                pair = n_pairs
                pair_of[word] = pair
                pair_word[pair - base] = word
                pair_count[pair - base] = 0
                n_pairs += 1
            pair_count[pair - base] += 1
    state[WORDS], state[PAIRS] = n_words, n_pairs


@lean_kernel
def fill_slots(hashes, n_words, slots):
    """Place words, all different, into empty slots."""
    mask = len(slots) - 1
    for word in range(n_words):
        slot = np.int64(hashes[word] & WORD(mask))
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = word


@lean_kernel
def transpose(starts, column, count, column_starts, rows, counts):
    """The same matrix by columns; `column_starts` (one longer than columns) starts as zeros.

    Rows come out ascending within a column, so that transposing twice sorts each row.
    """
    n_columns = len(column_starts) - 1
    for pair in range(len(column)):
        column_starts[column[pair] + 1] += 1
    for j in range(n_columns):
        column_starts[j + 1] += column_starts[j]
    for i in range(len(starts) - 1):
        for pair in range(starts[i], starts[i + 1]):
            place = column_starts[column[pair]]
            column_starts[column[pair]] += 1
            rows[place] = i
            counts[place] = count[pair]
    for j in range(n_columns, 0, -1):
        column_starts[j] = column_starts[j - 1]
    column_starts[0] = 0

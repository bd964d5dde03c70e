"""Where `evaluate` looks judged documents up while it reads a run: small, and all in one place.

Two bits of a word say of most documents that they were not judged. The rest are searched among a
topic's entries, which lie in the order of their codes, so that a code says about where it stands;
an entry holds its id, if that has up to sixteen bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steadyrank.compute.kernels import WORD, inlined, lean_kernel, part
from steadyrank.data.ids import Ids, both_ends, glance, same_bytes

CODE, FIRST, LAST, ABOUT = range(4)
"""The columns of an entry: the code of the id, its ends, and what `_about` makes of the rest."""

LONGEST_HELD = 16
_LOW = WORD(0xFFFF)
_ZERO_GRADE = 1 << 15


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """The entries of topic t are those from bounds[t] to bounds[t + 1]."""

    bounds: np.ndarray
    words: np.ndarray
    entries: np.ndarray


@inlined
def words_of(bounds, topic):
    """The first of a topic's words, and how many there are: one for two entries, and one more."""
    first = bounds[topic] // 2 + topic
    return first, bounds[topic + 1] // 2 + topic + 1 - first


@inlined
def two_bits(code):
    """The bits of a code in its word."""
    return (WORD(1) << (code & WORD(63))) | (WORD(1) << ((code >> WORD(6)) & WORD(63)))


@inlined
def share(code, n):
    """The code as a number below `n`: larger codes have no smaller ones."""
    return (code >> WORD(32)) * n >> WORD(32)


@inlined
def _about(row, grade, length):
    """The qrels row, the grade and the length of the id, as far as 16 bits hold it, in a word."""
    return WORD(row << 32 | (grade + _ZERO_GRADE) << 16 | min(length, 65535))


@inlined
def grade_of(entries, place):
    """The grade of the document of an entry."""
    return np.int64((entries[place, ABOUT] >> WORD(16)) & _LOW) - _ZERO_GRADE


@lean_kernel
def _fill(data, offsets, grades, lowest, blocks, bounds, words, entries, topics):
    place = 0
    for t in range(len(blocks) - 1):
        first_word, n_words = words_of(bounds, t)
        for i in range(blocks[t], blocks[t + 1]):
            if grades[i] < lowest:
                continue
            start, end = offsets[i], offsets[i + 1]
            code = glance(data, start, end)
            words[first_word + np.int64(share(code, WORD(n_words)))] |= two_bits(code)
            entries[place, CODE] = code
            entries[place, FIRST], entries[place, LAST] = both_ends(data, start, end)
            entries[place, ABOUT] = _about(i, np.int64(grades[i]), end - start)
            topics[place] = t
            place += 1


def make_lookup(documents: Ids, grades: np.ndarray, blocks: np.ndarray, lowest: int) -> Lookup:
    """What finds the documents whose grade is at least `lowest`, topics being `blocks` of them."""
    counted = np.concatenate([[0], np.cumsum(grades >= lowest)])
    bounds = counted[blocks].astype(np.int64)
    size = int(bounds[-1])
    words = np.zeros(size // 2 + len(blocks), np.uint64)
    entries, topics = np.empty((size, 4), np.uint64), np.empty(size, np.int64)
    _fill(documents.data, documents.offsets, grades, lowest, blocks, bounds, words, entries, topics)
    return Lookup(bounds, words, entries[np.lexsort((entries[:, CODE], topics))])


@part
def find_entry(data, start, end, code, entries, low, high, documents, offsets):
    """The place of the document data[start:end] among some entries, or -1."""
    place = low + np.int64(share(code, WORD(high - low)))
    while place > low and entries[place - 1, CODE] >= code:
        place -= 1
    while place < high and entries[place, CODE] < code:
        place += 1
    first, last = both_ends(data, start, end)
    length = end - start
    while place < high and entries[place, CODE] == code:
        row = np.int64(entries[place, ABOUT] >> WORD(32))
        if (
            np.int64(entries[place, ABOUT] & _LOW) == length
            and entries[place, FIRST] == first
            and entries[place, LAST] == last
            and (
                length <= LONGEST_HELD
                or same_bytes(data, start, end, documents, offsets[row], offsets[row + 1])
            )
        ):
            return place
        place += 1
    return -1

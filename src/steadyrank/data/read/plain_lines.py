"""Plain lines of a run file: where they start, and what all lines of a topic or file share.

For `judged_lines`. Lines are plain that have six fields with one blank between them; what others
are, `lines` knows.
"""

from __future__ import annotations

import numpy as np

from steadyrank.compute.kernels import (
    WORD,
    bytes_equal,
    bytes_up_to,
    count_ones,
    inlined,
    load_byte,
    load_word,
    part,
    trailing_zeros,
)
from steadyrank.data.ids import same_bytes
from steadyrank.data.read.lines import HASH, NEWLINE, SPACE, TAB, without_lowest

BLOCK = 64
"""Bytes that are looked at together."""


@inlined
def _is_separator(byte):
    return byte == SPACE or byte == TAB


@part
def find_lines(data, end, lines):
    """Write where the lines of data[:end] start, and where the last one ends; return how many.

    Any byte that is no part of a field ends a line here, but for blanks: whoever reads a line sees
    that it does not end as it should. -1 where there are more of them than lines in any run.
    """
    n = WORD(0)
    lines[n] = 0
    most = WORD(len(lines) - BLOCK - 2)
    for block in range(0, end, BLOCK):
        if n >= most:
            return -1
        ends = bytes_up_to(data, block, SPACE - 1) & ~bytes_equal(data, block, TAB)
        last = n + count_ones(ends)
        while True:  # two at a time, of which one may be none: that is sooner done than asked
            lines[n + WORD(1)] = block + np.int64(trailing_zeros(ends)) + 1
            ends = without_lowest(ends)
            lines[n + WORD(2)] = block + np.int64(trailing_zeros(ends)) + 1
            ends = without_lowest(ends)
            if ends == WORD(0):
                break
            n += WORD(2)
        n = last
    while lines[n] > end:  # what stands behind the end
        n -= WORD(1)
    return np.int64(n)


@inlined
def is_same(data, start, known_start, length, first_word, mask, last_word):
    """Whether the known bytes stand at `start`; `first_word` and `last_word` are their ends."""
    if load_word(data, start) & mask != first_word:
        return False
    if length <= 8:
        return True
    if load_word(data, start + length - 8) != last_word:
        return False
    return length <= 16 or same_bytes(
        data, start, start + length, data, known_start, known_start + length
    )


@part
def prefix_of(data, line):
    """(end of the topic, start of the document) of the line; 0 for a line that is not plain."""
    separators = bytes_up_to(data, line, SPACE)
    rest = without_lowest(separators)
    if rest == WORD(0) or load_byte(data, line) == HASH:
        return 0, 0
    topic_end = line + np.int64(trailing_zeros(separators))
    second_end = line + np.int64(trailing_zeros(rest))
    if topic_end == line or second_end == topic_end + 1:
        return 0, 0
    if not (
        _is_separator(load_byte(data, topic_end)) and _is_separator(load_byte(data, second_end))
    ):
        return 0, 0
    return topic_end, second_end + 1


@part
def tail_of(data, start):
    """Bounds of what follows the number, from blank to newline, the document being at `start`."""
    bits = bytes_up_to(data, start, SPACE)
    bits = without_lowest(without_lowest(bits))
    if bits == WORD(0):
        return 0, 0
    tail = start + np.int64(trailing_zeros(bits))
    bits = bytes_up_to(data, tail + 1, SPACE)
    if bits == WORD(0):
        return 0, 0
    newline = tail + 1 + np.int64(trailing_zeros(bits))
    is_plain = _is_separator(load_byte(data, tail)) and load_byte(data, newline) == NEWLINE
    return (tail, newline + 1) if is_plain and newline > tail + 1 else (0, 0)

"""The kernel behind nested JSON: `{topic: {document: number}}` to columns, in one pass.

What is not plain (escapes, NaN, values of other types, defects) it leaves to Python's own
`json`, which is slower and says what is wrong and where.
"""

from __future__ import annotations

from steadyrank.compute.kernels import (
    WORD,
    bytes_equal,
    bytes_up_to,
    lean_kernel,
    load_byte,
    part,
    trailing_zeros,
)
from steadyrank.data.ids import copy_id
from steadyrank.data.read.numbers import PARSED, parse_float

ROWS, TOPICS, HARD_NUMBERS = range(3)
"""Where the counts stand in the kernel's `state`."""

SPACE, QUOTE, COMMA, MINUS, POINT, COLON = 32, 34, 44, 45, 46, 58
BACKSLASH, OPEN, CLOSE = 92, 123, 125


@part
def _next(data, position):
    """The place of the next byte that is not white space."""
    while True:
        byte = load_byte(data, position)
        if byte != SPACE and byte != 10 and byte != 13 and byte != 9:
            return position
        position += 1


@part
def _string_end(data, position):
    """Where a plain string's closing quote stands; -1 if it has escapes or control bytes."""
    while True:
        odd = bytes_up_to(data, position, SPACE - 1) | bytes_equal(data, position, BACKSLASH)
        ends = odd | bytes_equal(data, position, QUOTE)
        if ends != WORD(0):  # at the latest behind the data, where zeros stand
            place = trailing_zeros(ends)
            return -1 if (odd >> place) & WORD(1) else position + place
        position += 64


@part
def _digits_end(data, position):
    while load_byte(data, position) >= 48 and load_byte(data, position) <= 57:
        position += 1
    return position


@part
def _number_end(data, position):
    """Where a number of JSON's grammar ends; -1 if there is none."""
    if load_byte(data, position) == MINUS:
        position += 1
    end = _digits_end(data, position)
    if end == position or (load_byte(data, position) == 48 and end > position + 1):
        return -1
    if load_byte(data, end) == POINT:
        position = end + 1
        end = _digits_end(data, position)
        if end == position:
            return -1
    if load_byte(data, end) == 101 or load_byte(data, end) == 69:  # e E
        position = end + 1
        if load_byte(data, position) == MINUS or load_byte(data, position) == 43:
            position += 1
        end = _digits_end(data, position)
        if end == position:
            return -1
    return end


@part
def _key_end(data, position):
    """Where the name that opens at `position` ends, and its value begins; -1 if none does."""
    if load_byte(data, position) != QUOTE:
        return -1, -1
    end = _string_end(data, position + 1)
    if end <= position + 1:  # an empty name is none
        return -1, -1
    colon = _next(data, end + 1)
    if load_byte(data, colon) != COLON:
        return -1, -1
    return end, _next(data, colon + 1)


@lean_kernel
def parse_nested(data, end, values, hashes, id_offsets, ids, segments, hard, state):
    """Read data[:end], zeros behind it, into columns; False if it is not plain.

    `segments` takes a row (first row, start, end of the topic's bytes) per topic, `hard` a row
    (row, start, end) per number that needs exact conversion. The columns must have room for as
    many rows as there are colons, and for as many id bytes as there are bytes.
    """
    row, topic, hard_numbers, id_end = 0, 0, 0, 0
    position = _next(data, 0)
    if load_byte(data, position) != OPEN:
        return False
    position = _next(data, position + 1)
    while True:
        name_end, value = _key_end(data, position)
        if name_end < 0 or load_byte(data, value) != OPEN:
            return False
        segments[topic, 0] = row
        segments[topic, 1] = position + 1
        segments[topic, 2] = name_end
        topic += 1
        position = _next(data, value + 1)
        while load_byte(data, position) != CLOSE:
            name_end, value = _key_end(data, position)
            if name_end < 0:
                return False
            number_end = _number_end(data, value)
            if number_end < 0:
                return False
            kind, number = parse_float(data, value, number_end)
            if kind != PARSED:
                hard[hard_numbers, 0] = row
                hard[hard_numbers, 1] = value
                hard[hard_numbers, 2] = number_end
                hard_numbers += 1
            values[row] = number
            hashes[row] = copy_id(data, position + 1, name_end, ids, id_end)
            id_end += name_end - position - 1
            row += 1
            id_offsets[row] = id_end
            position = _next(data, number_end)
            if load_byte(data, position) == COMMA:
                position = _next(data, position + 1)
                if load_byte(data, position) != QUOTE:
                    return False
            elif load_byte(data, position) != CLOSE:
                return False
        position = _next(data, position + 1)
        if load_byte(data, position) == CLOSE:
            break
        if load_byte(data, position) != COMMA:
            return False
        position = _next(data, position + 1)
    state[ROWS] = row
    state[TOPICS] = topic
    state[HARD_NUMBERS] = hard_numbers
    return _next(data, position + 1) == end

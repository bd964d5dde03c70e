"""The tokenizers of run and qrels files: bytes in, columns out, one pass.

Runs, qrels and files of three columns differ only in where their fields stand, so one
kernel reads them all. A plain line is split by the bits of its separators, 64 bytes at a
time; any other line (comments, CRLF, long lines, defects) byte by byte.

It writes columns that the caller has made: a value, a hash and the end of an id per row,
ids end to end. Where the topic changes, a segment begins. Numbers that take exact
arithmetic ("hard") are left to the caller, as are all words about defects.

Decimal text becomes float64 in the kernel, as Python's `float` is slow. Two exact ways cover all
but freak numbers: Clinger's (a mantissa below 2^53 and a power of ten below 10^23 need one
correctly rounded operation) and Lemire's 128-bit product (Software: Practice and Experience 51(8),
2021, doi:10.1002/spe.2984).
"""

from __future__ import annotations

import numpy as np

from steadyrank.compute.kernels import (
    WORD,
    bits_to_float,
    bytes_equal,
    bytes_up_to,
    high_product,
    inlined,
    kernel,
    leading_zeros,
    load_byte,
    part,
    trailing_zeros,
)
from steadyrank.data.ids import copy_id, first_bytes, same_bytes

DONE, SHORT_LINE, CONTROL_BYTE, LONE_RETURN, LONG_LINE = 0, 1, 2, 3, 4

# Places of a file's counters in the kernel's `state`.
ROWS, ID_BYTES, SEGMENTS, HARD_NUMBERS, POSITION, FIELDS = range(6)
LONG_LINES, OTHER_TAGS, TAG_START, TAG_END = range(6, 10)
STATE_SIZE = 10

TOPIC, TAG = 0, 5  # the places of these fields wherever they are

QRELS, RUN, THREE_COLUMNS = 0, 1, 2
"""Layouts: TREC's four columns and six, and topic, document, number."""

NEWLINE, RETURN, SPACE, TAB, HASH = 10, 13, 32, 9, 35


@inlined
def without_lowest(bits):
    """The word without its lowest set bit."""
    return bits & (bits - WORD(1))


@inlined
def _same_field(data, start, known_start, known_end, known_word):
    """Whether the known field, whose first eight bytes are `known_word`, is at `start`."""
    length = known_end - known_start
    if first_bytes(data, start, length) != known_word:
        return False
    return length <= 8 or same_bytes(data, start, start + length, data, known_start, known_end)


@inlined
def _split_fast(data, line, layout, tag_start, tag_end, tag_word):
    """Split a plain line by the bits of its separators.

    Returns where the next line starts, then the ends of topic, document and number and
    the starts of the latter two; -1 first for a line that is not plain. Plain are lines
    whose fields up to the number lie within 64 bytes, separated by spaces or tabs, and
    whose tag, in a run, is the one that tag_start:tag_end holds.
    """
    separators = bytes_up_to(data, line, SPACE)
    behind = (separators << WORD(1)) | WORD(1)  # bytes that follow a separator, and the first
    ends = separators & ~behind  # several blanks in a row end one field
    starts = ~separators & behind & ~WORD(1)  # of the fields after the first
    id_end = without_lowest(ends)
    id_start = starts
    if layout != THREE_COLUMNS:  # an ignored field lies between topic and document
        id_end = without_lowest(id_end)
        id_start = without_lowest(id_start)
    last_end = without_lowest(id_end)
    last_start = without_lowest(id_start)
    if layout == RUN:  # the rank lies between document and number
        last_end = without_lowest(last_end)
        last_start = without_lowest(last_start)
    if last_end == WORD(0) or separators & WORD(1) or load_byte(data, line) == HASH:
        return -1, 0, 0, 0, 0, 0
    last = trailing_zeros(last_end)
    not_spaces = bytes_up_to(data, line, SPACE - 1) & ((WORD(1) << last) - WORD(1))
    if not_spaces and not_spaces & ~bytes_equal(data, line, TAB):  # a newline, or worse
        return -1, 0, 0, 0, 0, 0
    number_end = line + np.int64(last)
    position = number_end
    if layout == RUN:
        byte = load_byte(data, position)
        tag = position + 1
        position = tag + (tag_end - tag_start)
        if (
            tag_end == 0  # none is known yet: an empty field would pass for it
            or (byte != SPACE and byte != TAB)
            or not _same_field(data, tag, tag_start, tag_end, tag_word)
        ):
            return -1, 0, 0, 0, 0, 0
    if load_byte(data, position) != NEWLINE:
        return -1, 0, 0, 0, 0, 0
    return (
        position + 1,
        line + np.int64(trailing_zeros(ends)),
        line + np.int64(trailing_zeros(id_start)),
        line + np.int64(trailing_zeros(id_end)),
        line + np.int64(trailing_zeros(last_start)),
        number_end,
    )


@inlined
def _is_blank(byte):
    return byte == SPACE or byte == TAB or (byte >= 11 and byte <= RETURN)


@part
def _split(data, line, bounds, n_fields):
    """Split any line, byte by byte: (number of fields, position of its newline)."""
    position = line
    fields = 0
    while True:
        while _is_blank(load_byte(data, position)):
            position += 1
        if load_byte(data, position) == NEWLINE:
            return fields, position
        start = position
        while load_byte(data, position) > SPACE:
            position += 1
        if fields < n_fields:
            bounds[fields, 0] = start
            bounds[fields, 1] = position
        fields += 1
        if position == start:  # a control byte, which is neither blank nor part of a field
            position += 1


@part
def _check_bytes(data, start, end):
    """The defect of a line that holds bytes which text lines do not."""
    for position in range(start, end):
        byte = load_byte(data, position)
        if byte == RETURN and position + 1 < end:
            return LONE_RETURN
        if byte < SPACE and not _is_blank(byte):
            return CONTROL_BYTE
    return DONE


@kernel
def parse_lines(data, end, layout, values, hashes, id_offsets, ids, segments, hard, bounds, state):
    """Read the lines data[:end], each ending in a newline, into columns.

    `values` takes scores or grades; `segments` a row (first row, start, end of the
    topic's bytes) wherever the topic changes; `hard` a row (row, start, end) for
    each number that needs exact conversion; `bounds` (6 x 2) is scratch. The columns
    must have space for all rows and id bytes of these lines. Returns DONE,
    or a defect's code with its line's start in state[POSITION].
    """
    n_fields, document, number = 4, 2, 3
    if layout == RUN:
        n_fields, number = 6, 4
    elif layout == THREE_COLUMNS:
        n_fields, document, number = 3, 1, 2
    topic_start, topic_end, topic_word = 0, 0, WORD(0)
    tag_start, tag_end, tag_word = 0, 0, WORD(0)
    row = WORD(state[ROWS])  # an index without a sign takes no look at it
    id_end = state[ID_BYTES]
    line = 0
    while line < end:
        start = line
        next_line, stop, id_start, id_stop, number_start, number_stop = _split_fast(
            data, line, layout, tag_start, tag_end, tag_word
        )
        if next_line < 0:
            fields, newline = _split(data, line, bounds, n_fields)
            next_line = newline + 1
            is_comment = fields > 0 and load_byte(data, bounds[TOPIC, 0]) == HASH
            if fields == 0 or is_comment:
                line = next_line
                continue
            status = _check_bytes(data, line, newline)
            if status == DONE and fields < n_fields:
                status = SHORT_LINE
            elif status == DONE and fields > n_fields and layout == THREE_COLUMNS:
                status = LONG_LINE
            if status != DONE:
                state[POSITION] = line
                state[FIELDS] = fields
                return status
            state[LONG_LINES] += fields > n_fields
            if layout == RUN:
                start, stop = bounds[TAG, 0], bounds[TAG, 1]
                if tag_end == 0:
                    tag_start, tag_end = start, stop
                    tag_word = first_bytes(data, tag_start, tag_end - tag_start)
                elif not same_bytes(data, start, stop, data, tag_start, tag_end):
                    state[OTHER_TAGS] += 1
            start, stop = bounds[TOPIC, 0], bounds[TOPIC, 1]
            id_start, id_stop = bounds[document, 0], bounds[document, 1]
            number_start, number_stop = bounds[number, 0], bounds[number, 1]
        if stop - start != topic_end - topic_start or not _same_field(
            data, start, topic_start, topic_end, topic_word
        ):
            segments[state[SEGMENTS], 0] = row
            segments[state[SEGMENTS], 1] = start
            segments[state[SEGMENTS], 2] = stop
            state[SEGMENTS] += 1
            topic_start, topic_end = start, stop
            topic_word = first_bytes(data, start, stop - start)
        kind, value = parse_float(data, number_start, number_stop)
        if kind != PARSED:  # long, large, inf, nan or no number: for the caller to judge
            hard[state[HARD_NUMBERS], 0] = row
            hard[state[HARD_NUMBERS], 1] = number_start
            hard[state[HARD_NUMBERS], 2] = number_stop
            state[HARD_NUMBERS] += 1
        values[row] = value
        hashes[row] = copy_id(data, id_start, id_stop, ids, id_end)
        id_end += id_stop - id_start
        row += WORD(1)
        id_offsets[row] = id_end
        line = next_line
    state[ROWS] = row
    state[ID_BYTES] = id_end
    state[TAG_START] = tag_start
    state[TAG_END] = tag_end
    return DONE


PARSED, HARD, MALFORMED = 0, 1, 2

PLUS, MINUS, POINT = ord("+"), ord("-"), ord(".")
ZERO = WORD(ord("0"))

SMALLEST_POWER, LARGEST_POWER = -65, 45
_EXACT_POWERS = np.array([float(10**k) for k in range(23)])


def _powers_of_five() -> np.ndarray:
    """5^q for q from SMALLEST_POWER on: the leading 128 bits, as (high, low) words.

    Truncated, except that reciprocals down to 5^-27, which can be exact halves
    of a product, are rounded up (Lemire's section 6 on why).
    """
    rows = []
    for power in range(SMALLEST_POWER, LARGEST_POWER + 1):
        five = 5 ** abs(power)
        if power >= 0:
            bits = (five << 128) >> five.bit_length()
        elif power >= -27:
            bits = (1 << (127 + five.bit_length())) // five + 1
        else:
            bits = (1 << (128 + 2 * five.bit_length())) // five + 1
            bits >>= bits.bit_length() - 128
        rows.append((bits >> 64, bits & (2**64 - 1)))
    return np.array(rows, dtype=np.uint64)


_FIVES = _powers_of_five()
_ALL_ONES = WORD(0xFFFFFFFFFFFFFFFF)


@inlined
def _digits(data, position, mantissa):
    """Where the digits at `position` end, and the mantissa with them behind it."""
    digit = WORD(load_byte(data, position)) - ZERO
    while digit <= WORD(9):  # without a sign, what is below "0" is far above 9
        mantissa = mantissa * WORD(10) + digit
        position += 1
        digit = WORD(load_byte(data, position)) - ZERO
    return position, mantissa


@inlined
def parse_float(data, position, end):
    """Read the decimal number that fills data[position:end].

    Returns (PARSED, value), (HARD, 0.0) for a well-formed number that needs the
    exact conversion, or (MALFORMED, 0.0).
    """
    first = load_byte(data, position)
    negative = first == MINUS
    start = position + (negative or first == PLUS)
    position, mantissa = _digits(data, start, WORD(0))
    digits, exponent = position - start, 0
    if load_byte(data, position) == POINT:
        start = position + 1
        position, mantissa = _digits(data, start, mantissa)
        exponent = start - position
        digits -= exponent
    if digits == 0:
        return MALFORMED, 0.0
    if position != end:
        valid, shift = _exponent(data, position, end)
        if not valid:
            return MALFORMED, 0.0
        exponent += shift
    if digits > 19:  # the mantissa may have run over
        return HARD, 0.0
    found, size = _to_float(mantissa, exponent)
    if not found:
        return HARD, 0.0
    return PARSED, -size if negative else size


@part
def _exponent(data, position, end):
    """The e-7 of a number; its size is capped where only HARD can follow anyway."""
    byte = load_byte(data, position)
    if byte != 101 and byte != 69:  # e E
        return False, 0
    position += 1
    negative = False
    if position < end:
        sign = load_byte(data, position)
        negative = sign == MINUS
        position += negative or sign == PLUS
    if position == end:
        return False, 0
    value = 0
    while position < end:
        digit = load_byte(data, position) - 48
        if digit < 0 or digit > 9:
            return False, 0
        if value < 100000:
            value = value * 10 + digit
        position += 1
    return True, -value if negative else value


@inlined
def _to_float(mantissa, exponent):
    """mantissa * 10^exponent correctly rounded: (True, value), or (False, 0.0) if unsure."""
    if mantissa == WORD(0):
        return True, 0.0
    if mantissa <= WORD(1 << 53) and exponent >= -22 and exponent <= 22:
        if exponent < 0:
            return True, np.float64(mantissa) / _EXACT_POWERS[-exponent]
        return True, np.float64(mantissa) * _EXACT_POWERS[exponent]
    if exponent < SMALLEST_POWER or exponent > LARGEST_POWER:
        return False, 0.0
    return _lemire(mantissa, exponent)


@part
def _lemire(mantissa, exponent):
    zeros = leading_zeros(mantissa)
    shifted = mantissa << zeros
    row = exponent - SMALLEST_POWER
    high = high_product(shifted, _FIVES[row, 0])
    low = shifted * _FIVES[row, 0]
    if (high & WORD(0x1FF)) == WORD(0x1FF):
        correction = high_product(shifted, _FIVES[row, 1])
        low += correction
        if low < correction:
            high += WORD(1)
    if low == _ALL_ONES and (exponent < -27 or exponent > 55):
        return False, 0.0
    upper = high >> WORD(63)
    drop = upper + WORD(9)
    rounded = high >> drop
    binary = ((217706 * exponent) >> 16) + 63 + np.int64(upper) - np.int64(zeros) + 1023
    halfway = low <= WORD(1) and exponent >= -4 and exponent <= 23
    if halfway and (rounded & WORD(3)) == WORD(1) and (rounded << drop) == high:
        rounded &= ~WORD(1)
    rounded = (rounded + (rounded & WORD(1))) >> WORD(1)
    if rounded >= WORD(1 << 53):
        rounded = WORD(1 << 52)
        binary += 1
    fraction = rounded & WORD((1 << 52) - 1)
    return True, bits_to_float((WORD(binary) << WORD(52)) | fraction)

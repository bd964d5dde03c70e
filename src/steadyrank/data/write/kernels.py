"""Lines of a TREC run as bytes, inside a kernel: a grid writes tens of millions of them.

Scores are spelled as Python spells them: of the shortest decimals that read back to the last bit,
the nearest. Found by Schubfach (Giulietti, "The Schubfach way to render doubles", 2020): a float
and the middles to its neighbours, times a power of ten to 128 bits, leave at most four candidates.
"""

from __future__ import annotations

import numpy as np

from steadyrank.compute.kernels import (
    WORD,
    high_product,
    inlined,
    leading_zeros,
    lean_kernel,
    load_word,
    part,
    store_word,
)

LONGEST_FLOAT = 24
"""Characters of -2.2250738585072014e-308, which no float64 exceeds."""

SPARE = 32
"""Bytes behind the last line that may be written over."""

_SMALLEST_POWER, _LARGEST_POWER = -292, 324
_LAST_EXPONENT = 0x7FF
_POINT_FROM, _POINT_TO = -3, 16
"""Where the point may stand, counted from the first digit, before Python writes an exponent."""


def _powers_of_ten() -> np.ndarray:
    """10^k for all k that floats need: the leading 128 bits, rounded up, as (high, low) words."""
    rows = []
    for power in range(_SMALLEST_POWER, _LARGEST_POWER + 1):
        ten = 10 ** abs(power)
        if power >= 0:
            shift = 128 - ten.bit_length()
            bits = ten << shift if shift >= 0 else -(-ten >> -shift)
        else:
            bits = -(-(1 << (127 + ten.bit_length())) // ten)
        rows.append((bits >> 64, bits & (2**64 - 1)))
    return np.array(rows, np.uint64)


_TENS = _powers_of_ten()
_WHOLE_TENS = np.array([10**k for k in range(20)], np.uint64)
_PAIRS = np.frombuffer(bytearray("".join(f"{i:02d}" for i in range(100)).encode()), np.uint8)


@inlined
def _floor_log2_of_ten(power):
    """floor(log2(10^power)), for every power of the table."""
    return (power * 1741647) >> 19


@inlined
def _rounded_to_odd(row, factor):
    """factor × 10^k without its last 128 bits; what was cut makes the lowest bit odd."""
    high, low = high_product(factor, _TENS[row, 0]), factor * _TENS[row, 0]
    middle = low + high_product(factor, _TENS[row, 1])
    if middle < low:
        high += WORD(1)
    return high | WORD(middle > WORD(1))


@part
def _shortest(fraction, exponent):
    """The (digits, power) of a positive finite float: digits × 10^power, zeros not yet cut."""
    significand, binary = fraction, -1074
    if exponent != 0:
        significand, binary = fraction | WORD(1 << 52), exponent - 1075
        if binary <= 0 and binary > -53:
            whole = significand >> WORD(-binary)
            if whole << WORD(-binary) == significand:
                return whole, 0
    # Below a power of two, floats lie twice as close, and so does the middle to the neighbour.
    closer = fraction == WORD(0) and exponent > 1
    power = (binary * 1262611 - (524031 if closer else 0)) >> 22
    row = -power - _SMALLEST_POWER
    shift = WORD(binary + _floor_log2_of_ten(-power) + 1)
    four = significand << WORD(2)
    odd = significand & WORD(1)  # Middles round to the even neighbour: they count only for it.
    low = _rounded_to_odd(row, (four - WORD(1 if closer else 2)) << shift) + odd
    value = _rounded_to_odd(row, four << shift)
    high = _rounded_to_odd(row, (four + WORD(2)) << shift) - odd
    digits = value >> WORD(2)
    if digits >= WORD(10):
        tenth = digits // WORD(10)
        below = low <= WORD(40) * tenth
        if below != (WORD(40) * tenth + WORD(40) <= high):
            return tenth if below else tenth + WORD(1), power + 1
    below = low <= WORD(4) * digits
    if below != (WORD(4) * digits + WORD(4) <= high):
        return digits if below else digits + WORD(1), power
    middle = WORD(4) * digits + WORD(2)
    if value > middle or (value == middle and digits & WORD(1) == WORD(1)):
        digits += WORD(1)
    return digits, power


@inlined
def _count_digits(number):
    """Of a positive number: about log10(2) for each of its bits, and one comparison."""
    count = ((64 - np.int64(leading_zeros(number))) * 1233) >> 12
    return count + 1 if number >= _WHOLE_TENS[count] else count


@inlined
def _put_digits(out, end, number, count):
    """The last `count` digits of a number, the last at out[end - 1]; what is left of it."""
    while count >= 2:
        rest = number // WORD(100)
        pair = np.int64(number - rest * WORD(100))
        out[end - 2], out[end - 1] = _PAIRS[2 * pair], _PAIRS[2 * pair + 1]
        number = rest
        end -= 2
        count -= 2
    if count:
        rest = number // WORD(10)
        out[end - 1] = np.uint8(48) + np.uint8(number - rest * WORD(10))
        number = rest
    return number


@inlined
def _put_number(out, at, number):
    count = _count_digits(number)
    _put_digits(out, at + count, number, count)
    return at + count


@inlined
def _put_zeros(out, at, count):
    for place in range(at, at + count):
        out[place] = 48
    return at + count


@part
def _put_decimal(out, at, digits, power):
    """digits × 10^power as Python lays it out, digits not ending in zero."""
    count = _count_digits(digits)
    point = count + power
    if point > _POINT_TO or point < _POINT_FROM:
        return _put_with_exponent(out, at, digits, count, point - 1)
    if point <= 0:
        out[at], out[at + 1] = 48, 46
        at = _put_zeros(out, at + 2, -point)
        _put_digits(out, at + count, digits, count)
        return at + count
    if power >= 0:
        _put_digits(out, at + count, digits, count)
        at = _put_zeros(out, at + count, power)
        out[at], out[at + 1] = 46, 48
        return at + 2
    whole = _put_digits(out, at + count + 1, digits, -power)
    out[at + point] = 46
    _put_digits(out, at + point, whole, point)
    return at + count + 1


@part
def _put_with_exponent(out, at, digits, count, exponent):
    if count > 1:
        digits = _put_digits(out, at + count + 1, digits, count - 1)
        out[at + 1] = 46
    out[at] = np.uint8(48) + np.uint8(digits)
    at += count + 1 if count > 1 else 1
    out[at], out[at + 1] = 101, 43 if exponent >= 0 else 45
    size = WORD(abs(exponent))
    width = 3 if size >= WORD(100) else 2
    _put_digits(out, at + 2 + width, size, width)
    return at + 2 + width


@part
def put_float(out, at, bits):
    """Spell the float64 of these bits as Python's `repr`, from out[at] on; returns its end."""
    fraction = bits & WORD((1 << 52) - 1)
    exponent = np.int64(bits >> WORD(52)) & _LAST_EXPONENT
    if exponent == _LAST_EXPONENT and fraction != WORD(0):
        out[at], out[at + 1], out[at + 2] = 110, 97, 110  # nan
        return at + 3
    if bits >> WORD(63) != WORD(0):
        out[at] = 45
        at += 1
    if exponent == _LAST_EXPONENT:
        out[at], out[at + 1], out[at + 2] = 105, 110, 102  # inf
        return at + 3
    if exponent == 0 and fraction == WORD(0):
        out[at], out[at + 1], out[at + 2] = 48, 46, 48
        return at + 3
    digits, power = _shortest(fraction, exponent)
    while True:
        rest = digits // WORD(10)
        if rest * WORD(10) != digits:
            return _put_decimal(out, at, digits, power)
        digits, power = rest, power + 1


@inlined
def _put_bytes(out, at, data, start, end):
    for place in range(start, end, 8):
        store_word(out, at + place - start, load_word(data, place))
    return at + end - start


@lean_kernel
def put_lines(out, texts, bounds, blocks, documents, offsets, bits):
    """All lines of a run, end to end; returns the end of the last.

    Text t of `texts` opens the lines of block t, and the last one closes every line. All that is
    read reaches eight bytes beyond its end, and `out` SPARE bytes.
    """
    at = 0
    last = len(bounds) - 2
    for block in range(len(blocks) - 1):
        for row in range(blocks[block], blocks[block + 1]):
            at = _put_bytes(out, at, texts, bounds[block], bounds[block + 1])
            at = _put_bytes(out, at, documents, offsets[row], offsets[row + 1])
            out[at] = 32
            at = _put_number(out, at + 1, WORD(row - blocks[block] + 1))
            out[at] = 32
            at = put_float(out, at + 1, bits[row])
            at = _put_bytes(out, at, texts, bounds[last], bounds[last + 1])
    return at

"""Decimal text to float64, exactly, inside a kernel.

Run files hold hundreds of thousands of scores, and Python's `float` is the
slowest part of reading them. Two exact ways cover all but freak numbers:
Clinger's (a mantissa below 2^53 and a power of ten below 10^23 need one
correctly rounded operation) and Lemire's 128-bit product ("Number parsing at a
gigabyte per second", Software: Practice and Experience 51(8), 2021,
doi:10.1002/spe.2984). The rest is marked HARD and left to `float`.
"""

from __future__ import annotations

import numpy as np

from steadyrank.compute.kernels import (
    WORD,
    bits_to_float,
    high_product,
    inlined,
    leading_zeros,
    load_byte,
    part,
)

PARSED, HARD, MALFORMED = 0, 1, 2

PLUS, MINUS, POINT = ord("+"), ord("-"), ord(".")
ZERO = WORD(ord("0"))

SMALLEST_POWER, LARGEST_POWER = -65, 45
_EXACT_POWERS = np.array([float(10**k) for k in range(23)])


def _powers_of_five() -> np.ndarray:
    """5^q for q from SMALLEST_POWER on: the leading 128 bits, as (high, low) words.

    Truncated, except that reciprocals down to 5^-27, which can be exact halves
    of a product, are rounded up (the paper's section 6 on why).
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

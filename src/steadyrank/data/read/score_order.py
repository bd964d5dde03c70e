"""Whether the scores of a ranking fall from line to line, as their text says; ranks if they do not.

For `judged_lines`, which needs the scores for nothing else. Scores of one form (length, sign, place
of the point) compare as their texts do, up to fifteen digits; they are converted only where the
form changes, and where some are equal or rise.
"""

from __future__ import annotations

import numpy as np

from steadyrank.compute.kernels import (
    WORD,
    bytes_up_to,
    inlined,
    load_byte,
    load_word,
    part,
    trailing_zeros,
)
from steadyrank.data.ids import bytes_above, low_bytes
from steadyrank.data.read.lines import SPACE
from steadyrank.data.read.numbers import MINUS, PARSED, POINT, parse_float

LONGEST_FORM, MOST_DIGITS = 16, 15
FORM_SIZE = 2 * LONGEST_FORM
NO_FORM = -1

MOST_LOOKS = 64
"""How often, on average, a ranking's rows may be looked at to find the ranks in it."""

ZERO, NINE = ord("0"), ord("9")
ALL_ONES = ~WORD(0)


@inlined
def bytes_within(data, position, form):
    """Whether 16 bytes from `position` on are what `form`, an array of 32 bytes, allows.

    Exclusive or with its first 16 must leave no more than the other 16 say.
    """
    at, beyond = WORD(position), 0
    for k in range(16):
        beyond += (data[at + WORD(k)] ^ form[k]) > form[16 + k]
    return beyond == 0


@inlined
def bytes_reversed(word):
    """The word with its eight bytes in the opposite order."""
    odd, pairs = WORD(0x00FF00FF00FF00FF), WORD(0x0000FFFF0000FFFF)
    word = ((word >> WORD(8)) & odd) | ((word & odd) << WORD(8))
    word = ((word >> WORD(16)) & pairs) | ((word & pairs) << WORD(16))
    return (word >> WORD(32)) | (word << WORD(32))


@part
def _form_of(data, start, end, form):
    """(length, whether negative) of the number data[start:end], NO_FORM if it is not plain.

    `form` takes, for each of its bytes, what exclusive or turns a digit into 0 to 9 and a point or
    sign into 0 with, and then the most that comes of it in a number of the same form.
    """
    length = end - start
    negative = load_byte(data, start) == MINUS
    if length > LONGEST_FORM:
        return NO_FORM, negative
    digits, points = 0, 0
    for k in range(LONGEST_FORM):
        byte = load_byte(data, start + k)
        form[k], form[LONGEST_FORM + k] = 0, 255
        if k < length:
            is_digit = byte >= ZERO and byte <= NINE
            digits += is_digit
            points += byte == POINT
            form[k] = ZERO if is_digit else byte
            form[LONGEST_FORM + k] = 9 if is_digit else 0
    if digits > MOST_DIGITS or points > 1 or digits + points + negative != length:
        return NO_FORM, negative
    return length, negative


@part
def value_of(data, start, end):
    """The number data[start:end]; NaN for one that is not plain."""
    kind, value = parse_float(data, start, end)
    return value if kind == PARSED else np.nan


@inlined
def _text(data, position, length):
    """Up to sixteen bytes as two words, which compare as the texts do."""
    first = load_word(data, position) & low_bytes(ALL_ONES, length)
    second = load_word(data, position + 8) & low_bytes(ALL_ONES, length - 8)
    return bytes_reversed(first), bytes_reversed(second)


@part
def _fall_to(data, numbers, ends, tail, i, n, form, length, negative):
    """The first line from `i` on whose score has another form than the one before, or is no lower.

    The score of line i - 1 must be of that form.
    """
    first, second = _text(data, np.int64(numbers[i - WORD(1)]), length)
    while i < n:
        number = np.int64(numbers[i])
        if np.int64(ends[i]) - tail - number != length or not bytes_within(data, number, form):
            break
        new_first, new_second = _text(data, number, length)
        if new_first != first:
            if (new_first < first) == negative:
                break
        elif new_second == second or (new_second < second) == negative:
            break
        first, second = new_first, new_second
        i += WORD(1)
    return i


@part
def count_rises(data, numbers, ends, tail, n, form):
    """How many of `n` scores equal the one before, and how many are higher; -1 if one is odd.

    They stand from `numbers` on, up to `tail` bytes before `ends`. `form` is scratch.
    """
    length, negative = NO_FORM, False
    ties, rises = 0, 0
    previous, known = np.inf, WORD(0)
    i = WORD(0)
    while True:
        if length != NO_FORM:
            i = _fall_to(data, numbers, ends, tail, i, WORD(n), form, length, negative)
        if i == WORD(n):
            return ties, rises
        number, end = np.int64(numbers[i]), np.int64(ends[i]) - tail
        if end - number == length and bytes_within(data, number, form):
            before = np.int64(numbers[i - WORD(1)])
            is_tie = _text(data, number, length) == _text(data, before, length)
            ties += is_tie
            rises += not is_tie
            i += WORD(1)
            continue
        if i > known:  # the score before was compared as text only
            before = i - WORD(1)
            previous = value_of(data, np.int64(numbers[before]), np.int64(ends[before]) - tail)
        value = value_of(data, number, end)
        if np.isnan(value):
            return -1, -1
        if i:
            ties += value == previous
            rises += value > previous
        i += WORD(1)
        previous, known = value, i
        length, negative = _form_of(data, number, end, form)


@part
def read_lines(data, lines, first, n, prefix, numbers, tail, starts, ends, values):
    """The scores of the lines from `first` on, and where their documents start and end."""
    for i in range(n):
        k = WORD(i)
        starts[k] = lines[first + k] + prefix
        separators = bytes_up_to(data, starts[k], SPACE)
        ends[k] = starts[k] + np.int64(trailing_zeros(separators))
        values[k] = value_of(data, numbers[k], lines[first + k + WORD(1)] - tail)


@part
def rank_by_counting(data, starts, ends, values, n, rises, ranks, grades, place, count):
    """Turn the lines of the documents found into ranks, and put them into their order.

    A document's rank is the number of documents before it, plus one. Where scores never rise from
    line to line, only documents of its own score can stand on the wrong side of it. Returns False
    where this would take longer than sorting.
    """
    looks = 0
    for k in range(place, place + count):
        i = np.int64(ranks[k]) - 1
        first, last = i, i + 1
        if rises:
            first, last = 0, n
        while first > 0 and values[first - 1] == values[i]:
            first -= 1
        while last < n and values[last] == values[i]:
            last += 1
        looks += last - first
        if looks > MOST_LOOKS * n:
            return False
        rank = first + 1
        for j in range(first, last):
            if values[j] > values[i] or (
                values[j] == values[i] and bytes_above(data, starts[j], ends[j], starts[i], ends[i])
            ):
                rank += 1
        grade = grades[k]
        other = k
        while other > place and ranks[other - 1] > rank:
            ranks[other] = ranks[other - 1]
            grades[other] = grades[other - 1]
            other -= 1
        ranks[other] = rank
        grades[other] = grade
    return True

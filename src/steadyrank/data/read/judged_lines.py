"""Judged documents straight from the lines of a run: for `evaluate`, which needs nothing else.

A plain file (six fields with one blank between them, one tag, every topic in one piece) is read
topic by topic into scratch memory that stays in the processor's cache. Ids are hashed and looked
up where they stand; neither they nor the scores are kept. Whatever is not plain is left to the
reader of `lines`, which knows all kinds of lines and names their defects.
"""

from __future__ import annotations

import numpy as np

from steadyrank.compute.kernels import (
    WORD,
    bytes_reversed,
    bytes_up_to,
    inlined,
    lean_kernel,
    load_byte,
    load_word,
    part,
    trailing_zeros,
)
from steadyrank.data.ids import bytes_above, glance, hash_id, low_bytes, same_bytes
from steadyrank.data.qrels import BUCKET, find_row
from steadyrank.data.read.blocks import LONG_BLOCK, has_repeats
from steadyrank.data.read.lines import HASH, NEWLINE, SPACE, TAB, without_lowest
from steadyrank.data.read.numbers import MINUS, PARSED, POINT, parse_float

DONE, ODD = 0, 1

# Where the counters of a file stand in the kernel's `state`.
POSITION, TAG_START, TAG_END, STRANGERS, LAST_TOPIC = range(5)
STATE_SIZE = 5

MOST_STRANGERS = 4096
"""Topics that nobody judged, of one run."""

UNKNOWN, REPEATED = -1, -2

ZERO, NINE = ord("0"), ord("9")

MOST_LOOKS = 64
"""How often, on average, a ranking's rows may be looked at to find the ranks in it."""


@inlined
def _is_separator(byte):
    return byte == SPACE or byte == TAB


@inlined
def _is_same(data, start, known_start, known_end, known_word, mask):
    """Whether the known bytes, whose first eight are `known_word`, stand at `start`."""
    if load_word(data, start) & mask != known_word:
        return False
    length = known_end - known_start
    return length <= 8 or same_bytes(data, start, start + length, data, known_start, known_end)


@part
def _prefix_of(data, line):
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
def _tail_of(data, start):
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


@part
def _topic_of(data, start, end, names, offsets, lengths, before):
    """Which of the judged topics data[start:end] names, that must not have come before."""
    topic = before
    for _ in range(len(lengths)):  # most files have the topics in our order
        topic = topic + 1 if topic + 1 < len(lengths) else 0
        if same_bytes(data, start, end, names, offsets[topic], offsets[topic + 1]):
            return topic if lengths[topic] < 0 else REPEATED
    return UNKNOWN


@part
def _note_stranger(data, start, end, strangers, state):
    """Count a topic that nobody judged; False if it came before, or if there are too many."""
    code = hash_id(data, start, end)
    for k in range(state[STRANGERS]):
        if strangers[k] == code:
            return False
    if state[STRANGERS] == len(strangers):
        return False
    strangers[state[STRANGERS]] = code
    state[STRANGERS] += 1
    return True


@part
def _find_candidates(
    data, starts, candidates, n_candidates, documents, offsets, first, slots, low, high, ranks, rows
):
    """Write line and row of those candidates that were judged, and return how many."""
    place = low // 4
    for k in range(n_candidates):
        i = candidates[k]
        start = starts[i]
        end = start + np.int64(trailing_zeros(bytes_up_to(data, start, SPACE)))
        code = hash_id(data, start, end)
        row = find_row(data, start, end, code, documents, offsets, first, slots, low, high)
        if row >= 0:
            ranks[place] = i + 1
            rows[place] = row
            place += 1
    return place - low // 4


# Scores of one form (length, sign, place of the point) are compared as text, eight bytes at a
# time: exclusive or with `zeros` turns digits into 0 to 9 and point and sign into 0, and adding
# `carry` sets the highest bit of whatever turns into anything else. Up to fifteen digits, different
# texts are different numbers.
LONGEST_FORM, MOST_DIGITS, WORDS_OF_FORM = 16, 15, 3
NO_FORM = -1
_LOW_BITS = WORD(0x7F7F7F7F7F7F7F7F)
_HIGH_BITS = WORD(0x8080808080808080)
ALL_ONES = ~WORD(0)


@part
def _form_of(data, start, end, form):
    """Write the form of the number data[start:end]: for each of two words zeros, mask, carry."""
    for k in range(2 * WORDS_OF_FORM):
        form[k] = WORD(0)
    digits, points = 0, 0
    negative = load_byte(data, start) == MINUS
    for position in range(start + negative, end):
        byte = load_byte(data, position)
        digits += byte >= ZERO and byte <= NINE
        points += byte == POINT
    if end - start > LONGEST_FORM or digits > MOST_DIGITS or points > 1:
        return NO_FORM, negative
    if digits + points + negative != end - start:
        return NO_FORM, negative
    for position in range(start, end):
        byte = load_byte(data, position)
        is_digit = byte >= ZERO and byte <= NINE
        word = WORDS_OF_FORM * ((position - start) // 8)
        shift = WORD(8 * ((position - start) % 8))
        form[word] |= WORD(ZERO if is_digit else byte) << shift
        form[word + 1] |= WORD(0xFF) << shift
        form[word + 2] |= WORD(0x76 if is_digit else 0x7F) << shift
    return end - start, negative


@inlined
def _unlike(digits, carry):
    return (((digits & _LOW_BITS) + carry) | digits) & _HIGH_BITS


@part
def _value(data, start, end):
    """The number data[start:end]; NaN for one that is not plain."""
    kind, value = parse_float(data, start, end)
    return value if kind == PARSED else np.nan


@part
def _read_lines(data, starts, n, ends, values):
    """The scores of lines whose documents stand at `starts`, and where these end."""
    for i in range(n):
        separators = bytes_up_to(data, starts[i], SPACE)
        ends[i] = starts[i] + np.int64(trailing_zeros(separators))
        rank_bits = without_lowest(separators)
        number = starts[i] + np.int64(trailing_zeros(rank_bits)) + 1
        end = starts[i] + np.int64(trailing_zeros(without_lowest(rank_bits)))
        values[i] = _value(data, number, end)


@part
def _rank_by_counting(data, starts, ends, values, n, rises, ranks, rows, place, count):
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
        row = rows[k]
        other = k
        while other > place and ranks[other - 1] > rank:
            ranks[other] = ranks[other - 1]
            rows[other] = rows[other - 1]
            other -= 1
        ranks[other] = rank
        rows[other] = row
    return True


@lean_kernel
def match_lines(
    data,
    end,
    is_last,
    may_tie,
    form,
    values,
    starts,
    ends,
    codes,
    candidates,
    bits,
    strangers,
    names,
    name_offsets,
    documents,
    offsets,
    first_rows,
    slots,
    slot_bounds,
    filters,
    lengths,
    counts,
    ranks,
    rows,
    state,
):
    """Look the documents of the topics in data[:end] up in the judgments.

    Writes the length of each judged topic's ranking, how many documents were found, and their
    ranks and rows of the qrels, from a quarter of the topic's slots on. Unless these are the last
    lines, the last topic may go on: state[POSITION] says where it starts. `form` to `bits` are
    scratch. Returns ODD for what is not plain, and for equal or rising scores unless `may_tie`.
    """
    tail_start, tail_end, tail_word, tail_mask = 0, 0, WORD(0), WORD(0)
    length, negative = NO_FORM, False
    zeros, mask, carry = WORD(0), WORD(0), WORD(0)
    more_zeros, more_mask, more_carry = WORD(0), WORD(0), WORD(0)
    line = 0
    while line < end:
        first = line
        topic_end, id_start = _prefix_of(data, line)
        if topic_end == 0:
            return ODD
        if tail_end == 0:
            tail_start, tail_end = _tail_of(data, id_start)
            if tail_end == 0:
                return ODD
            tail_mask = low_bytes(ALL_ONES, tail_end - tail_start)
            tail_word = load_word(data, tail_start) & tail_mask
        topic = _topic_of(data, first, topic_end, names, name_offsets, lengths, state[LAST_TOPIC])
        if topic == REPEATED:
            return ODD
        low, high = 0, 0
        if topic != UNKNOWN:
            low, high = slot_bounds[topic], slot_bounds[topic + 1]
        first_filter, n_words = WORD(low // BUCKET), WORD((high - low) // BUCKET)
        n_candidates = WORD(0)
        prefix = id_start - first
        prefix_mask = low_bytes(ALL_ONES, prefix)
        prefix_word = load_word(data, first) & prefix_mask
        previous = np.inf
        text, more_text = WORD(0), WORD(0)
        score, score_end, is_read = 0, 0, True
        n, rises, ties = WORD(0), 0, 0  # an index without a sign takes no look at it
        while line < end and _is_same(data, line, first, first + prefix, prefix_word, prefix_mask):
            id_start = line + prefix
            separators = bytes_up_to(data, id_start, SPACE)
            rank_bits = without_lowest(separators)
            number_bits = without_lowest(rank_bits)
            if number_bits == WORD(0):
                return ODD
            id_end = id_start + np.int64(trailing_zeros(separators))
            rank_end = id_start + np.int64(trailing_zeros(rank_bits))
            number_end = id_start + np.int64(trailing_zeros(number_bits))
            if id_end == id_start or rank_end == id_end + 1:
                return ODD
            # First of all: beyond the newline of a shorter line there may be nothing to read.
            if not (
                _is_separator(load_byte(data, id_end)) and _is_separator(load_byte(data, rank_end))
            ):
                return ODD
            if not _is_same(data, number_end, tail_start, tail_end, tail_word, tail_mask):
                return ODD
            number = rank_end + 1
            digits = (load_word(data, number) ^ zeros) & mask
            more_digits = (load_word(data, number + 8) ^ more_zeros) & more_mask
            if number_end - number == length and not (
                _unlike(digits, carry) | _unlike(more_digits, more_carry)
            ):
                digits, more_digits = bytes_reversed(digits), bytes_reversed(more_digits)
                if n:
                    is_tie = digits == text and more_digits == more_text
                    is_less = digits < text or (digits == text and more_digits < more_text)
                    if is_tie or is_less == negative:
                        ties += is_tie
                        rises += not is_tie
                is_read = False
            else:
                if n and not is_read:
                    previous = _value(data, score, score_end)
                value = _value(data, number, number_end)
                if np.isnan(value):
                    return ODD
                if n and value >= previous:
                    ties += value == previous
                    rises += value > previous
                previous, is_read = value, True
                length, negative = _form_of(data, number, number_end, form)
                zeros, mask, carry = form[0], form[1], form[2]
                more_zeros, more_mask, more_carry = form[3], form[4], form[5]
                digits = bytes_reversed((load_word(data, number) ^ zeros) & mask)
                more_digits = bytes_reversed((load_word(data, number + 8) ^ more_zeros) & more_mask)
            text, more_text, score, score_end = digits, more_digits, number, number_end
            code = glance(data, id_start, id_end)
            # Of an unknown topic there are no words: what the first one says is ignored.
            word = filters[first_filter + ((code >> WORD(32)) * n_words >> WORD(32))]
            candidates[n_candidates] = n
            n_candidates += (word >> (code & WORD(63))) & WORD(1)
            codes[n] = code
            starts[n] = id_start
            n += WORD(1)
            line = number_end + tail_end - tail_start
        if line >= end and not is_last:
            line = first
            break
        size = np.int64(n)
        if size > LONG_BLOCK or (ties + rises > 0 and not may_tie):
            return ODD
        if has_repeats(codes, 0, size, bits):
            return ODD
        if topic == UNKNOWN:
            if not _note_stranger(data, first, topic_end, strangers, state):
                return ODD
            continue
        state[LAST_TOPIC] = topic
        lengths[topic] = size
        counts[topic] = _find_candidates(
            data,
            starts,
            candidates,
            np.int64(n_candidates),
            documents,
            offsets,
            first_rows[topic],
            slots,
            low,
            high,
            ranks,
            rows,
        )
        if ties + rises > 0:
            _read_lines(data, starts, size, ends, values)
            if not _rank_by_counting(
                data, starts, ends, values, size, rises, ranks, rows, low // 4, counts[topic]
            ):
                return ODD
    state[POSITION] = line
    state[TAG_START] = tail_start + 1
    state[TAG_END] = tail_end - 1
    return DONE

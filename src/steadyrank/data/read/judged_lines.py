"""Judged documents straight from the lines of a run: for `evaluate`, which needs nothing else.

A plain file (six fields with one blank between them, one tag, every topic in one piece) is read
topic by topic into scratch memory that stays in the processor's cache. Ids are hashed and looked
up where they stand; neither they nor the scores are kept. Whatever is not plain is left to the
reader of `lines`, which knows all kinds of lines and names their defects.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic

from steadyrank.compute.kernels import (
    WORD,
    bytes_up_to,
    lean_kernel,
    load_byte,
    load_word,
    part,
    store_word,
    trailing_zeros,
)
from steadyrank.data.ids import glance, hash_id, low_bytes, same_bytes
from steadyrank.data.lookup import find_entry, grade_of, share, two_bits, words_of
from steadyrank.data.read.blocks import LONG_BLOCK, has_repeats
from steadyrank.data.read.lines import NEWLINE, SPACE, without_lowest
from steadyrank.data.read.plain_lines import find_lines, is_same, prefix_of, tail_of
from steadyrank.data.read.score_order import count_rises, rank_by_counting, read_lines

DONE, MORE, ODD = 0, 1, -1

# Where the counters of a file stand in the kernel's `state`.
KEPT, IS_LAST, TAG_SIZE, STRANGERS, LAST_TOPIC = range(5)
STATE_SIZE = 5

MOST_PIECES = 256
"""Pieces of a file after which the interpreter may see whether somebody wants to stop."""

MOST_STRANGERS = 4096
"""Topics that nobody judged, of one run."""

UNKNOWN, REPEATED = -1, -2

ALL_ONES = ~WORD(0)

READS_FILES = os.name == "posix"
"""Whether kernels can read files: elsewhere the call has another name."""


@intrinsic
def read_file(context: Any, number: Any, data: Any, position: Any, count: Any) -> Any:
    """Read up to `count` bytes of an open file, by its number, into a uint8 array.

    Returns how many, 0 at the end of the file, or -1 for an error; POSIX's `read`.
    """

    def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        if not READS_FILES:
            return ir.Constant(word, -1)
        array = target.make_array(signature.args[1])(target, builder, arguments[1])
        pointer = builder.gep(array.data, [arguments[2]], source_etype=ir.IntType(8))
        pointer = builder.bitcast(pointer, ir.IntType(8).as_pointer())
        kind = ir.FunctionType(word, [ir.IntType(32), pointer.type, word])
        read = get_or_insert_function(builder.module, kind, "read")
        file = builder.trunc(arguments[0], ir.IntType(32))
        return builder.call(read, [file, pointer, arguments[3]])

    return types.int64(types.int64, data, types.int64, types.int64), build


@part
def _is_tag(data, start, end, tag, state):
    """Whether data[start:end] is the tag of the lines before; the first one is noted."""
    if state[TAG_SIZE] == 0:
        state[TAG_SIZE] = end - start
        for position in range(start, end):
            tag[position - start] = data[position]
    return same_bytes(data, start, end, tag, 0, state[TAG_SIZE])


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
    """Count a topic that nobody judged; False if it came before, or if there are too many.

    False also of one behind a byte-order mark, which the reader of `lines` refuses.
    """
    if load_byte(data, start) == 0xEF and load_byte(data, start + 1) == 0xBB:
        return False
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
def _read_documents(
    data,
    lines,
    first,
    n_lines,
    prefix,
    tail_start,
    tail,
    words,
    first_word,
    n_words,
    codes,
    numbers,
    candidates,
):
    """Read the lines of one topic, from `first` on, as far as their scores.

    Lines begin with the same `prefix` bytes and end in those at `tail_start`. Writes a glance at
    each document and where its score starts, and which lines may hold judged documents. Returns how
    many lines there are, -1 if one of them is not plain, and how many candidates.
    """
    start = np.int64(lines[first])
    prefix_mask = low_bytes(ALL_ONES, prefix)
    prefix_word = load_word(data, start) & prefix_mask
    prefix_end = load_word(data, start + prefix - 8) if prefix > 8 else WORD(0)
    tail_mask = low_bytes(ALL_ONES, tail)
    tail_word = load_word(data, tail_start) & tail_mask
    tail_end = load_word(data, tail_start + tail - 8) if tail > 8 else WORD(0)
    n, n_candidates = WORD(0), WORD(0)  # an index without a sign takes no look at it
    line = start
    while True:
        id_start = line + prefix
        next_line = np.int64(lines[first + n + WORD(1)])
        separators = bytes_up_to(data, id_start, SPACE)
        rank_bits = without_lowest(separators)
        id_size = np.int64(trailing_zeros(separators))
        rank_at = np.int64(trailing_zeros(rank_bits))
        number = id_start + rank_at + 1
        number_end = next_line - tail
        if id_size == 0 or rank_at == id_size + 1 or number >= number_end or rank_bits == WORD(0):
            return -1, 0
        if not is_same(data, number_end, tail_start, tail, tail_word, tail_mask, tail_end):
            return -1, 0
        code = glance(data, id_start, id_start + id_size)
        two = two_bits(code)
        # Of an unknown topic there are no words: what the first one says is ignored.
        candidates[n_candidates] = n
        n_candidates += WORD(words[first_word + share(code, n_words)] & two == two)
        codes[n] = code
        numbers[n] = number
        n += WORD(1)
        line = next_line
        if first + n == n_lines or not is_same(
            data, line, start, prefix, prefix_word, prefix_mask, prefix_end
        ):
            return np.int64(n), np.int64(n_candidates)


@part
def _find_candidates(
    data,
    lines,
    first_line,
    prefix,
    codes,
    candidates,
    n_candidates,
    entries,
    low,
    high,
    documents,
    offsets,
    ranks,
    grades,
):
    """Write rank and grade of those candidates that were judged, and return how many."""
    place = low
    for k in range(n_candidates):
        i = WORD(candidates[k])
        start = lines[first_line + i] + prefix
        end = start + np.int64(trailing_zeros(bytes_up_to(data, start, SPACE)))
        entry = find_entry(data, start, end, codes[i], entries, low, high, documents, offsets)
        if entry >= 0:
            ranks[place] = np.int64(i) + 1
            grades[place] = grade_of(entries, entry)
            place += 1
    return place - low


@part
def _close_up(bounds, blocks, ranks, grades):
    """Move all that was found together, topic by topic, and turn its numbers into bounds."""
    end = 0
    for t in range(len(bounds) - 1):
        for k in range(bounds[t], bounds[t] + blocks[t + 1]):
            ranks[end], grades[end] = ranks[k], grades[k]
            end += 1
        blocks[t + 1] = end


@part
def _starts_last(data, lines, n_lines, line, prefix):
    """Whether the topic of a line is that of the last one."""
    last = np.int64(lines[n_lines - WORD(1)])
    return same_bytes(data, line, line + prefix, data, last, last + prefix)


@part
def _read_piece(number, got, room, data, state):
    """Read the next piece of a file behind what was kept of the last one.

    Returns where it ends, and where its last whole line does, which at the end of the file is ended
    if need be; -1 for an error.
    """
    kept = state[KEPT]
    if number >= 0:
        got = read_file(number, data, kept, room - kept)
    state[IS_LAST] = got == 0
    end = kept + got
    if got == 0 and kept > 0 and load_byte(data, kept - 1) != NEWLINE:
        data[kept] = NEWLINE
        end += 1
    whole = end if got >= 0 else -1
    while whole > 0 and load_byte(data, whole - 1) != NEWLINE:
        whole -= 1
    return end, whole


@part
def _keep(data, start, end, state):
    """Move data[start:end] to the beginning."""
    for position in range(0, end - start, 8):
        store_word(data, position, load_word(data, start + position))
    state[KEPT] = end - start


@lean_kernel
def match_file(
    number,
    got,
    room,
    may_tie,
    data,
    lines,
    numbers,
    codes,
    candidates,
    form,
    bits,
    starts,
    ends,
    values,
    strangers,
    names,
    name_offsets,
    documents,
    offsets,
    bounds,
    words,
    entries,
    lengths,
    blocks,
    ranks,
    grades,
    tag,
    state,
):
    """Look the documents of a file up in the judgments: of that with this number, read into `data`.

    Without a number (-1), `got` bytes have been read into data[state[KEPT]:room], none of them at
    the end of the file; as long as this returns MORE, more are to be read there. DONE says that
    `lengths` holds the lengths of the rankings, -1 for topics that the run lacks, and that the
    documents of topic t that were found have the ranks and grades from blocks[t] to blocks[t + 1].
    ODD is what is not plain, and what has equal or rising scores unless `may_tie`. `lines` to
    `values` are scratch.
    """
    for _ in range(MOST_PIECES):
        end, whole = _read_piece(number, got, room, data, state)
        found = find_lines(data, whole, lines) if whole >= 0 else -1
        if found < 0:
            return ODD
        n_lines = WORD(found)
        tail_start, tail_end = 0, 0
        first = WORD(0)
        while first < n_lines:
            line = np.int64(lines[first])
            topic_end, id_start = prefix_of(data, line)
            if topic_end == 0:
                return ODD
            prefix = id_start - line
            if tail_end == 0:
                tail_start, tail_end = tail_of(data, id_start)
                if tail_end == 0 or not _is_tag(data, tail_start + 1, tail_end - 1, tag, state):
                    return ODD
            if not state[IS_LAST] and _starts_last(data, lines, n_lines, line, prefix):
                break
            topic = _topic_of(
                data, line, topic_end, names, name_offsets, lengths, state[LAST_TOPIC]
            )
            if topic == REPEATED:
                return ODD
            low, high, first_word, n_words = 0, 0, 0, 0
            if topic != UNKNOWN:
                low, high = bounds[topic], bounds[topic + 1]
                first_word, n_words = words_of(bounds, topic)
            tail = tail_end - tail_start
            n, n_candidates = _read_documents(
                data,
                lines,
                first,
                n_lines,
                prefix,
                tail_start,
                tail,
                words,
                WORD(first_word),
                WORD(n_words),
                codes,
                numbers,
                candidates,
            )
            if n < 0 or n > LONG_BLOCK:
                return ODD
            ties, rises = count_rises(data, numbers, lines[np.int64(first) + 1 :], tail, n, form)
            if ties < 0 or (ties + rises > 0 and not may_tie):
                return ODD
            if has_repeats(codes, 0, n, bits):
                return ODD
            start = first
            first += WORD(n)
            if topic == UNKNOWN:
                if not _note_stranger(data, line, topic_end, strangers, state):
                    return ODD
                continue
            state[LAST_TOPIC] = topic
            lengths[topic] = n
            blocks[topic + 1] = _find_candidates(
                data,
                lines,
                start,
                prefix,
                codes,
                candidates,
                n_candidates,
                entries,
                low,
                high,
                documents,
                offsets,
                ranks,
                grades,
            )
            if ties + rises > 0:
                read_lines(data, lines, start, n, prefix, numbers, tail, starts, ends, values)
                if not rank_by_counting(
                    data, starts, ends, values, n, rises, ranks, grades, low, blocks[topic + 1]
                ):
                    return ODD
        if state[IS_LAST]:
            _close_up(bounds, blocks, ranks, grades)
            return DONE if state[TAG_SIZE] > 0 else ODD
        if end - lines[first] >= room:
            return ODD  # a topic that does not fit
        _keep(data, np.int64(lines[first]), end, state)
        if number < 0:
            break
    return MORE

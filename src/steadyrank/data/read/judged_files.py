"""The judged documents of a run file, found while it is read, without keeping the rest of it.

For `evaluate`, which wants nothing else of most files. Plain files are read in half the time
(`judged_lines`); of any other file, and of one with a defect, nothing is said here, and the caller
reads it as a whole.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np

from steadyrank.compute.numba_cache import is_kept
from steadyrank.data.ids import PADDING
from steadyrank.data.qrels import JudgedRun, Qrels
from steadyrank.data.read import judged_lines
from steadyrank.data.read.blocks import LONG_BLOCK
from steadyrank.data.read.layouts import RUN, read_opening
from steadyrank.data.read.lines import NEWLINE
from steadyrank.data.read.run_files import Reading
from steadyrank.data.read.sources import CHUNK, as_array, base_name, kind_of, open_bytes
from steadyrank.data.read.streams import is_stream
from steadyrank.errors import SteadyrankError

WORTHWHILE = 1 << 20
"""Bytes from which on a file is worth a kernel of its own, once that is compiled."""

WORTH_COMPILING = 100 << 20
"""Bytes of files, of all that this process has met, from which on it is worth compiling."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedFile:
    """The judged documents of a run, and what else `evaluate` tells of it."""

    name: str
    judged: JudgedRun
    n_strangers: int
    """Topics that nobody judged."""


_MOST_ROWS = CHUNK // RUN.shortest + 2


@dataclass(frozen=True, slots=True, eq=False)
class _Scratch:
    """Memory that serves one file after another."""

    buffer: bytearray = field(default_factory=lambda: bytearray(CHUNK))
    form: np.ndarray = field(
        default_factory=lambda: np.empty(2 * judged_lines.WORDS_OF_FORM, np.uint64)
    )
    values: np.ndarray = field(default_factory=lambda: np.empty(_MOST_ROWS))
    starts: np.ndarray = field(default_factory=lambda: np.empty(_MOST_ROWS, np.int64))
    ends: np.ndarray = field(default_factory=lambda: np.empty(_MOST_ROWS, np.int64))
    codes: np.ndarray = field(default_factory=lambda: np.empty(_MOST_ROWS, np.uint64))
    candidates: np.ndarray = field(default_factory=lambda: np.empty(_MOST_ROWS, np.int64))
    bits: np.ndarray = field(
        default_factory=lambda: np.empty(1 << LONG_BLOCK.bit_length(), np.uint64)
    )
    strangers: np.ndarray = field(
        default_factory=lambda: np.empty(judged_lines.MOST_STRANGERS, np.uint64)
    )


_SPARE: list[_Scratch] = []


@contextlib.contextmanager
def _spare_scratch() -> Iterator[_Scratch]:
    scratch = _SPARE.pop() if _SPARE else _Scratch()
    yield scratch
    _SPARE.append(scratch)


def find_in_file(
    path: Path, reading: Reading, qrels: Qrels, *, relevant_only: bool, may_tie: bool
) -> JudgedFile | None:
    """The judged documents of the run in a file; None for a file that is not plain.

    `relevant_only` as in `find_judged_documents`. Unless `may_tie`, a file with equal scores in a
    topic is not plain either.
    """
    if is_stream(path) or not _is_worthwhile(path) or not _are_text(qrels.topics):
        return None
    search = _Search(qrels, relevant_only=relevant_only, may_tie=may_tie)
    with contextlib.suppress(SteadyrankError), open_bytes(path) as stream:
        if not _is_plain(stream) or not search.in_lines(stream):
            return None
        name = search.tag.decode("utf-8", "surrogateescape")
        return JudgedFile(
            name=name if reading.name_from == "tag" else base_name(path),
            judged=search.judged(),
            n_strangers=int(search.state[judged_lines.STRANGERS]),
        )
    return None  # Reading it as a whole says what is wrong.


def _is_worthwhile(path: Path) -> bool:
    """Whether a file is long enough, and so many have come that compiling is worth the wait."""
    size = path.stat().st_size if path.is_file() else 0
    if size < WORTHWHILE:
        return False
    _MET[0] += size
    return _is_compiled() or _MET[0] >= WORTH_COMPILING


_MET = [0]


@functools.cache
def _is_compiled() -> bool:
    """Whether the kernel is on disk; what this process compiles itself need not be noticed."""
    return is_kept(judged_lines.match_lines)


def _are_text(topics: tuple[str, ...]) -> bool:
    """Whether names are text, whose bytes are equal if and only if the names are."""
    try:
        "".join(topics).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _is_plain(stream: BinaryIO) -> bool:
    """Whether an opened file begins as a run of six columns, without comments."""
    if kind_of(stream) != "text" or stream.peek(3).startswith(_BOM):  # type: ignore[attr-defined]
        return False
    opening = read_opening(stream, is_run=True)
    return opening.layout is RUN and not opening.comments


_BOM = b"\xef\xbb\xbf"


class _Search:
    """The search of one file: what the kernel is called with, chunk by chunk."""

    def __init__(self, qrels: Qrels, *, relevant_only: bool, may_tie: bool):
        self.qrels, self.may_tie, self.tag = qrels, may_tie, b""
        self.slot_bounds, self.slots = qrels.relevant_slots if relevant_only else qrels.all_slots
        self.filters = qrels.relevant_filter if relevant_only else qrels.all_filter
        self.lengths = np.full(len(qrels.topics), -1, np.int64)
        self.counts = np.zeros(len(qrels.topics), np.int64)
        # A table is at most a quarter full, so that a quarter of it has room for all it holds.
        self.ranks, self.rows = np.empty((2, int(self.slot_bounds[-1]) // 4), np.int32)
        self.state = np.zeros(judged_lines.STATE_SIZE, np.int64)
        self.state[judged_lines.LAST_TOPIC] = -1

    def in_lines(self, stream: BinaryIO) -> bool:
        """Read an opened file to its end; whether all of it is plain."""
        with _spare_scratch() as scratch:
            buffer, kept = scratch.buffer, 0
            room = len(buffer) - PADDING - 1
            while True:
                got = stream.readinto(memoryview(buffer)[kept:room])  # type: ignore[attr-defined]
                end = kept + got
                if got == 0 and kept and buffer[kept - 1] != NEWLINE:
                    buffer[kept] = NEWLINE
                    end += 1
                whole = buffer.rfind(b"\n", 0, end) + 1
                if not self._match(scratch, whole, is_last=got == 0):
                    return False
                if got == 0:
                    return bool(self.tag)
                done = int(self.state[judged_lines.POSITION])
                kept = end - done
                if kept >= room:
                    return False  # a topic that does not fit
                buffer[:kept] = buffer[done:end]

    def _match(self, scratch: _Scratch, end: int, *, is_last: bool) -> bool:
        documents = self.qrels.documents
        status = judged_lines.match_lines(
            as_array(scratch.buffer),
            end,
            is_last,
            self.may_tie,
            scratch.form,
            scratch.values,
            scratch.starts,
            scratch.ends,
            scratch.codes,
            scratch.candidates,
            scratch.bits,
            scratch.strangers,
            *self.qrels.topic_bytes,
            documents.data,
            documents.offsets,
            self.qrels.blocks,
            self.slots,
            self.slot_bounds,
            self.filters,
            self.lengths,
            self.counts,
            self.ranks,
            self.rows,
            self.state,
        )
        if status != judged_lines.DONE:
            return False
        start, stop = self.state[[judged_lines.TAG_START, judged_lines.TAG_END]].tolist()
        tag = bytes(scratch.buffer[start:stop]) if end else self.tag
        self.tag = self.tag or tag
        return tag == self.tag

    def judged(self) -> JudgedRun:
        """What was found, topics in the order of the qrels."""
        blocks = np.concatenate([[0], np.cumsum(self.counts)])
        places = np.repeat(self.slot_bounds[:-1] // 4 - blocks[:-1], self.counts)
        places += np.arange(blocks[-1])
        return JudgedRun(blocks, self.ranks[places], self.rows[places], self.lengths)

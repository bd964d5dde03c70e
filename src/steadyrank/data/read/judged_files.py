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
from io import FileIO, RawIOBase
from pathlib import Path
from typing import BinaryIO

import numpy as np

from steadyrank.compute.kernel_cache import is_kept
from steadyrank.data.ids import PADDING
from steadyrank.data.qrels import Qrels
from steadyrank.data.read import judged_lines
from steadyrank.data.read.blocks import LONG_BLOCK
from steadyrank.data.read.layouts import RUN, read_opening
from steadyrank.data.read.limits import BOM
from steadyrank.data.read.run_files import Reading
from steadyrank.data.read.score_order import FORM_SIZE
from steadyrank.data.read.sources import as_array, base_name, kind_of, open_bytes
from steadyrank.data.read.streams import is_file
from steadyrank.errors import SteadyrankError

WORTHWHILE = 1 << 20
"""Bytes from which on a file is worth a kernel of its own, once that is compiled."""

WORTH_COMPILING = 100 << 20
"""Bytes of files, of all that this process has met, from which on it is worth compiling."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedFile:
    """The judged documents of a run, and what else `evaluate` tells of it."""

    name: str
    entries: tuple[np.ndarray, np.ndarray, np.ndarray]
    """Blocks, ranks and grades of these documents, for the topics of the qrels."""
    lengths: np.ndarray
    """Of the rankings; -1 where the run lacks the topic."""
    n_strangers: int
    """Topics that nobody judged."""


CHUNK = 1 << 19
"""Bytes that are read at a time: with all that is looked up, they stay in the processor's cache."""

_BEHIND = 3 * PADDING
"""Bytes of the buffer that are never read into: kernels look beyond the end of a line."""

_MOST_ROWS = CHUNK // RUN.shortest + 2


@dataclass(frozen=True, slots=True, eq=False)
class _Scratch:
    """Memory that serves one file after another."""

    buffer: bytearray = field(default_factory=lambda: bytearray(CHUNK + _BEHIND))
    lines: np.ndarray = field(default_factory=lambda: np.empty(_MOST_ROWS + 128, np.int32))
    numbers: np.ndarray = field(default_factory=lambda: np.empty(_MOST_ROWS, np.int32))
    codes: np.ndarray = field(default_factory=lambda: np.empty(_MOST_ROWS, np.uint64))
    candidates: np.ndarray = field(default_factory=lambda: np.empty(_MOST_ROWS, np.int32))
    form: np.ndarray = field(default_factory=lambda: np.empty(FORM_SIZE, np.uint8))
    bits: np.ndarray = field(
        default_factory=lambda: np.empty(1 << LONG_BLOCK.bit_length(), np.uint64)
    )
    starts: np.ndarray = field(default_factory=lambda: np.empty(_MOST_ROWS, np.int64))
    ends: np.ndarray = field(default_factory=lambda: np.empty(_MOST_ROWS, np.int64))
    values: np.ndarray = field(default_factory=lambda: np.empty(_MOST_ROWS))
    strangers: np.ndarray = field(
        default_factory=lambda: np.empty(judged_lines.MOST_STRANGERS, np.uint64)
    )


_SPARE: list[_Scratch] = []


@contextlib.contextmanager
def _spare_scratch() -> Iterator[_Scratch]:
    try:
        scratch = _SPARE.pop()
    except IndexError:  # not asked beforehand: another thread may take the last one in between
        scratch = _Scratch()
    yield scratch
    _SPARE.append(scratch)


def find_in_file(
    path: Path, reading: Reading, qrels: Qrels, *, relevant_only: bool, may_tie: bool
) -> JudgedFile | None:
    """The judged documents of the run in a file; None for a file that is not plain.

    `relevant_only` as in `find_judged_documents`. Unless `may_tie`, a file with equal scores in a
    topic is not plain either.
    """
    if not is_file(path) or not _is_worthwhile(path) or not _are_text(qrels.topics):
        return None
    search = _Search(qrels, relevant_only=relevant_only, may_tie=may_tie)
    with contextlib.suppress(SteadyrankError), open_bytes(path) as stream:
        if not _is_plain(stream):
            return None
        raw = stream.raw  # type: ignore[attr-defined]
        raw.seek(0)  # whole pieces are better read past the stream's own buffer
        if not search.in_file(raw):
            return None
        return JudgedFile(
            name=search.name if reading.name_from == "tag" else base_name(path),
            entries=search.entries(),
            lengths=search.lengths,
            n_strangers=int(search.state[judged_lines.STRANGERS]),
        )
    return None  # Reading it as a whole says what is wrong.


def _is_worthwhile(path: Path) -> bool:
    """Whether a file is long enough, and so many have come that compiling is worth the wait."""
    size = path.stat().st_size
    if size < WORTHWHILE:
        return False
    _MET[0] += size
    return _is_compiled() or _MET[0] >= WORTH_COMPILING


_MET = [0]


@functools.cache
def _is_compiled() -> bool:
    """Whether the kernel is on disk; what this process compiles itself need not be noticed."""
    return is_kept(judged_lines.match_file)


def _are_text(topics: tuple[str, ...]) -> bool:
    """Whether names are text, whose bytes are equal if and only if the names are."""
    try:
        "".join(topics).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _is_plain(stream: BinaryIO) -> bool:
    """Whether an opened file begins as a run of six columns, without comments."""
    if kind_of(stream) != "text" or stream.peek(3).startswith(BOM):  # type: ignore[attr-defined]
        return False
    opening = read_opening(stream, is_run=True)
    return opening.layout is RUN and not opening.comments


class _Search:
    """The search of one file: what the kernel is called with, chunk by chunk."""

    def __init__(self, qrels: Qrels, *, relevant_only: bool, may_tie: bool):
        self.qrels, self.may_tie = qrels, may_tie
        self.tag = np.zeros(2 * PADDING, np.uint8)
        self.lookup = qrels.relevant_lookup if relevant_only else qrels.all_lookup
        self.lengths = np.full(len(qrels.topics), -1, np.int64)
        self.blocks = np.zeros(len(qrels.topics) + 1, np.int64)
        self.ranks, self.grades = np.empty((2, len(self.lookup.entries)), np.int32)
        self.state = np.zeros(judged_lines.STATE_SIZE, np.int64)
        self.state[judged_lines.LAST_TOPIC] = -1

    def in_file(self, raw: RawIOBase) -> bool:
        """Read an opened file to its end; whether all of it is plain."""
        # What is packed, Python unpacks; anything else the kernel reads by itself.
        number = raw.fileno() if isinstance(raw, FileIO) and judged_lines.READS_FILES else -1
        with _spare_scratch() as scratch:
            room, got = len(scratch.buffer) - _BEHIND, 0
            while True:
                if number < 0:
                    kept = self.state[judged_lines.KEPT]
                    got = raw.readinto(memoryview(scratch.buffer)[kept:room]) or 0
                status = self._match(scratch, number, got, room)
                if status != judged_lines.MORE:
                    return status == judged_lines.DONE

    def _match(self, scratch: _Scratch, number: int, got: int, room: int) -> int:
        documents = self.qrels.documents
        status: int = judged_lines.match_file(
            number,
            got,
            room,
            self.may_tie,
            as_array(scratch.buffer),
            scratch.lines,
            scratch.numbers,
            scratch.codes,
            scratch.candidates,
            scratch.form,
            scratch.bits,
            scratch.starts,
            scratch.ends,
            scratch.values,
            scratch.strangers,
            *self.qrels.topic_bytes,
            documents.data,
            documents.offsets,
            self.lookup.bounds,
            self.lookup.words,
            self.lookup.entries,
            self.lengths,
            self.blocks,
            self.ranks,
            self.grades,
            self.tag,
            self.state,
        )
        return status

    @property
    def name(self) -> str:
        """The tag of the file."""
        size = self.state[judged_lines.TAG_SIZE]
        return self.tag[:size].tobytes().decode("utf-8", "surrogateescape")

    def entries(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What was found: blocks, topics in the order of the qrels, ranks and grades."""
        found = self.blocks[-1]
        return self.blocks, self.ranks[:found], self.grades[:found]

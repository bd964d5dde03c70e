"""Runs and qrels as lines of text: columns from lines, and defects named by file and line."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np

from steadyrank.data.ids import PADDING, Ids
from steadyrank.data.interop.frames import Columns
from steadyrank.data.oddities import INFINITE_SCORES, LONG_LINES, OTHER_TAGS
from steadyrank.data.qrels import LARGEST_GRADE
from steadyrank.data.read import lines
from steadyrank.data.read.layouts import (
    RUN,
    Layout,
    Opening,
    is_of_run,
    read_opening,
    scores_of_short_run,
)
from steadyrank.data.read.limits import BOM, inner_mark
from steadyrank.data.read.metadata import run_metadata
from steadyrank.data.read.sources import CHUNK, as_array, line_chunks, line_of_byte, line_of_row
from steadyrank.data.read.streams import size_of
from steadyrank.errors import FormatError

STEPS_SAMPLE = 3000
"""Lines of a file that are looked at for the order in which they stand."""


@dataclass(slots=True)
class Table:
    """The columns of one file of lines, rows in the file's order."""

    topics: list[str] = field(default_factory=list)
    first_rows: list[int] = field(default_factory=list)
    n_rows: int = 0
    values: np.ndarray = field(default_factory=lambda: np.empty(0))
    hashes: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint64))
    id_offsets: np.ndarray = field(default_factory=lambda: np.zeros(1, np.int64))
    ids: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint8))
    tag: str = ""
    n_headers: int = 0
    """Lines before the rows that name the columns: one or none."""
    info: dict[str, str] = field(default_factory=dict)
    """What comments say about a run."""
    oddities: dict[str, int] = field(default_factory=dict)
    buffer: bytearray = field(default_factory=lambda: bytearray(CHUNK))
    bounds: np.ndarray = field(default_factory=lambda: np.empty((6, 2), np.int64))
    segments: np.ndarray = field(default_factory=lambda: np.empty((0, 3), np.int64))
    hard: np.ndarray = field(default_factory=lambda: np.empty((0, 3), np.int64))

    def clear(self) -> None:
        """Forget the rows, keep the memory."""
        self.topics, self.first_rows, self.oddities, self.info = [], [], {}, {}
        self.n_rows, self.n_headers, self.tag = 0, 0, ""

    def scratch(self, rows: int) -> tuple[np.ndarray, np.ndarray]:
        """Room for `rows` changes of topic and as many hard numbers."""
        if rows > len(self.segments):
            self.segments = np.empty((rows, 3), np.int64)
            self.hard = np.empty((rows, 3), np.int64)
        return self.segments, self.hard

    def documents(self) -> Ids:
        """The document column."""
        used = int(self.id_offsets[self.n_rows]) + PADDING
        return Ids(self.ids[:used], self.id_offsets[: self.n_rows + 1], self.hashes[: self.n_rows])

    def columns(self) -> Columns:
        """The rows, in the table's own memory."""
        return Columns(
            self.topics,
            np.array(self.first_rows),
            self.documents(),
            self.values[: self.n_rows],
            self.tag,
            self.oddities,
            self.info,
            self.n_headers,
        )

    def steps(self) -> tuple[int, int]:
        """How often scores fall and rise between neighbouring lines of a topic, near the top."""
        values = self.values[: min(self.n_rows, STEPS_SAMPLE)]
        same_topic = np.ones(len(values), bool)
        same_topic[[row for row in self.first_rows if row < len(values)]] = False
        before, after = values[:-1][same_topic[1:]], values[1:][same_topic[1:]]
        return int((after < before).sum()), int((after > before).sum())

    def make_room(self, rows: int, id_bytes: int, share: float) -> None:
        """Room for so many more rows and id bytes, and for what the rest of the file needs.

        `share` is the part of the file read so far, so that columns are made once at
        about their final size; where it is not known, they grow by half.
        """
        used = int(self.id_offsets[self.n_rows])
        if self.n_rows + rows <= len(self.values) and used + id_bytes <= len(self.ids):
            return
        growth = max(1.02 / share, 1.5)
        size = int(growth * self.n_rows) + 2 * rows
        # One block of memory for all columns: large enough for the system's large
        # pages, without which first touching the memory takes longer than parsing.
        block = np.empty(8 * (3 * size + 1) + int(growth * used) + 2 * id_bytes, np.uint8)
        values, hashes, offsets, ids = np.split(block, [8 * size, 16 * size, 24 * size + 8])
        self.values = _filled(values.view(np.float64), self.values, self.n_rows)
        self.hashes = _filled(hashes.view(np.uint64), self.hashes, self.n_rows)
        self.id_offsets = _filled(offsets.view(np.int64), self.id_offsets, self.n_rows + 1)
        self.ids = _filled(ids, self.ids, used)

    def count(self, what: str, number: int) -> None:
        """Note something odd that was seen `number` times."""
        if number:
            self.oddities[what] = self.oddities.get(what, 0) + number


def _filled(larger: np.ndarray, column: np.ndarray, used: int) -> np.ndarray:
    larger[:used] = column[:used]
    return larger


@contextlib.contextmanager
def spare_table() -> Iterator[Table]:
    """A table whose memory serves one file after another.

    For callers that are done with the columns when they leave: memory that a process
    touches for the first time costs about as much as parsing what goes into it.
    """
    try:
        table = _SPARE.pop()
    except IndexError:
        table = Table()
    table.clear()
    yield table
    if len(table.ids) + 24 * len(table.values) <= LARGEST_SPARE:
        _SPARE.append(table)


_SPARE: list[Table] = []
LARGEST_SPARE = 1 << 26


def read_table(path: Path, stream: BinaryIO, *, is_run: bool, into: Table | None = None) -> Table:
    """Read the columns of an opened file of lines; raises FormatError at the first defect."""
    table = Table() if into is None else into
    opening = read_opening(stream, is_run=is_run)
    layout = opening.layout
    if not is_run and is_of_run(opening.first):
        raise FormatError(
            path,
            f"expected judgments ({layout.fields}), got a run ({RUN.fields}): do they stand in "
            "each other's place?",
        )
    table.n_headers = 1 if opening.header else 0
    consumed = 0
    size = size_of(path)
    for buffer, end in line_chunks(stream, table.buffer):
        if opening.header and consumed <= opening.start < consumed + end:
            header = slice(opening.start - consumed, opening.stop - consumed - 1)
            buffer[header] = b" " * (header.stop - header.start)
        # Of a packed file no share is known once more was read than it takes on disk.
        share = min(1.0, max(consumed / size, 1e-3)) if consumed < size else 1.0
        table.make_room(end // layout.shortest + 2, end + 2 * PADDING, share)
        _read_chunk(table, path, buffer, end, consumed, layout)
        consumed += end
    if table.n_rows == 0:
        raise FormatError(path, f"empty: expected lines of {layout.n_fields} fields")
    if is_run:
        _finish_run(table, path, opening)
    return table


def _finish_run(table: Table, path: Path, opening: Opening) -> None:
    table.info = run_metadata(opening.comments)
    if opening.layout.code == lines.THREE_COLUMNS:
        values = table.values[: table.n_rows]
        values[:] = scores_of_short_run(path, values, table.topics, table.first_rows, opening)


def _read_chunk(
    table: Table, path: Path, buffer: bytearray, end: int, consumed: int, layout: Layout
) -> None:
    state = np.zeros(lines.STATE_SIZE, np.int64)
    state[lines.ROWS] = table.n_rows
    state[lines.ID_BYTES] = table.id_offsets[table.n_rows]
    segments, hard = table.scratch(end // layout.shortest + 2)
    status = lines.parse_lines(
        as_array(buffer),
        end,
        layout.code,
        table.values,
        table.hashes,
        table.id_offsets,
        table.ids,
        segments,
        hard,
        table.bounds,
        state,
    )
    # Numbers first: those that were met stand before the line with the defect.
    for row, start, stop in hard[: state[lines.HARD_NUMBERS]].tolist():
        table.values[row] = _exact_number(
            table, path, bytes(buffer[start:stop]), consumed + start, layout.is_run
        )
    if status != lines.DONE:
        where = line_of_byte(path, consumed + int(state[lines.POSITION]))
        raise FormatError(path, _defect(status, int(state[lines.FIELDS]), layout), where)
    new = slice(table.n_rows, int(state[lines.ROWS]))
    if not layout.is_run:
        _check_grades(path, table.values[new], table.n_rows + table.n_headers)
    for row, start, stop in segments[: state[lines.SEGMENTS]].tolist():
        if buffer.startswith(BOM, start):  # that of the first line was taken off
            raise inner_mark(path, line_of_byte(path, consumed + start))
        table.topics.append(buffer[start:stop].decode("utf-8", "surrogateescape"))
        table.first_rows.append(row)
    table.n_rows = new.stop
    table.count(LONG_LINES, state[lines.LONG_LINES])
    if layout.code == lines.RUN:
        _note_tag(table, buffer, state)


def _note_tag(table: Table, buffer: bytearray, state: np.ndarray) -> None:
    start, stop = int(state[lines.TAG_START]), int(state[lines.TAG_END])
    if stop <= start:
        return
    tag = buffer[start:stop].decode("utf-8", "surrogateescape")
    other = int(state[lines.OTHER_TAGS])
    if not table.tag:
        table.tag = tag
    elif tag != table.tag:
        other += 1
    table.count(OTHER_TAGS, other)


def _defect(status: int, fields: int, layout: Layout) -> str:
    if status in (lines.SHORT_LINE, lines.LONG_LINE):
        return f"expected {layout.n_fields} fields ({layout.fields}), got {fields}"
    if status == lines.LONE_RETURN:
        return "a carriage return inside a line: convert the file's line endings to newlines"
    return "a control character: this is not TREC text"


def _exact_number(table: Table, path: Path, text: bytes, offset: int, is_run: bool) -> float:
    """The value of a number that the kernel left: very long, very large, inf or nan."""
    what = "score" if is_run else "grade"
    try:
        if b"_" in text:
            raise ValueError
        value = float(text)
    except ValueError:
        shown = text[:40].decode("utf-8", "backslashreplace")
        line = line_of_byte(path, offset)
        raise FormatError(path, f"expected a number as {what}, got {shown!r}", line) from None
    if np.isnan(value):
        line = line_of_byte(path, offset)
        why = ", so its rank is undefined" if is_run else ": remove the line, or judge it"
        raise FormatError(path, f"the {what} is NaN{why}", line)
    if np.isinf(value):
        table.count(INFINITE_SCORES, 1)
    return value


def _check_grades(path: Path, grades: np.ndarray, first_row: int) -> None:
    bad = np.flatnonzero((grades != np.floor(grades)) | (np.abs(grades) > LARGEST_GRADE))
    if len(bad):
        message = f"expected a whole number as grade, at most {LARGEST_GRADE}, got {grades[bad[0]]}"
        raise FormatError(path, message, line_of_row(path, first_row + int(bad[0])))

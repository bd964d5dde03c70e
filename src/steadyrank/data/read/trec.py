"""Runs and qrels as lines of text: columns from lines, and defects named by file and line.

The first lines of a file say which columns it has: TREC's run (six) and qrels (four), the three of
BEIR's qrels, with their header, and of MS MARCO's runs; NTCIR's grades are L0, L1, … Comment lines
may come first, and may hold what ir_metadata says about the run (Breuer et al., SIGIR 2022,
doi:10.1145/3477495.3531738): YAML between `# ir_metadata.start` and `# ir_metadata.end`, of which
the plain part is read (names, nested by indentation, with text, numbers or lists). Other lines
are left out: they must never keep a run from being read.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from steadyrank.data.ids import PADDING, Ids
from steadyrank.data.interop.tables import (
    DOCUMENT_NAMES,
    TOPIC_NAMES,
    VALUE_NAMES,
    Rows,
    number_in,
    plain_column,
)
from steadyrank.data.qrels import NOT_A_GRADE, are_grades
from steadyrank.data.read import lines
from steadyrank.data.read.sources import CHUNK, line_chunks, line_of_byte, line_of_row
from steadyrank.data.read.streams import BOM, BoundedFile, inner_mark, size_of
from steadyrank.data.run import INFINITE_SCORES, LONG_LINES, OTHER_TAGS
from steadyrank.errors import FormatError

_LONGEST_PIECE = 1 << 16

LONGEST_OPENING = 1 << 20
"""Bytes of comments and blank lines in which the first line with fields is looked for."""

STEPS_SAMPLE = 3000
"""Lines of a file that are looked at for the order in which they stand."""

START, END = "ir_metadata.start", "ir_metadata.end"
_MEMBER = re.compile(r"""(?P<name>"[^"]*"|'[^']*'|[^\s"'#:][^:#]*?)\s*:(?:\s+(?P<value>.*))?""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The columns of a text file, as the kernel and as people know them."""

    code: int
    is_run: bool
    fields: str
    shortest: int
    """Bytes of the shortest line with this number of fields; bounds the rows of a chunk."""

    @property
    def n_fields(self) -> int:
        """How many columns there are."""
        return len(self.fields.split())


RUN = Layout(code=lines.RUN, is_run=True, fields="topic Q0 document rank score tag", shortest=12)
QRELS = Layout(code=lines.QRELS, is_run=False, fields="topic iteration document grade", shortest=8)
SHORT_RUN = Layout(code=lines.THREE_COLUMNS, is_run=True, fields="topic document score", shortest=6)
SHORT_QRELS = replace(SHORT_RUN, is_run=False, fields="topic document grade")


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """How a text file begins: its comments, its layout, and the header if it has one."""

    comments: Sequence[str]
    layout: Layout
    first: Sequence[str]
    """The fields of the first line that is no comment."""
    header: Sequence[str] = ()
    start: int = 0
    stop: int = 0
    """The bytes of the header."""


def read_opening(stream: BoundedFile, *, is_run: bool) -> Opening:
    """Return the beginning of an opened text file, which is then rewound."""
    comments: list[str] = []
    start, stop, line = 0, 0, b""
    while piece := stream.readline(_LONGEST_PIECE):
        line = piece.removeprefix(BOM) if start == 0 else piece
        content = line.strip()
        stop = start + len(piece)
        if content and not content.startswith(b"#"):
            break
        if start > LONGEST_OPENING:
            line = b""
            break  # The rest is the kernel's, which is faster at finding nothing.
        if content:
            comments.append(content.decode("utf-8", "surrogateescape"))
        start, line = stop, b""
    stream.seek(0)
    fields = line.decode("utf-8", "surrogateescape").split()
    short, whole = (SHORT_RUN, RUN) if is_run else (SHORT_QRELS, QRELS)
    if _is_header(fields, is_run):
        return Opening(
            comments=comments, layout=short, first=fields, header=fields, start=start, stop=stop
        )
    is_short = len(fields) == 3 and isinstance(number_in(fields[2], whole=not is_run), float)
    return Opening(comments=comments, layout=short if is_short else whole, first=fields)


def first_tag(stream: BoundedFile) -> str:
    """The tag of the first line of an opened run file; nothing where it has none."""
    opening = read_opening(stream, is_run=True)
    return opening.first[-1] if len(opening.first) == RUN.n_fields else ""


def is_of_run(fields: Sequence[str]) -> bool:
    """Whether a line can only be one of a TREC run, which read as judgments has ranks for grades.

    >>> is_of_run("301 Q0 d1 1 9.5 bm25".split()), is_of_run("301 Q0 d1 1".split())
    (True, False)
    """
    return (
        len(fields) >= RUN.n_fields
        and fields[1].upper() == "Q0"
        and number_in(fields[4]) != fields[4]
    )


def _is_header(fields: Sequence[str], is_run: bool) -> bool:
    """Whether the three fields of a line name the columns: query-id, corpus-id, score.

    >>> _is_header(["query-id", "corpus-id", "score"], False), _is_header(["q1", "d1", "1"], False)
    (True, False)
    """
    if len(fields) != 3:
        return False
    values = (*VALUE_NAMES["score"], "rank") if is_run else VALUE_NAMES["relevance"]
    topic, document, value = map(plain_column, fields)
    return topic in TOPIC_NAMES and document in DOCUMENT_NAMES and value in values


def scores_of_short_run(
    path: Path, values: np.ndarray, topics: Sequence[str], firsts: Sequence[int], opening: Opening
) -> np.ndarray:
    """The third column of a run as scores: MS MARCO's runs have ranks there, others scores.

    A header says which. Without one, numbers that count 1, 2, 3 in every topic are ranks, and
    fractions, or whole numbers that never rise within a topic, are scores; the rest is refused.
    """
    if opening.header:
        return -values if opening.header[2].lower() == "rank" else values
    if (values != np.floor(values)).any():
        return values
    seen: dict[str, int] = {}
    ranks, starts = np.empty(len(values)), np.zeros(len(values), bool)
    for k, (first, end) in enumerate(pairwise([*firsts, len(values)])):
        before = seen.get(topics[k], 0)
        ranks[first:end] = np.arange(before + 1, before + 1 + end - first)
        starts[first] = k == 0 or topics[k] != topics[k - 1]
        seen[topics[k]] = before + end - first
    if (values == ranks).all():
        return -values
    if (np.diff(values)[~starts[1:]] <= 0).all():
        return values
    raise FormatError(
        path,
        "the third column may hold ranks or scores: name it 'rank' or 'score' in a header "
        "(query-id, corpus-id, score), or write TREC's six columns",
        1,
    )


@dataclass(slots=True)
class Lines:
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
        """Make room for `rows` changes of topic and `rows` hard numbers."""
        if rows > len(self.segments):
            self.segments = np.empty((rows, 3), np.int64)
            self.hard = np.empty((rows, 3), np.int64)
        return self.segments, self.hard

    def columns(self, path: Path) -> Rows:
        """The rows, in the table's own memory."""
        n = self.n_rows
        ids = self.ids[: int(self.id_offsets[n]) + PADDING]
        return Rows(
            self.topics,
            np.array(self.first_rows),
            Ids(ids, self.id_offsets[: n + 1], self.hashes[:n]),
            self.values[:n],
            self.tag,
            self.oddities,
            self.info,
            self._steps(),
            lambda row: line_of_row(path, row + self.n_headers),
        )

    def _steps(self) -> tuple[int, int]:
        """How often scores fall and rise between neighbouring lines of a topic, near the top."""
        values = self.values[: min(self.n_rows, STEPS_SAMPLE)]
        same_topic = np.ones(len(values), bool)
        same_topic[[row for row in self.first_rows if row < len(values)]] = False
        before, after = values[:-1][same_topic[1:]], values[1:][same_topic[1:]]
        return int((after < before).sum()), int((after > before).sum())

    def make_room(self, rows: int, id_bytes: int, share: float) -> None:
        """Make room for more rows and id bytes, and for the estimated rest of the file."""
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
        self.oddities[what] = self.oddities.get(what, 0) + number


def _filled(larger: np.ndarray, column: np.ndarray, used: int) -> np.ndarray:
    larger[:used] = column[:used]
    return larger


LARGEST_SPARE = 1 << 26
_SPARE: list[Lines] = []


@contextlib.contextmanager
def spare_table() -> Iterator[Lines]:
    """A table whose memory serves one file after another.

    For callers that are done with the columns when they leave: memory that a process
    touches for the first time costs about as much as parsing what goes into it.
    """
    try:
        table = _SPARE.pop()
    except IndexError:
        table = Lines()
    table.clear()
    yield table
    if len(table.ids) + 24 * len(table.values) <= LARGEST_SPARE:
        _SPARE.append(table)


def read_lines(
    path: Path, stream: BoundedFile, *, is_run: bool, into: Lines | None = None
) -> Lines:
    """Read the columns of an opened file of lines; raises FormatError at the first defect."""
    table = Lines() if into is None else into
    opening = read_opening(stream, is_run=is_run)
    layout = opening.layout
    if not is_run and is_of_run(opening.first):
        raise FormatError(
            path,
            f"expected judgments ({layout.fields}), got a run ({RUN.fields}): are runs "
            "and judgments swapped?",
        )
    if len(opening.first) == 1 and opening.first[0].count(",") > 1:
        got = f"got {opening.first[0][:60]!r}: in CSV, name the columns"
        line = line_of_row(path, 0)
        raise FormatError(path, f"expected a header such as qid,docno,score, {got}", line)
    table.n_headers = 1 if opening.header else 0
    consumed = 0
    size = size_of(path)
    for buffer, end in line_chunks(stream, table.buffer):
        if opening.header and consumed <= opening.start < consumed + end:
            header = slice(opening.start - consumed, opening.stop - consumed - 1)
            buffer[header] = b" " * (header.stop - header.start)
        # The share of a packed file is unknown once more was read than its size on disk.
        share = min(1.0, max(consumed / size, 1e-3)) if consumed < size else 1.0
        table.make_room(end // layout.shortest + 2, end + 2 * PADDING, share)
        _read_chunk(table, path, buffer, end, consumed, layout)
        consumed += end
    if table.n_rows == 0:
        raise FormatError(path, f"empty: expected lines of {layout.n_fields} fields")
    if is_run:
        table.info = run_metadata(opening.comments)
    if layout is SHORT_RUN:
        values = table.values[: table.n_rows]
        values[:] = scores_of_short_run(path, values, table.topics, table.first_rows, opening)
    return table


def _read_chunk(
    table: Lines, path: Path, buffer: bytearray, end: int, consumed: int, layout: Layout
) -> None:
    state = np.zeros(lines.STATE_SIZE, np.int64)
    state[lines.ROWS] = table.n_rows
    state[lines.ID_BYTES] = table.id_offsets[table.n_rows]
    segments, hard = table.scratch(end // layout.shortest + 2)
    status = lines.parse_lines(
        np.frombuffer(buffer, np.uint8),
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
        grades = table.values[new]
        bad = np.flatnonzero(~are_grades(grades))
        if len(bad):
            line = line_of_row(path, table.n_rows + table.n_headers + int(bad[0]))
            message = f"{NOT_A_GRADE}, got {grades[bad[0]]}: is this a run?"
            raise FormatError(path, message, line)
    for row, start, stop in segments[: state[lines.SEGMENTS]].tolist():
        if buffer.startswith(BOM, start):  # that of the first line was taken off
            raise inner_mark(path, line_of_byte(path, consumed + start))
        table.topics.append(buffer[start:stop].decode("utf-8", "surrogateescape"))
        table.first_rows.append(row)
    table.n_rows = new.stop
    table.count(LONG_LINES, state[lines.LONG_LINES])
    if layout.code == lines.RUN:
        _note_tag(table, buffer, state)


def _note_tag(table: Lines, buffer: bytearray, state: np.ndarray) -> None:
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
        hint = ", as judgments have" if layout.is_run and fields == QRELS.n_fields else ""
        return f"expected {layout.n_fields} fields ({layout.fields}), got {fields}{hint}"
    if status == lines.LONE_RETURN:
        return "a carriage return inside a line: convert the file's line endings to newlines"
    return "a control character: this is not TREC text"


def _exact_number(table: Lines, path: Path, text: bytes, offset: int, is_run: bool) -> float:
    what = "score" if is_run else "grade"
    value = number_in(text.decode("utf-8", "backslashreplace"), whole=not is_run)
    if isinstance(value, str):
        line = line_of_byte(path, offset)
        raise FormatError(path, f"expected a number as {what}, got {value[:40]!r}", line)
    if np.isnan(value):
        line = line_of_byte(path, offset)
        why = ", so its rank is undefined" if is_run else ": remove the line, or judge it"
        raise FormatError(path, f"the {what} is NaN{why}", line)
    if np.isinf(value):
        table.count(INFINITE_SCORES, 1)
    return value


def run_metadata(comments: Iterable[str]) -> dict[str, str]:
    """The columns of run information that comment lines hold."""
    columns: dict[str, str] = {}
    for name, value in _members(_block(comments)):
        known = "team" if name == "actor.team" else name
        columns[known] = f"{columns[known]}, {value}" if known in columns else value
    return columns


def _block(comments: Iterable[str]) -> Iterator[str]:
    """The lines of YAML, without the hash and the space behind it."""
    inside = False
    for comment in comments:
        line = comment.removeprefix("#").removeprefix(" ")
        if line.strip() == START:
            inside = True
        elif line.strip() == END:
            return
        elif inside:
            yield line


def _members(block: Iterable[str]) -> Iterator[tuple[str, str]]:
    above: list[tuple[int, str]] = []
    for line in block:
        content = line.lstrip(" ")
        indent = len(line) - len(content)
        is_item = content.startswith("- ")
        if is_item:
            content = content[2:].lstrip(" ")
        # The items of a list may stand as far left as the name that they belong to.
        above = [(at, name) for at, name in above if at < indent or (is_item and at == indent)]
        match = _MEMBER.fullmatch(content.rstrip())
        path = ".".join(name for _, name in above)
        if match is None:
            if is_item and path and _plain(content):
                yield path, _plain(content)
            continue
        name = _plain(match["name"])
        value = _plain(match["value"] or "")
        if value:
            yield (f"{path}.{name}" if path else name), value
        elif not is_item:
            above.append((indent, name))


def _plain(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return re.sub(r"(?:^|\s+)#.*", "", text)

"""CSV files as rows of text, each with its line, and the meaning of their cells."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from steadyrank.data.interop.tables import DOCUMENT_NAMES, MISSING, TOPIC_NAMES, pick_column
from steadyrank.data.read.limits import LONGEST_LINE, check_blank, endless_line, inner_mark
from steadyrank.data.read.sources import PathLike, head_of, open_bytes
from steadyrank.data.table_rules import Numbered
from steadyrank.data.write.csv import armed, as_written
from steadyrank.errors import FormatError

_QUOTED_PART = re.compile('"[^"]*"?')
_DELIMITERS = ",\t;"


def read_csv(path: Path, *, delimiter: str | None = None) -> Iterator[tuple[int, list[str]]]:
    """The header, as it is, then the rows that are not blank, each with the number of its line.

    Without a delimiter, the first of comma, tab and semicolon that the header has.
    """
    with open_bytes(path) as stream:
        text = io.TextIOWrapper(stream, "utf-8-sig", "surrogateescape", newline="")
        first = text.readline(LONGEST_LINE)
        chosen = delimiter or delimiter_of(first)
        lines = iter(lambda: text.readline(LONGEST_LINE), "")
        checked = _of_text(path, chain([first], lines), lambda: rows.line_num + 1)
        rows = csv.reader(checked, delimiter=chosen, strict=True)
        try:
            yield 1, next(rows, [])
            yield from ((rows.line_num, fields) for fields in rows if any(fields))
        except csv.Error as error:
            raise FormatError(path, f"not CSV: {error}", max(rows.line_num, 1)) from None


def delimiter_of(line: str) -> str:
    """The first of comma, tab and semicolon that a line has outside quotes."""
    bare = _QUOTED_PART.sub("", line)
    return next((d for d in _DELIMITERS if d in bare), ",")


def names_documents(stream: BinaryIO) -> bool:
    """Whether an opened text file begins with the header of a run or of judgments as CSV."""
    header = header_of(stream)
    return all(pick_column(header, names) for names in (TOPIC_NAMES, DOCUMENT_NAMES))


def header_of(stream: BinaryIO) -> list[str]:
    """The cells of the first line of an opened text file, without blanks around them."""
    lines = head_of(stream).decode("utf-8", "surrogateescape").splitlines()[:1]
    cells = next(csv.reader(lines, delimiter=delimiter_of("".join(lines))), [])
    return [cell.strip() for cell in cells]


def _of_text(path: Path, lines: Iterable[str], number: Callable[[], int]) -> Iterator[str]:
    """Yield the lines; an error instead of a line that does not end, or of endless blank lines.

    `number` is that of the line that is asked for, of which a byte-order mark is refused: that of
    the first line was taken off.
    """
    blank = 0
    for line in lines:
        if len(line) >= LONGEST_LINE:
            raise endless_line(path)
        if line >= "\ufeff" and line[0] == "\ufeff":
            raise inner_mark(path, number())
        blank = blank + 1 if line.isspace() else 0
        if blank:
            check_blank(path, blank)
        yield line


def read_texts(path: Path, *, delimiter: str | None = None) -> tuple[list[str], Numbered]:
    """The header and the rows of a CSV file as they were meant, whatever a spreadsheet would do."""
    (_, header), *rows = read_csv(path, delimiter=delimiter)
    if as_written([header, *(fields for _, fields in rows)]):
        return header, rows
    return list(map(armed, header)), [(line, list(map(armed, fields))) for line, fields in rows]


def check_widths(where: PathLike, header: Sequence[str], rows: Numbered) -> None:
    """Refuse a row that has more or fewer cells than the header."""
    for line, fields in rows:
        if len(fields) != len(header):
            raise FormatError(where, f"expected {len(header)} columns, got {len(fields)}", line)


def is_missing(text: str) -> bool:
    """Whether a cell says that there is no score."""
    return text.lower() in MISSING


def as_meant(columns: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Columns of names, without what keeps some from acting on spreadsheets and terminals."""
    if as_written(columns):
        return list(map(tuple, columns))
    return [tuple(map(armed, names)) for names in columns]

"""Tables in files: CSV, JSON lines and Parquet as columns with a header, and the line of each row.

Arrow reads the plain case by columns. What it refuses, or might read in another way than it is
meant, `csv` and `json` of the standard library read row by row: they also name the line of a
defect.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, Literal, NoReturn

import numpy as np

from steadyrank.data.interop.tables import (
    DOCUMENT_NAMES,
    LONG_ROLES,
    RUN_NAMES,
    TOPIC_NAMES,
    VALUE_NAMES,
    BadCell,
    distinct_names,
    is_text,
    plain_column,
    text_column,
    twin_columns,
)
from steadyrank.data.qrels import are_grades
from steadyrank.data.read.columns import number_in, value_problem
from steadyrank.data.read.csv_files import MISSING, check_widths, delimiter_of, is_missing, read_csv
from steadyrank.data.read.json_files import describe, json_rows
from steadyrank.data.read.limits import BOM
from steadyrank.data.read.parquet import arrow_table, broken_parquet
from steadyrank.data.read.sources import PathLike
from steadyrank.data.scores import plain_value
from steadyrank.errors import FormatError

What = Literal["score", "relevance", "value"]
"""What numbers are: a run's scores, grades, or scores of a measure, which may be missing."""

_NAMES = {*TOPIC_NAMES, *DOCUMENT_NAMES, *RUN_NAMES, *LONG_ROLES["measure"]}
_NUMBERS = {*VALUE_NAMES["score"], *VALUE_NAMES["relevance"], *LONG_ROLES["value"], "rank"}

_BLANKS = [chr(code) for code in range(0x3001) if chr(code).isspace() and chr(code) not in "\r\n"]


@dataclass(frozen=True, slots=True)
class Table:
    """The columns of a file: Arrow's, or lists of Python's values where Arrow could not read it."""

    path: PathLike
    header: tuple[str, ...]
    columns: Sequence[Any]
    lines: Sequence[int]
    """On which line each row stands; in Parquet, which has none, the number of the row."""
    is_csv: bool = False
    """Whether cells are texts, of which numbers have yet to be read."""
    metadata: Mapping[bytes, bytes] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.lines)

    def find(self, names: tuple[str, ...]) -> int | None:
        """The place of the column under the first of `names` that is there.

        What holds the same thing under another name must be equal.
        """
        if not (same := twin_columns(self.header, names)):
            return None
        found, *twins = same
        for other in twins:
            places = [k for k, name in enumerate(self.header) if name in (found, other)]
            first, second = map(self.cells, places[:2])
            pairs = list(zip(first, second, strict=True))
            if plain_column(other) == plain_column(found):
                both = [self.lines[row] for row, pair in enumerate(pairs) if None not in pair]
                line = both[0] if both and not self.is_csv else 1
                raise FormatError(self.path, f"two columns are named {other!r}: rename one", line)
            if differing := [row for row, (a, b) in enumerate(pairs) if a != b]:
                message = f"columns {found!r} and {other!r} name one thing, and differ: remove one"
                raise self.error(differing[0], message)
        return self.header.index(found)

    def need(self, names: tuple[str, ...]) -> int:
        """As `find`; an error where there is no such column."""
        if (found := self.find(names)) is None:
            raise self.lacks(names[0])
        return found

    def lacks(self, name: str, remedy: str = "") -> FormatError:
        """The error for a column that is not there."""
        line = 1 if self.is_csv else next(iter(self.lines), None)
        got = ", ".join(self.header)[:200]
        return FormatError(self.path, f"expected a column {name!r}, got {got}{remedy}", line)

    def error(self, row: int, message: str) -> FormatError:
        """The error for a row, with its line."""
        return FormatError(self.path, message, self.lines[row])

    def cells(self, place: int) -> list[Any]:
        """A column as Python's values."""
        column = self.columns[place]
        if isinstance(column, list):
            return column
        try:
            values = column.to_pylist()
        except (ValueError, OverflowError) as error:  # no UTF-8, or dates beyond all years
            raise broken_parquet(Path(self.path), error) from None
        if not self.is_csv:
            return list(values)
        return [cell.decode("utf-8", "surrogateescape") for cell in values]

    def distinct(self, place: int) -> tuple[list[Any], np.ndarray]:
        """The values of a column in their order of appearance, and which of them each row has."""
        column = self.columns[place]
        if isinstance(column, list):
            places = {cell: code for code, cell in enumerate(dict.fromkeys(column))}
            return [*places], np.array([places[cell] for cell in column], np.intp)
        import pyarrow as pa

        kind = column.type
        if pa.types.is_nested(kind):
            self._refuse_name(0, self.cells(place)[0], "run")
        if pa.types.is_dictionary(kind):  # Its nulls have no code.
            column = column.cast(kind.value_type)
        coded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        kept = replace(self, columns=[coded.dictionary])
        return kept.cells(0), coded.indices.to_numpy(zero_copy_only=False)

    def names(self, place: int, what: str) -> Any:
        """A column of names as Arrow's bytes; `what` they name is said where one is wrong."""
        import pyarrow as pa

        column = self.columns[place]
        try:
            if not isinstance(column, list) and not self.is_csv:
                encoded = pa.types.is_dictionary(column.type)
                inner = column.type.value_type if encoded else column.type
                if pa.types.is_binary(inner) or pa.types.is_large_binary(inner):
                    self._refuse_name(0, self.cells(place)[0], what)  # bytes may be no text
                if is_text(column.type):
                    column.validate(full=True)  # Arrow takes any bytes for text
            return text_column(column, str(self.path))
        except BadCell as error:
            self._refuse_name(error.row, self.cells(place)[error.row], what)
        except pa.ArrowInvalid as error:
            raise broken_parquet(Path(self.path), error) from None

    def _refuse_name(self, row: int, cell: Any, what: str) -> NoReturn:
        shown = repr(str(cell)[:40])
        is_half = isinstance(cell, str) and cell != ""
        message = f"expected a name as {what}, got {shown}"
        raise self.error(row, f"the {what} {shown} is not valid text" if is_half else message)

    def labels(self, place: int, what: str) -> tuple[tuple[str, ...], np.ndarray]:
        """A column's names in their order of appearance, and which of them each row has."""
        column = self.columns[place]
        if self.is_csv and isinstance(column, list) and all(column):  # texts, and none is empty
            names, codes = self.distinct(place)
            return tuple(names), codes
        names, codes = distinct_names(self.names(place, what))
        return tuple(names), codes.astype(np.intp)

    def numbers(self, place: int, what: What) -> np.ndarray:
        """A column of numbers as float64; NaN where a value is missing."""
        values = self._plain_numbers(place, what)
        if values is None or not _are_sound(values, what):
            cells = enumerate(self.cells(place))
            numbers = [self._number(row, cell, what) for row, cell in cells]
            values = np.array(numbers, np.float64)
        return values

    def _plain_numbers(self, place: int, what: What) -> np.ndarray | None:
        """The numbers of a column of Arrow's, or None where some cells are no plain numbers."""
        column = self.columns[place]
        if isinstance(column, list):
            return None
        import pyarrow as pa
        import pyarrow.compute as pc

        try:
            if self.is_csv:
                column = column.cast(pa.large_string())
                if what == "value":
                    missing = pa.array(sorted(MISSING), pa.large_string())
                    absent = pc.is_in(pc.utf8_lower(column), value_set=missing)
                    column = pc.if_else(absent, pa.scalar(None, pa.large_string()), column)
                column = column.cast(pa.float64())
        except pa.ArrowInvalid:
            return None
        if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
            return None
        return np.array(column.to_numpy(zero_copy_only=False), np.float64)

    def _number(self, row: int, cell: Any, what: What) -> float:
        if what != "value":
            number = number_in(cell, whole=what == "relevance") if self.is_csv else cell
            if problem := value_problem(number, what):
                raise self.error(row, problem)
            return float(number)
        if cell is None or (self.is_csv and is_missing(cell)):
            return np.nan
        number = plain_value(cell) if self.is_csv else cell
        try:
            if isinstance(number, (int, float)) and not np.isinf(float(number)):
                return float(number)
        except OverflowError:
            pass
        raise self.error(row, f"expected a score, got {describe(cell)}")


def _are_sound(values: np.ndarray, what: What) -> bool:
    if what == "value":
        return not np.isinf(values).any()
    return not np.isnan(values).any() and (what == "score" or bool(are_grades(values).all()))


ARROW_FROM = 100_000
"""Bytes from which on Arrow reads CSV: shorter files are read before Arrow is imported."""


def csv_table(path: Path, stream: BinaryIO) -> Table:
    """The table of an opened CSV file, blanks around its cells left out."""
    content = stream.read().removeprefix(BOM)
    line = content.partition(b"\n")[0].decode("utf-8", "surrogateescape")
    delimiter = delimiter_of(line)
    header = tuple(name.strip() for name in line.split(delimiter))
    is_long = len(content) >= ARROW_FROM
    plain = _plain_csv(content, len(header), delimiter.encode()) if is_long else None
    if plain is not None:
        return Table(path, header, plain.columns, range(2, 2 + plain.num_rows), is_csv=True)
    (_, names), *rows = read_csv(path)
    check_widths(path, names, rows)
    cells = [[cell.strip() for cell in fields] for _, fields in rows]
    columns = [list(column) for column in zip(*cells, strict=True)] or [[] for _ in names]
    lines = [line for line, _ in rows]
    return Table(path, tuple(name.strip() for name in names), columns, lines, is_csv=True)


def _plain_csv(content: bytes, n_columns: int, delimiter: bytes) -> Any:
    """Return the rows as Arrow's bytes; None if `csv` would read other rows or cells."""
    import pyarrow as pa
    from pyarrow import csv

    body = content.rstrip(b"\r\n") + b"\n"
    returns = body.count(b"\r")
    if b'"' in body or (returns and body.count(b"\r\n") != returns):
        return None
    ends = [b"\n", b"\r", delimiter]
    known = filter(str.isascii, _BLANKS) if body.isascii() else _BLANKS
    blanks = [blank.encode() for blank in known if blank.encode() != delimiter]
    there = [blank for blank in blanks if blank in body]
    odd = [pair for blank in there for end in ends for pair in (blank + end, end + blank)]
    odd += [b"\n\n", b"\n\r", b"\n" + BOM, b"\n" + delimiter * (n_columns - 1) + b"\n"]
    odd += [odd[-1][:-1] + b"\r"]
    if any(pair in body for pair in odd) or body.startswith(tuple(blanks)):
        return None
    names = [str(place) for place in range(n_columns)]
    kinds = dict.fromkeys(names, pa.large_binary())
    try:
        return csv.read_csv(
            pa.BufferReader(body),
            read_options=csv.ReadOptions(skip_rows=1, column_names=names, use_threads=False),
            parse_options=csv.ParseOptions(delimiter=delimiter.decode(), quote_char=False),
            convert_options=csv.ConvertOptions(column_types=kinds, check_utf8=False),
        )
    except pa.ArrowException:
        return None


def json_table(path: Path, stream: BinaryIO) -> Table:
    """The table of an opened file of JSON lines; a cell that a row lacks is None."""
    content = stream.read().removeprefix(BOM)
    plain = _plain_json(content)
    if plain is not None:
        return Table(path, tuple(plain.column_names), plain.columns, range(1, 1 + plain.num_rows))
    stream.seek(0)
    numbered = list(json_rows(path, stream))
    header = tuple(dict.fromkeys(name for _, row in numbered for name in row))
    columns = [[row.get(name) for _, row in numbered] for name in header]
    return Table(path, header, columns, [line for line, _ in numbered])


def _plain_json(content: bytes) -> Any:
    """The rows as Arrow's columns, one per line; None of what `json` might read otherwise."""
    import pyarrow as pa
    from pyarrow import json as arrow_json

    body = content.rstrip(b"\r\n") + b"\n"
    n_lines = body.count(b"\n")
    try:
        body.decode()
        first = json.loads(body[: body.index(b"\n")])
        kinds = {str: pa.string(), int: pa.int64()}
        fields = [
            (name, pa.float64() if plain_column(name) in _NUMBERS else kinds[type(cell)])
            for name, cell in first.items()
            if plain_column(name) in _NUMBERS | _NAMES
        ]
        options = arrow_json.ParseOptions(explicit_schema=pa.schema(fields))
        table = arrow_json.read_json(pa.BufferReader(body), parse_options=options)
    except (ValueError, RecursionError, AttributeError, KeyError, pa.ArrowException):
        return None
    # A line that holds two objects, or half of one, is an error, and Arrow's words have no line.
    is_plain = table.num_rows == n_lines == body.count(b"\n{") + body.startswith(b"{")
    return table if is_plain and _is_finite(table) else None


def _is_finite(table: Any) -> bool:
    """Whether all numbers are there and finite, as `json` reads others with more care."""
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = [column for column in table.columns if pa.types.is_floating(column.type)]
    return all(pc.all(pc.is_finite(column)).as_py() is not False for column in numbers)


def parquet_table(path: Path, stream: BinaryIO, choose: Any = list) -> Table:
    """The table of an opened Parquet file, of the columns that `choose` picks of their names."""
    table = arrow_table(path, stream, choose)
    header = tuple(table.column_names)
    own = table.schema.metadata or {}
    return Table(path, header, table.columns, range(1, 1 + table.num_rows), metadata=own)

"""Tables in files: CSV, JSON lines and Parquet as columns with a header, and the line of each row.

Arrow reads the plain case by columns. What it refuses, or might read in another way than it is
meant, `csv` and `json` of the standard library read row by row: they also name the line of a
defect.

A few bytes of Parquet can encode billions of rows, or millions of copies of a long name. The number
of rows is looked at first, the file is read in pieces, and a name that stands once is counted as
often as it is used before it is copied.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from steadyrank.compute.memory import in_bytes
from steadyrank.data.interop.tables import (
    DOCUMENT_NAMES,
    LONG_ROLES,
    MISSING,
    RUN_NAMES,
    TOPIC_NAMES,
    VALUE_NAMES,
    Table,
    broken_parquet,
    pick_column,
    plain_column,
)
from steadyrank.data.read.json_files import CUT_OFF, json_rows
from steadyrank.data.read.sources import PathLike, head_of, open_bytes
from steadyrank.data.read.streams import (
    BOM,
    LONGEST_LINE,
    check_blank,
    endless_line,
    inner_mark,
    largest_input,
)
from steadyrank.data.table_rules import Numbered
from steadyrank.data.write import armed, as_written
from steadyrank.errors import FormatError, arg

if TYPE_CHECKING:
    import pandas as pd

_NAMES = {*TOPIC_NAMES, *DOCUMENT_NAMES, *RUN_NAMES, *LONG_ROLES["measure"]}
_NUMBERS = {*VALUE_NAMES["score"], *VALUE_NAMES["relevance"], *LONG_ROLES["value"], "rank"}

_BLANKS = [chr(code) for code in range(0x3001) if chr(code).isspace() and chr(code) not in "\r\n"]

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
    return table_of_rows(path, names, rows)


def table_of_rows(where: PathLike, header: Sequence[str], rows: Numbered) -> Table:
    """The table of rows of text, each with the number of its line, without blanks around cells."""
    check_widths(where, header, rows)
    cells = [[cell.strip() for cell in fields] for _, fields in rows]
    columns = [list(column) for column in zip(*cells, strict=True)] or [[] for _ in header]
    names = tuple(name.strip() for name in header)
    return Table(where, names, columns, [line for line, _ in rows], is_csv=True)


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


_QUOTED_PART = re.compile('"[^"]*"?')
_DELIMITERS = ",\t;"


def read_csv(path: Path, *, delimiter: str | None = None) -> Iterator[tuple[int, list[str]]]:
    """The header, as it is, then the rows that are not blank, each with the number of its line."""
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
    """Yield the lines; an error instead of a line that does not end, or of endless blank lines."""
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
            message = f"expected {len(header)} columns, got {len(fields)}"
            raise FormatError(where, message, line, code=CUT_OFF)


def is_missing(text: str) -> bool:
    """Whether a cell says that there is no score."""
    return text.lower() in MISSING


def as_meant(columns: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Columns of names, without what keeps some from acting on spreadsheets and terminals."""
    if as_written(columns):
        return list(map(tuple, columns))
    return [tuple(map(armed, names)) for names in columns]


PIECE = 1 << 15
"""Rows that are read at a time."""


def arrow_table(
    path: Path, stream: BinaryIO, choose: Callable[[list[str]], list[str]] = list
) -> Any:
    """The columns that `choose` picks of an opened Parquet file."""
    import pyarrow as pa

    return pa.Table.from_batches(record_batches(path, stream, choose))


def record_batches(
    path: Path, stream: BinaryIO, choose: Callable[[list[str]], list[str]] = list
) -> Iterator[Any]:
    """The columns that `choose` picks of an opened Parquet file, some rows at a time.

    All of them together are no more than the memory can hold, for whoever keeps them. A file
    without rows has one piece without any.
    """
    import pyarrow as pa

    taken, limit, n_rows = 0.0, largest_input(), 0
    try:
        file, columns, texts = _opened(path, stream, choose)
        for piece in file.iter_batches(PIECE, columns=columns):
            taken += _size(piece, texts)
            if taken > limit:
                raise _too_large(path, taken)
            n_rows += piece.num_rows
            yield _unfolded(piece, texts)
        if n_rows != file.metadata.num_rows:
            raise ValueError(f"{n_rows} of {file.metadata.num_rows} rows are there")
        if n_rows == 0:
            schema = file.read(columns=columns).schema
            yield _unfolded(pa.RecordBatch.from_pylist([], schema), texts)
    except FormatError:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise broken_parquet(path, error) from None


def column_names(path: Path, stream: BinaryIO) -> list[str]:
    """The names of the columns of an opened Parquet file, of which no row is read."""
    names: list[str] = []

    def choose(present: list[str]) -> list[str]:
        names.extend(present)
        return []

    next(record_batches(path, stream, choose), None)
    return names


def _opened(
    path: Path, stream: BinaryIO, choose: Callable[[list[str]], list[str]]
) -> tuple[Any, list[str], list[str]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    # By its bytes, not its name: Arrow would take `run=x/` in a path for a column.
    plain = isinstance(stream, io.BufferedReader) and isinstance(stream.raw, io.FileIO)
    source = stream if plain else pa.BufferReader(stream.read())
    file = pq.ParquetFile(source, page_checksum_verification=True)
    columns = choose(list(file.schema_arrow.names))
    # Arrow ends the process if a single column with a damaged description is read.
    size = 8 * file.metadata.num_rows * len(columns)  # a number of 8 bytes in every cell
    if size > largest_input():
        raise _too_large(path, size)
    texts = _texts(file, columns)
    if texts:
        source.seek(0)
        file = pq.ParquetFile(source, page_checksum_verification=True, read_dictionary=texts)
    return file, columns, texts


def _too_large(path: Path, size: float) -> FormatError:
    return FormatError(
        path,
        f"unfolds to {in_bytes(size)}, and at most {in_bytes(largest_input())} are read into "
        f"memory: split it, or raise {arg('max_input')}",
    )


def _texts(file: Any, columns: list[str]) -> list[str]:
    import pyarrow as pa

    return [
        field.name
        for field in file.schema_arrow
        if field.name in columns
        and (pa.types.is_string(field.type) or pa.types.is_binary(field.type))
    ]


def _size(piece: Any, texts: list[str]) -> float:
    import pyarrow.compute as pc

    size = 0
    for column, cells in zip(piece.schema.names, piece.columns, strict=True):
        if column in texts:
            lengths = pc.binary_length(cells.dictionary).take(cells.indices)
            size += 8 * len(cells) + (pc.sum(lengths).as_py() or 0)
        else:
            size += cells.nbytes
    return size


def _unfolded(piece: Any, texts: list[str]) -> Any:
    import pyarrow as pa

    cells = [
        cells.cast(cells.type.value_type) if column in texts else cells
        for column, cells in zip(piece.schema.names, piece.columns, strict=True)
    ]
    plain = pa.RecordBatch.from_arrays(cells, piece.schema.names)
    return plain.replace_schema_metadata(piece.schema.metadata)


def read_parquet_frame(path: Path) -> pd.DataFrame:
    """A Parquet file as a pandas frame, its index as pandas has left it there."""
    import pyarrow as pa

    with open_bytes(path) as stream:
        table = arrow_table(path, stream)
    try:
        table.validate(full=True)  # text that is no UTF-8 would be found much later
        frame: pd.DataFrame = table.to_pandas()
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise broken_parquet(path, error) from None
    return frame

"""Parquet files, by their bytes and no further than memory allows.

A few bytes can stand for billions of rows, or for millions of copies of a long name. The number of
rows is looked at first, the file is read in pieces, and a name that stands once is counted as often
as it is used before it is copied. Names and numbers are checked by columns; only a file that holds
something else is walked value by value, for an error that names its row.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from steadyrank.compute.memory import in_bytes
from steadyrank.data.interop.tables import (
    RUN_NAMES,
    distinct_names,
    ids_of,
    one_column,
    pick_all,
    spare_columns,
)
from steadyrank.data.qrels import LARGEST_GRADE
from steadyrank.data.read.columns import Columns, check_cells, check_name, run_name
from steadyrank.data.read.limits import largest_input
from steadyrank.data.read.sources import open_bytes
from steadyrank.data.run import OTHER_RUNS
from steadyrank.errors import FormatError, arg

if TYPE_CHECKING:
    import pandas as pd

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
    _check_rows(path, file, columns)
    texts = _texts(file, columns)
    if texts:
        source.seek(0)
        file = pq.ParquetFile(source, page_checksum_verification=True, read_dictionary=texts)
    return file, columns, texts


def broken_parquet(path: Path, error: Exception) -> FormatError:
    """The error for a file that Arrow cannot read."""
    reason = " ".join(str(error).split())[:200]
    return FormatError(path, f"broken Parquet data ({reason}): write it again")


def _too_large(path: Path, size: float) -> FormatError:
    return FormatError(
        path,
        f"unfolds to {in_bytes(size)}, and at most {in_bytes(largest_input())} are read into "
        f"memory: split it, or raise {arg('max_input')}",
    )


def _check_rows(path: Path, file: Any, columns: list[str]) -> None:
    """Refuse more rows than memory holds, a number of 8 bytes in every cell."""
    # Of single columns Arrow ends the process where their description is damaged.
    size = 8 * file.metadata.num_rows * len(columns)
    if size > largest_input():
        raise _too_large(path, size)


def _texts(file: Any, columns: list[str]) -> list[str]:
    import pyarrow as pa

    return [
        field.name
        for field in file.schema_arrow
        if field.name in columns
        and (pa.types.is_string(field.type) or pa.types.is_binary(field.type))
    ]


def _size(piece: Any, texts: list[str]) -> float:
    """Bytes that rows take with a name in every one of them."""
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
    """The rows with a name in every one of them."""
    import pyarrow as pa

    cells = [
        cells.cast(cells.type.value_type) if column in texts else cells
        for column, cells in zip(piece.schema.names, piece.columns, strict=True)
    ]
    plain = pa.RecordBatch.from_arrays(cells, piece.schema.names)
    return plain.replace_schema_metadata(piece.schema.metadata)


def read_parquet(path: Path) -> Any:
    """A Parquet file, plain or gzip, as an Arrow table."""
    with open_bytes(path) as stream:
        return arrow_table(path, stream)


def read_parquet_frame(path: Path) -> pd.DataFrame:
    """A Parquet file as a pandas frame, its index as pandas has left it there."""
    import pyarrow as pa

    table = read_parquet(path)
    try:
        table.validate(full=True)  # text that is no UTF-8 would be found much later
        frame: pd.DataFrame = table.to_pandas()
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise broken_parquet(path, error) from None
    return frame


def column_values(path: Path, table: Any, column: str | int) -> list[Any]:
    """A column of a Parquet file as Python values."""
    try:
        return list(table.column(column).to_pylist())
    except (ValueError, OverflowError) as error:  # text that is no UTF-8, dates beyond all years
        raise broken_parquet(path, error) from None


def coded_names(
    path: Path, table: Any, column: int, what: str
) -> tuple[tuple[str, ...], np.ndarray]:
    """A column's names in their order of appearance, and which of them each row has.

    Millions of rows have thousands of names: only these become Python's own.
    """
    plain = _plain_names(table.column(column))
    if plain is None:
        for row, name in enumerate(column_values(path, table, column), start=1):
            check_name(path, what, name, row)
        return (), np.empty(0, np.intp)
    names, codes = distinct_names(plain)
    return tuple(names), codes.astype(np.intp)


def column_numbers(path: Path, table: Any, column: int) -> np.ndarray:
    """A column of scores as float64, NaN where there is none; an error that names the row."""
    import pyarrow as pa

    cells = table.column(column)
    if pa.types.is_floating(cells.type) or pa.types.is_integer(cells.type):
        numbers: np.ndarray = cells.to_numpy().astype(np.float64)
        if np.isinf(numbers).any():
            row = int(np.argmax(np.isinf(numbers)))
            raise FormatError(path, f"expected a score, got {str(numbers[row])!r}", row + 1)
        return numbers
    values = column_values(path, table, column)
    for row, value in enumerate(values, start=1):
        if value is not None:
            raise FormatError(path, f"expected a score, got {str(value)[:40]!r}", row)
    return np.full(len(values), np.nan)


def read_parquet_rows(path: Path, stream: BinaryIO, value: str) -> Columns:
    """The rows of an opened Parquet file, `value` being score or relevance."""

    def choose(present: list[str]) -> list[str]:
        wanted = pick_all(path, present, value, None, lambda _: None)
        label = one_column(path, present, RUN_NAMES, lambda _: None)
        return list(
            dict.fromkeys([*wanted, *filter(None, [label]), *spare_columns(present, value)])
        )

    table = arrow_table(path, stream, choose)
    if table.num_rows == 0:
        raise FormatError(path, "empty: no rows")
    wanted = pick_all(path, table.column_names, value, None, table.column)
    label = one_column(path, table.column_names, RUN_NAMES, table.column)
    topics, documents, values = _checked(path, table, wanted, value)
    names, codes = distinct_names(topics)
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    labels = [] if label is None or label in wanted else column_values(path, table, label)
    name, others = run_name(path, labels, range(1, len(labels) + 1))
    return Columns(
        [names[code] for code in codes[starts].tolist()],
        starts,
        ids_of(documents),
        values,
        name,
        {OTHER_RUNS: others if value == "score" else 0},
    )


def _checked(path: Path, table: Any, wanted: list[str], value: str) -> tuple[Any, Any, np.ndarray]:
    """Topics and documents as Arrow's bytes, values as numbers; an error names its row."""
    import pyarrow as pa

    columns = [table.column(column) for column in wanted]
    topics, documents = (_plain_names(column) for column in columns[:2])
    numbers = _plain_numbers(columns[2], value)
    if topics is None or documents is None or numbers is None:
        cells = [column_values(path, table, column) for column in wanted]
        for row, (topic, document, number) in enumerate(zip(*cells, strict=True), start=1):
            check_cells(path, topic, document, number, value, row)
        topics, documents = (
            pa.array(
                [str(name).encode("utf-8", "surrogateescape") for name in names], "large_binary"
            )
            for names in cells[:2]
        )
        numbers = np.array(cells[2], np.float64)
    return topics, documents, numbers


def _plain_names(column: Any) -> Any:
    """Names as bytes, or None where some are missing, empty, or neither text nor whole numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    if column.null_count or not (is_text or pa.types.is_integer(column.type)):
        return None
    try:
        column.validate(full=True)  # Arrow takes any bytes for text
    except pa.ArrowInvalid:
        return None
    names = column.combine_chunks().cast(pa.large_string()).cast(pa.large_binary())
    return None if pc.min(pc.binary_length(names)).as_py() == 0 else names


def _plain_numbers(column: Any, value: str) -> np.ndarray | None:
    """Scores or grades as float64, or None where some are none."""
    import pyarrow as pa

    if column.null_count or not (
        pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    ):
        return None
    numbers = np.array(column.to_numpy(zero_copy_only=False), np.float64)
    if np.isnan(numbers).any():
        return None
    if (
        value == "relevance"
        and ((np.abs(numbers) > LARGEST_GRADE) | (numbers != np.floor(numbers))).any()
    ):
        return None
    return numbers

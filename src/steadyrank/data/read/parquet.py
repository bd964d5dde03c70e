"""Parquet files, by their bytes and no further than memory allows.

A few bytes can encode billions of rows, or millions of copies of a long name. The number of
rows is looked at first, the file is read in pieces, and a name that stands once is counted as often
as it is used before it is copied.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from steadyrank.compute.memory import in_bytes
from steadyrank.data.interop.tables import broken_parquet
from steadyrank.data.read.sources import open_bytes
from steadyrank.data.read.streams import largest_input
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

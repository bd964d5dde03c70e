"""Parquet files as Arrow tables, by their bytes and no further than memory allows.

A few bytes can stand for billions of rows, or for millions of copies of a long name. The number of
rows is looked at first, the file is read in pieces, and a name that stands once is counted as often
as it is used before it is copied.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from steadyrank.compute.memory import in_bytes
from steadyrank.data.read.limits import largest_input
from steadyrank.errors import FormatError

PIECE = 1 << 15
"""Rows that are read at a time."""


def arrow_table(
    path: Path, stream: BinaryIO, choose: Callable[[list[str]], list[str]] = list
) -> Any:
    """The columns that `choose` picks of an opened Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    # By its bytes, not its name: Arrow would take `run=x/` in a path for a column.
    try:
        plain = isinstance(stream, io.BufferedReader) and isinstance(stream.raw, io.FileIO)
        source = stream if plain else pa.BufferReader(stream.read())
        file = pq.ParquetFile(source, page_checksum_verification=True)
        columns = choose(list(file.schema_arrow.names))
        _check_rows(path, file, columns)
        texts = _texts(file, columns)
        if texts:
            source.seek(0)
            file = pq.ParquetFile(source, page_checksum_verification=True, read_dictionary=texts)
        return _unfolded(path, _read(path, file, columns), texts)
    except FormatError:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise broken_parquet(path, error) from None


def broken_parquet(path: Path, error: Exception) -> FormatError:
    """The error for a file that Arrow cannot read."""
    reason = " ".join(str(error).split())[:200]
    return FormatError(path, f"broken Parquet data ({reason}): write it again")


def _too_large(path: Path, size: float) -> FormatError:
    return FormatError(
        path,
        f"unfolds to {in_bytes(size)}, and at most {in_bytes(largest_input())} are read into "
        "memory: split it, or raise max_input",
    )


def _check_rows(path: Path, file: Any, columns: list[str]) -> None:
    """Refuse more rows than memory holds, a number of 8 bytes in every cell."""
    # Of single columns Arrow ends the process where their description is damaged.
    size = 8 * file.metadata.num_rows * len(columns)
    if size > largest_input():
        raise _too_large(path, size)


def _texts(file: Any, columns: list[str]) -> list[str]:
    """The columns of text."""
    import pyarrow as pa

    return [
        field.name
        for field in file.schema_arrow
        if field.name in columns
        and (pa.types.is_string(field.type) or pa.types.is_binary(field.type))
    ]


def _read(path: Path, file: Any, columns: list[str]) -> Any:
    import pyarrow as pa

    pieces, taken, limit = [], 0, largest_input()
    for piece in file.iter_batches(PIECE, columns=columns):
        taken += piece.nbytes
        if taken > limit:
            raise _too_large(path, taken)
        pieces.append(piece)
    return pa.Table.from_batches(pieces) if pieces else file.read(columns=columns)


def _unfolded(path: Path, table: Any, texts: list[str]) -> Any:
    """The table with a name in every row, unless that is too much."""
    import pyarrow.compute as pc

    for place, column in enumerate(table.column_names):
        if column not in texts:
            continue
        cells = table.column(place)
        size = sum(
            pc.sum(pc.binary_length(chunk.dictionary).take(chunk.indices)).as_py() or 0
            for chunk in cells.chunks
        )
        if size > largest_input():
            raise _too_large(path, size)
        table = table.set_column(place, column, cells.cast(cells.type.value_type))
    return table

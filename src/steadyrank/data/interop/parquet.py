"""Parquet files as Arrow tables, by their bytes and no further than memory allows.

A few bytes can stand for billions of rows, or for millions of copies of a long name. What a file
says of its rows is looked at first, names that stand once are counted as often as they are used,
and the rest is read in pieces.
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

SHORTEST = 4
"""Bytes of a name in a row; fewer per row, and a column refers to names that stand once."""


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
        named = _check_rows(path, file, columns)
        if named:
            source.seek(0)
            file = pq.ParquetFile(source, page_checksum_verification=True, read_dictionary=named)
        return _unfolded(path, _read(path, file, columns), named)
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
        "memory here: split it, or raise max_input",
    )


def _check_rows(path: Path, file: Any, columns: list[str]) -> list[str]:
    """Refuse more rows than memory holds; the columns of text whose names stand once."""
    import pyarrow as pa

    rows = file.metadata.num_rows
    sizes = _sizes(file)
    taken = sum(max(8 * rows, sizes.get(column, 0)) for column in columns)
    if taken > largest_input():
        raise _too_large(path, taken)
    texts = [
        field.name
        for field in file.schema_arrow
        if pa.types.is_string(field.type) or pa.types.is_binary(field.type)
    ]
    return [
        column
        for column in columns
        if column in texts and 0 < sizes.get(column, 0) < SHORTEST * rows
    ]


def _sizes(file: Any) -> dict[str, int]:
    """Bytes of each column as the file says, unpacked."""
    sizes: dict[str, int] = {}
    metadata = file.metadata
    for group in range(metadata.num_row_groups):
        for place in range(metadata.num_columns):
            column = metadata.row_group(group).column(place)
            name = column.path_in_schema
            sizes[name] = sizes.get(name, 0) + max(0, column.total_uncompressed_size)
    return sizes


def _read(path: Path, file: Any, columns: list[str]) -> Any:
    import pyarrow as pa

    pieces, taken, limit = [], 0, largest_input()
    for piece in file.iter_batches(PIECE, columns=columns):
        taken += piece.nbytes
        if taken > limit:
            raise _too_large(path, taken)
        pieces.append(piece)
    return pa.Table.from_batches(pieces) if pieces else file.read(columns=columns)


def _unfolded(path: Path, table: Any, named: list[str]) -> Any:
    """The table with a name in every row, unless that is too much."""
    import pyarrow.compute as pc

    for place, column in enumerate(table.column_names):
        if column not in named:
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

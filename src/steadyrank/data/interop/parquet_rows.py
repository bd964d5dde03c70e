"""Runs and judgments in Parquet: rows a piece at a time, kept as columns of bytes and numbers.

Names and numbers are checked by columns. Only a piece that holds something else is walked value by
value, for an error that names its row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from steadyrank.data.interop.frames import (
    RUN_NAMES,
    Columns,
    check_cells,
    column_values,
    one_column,
    pick_all,
    run_name,
    spare_columns,
)
from steadyrank.data.interop.parquet import record_batches
from steadyrank.data.oddities import OTHER_RUNS
from steadyrank.data.qrels import LARGEST_GRADE
from steadyrank.data.read.tables import distinct_names, ids_of
from steadyrank.errors import FormatError


@dataclass(slots=True)
class Rows:
    """What has been read so far."""

    topics: list[str] = field(default_factory=list)
    first_rows: list[np.ndarray] = field(default_factory=list)
    documents: list[Any] = field(default_factory=list)
    values: list[np.ndarray] = field(default_factory=list)
    n_rows: int = 0
    name: str = ""
    others: int = 0
    """Rows that name another run than the first that one names."""

    def add(self, topics: Any, documents: Any, values: np.ndarray) -> None:
        """Keep a piece; its rows begin a segment where their topic is another."""
        names, codes = distinct_names(topics)
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        self.topics += [names[code] for code in codes[starts].tolist()]
        self.first_rows.append(starts + self.n_rows)
        self.documents.append(documents)
        self.values.append(values)
        self.n_rows += len(values)

    def columns(self, value: str) -> Columns:
        """All rows, in memory of their own."""
        import pyarrow as pa

        return Columns(
            self.topics,
            np.concatenate(self.first_rows),
            ids_of(pa.chunked_array(self.documents).combine_chunks()),
            np.concatenate(self.values),
            self.name,
            {OTHER_RUNS: self.others if value == "score" else 0},
        )


def read_parquet_rows(path: Path, stream: BinaryIO, value: str) -> Columns:
    """The rows of an opened Parquet file, `value` being score or relevance."""
    wanted: list[str] = []
    label: list[str] = []
    spare: list[str] = []

    def choose(present: list[str]) -> list[str]:
        pick(present, lambda _: None)
        spare[:] = spare_columns(present, value)
        return [*wanted, *label, *spare]

    def pick(present: list[str], cells: Callable[[str], Any]) -> None:
        wanted[:] = pick_all(path, present, value, None, cells)
        name = one_column(path, present, RUN_NAMES, cells)
        label[:] = [] if name is None or name in wanted else [name]

    rows = Rows()
    for piece in record_batches(path, stream, choose):
        if spare:
            pick(piece.schema.names, piece.column)
        lines = range(rows.n_rows + 1, rows.n_rows + 1 + piece.num_rows)
        if label:
            _note_name(path, rows, column_values(path, piece, label[0]), lines)
        rows.add(*_checked(path, piece, wanted, value, lines))
    if rows.n_rows == 0:
        raise FormatError(path, "empty: no rows")
    return rows.columns(value)


def _note_name(path: Path, rows: Rows, labels: list[Any], lines: Sequence[int]) -> None:
    first, others = run_name(path, labels, lines, rows.name)
    rows.name, rows.others = first, rows.others + others


def _checked(
    path: Path, piece: Any, wanted: list[str], value: str, lines: Sequence[int]
) -> tuple[Any, Any, np.ndarray]:
    """Topics and documents as Arrow's bytes, values as numbers; an error names its row."""
    import pyarrow as pa

    columns = [piece.column(column) for column in wanted]
    topics, documents = (_plain_names(column) for column in columns[:2])
    numbers = _plain_numbers(columns[2], value)
    if topics is not None and documents is not None and numbers is not None:
        return topics, documents, numbers
    cells = [column_values(path, piece, column) for column in wanted]
    check_cells(path, cells[0], cells[1], cells[2], value, lines)
    names = [[str(name).encode("utf-8", "surrogateescape") for name in cells[k]] for k in (0, 1)]
    first, second = (pa.array(column, pa.large_binary()) for column in names)
    return first, second, np.array(cells[2], np.float64)


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
    column = column.cast(pa.large_string()).cast(pa.large_binary())
    return None if pc.min(pc.binary_length(column)).as_py() == 0 else column


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

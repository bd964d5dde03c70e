"""One file, in whatever form, becomes one run or the judgments; the file is opened once.

A defect that would make results wrong is an error that names file, line and remedy; an
oddity that does not is counted in the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from steadyrank.data.interop.tables import RUN_NAMES, pick_column
from steadyrank.data.qrels import Qrels, build_qrels
from steadyrank.data.read.columns import Columns, columns_of_rows
from steadyrank.data.read.csv_files import document_rows, names_documents, read_csv
from steadyrank.data.read.json_files import json_rows, line_of_document, read_nested
from steadyrank.data.read.parquet import read_parquet_rows, record_batches
from steadyrank.data.read.sources import Kind, PathLike, base_name, kind_of, line_of_row, open_bytes
from steadyrank.data.read.streams import BoundedFile
from steadyrank.data.read.trec import Table, first_tag, read_opening, read_table
from steadyrank.data.run import Duplicates, RepeatedDocument, Run, build_run, check_duplicates
from steadyrank.errors import FormatError, InputError, unknown_name

NameFrom = Literal["tag", "file"]
Form = Kind | Literal["csv"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How runs are to be read; one value that tasks can carry to other processes."""

    name_from: NameFrom = "tag"
    duplicates: Duplicates = "error"
    run_info: PathLike | None = None
    team_from: str | None = None
    system_from: str | None = None
    names: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        if self.name_from not in ("tag", "file"):
            raise unknown_name("source of run names", self.name_from, ["tag", "file"])
        check_duplicates(self.duplicates)

    @property
    def about(self) -> dict[str, Any]:
        """What says something about the runs, as `describe_runs` takes it."""
        return {
            "run_info": self.run_info,
            "team_from": self.team_from,
            "system_from": self.system_from,
        }


def load_run(path: Path, reading: Reading, into: Table | None = None, digest: Any = None) -> Run:
    """Read one run without warnings; its oddities stay counted in the run.

    Its columns lie in `into` where that is given, to be used again afterwards. `digest`, an
    object of hashlib, is given the file's bytes.
    """
    with open_bytes(path, digest) as stream:
        kind = _form(stream, "score")
        rows = _rows(path, stream, kind, "score", into)
    by_tag = reading.name_from == "tag"
    try:
        return build_run(
            rows.name if rows.name and by_tag else base_name(path),
            rows.topics,
            rows.first_rows,
            rows.documents,
            rows.values,
            duplicates=reading.duplicates,
            source=path,
            info=rows.info,
            oddities=rows.oddities,
            line_steps=rows.line_steps,
        )
    except RepeatedDocument as error:
        raise _with_lines(error, path, kind, rows.n_headers) from None


def load_qrels(path: Path) -> Qrels:
    """Read judgments without warnings; their oddities stay counted."""
    with open_bytes(path) as stream:
        kind = _form(stream, "relevance")
        rows = _rows(path, stream, kind, "relevance")
    try:
        return build_qrels(
            rows.topics,
            rows.first_rows,
            rows.documents,
            rows.values,
            source=path,
            oddities=rows.oddities,
        )
    except RepeatedDocument as error:
        raise _with_lines(error, path, kind, rows.n_headers) from None


def _form(stream: BoundedFile, value: str) -> Form:
    """What an opened file is; CSV is a table whose header names topics and documents."""
    kind = kind_of(stream)
    # The kernel reads three columns with a header, and much faster.
    if kind != "text" or read_opening(stream, is_run=value == "score").header:
        return kind
    return "csv" if names_documents(stream) else kind


def _rows(
    path: Path, stream: BoundedFile, kind: Form, value: str, into: Table | None = None
) -> Columns:
    """The rows of an opened file of some kind, `value` being score or relevance."""
    if kind == "text":
        return read_table(path, stream, is_run=value == "score", into=into).columns()
    if kind == "json":
        return read_nested(path, stream, value)
    if kind == "parquet":
        return read_parquet_rows(path, stream, value)
    if kind == "csv":
        return columns_of_rows(path, document_rows(path, value), value)
    return columns_of_rows(path, json_rows(path, stream), value)


def _with_lines(error: RepeatedDocument, path: Path, kind: Form, n_headers: int) -> FormatError:
    """The error of a file, with the lines of the two rows."""
    first, second = (_line_of_data(path, kind, row + n_headers) for row in error.rows)
    return FormatError(path, f"{error.what} (first on line {first}): {error.remedy}", second)


def _line_of_data(path: Path, kind: Form, row: int) -> int:
    """The line on which a row of data stands; in Parquet, which has none, the row itself."""
    if kind == "parquet":
        return row + 1
    if kind == "csv":
        return next(line for line, _ in islice(read_csv(path), row + 1, None))
    return line_of_document(path, row) if kind == "json" else line_of_row(path, row)


def first_name(path: Path) -> str:
    """What a file calls its run, by its first line; nothing where it does not say or is broken."""
    try:
        with open_bytes(path) as stream:
            kind = _form(stream, "score")
            if kind == "text":
                return first_tag(stream)
            row = {} if kind == "json" else _first_row(path, stream, kind)
    except (InputError, OSError, ValueError, OverflowError):
        return ""  # Whoever reads the file will say what is wrong with it.
    column = pick_column(row, RUN_NAMES)
    return "" if column is None or row[column] is None else str(row[column])


def _first_row(path: Path, stream: BoundedFile, kind: Form) -> dict[str, Any]:
    """The first row of an opened file; of Parquet, the column that names the run alone."""
    if kind != "parquet":
        rows = json_rows(path, stream) if kind == "json lines" else document_rows(path, "score")
        return next((row for _, row in rows), {})
    names = set(RUN_NAMES)
    piece = next(
        record_batches(path, stream, lambda there: [n for n in there if n.lower() in names])
    )
    return next(iter(piece.slice(0, 1).to_pylist()), {})

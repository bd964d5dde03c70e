"""One file, in whatever form, becomes one run or the judgments; the file is opened once.

A defect that would make results wrong is an error that names file, line and remedy; an
oddity that does not is counted in the run.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from steadyrank.data.interop.objects import as_qrels
from steadyrank.data.interop.tables import (
    DOCUMENT_NAMES,
    RUN_NAMES,
    TOPIC_NAMES,
    VALUE_NAMES,
    Rows,
    What,
    pick_column,
    plain_column,
    rows_of_table,
)
from steadyrank.data.order import qrels_in_order
from steadyrank.data.qrels import Qrels, build_qrels
from steadyrank.data.read import datasets
from steadyrank.data.read.json_files import json_rows, read_nested
from steadyrank.data.read.sources import Kind, PathLike, base_name, kind_of, open_bytes
from steadyrank.data.read.streams import BoundedFile
from steadyrank.data.read.tables import (
    csv_table,
    json_table,
    names_documents,
    parquet_table,
    read_csv,
    record_batches,
)
from steadyrank.data.read.trec import Lines, first_tag, read_lines, read_opening
from steadyrank.data.run import (
    Duplicates,
    RepeatedDocument,
    Run,
    build_run,
    check_duplicates,
    oddity_warning,
)
from steadyrank.errors import FormatError, InputError, unknown_name, warn

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


def load_run(path: Path, reading: Reading, into: Lines | None = None, digest: Any = None) -> Run:
    """Read one run without warnings; its oddities stay counted in the run."""
    with open_bytes(path, digest) as stream:
        rows = _rows(path, stream, "score", into)
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
        raise _with_lines(error, path, rows) from None


def load_qrels(path: Path) -> Qrels:
    """Read judgments without warnings; their oddities stay counted."""
    with open_bytes(path) as stream:
        rows = _rows(path, stream, "relevance")
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
        raise _with_lines(error, path, rows) from None


def _form(stream: BoundedFile, value: str) -> Form:
    kind = kind_of(stream)
    # The kernel reads three columns with a header, and much faster.
    if kind != "text" or read_opening(stream, is_run=value == "score").header:
        return kind
    return "csv" if names_documents(stream) else kind


def _rows(path: Path, stream: BoundedFile, value: What, into: Lines | None = None) -> Rows:
    kind = _form(stream, value)
    if kind == "text":
        return read_lines(path, stream, is_run=value == "score", into=into).columns(path)
    if kind == "json":
        return read_nested(path, stream, value)
    if kind == "csv":
        return rows_of_table(csv_table(path, stream), value)
    if kind == "json lines":
        return rows_of_table(json_table(path, stream), value)
    known = {*TOPIC_NAMES, *DOCUMENT_NAMES, *RUN_NAMES, *VALUE_NAMES[value], "score", "rank"}

    def choose(present: list[str]) -> list[str]:
        return [name for name in present if plain_column(name) in known]

    return rows_of_table(parquet_table(path, stream, choose), value)


def _with_lines(error: RepeatedDocument, path: Path, rows: Rows) -> FormatError:
    if rows.line_of is None:
        return FormatError(path, f"{error.what}: {error.remedy}")
    first, second = map(rows.line_of, error.rows)
    return FormatError(path, f"{error.what} (first on line {first}): {error.remedy}", second)


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
    if kind == "json lines":
        return next((row for _, row in json_rows(path, stream)), {})
    if kind == "csv":
        rows = [[cell.strip() for cell in cells] for _, cells in islice(read_csv(path), 2)]
        return dict(zip(*rows, strict=True)) if len(rows) == 2 else {}
    names = set(RUN_NAMES)
    piece = next(
        record_batches(path, stream, lambda there: [n for n in there if n.lower() in names])
    )
    return next(iter(piece.slice(0, 1).to_pylist()), {})


def read_qrels(path: PathLike) -> Qrels:
    """Read judgments.

    Parameters
    ----------
    path : path
        TREC text, three columns with or without BEIR's header, CSV with a header such as
        `query_id,doc_id,relevance`, JSON `{topic: {document: grade}}`, JSON lines or Parquet,
        packed or not; NTCIR's grades `L0`, `L1`, … are numbers; or `irds:` and an id of ir_datasets
        (extra `steadyrank[ir]`).

    Returns
    -------
    Qrels
        The judgments.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import steadyrank as sr
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "qrels.txt"
    >>> _ = file.write_text("301 0 d1 1\\n301 0 d2 0\\n")
    >>> sr.read_qrels(file)
    <Qrels: 1 topics, 2 judgments>
    """
    if datasets.is_dataset(path):
        return datasets.load_qrels(str(path))
    qrels = load_qrels(Path(path))
    for what, count in qrels.oddities.items():
        warn(f"{path}: {oddity_warning(what, count)}", stacklevel=3)
    return qrels


def judgments_of(source: Any) -> Qrels:
    """The judgments in a file, or in whatever `as_qrels` takes, with topics in order."""
    is_file = isinstance(source, (str, os.PathLike))
    if is_file and Path(source).is_dir():
        raise InputError(
            f"{source}: expected a file of judgments, got a folder: are runs and judgments swapped?"
        )
    return qrels_in_order(read_qrels(source) if is_file else as_qrels(source))

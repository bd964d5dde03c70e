"""Scores in files: long or wide CSV, and Parquet with where they come from."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from steadyrank.compute.files import whole_file, write_whole
from steadyrank.data.frames import pick_column
from steadyrank.data.scores import RepeatedCell, Scores, join_scores, scores_from_cells
from steadyrank.data.sources import PathLike, is_parquet, open_bytes
from steadyrank.errors import FormatError, InputError, unknown_name

DEFAULT_MEASURE = "score"
"""The name of a wide file's only measure where nobody gives one."""

_LONG_COLUMNS = {
    "measure": ("measure", "metric"),
    "run": ("run", "name", "system"),
    "topic": ("topic", "qid", "query_id", "q_id"),
    "value": ("value", "score"),
}
_MISSING = {"", "nan", "na", "null", "none"}
_METADATA = b"steadyrank"


def read_scores(
    source: PathLike | Mapping[str, PathLike],
    *,
    measure: str | None = None,
    runs_in_rows: bool = False,
) -> Scores:
    """Read scores that another tool, or steadyrank itself, has written.

    A file is long (columns measure, run, topic, value; PyTerrier's name, qid,
    measure, value), as CSV or Parquet, plain or gzip; or wide CSV: topics down,
    runs across (`runs_in_rows` when it is the other way round), one measure, named
    by `measure`. Several wide files make a cube: `{"AP": "ap.csv", "RR": "rr.csv"}`.
    Names of measures are labels here, taken as they are. Empty or nan is missing.
    """
    if isinstance(source, Mapping):
        if not source:
            raise InputError("no score files were named")
        return join_scores(
            *(_read_file(Path(path), str(name), runs_in_rows) for name, path in source.items())
        )
    return _read_file(Path(source), measure, runs_in_rows)


def _read_file(path: Path, measure: str | None, runs_in_rows: bool) -> Scores:
    if is_parquet(path):
        return _read_parquet(path)
    with open_bytes(path) as stream:
        text = io.TextIOWrapper(stream, "utf-8-sig", "surrogateescape", newline="")
        first = text.readline()
        delimiter = next((d for d in ",\t;" if d in first), ",")
        header = next(csv.reader([first], delimiter=delimiter), [])
        rows = csv.reader(text, delimiter=delimiter)
        try:
            columns = _long_columns(header)
            if columns is not None:
                return _read_long(path, columns, rows)
            return _read_wide(path, header, rows, measure or DEFAULT_MEASURE, runs_in_rows)
        except csv.Error as error:
            raise FormatError(path, f"not CSV: {error}", rows.line_num + 1) from None


def _long_columns(header: list[str]) -> dict[str, int] | None:
    """Which column holds what, or None where the header is not a long file's."""
    found = {role: pick_column(header, names) for role, names in _LONG_COLUMNS.items()}
    if any(column is None for column in found.values()):
        return None
    return {role: header.index(str(column)) for role, column in found.items()}


def _read_long(path: Path, columns: dict[str, int], rows: Any) -> Scores:
    cells: dict[str, list[Any]] = {role: [] for role in columns}
    lines = []
    width = max(columns.values()) + 1
    for line, fields in _numbered(rows):
        if len(fields) < width:
            raise FormatError(path, f"expected {width} columns, got {len(fields)}", line)
        for role, column in columns.items():
            value = fields[column]
            cells[role].append(_number(path, value, line) if role == "value" else value)
        lines.append(line)
    if not lines:
        raise FormatError(path, "empty: no scores")
    try:
        return scores_from_cells(
            cells["measure"], cells["run"], cells["topic"], cells["value"], meta=_from(path)
        )
    except RepeatedCell as error:
        raise FormatError(path, str(error), lines[error.row]) from None


def _read_wide(
    path: Path, header: list[str], rows: Any, measure: str, runs_in_rows: bool
) -> Scores:
    across = tuple(name.strip() for name in header[1:])
    if not across:
        what = "topics" if runs_in_rows else "runs"
        raise FormatError(path, f"expected a header of {what}, got {header}", 1)
    down, values = [], []
    for line, fields in _numbered(rows):
        if len(fields) != len(header):
            raise FormatError(path, f"expected {len(header)} columns, got {len(fields)}", line)
        down.append(fields[0])
        values.append([_number(path, text, line) for text in fields[1:]])
    if not down:
        raise FormatError(path, "empty: a header but no scores")
    matrix = np.array(values)
    runs, topics = (tuple(down), across) if runs_in_rows else (across, tuple(down))
    try:
        return Scores(
            measures=(measure,), runs=runs, topics=topics,
            values=(matrix if runs_in_rows else matrix.T)[np.newaxis], meta=_from(path),
        )  # fmt: skip
    except InputError as error:
        raise FormatError(path, str(error)) from None


def _numbered(rows: Any) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not blank, with their line in the file (the header is line 1)."""
    for fields in rows:
        if fields and fields != [""]:
            yield rows.line_num + 1, fields


def _number(path: Path, text: str, line: int) -> float:
    text = text.strip()
    try:
        value = float(text) if "_" not in text else None
    except ValueError:
        value = np.nan if text.lower() in _MISSING else None
    if value is None or np.isinf(value):
        raise FormatError(path, f"expected a score, got {text[:40]!r}", line)
    return value


def _from(path: Path) -> dict[str, Any]:
    return {"source": str(path)}


def _read_parquet(path: Path) -> Scores:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except pa.ArrowException as error:
        reason = str(error).splitlines()[0]
        raise FormatError(path, f"broken Parquet data ({reason}): write it again") from None
    columns = _long_columns(table.column_names)
    if columns is None:
        expected = ", ".join(names[0] for names in _LONG_COLUMNS.values())
        raise FormatError(path, f"expected columns {expected}, got {', '.join(table.column_names)}")
    cells = {role: table.column(column).to_pylist() for role, column in columns.items()}
    values = [np.nan if value is None else value for value in cells["value"]]
    if not all(isinstance(value, (int, float)) for value in values):
        raise FormatError(
            path, f"expected numbers in column {table.column_names[columns['value']]}"
        )
    own = json.loads((table.schema.metadata or {}).get(_METADATA, b"{}"))
    try:
        scores = scores_from_cells(
            cells["measure"], cells["run"], cells["topic"], values,
            meta=own.get("meta", _from(path)),
        )  # fmt: skip
    except RepeatedCell as error:
        raise FormatError(path, str(error), error.row + 1) from None
    return scores.with_run_info(**own.get("run_info", {}))


def write_scores(scores: Scores, path: PathLike, *, wide: bool = False) -> None:
    """Write scores whole or not at all: Parquet if the name ends so, else CSV.

    `wide` writes one measure with topics down and runs across. Parquet keeps what is
    known about the runs, and the version, settings and hashes of the files behind it.
    """
    path = Path(path)
    if path.suffix == ".parquet":
        _write_parquet(scores, path)
    elif path.suffix in (".csv", ".txt", ""):
        write_whole(path, wide_csv(scores) if wide else long_csv(scores))
    else:
        raise unknown_name("kind of score file", path.suffix, [".csv", ".parquet"])


def long_csv(scores: Scores) -> str:
    """One line a cell: measure,run,topic,value; numbers in full, missing ones empty."""
    cells = (
        (measure, run, topic, _text(value))
        for measure, matrix in zip(scores.measures, scores.values, strict=True)
        for run, row in zip(scores.runs, matrix.tolist(), strict=True)
        for topic, value in zip(scores.topics, row, strict=True)
    )
    return _csv_text(["measure", "run", "topic", "value"], cells)


def wide_csv(scores: Scores) -> str:
    """One measure: a line a topic, a column a run."""
    if len(scores.measures) != 1:
        raise InputError(
            f"a wide file holds one measure, not {', '.join(scores.measures)}: "
            "choose one, or write the long form"
        )
    rows = (
        (topic, *map(_text, column))
        for topic, column in zip(scores.topics, scores.values[0].T.tolist(), strict=True)
    )
    return _csv_text(["topic", *scores.runs], rows)


def _csv_text(header: list[str], rows: Iterable[Iterable[str]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def _text(value: float) -> str:
    return "" if value != value else repr(value)


def _write_parquet(scores: Scores, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    own = {"meta": {**scores.meta, "sha256": _hashes(scores.meta)}, "run_info": scores.run_info}
    frame = scores.to_frame()
    table = pa.table(
        {
            "measure": pa.array(frame["measure"]).dictionary_encode(),
            "run": pa.array(frame["run"]).dictionary_encode(),
            "topic": pa.array(frame["topic"]).dictionary_encode(),
            "value": pa.array(scores.values.ravel()),
        }
    )
    table = table.replace_schema_metadata({_METADATA: json.dumps(own).encode()})
    with whole_file(path) as temporary:
        pq.write_table(table, temporary)


def _hashes(meta: Mapping[str, Any]) -> dict[str, str]:
    """SHA-256 of the files that the scores were computed from, where they still are."""
    names = [meta.get("qrels"), *meta.get("files", {}).values()]
    found = {}
    for name in dict.fromkeys(names):
        if name is not None and Path(name).is_file():
            with open(name, "rb") as stream:
                found[name] = hashlib.file_digest(stream, "sha256").hexdigest()
    return found

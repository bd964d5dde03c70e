"""Scores in files: long or wide CSV, and Parquet with where they come from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from steadyrank.compute.files import whole_file, write_whole
from steadyrank.data.csv_cells import armed, as_written, csv_cell, csv_line, read_csv
from steadyrank.data.frames import coded_names, column_numbers, pick_column, read_parquet
from steadyrank.data.scores import (
    AXES,
    RepeatedCell,
    Scores,
    join_scores,
    scores_from_cells,
    scores_from_codes,
)
from steadyrank.data.sources import PathLike, is_parquet
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

Numbered = list[tuple[int, list[str]]]
"""Rows of a file, each with the number of its line."""


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
    (_, header), *rows = read_csv(path)
    columns = _long_columns(path, header)
    if columns is not None:
        return _read_long(path, columns, rows)
    return _read_wide(path, header, rows, measure or DEFAULT_MEASURE, runs_in_rows)


def _long_columns(path: Path, header: list[str]) -> dict[str, int] | None:
    """Which column holds what, or None where the header is not a long file's."""
    found = {role: pick_column(header, names) for role, names in _LONG_COLUMNS.items()}
    if any(column is None for column in found.values()):
        return None
    for column in found.values():
        if sum(name.lower() == str(column).lower() for name in header) > 1:
            raise FormatError(path, f"two columns are named {column!r}: rename one", 1)
    return {role: header.index(str(column)) for role, column in found.items()}


def _read_long(path: Path, columns: dict[str, int], rows: Numbered) -> Scores:
    width = max(columns.values()) + 1
    for line, fields in rows:
        if len(fields) < width:
            raise FormatError(path, f"expected {width} columns, got {len(fields)}", line)
    if not rows:
        raise FormatError(path, "empty: no scores")
    names = [[fields[columns[axis]] for _, fields in rows] for axis in AXES]
    for axis, column in zip(AXES, names, strict=True):
        if "" in column:
            line = rows[column.index("")][0]
            raise FormatError(path, f"expected the name of a {axis}, got none", line)
    place = columns["value"]
    values = [_number(path, fields[place], line) for line, fields in rows]
    measures, runs, topics = _as_meant(names)
    try:
        return scores_from_cells(measures, runs, topics, values, meta=_from(path))
    except RepeatedCell as error:
        raise FormatError(path, str(error), rows[error.row][0]) from None


def _as_meant(columns: list[list[str]]) -> list[list[str]]:
    """Columns of names, without the apostrophes that keep some from being formulas."""
    distinct = [set(column) for column in columns]
    if as_written(distinct) or not any(name[0] == "'" for names in distinct for name in names):
        return columns
    return [[armed(name) for name in column] for column in columns]


def _read_wide(
    path: Path, header: list[str], rows: Numbered, measure: str, runs_in_rows: bool
) -> Scores:
    across = [name.strip(" \t") for name in header[1:]]
    if not across:
        what = "topics" if runs_in_rows else "runs"
        got = f"{', '.join(header)[:200]!r}"
        raise FormatError(path, f"expected a header of {what}, got {got}", 1)
    if not all(across):
        column = across.index("") + 2
        raise FormatError(path, f"column {column} has no name: name it, or remove it", 1)
    for line, fields in rows:
        if len(fields) != len(header):
            raise FormatError(path, f"expected {len(header)} columns, got {len(fields)}", line)
        if not fields[0]:
            raise FormatError(path, "expected a name in the first column, got none", line)
    if not rows:
        raise FormatError(path, "empty: a header but no scores")
    down = [fields[0] for _, fields in rows]
    across, down = _as_meant([across, down])
    matrix = np.array([[_number(path, text, line) for text in row[1:]] for line, row in rows])
    runs, topics = (down, across) if runs_in_rows else (across, down)
    try:
        return Scores(
            measures=(measure,), runs=tuple(runs), topics=tuple(topics),
            values=(matrix if runs_in_rows else matrix.T)[np.newaxis], meta=_from(path),
        )  # fmt: skip
    except InputError as error:
        raise FormatError(path, str(error)) from None


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
    table = read_parquet(path)
    columns = _long_columns(path, table.column_names)
    if columns is None:
        expected = ", ".join(names[0] for names in _LONG_COLUMNS.values())
        got = ", ".join(table.column_names)[:200]
        raise FormatError(path, f"expected columns {expected}, got {got}")
    coded = [coded_names(path, table, columns[axis], axis) for axis in AXES]
    labels, codes = zip(*coded, strict=True)
    values = column_numbers(path, table, columns["value"])
    own = _own_metadata(path, table, len(labels[AXES.index("run")]))
    try:
        scores = scores_from_codes(labels, codes, values, meta=own.get("meta", _from(path)))
    except RepeatedCell as error:
        raise FormatError(path, str(error), error.row + 1) from None
    return scores.with_run_info(**own.get("run_info", {}))


def _own_metadata(path: Path, table: Any, n_runs: int) -> dict[str, Any]:
    """What `write_scores` has put beside the columns; nothing in other tools' files."""
    text = (table.schema.metadata or {}).get(_METADATA, b"{}")
    try:
        own = json.loads(text)
        info = own.get("run_info", {}).values()
        sound = isinstance(own.get("meta", {}), dict) and all(
            isinstance(column, list) and len(column) == n_runs for column in info
        )
    except (ValueError, RecursionError, AttributeError):
        sound = False
    if not sound:
        raise FormatError(path, "its steadyrank metadata are broken: write it again")
    return dict(own)


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
    measures, runs, topics = (list(map(csv_cell, names)) for names in scores.labels)
    lines = ["measure,run,topic,value\n"]
    for measure, matrix in zip(measures, scores.values, strict=True):
        for run, row in zip(runs, matrix.tolist(), strict=True):
            cells = zip(topics, row, strict=True)
            lines += [f"{measure},{run},{topic},{_text(value)}\n" for topic, value in cells]
    return "".join(lines)


def wide_csv(scores: Scores) -> str:
    """One measure: a line a topic, a column a run."""
    if len(scores.measures) != 1:
        raise InputError(
            f"a wide file holds one measure, not {', '.join(scores.measures)}: "
            "choose one, or write the long form"
        )
    columns = zip(scores.topics, scores.values[0].T.tolist(), strict=True)
    rows = (csv_line([topic, *map(_text, column)]) for topic, column in columns)
    return csv_line(["topic", *scores.runs]) + "".join(rows)


def _text(value: float) -> str:
    return "" if value != value else repr(value)


def _write_parquet(scores: Scores, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    own = {"meta": {**scores.meta, "sha256": _hashes(scores.meta)}, "run_info": scores.run_info}
    frame = scores.to_frame()
    try:
        names = {axis: pa.array(frame[axis]).dictionary_encode() for axis in AXES}
    except UnicodeEncodeError:
        raise InputError(
            f"{path}: Parquet holds names in UTF-8 alone, and one here is not: write CSV"
        ) from None
    table = pa.table({**names, "value": pa.array(scores.values.ravel())})
    table = table.replace_schema_metadata({_METADATA: json.dumps(own).encode()})
    with whole_file(path) as temporary:
        pq.write_table(table, temporary, write_page_checksum=True)


def _hashes(meta: Mapping[str, Any]) -> dict[str, str]:
    """SHA-256 of the files that the scores were computed from, where they still are."""
    names = [meta.get("qrels"), *meta.get("files", {}).values()]
    found = {}
    for name in dict.fromkeys(names):
        if name is not None and Path(name).is_file():
            with open(name, "rb") as stream:
                found[name] = hashlib.file_digest(stream, "sha256").hexdigest()
    return found

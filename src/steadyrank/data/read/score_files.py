"""Scores in files: long or wide CSV, and Parquet with where they come from."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from steadyrank.compute.files import whole_file, write_whole
from steadyrank.data.interop.frames import (
    coded_names,
    column_numbers,
    one_column,
    pick_column,
    read_parquet,
)
from steadyrank.data.provenance import with_hashes
from steadyrank.data.read.csv_cells import csv_cell, csv_line, read_csv
from steadyrank.data.read.score_json import (
    LONG_ROLES,
    is_log,
    read_json_line_scores,
    read_json_scores,
)
from steadyrank.data.read.score_lines import printed_by, read_printed
from steadyrank.data.read.score_matrices import Numbered, as_meant, come_from, number, read_matrix
from steadyrank.data.read.sources import PathLike, base_name, head_of, kind_of, open_bytes
from steadyrank.data.read.table_rules import tidy_scores
from steadyrank.data.scores import (
    AXES,
    CellError,
    Disagreement,
    Scores,
    join_scores,
    scores_from_cells,
    scores_from_codes,
)
from steadyrank.errors import FormatError, InputError, SteadyrankWarning, unknown_name
from steadyrank.visible import restored, reversible
from steadyrank.words import counted

DEFAULT_MEASURE = "score"
"""The name of a wide file's only measure where nobody gives one."""

_METADATA = b"steadyrank"
_INFO = {"run_info": "run", "topic_info": "topic"}
"""What is known about runs and topics, and along which axis it stands."""


def read_scores(
    source: PathLike | Sequence[PathLike] | Mapping[str, PathLike],
    *,
    measure: str | None = None,
    runs_in_rows: bool = False,
) -> Scores:
    """Read scores that another tool, or steadyrank itself, has written.

    Names of measures are labels here, taken as they are. Empty or nan is missing.

    Parameters
    ----------
    source : path, sequence or mapping of paths
        A file is long (columns measure, run, topic, value; PyTerrier's name, qid, measure, value),
        as CSV, Parquet or JSON lines; or wide CSV: topics down, runs across, one measure; or what a
        tool printed: `trec_eval -q`, `ir_measures --by_query`, pytrec_eval's dictionary as JSON,
        Elasticsearch's `_rank_eval`, samples of lm-eval-harness, logs of Inspect. Packed or not.
        Several wide files make a cube: `{"AP": "ap.csv", "RR": "rr.csv"}`; a list of files is
        joined (`join_scores`).
    measure : str, optional
        Names the measure of a wide file.
    runs_in_rows : bool
        Whether a wide file has runs down and topics across.

    Returns
    -------
    Scores
        One value per measure, run and topic; NaN where there is none.

    Notes
    -----
    The first column of a wide file names the topics. Where it holds scores instead, topics are
    numbered 1, 2, … with a warning; a heading such as `topic` says that it holds names.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import steadyrank as sr
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "ap.csv"
    >>> _ = file.write_text("topic,bm25,dense\\n301,0.3,0.4\\n302,0.1,0.2\\n")
    >>> sr.read_scores(file, measure="AP")
    <Scores: 1 measure × 2 runs × 2 topics>
    """
    if isinstance(source, (Mapping, list, tuple)) and not source:
        raise InputError("no score files were named")
    if isinstance(source, Mapping):
        return _joined(
            [_read_file(Path(path), str(name), runs_in_rows) for name, path in source.items()]
        )
    if isinstance(source, (list, tuple)):
        return _joined([_read_file(Path(path), measure, runs_in_rows) for path in source])
    return _read_file(Path(source), measure, runs_in_rows)  # type: ignore[arg-type]


def _joined(parts: Sequence[Scores]) -> Scores:
    """The scores of several files as one cube."""
    if len(parts) == 1:
        return parts[0]
    numbered = [part.meta.get("numbered") for part in parts]
    if any(numbered):
        _check_numbered(parts, numbered)
    parts = _named_apart(parts)
    try:
        return join_scores(*parts)
    except Disagreement as error:
        raise InputError(
            f"{error}: if the files hold different measures, give the measure of each"
        ) from None


def _named_apart(parts: Sequence[Scores]) -> Sequence[Scores]:
    """The parts, those of tools named by their files where runs of one name are not the same."""
    by_run: dict[str, list[int]] = {}
    for place, part in enumerate(parts):
        if "tool" in part.meta and len(part.runs) == 1:
            by_run.setdefault(part.runs[0], []).append(place)
    others = [places for places in by_run.values() if not _agree([parts[i] for i in places])]
    named = {i: base_name(Path(parts[i].meta["source"])) for places in others for i in places}
    if others:
        first = parts[others[0][0]].runs[0]
        warnings.warn(
            f"{counted(len(named), 'file')} hold different runs of the same name (first "
            f"{first!r}, of {named[others[0][0]]} and {named[others[0][1]]}): they are named "
            "by their files",
            SteadyrankWarning,
            stacklevel=4,
        )
    return [
        replace(part, runs=(named.get(i) or part.runs[0],)) if i in named else part
        for i, part in enumerate(parts)
    ]


def _agree(parts: Sequence[Scores]) -> bool:
    try:
        join_scores(*parts)
    except Disagreement:
        return False
    return True


def _check_numbered(parts: Sequence[Scores], numbered: Sequence[str | None]) -> None:
    """Refuse to match numbered topics, or runs, with others that have names or are more."""
    (what,) = {kind for kind in numbered if kind}
    sizes = [len(part.topics if what == "topics" else part.runs) for part in parts]
    if not all(numbered) or len(set(sizes)) > 1:
        raise InputError(
            f"the files cannot be joined, as some lack a column that names the {what}: add it "
            "to all of them"
        )


def _read_file(path: Path, measure: str | None, runs_in_rows: bool) -> Scores:
    return tidy_scores(str(path), _read_any(path, measure, runs_in_rows))


def _read_any(path: Path, measure: str | None, runs_in_rows: bool) -> Scores:
    with open_bytes(path) as stream:
        kind = kind_of(stream)
        if kind == "json" or is_log(head_of(stream)):
            return read_json_scores(path, stream, measure)
        if kind == "json lines":
            return read_json_line_scores(path, stream)
        tool = printed_by(stream) if kind == "text" else None
        if tool is not None:
            return read_printed(path, stream, tool)
    if kind == "parquet":
        return _read_parquet(path)
    (_, header), *rows = read_csv(path)
    header = [name.strip() for name in header]
    columns = _long_columns(path, header, lambda name: _column(rows, header.index(name)))
    if columns is not None:
        return _read_long(path, columns, rows)
    name = measure or DEFAULT_MEASURE
    return read_matrix(path, header, rows, measure=name, runs_in_rows=runs_in_rows)


def _long_columns(
    path: Path, header: list[str], cells: Callable[[str], Any]
) -> dict[str, int] | None:
    """Which column holds what, or None where the header is not a long file's."""
    if any(pick_column(header, names) is None for names in LONG_ROLES.values()):
        return None
    found = {role: one_column(path, header, names, cells, 1) for role, names in LONG_ROLES.items()}
    return {role: header.index(str(column)) for role, column in found.items()}


def _column(rows: Numbered, place: int) -> list[list[str]]:
    """The cells of a column; nothing where a row is too short."""
    return [fields[place : place + 1] for _, fields in rows]


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
            raise FormatError(path, f"expected the name of a {axis}, got an empty cell", line)
    place = columns["value"]
    values = [number(path, fields[place], line) for line, fields in rows]
    measures, runs, topics = as_meant(names)
    try:
        return scores_from_cells(measures, runs, topics, values, meta=come_from(path))
    except CellError as error:
        raise FormatError(path, str(error), rows[error.row][0]) from None


def _read_parquet(path: Path) -> Scores:
    table = read_parquet(path)
    columns = _long_columns(path, table.column_names, table.column)
    if columns is None:
        expected = ", ".join(names[0] for names in LONG_ROLES.values())
        got = ", ".join(table.column_names)[:200]
        raise FormatError(path, f"expected columns {expected}, got {got}")
    coded = [coded_names(path, table, columns[axis], axis) for axis in AXES]
    labels, codes = zip(*coded, strict=True)
    if _METADATA in (table.schema.metadata or {}):
        labels = tuple(tuple(map(restored, names)) for names in labels)
    values = column_numbers(path, table, columns["value"])
    own = _own_metadata(path, table, dict(zip(AXES, map(len, labels), strict=True)))
    try:
        scores = scores_from_codes(labels, codes, values, meta=own.get("meta", come_from(path)))
    except CellError as error:
        raise FormatError(path, str(error), error.row + 1) from None
    info = {key: own.get(key, {}) for key in _INFO}
    return replace(scores, **info)


def _own_metadata(path: Path, table: Any, sizes: Mapping[str, int]) -> dict[str, Any]:
    """What `write_scores` has put beside the columns; nothing in other tools' files."""
    text = (table.schema.metadata or {}).get(_METADATA, b"{}")
    try:
        own = json.loads(text)
        sound = isinstance(own.get("meta", {}), dict) and all(
            isinstance(column, list) and len(column) == sizes[axis]
            for key, axis in _INFO.items()
            for column in own.get(key, {}).values()
        )
    except (ValueError, RecursionError, AttributeError):
        sound = False
    if not sound:
        raise FormatError(path, "its steadyrank metadata are damaged: write the file again")
    return dict(own)


def write_scores(scores: Scores, path: PathLike, *, wide: bool = False) -> None:
    """Write scores whole or not at all: Parquet if the name ends so, else CSV.

    Parameters
    ----------
    scores : Scores
    path : path
        Parquet keeps what is known about runs and topics, and the version, settings and hashes of
        the files behind it.
    wide : bool
        Whether to write one measure with topics down and runs across.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import steadyrank as sr
    >>> scores = sr.Scores(measures=["AP"], runs=["a"], topics=["301"], values=[[[0.5]]])
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> sr.write_scores(scores, file)
    >>> file.read_text().splitlines()
    ['measure,run,topic,value', 'AP,a,301,0.5']
    """
    path = Path(path)
    if path.suffix == ".parquet":
        _write_parquet(scores, path)
    elif path.suffix in (".csv", ".txt", ""):
        write_whole(path, wide_csv(scores) if wide else long_csv(scores))
    else:
        raise unknown_name("kind of score file", path.suffix, [".csv", ".parquet"])


def long_csv(scores: Scores) -> str:
    """One line per cell: measure,run,topic,value; numbers in full, missing ones empty."""
    measures, runs, topics = (list(map(csv_cell, names)) for names in scores.labels)
    lines = ["measure,run,topic,value\n"]
    for measure, matrix in zip(measures, scores.values, strict=True):
        for run, row in zip(runs, matrix.tolist(), strict=True):
            cells = zip(topics, row, strict=True)
            lines += [f"{measure},{run},{topic},{_text(value)}\n" for topic, value in cells]
    return "".join(lines)


def wide_csv(scores: Scores) -> str:
    """One measure: one line per topic, one column per run."""
    if len(scores.measures) != 1:
        raise InputError(
            f"a wide file holds one measure, not {', '.join(scores.measures)}: choose one, or "
            "write the long format"
        )
    columns = zip(scores.topics, scores.values[0].T.tolist(), strict=True)
    rows = (csv_line([topic, *map(_text, column)]) for topic, column in columns)
    return csv_line(["topic", *scores.runs]) + "".join(rows)


def _text(value: float) -> str:
    return "" if value != value else repr(value)


def _write_parquet(scores: Scores, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    own: dict[str, Any] = {"meta": with_hashes(scores.meta)}
    own |= {key: getattr(scores, key) for key in _INFO}
    places = np.indices(scores.values.shape, dtype=np.int32).reshape(3, -1)
    names = {
        axis: pa.DictionaryArray.from_arrays(place, list(map(reversible, labels)))
        for axis, place, labels in zip(AXES, places, scores.labels, strict=True)
    }
    table = pa.table({**names, "value": pa.array(scores.values.ravel())})
    table = table.replace_schema_metadata({_METADATA: json.dumps(own).encode()})
    with whole_file(path) as temporary:
        pq.write_table(table, temporary, write_page_checksum=True)

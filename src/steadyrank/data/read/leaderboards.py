"""Leaderboards in files and frames: scores of runs on datasets, long or wide.

For anyone who has the table of a paper or of a public leaderboard: CSV, Parquet or a pandas frame.
A column that is itself an average of the others is left out, and what two rows say differently is
refused. Files of tools, such as MTEB's, are read by their forms.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from steadyrank.data.forms.form import Cell
from steadyrank.data.forms.reading import NO_NAME, leaderboard_from_cells, read_forms
from steadyrank.data.interop.tables import describe_type, pick_column, table_of
from steadyrank.data.leaderboard import Leaderboard, leaderboard_from_collections
from steadyrank.data.read.sources import PathLike, kind_of, open_bytes
from steadyrank.data.read.tables import check_widths, read_parquet_frame, read_texts, table_of_rows
from steadyrank.data.scores import Scores, join_scores, plain_value
from steadyrank.data.table_rules import (
    Numbered,
    is_average,
    is_summary,
    mean_runs,
    names_in_front,
    tell_of_scales,
    tell_of_spellings,
    tell_of_summaries,
)
from steadyrank.errors import FormatError, InputError, warn
from steadyrank.words import counted, some

RUN_COLUMNS = ("run", "model", "model_name", "system", "method", "name")
DATASET_COLUMNS = ("dataset", "task", "task_name", "collection", "benchmark")
VALUE_COLUMNS = ("value", "score", "main_score")
TYPE_COLUMNS = ("type", "task_type", "category")
TOPIC_COLUMNS = ("topic", "qid", "query_id", "q_id")

_MISSING = {"", "nan", "na", "n/a", "null", "none", "-", "–", "—"}


def read_leaderboard(
    source: Any, *, types: PathLike | Mapping[str, str] | None = None, measure: str | None = None
) -> Leaderboard:
    """Read scores of runs on datasets.

    Parameters
    ----------
    source : path, sequence of paths, frame, Leaderboard or mapping of Scores
        A file or frame is long (columns run or model, dataset or task, value or score, and where
        there are any type and topic) or wide (first column the runs, one column per dataset).
        Several files are joined. Files and folders of evaluation tools are read as well, such as a
        folder of MTEB results. A mapping gives the scores by topic of each collection.
    types : path or mapping, optional
        The type of each dataset: a CSV with columns dataset and type.
    measure : str, optional
        Which one of the scores of collections, where they have several.

    Returns
    -------
    Leaderboard
        One score per run and dataset, with types and scores by topic where they are known.

    Examples
    --------
    >>> import pandas as pd
    >>> import steadyrank as sr
    >>> sr.read_leaderboard(pd.DataFrame({"model": ["a", "b"], "x": [0.5, 0.4], "y": [0.3, 0.6]}))
    <Leaderboard: 2 runs × 2 datasets>
    """
    table = _read(source, measure)
    if not table.datasets or not table.runs:
        raise InputError("the table holds no scores")
    if types is not None:
        named = types if isinstance(types, Mapping) else read_types(types)
        table = table.with_types({str(name): str(kind) for name, kind in named.items()})
    table = _without_empty(table)
    where = source if isinstance(source, (str, os.PathLike)) else "the leaderboard"
    for way in set(table.directions.values()):  # only these are averaged
        same = [k for k, name in enumerate(table.datasets) if table.directions[name] == way]
        same_names = [table.datasets[k] for k in same]
        tell_of_scales(where, "dataset", same_names, table.values.T[same])
    for kind, names in (("run", table.runs), ("dataset", table.datasets)):
        tell_of_spellings(where, kind, names)
    return table


def _read(source: Any, measure: str | None) -> Leaderboard:
    if isinstance(source, Leaderboard):
        return source
    if isinstance(source, Mapping):
        if not all(isinstance(scores, Scores) for scores in source.values()):
            raise InputError("expected a mapping from the name of each collection to its Scores")
        return leaderboard_from_collections(source, measure=measure)
    if (frame := _as_frame(source)) is not None:
        return _from_frame(frame)
    if isinstance(source, (list, tuple)):
        if not source:
            raise InputError("no table was named")
        parts = [_read(one, measure) for one in source]
        return parts[0] if len(parts) == 1 else _joined(parts)
    if not isinstance(source, (str, os.PathLike)):
        raise InputError(
            f"expected a file, a pandas, polars or pyarrow table, a Leaderboard or a mapping of "
            f"Scores; got {describe_type(source)}"
        )
    path = Path(source)
    if (found := read_forms([path], measure=measure, by_dataset=True)) is not None:
        return found.leaderboard
    if path.is_dir():
        raise InputError(f"{path}: no MTEB results: expected model/revision/task.json")
    with open_bytes(path) as stream:
        kind = kind_of(stream)
    if kind == "parquet":
        return _from_frame(read_parquet_frame(path), str(path))
    return _from_rows(str(path), *read_texts(path))


def _as_frame(source: Any) -> Any:
    if hasattr(type(source), "itertuples"):
        return source
    table = table_of(source)
    if table is None:
        return None
    import pandas as pd

    columns = map(table.cells, range(len(table.header)))
    return pd.DataFrame(dict(zip(table.header, columns, strict=True)))


def _from_frame(frame: Any, where: str = "the frame") -> Leaderboard:
    """Read a frame; the names in its index become its first columns."""
    import pandas as pd

    if not isinstance(frame.index, pd.RangeIndex):
        if list(frame.index.names) == [None]:
            named = pick_column(map(str, frame.columns), RUN_COLUMNS[:3]) is not None
            frame = frame.rename_axis(index="" if named else "run")
        frame = frame.reset_index()
    header = [str(name) for name in frame.columns]
    cells = frame.astype(object).where(frame.notna(), "")
    rows = [
        [repr(float(x)) if isinstance(x, (float, np.floating)) else str(x) for x in row]
        for row in cells.itertuples(index=False, name=None)
    ]
    return _from_rows(where, header, list(enumerate(rows, start=1)))


def _from_rows(where: str, header: Sequence[str], rows: Numbered) -> Leaderboard:
    names = [name.strip() for name in header]
    check_widths(where, names, rows)
    if not rows:
        raise FormatError(where, "empty: no scores")
    long = [pick_column(names, known) for known in (RUN_COLUMNS, DATASET_COLUMNS, VALUE_COLUMNS)]
    table = (_from_wide if None in long else _from_long)(where, names, rows)
    means = mean_runs(table.runs, table.values)
    if not means:
        return table
    tell_of_summaries(where, "run", [table.runs[i] for i in means])
    return table.take(runs=[i for i in range(len(table.runs)) if i not in means])


def _from_long(where: str, header: list[str], rows: Numbered) -> Leaderboard:
    table = table_of_rows(where, header, rows)
    places = [
        table.find(known)
        for known in (RUN_COLUMNS, DATASET_COLUMNS, TYPE_COLUMNS, TOPIC_COLUMNS, VALUE_COLUMNS)
    ]
    cells: dict[tuple[str, str, str], Cell] = {}
    kinds: dict[str, str] = {}
    texts: dict[str, list[str]] = {}
    for line, row in rows:
        run, dataset, kind, topic, text = (
            "" if place is None else row[place].strip() for place in places
        )
        if not run or not dataset:
            what = "dataset" if run else "run"
            raise FormatError(where, f"expected the name of a {what}, got an empty cell", line)
        if (known := kinds.setdefault(dataset, kind)) != kind:
            message = f"dataset {dataset!r} has two types, {known!r} and {kind!r}: keep one"
            raise FormatError(where, message, line)
        value, key = _number(where, text, line), (run, dataset, topic)
        before = cells.setdefault(key, Cell(NO_NAME, run, topic, value, line, dataset))
        if before.value != value and not (np.isnan(before.value) and np.isnan(value)):
            message = f"a second value for {' / '.join(filter(None, key))}: keep one"
            raise FormatError(where, message, line)
        texts.setdefault(dataset, []).append(text)
    _check_percent(where, list(texts.values()))
    odd = [
        dataset if is_average(dataset) else topic
        for _, dataset, topic in cells
        if is_average(dataset) or is_summary(topic)
    ]
    tell_of_summaries(where, "row", odd)
    if len(odd) == len(cells):
        raise FormatError(where, "holds only summaries: give the scores of single datasets")
    if repeated := len(rows) - len(cells):
        warn(f"{where}: {counted(repeated, 'row repeats', 'rows repeat')} an earlier one")
    kept = [c for c in cells.values() if not (is_average(c.dataset) or is_summary(c.topic))]
    return leaderboard_from_cells(where, kept, {}, kinds)


def _from_wide(where: str, header: list[str], rows: Numbered) -> Leaderboard:
    """Runs down and datasets across; the other way round where the first heading says so."""
    if len(header) < 2:
        raise FormatError(
            where, "expected a column of runs and columns of datasets, got a single column", 1
        )
    runs, datasets = (
        [
            k
            for k, name in enumerate(header)
            if name.lower() in known
            and (k == 0 or any(plain_value(row[k].strip()) is None for _, row in rows))
        ]
        for known in (RUN_COLUMNS[:3], DATASET_COLUMNS[:3])
    )
    naming = datasets if 0 in datasets else runs or datasets
    header, rows = names_in_front(where, header, rows, naming)
    transposed = header[0].lower() in DATASET_COLUMNS
    down = [row[0].strip() for _, row in rows]
    if "" in down:
        line = rows[down.index("")][0]
        raise FormatError(where, "expected a name in the first column, got an empty cell", line)
    averages = [name for name in (down if transposed else header[1:]) if is_average(name)]
    tell_of_summaries(where, "dataset", averages)
    columns = [k for k in range(1, len(header)) if transposed or header[k] not in averages]
    if transposed:
        rows = [row for row, name in zip(rows, down, strict=True) if name not in averages]
        down = [name for name in down if name not in averages]
    cells = [[row[k] for k in columns] for _, row in rows]
    _check_percent(where, cells if transposed else list(zip(*cells, strict=True)))
    values = np.array(
        [[_number(where, row[k], line, header[k]) for k in columns] for line, row in rows]
    ).reshape(len(rows), len(columns))
    across = [header[k] for k in columns]
    try:
        if transposed:
            return Leaderboard(runs=tuple(across), datasets=tuple(down), values=values.T)
        return Leaderboard(runs=tuple(down), datasets=tuple(across), values=values)
    except InputError as error:
        raise FormatError(where, error.args[0]) from None


def _number(where: str, text: str, line: int, column: str = "") -> float:
    bare, in_column = text.strip(), f" in column {column!r}" if column else ""
    if bare.lower() in _MISSING:
        return float("nan")
    value = plain_value(bare.removesuffix("%"))
    if value is None or np.isnan(value):
        raise FormatError(where, f"expected a score{in_column}, got {bare[:40]!r}", line)
    return value


def _check_percent(where: str, columns: Sequence[Sequence[str]]) -> None:
    """Refuse a sign for per cent where other numbers are fractions: 5% is not 5."""
    signed = next((text for column in columns for text in column if "%" in text), "").strip()
    for texts in columns if signed else []:
        column = [text.strip() for text in texts]
        plain = [plain_value(t) for t in column if t.lower() not in _MISSING and t[-1] != "%"]
        numbers = [number for number in plain if number]
        if numbers and max(map(abs, numbers)) <= 1:
            message = f"{signed!r} is in the same column as fractions such as {numbers[0]:g}"
            raise FormatError(where, f"{message}: write all scores on one scale")


def read_types(path: PathLike) -> dict[str, str]:
    """Datasets and their types, from a CSV with columns dataset (or task) and type."""
    where = Path(path)
    table = table_of_rows(where, *read_texts(where))
    columns = [table.cells(table.need(known)) for known in (DATASET_COLUMNS, TYPE_COLUMNS)]
    types: dict[str, str] = {}
    for row, (name, kind) in enumerate(zip(*columns, strict=True)):
        if types.setdefault(name, kind) != kind:
            raise table.error(row, f"dataset {name!r} has a second type: keep one")
    return types


def _joined(parts: Sequence[Leaderboard]) -> Leaderboard:
    cubes = [
        Scores(
            measures=("score",),
            runs=part.runs,
            topics=part.datasets,
            values=part.values[np.newaxis],
            topic_info={"type": part.types} if part.types else {},
        )
        for part in parts
    ]
    joined = join_scores(*cubes)
    return Leaderboard(
        runs=joined.runs,
        datasets=joined.topics,
        values=joined.values[0],
        types=joined.topic_info.get("type", ()),
        directions={name: way for part in parts for name, way in part.directions.items()},
    )


def _without_empty(table: Leaderboard) -> Leaderboard:
    present = ~np.isnan(table.values)
    rows, columns = present.any(axis=1), present.any(axis=0)
    if not rows.any():
        raise InputError("the table holds no scores")
    for kept, names, what in ((rows, table.runs, "run"), (columns, table.datasets, "dataset")):
        empty = [name for name, has in zip(names, kept, strict=True) if not has]
        if empty:
            warn(f"omitted for lack of any score: {what}{'s' * (len(empty) > 1)} {some(empty)}")
    if rows.all() and columns.all():
        return table
    return table.take(runs=np.flatnonzero(rows).tolist(), datasets=np.flatnonzero(columns).tolist())

"""Leaderboards in files and frames: scores of runs on datasets, long or wide.

For anyone who has the table of a paper or of a public leaderboard: CSV, Parquet or a pandas frame.
A column that is itself an average of the others is left out, and what two rows say differently is
refused.

Or a folder of MTEB results as it is: model/revision/task.json. A score of a task is the mean of its
subsets' main scores on one split; only subsets that every model of a task has are taken, unless
some are named, as a mean over whatever is there would compare different things.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from steadyrank.data.forms.form import Source
from steadyrank.data.interop.tables import describe_type, pick_column, table_of
from steadyrank.data.leaderboard import Leaderboard, leaderboard_from_collections
from steadyrank.data.order import places_by_name
from steadyrank.data.read.csv_files import check_widths, place_of, read_texts
from steadyrank.data.read.json_files import describe, value_of
from steadyrank.data.read.limits import BOM
from steadyrank.data.read.parquet import read_parquet_frame
from steadyrank.data.read.sources import PathLike, kind_of, open_bytes
from steadyrank.data.scores import Scores, mean_of_present, plain_value
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


class _Cell(NamedTuple):
    """One row of a long table; type and topic are empty where the table has none."""

    line: int
    run: str
    dataset: str
    type: str
    topic: str
    text: str
    """The value as it is written."""


def read_leaderboard(
    source: Any,
    *,
    types: PathLike | Mapping[str, str] | None = None,
    measure: str | None = None,
    subsets: Sequence[str] = (),
) -> Leaderboard:
    """Read scores of runs on datasets.

    Parameters
    ----------
    source : path, sequence of paths, frame, Leaderboard or mapping of Scores
        A file or frame is long (columns run or model, dataset or task, value or score, and where
        there are any type and topic) or wide (first column the runs, one column per dataset).
        Several files are joined. A folder is read as a folder of MTEB results. A mapping gives the
        scores by topic of each collection.
    types : path or mapping, optional
        The type of each dataset: a CSV with columns dataset and type.
    measure : str, optional
        Which one of the scores of collections, where they have several.
    subsets : sequence of str
        Of a folder of MTEB results, the subsets of a task that count [default: those that every
        model has].

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
    table = _read(source, measure=measure, subsets=subsets)
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


def _read(source: Any, *, measure: str | None, subsets: Sequence[str]) -> Leaderboard:
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
        parts = [_read(one, measure=measure, subsets=subsets) for one in source]
        return parts[0] if len(parts) == 1 else _joined(parts)
    if not isinstance(source, (str, os.PathLike)):
        raise InputError(
            f"expected a file, a pandas, polars or pyarrow table, a Leaderboard or a mapping of "
            f"Scores; got {describe_type(source)}"
        )
    path = Path(source)
    if path.is_dir():
        return read_mteb_results(path, subsets=subsets)
    with open_bytes(path) as stream:
        kind = kind_of(stream)
    if kind == "parquet":
        return _from_frame(read_parquet_frame(path), str(path))
    return _from_rows(str(path), *read_texts(path))


def _as_frame(source: Any) -> Any:
    """A table of pandas, polars or pyarrow as a pandas frame; None for other objects."""
    if hasattr(type(source), "itertuples"):
        return source
    table = table_of(source)
    if table is None:
        return None
    import pandas as pd

    return pd.DataFrame({name: table.column(name).to_pylist() for name in table.columns})


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
    rows = [[_as_text(value) for value in row] for row in cells.itertuples(index=False, name=None)]
    return _from_rows(where, header, list(enumerate(rows, start=1)))


def _as_text(value: Any) -> str:
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)


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
    places = [
        place_of(where, header, known, rows)
        for known in (RUN_COLUMNS, DATASET_COLUMNS, TYPE_COLUMNS, TOPIC_COLUMNS, VALUE_COLUMNS)
    ]
    cells = [
        _Cell(line, *("" if place is None else row[place].strip() for place in places))
        for line, row in rows
    ]
    texts: dict[str, list[str]] = {}
    for cell in cells:
        for what, name in (("run", cell.run), ("dataset", cell.dataset)):
            if not name:
                message = f"expected the name of a {what}, got an empty cell"
                raise FormatError(where, message, cell.line)
        _number(where, cell.text, cell.line)
        texts.setdefault(cell.dataset, []).append(cell.text)
    _check_percent(where, list(texts.values()))
    averages = {name for name in texts if is_average(name)}
    averages |= {name for name in {cell.topic for cell in cells} if is_summary(name)}
    odd = [cell for cell in cells if not averages.isdisjoint((cell.dataset, cell.topic))]
    tell_of_summaries(where, "row", [c.dataset if c.dataset in averages else c.topic for c in odd])
    if len(odd) == len(cells):
        raise FormatError(where, "holds only summaries: give the scores of single datasets")
    kept = [cell for cell in cells if averages.isdisjoint((cell.dataset, cell.topic))]
    return _from_cells(where, kept, with_topics=places[3] is not None)


def _from_cells(where: str, cells: Sequence[_Cell], *, with_topics: bool) -> Leaderboard:
    kinds = _types_of(where, cells)
    runs = {name: i for i, name in enumerate(dict.fromkeys(cell.run for cell in cells))}
    topics = _topic_places(cells)
    scores = {name: np.full((len(runs), len(known)), np.nan) for name, known in topics.items()}
    seen: set[tuple[str, str, str]] = set()
    for cell in cells:
        place = runs[cell.run], topics[cell.dataset][cell.topic]
        value, before = _number(where, cell.text, cell.line), scores[cell.dataset][place]
        name = (cell.run, cell.dataset, cell.topic)
        if name in seen and before != value and not (np.isnan(before) and np.isnan(value)):
            message = f"a second value for {' / '.join(filter(None, name))}: keep one"
            raise FormatError(where, message, cell.line)
        seen.add(name)
        scores[cell.dataset][place] = value
    if repeated := len(cells) - len(seen):
        warn(f"{where}: {counted(repeated, 'row repeats', 'rows repeat')} an earlier one")
    return Leaderboard(
        runs=tuple(runs),
        datasets=tuple(scores),
        values=np.stack([mean_of_present(table) for table in scores.values()], axis=1),
        types=tuple(kinds[name] for name in scores) if any(kinds.values()) else (),
        topic_scores=scores if with_topics else {},
    )


def _topic_places(cells: Sequence[_Cell]) -> dict[str, dict[str, int]]:
    """Return the place of each topic by dataset, in the order of their names."""
    names: dict[str, dict[str, None]] = {}
    for cell in cells:
        names.setdefault(cell.dataset, {})[cell.topic] = None
    return {
        dataset: dict(zip(known, places_by_name(list(known)).tolist(), strict=True))
        for dataset, known in names.items()
    }


def _types_of(where: str, cells: Sequence[_Cell]) -> dict[str, str]:
    kinds: dict[str, str] = {}
    for cell in cells:
        if (known := kinds.setdefault(cell.dataset, cell.type)) != cell.type:
            message = f"dataset {cell.dataset!r} has two types, {known!r} and {cell.type!r}"
            raise FormatError(where, f"{message}: keep one", cell.line)
    return kinds


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
    """A score; NaN where the cell is empty or says that there is none."""
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
    header, rows = read_texts(where)
    names = [name.strip() for name in header]
    dataset, kind = (place_of(where, names, k, rows) for k in (DATASET_COLUMNS, TYPE_COLUMNS))
    if dataset is None or kind is None:
        got = ", ".join(names)[:200]
        raise FormatError(where, f"expected columns 'dataset' and 'type', got {got!r}", 1)
    check_widths(where, names, rows)
    types: dict[str, str] = {}
    for line, fields in rows:
        name = fields[dataset].strip()
        if types.setdefault(name, fields[kind].strip()) != fields[kind].strip():
            raise FormatError(where, f"dataset {name!r} has a second type: keep one", line)
    return types


def _joined(parts: Sequence[Leaderboard]) -> Leaderboard:
    runs = tuple(dict.fromkeys(run for part in parts for run in part.runs))
    datasets = tuple(dict.fromkeys(name for part in parts for name in part.datasets))
    values = np.full((len(runs), len(datasets)), np.nan)
    kinds: dict[str, str] = {}
    for part in parts:
        place = np.ix_(
            [runs.index(run) for run in part.runs], [datasets.index(name) for name in part.datasets]
        )
        there = values[place]
        clash = ~np.isnan(there) & ~np.isnan(part.values) & (there != part.values)
        if clash.any():
            run, dataset = np.argwhere(clash)[0]
            raise InputError(
                f"the tables disagree about {part.runs[run]} / {part.datasets[dataset]}"
            )
        values[place] = np.where(np.isnan(part.values), there, part.values)
        kinds |= dict(zip(part.datasets, part.types, strict=False))
    types = tuple(kinds.get(name, "") for name in datasets) if kinds else ()
    return Leaderboard(runs=runs, datasets=datasets, values=values, types=types)


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


SPLITS = ("test", "dev", "validation", "train")
"""Order of preference among the splits of a task that most models have."""

LAST_REVISIONS = ("external", "no_revision_available")
"""Scores that were reported elsewhere count only where no revision was run."""

_META = "model_meta.json"

_BROKEN = (
    *(ValueError, LookupError, TypeError, AttributeError),
    *(StopIteration, RecursionError, OverflowError),
)
"""What Python raises for JSON of another shape, or with a whole number that no float holds."""

Subsets = Mapping[str, float]
"""Name of a subset to its main score."""

Splits = Mapping[str, Subsets]
"""Name of a split to the scores of its subsets."""


def read_mteb_results(folder: Path, *, subsets: Sequence[str] = ()) -> Leaderboard:
    """One row per model, one column per task; main scores of the test split.

    The revision with the most tasks comes first; the others add the tasks that it
    lacks, and scores reported elsewhere ("external") come last.
    """
    # A clone of the results' repository has them in the folder `results`.
    inside = folder / "results" if (folder / "results").is_dir() else folder
    models = {path.name.replace("__", "/"): _tasks_of(path) for path in sorted(_folders(inside))}
    models = {name: tasks for name, tasks in models.items() if tasks}
    if not models:
        raise InputError(f"{folder}: no MTEB results: expected model/revision/task.json")
    tasks = sorted({task for scored in models.values() for task in scored})
    columns = {task: _column(task, _on_one_split(task, models), subsets) for task in tasks}
    named = [task for task in tasks if columns[task] is not None]
    if not named:
        raise InputError(f"{folder}: no task has a subset {' or '.join(subsets)}")
    if len(named) < len(tasks):
        lacking = [task for task in tasks if columns[task] is None]
        warn(
            f"{folder}: omitted for lack of the subsets that are used: {some(lacking)}",
            stacklevel=5,
        )
    values = np.array([[(columns[task] or {}).get(m, np.nan) for task in named] for m in models])
    return Leaderboard(runs=tuple(models), datasets=tuple(named), values=values)


def _folders(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")]


def _on_one_split(task: str, models: Mapping[str, Mapping[str, Splits]]) -> dict[str, Subsets]:
    """Model to the scores of one split, that most models have; who lacks it lacks the task."""
    # A file without any score is no reason to take the task from other models.
    scored = {
        model: {split: subsets for split, subsets in tasks[task].items() if subsets}
        for model, tasks in models.items()
        if task in tasks
    }
    numbers = Counter(split for splits in scored.values() for split in splits)
    if not numbers:
        return {}
    places = {name: place for place, name in enumerate(SPLITS)}
    chosen = min(numbers, key=lambda name: (-numbers[name], places.get(name, len(SPLITS)), name))
    others = [model for model, splits in scored.items() if splits and chosen not in splits]
    if others:
        lacking = counted(len(others), "model lacks", "models lack")
        warn(
            f"{task}: {lacking} the split {chosen!r}, and therefore the task: {some(others)}",
            stacklevel=5,
        )
    return {model: splits[chosen] for model, splits in scored.items() if chosen in splits}


def _tasks_of(model: Path) -> dict[str, Splits]:
    """The scores of a model by task, revisions in the order in which they count."""
    revisions = {path: sorted(path.glob("*.json")) for path in _folders(model)}
    order = sorted(
        revisions, key=lambda path: (path.name in LAST_REVISIONS, -len(revisions[path]), path.name)
    )
    tasks: dict[str, Splits] = {}
    for revision in order:
        for path in revisions[revision]:
            if path.name != _META and path.stem not in tasks:
                tasks[path.stem] = _splits_of(path)
    return tasks


def _splits_of(path: Path) -> Splits:
    with open_bytes(path) as stream:
        content = value_of(path, stream.read().removeprefix(BOM))
    try:
        splits: dict[str, Any] = content["scores"]
        source = Source(path)
        scored = {
            split: [
                (str(entry.get("hf_subset", "default")), _main_score(source, entry))
                for entry in entries
                if entry.get("main_score") is not None
            ]
            for split, entries in splits.items()
        }
        next(iter(scored))
        task = content.get("task_name", path.stem)
    except _BROKEN:
        raise FormatError(path, "not an MTEB result: expected scores with a main_score") from None
    if task != path.stem:
        raise FormatError(
            path, f"the file is named after another task than its task_name, {task!r}: rename it"
        )
    return {split: _distinct(path, subsets) for split, subsets in scored.items()}


def _main_score(source: Source, entry: Mapping[str, Any]) -> float:
    value = entry["main_score"]
    if isinstance(value, (bool, str)):
        raise source.error(f"expected a score as main_score, got {describe(value)}")
    return source.number(value, None, "main_score")


def _distinct(path: Path, scored: Sequence[tuple[str, float]]) -> Subsets:
    """The scores by their subsets, of which each has one; NaN is none, as null is."""
    subsets = dict(scored)
    if len(subsets) < len(scored):
        twice = Counter(name for name, _ in scored).most_common(1)[0][0]
        raise FormatError(path, f"two scores of subset {twice!r}: keep one")
    return {name: score for name, score in subsets.items() if not math.isnan(score)}


def _column(
    task: str, scored: Mapping[str, Subsets], named: Sequence[str]
) -> dict[str, float] | None:
    """Model to score on one task; None if it lacks the subsets that count."""
    if not scored:
        return None
    kinds = {frozenset(subsets) for subsets in scored.values()}
    shared = frozenset.intersection(*kinds)
    if named:
        shared = frozenset().union(*kinds) & set(named)
    elif len(kinds) > 1 and shared:
        warn(
            f"{task}: models have different subsets; only those that all models have are used: "
            f"{some(sorted(shared))}",
            stacklevel=5,
        )
    if not shared:
        return None
    complete = {model: s for model, s in scored.items() if shared <= set(s)}
    if len(complete) < len(scored):
        lacking = counted(len(scored) - len(complete), "model lacks", "models lack")
        warn(f"{task}: {lacking} a subset that is used, and therefore the task", stacklevel=5)
    return {
        model: float(np.mean([subsets[name] for name in sorted(shared)]))
        for model, subsets in complete.items()
    }

"""Reading runs and judgments, whatever form they come in.

A defect that would make results wrong is an error that names file, line and
remedy; an oddity that does not is counted and told in one warning.
"""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from steadyrank.compute.executors import Progress, map_in_order, workers
from steadyrank.data.ids import Ids
from steadyrank.data.interop import datasets
from steadyrank.data.interop.frames import read_columns
from steadyrank.data.qrels import ContradictingJudgments, Qrels, build_qrels, contradiction_message
from steadyrank.data.read.run_info import read_run_info
from steadyrank.data.read.sources import (
    PathLike,
    base_name,
    find_files,
    is_json_lines,
    is_parquet,
    line_of_row,
)
from steadyrank.data.read.trec import ODDITY_ADVICE, Table, read_table, spare_table
from steadyrank.data.run import (
    DuplicateDocument,
    Duplicates,
    Run,
    build_run,
    check_duplicates,
    duplicate_message,
)
from steadyrank.errors import FormatError, InputError, SteadyrankWarning, unknown_name

MEMORY = "<memory>"
"""Stands for the file of a run that was not read from one."""

NameFrom = Literal["tag", "file"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How run files are to be read; one value that tasks can carry to other processes."""

    name_from: NameFrom = "tag"
    duplicates: Duplicates = "error"

    def __post_init__(self) -> None:
        if self.name_from not in ("tag", "file"):
            raise unknown_name("source of run names", self.name_from, ["tag", "file"])
        check_duplicates(self.duplicates)


def read_run(
    path: PathLike, *, name_from: NameFrom = "tag", duplicates: Duplicates = "error"
) -> Run:
    """Read one run: TREC text (plain or gzip), Parquet or JSON lines.

    The run's name is its tag column, or with `name_from="file"` the file's name
    without `.gz`. A document that stands twice in a topic is an error, unless
    `duplicates` says to keep the "first" line or the "best" score.
    """
    run = load_run(Path(path), RunOptions(name_from=name_from, duplicates=duplicates))
    warn_oddities([run])
    return run


def read_runs(
    paths: PathLike | Iterable[PathLike],
    *,
    name_from: NameFrom = "tag",
    duplicates: Duplicates = "error",
    run_info: PathLike | None = None,
    team_from: str | None = None,
    system_from: str | None = None,
    jobs: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> list[Run]:
    """Read several runs in parallel: file names, globs, folders, or a mix of them.

    `run_info` is a CSV file about the runs; `team_from` and `system_from` are
    regular expressions whose first group, searched in a run's name, is its team
    or system.
    """
    options = RunOptions(name_from=name_from, duplicates=duplicates)
    files = find_files(paths)
    with workers(jobs=jobs, executor=executor) as pool:
        runs = map_in_order(partial(load_run, options=options), files, pool, progress=progress)
    check_names([run.name for run in runs], files)
    warn_oddities(runs)
    info = describe_runs(
        [run.name for run in runs], run_info=run_info, team_from=team_from, system_from=system_from
    )
    return [replace(run, info=info[run.name]) for run in runs]


def read_qrels(path: PathLike) -> Qrels:
    """Read judgments: TREC text (plain or gzip), Parquet, JSON lines, or `irds:` and an id
    of ir_datasets (extra `steadyrank[ir]`).
    """
    if datasets.is_dataset(path):
        return datasets.load_qrels(str(path))
    qrels = load_qrels(Path(path))
    for what, count in qrels.oddities.items():
        warnings.warn(f"{path}: {count} {what}", SteadyrankWarning, stacklevel=2)
    return qrels


def load_run(path: Path, options: RunOptions, into: Table | None = None) -> Run:
    """Read one run without warnings; its oddities stay counted in the run.

    Its columns lie in `into` where that is given, to be used again afterwards.
    """
    try:
        if is_parquet(path) or is_json_lines(path):
            columns = read_columns(path, "score")
            name = columns.name if columns.name and options.name_from == "tag" else base_name(path)
            return build_run(
                name,
                columns.topics,
                np.arange(len(columns.topics)),
                columns.documents,
                columns.values,
                duplicates=options.duplicates,
                source=path,
            )
        table = read_table(path, is_run=True, into=into)
        return build_run(
            table.tag if options.name_from == "tag" else base_name(path),
            table.topics,
            np.array(table.first_rows),
            table.documents(),
            table.values[: table.n_rows],
            duplicates=options.duplicates,
            source=path,
            oddities=table.oddities,
        )
    except DuplicateDocument as error:
        where = f" (first on line {line_of_row(path, error.first)})"
        message = duplicate_message(error.topic, error.document, where)
        raise FormatError(path, message, line_of_row(path, error.second)) from None


@contextlib.contextmanager
def opened_run(source: Run | Path, options: RunOptions) -> Iterator[Run]:
    """The run itself, or the one read from a file, whose columns last as long as the block."""
    if isinstance(source, Run):
        yield source
    else:
        with spare_table() as table:
            yield load_run(source, options, table)


def emptied(run: Run) -> Run:
    """The run's name and notes alone, so that thousands of runs do not stay in memory."""
    nothing = Ids(np.empty(0, np.uint8), np.zeros(1, np.int64), np.empty(0, np.uint64))
    return replace(
        run, topics=(), blocks=np.zeros(1, np.int64), documents=nothing, scores=np.empty(0)
    )


def load_qrels(path: Path) -> Qrels:
    """Read judgments without warnings; their oddities stay counted."""
    try:
        if is_parquet(path) or is_json_lines(path):
            columns = read_columns(path, "relevance")
            return build_qrels(
                columns.topics,
                np.arange(len(columns.topics)),
                columns.documents,
                columns.values,
                source=path,
            )
        table = read_table(path, is_run=False)
        return build_qrels(
            table.topics,
            np.array(table.first_rows),
            table.documents(),
            table.values[: table.n_rows],
            source=path,
            oddities=table.oddities,
        )
    except ContradictingJudgments as error:
        where = f" (first on line {line_of_row(path, error.first)})"
        message = contradiction_message(error.topic, error.document, where)
        raise FormatError(path, message, line_of_row(path, error.second)) from None


def check_names(names: Sequence[str], files: Sequence[Path]) -> None:
    """Two runs under one name would overwrite each other."""
    seen: dict[str, Path] = {}
    for name, file in zip(names, files, strict=True):
        if name in seen:
            remedy = (
                'name runs by their files with name_from="file"'
                if file.name != MEMORY
                else "rename one, or give runs as {name: run}"
            )
            raise InputError(f"{file}: the run is named {name!r}, as is {seen[name]}: {remedy}")
        seen[name] = file


def warn_oddities(runs: Sequence[Run]) -> None:
    """One warning per kind of oddity, counted over all runs."""
    kinds = dict.fromkeys(what for run in runs for what in run.oddities)
    for what in kinds:
        odd = [run for run in runs if what in run.oddities]
        count = sum(run.oddities[what] for run in odd)
        where = str(odd[0].source) if len(odd) == 1 else f"{len(odd)} runs, first {odd[0].source}"
        advice = f" ({ODDITY_ADVICE[what]})" if what in ODDITY_ADVICE else ""
        warnings.warn(f"{where}: {count} {what}{advice}", SteadyrankWarning, stacklevel=3)


def describe_runs(
    names: Sequence[str],
    *,
    run_info: PathLike | None = None,
    team_from: str | None = None,
    system_from: str | None = None,
) -> dict[str, Mapping[str, str]]:
    """What is known about each run, from a table or from its name."""
    info: dict[str, dict[str, str]] = {name: {} for name in names}
    for column, pattern in (("team", team_from), ("system", system_from)):
        if pattern is not None:
            for name in names:
                info[name][column] = first_group(pattern, name)
    if run_info is not None:
        for name, row in read_run_info(run_info, names).items():
            info[name].update(row)
    return dict(info)


def first_group(pattern: str, name: str) -> str:
    """The first group of a regular expression searched in a name; the name itself if none."""
    try:
        match = re.search(pattern, name)
    except (re.error, OverflowError, RecursionError) as error:
        raise InputError(f"{pattern!r} is not a regular expression: {error}") from None
    if match is None:
        return name
    if not match.groups():
        raise InputError(f"{pattern!r} has no group: put what names the team in parentheses")
    return match.group(1) or name

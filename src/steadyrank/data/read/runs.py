"""Runs come in here: files, globs, folders, `Run` objects, and what other tools call a run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict

from steadyrank.compute.executors import Progress
from steadyrank.data.interop.objects import single_runs
from steadyrank.data.read.run_files import NameFrom, Reading, load_run
from steadyrank.data.read.run_names import names_apart
from steadyrank.data.read.sources import PathLike, find_files
from steadyrank.data.run import Duplicates, Run
from steadyrank.data.runs import Runs, Source, warn_oddities
from steadyrank.errors import InputError


class ReadingOptions(TypedDict, total=False):
    """The keyword arguments of `read_runs` that studies hand on to it."""

    name_from: NameFrom | None
    duplicates: Duplicates | None
    run_info: PathLike | None
    team_from: str | None
    system_from: str | None


def read_run(
    path: PathLike, *, name_from: NameFrom = "tag", duplicates: Duplicates = "error"
) -> Run:
    """Read one run.

    Parameters
    ----------
    path : path
        TREC text, three columns, JSON `{topic: {document: score}}`, JSON lines or Parquet, packed
        (gzip, xz, bzip2, zstd) or not.
    name_from : str
        The run's name is its "tag" column, or the "file"'s name without `.gz`.
    duplicates : str
        A document that occurs twice in a topic is an "error", or the "first" line or the "best"
        score is kept.

    Returns
    -------
    Run
        The run, its documents ranked.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import steadyrank as sr
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "a.run"
    >>> _ = file.write_text("301 Q0 d1 1 0.5 mine\\n301 Q0 d2 2 0.7 mine\\n")
    >>> sr.read_run(file).ranking("301")
    [('d2', 0.7), ('d1', 0.5)]
    """
    run = load_run(Path(path), Reading(name_from=name_from, duplicates=duplicates))
    warn_oddities([run])
    return run


def read_runs(
    runs: Any,
    *,
    name_from: NameFrom | None = None,
    duplicates: Duplicates | None = None,
    run_info: PathLike | None = None,
    team_from: str | None = None,
    system_from: str | None = None,
    jobs: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Runs:
    """Say once how runs are to be read; they are read when they are needed.

    Every study takes the `Runs` that this returns. What a study is given in their place (a
    path, a list, a frame) it hands to this function, together with the arguments from
    `name_from` to `system_from`.

    Parameters
    ----------
    runs
        File names, globs, folders, `Run` objects, what `as_run` takes, or a list of them; a
        dictionary gives them names. A file that is named twice counts once. Of `Runs`, what is
        said here replaces what was said before.
    name_from
        "tag" (unless said otherwise) names a run by its tag column, "file" by its file's name
        without `.gz`. Files whose runs share a tag are named by their files, with a warning.
    duplicates
        A document that occurs twice in a topic is an "error" (unless said otherwise), or the
        "first" line or the "best" score is kept.
    run_info
        A CSV file about the runs: a column `run`, and any of `team`, `system` and factors.
    team_from, system_from
        Regular expressions whose first group, searched in a run's name, is its team or system.
    jobs, executor, progress
        Threads that read ahead while the runs are iterated over, what to use instead of them,
        and what to tell (finished, total). Studies have their own.

    Returns
    -------
    Runs
        Iterating over them reads each file once and yields `Run` objects.

    Examples
    --------
    >>> import steadyrank as sr
    >>> runs = sr.read_runs({"bm25_a": {"301": {"d1": 2.0}}}, team_from="^([^_]+)_")
    >>> runs
    <Runs: 1 to read>
    >>> [(run.name, run.info["team"]) for run in runs]
    [('bm25_a', 'bm25')]
    """
    said: ReadingOptions = {
        "name_from": name_from,
        "duplicates": duplicates,
        "run_info": run_info,
        "team_from": team_from,
        "system_from": system_from,
    }
    if isinstance(runs, Runs):
        reading = make_reading(said, runs.reading)
        if reading == runs.reading:
            return runs
        again = runs.reread(reading)
        return replace(again, sources=_named_apart(again.sources, reading))
    reading = make_reading(said)
    sources = _named_apart(tuple(_sources(runs, reading)), reading)
    if not sources:
        raise InputError("no runs to evaluate")
    return Runs(sources=sources, reading=reading, jobs=jobs, executor=executor, progress=progress)


def known_options(options: ReadingOptions) -> ReadingOptions:
    """The same; one that there is not is an unknown keyword of the function that was called."""
    for name in options.keys() - ReadingOptions.__annotations__.keys():
        raise TypeError(f"{_called()}() got an unexpected keyword argument {name!r}")
    return options


def _called() -> str:
    """The outermost of our functions that is at work: the one that the caller has called."""
    name, frame = "read_runs", sys._getframe(1)
    while frame.f_back is not None:
        if str(frame.f_globals.get("__name__")).startswith(f"{__package__.partition('.')[0]}."):
            name = frame.f_code.co_name
        frame = frame.f_back
    return name


def _named_apart(sources: tuple[Source, ...], reading: Reading) -> tuple[Source, ...]:
    """The sources, with names for those files whose runs share one."""
    paths = [source.given for source in sources if isinstance(source.given, Path)]
    names = names_apart(paths, by_tag=reading.name_from == "tag")
    return tuple(
        replace(source, name=names.get(source.given))
        if isinstance(source.given, Path) and names.get(source.given) != source.name
        else source
        for source in sources
    )


def make_reading(said: ReadingOptions, before: Reading | None = None) -> Reading:
    """How to read: what is said now, else what was said before."""
    changes: dict[str, Any] = {key: value for key, value in said.items() if value is not None}
    return replace(before or Reading(), **changes)


def _sources(runs: Any, reading: Reading) -> Iterator[Source]:
    files: set[Path] = set()
    for name, run in single_runs(runs):
        is_file = isinstance(run, (str, os.PathLike))
        if name is not None or not is_file:
            # Only files that were found are paths; a name for a file is refused when it is read.
            yield Source(given=os.fspath(run) if is_file else run, name=name, reading=reading)
            continue
        for path in find_files(run):
            if path not in files:
                files.add(path)
                yield Source(given=path, reading=reading)

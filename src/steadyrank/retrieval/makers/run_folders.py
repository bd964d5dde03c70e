"""Many runs, made by tasks that each make some: kept as files, scored, or both.

A folder of runs holds `settings.json`, which says what made it and refuses to be mixed,
`runs/NAME.run`, each whole or not there, and at the end `run-info.csv`. What is there is not
made again; the same goes for scores in a store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from steadyrank.compute.executors import Progress, is_elsewhere, shared
from steadyrank.compute.files import check_still_there, sweep, write_whole
from steadyrank.compute.stores import Store, open_store
from steadyrank.data.read.sources import PathLike
from steadyrank.data.run import Run
from steadyrank.data.write.csv import csv_line
from steadyrank.data.write.files import run_text
from steadyrank.errors import InputError

Info = Mapping[str, str]
"""What is known of a run: name of a column to its value."""

WINDOW = 64
"""Tasks that are with the workers at a time."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A folder that fills with runs."""

    root: Path

    def path(self, name: str) -> Path:
        """Where a run lies."""
        return self.root / "runs" / f"{name}.run"

    def lacks(self, name: str) -> bool:
        """Whether a run is still to be made."""
        return not self.path(name).exists()

    def save(self, name: str, content: bytes) -> None:
        """Keep a run, whole or not at all."""
        check_still_there(self.root / "runs")
        write_whole(self.path(name), content)

    def finish(self, runs: Sequence[str], info: Sequence[Info]) -> None:
        """Say what the runs are, once all are there."""
        columns = list(dict.fromkeys(key for row in info for key in row))
        rows = [
            [run, *(row.get(key, "") for key in columns)]
            for run, row in zip(runs, info, strict=True)
        ]
        check_still_there(self.root)
        write_whole(self.root / "run-info.csv", "".join(map(csv_line, [["run", *columns], *rows])))


def open_run_folder(folder: PathLike, settings: Mapping[str, Any]) -> RunFolder:
    """The folder of runs that these settings make; refused if others made it."""
    root = open_store(folder, settings).folder
    (root / "runs").mkdir(exist_ok=True)
    sweep(root / "runs")
    return RunFolder(root)


def check_run_names(names: Sequence[str]) -> None:
    """Refuse names that no file or TREC line can hold, or that two runs would share."""
    for name in names:
        if not name or name.split() != [name] or Path(name).name != name:
            raise InputError(f"a run cannot be named {name!r}: no blanks, and no slashes")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"two systems would be named {twice!r}: name each component once")


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Runs that are made together."""

    name: str
    """Under which a store keeps their scores."""
    runs: tuple[str, ...]
    what: Any
    """What the function that makes them must know."""
    write: frozenset[str] = frozenset()
    """The runs to write."""
    score: bool = False
    folder: RunFolder | None = None
    """Where the runs go; None if they are handed back as text."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Made:
    """What a task has made."""

    values: np.ndarray | None = None
    """[run, measure, topic]"""
    lacking: np.ndarray | None = None
    """[run]: judged topics without documents."""
    texts: dict[str, bytes] = field(default_factory=dict)

    def keep(self, task: Task, run: Run) -> None:
        """Write a run, here or, from another machine, there."""
        if not len(run):
            raise InputError(
                f"{run.name} retrieves nothing for any topic: no unit of the topics occurs in "
                "the collection"
            )
        if task.folder is None:
            self.texts[run.name] = run_text(run)
        else:
            task.folder.save(run.name, run_text(run))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Harvest:
    """The scores of all runs, empty if nobody asked, and how many runs were written now."""

    values: np.ndarray
    """[run, measure, topic]"""
    lacking: np.ndarray
    """[run]: judged topics without documents."""
    written: int


def make_runs(
    function: Callable[[Any, Task], Made],
    plan: Any,
    tasks: Sequence[Task],
    pool: Executor,
    *,
    folder: RunFolder | None = None,
    store: Store | None = None,
    score: bool = False,
    progress: Progress | None = None,
) -> Harvest:
    """Let `function(plan, task)` make all runs that are not there yet.

    `progress` is told of runs, those that were there included.
    """
    values: dict[str, np.ndarray] = {}
    lacking: dict[str, np.ndarray] = {}
    total, written = sum(len(task.runs) for task in tasks), 0

    def tell() -> None:
        if progress is not None:
            progress(total - sum(len(task.runs) for task in left.values()), total)

    left: dict[str, Task] = {}
    for task in tasks:
        kept = store.load(task.name) if score and store is not None else None
        if kept is not None:
            values[task.name], lacking[task.name] = kept["values"], kept["lacking"]
        write = frozenset(run for run in task.runs if folder is not None and folder.lacks(run))
        if write or (score and kept is None):
            target = None if is_elsewhere(pool) else folder
            scoring = score and kept is None
            left[task.name] = replace(task, write=write, score=scoring, folder=target)
    tell()
    for task, answer in finished_tasks(function, plan, list(left.values()), pool):
        for name, text in answer.texts.items():
            folder.save(name, text)  # type: ignore[union-attr]
        if answer.values is not None and answer.lacking is not None:
            values[task.name], lacking[task.name] = answer.values, answer.lacking
            if store is not None:
                store.save(task.name, {"values": answer.values, "lacking": answer.lacking})
        written += len(task.write)
        del left[task.name]
        tell()
    if not score:
        return Harvest(values=np.empty((0, 0, 0)), lacking=np.empty(0, int), written=written)
    return Harvest(
        values=np.concatenate([values[task.name] for task in tasks]),
        lacking=np.concatenate([lacking[task.name] for task in tasks]),
        written=written,
    )


def finished_tasks(
    function: Callable[[Any, Task], Made], plan: Any, tasks: Iterable[Task], pool: Executor
) -> Iterator[tuple[Task, Made]]:
    """(task, function(plan, task)) as they are done, a limited number at a time.

    Answers are handed on and let go, so that memory does not grow with the number of tasks.
    """
    there = shared(pool, plan)
    waiting: dict[Future[Made], Task] = {}
    try:
        for task in tasks:
            waiting[pool.submit(function, there, task)] = task
            if len(waiting) >= WINDOW:
                wait(waiting, return_when=FIRST_COMPLETED)
            for future in [future for future in waiting if future.done()]:
                yield waiting.pop(future), future.result()
        while waiting:
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                yield waiting.pop(future), future.result()
    finally:
        for future in waiting:
            future.cancel()

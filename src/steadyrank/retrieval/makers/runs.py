"""Studies that make runs: what their options, their work and their results have in common.

A maker lays out tasks that each make some runs, and says how. Here these are carried out:
written into a folder, scored without being written, or both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from steadyrank._version import __version__
from steadyrank.compute.executors import Machine, Progress, is_elsewhere, shared, workers
from steadyrank.compute.files import check_still_there, sweep, write_whole
from steadyrank.compute.stores import Store, open_store
from steadyrank.data.qrels import JudgedRun
from steadyrank.data.read.sources import PathLike
from steadyrank.data.run import Run
from steadyrank.data.scores import Scores
from steadyrank.data.write.csv import csv_line
from steadyrank.data.write.files import run_text
from steadyrank.errors import InputError, check_count
from steadyrank.measures.evaluate import Missing, NoRelevant, report_missing
from steadyrank.measures.names import Measure
from steadyrank.notebook import Framed, shown_by
from steadyrank.retrieval.engine.search import DEPTH, DocumentOrder, find_wanted
from steadyrank.retrieval.engine.search_kernels import Wanted
from steadyrank.retrieval.engine.word_counts import WordCounts
from steadyrank.retrieval.makers.inputs import (
    Evaluation,
    collection_topics,
    digest_of_counts,
    load_counts,
    load_judgments,
    make_evaluation,
)

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


MadeRun = tuple[str, Callable[[], Run], Callable[[], JudgedRun]]
"""A run's name, the run, and where judged documents stand in it, the latter two on demand."""


class MakingOptions(Machine, total=False):
    """What every maker of runs takes by name, beside judgments and folders."""

    depth: int
    cache: PathLike | None
    reading: Progress | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by()
class WrittenRuns(Framed):
    """Runs in a folder, and of what they were made."""

    depth: int
    n_documents: int
    n_topics: int
    folder: Path
    runs: tuple[str, ...]
    run_info: tuple[Info, ...]
    written: int
    """Runs that were made now; the others were there."""

    def rows(self) -> list[dict[str, str]]:
        """One dictionary a run, as run-info.csv has it."""
        return [{"run": run, **info} for run, info in zip(self.runs, self.run_info, strict=True)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Making:
    """A collection and its topics, the runs to make of them, by which tasks, and who does it."""

    depth: int
    counts: WordCounts
    topics: Mapping[str, str]
    make: Callable[[Any, Task], Made]
    """Makes the runs of a task by a plan."""
    plan: Callable[[Making, Evaluation | None], Any]
    """Makes the plan: all that the tasks depend on, and what judgments ask of them."""
    tasks: tuple[Task, ...]
    info: tuple[Info, ...]
    settings: Mapping[str, Any]
    """What every run depends on, as plain JSON values."""
    pool: Mapping[str, Any]
    """jobs, scheduler and executor."""
    progress: Progress | None

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of all runs."""
        return tuple(run for task in self.tasks for run in task.runs)


def lay_out_runs(
    corpus: Any,
    topics: PathLike | Mapping[str, str] | None,
    *,
    make: Callable[[Any, Task], Made],
    plan: Callable[[Making, Evaluation | None], Any],
    tasks: tuple[Task, ...],
    info: tuple[Info, ...],
    settings: Mapping[str, Any],
    depth: int = DEPTH,
    cache: PathLike | None = None,
    reading: Progress | None = None,
    progress: Progress | None = None,
    **pool: Any,
) -> Making:
    """Read a collection and its topics; `settings` are what the runs depend on beside them."""
    check_count("depth", depth)
    texts = collection_topics(corpus, topics)
    counts = load_counts(corpus, cache=cache, progress=reading)
    common = {"version": __version__, "depth": depth, "data": digest_of_counts(counts, texts)}
    return Making(
        depth=depth,
        counts=counts,
        topics=texts,
        make=make,
        plan=plan,
        tasks=tasks,
        info=info,
        settings={**settings, **common},
        progress=progress,
        pool=pool,
    )


def score_made_runs(
    making: Making,
    *,
    corpus: Any,
    qrels: Any,
    measures: str | Measure | Iterable[str | Measure],
    missing: Missing,
    no_relevant: NoRelevant,
    out: PathLike | None,
    store: PathLike | None,
    **meta: Any,
) -> Scores:
    """The scores of all runs by the judgments named, or by those that come with the collection."""
    evaluation = make_evaluation(
        load_judgments(corpus, qrels),
        measures,
        making.topics,
        missing=missing,
        no_relevant=no_relevant,
    )
    harvest = _carry_out(making, evaluation=evaluation, out=out, store=store)
    report_missing(
        zip(making.runs, harvest.lacking.tolist(), strict=True),
        len(evaluation.qrels.topics),
        missing,
        verbs=("run finds nothing for", "runs find nothing for"),
        remedy='choose missing="zero" or missing="skip", or remove these topics from the qrels',
    )
    columns = dict.fromkeys(key for row in making.info for key in row)
    return Scores(
        measures=tuple(map(str, evaluation.measures)),
        runs=making.runs,
        topics=evaluation.qrels.topics,
        values=harvest.values.transpose(1, 0, 2),
        run_info={key: tuple(row.get(key, "") for row in making.info) for key in columns},
        meta={
            "steadyrank": __version__,
            "settings": {"missing": missing, "no_relevant": no_relevant},
            **meta,
        },
    )


def write_runs(making: Making, out: PathLike) -> dict[str, Any]:
    """Write all runs; returns the fields of `WrittenRuns`."""
    harvest = _carry_out(making, out=out)
    return {
        "depth": making.depth,
        "n_documents": len(making.counts.documents),
        "n_topics": len(making.topics),
        "folder": Path(out),
        "runs": making.runs,
        "run_info": making.info,
        "written": harvest.written,
    }


def wanted_by(
    evaluation: Evaluation | None, topics: Iterable[str], order: DocumentOrder
) -> Wanted | None:
    """The documents that the judgments ask for."""
    if evaluation is None:
        return None
    only = evaluation.relevant_only
    return find_wanted(evaluation.qrels, list(topics), order, relevant_only=only)


def keep_and_score(task: Task, evaluation: Evaluation | None, runs: Iterable[MadeRun]) -> Made:
    """Write the runs that the task asks for, and score all of them if it asks for that."""
    made = Made()
    values, lacking = [], []
    for name, to_run, judge in runs:
        if name in task.write:
            made.keep(task, to_run())
        if task.score and evaluation is not None:
            judged = judge()
            values.append(evaluation.values(judged))
            lacking.append(int((judged.lengths < 0).sum()))
    if not task.score:
        return made
    return Made(values=np.array(values), lacking=np.array(lacking), texts=made.texts)


def _carry_out(
    making: Making,
    *,
    evaluation: Evaluation | None = None,
    out: PathLike | None = None,
    store: PathLike | None = None,
) -> Harvest:
    """Make the runs that are not there yet: write them to `out`, score them by `evaluation`."""
    plan = making.plan(making, evaluation)
    check_run_names(making.runs)
    with workers(**making.pool) as pool:
        folder = None if out is None else open_run_folder(out, making.settings)
        kept = None
        if store is not None and evaluation is not None:
            kept = open_store(store, {**making.settings, **evaluation.settings()})
        harvest = make_runs(
            making.make,
            plan,
            making.tasks,
            pool,
            folder=folder,
            store=kept,
            score=evaluation is not None,
            progress=making.progress,
        )
    if folder is not None:
        folder.finish(making.runs, making.info)
    return harvest

"""Studies that make runs: what their options, their work and their results have in common.

A maker lays out tasks that each make some runs, and says how. Here these are carried out:
written into a folder, scored without being written, or both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from steadyrank._version import __version__
from steadyrank.compute.executors import Machine, Progress, as_finished, is_elsewhere, workers
from steadyrank.compute.files import check_still_there, sweep, write_whole
from steadyrank.compute.stores import Store, open_store
from steadyrank.data.qrels import JudgedRun
from steadyrank.data.read.sources import PathLike
from steadyrank.data.run import Run
from steadyrank.data.scores import Scores
from steadyrank.data.write.csv import csv_line
from steadyrank.data.write.files import run_text
from steadyrank.errors import InputError, arg, check_count
from steadyrank.measures.evaluate import Missing, NoRelevant, report_missing
from steadyrank.measures.names import Measure
from steadyrank.notebook import Framed, shown_by
from steadyrank_lab.retrieval.engine.search import DEPTH, DocumentOrder, Wanted, find_wanted
from steadyrank_lab.retrieval.engine.word_counts import WordCounts
from steadyrank_lab.retrieval.makers.inputs import (
    Evaluation,
    collection_topics,
    digest_of_counts,
    load_counts,
    load_judgments,
    make_evaluation,
)

Info = Mapping[str, str]
"""What is known of a run: name of a column to its value."""


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

    scores: dict[str, np.ndarray] = field(default_factory=dict)
    """As a store keeps them: values [run, measure, topic], and lacking [run], the judged topics
    without documents."""
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
        remedy=f"choose {arg('missing', 'zero')} or {arg('missing', 'skip')}, or remove these "
        "topics from the qrels",
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
    if task.score:
        made.scores.update(values=np.array(values), lacking=np.array(lacking))
    return made


class Harvest(NamedTuple):
    """The scores of all runs, empty if nobody asked, and how many runs were written now."""

    values: np.ndarray
    """[run, measure, topic]"""
    lacking: np.ndarray
    """[run]: judged topics without documents."""
    written: int


def _carry_out(
    making: Making,
    *,
    evaluation: Evaluation | None = None,
    out: PathLike | None = None,
    store: PathLike | None = None,
) -> Harvest:
    """Make the runs that are not there yet: write them to `out`, score them by `evaluation`.

    Progress is told of runs, those that were there included.
    """
    plan = making.plan(making, evaluation)
    check_run_names(making.runs)
    with workers(**making.pool) as pool:
        folder = None if out is None else open_run_folder(out, making.settings)
        kept = None
        if store is not None and evaluation is not None:
            kept = open_store(store, {**making.settings, **evaluation.settings()})
        scores, left = _what_is_left(making.tasks, folder, kept, score=evaluation is not None)
        n_left, written = sum(len(task.runs) for task in left), 0
        _tell(making, n_left)
        # Runs that are made elsewhere come back as text.
        target = None if is_elsewhere(pool) else folder
        tasks = [replace(task, folder=target) for task in left]
        for task, made in as_finished(making.make, plan, tasks, pool):
            for name, text in made.texts.items():
                folder.save(name, text)  # type: ignore[union-attr]
            if made.scores:
                scores[task.name] = made.scores
                if kept is not None:
                    kept.save(task.name, made.scores)
            written += len(task.write)
            n_left -= len(task.runs)
            _tell(making, n_left)
    if folder is not None:
        folder.finish(making.runs, making.info)
    if evaluation is None:
        return Harvest(np.empty((0, 0, 0)), np.empty(0, int), written)
    values, lacking = (
        np.concatenate([scores[task.name][key] for task in making.tasks])
        for key in ("values", "lacking")
    )
    return Harvest(values, lacking, written)


def _what_is_left(
    tasks: Iterable[Task], folder: RunFolder | None, store: Store | None, *, score: bool
) -> tuple[dict[str, dict[str, np.ndarray]], list[Task]]:
    """The scores that a store has, and the tasks that still have runs to write or to score."""
    scores, left = {}, []
    for task in tasks:
        kept = None if store is None else store.load(task.name)
        if kept is not None:
            scores[task.name] = kept
        write = frozenset(run for run in task.runs if folder is not None and folder.lacks(run))
        if write or (score and kept is None):
            left.append(replace(task, write=write, score=score and kept is None))
    return scores, left


def _tell(making: Making, n_left: int) -> None:
    if making.progress is not None:
        making.progress(len(making.runs) - n_left, len(making.runs))

"""Studies that make runs: what their options, their work and their results have in common.

A maker lays out tasks that each make some runs, and a function that makes them. Here these are
carried out: written into a folder, scored without being written, or both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from steadyrank._version import __version__
from steadyrank.compute.executors import Machine, Progress, as_finished, is_elsewhere, workers
from steadyrank.compute.files import check_still_there, sweep, write_whole
from steadyrank.compute.stores import open_store
from steadyrank.data.qrels import JudgedRun
from steadyrank.data.read.sources import PathLike
from steadyrank.data.run import Run
from steadyrank.data.scores import Scores
from steadyrank.data.write import csv_line, run_text
from steadyrank.errors import InputError, arg, check_count
from steadyrank.measures.evaluate import Missing, NoRelevant, report_missing
from steadyrank.measures.names import Measure
from steadyrank.notebook import Framed, shown_by
from steadyrank_lab.retrieval.engine.search import (
    DEPTH,
    DocumentOrder,
    Wanted,
    find_wanted,
    order_documents,
)
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
"""What is known of a run: the value of each column."""


class RunFolder(NamedTuple):
    """A folder that fills with runs."""

    root: Path

    def path(self, name: str) -> Path:
        """Return where a run is kept."""
        return self.root / "runs" / f"{name}.run"

    def save(self, name: str, content: bytes) -> None:
        """Keep a run, whole or not at all."""
        check_still_there(self.root / "runs")
        write_whole(self.path(name), content)

    def finish(self, runs: Sequence[str], info: Sequence[Info]) -> None:
        """Write what is known of the runs, once all are there."""
        columns = _columns(info)
        rows = zip(runs, *columns.values(), strict=True)
        check_still_there(self.root)
        write_whole(self.root / "run-info.csv", "".join(map(csv_line, [["run", *columns], *rows])))


def _columns(info: Sequence[Info]) -> dict[str, tuple[str, ...]]:
    names = dict.fromkeys(key for row in info for key in row)
    return {name: tuple(row.get(name, "") for row in info) for name in names}


def open_run_folder(folder: PathLike, settings: Mapping[str, Any]) -> RunFolder:
    """Return the folder of runs that these settings make; it is refused if others made it."""
    root = open_store(folder, settings).folder
    (root / "runs").mkdir(exist_ok=True)
    sweep(root / "runs")
    return RunFolder(root)


def _check_names(names: Sequence[str]) -> None:
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
    """The name under which a store keeps their scores."""
    runs: tuple[str, ...]
    what: Any
    """What the function that makes them must know."""
    write: frozenset[str] = frozenset()
    """The runs to write."""
    score: bool = False
    folder: RunFolder | None = None
    """Where the runs go; None if they are handed back as text."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sources:
    """A collection, its topics, and the judgments to score by, if there are any."""

    counts: WordCounts
    topics: Mapping[str, str]
    depth: int
    order: DocumentOrder
    evaluation: Evaluation | None
    wanted: Wanted | None


class MadeRun(NamedTuple):
    """A run's name, and on demand the run, and where judged documents are in it."""

    name: str
    to_run: Callable[[], Run]
    judge: Callable[[], JudgedRun]


class _Plan(NamedTuple):
    """How the runs of a task are made: `make(sources, prepared, task)`."""

    make: Callable[[Sources, Any, Task], Iterator[MadeRun]]
    sources: Sources
    prepared: Any


class _Made(NamedTuple):
    """Scores as a store keeps them, and runs as text.

    Scores are `values`, [run, measure, topic], and `lacking`, the number of judged topics for which
    each run has no documents.
    """

    scores: dict[str, np.ndarray]
    texts: dict[str, bytes]


class MakingOptions(Machine, total=False):
    """What every maker of runs takes by name, in addition to judgments and folders."""

    depth: int
    cache: PathLike | None
    reading: Progress | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by()
class WrittenRuns(Framed):
    """Runs in a folder, and what they were made of."""

    depth: int
    n_documents: int
    n_topics: int
    folder: Path
    runs: tuple[str, ...]
    run_info: tuple[Info, ...]
    written: int
    """Number of runs that were made now; the others were there."""

    def rows(self) -> list[dict[str, str]]:
        """Return one dictionary per run, as run-info.csv has it."""
        return [{"run": run, **info} for run, info in zip(self.runs, self.run_info, strict=True)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Making:
    """A collection and its topics, and the runs to make of them."""

    depth: int
    counts: WordCounts
    topics: Mapping[str, str]
    make: Callable[[Sources, Any, Task], Iterator[MadeRun]]
    tasks: tuple[Task, ...]
    info: tuple[Info, ...]
    settings: Mapping[str, Any]
    """What every run depends on, as plain JSON values."""
    prepare: Callable[[Sources], Any]
    """Makes what all tasks use."""
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
    settings: Mapping[str, Any],
    depth: int = DEPTH,
    cache: PathLike | None = None,
    reading: Progress | None = None,
    progress: Progress | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    executor: Any = None,
    prepare: Callable[[Sources], Any] = lambda sources: None,
    **maker: Any,
) -> Making:
    """Read a collection and its topics; runs depend on them and on `settings`."""
    check_count("depth", depth)
    texts = collection_topics(corpus, topics)
    counts = load_counts(corpus, cache=cache, progress=reading)
    common = {"version": __version__, "depth": depth, "data": digest_of_counts(counts, texts)}
    return Making(
        depth=depth,
        counts=counts,
        topics=texts,
        settings={**settings, **common},
        prepare=prepare,
        progress=progress,
        pool={"jobs": jobs, "scheduler": scheduler, "executor": executor},
        **maker,
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
    """Return the scores of all runs by the judgments named, or by those of the collection."""
    evaluation = make_evaluation(
        load_judgments(corpus, qrels),
        measures,
        making.topics,
        missing=missing,
        no_relevant=no_relevant,
    )
    scores, _ = _carry_out(making, evaluation=evaluation, out=out, store=store)
    values, lacking = (np.concatenate([part[key] for part in scores]) for key in _COLUMNS)
    report_missing(
        zip(making.runs, lacking.tolist(), strict=True),
        len(evaluation.qrels.topics),
        missing,
        verbs=("run finds nothing for", "runs find nothing for"),
        remedy=f"choose {arg('missing', 'zero')} or {arg('missing', 'skip')}, or remove these "
        "topics from the qrels",
    )
    return Scores(
        measures=tuple(map(str, evaluation.measures)),
        runs=making.runs,
        topics=evaluation.qrels.topics,
        values=values.transpose(1, 0, 2),
        run_info=_columns(making.info),
        meta={
            "steadyrank": __version__,
            "settings": {"missing": missing, "no_relevant": no_relevant},
            **meta,
        },
    )


def write_runs(making: Making, out: PathLike) -> dict[str, Any]:
    """Write all runs; returns the fields of `WrittenRuns`."""
    _, written = _carry_out(making, out=out)
    return {
        "depth": making.depth,
        "n_documents": len(making.counts.documents),
        "n_topics": len(making.topics),
        "folder": Path(out),
        "runs": making.runs,
        "run_info": making.info,
        "written": written,
    }


_COLUMNS = ("values", "lacking")


def _make(plan: _Plan, task: Task) -> _Made:
    """Make the runs of a task: write those that it names, and score all if it says so."""
    evaluation = plan.sources.evaluation
    texts: dict[str, bytes] = {}
    values, lacking = [], []
    for name, to_run, judge in plan.make(plan.sources, plan.prepared, task):
        if name in task.write:
            run = to_run()
            if not len(run):
                raise InputError(
                    f"{name} retrieves nothing for any topic: no unit of the topics occurs in the "
                    "collection"
                )
            if task.folder is None:
                texts[name] = run_text(run)
            else:
                task.folder.save(name, run_text(run))
        if task.score and evaluation is not None:
            judged = judge()
            values.append(evaluation.values(judged))
            lacking.append(int((judged.lengths < 0).sum()))
    scores = dict(zip(_COLUMNS, (np.array(values), np.array(lacking)), strict=True))
    return _Made(scores if task.score else {}, texts)


def _carry_out(
    making: Making,
    *,
    evaluation: Evaluation | None = None,
    out: PathLike | None = None,
    store: PathLike | None = None,
) -> tuple[list[dict[str, np.ndarray]], int]:
    """Make the runs that are not there yet: write them to `out`, score them by `evaluation`.

    Returns each task's scores, if any, and the number of runs written. Progress counts runs,
    including those that were there.
    """
    _check_names(making.runs)
    order, wanted = order_documents(making.counts.documents), None
    if evaluation is not None:
        only = evaluation.relevant_only
        wanted = find_wanted(evaluation.qrels, list(making.topics), order, relevant_only=only)
    sources = Sources(
        counts=making.counts,
        topics=making.topics,
        depth=making.depth,
        order=order,
        evaluation=evaluation,
        wanted=wanted,
    )
    plan = _Plan(making.make, sources, making.prepare(sources))
    tell = making.progress or (lambda done, total: None)
    with workers(**making.pool) as pool:
        folder = None if out is None else open_run_folder(out, making.settings)
        kept = None
        if store is not None and evaluation is not None:
            kept = open_store(store, {**making.settings, **evaluation.settings()})
        scores, left = {}, []
        for task in making.tasks:
            known = None if kept is None else kept.load(task.name)
            if known is not None:
                scores[task.name] = known
            lacks = [run for run in task.runs if folder and not folder.path(run).exists()]
            is_unscored = evaluation is not None and known is None
            if lacks or is_unscored:
                # Runs that are made elsewhere come back as text.
                target = None if is_elsewhere(pool) else folder
                changed: Any = {"write": frozenset(lacks), "score": is_unscored, "folder": target}
                left.append(replace(task, **changed))
        n_left, written = sum(len(task.runs) for task in left), 0
        tell(len(making.runs) - n_left, len(making.runs))
        for task, made in as_finished(_make, plan, left, pool):
            for name, text in made.texts.items():
                folder.save(name, text)  # type: ignore[union-attr]
            if made.scores:
                scores[task.name] = made.scores
                if kept is not None:
                    kept.save(task.name, made.scores)
            written += len(task.write)
            n_left -= len(task.runs)
            tell(len(making.runs) - n_left, len(making.runs))
    if folder is not None:
        folder.finish(making.runs, making.info)
    return [scores[task.name] for task in making.tasks if task.name in scores], written

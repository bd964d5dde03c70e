"""Studies that make runs: what their options, their work and their results have in common.

A maker lays out tasks that each make some runs, and says how. Here these are carried out:
written into a folder, scored without being written, or both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from steadyrank._version import __version__
from steadyrank.compute.executors import Machine, Progress, workers
from steadyrank.compute.stores import open_store
from steadyrank.data.qrels import JudgedRun
from steadyrank.data.read.sources import PathLike
from steadyrank.data.run import Run
from steadyrank.data.scores import Scores
from steadyrank.errors import InputError, warn
from steadyrank.measures.names import Measure
from steadyrank.notebook import Framed, shown_by
from steadyrank.retrieval.engine.search import DEPTH, DocumentOrder, check_depth, find_wanted
from steadyrank.retrieval.engine.search_kernels import Wanted
from steadyrank.retrieval.engine.word_counts import WordCounts
from steadyrank.retrieval.makers.inputs import (
    Evaluation,
    Missing,
    NoRelevant,
    digest_of,
    load_counts,
    load_judgments,
    load_topics,
    make_evaluation,
)
from steadyrank.retrieval.makers.run_folders import (
    Harvest,
    Info,
    Made,
    Task,
    check_run_names,
    make_runs,
    open_run_folder,
)
from steadyrank.words import by_number, counted

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
class Study:
    """A collection and its topics, the runs to make of them, by which tasks, and who does it."""

    depth: int
    counts: WordCounts
    topics: Mapping[str, str]
    make: Callable[[Any, Task], Made]
    """Makes the runs of a task by a plan."""
    plan: Callable[[Study, Evaluation | None], Any]
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


def make_study(
    corpus: Any,
    topics: PathLike | Mapping[str, str] | None,
    *,
    make: Callable[[Any, Task], Made],
    plan: Callable[[Study, Evaluation | None], Any],
    tasks: tuple[Task, ...],
    info: tuple[Info, ...],
    settings: Mapping[str, Any],
    depth: int = DEPTH,
    cache: PathLike | None = None,
    reading: Progress | None = None,
    progress: Progress | None = None,
    **pool: Any,
) -> Study:
    """Read a collection and its topics; `settings` are what the runs depend on beside them."""
    check_depth(depth)
    texts = load_topics(corpus, topics)
    counts = load_counts(corpus, cache=cache, progress=reading)
    common = {"version": __version__, "depth": depth, "data": digest_of(counts, texts)}
    return Study(
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


def score_runs(
    study: Study,
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
        study.topics,
        missing=missing,
        no_relevant=no_relevant,
    )
    harvest = _carry_out(study, evaluation=evaluation, out=out, store=store)
    _warn_of_lacking_topics(study.runs, harvest.lacking, evaluation)
    columns = dict.fromkeys(key for row in study.info for key in row)
    return Scores(
        measures=tuple(map(str, evaluation.measures)),
        runs=study.runs,
        topics=evaluation.qrels.topics,
        values=harvest.values.transpose(1, 0, 2),
        run_info={key: tuple(row.get(key, "") for row in study.info) for key in columns},
        meta={
            "steadyrank": __version__,
            "settings": {"missing": missing, "no_relevant": no_relevant},
            **meta,
        },
    )


def write_runs(study: Study, out: PathLike) -> dict[str, Any]:
    """Write all runs; returns the fields of `WrittenRuns`."""
    harvest = _carry_out(study, out=out)
    return {
        "depth": study.depth,
        "n_documents": len(study.counts.documents),
        "n_topics": len(study.topics),
        "folder": Path(out),
        "runs": study.runs,
        "run_info": study.info,
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
    study: Study,
    *,
    evaluation: Evaluation | None = None,
    out: PathLike | None = None,
    store: PathLike | None = None,
) -> Harvest:
    """Make the runs that are not there yet: write them to `out`, score them by `evaluation`."""
    plan = study.plan(study, evaluation)
    check_run_names(study.runs)
    with workers(**study.pool) as pool:
        folder = None if out is None else open_run_folder(out, study.settings)
        kept = None
        if store is not None and evaluation is not None:
            kept = open_store(store, {**study.settings, **evaluation.settings()})
        harvest = make_runs(
            study.make,
            plan,
            study.tasks,
            pool,
            folder=folder,
            store=kept,
            score=evaluation is not None,
            progress=study.progress,
        )
    if folder is not None:
        folder.finish(study.runs, study.info)
    return harvest


def _warn_of_lacking_topics(
    runs: Sequence[str], lacking: np.ndarray, evaluation: Evaluation
) -> None:
    """Say which runs found nothing for a judged topic, or refuse, as `missing` says."""
    places = np.flatnonzero(lacking)
    if not len(places):
        return
    who = counted(len(places), "run finds", "runs find")
    first = f"{runs[places[0]]!r} lacks {lacking[places[0]]} of {len(evaluation.qrels.topics)}"
    if evaluation.missing == "error":
        raise InputError(
            f'{who} nothing for judged topics ({first}): choose missing="zero" or '
            'missing="skip", or remove these topics from the qrels'
        )
    zero = by_number(len(places), "it scores", "they score") + " 0 there"
    done = zero if evaluation.missing == "zero" else "these cells are omitted"
    message = f"{who} nothing for judged topics ({first}): {done}"
    warn(message, stacklevel=5)

"""Makers of runs: what their collections, their work and their results have in common.

A maker lays out tasks that each make some runs, and a function that makes them. Here these are
carried out: written into a folder, scored without being written, or both. A collection may be a
folder with `docs.jsonl`, `topics.tsv` and `qrels.txt`, so that naming the folder names all three.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from steadyrank._version import __version__
from steadyrank.compute.executors import Machine, Progress, as_finished, workers
from steadyrank.compute.files import check_still_there, sweep, write_whole
from steadyrank.compute.stores import open_store
from steadyrank.data.qrels import JudgedRun, Qrels
from steadyrank.data.read.datasets import is_dataset, read_topics
from steadyrank.data.read.run_files import judgments_of
from steadyrank.data.read.sources import PathLike, find_files
from steadyrank.data.run import Run
from steadyrank.data.scores import Scores
from steadyrank.data.write import run_text, write_info
from steadyrank.errors import InputError, arg, check_count
from steadyrank.measures.evaluate import (
    Missing,
    NoRelevant,
    check_treatment,
    report_missing,
    report_no_relevant,
)
from steadyrank.measures.names import Measure, parse_measures
from steadyrank.measures.scoring import Recipe, prepare, score_topics
from steadyrank.notebook import Framed, shown_by
from steadyrank.words import counted
from steadyrank_lab.retrieval.builtin.collection import builtin_qrels, builtin_topics, is_builtin
from steadyrank_lab.retrieval.engine.search import (
    DEPTH,
    DocumentOrder,
    Wanted,
    find_wanted,
    order_documents,
)
from steadyrank_lab.retrieval.engine.word_counts import WordCounts, count_words

Info = Mapping[str, str]
"""What is known of a run: the value of each column."""

_AT_HOME = {
    "documents": ("docs.jsonl",),
    "topics": ("topics.tsv", "topics.txt"),
    "judgments": ("qrels.txt", "qrels.tsv"),
}
_LACKING = {
    "topics": f"({arg('topics=')}): no file topics.tsv",
    "judgments": f"({arg('qrels=')}): no qrels.txt",
}


def _at_home(corpus: Any, what: str) -> Any:
    """Return a part of a collection whose name includes it: a folder, `irds:NAME` or `builtin`."""
    if is_dataset(corpus) or is_builtin(corpus):
        return corpus
    if not isinstance(corpus, (str, os.PathLike)):
        return None
    names = [name + suffix for name in _AT_HOME[what] for suffix in ("", ".gz")]
    return next((path for name in names if (path := Path(corpus) / name).is_file()), None)


def _named_or_at_home(source: Any, corpus: Any, what: str) -> Any:
    source = _at_home(corpus, what) if source is None else source
    if source is not None:
        return source
    if isinstance(corpus, (str, os.PathLike)) and not Path(corpus).is_dir():
        find_files(corpus)  # where nothing is, nothing comes with it: the name is what is wrong
    raise InputError(f"name the {what} {_LACKING[what]} is in the collection")


def load_counts(corpus: Any) -> WordCounts:
    """Return the word counts of a collection; `docs.jsonl` where a folder has one."""
    if isinstance(corpus, WordCounts):
        return corpus
    return count_words(_at_home(corpus, "documents") or corpus)


def collection_topics(corpus: Any, topics: PathLike | Mapping[str, str] | None) -> dict[str, str]:
    """Return the topics named, or those that come with the collection."""
    source = _named_or_at_home(topics, corpus, "topics")
    if isinstance(source, Mapping):
        texts = {str(name): text for name, text in source.items()}
    else:
        texts = builtin_topics(["title"]) if is_builtin(source) else read_topics(source)
    if not texts:
        raise InputError("there are no topics")
    return texts


def load_judgments(corpus: Any, qrels: Any) -> Qrels:
    """Return the judgments named, or those that come with the collection."""
    source = _named_or_at_home(qrels, corpus, "judgments")
    judged = builtin_qrels() if is_builtin(source) else judgments_of(source)
    if len(judged) == 0:
        raise InputError("the qrels hold no judgments")
    return judged


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evaluation:
    """Judgments and measures, made ready to score rankings without writing them."""

    qrels: Qrels
    measures: tuple[Measure, ...]
    recipes: list[Recipe]
    missing: Missing
    no_relevant: NoRelevant

    def values(self, judged: JudgedRun) -> np.ndarray:
        """Scores [measure, topic]."""
        return score_topics(
            judged,
            self.qrels,
            self.recipes,
            missing=0.0 if self.missing == "zero" else np.nan,
            no_relevant=0.0 if self.no_relevant == "zero" else np.nan,
        )


def _make_evaluation(
    qrels: Qrels,
    measures: str | Measure | Iterable[str | Measure],
    topics: Iterable[str],
    missing: Missing,
    no_relevant: NoRelevant,
) -> Evaluation:
    """Check that judgments and measures fit the topics, and make them ready."""
    check_treatment(missing, no_relevant)
    parsed = tuple(parse_measures(measures))
    names = set(topics)
    if not names & qrels.position.keys():
        raise InputError(
            f"none of the topics is in the qrels: do their ids match (topics: {min(names)!r}, "
            f"qrels: {qrels.topics[0]!r})?"
        )
    recipes = [prepare(measure, qrels.max_grade) for measure in parsed]
    score = "0" if no_relevant == "zero" else "NaN"
    report_no_relevant(qrels, recipes, score, stacklevel=6)
    return Evaluation(
        qrels=qrels, measures=parsed, recipes=recipes, missing=missing, no_relevant=no_relevant
    )


def _digest_of(counts: WordCounts, topics: Mapping[str, str]) -> str:
    """Return a checksum of a collection's counts and of topics."""
    digest = hashlib.blake2b(digest_size=16)
    for names in (counts.documents, counts.words, (*topics.keys(), *topics.values())):
        digest.update("\0".join(names).encode("utf-8", "surrogatepass") + b"\1")
    for column in (counts.ends, counts.text):
        digest.update(np.ascontiguousarray(column).tobytes())
    return digest.hexdigest()


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
        check_still_there(self.root)
        write_info(self.root / "run-info.csv", "run", runs, _columns(info))


def _columns(info: Sequence[Info]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(row[name] for row in info) for name in info[0]}


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


class Task(NamedTuple):
    """Runs that are made together."""

    runs: tuple[str, ...]
    what: Any
    """What the function that makes them must know."""
    write: frozenset[str] = frozenset()
    """The runs to write."""


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


Make = Callable[[Sources, Any, Task], Iterator[MadeRun]]
"""Makes the runs of a task from the sources and from what was prepared for all tasks."""


class _Plan(NamedTuple):
    """How the runs of a task are made."""

    make: Make
    sources: Sources
    prepared: Any


class _Made(NamedTuple):
    """Scores [run, measure, topic], how many judged topics each run lacks, and runs as text."""

    values: list[np.ndarray]
    lacking: list[int]
    texts: dict[str, bytes]


class MakingOptions(Machine, total=False):
    """What every maker of runs takes by name, in addition to judgments and folders."""

    depth: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by()
class WrittenRuns(Framed):
    """Runs in a folder, and what they were made of.

    Examples
    --------
    >>> import tempfile
    >>> import steadyrank as sr
    >>> sr.write_grid(
    ...     {"d1": "river banks", "d2": "old banks"}, {"1": "banks"}, out=tempfile.mkdtemp(),
    ...     stop_lists=["none"], lexical=["none"], models=["BM25", "PL2"],
    ... ).runs
    ('none_none_BM25', 'none_none_PL2')
    """

    depth: int
    n_documents: int
    n_topics: int
    folder: Path
    runs: tuple[str, ...]
    run_info: tuple[Info, ...]
    written: int
    """Number of runs that were made now; the others were there."""
    seed: int | None = None
    """The seed that repeats them, where they are random."""

    def rows(self) -> list[dict[str, str]]:
        """Return one dictionary per run, as run-info.csv has it."""
        return [{"run": run, **info} for run, info in zip(self.runs, self.run_info, strict=True)]

    def caption(self) -> str:
        """Return how many runs were made, of what, and where they are."""
        return (
            f"{counted(len(self.runs), 'run')} on {counted(self.n_topics, 'topic')} and "
            f"{counted(self.n_documents, 'document')} in {self.folder}, {self.written} of them "
            "made now."
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Making:
    """A collection and its topics, and the runs to make of them."""

    depth: int
    counts: WordCounts
    topics: Mapping[str, str]
    make: Make
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
    counts = load_counts(corpus)
    common = {"version": __version__, "depth": depth, "data": _digest_of(counts, texts)}
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
    **meta: Any,
) -> Scores:
    """Return the scores of all runs by the judgments named, or by those of the collection."""
    judged = load_judgments(corpus, qrels)
    evaluation = _make_evaluation(judged, measures, making.topics, missing, no_relevant)
    made, _ = _carry_out(making, evaluation=evaluation, out=out)
    lacking = chain.from_iterable(part.lacking for part in made)
    report_missing(
        zip(making.runs, lacking, strict=True),
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
        values=np.stack([scores for part in made for scores in part.values], axis=1),
        run_info=_columns(making.info),
        meta={
            "steadyrank": __version__,
            "settings": {"missing": missing, "no_relevant": no_relevant},
            **meta,
        },
    )


def write_runs(making: Making, out: PathLike, *, seed: int | None = None) -> WrittenRuns:
    """Write all runs that are not there yet."""
    _, written = _carry_out(making, out=out)
    return WrittenRuns(
        depth=making.depth,
        n_documents=len(making.counts.documents),
        n_topics=len(making.topics),
        folder=Path(out),
        runs=making.runs,
        run_info=making.info,
        written=written,
        seed=seed,
    )


def _make(plan: _Plan, task: Task) -> _Made:
    """Make the runs of a task: as text those to write, and the scores of all if they are asked."""
    evaluation, made = plan.sources.evaluation, _Made([], [], {})
    for name, to_run, judge in plan.make(plan.sources, plan.prepared, task):
        if name in task.write:
            run = to_run()
            if not len(run):
                raise InputError(
                    f"{name} retrieves nothing for any topic: no unit of the topics occurs in the "
                    "collection"
                )
            made.texts[name] = run_text(run)
        if evaluation is not None:
            judged = judge()
            made.values.append(evaluation.values(judged))
            made.lacking.append(int((judged.lengths < 0).sum()))
    return made


def _carry_out(
    making: Making, *, evaluation: Evaluation | None = None, out: PathLike | None = None
) -> tuple[list[_Made], int]:
    """Make the runs: write to `out` those that are not there, score all by `evaluation`.

    Returns each task's scores, if any, and the number of runs written. Progress counts runs,
    including those that were there.
    """
    _check_names(making.runs)
    order, wanted = order_documents(making.counts.documents), None
    if evaluation is not None:
        only = not any(recipe.needs_all for recipe in evaluation.recipes)
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
        left = []
        for task in making.tasks:
            lacks = [run for run in task.runs if folder and not folder.path(run).exists()]
            if lacks or evaluation is not None:
                left.append(task._replace(write=frozenset(lacks)))
        n_left, written = sum(len(task.runs) for task in left), 0
        tell(len(making.runs) - n_left, len(making.runs))
        made = {}
        for task, part in as_finished(_make, plan, left, pool):
            for name, text in part.texts.items():
                folder.save(name, text)  # type: ignore[union-attr]
            made[task.runs] = part._replace(texts={})
            written += len(task.write)
            n_left -= len(task.runs)
            tell(len(making.runs) - n_left, len(making.runs))
    if folder is not None:
        folder.finish(making.runs, making.info)
    return [made[task.runs] for task in making.tasks if task.runs in made], written

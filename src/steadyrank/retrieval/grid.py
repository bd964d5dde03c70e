"""`grid`: runs of every combination of stop list, lexical unit and model.

For whoever wants many comparable systems of which every component is known: the grid of points
(Ferro & Silvello, CLEF 2016, doi:10.1007/978-3-319-44564-9_2). A collection is cut into words
once; each stop list and lexical unit make an index of what the topics use; one pass over its
postings serves eight models.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np

from steadyrank._version import __version__
from steadyrank.compute.executors import Progress
from steadyrank.data.scores import Scores
from steadyrank.data.sources import PathLike
from steadyrank.errors import InputError, SteadyrankWarning, unknown_name
from steadyrank.measures.evaluate import DEFAULT_MEASURES
from steadyrank.measures.names import Measure
from steadyrank.retrieval.index import build_index
from steadyrank.retrieval.lexical import UNITS
from steadyrank.retrieval.making import (
    Evaluation,
    Missing,
    NoRelevant,
    Work,
    carry_out,
    digest_of,
    load_counts,
    load_judgments,
    load_topics,
    make_evaluation,
    make_scores,
)
from steadyrank.retrieval.models import MODELS, Model, parse_model
from steadyrank.retrieval.run_folders import Info, Made, Task
from steadyrank.retrieval.search import (
    DEPTH,
    DocumentOrder,
    check_depth,
    find_wanted,
    order_documents,
    search_all,
    spelled,
)
from steadyrank.retrieval.search_kernels import Wanted
from steadyrank.retrieval.stop_lists import STOP_LISTS, stop_words
from steadyrank.retrieval.word_counts import WordCounts

Names = str | Iterable[str]


class GridOptions(TypedDict, total=False):
    """What `grid` and `write_grid` take by name beside judgments and folders."""

    stop_lists: Names
    lexical: Names
    models: str | Model | Iterable[str | Model]
    depth: int
    cache: PathLike | None
    jobs: int | None
    scheduler: str | None
    executor: Executor | None
    reading: Progress | None
    progress: Progress | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GridResult:
    """The runs that `write_grid` made."""

    stop_lists: tuple[str, ...]
    lexical: tuple[str, ...]
    models: tuple[str, ...]
    depth: int
    n_documents: int
    n_topics: int
    folder: Path
    runs: tuple[str, ...]
    run_info: tuple[Info, ...]
    written: int
    """Runs that were made now; the others were there."""

    def __repr__(self) -> str:
        return (
            f"<GridResult: {len(self.runs)} runs of {len(self.stop_lists)} stop lists × "
            f"{len(self.lexical)} lexical units × {len(self.models)} models in {self.folder}>"
        )

    def rows(self) -> list[dict[str, str]]:
        """One dictionary a run, as run-info.csv has it."""
        return [{"run": run, **info} for run, info in zip(self.runs, self.run_info, strict=True)]

    def to_frame(self) -> Any:
        """One row a run, as a pandas frame."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(index=False))


def grid(
    corpus: Any,
    topics: PathLike | Mapping[str, str] | None = None,
    *,
    qrels: Any = None,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    missing: Missing = "zero",
    no_relevant: NoRelevant = "zero",
    out: PathLike | None = None,
    store: PathLike | None = None,
    **options: Unpack[GridOptions],
) -> Scores:
    """Scores of every combination of components; runs need not be written.

    `corpus` and `topics` are what `count_words` and `read_topics` take; a folder with
    `docs.jsonl`, `topics.tsv` and `qrels.txt`, or `irds:NAME`, holds all three. `run_info` has
    the components as stop_list, lexical and model; a run is named stoplist_lexical_model.

    `stop_lists`, `lexical` (stemmers and n-grams) and `models` name what to combine, by default
    all; `depth` documents are ranked for each topic. With `out`, runs are written there, too;
    `store` keeps finished scores, so that the same call again takes up where it stopped. `cache`
    keeps the collection's word counts. The same bytes for any `jobs`, `scheduler` or `executor`.

    >>> import steadyrank as sr
    >>> corpus = {"d1": "the rivers of France", "d2": "a river bank", "d3": "banks of France"}
    >>> scores = sr.grid(
    ...     corpus, {"1": "river banks"}, qrels={"1": {"d2": 1}}, measures=["RR"],
    ...     stop_lists=["none", "lucene"], lexical=["none", "porter"], models=["BM25", "PL2"],
    ... )
    >>> scores.runs[:3], scores.run_info["lexical"][:3]
    (('none_none_BM25', 'none_none_PL2', 'none_porter_BM25'), ('none', 'none', 'porter'))
    """
    study = _prepare(corpus, topics, **options)
    evaluation = make_evaluation(
        load_judgments(corpus, qrels), measures, study.topics, missing=missing,
        no_relevant=no_relevant,
    )  # fmt: skip
    harvest = carry_out(
        _make, _plan(study, evaluation), study.work, evaluation=evaluation, out=out, store=store
    )
    return make_scores(evaluation, study.work, harvest, grid={"depth": study.depth})


def write_grid(
    corpus: Any,
    topics: PathLike | Mapping[str, str] | None = None,
    *,
    out: PathLike,
    **options: Unpack[GridOptions],
) -> GridResult:
    """Write a run for every combination of components.

    Takes what `grid` takes. Makes `runs/NAME.run` and `run-info.csv` in the folder `out`; runs
    that are there already are kept, and the folder of another grid is refused.
    """
    study = _prepare(corpus, topics, **options)
    harvest = carry_out(_make, _plan(study, None), study.work, out=out)
    return GridResult(
        stop_lists=study.stop_lists, lexical=study.lexical, models=study.models,
        depth=study.depth, n_documents=len(study.counts.documents), n_topics=len(study.topics),
        folder=Path(out), runs=study.work.runs, run_info=study.work.info,
        written=harvest.written,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Study:
    """Components and a collection, and the runs that they make."""

    stop_lists: tuple[str, ...]
    lexical: tuple[str, ...]
    models: tuple[str, ...]
    depth: int
    counts: WordCounts
    topics: Mapping[str, str]
    work: Work


def _prepare(
    corpus: Any,
    topics: Any,
    *,
    stop_lists: Names = STOP_LISTS,
    lexical: Names | None = None,
    models: str | Model | Iterable[str | Model] = tuple(MODELS),
    depth: int = DEPTH,
    cache: PathLike | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    executor: Executor | None = None,
    reading: Progress | None = None,
    progress: Progress | None = None,
) -> _Study:
    """Check everything that can be checked before the work begins."""
    stops, units = _listed(stop_lists), _units(lexical)
    several = [models] if isinstance(models, (str, Model)) else models
    parsed = [parse_model(model) for model in several]
    for what, names in (("stop list", stops), ("lexical unit", units), ("model", parsed)):
        if not names:
            raise InputError(f"name at least one {what}")
    stopped = {stop: sorted(stop_words(stop)) for stop in stops}
    check_depth(depth)
    texts = load_topics(corpus, topics)
    counts = load_counts(corpus, cache=cache, progress=reading)
    tasks, info = _tasks(stops, units, parsed)
    spellings = tuple(map(spelled, parsed))
    settings = {
        "makes": "grid", "version": __version__, "stop_lists": stopped, "lexical": units,
        "models": spellings, "depth": depth, "data": digest_of(counts, texts),
    }  # fmt: skip
    work = Work(
        tasks=tasks, info=info, settings=settings, progress=progress,
        pool={"jobs": jobs, "scheduler": scheduler, "executor": executor},
    )  # fmt: skip
    return _Study(
        stop_lists=stops, lexical=units, models=spellings, depth=depth, counts=counts,
        topics=texts, work=work,
    )  # fmt: skip


def _listed(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _units(lexical: Names | None) -> tuple[str, ...]:
    """The lexical units named, or all; without Krovetz's stemmer where it is not installed."""
    if lexical is not None:
        units = _listed(lexical)
        for unit in units:
            if unit not in UNITS:
                raise unknown_name("lexical unit", unit, UNITS)
        return units
    if importlib.util.find_spec("krovetzstemmer") is not None:
        return UNITS
    message = "krovetz is left out, as it is not installed: pip install 'steadyrank[krovetz]'"
    warnings.warn(message, SteadyrankWarning, stacklevel=4)
    return tuple(unit for unit in UNITS if unit != "krovetz")


def _tasks(
    stop_lists: Sequence[str], units: Sequence[str], models: Sequence[Model]
) -> tuple[tuple[Task, ...], tuple[Info, ...]]:
    """A task for each index, with what is known of its runs; a file's name stands for the file."""
    tasks: list[Task] = []
    info: list[Info] = []
    for stop_list, unit in product(stop_lists, units):
        stop = stop_list if stop_list in STOP_LISTS else Path(stop_list).stem
        rows = [{"stop_list": stop, "lexical": unit, "model": str(model)} for model in models]
        runs = tuple(f"{stop}_{unit}_{model}" for model in models)
        tasks.append(Task(name=f"{stop}_{unit}", runs=runs, what=(stop_list, unit)))
        info += rows
    return tuple(tasks), tuple(info)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Plan:
    """All that a task depends on, but its stop list and lexical unit."""

    counts: WordCounts
    topics: Mapping[str, str]
    models: tuple[str, ...]
    depth: int
    order: DocumentOrder
    evaluation: Evaluation | None
    wanted: Wanted | None


def _plan(study: _Study, evaluation: Evaluation | None) -> _Plan:
    order = order_documents(study.counts.documents)
    wanted = None
    if evaluation is not None:
        wanted = find_wanted(
            evaluation.qrels, list(study.topics), order, relevant_only=evaluation.relevant_only
        )
    return _Plan(
        counts=study.counts, topics=study.topics, models=study.models, depth=study.depth,
        order=order, evaluation=evaluation, wanted=wanted,
    )  # fmt: skip


def _make(plan: _Plan, task: Task) -> Made:
    """The runs of one index by all models that are asked for."""
    stop_list, unit = task.what
    index = build_index(plan.counts, plan.topics, stop_list=stop_list, unit=unit)
    asked = dict(zip(task.runs, plan.models, strict=True))
    if not task.score:
        asked = {run: model for run, model in asked.items() if run in task.write}
    made = Made()
    values, lacking = [], []
    rankings = search_all(index, asked.values(), depth=plan.depth, order=plan.order)
    for run, ranking in zip(asked, rankings, strict=True):
        if run in task.write:
            made.keep(task, ranking.to_run(run))
        if task.score and plan.evaluation is not None and plan.wanted is not None:
            judged = ranking.judged(plan.wanted)
            values.append(plan.evaluation.values(judged))
            lacking.append(int((judged.lengths < 0).sum()))
    if not task.score:
        return made
    return Made(values=np.array(values), lacking=np.array(lacking), texts=made.texts)

"""`grid`: runs of every combination of stop list, lexical unit and model.

The grid of points has many comparable systems with known components (Ferro & Silvello, CLEF 2016,
doi:10.1007/978-3-319-44564-9_2). A collection is cut into words once; each stop list and lexical
unit make an index of what the topics use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Unpack

from steadyrank.data.read.sources import PathLike
from steadyrank.data.scores import Scores
from steadyrank.errors import InputError, check_choice
from steadyrank.measures.evaluate import DEFAULT_MEASURES, Missing, NoRelevant
from steadyrank.measures.names import Measure
from steadyrank_lab.retrieval.engine.index import build_index
from steadyrank_lab.retrieval.engine.lexical import UNITS
from steadyrank_lab.retrieval.engine.models import (
    MODELS,
    Model,
    needs_positions,
    parse_model,
    spelled_model,
)
from steadyrank_lab.retrieval.engine.search import search_all
from steadyrank_lab.retrieval.engine.tokens import STOP_LISTS, stop_words
from steadyrank_lab.retrieval.makers.runs import (
    Info,
    MadeRun,
    Making,
    MakingOptions,
    Sources,
    Task,
    WrittenRuns,
    lay_out_runs,
    score_made_runs,
    write_runs,
)

Names = str | Iterable[str]


class GridOptions(MakingOptions, total=False):
    """What `grid` and `write_grid` take by name in addition to judgments and folders."""

    stop_lists: Names
    lexical: Names
    models: str | Model | Iterable[str | Model]


def grid(
    corpus: Any,
    topics: PathLike | Mapping[str, str] | None = None,
    *,
    qrels: Any = None,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    missing: Missing = "zero",
    no_relevant: NoRelevant = "zero",
    out: PathLike | None = None,
    **options: Unpack[GridOptions],
) -> Scores:
    """Scores of every combination of components; runs need not be written.

    `run_info` has the components as stop_list, lexical and model; a run is named
    stoplist_lexical_model. Any `jobs`, `scheduler` or `executor` gives the same bytes.

    Parameters
    ----------
    corpus : object
        A file, or several, of JSON lines or TREC's <DOC>, or {id: text}; a folder with
        `docs.jsonl`, `topics.tsv` and `qrels.txt`, `irds:NAME`, or `builtin` also has topics and
        judgments.
    topics : path or mapping, optional
        Each topic's text, or what `read_topics` takes.
    qrels : object, optional
        As in `evaluate`.
    measures, missing, no_relevant : optional
        As in `evaluate`.
    out : path, optional
        Folder to write the runs into.
    **options
        `stop_lists`, `lexical` (stemmers and n-grams) and `models`: what to combine, by default
        all. `depth`: documents ranked for each topic. `jobs`, `scheduler`, `executor` and
        `progress` as in `evaluate`.

    Returns
    -------
    Scores
        With the components of each run in `run_info`.

    References
    ----------
    - Ferro & Silvello (2016). The CLEF monolingual grid of points. CLEF.
      doi:10.1007/978-3-319-44564-9_2

    Examples
    --------
    >>> import steadyrank as sr
    >>> corpus = {"d1": "the rivers of France", "d2": "a river bank", "d3": "banks of France"}
    >>> scores = sr.grid(
    ...     corpus, {"1": "river banks"}, qrels={"1": {"d2": 1}}, measures=["RR"],
    ...     stop_lists=["none", "lucene"], lexical=["none", "porter"], models=["BM25", "PL2"],
    ... )
    >>> scores.runs[:3], scores.run_info["lexical"][:3]
    (('none_none_BM25', 'none_none_PL2', 'none_porter_BM25'), ('none', 'none', 'porter'))
    """
    making = _prepare(corpus, topics, **options)
    return score_made_runs(
        making,
        corpus=corpus,
        qrels=qrels,
        measures=measures,
        missing=missing,
        no_relevant=no_relevant,
        out=out,
        grid={"depth": making.depth},
    )


def write_grid(
    corpus: Any,
    topics: PathLike | Mapping[str, str] | None = None,
    *,
    out: PathLike,
    **options: Unpack[GridOptions],
) -> WrittenRuns:
    """Write a run for every combination of components.

    Makes `runs/NAME.run` and `run-info.csv`; runs that are there already are kept, and the folder
    of another grid is refused.

    Parameters
    ----------
    corpus, topics : object
        As in `grid`.
    out : path
        Folder to write into.
    **options
        As in `grid`.

    Returns
    -------
    WrittenRuns
        The runs, where they are, and how many were made now.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import steadyrank as sr
    >>> documents, topics = {"d1": "river banks", "d2": "old banks"}, {"1": "banks"}
    >>> result = sr.write_grid(
    ...     documents, topics, out=tempfile.mkdtemp(),
    ...     stop_lists=["none"], lexical=["none"], models=["BM25"],
    ... )
    >>> result.runs, (result.folder / "runs").is_dir()
    (('none_none_BM25',), True)
    """
    return write_runs(_prepare(corpus, topics, **options), out)


def _prepare(
    corpus: Any,
    topics: Any,
    *,
    stop_lists: Names = STOP_LISTS,
    lexical: Names = UNITS,
    models: str | Model | Iterable[str | Model] = tuple(MODELS),
    **options: Unpack[MakingOptions],
) -> Making:
    stops, units = (
        (names,) if isinstance(names, str) else tuple(names) for names in (stop_lists, lexical)
    )
    for unit in units:
        check_choice("lexical unit", unit, UNITS)
    several = [models] if isinstance(models, (str, Model)) else models
    parsed = [parse_model(model) for model in several]
    for what, names in (("stop list", stops), ("lexical unit", units), ("model", parsed)):
        if not names:
            raise InputError(f"name at least one {what}")
    stopped = {stop: sorted(stop_words(stop)) for stop in stops}
    spelled = tuple(map(spelled_model, parsed))
    tasks: list[Task] = []
    info: list[Info] = []
    for stop_list, unit in product(stops, units):  # a file's name represents the file
        stop = stop_list if stop_list in STOP_LISTS else Path(stop_list).stem
        runs = tuple(f"{stop}_{unit}_{model}" for model in parsed)
        tasks.append(Task(runs, (stop_list, unit)))
        info += [{"stop_list": stop, "lexical": unit, "model": str(model)} for model in parsed]
    settings = {"makes": "grid", "stop_lists": stopped, "lexical": units, "models": spelled}
    return lay_out_runs(
        corpus,
        topics,
        make=partial(_make, spelled),
        tasks=tuple(tasks),
        info=tuple(info),
        settings=settings,
        **options,
    )


def _make(models: Sequence[str], sources: Sources, _: Any, task: Task) -> Iterator[MadeRun]:
    """Make the runs of all models on one index, or those that are to be written."""
    stop_list, unit = task.what
    index = build_index(
        sources.counts,
        sources.topics,
        stop_list=stop_list,
        unit=unit,
        positions=needs_positions(models),
    )
    chosen = dict(zip(task.runs, models, strict=True))
    if sources.evaluation is None:
        chosen = {run: model for run, model in chosen.items() if run in task.write}
    rankings = search_all(index, chosen.values(), depth=sources.depth, order=sources.order)
    for run, ranking in zip(chosen, rankings, strict=True):
        judge = partial(ranking.judged, sources.wanted)  # type: ignore[arg-type]
        yield MadeRun(run, partial(ranking.to_run, run), judge)

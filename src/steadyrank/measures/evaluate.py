"""`evaluate`: score every run on every topic.

Documents are ordered as in trec_eval, every run is scored on all judged topics, and topics that
score 0 by default are counted in a warning.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, Unpack, get_args

import numpy as np

from steadyrank._version import __version__
from steadyrank.compute.executors import Progress
from steadyrank.data.facets import averaged_facets, tidy_judges
from steadyrank.data.interop.objects import as_scores
from steadyrank.data.interop.tables import table_of
from steadyrank.data.order import rank_blocks
from steadyrank.data.qrels import Qrels
from steadyrank.data.read.run_files import judgments_of
from steadyrank.data.read.run_info import describe_topics, info_columns
from steadyrank.data.read.runs import ReadingOptions, header_of, read_runs
from steadyrank.data.read.sources import PathLike
from steadyrank.data.run import Run
from steadyrank.data.scores import Scores
from steadyrank.errors import InputError, arg, check_choice, warn
from steadyrank.measures.arguments import data_first, label_of
from steadyrank.measures.names import Measure, at_level, is_binary, parse_measures, says_level
from steadyrank.measures.scoring import (
    ANY_GRADE,
    Recipe,
    find_judged_documents,
    prepare,
    score_topics,
)
from steadyrank.measures.ties import check_expectations, expected_scores
from steadyrank.words import by_number, counted, some

DEFAULT_MEASURES = ("AP", "nDCG@10", "P@10")
"""The first one ranks the runs; with graded judgments nDCG@10 is the first."""

Ties = Literal["trec_eval", "float32", "average"]
Missing = Literal["zero", "skip", "error"]
NoRelevant = Literal["zero", "skip"]


class _Outcome(NamedTuple):
    """One run's scores [measure, topic], without the run itself, which may be large."""

    run: Run
    values: np.ndarray
    lacking: int
    unknown: int


@data_first
def evaluate(
    runs: Any,
    qrels: Any,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    *,
    rel: int | None = None,
    missing: Missing = "zero",
    no_relevant: NoRelevant = "zero",
    ties: Ties = "trec_eval",
    topic_info: PathLike | None = None,
    cluster_from: str | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    **reading_options: Unpack[ReadingOptions],
) -> Scores:
    """Score every run on every judged topic.

    Runs keep their order; topics are sorted by name, 2 before 10.

    Parameters
    ----------
    runs : object
        Files, globs and folders, which are read and scored one by one; `Run` objects; or runs of
        other tools (`as_run`), in a dictionary by name if they have no names.
    qrels : object
        A file, `Qrels`, or an object that `as_qrels` accepts.
    measures : str, Measure or iterable of them, optional
        By default AP, nDCG@10 and P@10; nDCG@10 is the first if judgments are graded.
    rel : int, optional
        Lowest relevant grade for binary measures that do not name one, as `AP(rel=2)` does. By
        default 1, with a warning if there are higher grades.
    missing : str
        A judged topic that a run lacks scores 0 ("zero", as trec_eval -c), NaN ("skip"), or is an
        "error".
    no_relevant : str
        A topic without relevant documents scores 0 ("zero") or NaN ("skip").
    ties : str
        "trec_eval" orders documents of equal score by their ids, "float32" does so for scores
        rounded to 32 bits, as pytrec_eval, and "average" gives the exact mean over all orders.
    topic_info : path, optional
        A CSV file about the topics: a column `topic`, and any of `cluster`, `weight` and columns
        that divide the topics into segments.
    cluster_from : str, optional
        Regular expression whose first group, searched in a topic's name, is its cluster.
    jobs, scheduler, executor : optional
        Number of threads; address of a Dask scheduler; or any `concurrent.futures.Executor`.
    progress : callable, optional
        Called with the numbers of finished and of all runs.
    **reading_options : optional
        `name_from`, `duplicates`, `run_info`, `team_from`, `system_from` and `names`, as in
        `read_runs`.

    Returns
    -------
    Scores
        One value per measure, run and topic; NaN where there is none. `mean()` averages over
        topics; `meta` holds settings and hashes of the files.

    Notes
    -----
    Documents are ranked as trec_eval ranks them, by score and then by document id, both descending;
    ranks in the files are ignored.

    References
    ----------
    - McSherry & Najork (2008). Computing information retrieval performance measures efficiently in
      the presence of tied scores. ECIR. doi:10.1007/978-3-540-78646-7_38

    Examples
    --------
    >>> import steadyrank as sr
    >>> qrels = sr.qrels_from_dict({"301": {"d1": 1, "d2": 0}})
    >>> run = sr.run_from_dict({"301": {"d1": 2.0, "d2": 3.0}}, name="mine")
    >>> sr.evaluate([run], qrels, ["AP", "nDCG@10"]).mean().round(4).tolist()
    [[0.5], [0.6309]]
    """
    named = None if measures is None else at_level(parse_measures(measures), rel)
    check_treatment(missing, no_relevant)
    check_choice("way to break ties", ties, get_args(Ties))
    to_read = read_runs(runs, **reading_options)
    judged = judgments_of(qrels)
    if len(judged) == 0:
        raise InputError("the qrels hold no judgments")
    parsed = named or at_level(parse_measures(default_measures(judged)), rel)
    recipes = [prepare(measure, judged.max_grade) for measure in parsed]
    if ties == "average":
        check_expectations(recipes)
    without: Any = {
        "missing": 0.0 if missing == "zero" else np.nan,
        "no_relevant": 0.0 if no_relevant == "zero" else np.nan,
    }
    outcomes = to_read.map(
        partial(_evaluate_run, qrels=judged, recipes=recipes, ties=ties, **without),
        jobs=jobs,
        scheduler=scheduler,
        executor=executor,
        progress=progress,
    )
    headers = [outcome.run for outcome in outcomes]
    to_read.check_headers(headers)
    lacking = [(outcome.run.name, outcome.lacking) for outcome in outcomes]
    report_coverage(lacking, [outcome.unknown for outcome in outcomes], judged, missing)
    report_no_relevant(judged, recipes, "0" if no_relevant == "zero" else "NaN", stacklevel=4)
    if rel is None:
        _warn_of_grades(judged, parsed)
    scores = Scores(
        measures=tuple(map(str, parsed)),
        runs=tuple(run.name for run in headers),
        topics=judged.topics,
        values=np.stack([outcome.values for outcome in outcomes], axis=1),
        run_info=info_columns(to_read.info(headers)),
        meta={
            "steadyrank": __version__,
            "settings": {
                "missing": missing,
                "no_relevant": no_relevant,
                "ties": ties,
                "duplicates": to_read.reading.duplicates,
            },
            "qrels": None if judged.source is None else str(judged.source),
            "max_grade": judged.max_grade,
            "files": {run.name: str(run.source) for run in headers if run.source},
        },
    )
    return describe_topics(scores, topic_info=topic_info, cluster_from=cluster_from)


def default_measures(qrels: Qrels) -> tuple[str, ...]:
    """Return the measures to compute by default; the first one ranks the runs."""
    first, second, *rest = DEFAULT_MEASURES
    return (second, first, *rest) if qrels.max_grade > 1 else DEFAULT_MEASURES


def _warn_of_grades(qrels: Qrels, measures: Sequence[Measure]) -> None:
    """Warn that binary measures count the lowest of several grades as relevant."""
    binary = [m for m in measures if is_binary(m) and not (says_level(m) or m.kind.is_count)]
    if binary and qrels.max_grade > 1:
        who = f"{some(list(map(str, binary)), 3)} {by_number(len(binary), 'counts', 'count')}"
        warn(
            f"grades go up to {qrels.max_grade}, and {who} grade 1 as relevant: for grade 2 write "
            f"{binary[0](rel=2)}, or give {arg('rel=')} for all",
            stacklevel=3,
        )


def check_treatment(missing: str, no_relevant: str) -> None:
    """Raise an error for unknown values of `missing` and `no_relevant`."""
    check_choice("way to treat missing topics", missing, get_args(Missing))
    without = "way to treat topics without relevant documents"
    check_choice(without, no_relevant, get_args(NoRelevant))


def _evaluate_run(
    run: Run, *, qrels: Qrels, recipes: list[Recipe], ties: Ties, **without: float
) -> _Outcome:
    if ties == "float32":
        run = rounded_to_float32(run)
    if ties == "average":
        values = expected_scores(run, qrels, recipes, **without)
    else:
        relevant_only = not any(recipe.needs_all for recipe in recipes)
        judged = find_judged_documents(run, qrels, relevant_only=relevant_only)
        values = score_topics(judged, qrels, recipes, **without)
    common = len(set(run.topics) & qrels.position.keys())
    return _Outcome(header_of(run), values, len(qrels.topics) - common, len(run.topics) - common)


def rounded_to_float32(run: Run) -> Run:
    """Return the run ranked by scores that are rounded to 32 bits, as in pytrec_eval."""
    with np.errstate(over="ignore"):
        scores = run.scores.astype(np.float32).astype(np.float64)
    documents = run.documents.take(np.arange(len(run)))
    rank_blocks(documents, scores, run.blocks)
    return replace(run, documents=documents, scores=scores)


def report_coverage(
    lacking: Sequence[tuple[str, int]],
    unknown: Iterable[int],
    qrels: Qrels,
    missing: str,
    *,
    may_skip: bool = True,
) -> None:
    """Report missing and unjudged topics; raise an error if no run has any judged topic."""
    n_topics = len(qrels.topics)
    if all(count == n_topics for _, count in lacking):
        raise InputError(
            "no run has any topic of the qrels: do the topic ids match (qrels: "
            f"{qrels.topics[0]!r})?"
        )
    report_missing(lacking, n_topics, missing, may_skip=may_skip)
    if unjudged := [count for count in unknown if count]:
        who = counted(len(unjudged), "run has", "runs have")
        most = max(unjudged)
        warn(f"{who} topics that nobody judged (up to {most}): these are ignored", stacklevel=4)


def report_no_relevant(
    qrels: Qrels, recipes: Iterable[Recipe], score: str, *, stacklevel: int
) -> None:
    """Warn of topics that have no document that is relevant to a measure, and say their score."""
    for level in sorted({recipe.level for recipe in recipes} - {ANY_GRADE}):
        barren = int((qrels.best_grades < level).sum())
        if barren:
            of_grade = "" if level == 1 else f" of grade {level}"
            warn(
                f"{barren} of {counted(len(qrels.topics), 'topic')} "
                f"{by_number(barren, 'has', 'have')} no relevant document{of_grade}: "
                f"{by_number(barren, 'it scores', 'they score')} {score}",
                stacklevel=stacklevel,
            )


def with_missing(scores: Scores, missing: Missing) -> Scores:
    """Return scores with empty cells as 0 ("zero") or unchanged ("skip"), or raise an error."""
    empty = np.isnan(scores.values).any(axis=0).sum(axis=1).tolist()
    lacking = zip(scores.runs, empty, strict=True)
    report_missing(lacking, len(scores.topics), missing, what="scores on some topics")
    if missing != "zero":
        return scores
    return replace(scores, values=np.nan_to_num(scores.values, nan=0.0))


def report_missing(
    lacking: Iterable[tuple[str, int]],
    n_topics: int,
    missing: str,
    *,
    may_skip: bool = True,
    verbs: tuple[str, str] = ("run lacks", "runs lack"),
    what: str = "judged topics",
    remedy: str | None = None,
) -> None:
    """Warn of runs that lack judged topics, or raise an error if `missing` is "error"."""
    short = [(name, count) for name, count in lacking if count]
    if not short:
        return
    who = counted(len(short), *verbs)
    first = f"{short[0][0]!r} lacks {short[0][1]} of {n_topics}"
    if missing == "error":
        choices = ("zero", "skip") if may_skip else ("zero",)
        remedies = " or ".join(arg("missing", choice) for choice in choices)
        remedy = remedy or f"complete {by_number(len(short), 'it', 'them')}, or choose {remedies}"
        raise InputError(f"{who} {what} ({first}): {remedy}")
    zero = by_number(len(short), "it scores", "they score") + " 0 there"
    done = zero if missing == "zero" else "these cells are omitted"
    warn(f"{who} {what} ({first}): {done}", stacklevel=5)


def scores_of(
    data: Any,
    qrels: Any = None,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    *,
    jobs: int | None = None,
    has_facets: bool = False,
) -> Scores:
    """Return the scores of these measures: `data` itself, or its runs evaluated with `qrels`.

    Scores are averaged over judges, answers and draws, unless the study `has_facets`.
    """
    if qrels is None:
        data = _written(data, measures)
    if isinstance(data, Scores):
        held: Scores = tidy_judges(data) if has_facets else averaged_facets(data)
        if qrels is not None:
            raise InputError("give either scores, or runs and qrels, not both")
        if measures is None:
            return held
        names = [measures] if isinstance(measures, str | Measure) else measures
        if not isinstance(names, Iterable):
            raise InputError(f"expected a measure's name, got {measures!r}")
        return held.select(measures=[str(name) for name in names])
    if qrels is None:
        raise InputError("pass either scores, or runs and qrels")
    if isinstance(data, Run) and isinstance(qrels, Run):
        raise InputError("got two runs: pass either scores, or a list of runs and qrels")
    if measures is None:
        qrels = judgments_of(qrels)
        measures = default_measures(qrels)[0]
    return evaluate(data, qrels, measures, jobs=jobs)


def may_be_scores(data: Any) -> bool:
    """Return whether data without qrels are scores, or a file that may hold scores."""
    is_path = isinstance(data, str | os.PathLike) and not Path(data).is_dir()
    return is_path or isinstance(data, Scores)


def _written(data: Any, measures: Any) -> Any:
    """Return the scores in a file or table; raise an error if a table holds none."""
    if may_be_scores(data) and not isinstance(data, Scores):
        from steadyrank.data.read.score_files import read_scores

        return read_scores(data, measure=label_of(measures))
    return as_scores(data) if table_of(data) is not None else data

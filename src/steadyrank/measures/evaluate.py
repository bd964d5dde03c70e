"""`evaluate`: the scores of every run on every topic.

For anyone who has runs and judgments and wants numbers to trust: trec_eval's
ordering, complete topic sets, and nothing silently zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, Unpack, get_args

import numpy as np

from steadyrank._version import __version__
from steadyrank.compute.executors import Progress
from steadyrank.data.order import rank_blocks
from steadyrank.data.qrels import Qrels
from steadyrank.data.read.qrels import judgments_of
from steadyrank.data.read.run_info import describe_topics, info_columns
from steadyrank.data.read.runs import ReadingOptions, header_of, read_runs
from steadyrank.data.read.sources import PathLike
from steadyrank.data.run import Run
from steadyrank.data.scores import Scores
from steadyrank.errors import InputError, arg, check_choice, warn
from steadyrank.measures.arguments import data_first
from steadyrank.measures.names import Measure, at_level, is_binary, parse_measures, says_level
from steadyrank.measures.scoring import (
    ANY_GRADE,
    Recipe,
    find_judged_documents,
    prepare,
    score_topics,
)
from steadyrank.measures.tie_orders import check_expectations, expected_scores
from steadyrank.measures.tie_orders import tie_bounds as scores_of_extreme_orders
from steadyrank.words import by_number, counted, some

DEFAULT_MEASURES = ("AP", "nDCG@10", "P@10")
"""The first one where judgments are binary; nDCG@10 goes before it where they are graded."""

Ties = Literal["trec_eval", "float32", "average"]
Missing = Literal["zero", "skip", "error"]
NoRelevant = Literal["zero", "skip"]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Job:
    """What is the same for every run."""

    qrels: Qrels
    recipes: list[Recipe]
    ties: Ties
    missing: float
    no_relevant: float
    with_bounds: bool

    @cached_property
    def relevant_only(self) -> bool:
        """Whether documents of grade 0 and below matter to no measure."""
        return not any(recipe.needs_all for recipe in self.recipes)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Outcome:
    """One run's scores [measure, topic], without the run itself, which may be large."""

    run: Run
    values: np.ndarray
    lacking: int
    unknown: int
    bounds: tuple[np.ndarray, np.ndarray] | None = None
    """Scores [measure, topic] under the worst and the best order of tied documents."""


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
    tie_bounds: bool = False,
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
        Files, globs and folders, which are read, scored and let go one by one, or `Run` objects, or
        what other tools call a run (`as_run`), named by a dictionary if they have no names.
    qrels : object
        A file, `Qrels`, or what `as_qrels` takes.
    measures : str, Measure or iterable of them, optional
        By default AP, nDCG@10 and P@10, of which nDCG@10 is the first where judgments are graded.
    rel : int, optional
        The grade from which on documents are relevant to binary measures that do not say it
        themselves, as `AP(rel=2)` does: 1, with a warning where there are higher grades.
    missing : str
        A judged topic that a run lacks scores 0 ("zero", as trec_eval -c), NaN ("skip"), or is an
        "error".
    no_relevant : str
        A topic without relevant documents scores 0 ("zero") or NaN ("skip").
    ties : str
        "trec_eval" orders documents of equal score by their ids, "float32" does so for scores
        rounded to 32 bits, as pytrec_eval, and "average" gives the exact mean over all orders.
    tie_bounds : bool
        Whether `meta["tie_bounds"]` is to hold the means under the worst and the best order:
        `{measure: {run: [lowest, highest]}}`.
    topic_info : path, optional
        A CSV file about the topics: a column `topic`, and any of `cluster`, `weight` and columns
        that cut the topics into segments.
    cluster_from : str, optional
        Regular expression whose first group, searched in a topic's name, is its cluster.
    jobs, scheduler, executor : optional
        Threads; the address of a Dask scheduler; or any `concurrent.futures.Executor`.
    progress : callable, optional
        Is given (finished, total) runs.
    **reading_options : optional
        `name_from`, `duplicates`, `run_info`, `team_from`, `system_from` and `names`, as in
        `read_runs`.

    Returns
    -------
    Scores
        One value per measure, run and topic; NaN where there is none. `mean()` averages over
        topics, and `meta` has settings and hashes of the files.

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
    job = _Job(
        qrels=judged,
        recipes=[prepare(measure, judged.max_grade) for measure in parsed],
        ties=ties,
        missing=0.0 if missing == "zero" else np.nan,
        no_relevant=0.0 if no_relevant == "zero" else np.nan,
        with_bounds=tie_bounds,
    )
    if ties == "average":
        check_expectations(job.recipes)
    outcomes = to_read.map(
        partial(_evaluate_run, job=job),
        jobs=jobs,
        scheduler=scheduler,
        executor=executor,
        progress=progress,
    )
    headers = [outcome.run for outcome in outcomes]
    to_read.check_headers(headers)
    _report(outcomes, job, missing)
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
    scores = describe_topics(scores, topic_info=topic_info, cluster_from=cluster_from)
    return _with_bounds(scores, outcomes) if tie_bounds else scores


def default_measures(qrels: Qrels) -> tuple[str, ...]:
    """What to compute where nobody says it; the first one ranks the runs."""
    first, second, *rest = DEFAULT_MEASURES
    return (second, first, *rest) if qrels.max_grade > 1 else DEFAULT_MEASURES


def _warn_of_grades(qrels: Qrels, measures: Sequence[Measure]) -> None:
    """Say which measures take the lowest of several grades for relevant, and what to write."""
    binary = [m for m in measures if is_binary(m) and not (says_level(m) or m.kind.is_count)]
    if binary and qrels.max_grade > 1:
        who = f"{some(list(map(str, binary)), 3)} {by_number(len(binary), 'counts', 'count')}"
        warn(
            f"grades go up to {qrels.max_grade}, and {who} grade 1 as relevant: for grade 2 write "
            f"{binary[0](rel=2)}, or give {arg('rel=')} for all",
            stacklevel=3,
        )


def check_treatment(missing: str, no_relevant: str) -> None:
    """Refuse ways to treat missing topics, and topics without relevant documents, that are none."""
    check_choice("way to treat missing topics", missing, get_args(Missing))
    without = "way to treat topics without relevant documents"
    check_choice(without, no_relevant, get_args(NoRelevant))


def _evaluate_run(run: Run, job: _Job) -> _Outcome:
    if job.ties == "float32":
        run = rounded_to_float32(run)
    without = {"missing": job.missing, "no_relevant": job.no_relevant}
    if job.ties == "average":
        values = expected_scores(run, job.qrels, job.recipes, **without)
    else:
        judged = find_judged_documents(run, job.qrels, relevant_only=job.relevant_only)
        values = score_topics(judged, job.qrels, job.recipes, **without)
    common = len(set(run.topics) & job.qrels.position.keys())
    return _Outcome(
        run=header_of(run),
        values=values,
        lacking=len(job.qrels.topics) - common,
        unknown=len(run.topics) - common,
        bounds=scores_of_extreme_orders(run, job.qrels, job.recipes, **without)
        if job.with_bounds
        else None,
    )


def _with_bounds(scores: Scores, outcomes: Sequence[_Outcome]) -> Scores:
    """The scores with the means of both orders of tied documents, by measure and run."""
    extremes = [
        replace(scores, values=np.stack([o.bounds[end] for o in outcomes if o.bounds], axis=1))
        for end in (0, 1)
    ]
    means = np.stack([extreme.mean() for extreme in extremes], axis=-1).tolist()
    bounds = {
        measure: dict(zip(scores.runs, ends, strict=True))
        for measure, ends in zip(scores.measures, means, strict=True)
    }
    return replace(scores, meta={**scores.meta, "tie_bounds": bounds})


def rounded_to_float32(run: Run) -> Run:
    """The run ranked as if its scores had been stored in 32 bits, as pytrec_eval stores them."""
    with np.errstate(over="ignore"):
        scores = run.scores.astype(np.float32).astype(np.float64)
    documents = run.documents.take(np.arange(len(run)))
    rank_blocks(documents, scores, run.blocks)
    return replace(run, documents=documents, scores=scores)


def _report(outcomes: Sequence[_Outcome], job: _Job, missing: Missing) -> None:
    """Say, in counts, what was done about files that do not quite fit together."""
    n_topics = len(job.qrels.topics)
    report_missing([(o.run.name, o.lacking) for o in outcomes], n_topics, missing)
    if all(o.lacking == n_topics for o in outcomes):
        raise InputError(
            "no run has any topic of the qrels: do the topic ids match (qrels: "
            f"{job.qrels.topics[0]!r})?"
        )
    report_unknown([o.unknown for o in outcomes])
    score = "NaN" if np.isnan(job.no_relevant) else "0"
    report_no_relevant(job.qrels, job.recipes, score, stacklevel=5)


def report_no_relevant(
    qrels: Qrels, recipes: Iterable[Recipe], score: str, *, stacklevel: int
) -> None:
    """Say how many topics have no document that is relevant to a measure, and what they score."""
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
    """Scores made elsewhere in which empty cells are 0 ("zero"), refused, or as they are."""
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
    """Say what is done about runs that lack so many of the judged topics; refuse with "error"."""
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


def report_unknown(counts: Iterable[int]) -> None:
    """Say that runs have topics that nobody judged, of so many each."""
    unknown = [count for count in counts if count]
    if unknown:
        who = counted(len(unknown), "run has", "runs have")
        warn(
            f"{who} topics that nobody judged (up to {max(unknown)}): these are ignored",
            stacklevel=5,
        )

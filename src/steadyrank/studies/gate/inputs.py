"""Baseline and candidate on the same topics: from runs, or from scores that were kept."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from steadyrank.data.facets import averaged_facets
from steadyrank.data.order import scores_in_order
from steadyrank.data.provenance import SETTINGS, check_alike, file_hashes, with_hashes
from steadyrank.data.qrels import Qrels
from steadyrank.data.read.parquet import column_names
from steadyrank.data.read.qrels import judgments_of
from steadyrank.data.read.run_info import describe_topics
from steadyrank.data.read.runs import ReadingOptions, read_runs
from steadyrank.data.read.score_files import read_scores
from steadyrank.data.read.sources import PathLike, kind_of, open_bytes
from steadyrank.data.read.streams import is_readable
from steadyrank.data.run import Run
from steadyrank.data.scores import Scores
from steadyrank.errors import InputError
from steadyrank.measures.evaluate import evaluate
from steadyrank.measures.names import parse_measures
from steadyrank.measures.scoring import find_judged_documents, prepare
from steadyrank.measures.unjudged import DifferenceBounds, difference_bounds
from steadyrank.words import counted

ROLES = ("baseline", "candidate")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pair:
    """The scores of both, baseline first, and how far unjudged documents could move them."""

    scores: Scores
    bounds: Mapping[str, DifferenceBounds] = field(default_factory=dict)
    """By measure, where they are known."""
    is_ranking_lost: bool = False
    """Whether one of the two came as scores, and its ranking is not at hand."""


def read_pair(
    baseline: Any,
    candidate: Any,
    qrels: Any,
    *,
    measures: Sequence[str],
    topic_info: PathLike | None,
    cluster_from: str | None,
    missing: str,
    no_relevant: str,
    ties: str,
    jobs: int | None,
    reading: ReadingOptions,
) -> Pair:
    """Both on the same topics, or an error that says why they cannot be compared."""
    if _is_same(baseline, candidate):
        raise InputError("the candidate and the baseline are the same run: name another")
    given = [_scores_or_run(source, reading) for source in (baseline, candidate)]
    runs = [part for part in given if isinstance(part, Run)]
    evaluated: dict[str, Scores] = {}
    judged = None
    if runs:
        if qrels is None:
            raise InputError("runs require judgments: give qrels=, or the scores of both")
        judged = judgments_of(qrels)
        settings: Any = {"missing": missing, "no_relevant": no_relevant, "ties": ties}
        # Both may have the same tag; what they are to each other names them.
        named = [
            replace(part, name=role)
            for role, part in zip(ROLES, given, strict=True)
            if isinstance(part, Run)
        ]
        for run in named:
            _check_documents(run, judged)
        scores = evaluate(named, judged, measures, jobs=jobs, **settings)
        evaluated = {run.name: scores.select(runs=run.name) for run in named}
    names = _names(given)
    sides = [
        _one_run(part if isinstance(part, Scores) else evaluated[role], role, measures, name)
        for role, part, name in zip(ROLES, given, names, strict=True)
    ]
    # With missing="error", a topic that only one has is refused below, whatever the scores say.
    settings = [key for key in SETTINGS if key != "missing" or missing != "error"]
    check_alike(sides[0], sides[1], [f"the {role}" for role in ROLES], settings)
    scores = _side_by_side(*sides, missing=missing)
    scores = describe_topics(scores, topic_info=topic_info, cluster_from=cluster_from)
    if judged is None or ties != "trec_eval" or no_relevant != "zero":
        return Pair(scores=scores)
    rankings = [part if isinstance(part, Run) else _kept_ranking(part, reading) for part in given]
    first, second = rankings
    if first is None or second is None:
        return Pair(scores=scores, is_ranking_lost=True)
    return Pair(scores=scores, bounds=_bounds(first, second, judged, scores))


def _kept_ranking(scores: Scores, reading: ReadingOptions) -> Run | None:
    """The run that scores were computed from, if its file is still there and the same."""
    name = scores.meta.get("files", {}).get(scores.runs[0])
    kept = scores.meta.get("sha256", {}).get(name)
    if kept is None or file_hashes({"files": {"": name}}).get(name) != kept:
        return None
    runs = read_runs(name, **reading)
    return runs[0] if len(runs) == 1 else None


def _is_same(baseline: Any, candidate: Any) -> bool:
    if isinstance(baseline, (str, os.PathLike)) and isinstance(candidate, (str, os.PathLike)):
        return os.path.realpath(baseline) == os.path.realpath(candidate)
    return baseline is candidate


def _scores_or_run(source: Any, reading: ReadingOptions) -> Scores | Run:
    if isinstance(source, Scores):
        return averaged_facets(source)
    if isinstance(source, (str, os.PathLike)) and _holds_scores(Path(source)):
        return averaged_facets(read_scores(source))
    runs = read_runs(source, **reading)
    if len(runs) != 1:
        raise InputError(f"{source}: expected one run, got {len(runs)}")
    return runs[0]


def _holds_scores(path: Path) -> bool:
    """Whether a file has a score per measure, run and topic, and not a ranking."""
    if not is_readable(path):
        return False
    with open_bytes(path) as stream:
        if kind_of(stream) == "parquet":
            return "measure" in column_names(path, stream)
    return path.name.removesuffix(".gz").endswith(".csv")


def _check_documents(run: Run, qrels: Qrels) -> None:
    """Refuse a run of another collection: its scores would be 0, and the verdict certain."""
    common = set(run.topics) & qrels.position.keys()
    if not common:
        raise InputError(
            f"the {run.name} has no topic of the qrels: do the topic ids match (qrels: "
            f"{qrels.topics[0]!r})?"
        )
    if not len(find_judged_documents(run, qrels).ranks):
        raise InputError(
            f"no document of the {run.name} is judged: do the document ids match those of the "
            "qrels?"
        )


def _names(given: Sequence[Scores | Run]) -> list[str]:
    """What the runs are called; by their roles as well where that is the same."""
    names = [part.name if isinstance(part, Run) else part.runs[0] for part in given]
    if names[0] != names[1]:
        return names
    return [f"{name} ({role})" for name, role in zip(names, ROLES, strict=True)]


def _one_run(scores: Scores, role: str, measures: Sequence[str], name: str) -> Scores:
    if len(scores.runs) != 1:
        raise InputError(
            f"the scores of the {role} hold {counted(len(scores.runs), 'run')}: give the "
            "scores of one run"
        )
    # Labels of other tools are taken as they are.
    wanted = [m if m in scores.measures else str(parse_measures(m)[0]) for m in measures]
    chosen = scores.select(measures=wanted)
    return scores_in_order(replace(chosen, runs=(name,)))


def _side_by_side(baseline: Scores, candidate: Scores, *, missing: str) -> Scores:
    """One cube of both, on the topics that both know."""
    for role, own, other in (("candidate", candidate, baseline), ("baseline", baseline, candidate)):
        known = set(own.topics)
        lacking = [topic for topic in other.topics if topic not in known]
        if lacking:
            who = counted(len(lacking), "topic")
            raise InputError(f"the {role} lacks {who} of the other ({lacking[0]!r}): complete it")
    values = np.concatenate([baseline.values, candidate.values], axis=1)
    one_sided = np.isnan(values).sum(axis=1) == 1
    if missing == "error" and one_sided.any():
        topic = baseline.topics[int(np.argwhere(one_sided)[0][1])]
        raise InputError(
            f"only one of the two has a score on topic {topic!r}: complete the other, or leave "
            'such topics out with missing="skip"'
        )
    return Scores(
        measures=candidate.measures,
        runs=(*baseline.runs, *candidate.runs),
        topics=candidate.topics,
        values=values,
        topic_info={**baseline.topic_info, **candidate.topic_info},
        meta=dict(zip(ROLES, map(with_hashes, (baseline.meta, candidate.meta)), strict=True)),
    )


def _bounds(
    baseline: Run, candidate: Run, qrels: Qrels, scores: Scores
) -> dict[str, DifferenceBounds]:
    by_measure = {}
    for measure in scores.measures:
        recipe = prepare(parse_measures(measure)[0], qrels.max_grade)
        first, second = scores.matrix(measure)
        bounds = difference_bounds(baseline, candidate, qrels, recipe, second - first)
        if bounds is not None:
            by_measure[measure] = bounds
    return by_measure

"""Scores of result frames under the names by which PyTerrier's users ask for measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from steadyrank.data.scores import Scores, join_scores
from steadyrank.errors import InputError, MachineError, UnknownNameError
from steadyrank.measures.evaluate import evaluate
from steadyrank.measures.foreign import is_foreign
from steadyrank.measures.names import Measure, parse_measure, parse_measures

_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
FAMILIES: Mapping[str, Sequence[float]] = {
    **dict.fromkeys(("P", "recall", "ndcg_cut", "map_cut"), _CUTOFFS),
    "success": (1, 5, 10),
    "iprec_at_recall": tuple(tenth / 10 for tenth in range(11)),
}
"""trec_eval's names that stand for several measures."""


def scored(results: Sequence[pd.DataFrame], qrels: pd.DataFrame, metrics: Sequence[Any]) -> Scores:
    """One measure per column of the frame: under the name that it was asked for by."""
    runs = {f"system {number}": frame for number, frame in enumerate(results)}
    labels, ours, theirs = _parsed(metrics)
    parts = []
    if ours:
        # Ties as those of pytrec_eval, which PyTerrier uses.
        scores = evaluate(runs, qrels, list(dict.fromkeys(ours.values())), ties="float32")
        rows = [scores.measures.index(str(measure)) for measure in ours.values()]
        parts.append(_labelled(scores, tuple(ours), scores.values[rows]))
    for label, measure in theirs.items():
        parts.append(_by_ir_measures(label, measure, runs, qrels))
    joined = join_scores(*parts) if len(parts) > 1 else parts[0]
    rows = [joined.measures.index(label) for label in labels]
    return _labelled(joined, tuple(labels), joined.values[rows])


def _labelled(scores: Scores, labels: tuple[str, ...], values: np.ndarray) -> Scores:
    return Scores(measures=labels, runs=scores.runs, topics=scores.topics, values=values)


def _parsed(metrics: Sequence[Any]) -> tuple[list[str], dict[str, Measure], dict[str, Any]]:
    """Labels in order; measures of ours by label; measures that ir_measures alone has."""
    labels: list[str] = []
    ours: dict[str, Measure] = {}
    theirs: dict[str, Any] = {}
    for metric in metrics:
        try:
            ours |= (found := _measures_of(metric))
            labels += found
        except UnknownNameError:
            if not is_foreign(metric):
                raise
            theirs[str(metric)] = metric
            labels.append(str(metric))
    if not labels:
        raise InputError("no measure was named: try map or nDCG@10")
    return list(dict.fromkeys(labels)), ours, theirs


def _measures_of(metric: Any) -> dict[str, Measure]:
    if isinstance(metric, str) and metric in FAMILIES:
        measures = [parse_measure(f"{metric}_{at}") for at in FAMILIES[metric]]
    else:
        measures = parse_measures(metric)
    if len(measures) > 1:
        return {str(measure): measure for measure in measures}
    return {str(metric): measures[0]}


def _by_ir_measures(
    label: str, measure: Any, runs: Mapping[str, pd.DataFrame], qrels: pd.DataFrame
) -> Scores:
    """A measure that steadyrank lacks, by ir_measures' providers."""
    try:
        import ir_measures
    except ImportError as error:
        raise MachineError(f"{label} requires the package ir_measures") from error
    names = {"qid": "query_id", "docno": "doc_id", "label": "relevance"}
    judgments = qrels.rename(columns=names)
    topics = tuple(dict.fromkeys(judgments["query_id"]))
    values = np.full((1, len(runs), len(topics)), np.nan)
    places = {topic: t for t, topic in enumerate(topics)}
    for r, frame in enumerate(runs.values()):
        run = frame.rename(columns=names).astype({"query_id": str})
        for metric in ir_measures.iter_calc([measure], judgments, run):
            if metric.query_id in places:
                values[0, r, places[metric.query_id]] = metric.value
    return Scores(measures=(label,), runs=tuple(runs), topics=topics, values=values)

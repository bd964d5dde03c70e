"""`Experiment`: pipelines on topics, scored and compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from steadyrank.errors import InputError
from steadyrank.pyterrier.frames import (
    Outcome,
    Test,
    averages,
    highlighted,
    means_by_name,
    per_topic,
)
from steadyrank.pyterrier.inputs import (
    filtered,
    is_time,
    qrels_frame,
    run_systems,
    systems_of,
    topics_frame,
)
from steadyrank.pyterrier.scores import scored


class Tables(NamedTuple):
    """What `perquery="both"` gives."""

    averages: Any
    perquery: Any


def Experiment(
    retr_systems: Sequence[Any] | Mapping[str, Any],
    topics: Any,
    qrels: Any,
    eval_metrics: Sequence[Any],
    names: Sequence[str] | None = None,
    perquery: bool | Literal["both"] = False,
    dataframe: bool = True,
    batch_size: int | None = None,
    filter_by_qrels: bool = False,
    filter_by_topics: bool = True,
    baseline: int | str | None = None,
    test: Test = "t",
    correction: str | None = None,
    correction_alpha: float = 0.05,
    highlight: str | None = None,
    round: int | Mapping[str, int] | None = None,
    verbose: Any = "auto",
    validate: str = "warn",
    save_dir: str | None = None,
    save_mode: str = "warn",
    save_format: Any = "trec",
    precompute_prefix: bool = False,
    plan: str = "linear",
) -> Any:
    """Run systems on topics, score them, and compare them.

    Parameters
    ----------
    retr_systems : list or dict
        Result frames (`qid, docno, score`), objects with a method `transform`, or functions of the
        topics; a dictionary gives them names.
    topics : DataFrame or path
        With a column `qid`; a file is read by `read_topics`.
    qrels : DataFrame or object
        With columns `qid, docno, label`, or what `as_qrels` and `read_qrels` take.
    eval_metrics : list
        Names of trec_eval, ir_measures or ours, measures of ir_measures, or "mrt", the mean
        response time in milliseconds.
    names : list of str, optional
    perquery : bool or "both"
        One row per system, topic and measure; both gives that and the means.
    dataframe : bool
        Whether to return frames, or dictionaries.
    batch_size : int, optional
        Topics handed to a transformer at a time.
    filter_by_qrels, filter_by_topics : bool
        Whether to drop topics without judgments, and judgments without topics.
    baseline : int or str, optional
        Place or name of the system that the others are compared with.
    test : str or callable
        "t", "wilcoxon" (scipy's), another test of `compare`, or a function of two arrays that gives
        the p-value as its second value.
    correction : str, optional
        Of the p-values of all systems against the baseline: "holm" (the default of the added
        columns), "bonferroni", "fdr_bh", or another name of statsmodels' `multipletests`.
    correction_alpha : float
        Error rate of the corrected decisions, and 1 minus the confidence of the intervals.
    highlight : str, optional
        "bold" or "color" marks the best cell of each column.
    round : int or dict, optional
        Decimals, of all measures or by measure.
    verbose, validate, precompute_prefix, plan : optional
        Taken and without effect.
    save_dir, save_mode, save_format : optional
        Not supported: `write_run` saves runs.

    Returns
    -------
    DataFrame, dict or a tuple of two
        After PyTerrier's columns, of each measure `low` and `high`, the limits of the interval of
        its mean, and `rank set`, the ranks that the decisions of `compare` leave to a system, with
        the family of decisions that `baseline` makes. With a baseline, `reject` and `p-value
        corrected` are there without a `correction`, too.

    Examples
    --------
    >>> import pandas as pd
    >>> topics = pd.DataFrame({"qid": ["1", "2"], "query": ["a", "b"]})
    >>> qrels = pd.DataFrame({"qid": ["1", "2"], "docno": ["d1", "d1"], "label": [1, 1]})
    >>> run = pd.DataFrame({"qid": ["1", "2"], "docno": ["d1", "d2"], "score": [1.0, 1.0]})
    >>> Experiment({"mine": run}, topics, qrels, ["map", "num_ret"])[["name", "map", "num_ret"]]
       name  map  num_ret
    0  mine  0.5      2.0
    """
    if save_dir is not None:
        raise InputError("save_dir is not supported here: save runs with sr.write_run")
    pipelines, labels, place = systems_of(retr_systems, names, baseline)
    if place is not None and perquery:
        raise InputError("a baseline compares means: omit perquery or baseline")
    if correction is not None and place is None:
        raise InputError("a correction requires a baseline: give baseline=0")
    topics, qrels = filtered(
        topics_frame(topics), qrels_frame(qrels), filter_by_qrels, filter_by_topics
    )
    metrics = [metric for metric in eval_metrics if not is_time(metric)]
    results, times = run_systems(pipelines, topics, batch_size)
    outcome = Outcome(
        names=labels,
        scores=scored(results, qrels, metrics),
        times=times,
        baseline=place,
        test=test,
        correction=correction,
        alpha=correction_alpha,
    )
    every_topic = per_topic(outcome, topics, round, dataframe) if perquery else None
    if perquery is True:
        return every_topic
    with_time = len(metrics) < len(eval_metrics)
    if dataframe:
        means: Any = highlighted(averages(outcome, with_time, round), outcome, highlight)
    else:
        means = means_by_name(outcome, with_time)
    return Tables(means, every_topic) if perquery == "both" else means

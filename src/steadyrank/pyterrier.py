"""`Experiment` with PyTerrier's signature and columns, and additional columns of steadyrank.

The call of `pt.Experiment` gives the same columns and, after them, intervals of the means, p-values
corrected for the number of systems, and the ranks that each system may have. Systems are result
frames, transformers or functions of topics; neither PyTerrier nor Java is required.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from steadyrank.data.read.datasets import read_topics
from steadyrank.data.read.run_files import judgments_of
from steadyrank.data.scores import Scores, join_scores
from steadyrank.errors import InputError, MachineError, UnknownNameError
from steadyrank.measures.evaluate import evaluate
from steadyrank.measures.names import Measure, is_foreign, parse_measure, parse_measures
from steadyrank.stats.pairs.decisions import adjust
from steadyrank.studies.compare.result import CompareResult
from steadyrank.studies.compare.study import compare

__all__ = ["Experiment"]


class Frames(NamedTuple):
    """The result of `perquery="both"`."""

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
        topics; the keys of a dictionary are their names.
    topics : DataFrame or path
        A frame with a column `qid`, or a file for `read_topics`.
    qrels : DataFrame or object
        A frame with columns `qid, docno, label`, or anything that `as_qrels` or `read_qrels` takes.
    eval_metrics : list
        Names of trec_eval, ir_measures or ours, measures of ir_measures, or "mrt", the mean
        response time in milliseconds.
    names : list of str, optional
    perquery : bool or "both"
        Whether to return one row per system, topic and measure; "both" also returns the means.
    dataframe : bool
        Whether to return frames, or dictionaries.
    batch_size : int, optional
        Number of topics for one call of a transformer.
    filter_by_qrels, filter_by_topics : bool
        Whether to drop topics without judgments, and judgments without topics.
    baseline : int or str, optional
        Place or name of the system that the others are compared with.
    test : str or callable
        "t", "wilcoxon" (scipy's), another test of `compare`, or a function of two arrays whose
        second return value is the p-value.
    correction : str, optional
        Correction of the p-values against the baseline: "holm" (the default of the additional
        columns), "bonferroni", "fdr_bh", or another name of statsmodels' `multipletests`.
    correction_alpha : float
        Error rate of the corrected decisions, and 1 minus the confidence of the intervals.
    highlight : str, optional
        "bold" or "color" marks the best cell of each column.
    round : int or dict, optional
        Number of decimals, of all measures or by measure.
    verbose, validate, precompute_prefix, plan : optional
        Without effect.
    save_dir, save_mode, save_format : optional
        Not supported: `write_run` saves runs.

    Returns
    -------
    DataFrame, dict or a tuple of two
        PyTerrier's columns and, for each measure, `low` and `high`, the limits of the mean's
        interval, and `rank set`, the ranks that a system may have. With a baseline, there are
        always `reject` and `p-value corrected`, and rank sets are None, as only comparisons with
        the baseline are made.

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
    pipelines, labels, place = given_systems(retr_systems, names, baseline)
    if place is not None and perquery:
        raise InputError("a baseline compares means: omit perquery or baseline")
    if correction is not None and place is None:
        raise InputError("a correction requires a baseline: give baseline=0")
    topics, qrels = filtered(
        topics_frame(topics), judgments_frame(qrels), filter_by_qrels, filter_by_topics
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
    return Frames(means, every_topic) if perquery == "both" else means


def given_systems(
    given: Sequence[Any] | Mapping[str, Any],
    names: Sequence[str] | None,
    baseline: int | str | None,
) -> tuple[list[Any], list[str], int | None]:
    """Return the systems, their names, and the place of the baseline."""
    if isinstance(given, Mapping):
        names, systems = [str(name) for name in given], list(given.values())
    elif isinstance(given, (list, tuple)):
        systems = list(given)
    else:
        raise InputError(f"expected a list or a dictionary of systems, got {type(given).__name__}")
    labels = [_name_of(system) for system in systems] if names is None else list(names)
    if not systems or len(labels) != len(systems):
        raise InputError(f"{len(systems)} systems and {len(labels)} names: give one name each")
    if isinstance(baseline, str):
        if baseline not in labels:
            raise InputError(f"baseline {baseline!r}: the systems are {', '.join(labels)}")
        return systems, labels, labels.index(baseline)
    if baseline is not None and not 0 <= baseline < len(systems):
        raise InputError(f"baseline {baseline}: systems have places 0 to {len(systems) - 1}")
    return systems, labels, baseline


def _name_of(system: Any) -> str:
    return f"frame of {len(system)} rows" if isinstance(system, pd.DataFrame) else str(system)


def topics_frame(topics: Any) -> pd.DataFrame:
    """Return topics as a frame whose ids are text."""
    if not isinstance(topics, pd.DataFrame):
        texts = topics if isinstance(topics, Mapping) else read_topics(topics)
        topics = pd.DataFrame({"qid": list(texts), "query": list(texts.values())})
    if "qid" not in topics:
        raise InputError(f"topics require a column qid, got {', '.join(map(str, topics.columns))}")
    frame: pd.DataFrame = topics.assign(qid=topics["qid"].astype(str))
    return frame


def judgments_frame(qrels: Any) -> pd.DataFrame:
    """Return judgments as a frame whose topics' ids are text."""
    if not isinstance(qrels, pd.DataFrame):
        qrels = judgments_of(qrels).to_frame(columns="pyterrier")
    lacking = [column for column in ("qid", "docno", "label") if column not in qrels]
    if lacking:
        raise InputError(f"qrels require a column {lacking[0]}, got {', '.join(map(str, qrels))}")
    frame: pd.DataFrame = qrels.assign(qid=qrels["qid"].astype(str))
    return frame


def filtered(
    topics: pd.DataFrame, qrels: pd.DataFrame, by_qrels: bool, by_topics: bool
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the topics with judgments, and the judgments of these topics, if this is chosen."""
    if by_qrels:
        topics = topics[topics["qid"].isin(set(qrels["qid"]))]
    if by_topics:
        qrels = qrels[qrels["qid"].isin(set(topics["qid"]))]
    if len(topics) == 0 or len(qrels) == 0:
        raise InputError("topics and qrels have no qid in common: do their ids match?")
    return topics, qrels


def is_time(metric: Any) -> bool:
    """Return whether a metric is the mean response time."""
    return isinstance(metric, str) and metric == "mrt"


def run_systems(
    systems: Iterable[Any], topics: pd.DataFrame, batch_size: int | None
) -> tuple[list[pd.DataFrame], list[float]]:
    """Return result frames, and milliseconds per topic."""
    frames, times = [], []
    for number, system in enumerate(systems):
        start = time.perf_counter()
        frame = system if isinstance(system, pd.DataFrame) else _results(system, topics, batch_size)
        spent = 0.0 if frame is system else time.perf_counter() - start
        if len(frame) == 0:
            raise InputError(f"system {number} returned nothing for {len(topics)} topics")
        frames.append(frame)
        times.append(1000.0 * spent / len(topics))
    return frames, times


def _results(system: Any, topics: pd.DataFrame, batch_size: int | None) -> pd.DataFrame:
    run = getattr(system, "transform", system)
    if not callable(run):
        raise InputError(
            f"a system is a frame, a transformer or a function of topics, got {system!r}"
        )
    size = batch_size or len(topics)
    parts: list[pd.DataFrame] = [
        run(topics.iloc[start : start + size]) for start in range(0, len(topics), size)
    ]
    return pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]


_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
FAMILIES: Mapping[str, Sequence[float]] = {
    **dict.fromkeys(("P", "recall", "ndcg_cut", "map_cut"), _CUTOFFS),
    "success": (1, 5, 10),
    "iprec_at_recall": tuple(tenth / 10 for tenth in range(11)),
}
"""Names of trec_eval for families of measures."""


def scored(results: Sequence[pd.DataFrame], qrels: pd.DataFrame, metrics: Sequence[Any]) -> Scores:
    """Return scores with one measure per column of the frame, under the given names."""
    runs = {f"system {number}": frame for number, frame in enumerate(results)}
    labels, ours, theirs = _parsed(metrics)
    parts = []
    if ours:
        # PyTerrier uses pytrec_eval, which breaks ties so.
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
    """Return labels in order, our measures by label, and those that only ir_measures has."""
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
    """Compute a measure that steadyrank lacks, by ir_measures."""
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


SUMMED = ("num_q", "num_rel", "num_ret", "num_rel_ret", "NumQ", "NumRel", "NumRet", "NumRelRet")
"""Columns that PyTerrier sums over topics; all others are means."""

CORRECTIONS = {"holm": "holm", "h": "holm", "bonferroni": "bonferroni", "b": "bonferroni"}
CORRECTIONS |= {"fdr_bh": "bh", "bh": "bh", "none": "none"}
"""Names of statsmodels for our corrections; statsmodels computes others."""

TEST_NAMES = ("t", "sign", "randomization", "bootstrap", "tukey", "randomized-tukey")
"""Our tests; "wilcoxon" is scipy's, as in PyTerrier."""

Test = str | Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """Scores of all systems, and the options of the frame."""

    names: list[str]
    """Names of the systems, which may repeat."""
    scores: Scores
    """One measure per label."""
    times: list[float]
    """Milliseconds per topic."""
    baseline: int | None
    test: Test
    correction: str | None
    alpha: float


def _mean(outcome: Outcome, label: str) -> np.ndarray:
    matrix = outcome.scores.matrix(label)
    return np.asarray(matrix.sum(axis=1) if label in SUMMED else matrix.mean(axis=1))


def means_by_name(outcome: Outcome, with_time: bool) -> dict[str, dict[str, float]]:
    """Return the means by system and measure, as PyTerrier does without a frame."""
    means = {label: _mean(outcome, label).tolist() for label in outcome.scores.measures}
    if with_time:
        means["mrt"] = outcome.times
    return {
        name: {label: values[i] for label, values in means.items()}
        for i, name in enumerate(outcome.names)
    }


def averages(
    outcome: Outcome, with_time: bool, decimals: int | Mapping[str, int] | None
) -> pd.DataFrame:
    """Return PyTerrier's columns, then those of steadyrank."""
    labels = outcome.scores.measures
    columns: dict[str, Any] = {"name": outcome.names}
    for label in labels:
        columns[label] = _rounded(_mean(outcome, label), label, decimals)
    if with_time:
        columns["mrt"] = _rounded(np.array(outcome.times), "mrt", decimals)
    if outcome.baseline is not None:
        for label in labels:
            columns |= _baseline_columns(outcome, label)
    for label in labels if len(outcome.names) > 1 else ():
        columns |= _added_columns(outcome, label, decimals)
    return pd.DataFrame(columns)


def _rounded(
    values: np.ndarray, label: str, decimals: int | Mapping[str, int] | None
) -> np.ndarray:
    places = decimals.get(label) if isinstance(decimals, Mapping) else decimals
    return values if places is None else np.round(values, places)


def _baseline_columns(outcome: Outcome, label: str) -> dict[str, Any]:
    """Return the topics gained and lost, the p-values, and the corrected p-values."""
    matrix, base = outcome.scores.matrix(label), outcome.baseline
    assert base is not None
    others = [i for i in range(len(matrix)) if i != base]
    pvalues = np.full(len(matrix), np.nan)
    pvalues[others] = _pvalues(outcome, label, others)
    corrected = np.full(len(matrix), np.nan)
    corrected[others] = _corrected(pvalues[others], outcome.correction or "holm", outcome.alpha)
    gained = (matrix > matrix[base]).sum(axis=1).astype(float)
    lost = (matrix < matrix[base]).sum(axis=1).astype(float)
    gained[base] = lost[base] = np.nan
    return {
        f"{label} +": gained,
        f"{label} -": lost,
        f"{label} p-value": pvalues,
        f"{label} reject": np.nan_to_num(corrected, nan=1.0) <= outcome.alpha,
        f"{label} p-value corrected": corrected,
    }


def _pvalues(outcome: Outcome, label: str, others: list[int]) -> np.ndarray:
    """Return the uncorrected p-values of the other systems against the baseline."""
    if outcome.test in TEST_NAMES:
        return _compared(outcome, label).pvalue
    matrix, function = outcome.scores.matrix(label), outcome.test
    if function == "wilcoxon":
        from scipy.stats import wilcoxon

        function = wilcoxon
    if not callable(function):
        known = ", ".join((*TEST_NAMES, "wilcoxon"))
        raise UnknownNameError(f"unknown test {outcome.test!r}: there are {known}, or a function")
    return np.array([function(matrix[i], matrix[outcome.baseline])[1] for i in others])


def _corrected(pvalues: np.ndarray, correction: str, alpha: float) -> np.ndarray:
    if correction in CORRECTIONS:
        return adjust(pvalues, CORRECTIONS[correction])
    try:
        from statsmodels.stats.multitest import multipletests
    except ImportError as error:
        raise MachineError(
            f"correction {correction} requires the package statsmodels; without it there are "
            f"{', '.join(CORRECTIONS)}"
        ) from error
    return np.asarray(multipletests(pvalues, alpha=alpha, method=correction)[1])


def _compared(outcome: Outcome, label: str) -> CompareResult:
    base = None if outcome.baseline is None else outcome.scores.runs[outcome.baseline]
    test: Any = outcome.test if outcome.test in TEST_NAMES else "t"
    scores = outcome.scores
    if scores.directions[label] not in ("higher", "lower"):  # columns of tests need no direction
        scores = scores.directed(higher=label)
    result = compare(scores, measure=label, test=test, alpha=outcome.alpha, baseline=base)
    assert isinstance(result, CompareResult)  # of one measure
    return result


def _added_columns(
    outcome: Outcome, label: str, decimals: int | Mapping[str, int] | None
) -> dict[str, Any]:
    result = _compared(outcome, label)
    limits = _rounded(result.mean_interval, label, decimals)
    ranks = [f"{low}–{high}" for low, high in result.rank_set.tolist()]
    has_direction = outcome.scores.directions[label] in ("higher", "lower")
    is_ranked = result.own is not None and has_direction
    return {
        f"{label} low": limits[:, 0],
        f"{label} high": limits[:, 1],
        f"{label} rank set": ranks if is_ranked else [None] * len(ranks),
    }


def per_topic(
    outcome: Outcome,
    topics: pd.DataFrame,
    decimals: int | Mapping[str, int] | None,
    dataframe: bool,
) -> Any:
    """Return every score; topics without judgments have NaN."""
    scores = outcome.scores
    unjudged = [qid for qid in dict.fromkeys(topics["qid"]) if qid not in set(scores.topics)]
    qids = [*scores.topics, *unjudged]
    values = np.pad(scores.values, ((0, 0), (0, 0), (0, len(unjudged))), constant_values=np.nan)
    if not dataframe:
        return {
            r: {
                qid: {label: float(values[m, r, t]) for m, label in enumerate(scores.measures)}
                for t, qid in enumerate(qids)
            }
            for r in range(len(outcome.names))
        }
    rows = [
        (name, qid, label, float(values[m, r, t]))
        for r, name in enumerate(outcome.names)
        for t, qid in enumerate(qids)
        for m, label in enumerate(scores.measures)
    ]
    frame = pd.DataFrame(rows, columns=["name", "qid", "measure", "value"])
    frame = frame.sort_values(["name", "qid"], kind="stable")
    return frame.round({"value": decimals}) if isinstance(decimals, int) else frame


def highlighted(frame: pd.DataFrame, outcome: Outcome, highlight: str | None) -> Any:
    """Return the frame, or a Styler that marks the best cell of each column."""
    if highlight is None:
        return frame
    looks = {"bold": "font-weight: bold"}
    looks |= dict.fromkeys(("color", "colour"), "background-color: lightgreen")
    if highlight not in looks:
        raise UnknownNameError(f"unknown highlight {highlight!r}: choose from bold and color")
    labels = outcome.scores.measures
    highest, lowest = {*labels, *(f"{m} +" for m in labels)}, {"mrt", *(f"{m} -" for m in labels)}
    most: list[Any] = [column for column in frame if column in highest]
    least: list[Any] = [column for column in frame if column in lowest]
    style = frame.style.highlight_max(subset=most, props=looks[highlight])
    return style.highlight_min(subset=least, props=looks[highlight]) if least else style

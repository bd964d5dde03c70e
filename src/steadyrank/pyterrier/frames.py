"""The frames of an `Experiment`: PyTerrier's columns, and what steadyrank adds to each measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from steadyrank.data.scores import Scores
from steadyrank.errors import MachineError, UnknownNameError
from steadyrank.stats.pairs.decisions import adjust
from steadyrank.studies.compare.result import CompareResult
from steadyrank.studies.compare.study import compare

SUMMED = ("num_q", "num_rel", "num_ret", "num_rel_ret", "NumQ", "NumRel", "NumRet", "NumRelRet")
"""Columns that PyTerrier sums over topics; all others are means."""

CORRECTIONS = {"holm": "holm", "h": "holm", "bonferroni": "bonferroni", "b": "bonferroni"}
CORRECTIONS |= {"fdr_bh": "bh", "bh": "bh", "none": "none"}
"""Names of statsmodels for corrections of ours; others are left to statsmodels."""

TEST_NAMES = ("t", "sign", "randomization", "bootstrap", "tukey", "randomized-tukey")
"""Tests of ours; wilcoxon is scipy's, as in PyTerrier."""

Test = str | Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """Scores of all systems, and what the frame is made of."""

    names: list[str]
    """As given; those of `scores` are unique."""
    scores: Scores
    """One measure per label."""
    times: list[float]
    """Milliseconds per topic."""
    baseline: int | None
    test: Test
    correction: str | None
    alpha: float

    def matrix(self, label: str) -> np.ndarray:
        """Scores [system, topic] of one measure."""
        return self.scores.matrix(label)


def _mean(outcome: Outcome, label: str) -> np.ndarray:
    matrix = outcome.matrix(label)
    return np.asarray(matrix.sum(axis=1) if label in SUMMED else matrix.mean(axis=1))


def means_by_name(outcome: Outcome, with_time: bool) -> dict[str, dict[str, float]]:
    """What PyTerrier gives without a frame."""
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
    """PyTerrier's columns, then those of steadyrank."""
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
    """Topics gained and lost, p-values, and these corrected for the number of systems."""
    matrix, base = outcome.matrix(label), outcome.baseline
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
    """Of every other system against the baseline, uncorrected."""
    if outcome.test in TEST_NAMES:
        return _compared(outcome, label).pvalue
    matrix = outcome.matrix(label)
    if outcome.test == "wilcoxon":
        from scipy.stats import wilcoxon

        function: Any = wilcoxon
    elif callable(outcome.test):
        function = outcome.test
    else:
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
    result = compare(outcome.scores, measure=label, test=test, alpha=outcome.alpha, baseline=base)
    assert isinstance(result, CompareResult)  # of one measure
    return result


def _added_columns(
    outcome: Outcome, label: str, decimals: int | Mapping[str, int] | None
) -> dict[str, Any]:
    result = _compared(outcome, label)
    limits = _rounded(result.mean_interval, label, decimals)
    return {
        f"{label} low": limits[:, 0],
        f"{label} high": limits[:, 1],
        f"{label} rank set": [f"{low}–{high}" for low, high in result.rank_set.tolist()],
    }


def per_topic(
    outcome: Outcome,
    topics: pd.DataFrame,
    decimals: int | Mapping[str, int] | None,
    dataframe: bool,
) -> Any:
    """Every score; topics that nobody judged have NaN."""
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
    """The frame, or a Styler that marks the best cell of each column."""
    if highlight is None:
        return frame
    looks = {"bold": "font-weight: bold"}
    looks |= dict.fromkeys(("color", "colour"), "background-color: lightgreen")
    if highlight not in looks:
        raise UnknownNameError(f"unknown highlight {highlight!r}: choose from bold and color")
    labels = outcome.scores.measures
    most: list[Any] = [
        column for column in frame if column in {*labels, *(f"{m} +" for m in labels)}
    ]
    least: list[Any] = [
        column for column in frame if column in {"mrt", *(f"{m} -" for m in labels)}
    ]
    style = frame.style.highlight_max(subset=most, props=looks[highlight])
    return style.highlight_min(subset=least, props=looks[highlight]) if least else style

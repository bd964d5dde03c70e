"""`pt.Experiment` with several baselines: one family of comparisons per measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import pyterrier as pt
from scipy.stats import ttest_rel
from statsmodels.stats.multitest import multipletests


def Experiment(
    retr_systems: Mapping[str, Any],
    topics: pd.DataFrame,
    qrels: pd.DataFrame,
    eval_metrics: Sequence[Any],
    *,
    baselines: Sequence[str],
    correction: str = "holm",
    correction_alpha: float = 0.05,
    **options: Any,
) -> pd.DataFrame:
    """The frame of means, and for each measure and baseline: +, -, p-value, corrected, reject."""
    unknown = [name for name in baselines if name not in retr_systems]
    if unknown:
        raise ValueError(f"unknown baseline {unknown[0]!r}: the systems are {list(retr_systems)}")
    means, perquery = pt.Experiment(
        retr_systems, topics, qrels, eval_metrics, perquery="both", **options
    )
    names = means["name"].tolist()
    for measure in perquery["measure"].unique():
        scores = perquery[perquery["measure"] == measure].pivot(
            index="qid", columns="name", values="value"
        )
        columns = _comparisons(scores, names, baselines, correction, correction_alpha)
        added = {f"{measure} {column}": values for column, values in columns.items()}
        means = means.assign(**added)
    return means


def _comparisons(
    scores: pd.DataFrame, names: list[str], baselines: Sequence[str], correction: str, alpha: float
) -> dict[str, list[Any]]:
    """Columns for one measure, one value per system."""
    # A set knows no order, so that two baselines are one comparison.
    pairs = list(dict.fromkeys(frozenset((n, b)) for b in baselines for n in names if n != b))
    pvalues = [float(ttest_rel(*(scores[name] for name in pair)).pvalue) for pair in pairs]
    # Two systems that never differ have no p-value: they are not part of the family.
    tested = [k for k, p in enumerate(pvalues) if p == p]
    reject, corrected, _, _ = multipletests([pvalues[k] for k in tested], alpha, method=correction)
    of_pair = {pair: (p, p, False) for pair, p in zip(pairs, pvalues, strict=True)}
    for k, adjusted, is_rejected in zip(tested, corrected, reject, strict=True):
        of_pair[pairs[k]] = (pvalues[k], float(adjusted), bool(is_rejected))
    columns: dict[str, list[Any]] = {}
    for b in baselines:
        found = [of_pair.get(frozenset((name, b)), (None, None, False)) for name in names]
        signs = [scores[name] - scores[b] for name in names]
        own = [name == b for name in names]
        columns[f"{b} +"] = _counts((d > 0).sum() for d in signs).mask(own)
        columns[f"{b} -"] = _counts((d < 0).sum() for d in signs).mask(own)
        columns[f"{b} p-value"] = [p for p, _, _ in found]
        columns[f"{b} p-value corrected"] = [p for _, p, _ in found]
        columns[f"{b} reject"] = [is_rejected for _, _, is_rejected in found]
    return columns


def _counts(values: Any) -> pd.Series:
    return pd.Series(list(values), dtype="Int64")

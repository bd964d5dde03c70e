"""`ir_measures.calc_aggregate` with Student's interval of each mean over topics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from statistics import fmean, stdev
from typing import Any, NamedTuple

import ir_measures
from scipy.stats import t as student


class Aggregate(NamedTuple):
    """A measure over all topics, and the limits of its interval where there is one."""

    value: float
    low: float | None
    high: float | None


def calc_aggregate(
    measures: Iterable[Any], qrels: Any, run: Any, *, confidence: float | None = None
) -> dict[Any, Any]:
    """Aggregated values; with `confidence`, each with its interval."""
    aggregated, per_query = ir_measures.calc(measures, qrels, run)
    if confidence is None:
        return aggregated
    values = defaultdict(list)
    for metric in per_query:
        values[metric.measure].append(metric.value)
    return {
        measure: Aggregate(value, *_limits(measure, values[measure], confidence))
        for measure, value in aggregated.items()
    }


def _limits(
    measure: Any, values: list[float], confidence: float
) -> tuple[float, float] | tuple[None, None]:
    n = len(values)
    is_mean = isinstance(measure.aggregator(), ir_measures.measures.MeanAgg)
    if not is_mean or n < 2:
        return None, None
    half = student.ppf(0.5 + 0.5 * confidence, n - 1) * stdev(values) / n**0.5
    return float(fmean(values) - half), float(fmean(values) + half)

"""Aggregates of scores on many datasets: means, means of types, Borda, wins.

Each is a weighted mean over datasets of a column of numbers, so that the same sign flips apply to
all; the sampled units are datasets, types of datasets, or topics within datasets. Beside them
Friedman's test with Nemenyi's critical difference (Demšar 2006), and for one difference on many
datasets a random-effects meta-analysis: the true differences vary with variance tau² between
datasets, and each is estimated with the standard error of its topics.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import optimize, special

from steadyrank.errors import InputError, arg
from steadyrank.stats.inputs import check_open_unit, complete_topics
from steadyrank.stats.interval import Interval, t_limits
from steadyrank.stats.pairs.topic_design import TopicDesign, Units, cluster_sums, units_in_strata
from steadyrank.stats.run_means import SAME_MEAN, average_ranks, ranks_of

Aggregate = Literal["mean", "mean-of-types", "borda", "wins"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AggregateColumns:
    """Numbers to average: a run's value is the sum of weight x column over datasets."""

    values: np.ndarray
    """[run, dataset], NaN where missing."""
    weight: np.ndarray
    """[dataset]: weights, which sum to 1."""


def columns_of(
    scores: np.ndarray, aggregate: Aggregate, types: Sequence[str] = ()
) -> AggregateColumns:
    """Return the numbers and weights of an aggregate of scores [run, dataset], NaN where missing.

    "mean"; "mean-of-types", with equal weights for all `types`; "borda", points m - average rank
    among m runs; "wins", the share of the other runs beaten, with ties as half.
    """
    n_datasets = scores.shape[1]
    weight = np.full(n_datasets, 1.0 / n_datasets)
    if aggregate == "mean-of-types":
        weight = type_weights(types, n_datasets)
    if aggregate == "borda":
        return AggregateColumns(values=borda_points(scores), weight=weight)
    if aggregate == "wins":
        present = (~np.isnan(scores)).sum(axis=0)
        beaten = borda_points(scores) - (len(scores) - present)
        return AggregateColumns(values=beaten / np.maximum(present - 1.0, 1.0), weight=weight)
    return AggregateColumns(values=scores, weight=weight)


def type_weights(types: Sequence[str], n_datasets: int) -> np.ndarray:
    """Return weights of datasets such that all types have equal weight."""
    if len(types) != n_datasets:
        raise InputError(
            "a mean of types requires the type of every dataset: add a column type, or give "
            f"{arg('types=')}"
        )
    _, code, size = np.unique(list(types), return_inverse=True, return_counts=True)
    return np.asarray(1.0 / (len(size) * size[code]))


def borda_points(scores: np.ndarray) -> np.ndarray:
    """Return points [run, dataset]: m - average rank, with m all runs; NaN where missing.

    As in MTEB, a run without a score on a dataset counts as beaten by all others there.
    """
    points = np.full(scores.shape, np.nan)
    for column, out in zip(scores.T, points.T, strict=True):
        present = ~np.isnan(column)
        out[present] = len(scores) - average_ranks(-column[present])
    return points


def dataset_units(columns: AggregateColumns, groups: Sequence[str] = ()) -> Units:
    """Return the sampled units of complete columns: datasets, or groups of them as clusters."""
    codes = np.unique(list(groups), return_inverse=True)[1] if len(groups) else None
    return cluster_sums(columns.values, TopicDesign(clusters=codes, weights=columns.weight))


def topic_units(topic_scores: Sequence[np.ndarray], weight: np.ndarray) -> tuple[Units, int]:
    """Return topics within fixed datasets as units, and the number of incomplete topics omitted.

    `weight` is that of each dataset.
    """
    kept, dropped = zip(*map(complete_topics, topic_scores), strict=True)
    if any(scores.shape[1] < 2 for scores in kept):
        raise InputError(
            "resampling topics requires two topics of every dataset that all runs have"
        )
    return units_in_strata(kept, weight), sum(dropped)


def completion_values(scores: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return [run, 2]: the lowest and the highest weighted mean over all completions.

    Every missing score may be anything between the lowest and the highest score of its dataset.
    """
    ends = [np.nanmin(scores, axis=0), np.nanmax(scores, axis=0)]
    return np.stack([np.where(np.isnan(scores), end, scores) @ weight for end in ends], axis=1)


def completion_ranks(scores: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return [run, 2]: the best and the worst rank of each run over all completions; exact.

    A run's rank is best with its missing scores at their highest and those of others at their
    lowest, since completions of different runs are independent.
    """
    low, high = completion_values(scores, weight).T
    surely_above = low[None, :] > high[:, None] + SAME_MEAN
    maybe_above = high[None, :] > low[:, None] + SAME_MEAN
    np.fill_diagonal(maybe_above, False)
    return np.stack([1 + surely_above.sum(axis=1), 1 + maybe_above.sum(axis=1)], axis=1)


class NextRanks(NamedTuple):
    """Bounds of ranks on the next dataset of the same kind, and their confidence."""

    limits: np.ndarray
    """[run, 2]; NaN for a run on fewer than two datasets."""
    confidence: np.ndarray
    """[run]: 1 - alpha, or the confidence of the extremes for few datasets."""
    first_share: np.ndarray
    """[run]: share of its datasets on which no other run is better."""


def next_ranks(values: np.ndarray, alpha: float = 0.05) -> NextRanks:
    """Return bounds of each run's rank on the next dataset, assuming only exchangeability.

    The floor(alpha/2 (T + 1))-th and the ceil((1 - alpha/2) (T + 1))-th of the sorted ranks on T
    datasets. If there are too few datasets, the extremes, with confidence (T - 1) / (T + 1).

    >>> found = next_ranks(np.array([[0.9, 0.8, 0.1], [0.5, 0.6, 0.7]]))
    >>> found.limits.tolist(), found.confidence.tolist()
    ([[1.0, 2.0], [1.0, 2.0]], [0.5, 0.5])
    """
    known = ~np.isnan(values)
    ranks = np.stack([ranks_of(column).astype(float) for column in values.T], axis=1)
    ranks[~known] = np.inf
    ranks.sort(axis=1)
    n = known.sum(axis=1)
    low = np.floor(alpha / 2 * (n + 1)).astype(int)
    high = np.ceil((1 - alpha / 2) * (n + 1)).astype(int)
    is_enough = (low >= 1) & (high <= n)
    low, high = np.where(is_enough, low, 1), np.where(is_enough, high, n)
    rows = np.arange(len(values))
    limits = np.stack([ranks[rows, low - 1], ranks[rows, np.maximum(high, 1) - 1]], axis=1)
    limits[n < 2] = np.nan
    confidence = np.where(is_enough, 1 - alpha, (n - 1) / (n + 1))
    return NextRanks(limits, confidence, (ranks == 1).sum(axis=1) / np.maximum(n, 1))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Friedman:
    """Average ranks, Friedman's test, and the critical difference of two ranks."""

    average_rank: np.ndarray
    """[run]: 1 is the best."""
    statistic: float
    """Friedman's chi-square, corrected for ties."""
    pvalue: float
    critical_difference: float
    """Nemenyi's critical difference, at level alpha for all pairs together."""


def friedman(scores: np.ndarray, *, alpha: float = 0.05) -> Friedman:
    """Return Friedman's test of complete scores [run, dataset]; higher scores are better.

    Reference: Demšar, JMLR 7, 2006, https://jmlr.org/papers/v7/demsar06a.html.

    >>> round(friedman(np.random.default_rng(0).random((5, 30))).critical_difference, 3)
    1.114
    """
    check_open_unit("alpha", alpha)
    if scores.ndim != 2 or len(scores) < 2 or scores.shape[1] < 1 or np.isnan(scores).any():
        raise InputError("Friedman's test requires complete scores of two runs or more")
    n_runs, n_datasets = scores.shape
    ranks = average_ranks(-scores.T).T
    average = ranks.mean(axis=1)
    spread = np.square(ranks - 0.5 * (n_runs + 1.0)).sum() / (n_runs - 1.0)
    between = n_datasets**2 * np.square(average - 0.5 * (n_runs + 1.0)).sum()
    statistic = float(between / spread) if spread > 0.0 else 0.0
    return Friedman(
        average_rank=average,
        statistic=statistic,
        pvalue=float(special.chdtrc(n_runs - 1.0, statistic)),
        critical_difference=critical_difference(n_runs, n_datasets, alpha),
    )


def critical_difference(n_runs: int, n_datasets: int, alpha: float) -> float:
    """Return Nemenyi's q sqrt(m(m + 1) / (6 n)), q the studentized range of m over sqrt(2)."""
    q = float(scipy.stats.studentized_range.ppf(1.0 - alpha, n_runs, np.inf)) / math.sqrt(2.0)
    return q * math.sqrt(n_runs * (n_runs + 1.0) / (6.0 * n_datasets))


SMALLEST_VARIANCE = 1e-10
"""Smallest variance of a dataset relative to the largest, so that no dataset dominates."""

GRID = 200
"""Number of values of tau² between which maxima of the restricted likelihood are searched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomEffects:
    """Meta-analysis of one difference on several datasets."""

    n: int
    difference: float
    error: float
    """Hartung and Knapp's standard error."""
    interval: Interval
    """Interval of the mean difference: Hartung-Knapp-Sidik-Jonkman, t with n - 1."""
    prediction: Interval
    """Interval of the true difference on the next dataset, t with n - 2; NaN below three."""
    tau2: float
    """Variance of the true differences between datasets, by REML."""
    i2: float
    """Share of the variance between datasets in the total variance."""
    q: float
    """Cochran's statistic of heterogeneity; chi-square with n - 1 if tau² is 0."""
    q_pvalue: float


def random_effects(
    difference: ArrayLike, error: ArrayLike, *, confidence: float = 0.95
) -> RandomEffects:
    """Return the random-effects meta-analysis of differences with known standard errors.

    tau² maximises the restricted likelihood (Viechtbauer 2005, doi:10.3102/10769986030003261);
    weights are 1 / (tau² + error²). The standard error is Hartung and Knapp's (2001,
    doi:10.1002/sim.1009), sqrt(sum w (d - mean)² / ((n - 1) sum w)). The prediction interval
    (Higgins, Thompson and Spiegelhalter 2009, doi:10.1111/j.1467-985X.2008.00552.x) is about one
    more dataset.
    """
    check_open_unit("confidence", confidence)
    d, s = (np.asarray(part, np.float64) for part in (difference, error))
    if d.ndim != 1 or d.shape != s.shape or len(d) < 2:
        raise InputError("random effects require two or more differences, each with its error")
    if not np.isfinite(d).all() or not np.isfinite(s).all() or (s < 0.0).any():
        raise InputError("differences and errors must be finite numbers, errors not negative")
    least = SMALLEST_VARIANCE * max(float(np.square(s).max()), float(d.var()))
    v = np.maximum(np.square(s), least if least > 0.0 else 1e-300)
    tau2 = _reml(d, v)
    n, w = len(d), 1.0 / (tau2 + v)
    mean = float(w @ d / w.sum())
    se = math.sqrt(float(w @ np.square(d - mean)) / ((n - 1.0) * w.sum()))
    alone = 1.0 / v
    q = float(alone @ np.square(d - alone @ d / alone.sum()))
    # Typical variance within datasets, as averaged by Higgins and Thompson (2002) for I².
    typical = float((n - 1.0) * alone.sum() / (alone.sum() ** 2 - np.square(alone).sum()))
    return RandomEffects(
        n=n,
        difference=mean,
        error=se,
        interval=_around(mean, se, n - 1, confidence),
        prediction=_around(mean, math.sqrt(tau2 + se * se), n - 2, confidence),
        tau2=tau2,
        i2=tau2 / (tau2 + typical),
        q=q,
        q_pvalue=float(special.chdtrc(n - 1.0, q)),
    )


def next_dataset(difference: ArrayLike, *, confidence: float = 0.95) -> Interval:
    """Return the interval of the difference on the next dataset, without errors within datasets.

    mean ± t s sqrt(1 + 1/n); s includes the noise within datasets.
    """
    d = np.asarray(difference, np.float64)
    if len(d) < 2:
        return Interval(math.nan, math.nan)
    spread = d.std(ddof=1) * math.sqrt(1.0 + 1.0 / len(d))
    return _around(float(d.mean()), float(spread), len(d) - 1, confidence)


def _around(mean: float, error: float, df: int, confidence: float) -> Interval:
    return t_limits(mean, error, df, confidence) if df > 0 else Interval(math.nan, math.nan)


def _reml(d: np.ndarray, v: np.ndarray) -> float:
    """Return the tau² of the highest restricted likelihood, which may have several maxima."""
    top = 10.0 * (d.var(ddof=1) + v.max())
    grid = np.concatenate([[0.0], np.geomspace(1e-8 * top, top, GRID)])
    slope = np.array([_slope(tau2, d, v) for tau2 in grid])
    roots = [0.0] if slope[0] <= 0.0 else []
    for k in np.flatnonzero((slope[:-1] > 0.0) & (slope[1:] <= 0.0)):
        ends = grid[k], grid[k + 1]
        roots.append(float(optimize.brentq(_slope, *ends, args=(d, v), xtol=1e-300, rtol=1e-14)))
    return max(roots, key=lambda tau2: _likelihood(tau2, d, v))


def _slope(tau2: float, d: np.ndarray, v: np.ndarray) -> float:
    """Return twice the derivative of the restricted log likelihood."""
    w = 1.0 / (tau2 + v)
    mean = w @ d / w.sum()
    return float(np.square(w) @ np.square(d - mean) - w.sum() + np.square(w).sum() / w.sum())


def _likelihood(tau2: float, d: np.ndarray, v: np.ndarray) -> float:
    """Return twice the restricted log likelihood, up to a constant."""
    w = 1.0 / (tau2 + v)
    mean = w @ d / w.sum()
    return float(np.log(w).sum() - math.log(w.sum()) - w @ np.square(d - mean))

"""The difference of two systems on many datasets and on the next one: random-effects meta-analysis.

Each dataset has a different true difference, estimated with the standard error of its topics; the
true differences vary with variance tau² between datasets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special

from steadyrank.errors import InputError
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.interval import Interval, t_limits

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

    tau² maximises the restricted likelihood; weights are 1 / (tau² + error²). The standard error is
    Hartung and Knapp's, sqrt(sum w (d - mean)² / ((n - 1) sum w)), which allows for the estimation
    of tau² from few datasets. Assumes normal errors within and between datasets. The interval is
    about the mean over datasets like these, the prediction interval about one more of them: if tau²
    is large, a significant mean difference may be reversed on the next dataset.

    References: Viechtbauer 2005, doi:10.3102/10769986030003261 (REML); Hartung and Knapp 2001,
    doi:10.1002/sim.1009; Higgins, Thompson and Spiegelhalter 2009,
    doi:10.1111/j.1467-985X.2008.00552.x (prediction).

    >>> found = random_effects([0.1, 0.3, 0.2, 0.4], [0.05, 0.1, 0.05, 0.1])
    >>> round(found.difference, 4), round(found.tau2, 4)
    (0.2274, 0.0104)
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

    mean ± t s sqrt(1 + 1/n): assumes normal differences; s includes the noise within datasets.

    >>> round(next_dataset([0.1, 0.2, 0.3]).low, 4)
    -0.2968
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

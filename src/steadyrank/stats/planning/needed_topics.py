"""How many topics are required for an observed difference to be significant, with an interval?

For two runs that are not significantly different: the number of topics by the pair's paired
variance and at the level of its test, with an interval from the precision of the difference and the
variance in the pilot. It is infinite if no number suffices.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from steadyrank.errors import InputError
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.planning.design import (
    FEWEST_CORRECTED,
    MOST_TOPICS,
    check_rates,
    corrected_level,
    f_power,
    noncentrality_for_power,
)
from steadyrank.stats.planning.variance import assured

MOST_SHOWN = 100_000
"""Pages show no numbers of topics above this."""

SMALL = 40
"""Up to this number of topics the table has each number; beyond, it is interpolated."""

STEP, FAR = 1.25, 1e5
"""Ratio of adjacent numbers of topics in the table, and its largest finite number."""

NEAR_WHOLE, LARGE = 4.0, 10_000.0
"""For n below the second, if n is closer to a whole number than the first over n, the exact power
decides instead of the interpolation, whose error in topics falls with their number."""

SMALLEST_LEVEL = 1e-12
"""At smaller levels the table is not precise enough for whole numbers."""

SEARCHED = 4_000
"""Largest number of pairs whose intervals are computed one by one."""

FARTHEST_T = 1000.0
"""Beyond this, the limits of the noncentrality are proportional to the statistic."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NeededTopics:
    """Numbers of topics for each difference; infinite if no number suffices.

    NaN for fewer than two pilot topics.
    """

    topics: np.ndarray
    """Number if the observed difference and variance are the true ones; see `high`."""
    low: np.ndarray
    high: np.ndarray
    """Infinite if the interval of the difference contains 0: then only the lower bound `low` is
    known."""
    assured: np.ndarray
    """Number with 80 % assurance against the variance, if the observed difference is the true one:
    the number to recommend. Equals `topics` if the variance is known."""


def needed_topics(
    difference: ArrayLike,
    variance: ArrayLike,
    n: ArrayLike,
    *,
    alpha: float = 0.05,
    beta: float = 0.2,
    confidence: float = 0.95,
    variance_df: ArrayLike = math.inf,
    corrected: bool = False,
) -> NeededTopics:
    """Return the topics for which differences observed on n topics are significant by a t test.

    `variance` is that of the differences by topic (ddof 1). `alpha` is the level of one comparison,
    two-sided; `confidence` is that of each pair's interval; `variance_df` are the effective degrees
    of freedom of its variance (`pair_df`). With `corrected` the test is that of `compare`.

    The number depends only on the standardised difference delta = difference / sd. The statistic t
    = sqrt(n) difference / sd has the noncentral t distribution with noncentrality sqrt(n) delta,
    which gives an exact interval of delta for normal differences; the topics at its limits are the
    interval. If it contains 0, the upper limit is infinite. Without a difference no number
    suffices; for a difference without variance two topics do.
    """
    check_rates(alpha, beta)
    if alpha < SMALLEST_LEVEL:
        raise InputError(
            f"the level of a comparison must be at least {SMALLEST_LEVEL:g}, got {alpha:g}: use a "
            "larger alpha or fewer comparisons"
        )
    tail = (1.0 - check_open_unit("confidence", confidence)) / 2.0
    gap, spread, size = np.broadcast_arrays(
        *(np.asarray(part, np.float64) for part in (difference, variance, n))
    )
    known = ~np.isnan(gap + spread) & (size >= 2.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        standardised = np.where(gap == 0.0, 0.0, np.abs(gap) / np.sqrt(spread))
    standardised = np.where(known, standardised, np.nan)
    least, most = _standardised_limits(standardised, size, tail)
    most = np.where((gap == 0.0) & (spread == 0.0) & known, 0.0, most)
    with_assurance = standardised / np.sqrt(assured(1.0, variance_df))
    deltas = np.stack([standardised, most, least, with_assurance])
    found = _sizes(deltas.ravel(), alpha, beta, corrected).reshape(deltas.shape)
    return NeededTopics(**dict(zip(("topics", "low", "high", "assured"), found, strict=True)))


def _standardised_limits(
    standardised: np.ndarray, n: np.ndarray, tail: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits of the absolute standardised differences."""
    root = np.sqrt(np.where(n >= 2.0, n, np.nan))
    t = standardised * root
    shrunk = np.where(np.isfinite(t), np.minimum(t, FARTHEST_T), 1.0)
    low, high = (_noncentrality_at(root**2 - 1.0, p, shrunk) for p in (1.0 - tail, tail))
    with np.errstate(invalid="ignore"):
        factor = np.where(np.isinf(t), np.inf, np.where(t > FARTHEST_T, t / FARTHEST_T, 1.0))
        least, most = np.maximum(low, 0.0) * factor, np.maximum(high, -low) * factor
        # Instead of 0 times infinity: a difference without variance is known exactly.
        least = np.where(np.isinf(t), np.inf, least)
    missing = np.isnan(standardised)
    return tuple(np.where(missing, np.nan, end / root) for end in (least, most))  # type: ignore[return-value]


def _noncentrality_at(df: np.ndarray, rate: float, t: np.ndarray) -> np.ndarray:
    """Return the noncentrality at which t is the quantile of this rate.

    If very many t have the same degrees of freedom, as for all pairs of runs, by a spline through
    some of them: both agree to five digits.
    """
    found = np.full(t.shape, np.nan)
    for each in np.unique(df[~np.isnan(df)]).tolist():
        own = df == each
        if own.sum() <= SEARCHED or each < 4.0:  # SciPy is inexact for fewer df
            found[own] = special.nctdtrinc(each, rate, t[own])
            continue
        from scipy.interpolate import CubicSpline

        nodes = np.linspace(0.0, np.arcsinh(t[own].max()), SEARCHED)
        known = special.nctdtrinc(each, rate, np.sinh(nodes))
        found[own] = CubicSpline(nodes, known)(np.arcsinh(t[own]))
    return found


def _sizes(
    standardised: np.ndarray, alpha: float, beta: float, corrected: bool = False
) -> np.ndarray:
    """Return the smallest n >= 2 for each standardised difference; infinite for 0."""
    sizes, noncentrality = _noncentralities(alpha, beta, corrected)
    smallest = noncentrality[: SMALL - 1] / np.sqrt(sizes[: SMALL - 1])
    n_topics = np.full(standardised.shape, np.nan)
    n_topics[standardised == 0.0] = np.inf
    few = standardised >= smallest[-1]
    n_topics[few] = 2.0 + np.searchsorted(-smallest, -standardised[few])
    many = (standardised > 0.0) & ~few
    rates = (alpha, beta, corrected)
    n_topics[many] = _interpolated(standardised[many], sizes, noncentrality, *rates)
    return np.maximum(n_topics, FEWEST_CORRECTED) if corrected else n_topics


def _interpolated(
    standardised: np.ndarray,
    sizes: np.ndarray,
    noncentrality: np.ndarray,
    alpha: float,
    beta: float,
    corrected: bool,
) -> np.ndarray:
    """Solve n = (noncentrality(n) / standardised)², rounded up; by exact power near wholes."""
    # np.interp requires ascending abscissas.
    shares, values = 1.0 / sizes[::-1], noncentrality[::-1]
    low = np.full(standardised.shape, math.log(SMALL - 1))
    high = np.full(standardised.shape, math.log(100.0 * MOST_TOPICS))
    for _ in range(60):
        middle = 0.5 * (low + high)
        is_enough = np.interp(np.exp(-middle), shares, values) <= standardised * np.exp(middle / 2)
        low, high = np.where(is_enough, low, middle), np.where(is_enough, middle, high)
    n = np.exp(high)
    whole, guess = np.ceil(n), np.round(n)
    near = np.flatnonzero((np.abs(n - guess) < NEAR_WHOLE / n) & (n < LARGE))
    guess = guess[near]
    level = corrected_level(alpha, guess) if corrected else alpha
    power = f_power(guess * np.square(standardised[near]), 1, guess - 1.0, level)
    whole[near] = np.where(power >= 1.0 - beta, guess, guess + 1.0)
    return np.where(whole <= MOST_TOPICS, whole, np.inf)


@functools.lru_cache(maxsize=128)
def _noncentralities(alpha: float, beta: float, corrected: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers of topics, infinity last, and sqrt(n) delta with power 1 - beta."""
    rising = SMALL * STEP ** np.arange(1, math.ceil(math.log(FAR / SMALL, STEP)) + 1)
    sizes = np.concatenate([np.arange(2.0, SMALL + 1), np.ceil(rising), [np.inf]])
    level = corrected_level(alpha, sizes) if corrected else np.full(len(sizes), alpha)
    noncentralities, some = np.full(len(sizes), np.inf), level > 0.0
    found = noncentrality_for_power(1.0 - beta, 1, sizes[some] - 1.0, level[some])
    noncentralities[some] = np.sqrt(found)
    return sizes, noncentralities

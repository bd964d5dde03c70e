"""Would a second experiment, on other topics, reverse the order of two runs?

The retrieval experiment error rate (REER) of Lin & Hauptmann ("Revisiting the effect of topic set
size on retrieval error", SIGIR 2005) for a *true* difference, with the variance of two independent
runs or, for shared topics, the paired one; and the predictive form for an *observed* difference.
Variances are per topic.

The decrease of such rates with the number of topics, and their extrapolation, is the exponential
b1 exp(-b2 n) of Voorhees & Buckley (SIGIR 2002, doi:10.1145/564376.564432), eq. 9 of Lin &
Hauptmann, by weighted least squares.

The probability that the same number of new topics (or datasets) reverses a pair cannot be read from
the t of the pair: on other topics the best runs regress towards the others, by an amount that
depends on all runs. One constant per table, learned from the mean p-value of its pairs, corrects
for that (`swap_constant`). `docs/forecasts.md` compares forecasts with outcomes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from scipy.special import ndtr, ndtri

from steadyrank.compute.executors import one_blas_thread
from steadyrank.errors import InputError, arg
from steadyrank.stats.inputs import checked
from steadyrank.stats.pairs.max_t import unit_errors
from steadyrank.stats.pairs.result import (
    CONSTANT,
    NO_DIFFERENCE,
    ZERO_VARIANCE,
    all_pairs,
    degenerate_flags,
)
from steadyrank.stats.pairs.tests import differences, moments, row_moments
from steadyrank.stats.pairs.topic_design import Units
from steadyrank.stats.planning.design import whole_size
from steadyrank.stats.planning.variance import pair_df
from steadyrank.stats.run_means import SAME_MEAN


def error_rate(
    difference: ArrayLike, variance: ArrayLike, n: ArrayLike, other_n: ArrayLike | None = None
) -> np.ndarray:
    """Return the probability that two experiments contradict each other, given the true difference.

    p1 (1 - p2) + p2 (1 - p1) with p = Phi(-difference / sqrt(variance / n)) the probability that an
    experiment of n topics orders the runs wrongly; for equal sizes eq. 8, 2 p (1 - p). `variance`
    is that of differences by topic: s_a² + s_b² - 2 s_ab for runs on the same topics, s_a² + s_b²
    as in eq. 3 for runs on different topics. Without variance 0, or 1/2 for a difference of 0.
    """
    wrong = ndtr(-_standardised(difference, variance, n))
    second = wrong if other_n is None else ndtr(-_standardised(difference, variance, other_n))
    return np.asarray(wrong * (1.0 - second) + second * (1.0 - wrong))


def approximate_error_rate(difference: ArrayLike, variance: ArrayLike, n: ArrayLike) -> np.ndarray:
    """Return eq. 13, which decays exponentially in n: exp(-(2/pi) difference² n / variance) / 2.

    It uses Williams' Phi(z) = (1 + sqrt(1 - exp(-2 z² / pi))) / 2 for z >= 0 (Annals of
    Mathematical Statistics 17, 1946; eq. 12 of the paper prints 2 instead of 4, from which eq. 13
    would not follow). It is below `error_rate` by at most 0.0058.
    """
    return np.asarray(0.5 * np.exp(-2.0 / np.pi * _standardised(difference, variance, n) ** 2))


def predictive_rate(
    difference: ArrayLike, variance: ArrayLike, n: ArrayLike, other_n: ArrayLike | None = None
) -> np.ndarray:
    """Return the probability that a second experiment reverses an *observed* mean difference.

    Phi(-|difference| / sqrt(variance / n + variance / other_n)): the difference was observed on n
    topics, and the second experiment has `other_n` other topics, by default n. Assumes a uniform
    prior of true differences: too low for runs selected as the best, or if all runs are similar.
    """
    size = np.asarray(n, np.float64)
    other = size if other_n is None else np.asarray(other_n, np.float64)
    _check_sizes(size, other)
    return np.asarray(ndtr(-_standardised(difference, variance, 1.0 / (1.0 / size + 1.0 / other))))


def topics_for_error_rate(
    difference: ArrayLike, variance: ArrayLike, rate: float = 0.05
) -> np.ndarray:
    """Return the topics per experiment for which a true difference has `error_rate` <= rate.

    ceil(variance (Phi^-1(p) / difference)²) with p = (1 - sqrt(1 - 2 rate)) / 2; at least 1, and
    infinite where there is no difference. Whole numbers, as floats.

    >>> topics_for_error_rate(0.03, 0.025, 0.05).item()
    106.0
    """
    if not 0.0 < rate < 0.5:
        raise InputError(f"a target error rate must lie strictly between 0 and 0.5, got {rate}")
    quantile = float(ndtri(rate / (1.0 + np.sqrt(1.0 - 2.0 * rate))))
    with np.errstate(divide="ignore"):
        size = (quantile / _standardised(difference, variance, 1.0)) ** 2
    return whole_size(size)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairVariances:
    """Moments of each pair of runs, over the topics that both have."""

    n: np.ndarray
    difference: np.ndarray
    """0 if it is only rounding, as is `variance`."""
    variance_a: np.ndarray
    variance_b: np.ndarray
    covariance: np.ndarray
    variance: np.ndarray
    """Variance of the differences by topic: variance_a + variance_b - 2 covariance."""
    df: np.ndarray
    """Effective degrees of freedom of that variance."""
    skewness: np.ndarray
    """Skewness of the differences; 0 for constant ones."""
    flag: np.ndarray
    """"" or one of the flags of degenerate pairs."""


def pair_variances(scores: ArrayLike, pairs: ArrayLike) -> PairVariances:
    """Return means, variances (ddof 1) and covariance of pairs of rows of scores [run, topic]."""
    matrix, chosen = checked(scores, pairs)
    has_gaps = bool(np.isnan(matrix).any())
    n = np.zeros(len(chosen), np.int64)
    difference, sd, skewness, largest, variance_a, variance_b, df = np.empty((7, len(chosen)))
    for part, z, _ in differences(matrix, chosen):
        n[part], difference[part], sd[part], skewness[part], largest[part] = row_moments(z)
        df[part] = pair_df(z)
        for side, variances in enumerate((variance_a, variance_b) if has_gaps else ()):
            own = np.where(np.isnan(z), np.nan, matrix[chosen[part, side]])
            variances[part] = row_moments(own)[2] ** 2
    if not has_gaps:
        variance_a, variance_b = (row_moments(matrix)[2] ** 2)[chosen].T
    flag = degenerate_flags(n, difference, sd, largest)
    constant = (flag == NO_DIFFERENCE) | (flag == ZERO_VARIANCE)
    variance = np.where(constant, 0.0, sd**2)
    nothing = np.abs(difference) <= CONSTANT * np.maximum(1.0, largest)
    return PairVariances(
        n=n,
        difference=np.where(nothing, 0.0, difference),
        variance_a=variance_a,
        variance_b=variance_b,
        covariance=0.5 * (variance_a + variance_b - variance),
        variance=variance,
        df=df,
        skewness=skewness * np.sqrt(n),
        flag=flag,
    )


def _standardised(difference: ArrayLike, variance: ArrayLike, n: ArrayLike) -> np.ndarray:
    """Return |difference| in standard errors; infinite without variance, 0 without difference."""
    spread, size = np.asarray(variance, np.float64), np.asarray(n, np.float64)
    if (spread < 0.0).any():
        raise InputError(f"a variance must be at least 0, got {spread.min()}")
    _check_sizes(size)
    distance = np.abs(np.asarray(difference, np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = distance / np.sqrt(spread / size)
    return np.where((distance == 0.0) & ~np.isnan(spread + size), 0.0, z)


def _check_sizes(*sizes: np.ndarray) -> None:
    for size in sizes:
        if (size <= 0.0).any():
            raise InputError(f"a number of topics must be above 0, got {size.min():g}")


FEWEST = 3
"""Fewest sizes with a positive rate for a fit of two parameters."""

LEAST_SQUARES, LOG_LINEAR, NONE = "least squares", "log-linear", ""

STEPS = 96
"""Number of rates of decay on the initial grid."""

HALVINGS = 60
"""Steps of a bisection."""

SLOWEST, FASTEST = 1e-4, 200.0
"""Smallest and largest decay over the span of sizes; beyond, only one rate or none differs."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Decays:
    """Fits of many series of rates; NaN and "" without a fit."""

    b1: np.ndarray
    b2: np.ndarray
    method: np.ndarray

    def at(self, sizes: ArrayLike) -> np.ndarray:
        """Return the fitted rates, [series, size]."""
        n = np.asarray(sizes, np.float64)
        return np.asarray(self.b1[:, None] * np.exp(-self.b2[:, None] * n))


def fit_decays(sizes: ArrayLike, rates: ArrayLike, *, weights: ArrayLike | None = None) -> Decays:
    """Fit b1 exp(-b2 n) to each row of rates [series, size].

    Minimises sum w (rate - b1 exp(-b2 n))² with b2 > 0; given b2 the best b1 is linear, so the
    search is only over b2, and finds the smallest of several minima. If least squares finds no
    decay, the fit is the straight line through the logarithms of the positive rates, if that
    decreases. No fit with fewer than three positive rates. `weights` [series, size] are the counts
    of the rates; rates that are NaN or have weight 0 are omitted. The curve has no interval: the
    central 95 % of refits to resampled splits of normal systems contained the true rate in 18 to 42
    % of the studies.
    """
    n, rate, weight = _checked(sizes, rates, weights)
    enough = ((rate > 0.0) & (weight > 0.0)).sum(axis=1) >= FEWEST
    b1, b2 = np.full((2, len(rate)), np.nan)
    method = np.full(len(rate), NONE, dtype=object)
    with one_blas_thread():
        b1[enough], b2[enough] = _least_squares(n, rate[enough], weight[enough])
    method[~np.isnan(b2)] = LEAST_SQUARES
    rest = enough & np.isnan(b2)
    b1[rest], b2[rest] = log_linear(n, rate[rest], weight=weight[rest])
    rising = rest & ~(b2 > 0.0)
    b1[rising] = b2[rising] = np.nan
    method[rest & ~rising] = LOG_LINEAR
    return Decays(b1=b1, b2=b2, method=method)


def log_linear(
    n: np.ndarray, rate: np.ndarray, *, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return b1 and b2 of the lines log b1 - b2 n through the positive rates [series, size]."""
    used = np.where(rate > 0.0, weight, 0.0)
    height = np.log(np.where(rate > 0.0, rate, 1.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        share = used / used.sum(axis=1, keepdims=True)
        centre = (share * n).sum(axis=1, keepdims=True)
        off = n - centre
        slope = (share * off * height).sum(axis=1) / (share * off**2).sum(axis=1)
        return np.exp((share * height).sum(axis=1) - slope * centre[:, 0]), -slope


def _checked(
    sizes: ArrayLike, rates: ArrayLike, weights: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return sizes, rates and weights as arrays; rates to omit have weight 0 and rate 0."""
    n, rate = np.asarray(sizes, np.float64), np.asarray(rates, np.float64)
    if rate.ndim != 2 or n.ndim != 1 or rate.shape[1] != len(n):
        raise InputError(
            f"{arg('rates')} must be [series, size] with {n.size} sizes, got shape {rate.shape}"
        )
    weight = np.ones_like(rate) if weights is None else np.asarray(weights, np.float64)
    if weight.shape != rate.shape or (weight < 0.0).any():
        raise InputError(f"{arg('weights')} must be at least 0 and have the shape of the rates")
    there = ~np.isnan(rate) & (weight > 0.0)
    return n, np.where(there, rate, 0.0), np.where(there, weight, 0.0)


def _least_squares(
    n: np.ndarray, rate: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return b1 and b2 of each row; NaN if the best b2 is at an end of the grid.

    With e = exp(-b2 n), b1 = sum w r e / sum w e², and the remainder decreases with (sum w r e)² /
    sum w e²: stationary if the means of n weighted by w e² and by w r e are equal.
    """
    if not len(rate):
        return np.empty(0), np.empty(0)
    shift = n - n.min()
    span = shift.max() or 1.0
    grid = np.geomspace(SLOWEST, FASTEST, STEPS) / span
    decay = np.exp(-grid[:, None] * shift)
    explained = ((weight * rate) @ decay.T) ** 2 / (weight @ (decay**2).T)
    best = explained.argmax(axis=1)
    inside = (best > 0) & (best < STEPS - 1)
    b2 = np.full(len(rate), np.nan)
    low, high = grid[best[inside] - 1], grid[best[inside] + 1]
    b2[inside] = _stationary(shift, rate[inside], weight[inside], low, high)
    e = np.exp(-np.where(np.isnan(b2), 0.0, b2)[:, None] * shift)
    b1 = (weight * rate * e).sum(axis=1) / (weight * e * e).sum(axis=1)
    return np.where(np.isnan(b2), np.nan, b1 * np.exp(np.nan_to_num(b2) * n.min())), b2


def _stationary(
    n: np.ndarray, rate: np.ndarray, weight: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Return the b2 in (low, high) at which the two means of n agree, by bisection."""
    for _ in range(HALVINGS):
        b2 = 0.5 * (low + high)
        e = np.exp(-b2[:, None] * n)
        own, seen = weight * e * e, weight * rate * e
        is_above = (own @ n) * seen.sum(axis=1) > (seen @ n) * own.sum(axis=1)
        low, high = np.where(is_above, b2, low), np.where(is_above, high, b2)
    return np.asarray(0.5 * (low + high))


USUAL, USUAL_WEIGHT = 0.65, 3.0
"""The constant of a typical table, and its weight in runs; two runs give no information on it."""

LEAST_CONSTANT = 0.02
"""Smallest constant; the largest is 1."""

SAMPLED = 8192
"""Number of pairs from which a constant is computed; of more, every k-th by the size of t."""


def swap_chances(scores: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return the probability that the same number of new topics reverses each pair of runs.

    T(-c |t|), T Student's distribution function with n - 1 degrees of freedom, t that of the paired
    test, c the constant of all pairs of the runs (`swap_constant`). 1/2 for equal means; NaN for
    fewer than two common topics.
    """
    t, df = _paired_t(scores, all_pairs(len(scores)))
    constant = swap_constant(t, df, len(scores))
    t, df = _paired_t(scores, pairs)
    return np.asarray(special.stdtr(df, -constant * np.abs(t)))


def swap_share(scores: np.ndarray) -> float:
    """Return the expected share of ordered pairs that the same number of new topics reverses.

    One forecast has an error of about two percentage points; print no decimals.
    """
    pairs = all_pairs(len(scores))
    return share_of(swap_chances(scores, pairs), moments(scores, pairs).mean)


def unit_swap_share(units: Units) -> float:
    """Return the swap share of units that may differ in weight, such as types of datasets."""
    pairs = all_pairs(len(units.sums))
    difference = np.subtract(*units.value[pairs.T])
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(np.abs(difference) <= SAME_MEAN, 0.0, difference / unit_errors(units, pairs))
    df = np.full(len(pairs), float(len(units.share) - len(units.sizes)))
    constant = swap_constant(t, df, len(units.sums))
    return share_of(special.stdtr(df, -constant * np.abs(t)), difference)


def share_of(chances: np.ndarray, differences: np.ndarray) -> float:
    """Return the mean probability of the pairs with different means; NaN without any."""
    known = (np.abs(differences) > SAME_MEAN) & ~np.isnan(chances)
    return float(chances[known].mean()) if known.any() else float("nan")


def swap_constant(t: np.ndarray, df: np.ndarray, n_runs: int) -> float:
    """Return the factor of all pairs' t that makes the mean probability of a swap correct.

    p, the mean two-sided p-value, is the share of pairs that random halves order differently. If
    the differences of both halves are normal with correlation rho, that share is arccos(rho) / pi;
    two whole sets have the correlation 2 rho / (1 + rho). The constant makes the mean probability
    equal to their share, and is shrunk towards `USUAL` if there are few runs.
    """
    size = np.abs(t)
    known = (size > 0.0) & ~np.isnan(size + df)
    step = -(-int(known.sum()) // SAMPLED) or 1
    order = np.argsort(size[known], kind="stable")[step // 2 :: step]
    size, df = size[known][order], df[known][order]
    if not len(size):
        return USUAL
    rho = float(np.cos(np.pi * 2.0 * special.stdtr(df, -size).mean()))
    share = float(np.arccos(2.0 * rho / (1.0 + rho)) / np.pi) if rho > 0.0 else 0.5
    low, high = LEAST_CONSTANT, 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        is_less = special.stdtr(df, -middle * size).mean() < share
        low, high = (low, middle) if is_less else (middle, high)
    own = (n_runs - 2.0) / (n_runs - 2.0 + USUAL_WEIGHT)
    return float((0.5 * (low + high)) ** own * USUAL ** (1.0 - own))


def _paired_t(scores: np.ndarray, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return t of each pair, without a variance floor, and its df; NaN if unknown."""
    found = moments(scores, pairs)
    mean = np.where(np.abs(found.mean) > SAME_MEAN, found.mean, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(mean == 0.0, 0.0, mean / found.standard_error)
    few = found.n < 2
    return np.where(few, np.nan, t), np.where(few, np.nan, found.df)

"""The studentised range: the range of k equal means in standard errors.

For Tukey's test of thousands of pairs, for which SciPy's routine takes 20 ms per value. Both
integrals are trapezoidal sums of analytic functions that vanish at the ends, which converge
exponentially; nothing is subtracted from 1, so small tails keep their digits.
"""

from __future__ import annotations

import functools

import numpy as np
import scipy
from scipy import special

from steadyrank.compute.executors import one_blas_thread

TAIL = 1e-30
"""Probability omitted at each end of the distribution of the standard deviation."""

SMALLEST = 1e-25
"""Smaller tail probabilities are given as this bound."""

DIRECT = 200
"""Up to this number of different values are integrated one by one."""

DEGREE = 256
"""Degree of the series for more: up to 500 means it agrees with integration to 2e-11."""


def survival(q: np.ndarray, n_means: int, df: float) -> np.ndarray:
    """Return P(studentised range of `n_means` means with `df` degrees of freedom > q).

    P = ∫ f(s) W(q s) ds with the density f of s = sqrt(chi2/df), W(w) the probability that the
    range of k standard normals exceeds w: ∫ k φ(z) Φ(z)^(k-1) [1 - (1 - Φ(z-w)/Φ(z))^(k-1)] dz.

    Reference: Copenhaver and Holland 1988, doi:10.1080/00949658808811082.

    >>> survival(np.array([3.5]), 3, 20).round(6)
    array([0.055892])
    """
    spread, spread_weight = _spread_rule(df)
    return np.array([spread_weight @ _range_survival(value * spread, n_means) for value in q])


def survival_many(q: np.ndarray, n_means: int, df: float) -> np.ndarray:
    """Return `survival` of any number of values; for many values by interpolating its logarithm."""
    values, place = np.unique(np.asarray(q, dtype=np.float64), return_inverse=True)
    if not values.size:
        return np.zeros(0)
    largest = min(float(values[-1]), critical_value(SMALLEST, n_means, df))
    inside = np.minimum(values, largest)
    if values.size <= DIRECT:
        chances = survival(inside, n_means, df)
    else:
        with one_blas_thread():
            chances = _interpolated(inside, largest, n_means, df)
    return np.asarray(np.clip(chances, 0.0, 1.0)[place.reshape(np.shape(q))])


@functools.lru_cache(maxsize=256)  # the same for each measure, and for each of many data sets
def critical_value(pvalue: float, n_means: int, df: float) -> float:
    """Return the value that the studentised range exceeds with probability `pvalue`."""

    def excess(log_q: float) -> float:
        tail = survival(np.exp([log_q]), n_means, df)[0]
        return float(np.log(max(tail, 1e-300)) - np.log(pvalue))

    high = 1.0
    while excess(high) > 0.0:
        high *= 2.0
    return float(np.exp(scipy.optimize.brentq(excess, -60.0, high, xtol=1e-12)))


@functools.lru_cache(maxsize=64)
def _spread_rule(df: float) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes s and weights that integrate over the density of s = sqrt(chi2/df).

    Equal steps of log(s), as coarse as the density allows: at most some hundreds of points.
    """
    low = 0.5 * np.log(2.0 * special.gammaincinv(0.5 * df, TAIL) / df)
    high = 0.5 * np.log(special.chdtri(df, TAIL) / df)
    step = min(0.15, 0.3 / np.sqrt(df))
    log_s = np.linspace(low, high, int(np.ceil((high - low) / step)) + 1)
    density = df * log_s - 0.5 * df * np.exp(2.0 * log_s)
    weight = np.exp(density - density.max())
    return np.exp(log_s), weight / weight.sum()


def _range_survival(w: np.ndarray, n_means: int) -> np.ndarray:
    """Return P(range of `n_means` standard normals > w)."""
    z = np.linspace(-9.0, 9.0, 181)
    below = special.ndtr(z)
    largest = n_means * np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi) * below ** (n_means - 1)
    largest *= z[1] - z[0]
    with np.errstate(divide="ignore", under="ignore"):
        share = special.ndtr(z - w[:, None]) / below
        missed = -np.expm1((n_means - 1) * np.log1p(-np.minimum(share, 1.0)))
    return np.asarray(missed @ largest)


def _interpolated(q: np.ndarray, largest: float, n_means: int, df: float) -> np.ndarray:
    """Return survival at sorted `q` by a Chebyshev series of its logarithm in log(1 + q)."""

    def logarithm(nodes: np.ndarray) -> np.ndarray:
        return np.asarray(np.log(survival(np.expm1(nodes), n_means, df)))

    series = np.polynomial.Chebyshev.interpolate(logarithm, DEGREE, [0.0, np.log1p(largest)])
    return np.minimum.accumulate(np.exp(series(np.log1p(q))))

"""Exact power for many differences at once: what tables of a plan are filled with.

For anyone who shows power over a whole grid of topics and differences. The sum is that of
`design.f_power`, written as what a test misses: all differences share the tails of the central
distribution, which are computed once for each number of topics.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special

from steadyrank.stats.inputs import check_open_unit

NEGLIGIBLE = 1e-13
"""Chance of missing below which the sum stops."""


def f_powers(noncentrality: ArrayLike, df1: float, df2: float, alpha: float = 0.05) -> np.ndarray:
    """Chances that an F test at level alpha rejects, given noncentralities [i].

    1 - sum over j of Poisson(j; noncentrality / 2) times P(Beta(df1/2 + j, df2/2) <= x), x as in
    `design.f_power`, from which it differs by less than 1e-10.

    >>> f_powers([0.0, 15.65], 9, 990).round(4).tolist()
    [0.05, 0.7959]
    """
    check_open_unit("alpha", alpha)
    mean = 0.5 * np.asarray(noncentrality, np.float64)
    missed = _missed(df1, df2, alpha, float(mean.max()))
    j = np.arange(len(missed), dtype=np.float64)
    log_weight = special.xlogy(j, mean[:, None]) - mean[:, None] - special.gammaln(j + 1.0)
    return np.asarray(np.clip(1.0 - np.exp(log_weight) @ missed, 0.0, 1.0))


def noncentrality_for_power(
    power: float, df1: float, df2: float, alpha: float = 0.05, *, guess: float = 16.0
) -> float:
    """The noncentrality at which an F test at level alpha has this power, above alpha.

    >>> round(noncentrality_for_power(0.7959, 9, 990), 2)
    15.65
    """
    low, high = 0.0, math.sqrt(guess)

    def excess(root: float) -> float:
        return float(f_powers([root * root], df1, df2, alpha)[0]) - power

    while excess(high) < 0.0:
        low, high = high, 2.0 * high
    return float(optimize.brentq(excess, low, high, xtol=1e-13, rtol=1e-13)) ** 2


def _missed(df1: float, df2: float, alpha: float, mean: float) -> np.ndarray:
    """P(Beta(df1/2 + j, df2/2) <= x), as far as these or the Poisson law of that mean matter."""
    critical = 1.0 / float(special.fdtri(df2, df1, alpha))
    x = df1 * critical / (df1 * critical + df2)
    last = math.ceil(mean + 9.0 * math.sqrt(mean) + 20.0)
    size = min(64, last)
    while size < last and special.betainc(0.5 * df1 + size, 0.5 * df2, x) > NEGLIGIBLE:
        size = min(2 * size, last)
    return np.asarray(special.betainc(0.5 * df1 + np.arange(size), 0.5 * df2, x))

"""What a paired t test on these topics can see: its power, and the smallest difference it detects.

For anyone who finds no significant difference and must say what was missed, or plans a comparison
with a given number of topics. Exact, by the noncentral t distribution with both tails.
"""

from __future__ import annotations

import functools

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import special

from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.pairs.studentized_range import spread_rule


def t_power(difference: ArrayLike, sd: ArrayLike, n: ArrayLike, alpha: float = 0.05) -> np.ndarray:
    """Chance that a two-sided paired t test of n topics rejects, given the true mean difference.

    P(|T| > t) with T noncentral t, n - 1 degrees of freedom, noncentrality sqrt(n) difference / sd
    and t the two-sided critical value; `sd` is that of the differences by topic. Arguments
    broadcast; n may be real. Assumes normal differences. Do not compute it from the observed
    difference of the same data ("post hoc power"): that restates the p-value. NaN for n < 2 or a
    missing argument; without spread it is 1, or 0 where there is no difference either.

    Reference: Hoenig and Heisey 2001, doi:10.1198/000313001300339897; Sakai 2016,
    doi:10.1007/s10791-015-9273-z.

    >>> t_power(0.05, 0.2, 128).round(4).item()
    0.8015
    """
    check_open_unit("alpha", alpha)
    shift, spread, size = (
        np.asarray(values, dtype=np.float64) for values in np.broadcast_arrays(difference, sd, n)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = np.where((spread == 0.0) & (shift == 0.0), np.nan, np.abs(shift) / spread)
    power = _power(effect, size, alpha)
    never = (spread == 0.0) & (shift == 0.0) & (size >= 2.0)
    return np.where(never, 0.0, power)


def smallest_difference(
    sd: ArrayLike, n: ArrayLike, *, alpha: float = 0.05, power: float = 0.8
) -> np.ndarray:
    """The mean difference that a two-sided paired t test of n topics detects with this power.

    Solves t_power(difference, sd, n, alpha) = power; the solution is sd times a function of n.
    `sd` is that of the differences by topic; arguments broadcast. Assumes normal differences. Do
    not read a smaller observed difference as evidence of none: that needs an equivalence test.
    0 where power is at most alpha, NaN for n < 2 or a missing argument.

    Reference: Sakai 2016, doi:10.1007/s10791-015-9273-z.

    >>> smallest_difference([0.1, 0.2], 50).round(4).tolist()
    [0.0404, 0.0808]
    """
    check_open_unit("alpha", alpha)
    check_open_unit("power", power)
    spread, size = (np.asarray(values, dtype=np.float64) for values in np.broadcast_arrays(sd, n))
    sizes, place = np.unique(size, return_inverse=True)
    effects = np.array([_smallest_effect(n_topics, alpha, power) for n_topics in sizes])
    return np.asarray(spread * effects[place.reshape(size.shape)])


def _power(effect: np.ndarray, n: np.ndarray, alpha: float) -> np.ndarray:
    """Power at the standardised difference `effect` >= 0; NaN where n < 2 or effect is NaN."""
    power = np.full(effect.shape, np.nan)
    known = (n >= 2.0) & ~np.isnan(effect)
    for size in np.unique(n[known]):
        here = known & (n == size)
        power[here] = [_power_at(standardised, size, alpha) for standardised in effect[here]]
    return power


def _power_at(effect: float, n: float, alpha: float) -> float:
    """P(|Z + shift| > t s), integrated over s: SciPy's noncentral t gives NaN in far tails."""
    shift = np.sqrt(n) * effect
    critical = -special.stdtrit(n - 1.0, 0.5 * alpha)
    if shift > critical * LARGEST_SPREAD + 40.0:
        return 1.0
    spread, weight = spread_rule(n - 1.0, 0.3 / max(shift, 3.0))
    beyond = special.ndtr(shift - critical * spread) + special.ndtr(-shift - critical * spread)
    return float(min(1.0, weight @ beyond))


LARGEST_SPREAD = 12.0
"""sqrt(chi2/df) exceeds this with a chance below 1e-30, whatever df >= 1."""


@functools.lru_cache(maxsize=1024)
def _smallest_effect(n: float, alpha: float, power: float) -> float:
    """The standardised difference with this power at n topics, the same for any measure."""
    if not n >= 2.0:
        return float("nan")
    if power <= alpha:
        return 0.0

    def excess(effect: float) -> float:
        return float(_power(np.asarray(effect), np.asarray(n), alpha)) - power

    high = 1.0 / np.sqrt(n)
    while excess(high) < 0.0:
        high *= 2.0
    return float(scipy.optimize.brentq(excess, 0.0, high, xtol=1e-14, rtol=1e-13))

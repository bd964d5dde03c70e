"""Sequential limits of a mean difference, which hold at every look and whenever one stops.

For teams that judge topics one after another. Consider bets against the hypothesis that the mean is
m: with values x_i in [0, 1], the capital K_t(m) = prod (1 + s_i (x_i - m)), whose stakes s_i >= 0
depend only on earlier values, is that of a fair game if the mean is m. It ever reaches 1 / alpha
with probability at most alpha (Ville's inequality), for any distribution. The lower limit is the
largest m against which the capital reaches 1 / alpha; the upper limit comes from bets on 1 - x_i.

Stakes are the predictable plug-ins of Waudby-Smith & Ramdas (2024), Estimating means of bounded
random variables by betting, JRSS B 86(1), doi:10.1093/jrsssb/qkad009.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from steadyrank.stats.interval import Interval
from steadyrank.stats.pairs.topic_design import MeanDifference

LARGEST_STAKE = 0.75
"""Largest share of the capital that can be lost in one round."""

N_HALVINGS = 50
"""Bisection steps for a limit."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SequentialDifference(MeanDifference):
    """A mean of differences between -1 and 1, in the order of their topics."""

    values: np.ndarray
    """The differences, mapped from [-1, 1] to [0, 1]."""
    stakes: np.ndarray

    def pvalue_above(self, value: float) -> float:
        """Return the anytime-valid p of the hypothesis that the true mean is at most `value`."""
        return math.exp(-max(self._capital(value, 1).max(initial=0.0), 0.0))

    def pvalue_below(self, value: float) -> float:
        """Return the anytime-valid p of the hypothesis that the true mean is at least `value`."""
        return math.exp(-max(self._capital(value, -1).max(initial=0.0), 0.0))

    def first_above(self, value: float, level: float) -> int | None:
        """Return after how many topics the mean was first shown to be above `value`, or None."""
        return _first(self._capital(value, 1) >= -math.log(level))

    def first_below(self, value: float, level: float, estimate: float) -> int | None:
        """Return after how many topics it was first shown to be below `value`, or None.

        The mean of the topics so far must be below `estimate`.
        """
        means = 2.0 * np.cumsum(self.values) / np.arange(1, len(self.values) + 1) - 1.0
        return _first((self._capital(value, -1) >= -math.log(level)) & (means < estimate))

    def interval(self, tail: float) -> Interval:
        """Return limits that exclude the true mean at any look with probability at most `tail`."""
        return Interval(self._limit(1, tail), -self._limit(-1, tail))

    def _capital(self, value: float, sign: int) -> np.ndarray:
        """Return the logarithm of the capital of bets on values above (1) or below (-1) `value`."""
        values = self.values if sign == 1 else 1.0 - self.values
        mean = max(0.5 * (1.0 + sign * value), 1e-12)
        gains = np.minimum(self.stakes, LARGEST_STAKE / mean) * (values - mean)
        return np.asarray(np.cumsum(np.log1p(gains)))

    def _limit(self, sign: int, tail: float) -> float:
        """Return the largest mean of differences times `sign` that bets on more have ruled out.

        The capital falls as the mean rises, also if stakes are limited to a share of it.
        """
        low, high = -1.0, 1.0
        for _ in range(N_HALVINGS):
            middle = 0.5 * (low + high)
            is_out = self._capital(sign * middle, sign).max(initial=0.0) >= -math.log(tail)
            low, high = (middle, high) if is_out else (low, middle)
        return low


def sequential_difference(
    fit: MeanDifference, differences: np.ndarray, *, alpha: float
) -> SequentialDifference:
    """Return the mean of differences in their order, without NaN, with stakes for level alpha.

    s_t = sqrt(2 log(1 / alpha) / (v_{t-1} t log(1 + t))), v the running variance, which starts with
    a value at distance 1/2 from the mean.
    """
    values = 0.5 * (1.0 + differences[~np.isnan(differences)])
    rounds = np.arange(1, len(values) + 1)
    means = (0.5 + np.cumsum(values)) / (rounds + 1)
    squares = 0.25 + np.concatenate([[0.0], np.cumsum((values - means) ** 2)])[:-1]
    stakes = np.sqrt(-2.0 * math.log(alpha) / (squares * np.log1p(rounds)))
    fields = {name: getattr(fit, name) for name in MeanDifference.__dataclass_fields__}
    return SequentialDifference(**fields | {"flag": ""}, values=values, stakes=stakes)


def _first(reached: np.ndarray) -> int | None:
    return int(reached.argmax()) + 1 if reached.any() else None

"""What a test of non-deterministic systems can see: its power by numbers of topics and instances.

For the two-way random and the nested test of `stats.mixed.two_way`, from variance components.
Exact for normal effects, approximate degrees of freedom and dropped components included: the level
of the test is its power where there is no difference.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

import numpy as np
from scipy import special

from steadyrank.errors import InputError, bad_value, check_choice
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.mixed.two_way import (
    DfMethod,
    combined_mean_squares,
    default_df_method,
    pooled_squares,
)

Design = Literal["crossed", "nested"]

BELOW, ABOVE = 4, 20
"""Points at which a mean square is taken below the residual's, and above it."""

BELOW_ONE = 1.0 - 2.0**-53
"""The largest chance whose quantile is finite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceVariances:
    """Variances of instances, of system × topic and of the residual.

    Against a deterministic system `system_topic` is the variance of the differences' topic effects.
    """

    instance: float
    system_topic: float
    residual: float

    @classmethod
    def of(cls, components: Mapping[str, float]) -> InstanceVariances:
        """From named variances; others, such as the topics' own, cancel from the difference."""
        names = ("instance", "system_topic", "residual")
        for name in names:
            if name not in components:
                raise InputError(f"components lack the variance {name!r}: give {', '.join(names)}")
            if not 0.0 <= components[name] < math.inf:
                raise InputError(
                    f"the variance {name!r} must be a number of at least 0, got {components[name]}"
                )
        return cls(**{name: float(components[name]) for name in names})


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceTest:
    """The two-sided test of a difference of two systems, and the design that it is done with.

    "crossed": against a deterministic system, the mean has variance s_a²/M + s_u²/N + s_e²/(M N).
    "nested": two systems with M instances each, twice that. `difference` is the true one.
    """

    variances: InstanceVariances
    design: Design = "crossed"
    difference: float
    alpha: float = 0.05

    def __post_init__(self) -> None:
        check_open_unit("alpha", self.alpha)
        check_choice("design", self.design, get_args(Design))
        if not math.isfinite(self.difference):
            raise bad_value("difference", "be a finite number", self.difference)

    def power(self, topics: int, instances: int) -> float:
        """The chance that N topics and M instances, of each system that varies, show a difference.

        The mean squares are independent, E(MS) chi²(df) / df, and independent of the mean: the
        chance is integrated over all three, to some .0005. Both numbers must be 2 or more.

        >>> pilot = InstanceVariances(instance=0.02**2, system_topic=0.08**2, residual=0.06**2)
        >>> test = InstanceTest(variances=pilot, difference=0.0)
        >>> [round(test.power(50, m), 3) for m in (2, 3, 5, 10)]
        [0.065, 0.056, 0.05, 0.05]
        """
        layout = _ExpectedSquares.of(self, topics, instances)
        spread, df, weight = _estimates(layout)
        inverse, values = _critical_values(0.5 * self.alpha)
        critical = spread * np.interp(1.0 / df, inverse, values)
        return self._chance(layout.standard_error, critical, weight)

    @property
    def systems(self) -> int:
        """How many systems vary."""
        return 2 if self.design == "nested" else 1

    def _chance(self, error: float, critical: np.ndarray, weight: np.ndarray) -> float:
        """`critical` is the half width of an interval, in true standard errors."""
        if error == 0.0:
            return float(self.difference != 0.0)
        shift = self.difference / error
        chance = special.ndtr(shift - critical) + special.ndtr(-shift - critical)
        return float(min(1.0, (weight * chance).sum()))


class _ExpectedSquares(NamedTuple):
    """Expected mean squares of instances, topics and residual, and their degrees of freedom."""

    expected: tuple[float, float, float]
    free: tuple[int, int, int]
    standard_error: float
    df_method: DfMethod

    @classmethod
    def of(cls, test: InstanceTest, topics: int, instances: int) -> _ExpectedSquares:
        variances, error = test.variances, test.variances.residual
        by_instance, by_topic = (
            topics * variances.instance + error,
            instances * variances.system_topic + error,
        )
        own = test.systems * (instances - 1)
        variance = test.systems * (by_instance + by_topic - error) / (topics * instances)
        return cls(
            (by_instance, by_topic, error),
            (own, topics - 1, own * (topics - 1)),
            math.sqrt(variance),
            default_df_method(instances),
        )

    def total(self) -> float:
        return self.expected[0] + self.expected[1] - self.expected[2]


def _estimates(layout: _ExpectedSquares) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Estimates of the standard error over the true one, their degrees of freedom, and weights.

    [residual, instance, topic]. A component is dropped where its mean square is not above the
    residual's: the integrand jumps there, so that each side has separate nodes.
    """
    if layout.total() == 0.0:
        one = np.ones((1, 1, 1))
        return one, one, one
    size = 8 if layout.free[2] < 200 else 4
    factor, weight = _chi_square_nodes(layout.free[2], size)
    error = layout.expected[2] * factor
    instance, own = _around(error, layout.expected[0], layout.free[0])
    topic, others = _around(error, layout.expected[1], layout.free[1])
    squares = pooled_squares(
        instance[:, :, None], topic[:, None, :], error[:, None, None], free=layout.free
    )
    combined, df = combined_mean_squares(squares, free=layout.free, df_method=layout.df_method)
    weights = weight[:, None, None] * own[:, :, None] * others[:, None, :]
    return np.sqrt(combined / layout.total()), df, weights


def _around(error: np.ndarray, expected: float, df: int) -> tuple[np.ndarray, np.ndarray]:
    """A mean square below and above each residual one, and weights, [residual, node]."""
    # Without any variance the mean square is 0, as the residual's, and never above it.
    cut = error / expected if expected > 0.0 else np.full_like(error, np.inf)
    share = special.gammainc(0.5 * df, 0.5 * df * cut)[:, None]
    (low, low_weight), (high, high_weight) = _legendre(BELOW), _legendre(ABOVE)
    chance = np.concatenate([share * low, share + (1.0 - share) * high], axis=1)
    weight = np.concatenate([share * low_weight, (1.0 - share) * high_weight], axis=1)
    quantile = special.gammaincinv(0.5 * df, np.minimum(chance, BELOW_ONE))
    return expected * 2.0 * quantile / df, weight


@lru_cache(maxsize=16)
def _legendre(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights on (0, 1)."""
    x, weight = np.polynomial.legendre.leggauss(size)
    return 0.5 * (1.0 + x), 0.5 * weight


@lru_cache(maxsize=4096)
def _chi_square_nodes(df: float, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Values of chi²(df) / df, and weights that integrate over its law."""
    chance, weight = _legendre(size)
    return 2.0 * special.gammaincinv(0.5 * df, chance) / df, weight


@lru_cache(maxsize=16)
def _critical_values(tail: float) -> tuple[np.ndarray, np.ndarray]:
    """t's quantile at 1 - tail, against 1 / df."""
    inverse = np.linspace(0.0, 1.0, 4001)
    values = np.empty_like(inverse)
    values[0] = -special.ndtri(tail)
    values[1:] = -special.stdtrit(1.0 / inverse[1:], tail)
    return inverse, values

"""All pairs at once where datasets differ in weight, or whole types or topics are resampled.

Studentized sign flips with stepdown as in `steadyrank.stats.pairs.max_t`, which serves where all
units weigh the same. Units are what is resampled: datasets, or types of datasets as clusters. The
variance of a weighted mean is the linearised one, m/(m - 1) x the sum of squared weighted
deviations of the m units, which for clusters is the cluster-robust variance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Unpack

import numpy as np
from scipy.special import stdtrit

from steadyrank.errors import InputError
from steadyrank.stats.datasets import kernels
from steadyrank.stats.pairs.max_t import (
    Flips,
    MaxT,
    Sums,
    counting,
    counting_beaten,
    first_of,
    reach_of,
    stepdown,
    unbeaten,
)
from steadyrank.stats.pairs.result import CONSTANT
from steadyrank.stats.pairs.skewed import careful_t, skewness_of_mean
from steadyrank.stats.pairs.tests import slices

PAIRS_AT_ONCE = 1 << 14
"""Pairs whose differences are held at a time."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Units:
    """What is resampled: residuals whose signs are flipped, and how much each unit weighs."""

    value: np.ndarray
    """One per run: the weighted mean."""
    residual: np.ndarray
    """[unit, run]: weight x deviation from the value, summed over a unit; sums to 0 over units."""
    weight: np.ndarray
    """One per unit; they sum to 1."""

    @property
    def factor(self) -> float:
        """m / (m - 1), which makes a sum of squared residuals a variance."""
        return len(self.weight) / max(1.0, len(self.weight) - 1.0)


def units_of(values: np.ndarray, weight: np.ndarray, groups: Sequence[str] = ()) -> Units:
    """Units of complete columns [run, dataset]: the datasets, or groups of them as clusters."""
    total = np.asarray(values @ weight)
    residual = (weight * (values - total[:, None])).T
    if not len(groups):
        return Units(value=total, residual=np.ascontiguousarray(residual), weight=weight)
    names = sorted(set(groups))
    member = np.array([[group == name for group in groups] for name in names], np.float64)
    return Units(value=total, residual=member @ residual, weight=member @ weight)


def intervals_of(units: Units, confidence: float) -> np.ndarray:
    """t intervals [run, 2] of the values, for one run at a time; NaN with one unit.

    >>> units = units_of(np.array([[0.1, 0.2, 0.3]]), np.full(3, 1 / 3))
    >>> intervals_of(units, 0.95).round(4).tolist()
    [[-0.0484, 0.4484]]
    """
    m = len(units.weight)
    if m < 2:
        return np.full((len(units.value), 2), np.nan)
    error = np.sqrt(units.factor * np.square(units.residual).sum(axis=0))
    half = stdtrit(m - 1.0, 0.5 + 0.5 * confidence) * error
    return np.stack([units.value - half, units.value + half], axis=1)


def weighted_max_t(units: Units, pairs: np.ndarray, **flips: Unpack[Flips]) -> MaxT:
    """`max_t` of weighted means: adjusted p-values by the largest studentized statistic.

    Every unit's residuals are flipped as a whole, and the weighted mean and its standard error
    computed again. With equal weights the statistics are those of `max_t`. Few units have few sign
    patterns: with five types no p-value is below 1/17.
    """
    pairs = np.ascontiguousarray(pairs)
    difference = units.value[pairs[:, 0]] - units.value[pairs[:, 1]]
    squares, skewness = spread_of_pairs(units.residual, pairs)
    squares *= units.factor
    squares[np.sqrt(squares) <= smallest_error(difference)] = 0.0
    total = float((units.weight**2).sum())
    weighted = units.factor * units.weight[:, None] * units.residual

    def statistics(ordered: np.ndarray, rows: np.ndarray, *sums: np.ndarray) -> np.ndarray:
        out = np.empty((len(sums[0]), len(ordered)))
        kernels.weighted_statistics(*sums, ordered, squares[rows], units.factor * total, out)
        return out

    return flipped(
        Flipped(
            difference=difference,
            error=np.sqrt(squares),
            skewness=skewness,
            n_draws=1.0 / total,
            n_signs=len(units.weight),
            sums=lambda signs: (signs @ units.residual, signs @ weighted),
            statistics=statistics,
        ),
        pairs,
        **flips,
    )


def spread_of_pairs(residual: np.ndarray, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums of squares of the pairs' residuals [unit, run], and the skewness that they give a mean.

    From the differences: products would cancel.
    """
    squares, skewness = np.empty((2, len(pairs)))
    for part in slices(len(pairs), PAIRS_AT_ONCE):
        first, second = pairs[part].T
        off = residual[:, first] - residual[:, second]
        squares[part], skewness[part] = np.square(off).sum(axis=0), skewness_of_mean(off, axis=0)
    return squares, skewness


def smallest_error(difference: np.ndarray) -> float:
    """A standard error that is no more than rounding."""
    return CONSTANT * max(1.0, float(np.abs(difference).max(initial=0.0)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Flipped:
    """What the careful t of all pairs is made of."""

    difference: np.ndarray
    error: np.ndarray
    skewness: np.ndarray
    """Of the mean differences."""
    n_draws: float
    """Units behind them; where they differ in weight, as many of equal weight."""
    n_signs: int
    sums: Sums
    statistics: Callable[..., np.ndarray]
    """(pairs, which pairs these are, some rows of the sums) to statistics [pattern, pair]."""


def flipped(observed: Flipped, pairs: np.ndarray, **flips: Unpack[Flips]) -> MaxT:
    """Stepdown over the pairs whose runs differ at all; `critical` is in units of `error`."""
    if observed.n_signs < 2:
        raise InputError("resampling requires at least two units, got one")
    difference, least = observed.difference, smallest_error(observed.difference)
    constant = observed.error <= least
    tested = np.flatnonzero(~(constant & (np.abs(difference) <= least)))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(constant, np.copysign(np.inf, difference), difference / observed.error)
    size = careful_t(t, observed.skewness, np.asarray(observed.n_draws))[tested]
    order = np.lexsort((tested, -size))
    rows, size = tested[order], size[order] * (1.0 - CONSTANT)
    turned = (difference[rows] < 0.0)[:, None]
    better = np.ascontiguousarray(np.where(turned, pairs[rows][:, ::-1], pairs[rows]))
    steps = stepdown(
        size,
        observed.n_signs,
        counting(size, observed.sums, partial(observed.statistics, better, rows)),
        **flips,
    )
    pvalue, critical = np.ones(len(pairs)), np.full(len(pairs), steps.limit)
    pvalue[rows] = steps.pvalue
    candidates = unbeaten(
        int(pairs.max(initial=-1)) + 1, better[steps.pvalue <= flips.get("alpha", 0.05)]
    )
    kept = candidates[better].any(axis=1)
    about, of_rows = np.ascontiguousarray(better[kept]), rows[kept]
    beaten = counting_beaten(about, observed.sums, partial(observed.statistics, about, of_rows))
    return MaxT(
        pvalue=pvalue,
        critical=critical,
        reach=reach_of(critical, observed.skewness, observed.n_draws),
        first=first_of(
            size[kept], about, candidates, observed.n_signs, beaten, n_pairs=len(size), **flips
        ),
        n_patterns=steps.n_patterns,
        exact=steps.exact,
    )

"""What a judge is worth in topics that people judge, and how many of these a claim takes.

What decides it is not how alike the rankings are but how well the judge's differences follow
people's, topic by topic: with their correlation rho and N further topics, n topics of people weigh
as much as n / (1 - rho² N / (n + N)).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from steadyrank.stats.interval import Interval
from steadyrank.stats.pairs.result import CONSTANT
from steadyrank.stats.planning.power import t_power

FEWEST = 5
"""Topics of people below which nothing is corrected, nor planned."""

MOST = 1_000_000
"""Topics beyond which nobody plans."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """How well the judge's differences of two runs follow people's, over all pairs of runs."""

    sd: float
    """Of people's differences over topics: root of the mean variance over pairs of runs."""
    correlation: float
    interval: Interval
    """Of the correlation, over topics."""

    def factor(self, n: int, n_more: int) -> float:
        """How many times as many topics people alone would have to judge."""
        return topics_factor(self.correlation, n, n_more)

    def factor_interval(self, n: int, n_more: int) -> Interval:
        """Of the factor: a judge that runs against people is worth nothing, hence 1."""
        low, high = (topics_factor(max(end, 0.0), n, n_more) for end in self.interval)
        return Interval(low, high)


def topics_factor(correlation: float, n: int, n_more: float) -> float:
    """1 / (1 - rho² N / (n + N)); 1 for a correlation below 0, which lambda does not follow.

    >>> round(topics_factor(0.8, 15, 45), 3), topics_factor(0.8, 15, 0)
    (1.923, 1.0)
    """
    share = 1.0 if math.isinf(n_more) else n_more / (n + n_more)
    explained = max(correlation, 0.0) ** 2 * share
    return 1.0 / (1.0 - explained) if explained < 1.0 else math.inf


def topics_like(width_ratio: float, n: int, population: float = math.inf) -> float:
    """How many times as many topics of people have intervals that are narrower by this ratio.

    Of a finite population, out of which topics are drawn, fewer are needed.

    >>> topics_like(0.5, 20), topics_like(0.5, 20, 40), topics_like(0.0, 20, 40)
    (4.0, 1.6, 2.0)
    """
    inverse = width_ratio**2 * (1.0 / n - 1.0 / population) + 1.0 / population
    return 1.0 / (n * inverse) if inverse > 0.0 else math.inf


def worth_of(human: np.ndarray, judge: np.ndarray, *, confidence: float = 0.95) -> Worth:
    """From scores [run, topic] of the same topics; pooled over all pairs of runs.

    The interval is a jackknife over topics on Fisher's scale. NaN where people or judge do not
    tell any two runs apart.
    """
    apart = [scores - scores.mean(axis=0) for scores in (human, judge)]
    n_runs, n = human.shape
    every = np.arange(n)
    value = _correlation(apart, every)
    left = np.array([_correlation(apart, every[every != topic]) for topic in range(n)])
    variance = apart[0].var(axis=1, ddof=1).sum() * 2.0 / (n_runs - 1.0)
    return Worth(
        sd=math.sqrt(variance),
        correlation=value,
        interval=_fisher_interval(value, left, confidence),
    )


def _correlation(apart: list[np.ndarray], topics: np.ndarray) -> float:
    human, judge = (rows[:, topics] - rows[:, topics].mean(axis=1)[:, None] for rows in apart)
    sizes = [float(np.sqrt((rows**2).sum())) for rows in (human, judge)]
    # Runs that are alike differ by rounding.
    if min(sizes) <= CONSTANT * human.size:
        return math.nan
    return float((human * judge).sum()) / (sizes[0] * sizes[1])


def _fisher_interval(value: float, left: np.ndarray, confidence: float) -> Interval:
    n = len(left)
    if math.isnan(value) or np.isnan(left).any():
        return Interval(math.nan, math.nan)
    if abs(value) > 1.0 - 1e-12:
        return Interval(value, value)
    z = np.arctanh(np.clip(left, -1.0 + 1e-15, 1.0 - 1e-15))
    error = math.sqrt((n - 1.0) / n * float(((z - z.mean()) ** 2).sum()))
    half = float(stdtrit(n - 1.0, 0.5 + 0.5 * confidence)) * error
    centre = math.atanh(value)
    return Interval(math.tanh(centre - half), math.tanh(centre + half))


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicsNeeded:
    """Topics that people have to judge for one comparison; None beyond all planning."""

    alone: int | None
    with_judge: int | None
    """With the topics that the judge has judged, out of which people's are drawn."""
    with_endless: int | None
    """Had the judge judged any number of topics."""


def topics_for_width(
    worth: Worth, width: float, *, n_judged: int, confidence: float = 0.95
) -> TopicsNeeded:
    """Topics from which on the interval of a difference is at most so wide.

    >>> worth = Worth(sd=0.2, correlation=0.8, interval=Interval(0.7, 0.9))
    >>> needed = topics_for_width(worth, 0.1, n_judged=200)
    >>> needed.alone, needed.with_judge, needed.with_endless
    (64, 32, 26)
    """

    def is_enough(n: int, error: float, paid: int) -> bool:
        return 2.0 * float(stdtrit(n - 1.0 - paid, 0.5 + 0.5 * confidence)) * error <= width

    return _needed(worth, n_judged, is_enough)


def topics_for_power(
    worth: Worth, difference: float, *, n_judged: int, alpha: float = 0.05, power: float = 0.8
) -> TopicsNeeded:
    """Topics from which on a t test finds so large a difference with this power.

    >>> worth = Worth(sd=0.2, correlation=0.8, interval=Interval(0.7, 0.9))
    >>> needed = topics_for_power(worth, 0.05, n_judged=200)
    >>> needed.alone, needed.with_judge, needed.with_endless
    (128, 81, 49)
    """

    def is_enough(n: int, error: float, paid: int) -> bool:
        effective = n - paid
        return float(t_power(difference, error * math.sqrt(effective), effective, alpha)) >= power

    return _needed(worth, n_judged, is_enough)


def _needed(
    worth: Worth, n_judged: int, is_enough: Callable[[int, float, int], bool]
) -> TopicsNeeded:
    def alone(n: int) -> bool:
        return is_enough(n, worth.sd / math.sqrt(n), 0)

    def corrected(n: int, n_more: float) -> bool:
        # A judge that costs more than it tells is not followed.
        error = worth.sd / math.sqrt((n - 2.0) * n / (n - 1.0))
        error /= math.sqrt(topics_factor(worth.correlation, n, n_more))
        return alone(n) or (n_more > 0 and is_enough(n, error, 1))

    return TopicsNeeded(
        alone=_fewest(alone),
        with_judge=_fewest(lambda n: corrected(n, max(0, n_judged - n))),
        with_endless=_fewest(lambda n: corrected(n, math.inf)),
    )


def _fewest(is_enough: Callable[[int], bool]) -> int | None:
    """The smallest number of topics that is enough: more always are."""
    if not is_enough(MOST):
        return None
    low, high = FEWEST - 1, FEWEST
    while not is_enough(high):
        low, high = high, min(2 * high, MOST)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high

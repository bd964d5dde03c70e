"""All pairs of runs at once: studentized sign flips and the distribution of the largest t.

For leaderboards, where one wrong claim among thousands of pairs is one too many. The correction
knows how strongly the tests of all pairs depend on each other, which Holm's does not, so that it
finds more at the same error rate (Romano & Wolf 2005, doi:10.1111/j.1468-0262.2005.00615.x;
Mogstad, Romano, Shaikh & Wilhelm 2024, doi:10.1093/restud/rdad006).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from steadyrank.compute.random import blocks_of
from steadyrank.data.scores import mean_of_present
from steadyrank.stats.inputs import check_open_unit, check_samples
from steadyrank.stats.pairs import kernels
from steadyrank.stats.pairs.resampled import Block, sign_patterns
from steadyrank.stats.pairs.result import CONSTANT, TOO_FEW, ZERO_VARIANCE
from steadyrank.stats.pairs.tests import Moments, checked, differences, in_threads, moments

VALUES_AT_ONCE = 1 << 18
"""Statistics of one thread that are held at a time: they stay in the processor's cache."""

FEWEST_SHARED = 6
"""Topics that a pair with gaps must share: five have only 16 sign patterns, too few for .05."""

GRID = 4096
"""Points at which t of other degrees of freedom is tabulated; any increasing table is valid."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MaxT:
    """Simultaneous decisions about many pairs: arrays with one entry per pair."""

    pvalue: np.ndarray
    """Adjusted for the whole family, stepdown."""
    critical: np.ndarray
    """|t| above which the first step rejects: a simultaneous interval is difference ± it x s."""
    n_patterns: int
    """Sign patterns that the null distribution consists of."""
    exact: bool
    """Whether these are all the patterns there are."""


def max_t(
    scores: np.ndarray,
    pairs: np.ndarray,
    *,
    alpha: float = 0.05,
    n_samples: int = 10_000,
    seed: int = 0,
    jobs: int | None = None,
) -> MaxT:
    """Adjusted p-values of paired t tests by the largest studentized statistic of the family.

    Every pair's differences are centred, the signs of whole topics are flipped (one sign per topic
    for all pairs), and t is computed again, numerator and standard error; the largest over the
    family is what an observed t has to exceed. Hypotheses are one-sided, "a is not better than b"
    for every ordered pair, so that a rejection states the direction. Stepdown: once a hypothesis
    is rejected, the largest is taken over the others. With p = (1 + count) / (1 + n_samples), the
    chance of any false claim is at most `alpha`, asymptotically in the number of topics.

    Parameters
    ----------
    scores : [run, topic], NaN where missing
    pairs : [pair, 2]
        The family.
    alpha : float
        Error rate of the whole family, for `critical`.
    n_samples : int
        Sign patterns that are drawn; all 2^(n - 1) are enumerated where these are no more.
    seed : int
    jobs : int, optional

    Notes
    -----
    Where cells are missing, pairs differ in their degrees of freedom; their t are compared by
    the normal quantiles of the same tail probability, since otherwise the pair with the fewest
    topics would set the limit for all. Pairs with gaps that share fewer than six topics are not
    tested.

    >>> scores = np.random.default_rng(1).normal(size=(3, 20)) + [[0], [0], [2]]
    >>> max_t(scores, np.array([[0, 1], [0, 2], [1, 2]])).pvalue.round(3).tolist()
    [0.903, 0.0, 0.0]
    """
    scores, pairs = checked(scores, pairs)
    check_samples(n_samples)
    check_open_unit("alpha", alpha)
    differences = moments(scores, pairs)
    family = _family(scores, pairs, differences)
    counts, largest, n_patterns, exact = _count(
        scores, family, n_samples=n_samples, seed=seed, jobs=jobs
    )
    pvalue = np.where(differences.flag == TOO_FEW, np.nan, 1.0)
    stepped = np.maximum.accumulate((1.0 + counts) / (1.0 + n_patterns))
    pvalue[family.place] = np.minimum(1.0, stepped)
    limit = order_statistic(largest, alpha, n_patterns)
    return MaxT(
        pvalue=pvalue,
        critical=family.scale.to_t(limit, differences.n),
        n_patterns=n_patterns,
        exact=exact,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Scale:
    """How r = |sum of signed differences| / sqrt(n sum of squares) is made comparable.

    With equal numbers of topics r serves as it is; t = r sqrt((n - 1) / (1 - r²)).
    """

    sizes: np.ndarray
    """Numbers of topics that occur, or none where all pairs have the same."""
    table: np.ndarray
    """[size, GRID]: normal quantiles on an equal grid of r from 0 to 1."""
    n: int
    """The number of topics of all pairs, where they have the same."""

    def to_t(self, value: float, n: np.ndarray) -> np.ndarray:
        """The t of pairs with n topics that a comparable value stands for."""
        if math.isinf(value):
            return np.full(len(n), np.inf)
        df = np.maximum(n - 1.0, 1.0)
        if not len(self.sizes):
            return np.full(len(n), value * math.sqrt((self.n - 1.0) / (1.0 - value * value)))
        return np.asarray(-stdtrit(df, ndtr(-value)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Family:
    """The tested pairs from the largest statistic down, the better run first."""

    place: np.ndarray
    """Which pair each is."""
    pairs: np.ndarray
    weight: np.ndarray
    """1 / sqrt(n sum of squares) of the centred differences."""
    observed: np.ndarray
    with_gaps: np.ndarray
    """Which of these pairs lack topics."""
    gap_differences: np.ndarray
    """[topic, pair with gaps]"""
    size: np.ndarray
    """Row of the scale's table for each pair."""
    scale: _Scale


def _family(scores: np.ndarray, pairs: np.ndarray, differences: Moments) -> _Family:
    tested = (differences.flag == "") | (differences.flag == ZERO_VARIANCE)
    tested &= (differences.n >= FEWEST_SHARED) | (differences.n == scores.shape[1])
    place = np.flatnonzero(tested)
    n, mean, sd = differences.n[place], differences.mean[place], differences.sd[place]
    constant = differences.flag[place] == ZERO_VARIANCE
    weight = np.where(constant, 0.0, 1.0 / np.where(constant, 1.0, sd * np.sqrt(n * (n - 1.0))))
    with np.errstate(invalid="ignore"):
        t = np.where(constant, np.inf, np.abs(mean) / np.where(constant, 1.0, sd) * np.sqrt(n))
        r = np.where(constant, 1.0, t / np.sqrt(n - 1.0 + np.square(t)))
    scale = _scale(n, scores.shape[1])
    size = np.searchsorted(scale.sizes, n) if len(scale.sizes) else np.zeros(len(n), np.int64)
    observed = r
    if len(scale.sizes):
        observed = np.empty_like(r)
        kernels.look_up(r[None, :], size, scale.table, observed[None, :])
    observed = np.where(constant, np.inf, observed)
    order = np.lexsort((place, -observed))
    better = np.where((mean < 0.0)[:, None], pairs[place][:, ::-1], pairs[place])[order]
    weight, mean = weight[order], np.abs(mean)[order]
    gaps = np.flatnonzero(n[order] < scores.shape[1])
    return _Family(
        place=place[order],
        pairs=np.ascontiguousarray(better),
        weight=weight,
        observed=observed[order] * (1.0 - CONSTANT),
        with_gaps=gaps,
        gap_differences=_gap_differences(scores, better[gaps], mean[gaps], weight[gaps]),
        size=size[order],
        scale=scale,
    )


def _scale(n: np.ndarray, n_topics: int) -> _Scale:
    sizes = np.unique(n)
    if len(sizes) <= 1:
        only = int(sizes[0]) if len(sizes) else n_topics
        return _Scale(sizes=np.zeros(0, np.int64), table=np.zeros((0, 0)), n=only)
    r = np.arange(GRID) / (GRID - 1.0)
    df = sizes[:, None] - 1.0
    # The last point would be infinite; what lies beyond the last but one is as good as that.
    inner = np.minimum(r, 1.0 - 0.5 / GRID)
    t = inner * np.sqrt(df / (1.0 - np.square(inner)))
    return _Scale(sizes=sizes, table=np.asarray(-ndtri(stdtr(df, -t))), n=0)


def _count(
    scores: np.ndarray, family: _Family, *, n_samples: int, seed: int, jobs: int | None
) -> tuple[np.ndarray, np.ndarray, int, bool]:
    """Patterns whose largest statistic reaches each pair's, and the largest of each pattern."""
    n_topics = scores.shape[1]
    # Statistics of one-sided hypotheses change with a flip of all signs: both count, by half.
    exact = few_patterns(n_topics, n_samples)
    n_signs = 2**n_topics if exact else n_samples
    blocks = blocks_of(n_signs)
    centred = np.nan_to_num(scores - mean_of_present(scores)[:, None]).T

    def count(block: Block) -> tuple[np.ndarray, np.ndarray]:
        signs = (
            all_patterns(block, n_topics)
            if exact
            else sign_patterns(seed, block, n_topics, "largest t")
        )
        counts, largest = np.zeros(len(family.place), np.int64), np.empty(len(signs))
        sums = signs @ centred
        at_once = max(1, VALUES_AT_ONCE // max(1, len(family.place)))
        for first in range(0, len(signs), at_once):
            part = slice(first, first + at_once)
            values = _statistics(sums[part], family, signs[part])
            kernels.step_counts(values, family.observed, counts, largest[part])
        return counts, largest

    answers: Sequence[tuple[np.ndarray, np.ndarray]] = in_threads(count, blocks, jobs=jobs)
    counts = np.sum([counts for counts, _ in answers], axis=0)
    largest = np.concatenate([largest for _, largest in answers])
    if exact:
        return counts / 2.0, largest, n_signs // 2, True
    return counts, largest, n_signs, False


def _statistics(sums: np.ndarray, family: _Family, signs: np.ndarray) -> np.ndarray:
    """The comparable statistics of all pairs under each pattern, [pattern, pair]."""
    values = np.empty((len(signs), len(family.place)))
    kernels.signed_differences(sums, family.pairs, family.weight, values)
    if len(family.with_gaps):
        values[:, family.with_gaps] = signs @ family.gap_differences
    if len(family.scale.sizes):
        kernels.look_up(values, family.size, family.scale.table, values)
    return values


def _gap_differences(
    scores: np.ndarray, pairs: np.ndarray, mean: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Weighted centred differences of pairs with gaps, 0 where missing, [topic, pair]."""
    z = np.empty((scores.shape[1], len(pairs)))
    for part, off, _ in differences(scores, pairs):
        z[:, part] = ((off - mean[part, None]) * weight[part, None]).T
    return np.nan_to_num(z, copy=False)


def few_patterns(n_topics: int, n_samples: int) -> bool:
    """Whether all sign patterns of so many topics are no more than the samples asked for."""
    return n_topics < 60 and 2 ** (n_topics - 1) <= n_samples


def all_patterns(block: Block, n_topics: int) -> np.ndarray:
    """The sign patterns with these numbers, among all."""
    _, first, stop = block
    bits = np.arange(first, stop)[:, None] >> np.arange(n_topics) & 1
    return np.asarray(bits * 2.0 - 1.0)


def order_statistic(largest: np.ndarray, alpha: float, n_patterns: int) -> float:
    """The ceil((1 - alpha)(B + 1))-th smallest of B maxima; infinite where there is none."""
    # Rounding must not lift (1 - alpha)(B + 1) over a whole number.
    place = math.ceil((1.0 - alpha) * (n_patterns + 1) - 1e-9)
    if place > n_patterns or not len(largest):
        return math.inf
    repeats = len(largest) // n_patterns
    return float(np.sort(largest)[place * repeats - 1])

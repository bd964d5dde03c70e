"""All pairs of runs at once: studentized sign flips and the distribution of the largest t.

For leaderboards, where one wrong claim among thousands of pairs is one too many. The correction
knows how strongly the tests of all pairs depend on each other, which Holm's does not, so that it
finds more at the same error rate (Romano & Wolf 2005, doi:10.1111/j.1468-0262.2005.00615.x;
Mogstad, Romano, Shaikh & Wilhelm 2024, doi:10.1093/restud/rdad006).

Flips make symmetric differences, and real ones are skewed. Hence what is held against the largest
flipped t is not the observed t but the careful one (`steadyrank.stats.pairs.skewed`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from steadyrank.compute.blas import one_blas_thread
from steadyrank.compute.executors import Progress, stream_in_order, workers
from steadyrank.compute.random import blocks_of
from steadyrank.data.scores import mean_of_present
from steadyrank.stats.inputs import check_open_unit, check_samples, checked
from steadyrank.stats.pairs import kernels
from steadyrank.stats.pairs.resampled import Block, sign_patterns
from steadyrank.stats.pairs.result import CONSTANT, ZERO_VARIANCE, all_pairs
from steadyrank.stats.pairs.skewed import careful_reach, careful_t
from steadyrank.stats.pairs.tests import Moments, differences, moments, slices
from steadyrank.stats.run_means import adjusted_means

VALUES_AT_ONCE = 1 << 18
"""Statistics of one thread that are held at a time: they stay in the processor's cache."""

PATTERNS_AT_ONCE = 64
"""Sign patterns for which one thread holds the sums of all runs, side by side."""

FEWEST_SHARED = 6
"""Topics that a pair with gaps must share: five have only 16 sign patterns, too few for .05."""

USUAL, FEWEST_DRAWN, WORK = 10_000, 1000, 10**10
"""Patterns that are drawn unless asked otherwise, the fewest, and statistics to compute at most."""

ALWAYS_ENUMERATED = 16
"""Topics up to which all sign patterns are taken, however few samples are asked for."""

GRID = 4096
"""Points at which t of other degrees of freedom is tabulated; any increasing table is valid."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MaxT:
    """Simultaneous decisions about many pairs: arrays with one entry per pair."""

    pvalue: np.ndarray
    """Adjusted for the whole family, stepdown."""
    critical: np.ndarray
    """What a careful t has to exceed in the first step."""
    reach: np.ndarray
    """[pair, 2]: standard errors from a difference down and up to its simultaneous limits."""
    first: np.ndarray
    """One per run: whether it could be the best, see `could_be_first`."""
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
    progress: Progress | None = None,
    careful: bool = True,
) -> MaxT:
    """Adjusted p-values of paired t tests by the largest studentized statistic of the family.

    Every pair's differences are centred, the signs of whole topics are flipped (one sign per topic
    for all pairs), and t is computed again, numerator and standard error; the largest over the
    family is what an observed careful t has to exceed (with `careful=False`, t itself, which claims
    too much where differences are skewed). Hypotheses are one-sided, "a is not better than b"
    for every ordered pair, so that a rejection states the direction. Stepdown: once a hypothesis
    is rejected, the largest is taken over the others. With p = (1 + count) / (1 + n_samples), the
    chance of any false claim tends to `alpha` or less as topics grow; with few and skewed ones it
    was .03 to .10 at .05 (docs/levels.md).

    `pairs` [pair, 2] are the family, and `alpha` the error rate of all of it, for `critical`.
    `n_samples` sign patterns are drawn; all 2^(n - 1) are enumerated where these are no more, and
    up to 16 topics in any case. Families of more than a million pairs have fewer, `patterns_of`.

    Where cells are missing, pairs differ in their degrees of freedom; their t are compared by
    the normal quantiles of the same tail probability, since otherwise the pair with the fewest
    topics would set the limit for all. Pairs with gaps that share fewer than six topics are not
    tested.

    >>> scores = np.random.default_rng(1).normal(size=(3, 20)) + [[0], [0], [2]]
    >>> max_t(scores, np.array([[0, 1], [0, 2], [1, 2]])).pvalue.round(3).tolist()
    [0.913, 0.0, 0.001]
    """
    scores, pairs = checked(scores, pairs)
    check_samples(n_samples)
    check_open_unit("alpha", alpha)
    differences = moments(scores, pairs)
    family = _family(scores, pairs, differences, careful)
    centred = np.nan_to_num(scores - mean_of_present(scores)[:, None]).T
    flips: Flips = {"alpha": alpha, "n_samples": n_samples, "seed": seed, "jobs": jobs}
    count = _count_plain(family, centred) if family.is_plain else _count_any(family, centred)
    told: Flips = {**flips, "progress": progress}
    steps = stepdown(family.observed, scores.shape[1], count, n_pairs=len(pairs), **told)
    pvalue = np.where(differences.n < 2, np.nan, 1.0)
    pvalue[family.place] = steps.pvalue
    critical = family.scale.to_t(steps.limit, differences.n)
    candidates = unbeaten(len(scores), family.pairs[steps.pvalue <= alpha])
    return MaxT(
        pvalue=pvalue,
        critical=critical,
        reach=reach_of(critical, differences.skewness if careful else None, differences.n),
        first=_first(scores, family.about(candidates), centred, candidates, len(pairs), flips),
        n_patterns=steps.n_patterns,
        exact=steps.exact,
    )


def could_be_first(
    scores: np.ndarray, candidates: np.ndarray, *, careful: bool = True, **flips: Unpack[Flips]
) -> np.ndarray:
    """Which of the `candidates` [run] could be the best: one test of each against all others.

    "With confidence 1 - alpha the best run is one of these" requires only that the best run is not
    left out, so that nothing is corrected for the number of candidates (Hsu 1981,
    doi:10.1214/aos/1176345582; the marginal sets of Mogstad et al.). A run is left out if the
    largest careful t of the others over it exceeds the 1 - alpha quantile of the largest of the
    flipped t of the others over it.

    >>> scores = np.random.default_rng(1).normal(size=(3, 20)) + [[0], [1.6], [2]]
    >>> could_be_first(scores, np.ones(3, bool)).tolist()
    [False, True, True]
    """
    every = all_pairs(len(scores))
    pairs = every[candidates[every].any(axis=1)]
    differences = moments(scores, pairs)
    centred = np.nan_to_num(scores - mean_of_present(scores)[:, None]).T
    family = _family(scores, pairs, differences, careful)
    return _first(scores, family, centred, candidates, len(every), flips)


def unbeaten(n_runs: int, rejected: np.ndarray) -> np.ndarray:
    """The runs that are not the second of a rejected pair (better, worse)."""
    return np.asarray(np.bincount(rejected[:, 1], minlength=n_runs) == 0)


def first_of(
    observed: np.ndarray,
    pairs: np.ndarray,
    candidates: np.ndarray,
    n_signs: int,
    count: CountBeaten,
    *,
    n_pairs: int,
    alpha: float = 0.05,
    n_samples: int = 10_000,
    seed: int = 0,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> np.ndarray:
    """The candidates whose largest statistic against them many patterns reach.

    `observed` are the statistics of pairs (better, worse), all that a candidate is in; `n_pairs`
    those of the whole family, which has the same patterns.
    """
    against = np.zeros(len(candidates))
    np.maximum.at(against, pairs[:, 1], observed)
    total, n_patterns, halves, _ = over_patterns(
        n_signs,
        lambda signs, counts: count(signs, against, counts),
        len(candidates),
        n_pairs=n_pairs,
        n_samples=n_samples,
        seed=seed,
        jobs=jobs,
        progress=progress,
    )
    return np.asarray(candidates & ((1.0 + total / halves) / (1.0 + n_patterns) > alpha))


def counting_beaten(
    pairs: np.ndarray, sums: Sums, statistics: Callable[..., np.ndarray]
) -> CountBeaten:
    """Counts for `first_of` of statistics [pattern, pair] of pairs (better, worse)."""

    def count(signs: np.ndarray, against: np.ndarray, counts: np.ndarray) -> None:
        arrays, scratch = sums(signs), np.empty(len(against))
        for part in slices(len(signs), max(1, VALUES_AT_ONCE // max(1, len(pairs)))):
            values = statistics(*(array[part] for array in arrays))
            kernels.count_beaten(values, pairs, against, scratch, counts)

    return count


def _first(
    scores: np.ndarray,
    family: _Family,
    centred: np.ndarray,
    candidates: np.ndarray,
    n_pairs: int,
    flips: Flips,
) -> np.ndarray:
    def count_plain(signs: np.ndarray, against: np.ndarray, counts: np.ndarray) -> None:
        sums = signs @ centred
        for part in slices(len(signs), PATTERNS_AT_ONCE):
            by_run = np.ascontiguousarray(sums[part].T)
            most = np.empty_like(by_run)
            kernels.count_beaten_of_sums(by_run, family.pairs, family.weight, against, most, counts)

    count_any = counting_beaten(
        family.pairs, lambda signs: (signs @ centred, signs), partial(_statistics, family)
    )
    count = count_plain if family.is_plain else count_any
    observed = family.observed
    if np.isnan(scores).any():
        # On the topics that both have, a run may be ahead of one with a higher adjusted mean.
        better, worse = adjusted_means(scores)[family.pairs].T
        observed = np.where(better > worse, observed, 0.0)
    return first_of(
        observed, family.pairs, candidates, len(centred), count, n_pairs=n_pairs, **flips
    )


def max_t_level(n: np.ndarray, critical: np.ndarray, alpha: float) -> float:
    """The level of a single t test that the limit of a family amounts to; 0 where it has none."""
    usable = n > 1
    if not usable.any() or np.isinf(critical[usable][0]):
        return 0.0
    level = float(2.0 * stdtr(n[usable][0] - 1.0, -critical[usable][0]))
    return level if level < 1.0 else alpha  # no two runs differ at all: nothing to correct


def reach_of(critical: np.ndarray, skewness: np.ndarray | None, n: ArrayLike) -> np.ndarray:
    """[pair, 2]: that of the careful t, or of t itself where no skewness is given."""
    if skewness is None:
        return np.stack([critical, critical], axis=1)
    return careful_reach(critical, skewness, np.asarray(n, float))


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
        # r is 1, but for rounding, where a pattern makes all differences equal.
        if math.isinf(value) or (not len(self.sizes) and value * value >= 1.0):
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

    def about(self, runs: np.ndarray) -> _Family:
        """The pairs of these runs [run] with all others."""
        kept = runs[self.pairs].any(axis=1)
        of_gaps = kept[self.with_gaps]
        return _Family(
            place=self.place[kept],
            pairs=np.ascontiguousarray(self.pairs[kept]),
            weight=self.weight[kept],
            observed=self.observed[kept],
            with_gaps=(np.cumsum(kept) - 1)[self.with_gaps[of_gaps]],
            gap_differences=self.gap_differences[:, of_gaps],
            size=self.size[kept],
            scale=self.scale,
        )

    @property
    def is_plain(self) -> bool:
        """Whether no pair lacks topics, so that all statistics are comparable as they are."""
        return not len(self.with_gaps) and not len(self.scale.sizes)


def _family(scores: np.ndarray, pairs: np.ndarray, differences: Moments, careful: bool) -> _Family:
    # Flags are words, and few: millions of pairs are looked through once.
    tested, is_constant = differences.flag == "", np.zeros(len(pairs), bool)
    flagged = np.flatnonzero(~tested)
    is_constant[flagged] = differences.flag[flagged] == ZERO_VARIANCE
    tested |= is_constant
    tested &= (differences.n >= FEWEST_SHARED) | (differences.n == scores.shape[1])
    place = np.flatnonzero(tested)
    n, mean, sd = differences.n[place], differences.mean[place], differences.sd[place]
    constant = is_constant[place]
    weight = np.where(constant, 0.0, 1.0 / np.where(constant, 1.0, sd * np.sqrt(n * (n - 1.0))))
    with np.errstate(invalid="ignore"):
        t = np.where(constant, np.inf, mean / np.where(constant, 1.0, sd) * np.sqrt(n))
        t = careful_t(t, differences.skewness[place], n) if careful else np.abs(t)
        r = np.where(constant, 1.0, t / np.sqrt(n - 1.0 + np.square(t)))
    scale = _scale(n, scores.shape[1])
    size = np.searchsorted(scale.sizes, n) if len(scale.sizes) else np.zeros(len(n), np.int64)
    observed = r
    if len(scale.sizes):
        observed = np.empty_like(r)
        kernels.look_up(r[None, :], size, scale.table, observed[None, :])
    observed = np.where(constant, np.inf, observed)
    order = np.argsort(-observed, kind="stable")
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
    return _Scale(sizes=sizes, table=np.stack([_quantiles(int(size)) for size in sizes]), n=0)


@lru_cache(maxsize=256)
def _quantiles(n: int) -> np.ndarray:
    """Normal quantiles for n topics, on the grid of r."""
    r = np.arange(GRID) / (GRID - 1.0)
    # The last point would be infinite; what lies beyond the last but one is as good as that.
    inner = np.minimum(r, 1.0 - 0.5 / GRID)
    t = inner * np.sqrt((n - 1.0) / (1.0 - np.square(inner)))
    return np.asarray(-ndtri(stdtr(n - 1.0, -t)))


class Draws(TypedDict, total=False):
    """How signs are flipped: the level, the patterns to draw, their seed, and threads."""

    alpha: float
    n_samples: int
    seed: int
    jobs: int | None


class Flips(Draws, total=False):
    """The same, and who is to know how far it is."""

    progress: Progress | None


class Stepdown(NamedTuple):
    """What the flips say about statistics that descend."""

    pvalue: np.ndarray
    limit: float
    """What the first step has to exceed."""
    n_patterns: int
    exact: bool


Sums = Callable[[np.ndarray], tuple[np.ndarray, ...]]
"""Takes the signs of a block of patterns; makes arrays [pattern, …], of the whole block at once, as
the last bits of a product may depend on how many rows it has."""

CountBeaten = Callable[[np.ndarray, np.ndarray, np.ndarray], None]
"""Takes signs [pattern, unit] and the largest observed statistic against each run; adds to how many
patterns reach it [run]."""

Count = Callable[[np.ndarray, np.ndarray, np.ndarray], None]
"""Takes signs [pattern, unit]; adds to how often the largest statistic of a pair and of those below
reaches the observed one [pair], and writes the largest of all [pattern]."""


def stepdown(
    observed: np.ndarray,
    n_signs: int,
    count: Count,
    *,
    n_pairs: int | None = None,
    alpha: float = 0.05,
    n_samples: int = 10_000,
    seed: int = 0,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Stepdown:
    """Hold each `observed` statistic against the largest of it and those below, in all patterns."""
    maxima: list[np.ndarray] = []

    def count_and_keep(signs: np.ndarray, counts: np.ndarray) -> np.ndarray:
        largest = np.empty(len(signs))
        count(signs, counts, largest)
        return largest

    total, n_patterns, halves, exact = over_patterns(
        n_signs,
        count_and_keep,
        len(observed),
        n_pairs=n_pairs or len(observed),
        n_samples=n_samples,
        seed=seed,
        jobs=jobs,
        progress=progress,
        keep=maxima.append,
    )
    stepped = np.maximum.accumulate((1.0 + total / halves) / (1.0 + n_patterns))
    limit = order_statistic(np.concatenate(maxima), alpha, n_patterns)
    return Stepdown(np.minimum(1.0, stepped), limit, n_patterns, exact)


def over_patterns(
    n_signs: int,
    count: Callable[[np.ndarray, np.ndarray], Any],
    size: int,
    *,
    n_pairs: int,
    n_samples: int = 10_000,
    seed: int = 0,
    jobs: int | None = None,
    progress: Progress | None = None,
    keep: Callable[[Any], None] = lambda _: None,
) -> tuple[np.ndarray, int, int, bool]:
    """Counts [size] over all patterns of signs: what `count` adds for those of a block.

    Also how many patterns there are, how often each was taken, and whether these are all; `keep`
    is given what `count` returns, in order.
    """
    exact, n_drawn = patterns_of(n_signs, n_samples, n_pairs)
    # Statistics of one-sided hypotheses change with a flip of all signs: both count, by half.
    halves = 2 if exact else 1

    def one_block(block: Block) -> tuple[np.ndarray, np.ndarray | None]:
        counts = np.zeros(size, np.int64)
        kept = count(signs_of_block(seed, block, n_signs, exact), counts)
        return counts, kept

    total = np.zeros(size, np.int64)
    with one_blas_thread(), workers(jobs=jobs) as threads:
        blocks = blocks_of(n_drawn)
        for counts, kept in stream_in_order(one_block, blocks, threads, progress=progress):
            total += counts
            keep(kept)
    return total, n_drawn // halves, halves, exact


def counting(observed: np.ndarray, sums: Sums, statistics: Callable[..., np.ndarray]) -> Count:
    """Counts of statistics [pattern, pair] that are made of some rows of `sums` of the signs."""

    def count(signs: np.ndarray, counts: np.ndarray, largest: np.ndarray) -> None:
        arrays = sums(signs)
        for part in slices(len(signs), max(1, VALUES_AT_ONCE // max(1, len(observed)))):
            values = statistics(*(array[part] for array in arrays))
            kernels.step_counts(values, observed, counts, largest[part])

    return count


def _count_any(family: _Family, centred: np.ndarray) -> Count:
    return counting(
        family.observed, lambda signs: (signs @ centred, signs), partial(_statistics, family)
    )


def _count_plain(family: _Family, centred: np.ndarray) -> Count:
    """The same counts, without an array of all pairs' statistics."""

    def count(signs: np.ndarray, counts: np.ndarray, largest: np.ndarray) -> None:
        sums = signs @ centred
        for part in slices(len(signs), PATTERNS_AT_ONCE):
            by_run = np.ascontiguousarray(sums[part].T)
            kernels.step_counts_of_sums(
                by_run, family.pairs, family.weight, family.observed, counts, largest[part]
            )

    return count


def _statistics(family: _Family, sums: np.ndarray, signs: np.ndarray) -> np.ndarray:
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


def patterns_of(n_topics: int, n_samples: int, n_pairs: int = 1) -> tuple[bool, int]:
    """Whether all sign patterns are taken, and how many are.

    All where there are no more, but for a flip of all signs, than samples to draw, and up to 16
    topics, so that the seed is irrelevant. More than a million pairs would take minutes: they
    have fewer patterns, down to 1,000, unless more than the usual 10,000 are asked for.

    >>> patterns_of(8, 10_000), patterns_of(50, 10_000), patterns_of(50, 10_000, 12_500_000)
    ((True, 256), (False, 10000), (False, 1000))
    """
    affordable = max(FEWEST_DRAWN, WORK // max(1, n_pairs))
    if n_samples <= USUAL:
        n_samples = min(n_samples, affordable)
    few = n_topics <= ALWAYS_ENUMERATED and 2**n_topics <= 8 * affordable
    if few or 2 ** min(n_topics - 1, 60) <= n_samples:
        return True, 2**n_topics
    return False, n_samples


def signs_of_block(seed: int, block: Block, n_topics: int, exact: bool) -> np.ndarray:
    """Random signs [pattern, topic], or those of the patterns with these numbers, among all."""
    if not exact:
        return sign_patterns(seed, block, n_topics, "largest t")
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

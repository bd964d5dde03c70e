"""All pairs of runs at once: sign flips and the distribution of the largest t.

For leaderboards, where one wrong claim among thousands of pairs is one too many. The correction
knows how strongly the tests of all pairs depend on each other, which Holm's does not, so that it
finds more at the same error rate (Romano & Wolf 2005, doi:10.1111/j.1468-0262.2005.00615.x;
Mogstad, Romano, Shaikh & Wilhelm 2024, doi:10.1093/restud/rdad006).

**The flips.** If two runs are equal, their difference on a topic is as likely to have one sign as
the other. So the signs of whole topics are flipped, the same for all runs, t is computed again for
all pairs, and the largest t is kept. Over thousands of patterns of signs these maxima are the null
distribution: a pair is rejected where few patterns reach its observed t.

**The steps.** A rejected hypothesis is out of play, and the others are held against the largest t
of what is left. Hypotheses are one-sided: of each pair the one that the data speak for may be
rejected, and the other never is, so it stays in play. With pairs sorted by their observed t, the
maxima of all steps come from one walk through the pairs, from the smallest t up
(`kernels.step_counts`).

**The work.** Signs do not change the sum of squares S of n centred differences. So t depends on a
pattern only through the signed sum: with r = sum / sqrt(n S), t = r sqrt((n - 1) / (1 - r²)), which
increases with r, and r serves as well as t. The signed sum of a pair is the difference of those of
its runs, which one product of matrices has for all runs and patterns; no array [pattern, pair] is
made. Where pairs lack topics, or what was drawn differs in weight, statistics are not comparable as
they are, and the array is made, some patterns at a time.

Flips make symmetric differences, and real ones are skewed. Hence what is held against the largest
flipped t is not the observed t but the careful one (`steadyrank.stats.pairs.skewed`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
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

VALUES_AT_ONCE = 1 << 20
"""Statistics of one thread that are held at a time: 8 MiB, some patterns of each of many pairs."""

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


class Draws(TypedDict, total=False):
    """How signs are flipped: the level, the patterns to draw, their seed, and threads."""

    alpha: float
    n_samples: int
    seed: int
    jobs: int | None


class Flips(Draws, total=False):
    """The same, and who is to know how far it is."""

    progress: Progress | None


def max_t(
    scores: np.ndarray, pairs: np.ndarray, *, careful: bool = True, **flips: Unpack[Flips]
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
    `n_samples` (10,000) sign patterns are drawn; all 2^(n - 1) are enumerated where these are no
    more, and up to 16 topics in any case. Families of more than a million pairs have fewer,
    `patterns_of`.

    Where cells are missing, pairs differ in their degrees of freedom; their t are compared by
    the normal quantiles of the same tail probability, since otherwise the pair with the fewest
    topics would set the limit for all. Pairs with gaps that share fewer than six topics are not
    tested.

    >>> scores = np.random.default_rng(1).normal(size=(3, 20)) + [[0], [0], [2]]
    >>> max_t(scores, np.array([[0, 1], [0, 2], [1, 2]])).pvalue.round(3).tolist()
    [0.913, 0.0, 0.001]
    """
    scores, pairs = checked(scores, pairs)
    check_flips(flips)
    found = moments(scores, pairs)
    observed = _observed(scores, pairs, found, careful)

    def reach(limit: float) -> tuple[np.ndarray, np.ndarray]:
        critical = observed.scale.to_t(limit, found.n)
        return critical, careful_reach(critical, found.skewness if careful else None, found.n)

    decided = decide(
        observed.size,
        found.mean,
        pairs,
        observed.flipped,
        shape=scores.shape,
        leads=_leads(scores),
        reach=reach,
        flips=flips,
    )
    return replace(decided, pvalue=np.where(found.n < 2, np.nan, decided.pvalue))


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
    found = moments(scores, pairs)
    observed = _observed(scores, pairs, found, careful)
    family = _family(observed.size, found.mean, pairs)
    n_signs, leads = scores.shape[1], _leads(scores)
    return _first(family, observed.flipped, candidates, n_signs, len(every), leads, flips)


def max_t_level(n: np.ndarray, critical: np.ndarray, alpha: float) -> float:
    """The level of a single t test that the limit of a family amounts to; 0 where it has none."""
    usable = n > 1
    if not usable.any() or np.isinf(critical[usable][0]):
        return 0.0
    level = float(2.0 * stdtr(n[usable][0] - 1.0, -critical[usable][0]))
    return level if level < 1.0 else alpha  # no two runs differ at all: nothing to correct


def check_flips(flips: Flips) -> None:
    """A level between 0 and 1, and at least one sample."""
    check_samples(flips.get("n_samples", USUAL))
    check_open_unit("alpha", flips.get("alpha", 0.05))


@dataclass(frozen=True, slots=True, eq=False)
class FlippedStatistics:
    """Flipped statistics of a family's pairs, the better run first.

    That of a pair is the difference of two rows of values [row, pattern], times its weight.
    """

    pairs: np.ndarray
    rows: np.ndarray
    """[pair, 2]"""
    weight: np.ndarray
    values: Callable[[np.ndarray], Iterator[np.ndarray]]
    """From signs [pattern, unit], some patterns at a time, all patterns in their order."""

    def count_steps(
        self, observed: np.ndarray, signs: np.ndarray, counts: np.ndarray
    ) -> np.ndarray:
        """Add to how often the largest statistic of a pair and of those below reaches the observed
        one [pair]; returns the largest of all [pattern]."""
        largest = [np.empty(0)]
        for values in self.values(signs):
            largest.append(np.empty(values.shape[1]))
            kernels.step_counts(values, self.rows, self.weight, observed, counts, largest[-1])
        return np.concatenate(largest)

    def count_beaten(self, against: np.ndarray, signs: np.ndarray, counts: np.ndarray) -> None:
        """Add to how many patterns reach the largest observed statistic against each run [run]."""
        for values in self.values(signs):
            most = np.empty((len(against), values.shape[1]))
            kernels.count_beaten(values, self.rows, self.pairs, self.weight, against, most, counts)


def of_values(
    pairs: np.ndarray,
    sums: Callable[[np.ndarray], tuple[np.ndarray, ...]],
    statistics: Callable[..., None],
) -> FlippedStatistics:
    """Statistics that are written to an array [pair, pattern], from `sums` of some patterns.

    Sums are of a whole block of patterns at once, as the last bits of a product may depend on how
    many rows it has. Every pair has a row of its own, which is held against one of zeros.
    """
    n_pairs = len(pairs)

    def values(signs: np.ndarray) -> Iterator[np.ndarray]:
        arrays = sums(signs)
        for part in slices(len(signs), max(1, VALUES_AT_ONCE // max(1, n_pairs))):
            by_pair = np.zeros((n_pairs + 1, part.stop - part.start))
            statistics(*(array[part] for array in arrays), by_pair[:-1])
            yield by_pair

    rows = np.stack([np.arange(n_pairs), np.full(n_pairs, n_pairs)], axis=1)
    return FlippedStatistics(pairs, rows, np.ones(n_pairs), values)


class _SortedPairs(NamedTuple):
    """The tested pairs from the largest statistic down, the better run first."""

    place: np.ndarray
    """Which of the given pairs each is."""
    pairs: np.ndarray
    observed: np.ndarray


def _family(size: np.ndarray, direction: np.ndarray, pairs: np.ndarray) -> _SortedPairs:
    """`size` is the observed statistic of each pair, NaN where it is not tested."""
    tested = np.flatnonzero(~np.isnan(size))
    place = tested[np.argsort(-size[tested], kind="stable")]
    turned = (direction[place] < 0.0)[:, None]
    better = np.where(turned, pairs[place][:, ::-1], pairs[place])
    # A flip that ties with what was observed counts, whatever rounding makes of it.
    return _SortedPairs(place, np.ascontiguousarray(better), size[place] * (1.0 - CONSTANT))


Flipped = Callable[[np.ndarray, np.ndarray], FlippedStatistics]
"""From pairs, the better run first, and which of all pairs these are."""


def decide(
    size: np.ndarray,
    direction: np.ndarray,
    pairs: np.ndarray,
    flipped: Flipped,
    *,
    shape: tuple[int, ...],
    leads: np.ndarray | None = None,
    reach: Callable[[float], tuple[np.ndarray, np.ndarray]],
    flips: Flips,
) -> MaxT:
    """Hold each observed statistic against the largest of it and those below, in all patterns.

    `flipped` makes the statistics of pairs, given which of all these are; `shape` are the numbers
    of runs and of what has a sign; `reach` makes the critical values and reaches of the pairs from
    the statistic that the first step has to exceed.
    """
    n_runs, n_signs = shape
    family = _family(size, direction, pairs)
    count = partial(flipped(family.pairs, family.place).count_steps, family.observed)
    taken = over_patterns(n_signs, count, len(family.place), n_pairs=len(pairs), flips=flips)
    stepped = np.maximum.accumulate(taken.pvalue)
    pvalue, alpha = np.ones(len(pairs)), flips.get("alpha", 0.05)
    pvalue[family.place] = np.minimum(1.0, stepped)
    beaten = family.pairs[stepped <= alpha, 1]
    candidates = np.bincount(beaten, minlength=n_runs) == 0
    silent: Flips = {**flips, "progress": None}
    limit = order_statistic(np.concatenate(taken.kept), alpha, taken.n_patterns)
    critical, reaches = reach(limit)
    return MaxT(
        pvalue=pvalue,
        critical=critical,
        reach=reaches,
        first=_first(family, flipped, candidates, n_signs, len(pairs), leads, silent),
        n_patterns=taken.n_patterns,
        exact=taken.exact,
    )


def _first(
    family: _SortedPairs,
    flipped: Flipped,
    candidates: np.ndarray,
    n_signs: int,
    n_pairs: int,
    leads: np.ndarray | None,
    flips: Flips,
) -> np.ndarray:
    """The candidates whose largest statistic against them many patterns reach.

    Where `leads` [run] are given, only a run that leads another by these speaks against it.
    """
    kept = candidates[family.pairs].any(axis=1)
    pairs, observed = np.ascontiguousarray(family.pairs[kept]), family.observed[kept]
    if leads is not None:
        observed = np.where(np.greater(*leads[pairs.T]), observed, 0.0)
    against = np.zeros(len(candidates))
    np.maximum.at(against, pairs[:, 1], observed)
    count = partial(flipped(pairs, family.place[kept]).count_beaten, against)
    taken = over_patterns(n_signs, count, len(candidates), n_pairs=n_pairs, flips=flips)
    return np.asarray(candidates & (taken.pvalue > flips.get("alpha", 0.05)))


def _leads(scores: np.ndarray) -> np.ndarray | None:
    """Adjusted means where scores are missing, else None.

    On the topics that both have, a run may be ahead of one with a higher adjusted mean.
    """
    return adjusted_means(scores) if np.isnan(scores).any() else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _RScale:
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
class _Observed:
    """The pairs of scores that may lack topics, and what their flipped statistics are made of."""

    scores: np.ndarray
    centred: np.ndarray
    """[topic, run], 0 where missing."""
    size: np.ndarray
    """r of the careful t, as the scale has it; NaN of pairs that are not tested."""
    mean: np.ndarray
    n: np.ndarray
    weight: np.ndarray
    """1 / sqrt(n sum of squares) of the centred differences; 0 without spread."""
    scale: _RScale

    def flipped(self, pairs: np.ndarray, rows: np.ndarray) -> FlippedStatistics:
        """The statistics of these pairs, whose better run is first, `rows` of all."""
        n, weight, scale = self.n[rows], self.weight[rows], self.scale
        gaps = np.flatnonzero(n < len(self.centred))
        if not len(gaps) and not len(scale.sizes):
            return FlippedStatistics(pairs, pairs, weight, self._sums)
        mean, place = np.abs(self.mean[rows]), np.searchsorted(scale.sizes, n)
        own = _gap_differences(self.scores, pairs[gaps], mean[gaps], weight[gaps])

        def statistics(sums: np.ndarray, signs: np.ndarray, values: np.ndarray) -> None:
            kernels.signed_differences(np.ascontiguousarray(sums.T), pairs, weight, values)
            if len(gaps):
                values[gaps] = (signs @ own).T
            if len(scale.sizes):
                kernels.look_up(values, place, scale.table, values)

        return of_values(pairs, lambda signs: (signs @ self.centred, signs), statistics)

    def _sums(self, signs: np.ndarray) -> Iterator[np.ndarray]:
        """The runs' signed sums: of complete pairs no array of all statistics is made."""
        sums = signs @ self.centred
        for part in slices(len(signs), PATTERNS_AT_ONCE):
            yield np.ascontiguousarray(sums[part].T)


def _observed(scores: np.ndarray, pairs: np.ndarray, found: Moments, careful: bool) -> _Observed:
    # Flags are words, and few: millions of pairs are looked through once.
    tested, constant = found.flag == "", np.zeros(len(pairs), bool)
    flagged = np.flatnonzero(~tested)
    constant[flagged] = found.flag[flagged] == ZERO_VARIANCE
    tested |= constant
    tested &= (found.n >= FEWEST_SHARED) | (found.n == scores.shape[1])
    n, sd = found.n.astype(np.float64), np.where(found.sd > 0.0, found.sd, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.where(found.sd > 0.0, 1.0 / (sd * np.sqrt(n * (n - 1.0))), 0.0)
        t = found.mean / sd * np.sqrt(n)
        t = careful_t(t, found.skewness, n) if careful else np.abs(t)
        size = t / np.sqrt(n - 1.0 + np.square(t))
    scale = _scale(found.n[tested], scores.shape[1])
    if len(scale.sizes):
        place = np.searchsorted(scale.sizes, found.n[tested])
        looked_up = size[tested][:, None]
        kernels.look_up(looked_up, place, scale.table, looked_up)
        size[tested] = looked_up[:, 0]
    size = np.where(tested, np.where(constant, np.inf, size), np.nan)
    return _Observed(
        scores=scores,
        centred=np.nan_to_num(scores - mean_of_present(scores)[:, None]).T,
        size=size,
        mean=found.mean,
        n=found.n,
        weight=weight,
        scale=scale,
    )


def _scale(n: np.ndarray, n_topics: int) -> _RScale:
    sizes = np.unique(n)
    if len(sizes) <= 1:
        only = int(sizes[0]) if len(sizes) else n_topics
        return _RScale(sizes=np.zeros(0, np.int64), table=np.zeros((0, 0)), n=only)
    return _RScale(sizes=sizes, table=np.stack([_quantiles(int(size)) for size in sizes]), n=0)


@lru_cache(maxsize=256)
def _quantiles(n: int) -> np.ndarray:
    """Normal quantiles for n topics, on the grid of r."""
    r = np.arange(GRID) / (GRID - 1.0)
    # The last point would be infinite; what lies beyond the last but one is as good as that.
    inner = np.minimum(r, 1.0 - 0.5 / GRID)
    t = inner * np.sqrt((n - 1.0) / (1.0 - np.square(inner)))
    return np.asarray(-ndtri(stdtr(n - 1.0, -t)))


def _gap_differences(
    scores: np.ndarray, pairs: np.ndarray, mean: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Weighted centred differences of pairs with gaps, 0 where missing, [topic, pair]."""
    z = np.empty((scores.shape[1], len(pairs)))
    for part, off, _ in differences(scores, pairs):
        z[:, part] = ((off - mean[part, None]) * weight[part, None]).T
    return np.nan_to_num(z, copy=False)


class Taken(NamedTuple):
    """Counts over all patterns of signs."""

    pvalue: np.ndarray
    """(1 + count) / (1 + patterns)."""
    kept: list[Any]
    """What was kept of each block, in order."""
    n_patterns: int
    exact: bool


def over_patterns(
    n_signs: int,
    count: Callable[[np.ndarray, np.ndarray], Any],
    size: int,
    *,
    n_pairs: int,
    flips: Flips,
) -> Taken:
    """Counts [size] over all patterns, a block at a time: what `count` adds, and what it
    returns."""
    seed, jobs, progress = flips.get("seed", 0), flips.get("jobs"), flips.get("progress")
    exact, n_drawn = patterns_of(n_signs, flips.get("n_samples", USUAL), n_pairs)
    # Statistics of one-sided hypotheses change with a flip of all signs: both count, by half.
    halves = 2 if exact else 1

    def one_block(block: Block) -> tuple[np.ndarray, Any]:
        counts = np.zeros(size, np.int64)
        return counts, count(signs_of_block(seed, block, n_signs, exact), counts)

    total, kept = np.zeros(size, np.int64), []
    with one_blas_thread(), workers(jobs=jobs) as threads:
        blocks = blocks_of(n_drawn)
        for counts, answer in stream_in_order(one_block, blocks, threads, progress=progress):
            total += counts
            kept.append(answer)
    n_patterns = n_drawn // halves
    return Taken((1.0 + total / halves) / (1.0 + n_patterns), kept, n_patterns, exact)


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

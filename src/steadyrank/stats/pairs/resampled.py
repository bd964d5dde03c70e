"""Do two runs differ, without assuming normality? Sign flips and resamples, and their intervals.

Fisher's randomization test, and the studentized bootstrap of Jayasinghe, Webber, Sanderson,
Dharmasena & Culpepper (2015, Algorithm 1), for many pairs of runs at once. All pairs share the same
flips or resamples of topics or whole clusters (Cameron, Gelbach & Miller 2008,
doi:10.1162/rest.90.3.414), drawn in blocks. Intervals are inverted tests: a limit is 0 exactly if
the p-value of the test is alpha.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import bdtr, ndtri

from steadyrank.compute.random import block_stream, blocks_of
from steadyrank.errors import check_choice
from steadyrank.stats.inputs import check_open_unit, check_samples, checked
from steadyrank.stats.pairs import kernels
from steadyrank.stats.pairs.result import CONSTANT, NO_DIFFERENCE, TOO_FEW, PairTests
from steadyrank.stats.pairs.sign_flips import Block, sign_patterns, signs_of_block
from steadyrank.stats.pairs.tests import (
    add_up,
    differences,
    few_of_all,
    in_threads,
    moments,
    paired_t,
    slices,
    topics_won,
)
from steadyrank.stats.pairs.topic_design import PLAIN, TopicDesign, cluster_sums, linearised

MODES = ("sound", "paper")

USUAL_EXACT = 50
"""Number of non-zero differences up to which signed-rank limits are exact, as in `wilcoxon`."""

WIDTH = 512
"""Number of pairs whose resampled sums are in memory at a time."""

PAIRS_AT_ONCE = 32
"""Number of pairs for which each thread holds all resampled values at a time."""


def randomization(
    scores: np.ndarray,
    pairs: np.ndarray,
    *,
    design: TopicDesign = PLAIN,
    n_samples: int = 10_000,
    seed: int = 0,
    exact_up_to: int = 2**16,
    mode: str = "sound",
    jobs: int | None = None,
) -> PairTests:
    """Fisher's randomization test: if runs are interchangeable, signs of differences are random.

    The statistic is the mean difference, two-sided; flips that tie with the observed one count as
    extreme. For a pair with n non-zero differences all flips are enumerated if 2^n is at most
    `exact_up_to`, and p is exact; otherwise `n_samples` flips are drawn and p = (1 + extreme) / (1
    + n_samples), or extreme / n_samples in the mode "paper". A `design` of clusters or weights
    requires complete scores; whole clusters are flipped.
    """
    scores, pairs = checked(scores, pairs)
    check_samples(n_samples)
    check_choice("mode", mode, MODES)
    base = paired_t(scores, pairs, design)
    if not design.is_plain:
        units = cluster_sums(scores, design)
        scores = units.sums * len(units.share)  # plain means of these are the runs' means
    won, _, lost = topics_won(scores, pairs).T
    exact = won + lost < int(exact_up_to).bit_length()  # 2^n is at most that number
    pvalue, error = np.empty(len(pairs)), np.zeros(len(pairs))
    pvalue[exact] = _all_flips(scores, pairs[exact], jobs=jobs)
    counts = _drawn_flips(scores, pairs[~exact], n_samples=n_samples, seed=seed, jobs=jobs)
    pvalue[~exact], error[~exact] = share_of_samples(counts, n_samples, mode)
    signs = "signs" if design.is_plain else f"the signs of {design.noun}"
    return settled(
        base,
        pvalue,
        error,
        statistic=base.difference,
        n_samples=n_samples,
        method=f"Fisher's randomization of {signs}, two-sided; {exact.sum()} pairs exact, "
        f"{len(pairs) - exact.sum()} with {n_samples:,} samples, {_formula(mode)}",
    )


def flip_limits(
    scores: np.ndarray,
    pairs: np.ndarray,
    *,
    alpha: float = 0.05,
    design: TopicDesign = PLAIN,
    n_samples: int = 10_000,
    seed: int = 0,
    jobs: int | None = None,
) -> np.ndarray:
    """Return limits [pair, 2] of the mean difference: the inverted randomization test.

    After a candidate value is subtracted, flipping the signs of a set of topics reaches the
    observed mean exactly if the value is at least the mean over that set. So the limits are order
    statistics of means over random subsets of the topics (Hartigan 1969,
    doi:10.1080/01621459.1969.10501057). Infinite if `n_samples` allow no rejection at `alpha`.
    """
    scores, pairs = checked(scores, pairs)
    check_open_unit("alpha", alpha)
    rank = rejected_rank(alpha, n_samples)
    limits = np.tile([-np.inf, np.inf], (len(pairs), 1))
    if rank < 0:
        return limits
    shares = None
    if not design.is_plain:
        units = cluster_sums(scores, design)
        scores, shares = units.sums, units.share
    blocks = blocks_of(n_samples)
    signs = np.concatenate([sign_patterns(seed, block, scores.shape[1]) for block in blocks])

    def invert(part: slice) -> None:
        z = scores[pairs[part, 0]] - scores[pairs[part, 1]]
        there = (~np.isnan(z)).astype(np.float64)
        if shares is not None:
            there *= shares
        filled = np.nan_to_num(z)
        total, n = filled.sum(axis=1), there.sum(axis=1)
        sums, balance = signs @ filled.T, signs @ there.T
        with np.errstate(divide="ignore", invalid="ignore"):
            flipped = (total - sums) / (n - balance)
            kept = (total + sums) / (n + balance)
        means = np.concatenate([flipped, kept]).T
        empty = np.isnan(means) | np.isinf(means)
        low = np.partition(np.where(empty, -np.inf, means), rank, axis=1)[:, rank]
        means = -np.where(empty, np.inf, means)
        limits[part] = np.stack([low, -np.partition(means, rank, axis=1)[:, rank]], axis=1)

    in_threads(invert, slices(len(pairs), PAIRS_AT_ONCE), jobs=jobs)
    return limits


def studentized_bootstrap(
    scores: np.ndarray,
    pairs: np.ndarray,
    *,
    design: TopicDesign = PLAIN,
    n_samples: int = 10_000,
    seed: int = 0,
    mode: str = "sound",
    alternative: str = "two-sided",
    jobs: int | None = None,
) -> PairTests:
    """Algorithm 1 of Jayasinghe et al. (2015): compare t with resampled, recentred t*.

    Topics are drawn with replacement, and t* = (mean of the resample - shift) / its standard error.
    The shift is the mean difference, or in the mode "paper" the mean of all resample means. Counts
    |t*| >= |t|, or t* >= t for the alternative "greater"; p is (1 + count) / (1 + n_samples), or
    count / n_samples in the mode "paper". A resample without variance has t* = ±inf. A `design` of
    clusters or weights requires complete scores; whole clusters are drawn, and the standard error
    is CR1, for the observed t as well.
    """
    scores, pairs = checked(scores, pairs)
    check_samples(n_samples)
    check_choice("mode", mode, MODES)
    check_choice("alternative", alternative, ("two-sided", "greater"))
    base = paired_t(scores, pairs, design)
    t = base.statistic
    if not design.is_plain:
        by_units = paired_t(linearised(cluster_sums(scores, design)), pairs).statistic
        t = np.where(base.flag == "", by_units, t)
    counts = _resampled_counts(
        _drawn_together(scores, pairs, design),
        len(pairs),
        np.where(base.flag == NO_DIFFERENCE, 0.0, t),
        n_samples=n_samples,
        seed=seed,
        paper=mode == "paper",
        two_sided=alternative == "two-sided",
        jobs=jobs,
    )
    pvalue, error = share_of_samples(counts, n_samples, mode)
    return settled(
        base,
        pvalue,
        error,
        statistic=t,
        n_samples=n_samples,
        method=f"studentized bootstrap over {design.noun}, {alternative}, {n_samples:,} samples, "
        + ("recentred by the mean of resample means, " if mode == "paper" else "")
        + _formula(mode),
    )


def bootstrap_t_limits(
    scores: np.ndarray,
    pairs: np.ndarray,
    *,
    alpha: float = 0.05,
    design: TopicDesign = PLAIN,
    n_samples: int = 10_000,
    seed: int = 0,
    alternative: str = "two-sided",
    jobs: int | None = None,
) -> np.ndarray:
    """Return limits [pair, 2] of the mean difference: the inverted studentized bootstrap test.

    difference ± c s with c the order statistic of |t*| (Hall 1988, doi:10.1214/aos/1176350933,
    calls it the symmetric interval); for the alternative "greater" from difference - c s up, with c
    of t*. Infinite if `n_samples` allow no rejection at `alpha`.
    """
    scores, pairs = checked(scores, pairs)
    check_open_unit("alpha", alpha)
    values = scores if design.is_plain else linearised(cluster_sums(scores, design))
    found = moments(values, pairs)
    rank = rejected_rank(alpha, n_samples)
    critical = np.full(len(pairs), np.inf)
    size: Callable[[np.ndarray], np.ndarray] = np.abs if alternative == "two-sided" else np.array
    place = n_samples - 1 - rank

    def invert(task: tuple[_DrawnTogether, np.ndarray]) -> None:
        group, members = task
        gaps = group.gaps(members)
        t_star = [
            resampled_statistics(gaps, group.share, group.draws(seed, block), None)
            for block in blocks_of(n_samples)
        ]
        critical[members] = np.partition(size(np.concatenate(t_star)), place, axis=0)[place]

    if rank >= 0:
        tasks = [
            (group, group.members[part])
            for group in _drawn_together(scores, pairs, design)
            for part in slices(len(group.members), PAIRS_AT_ONCE)
        ]
        in_threads(invert, tasks, jobs=jobs)
    error = found.standard_error
    half = np.where(error > 0.0, critical * np.where(error > 0.0, error, 1.0), 0.0)
    upper = found.mean + half if alternative == "two-sided" else np.full(len(pairs), np.inf)
    return np.stack([found.mean - half, upper], axis=1)


def hodges_lehmann_limits(
    scores: np.ndarray, pairs: np.ndarray, *, alpha: float = 0.05
) -> np.ndarray:
    """Return limits [pair, 2] of the pseudomedian: the inverted signed-rank test.

    The median of the means of all couples of non-zero differences (Hodges & Lehmann 1963,
    doi:10.1214/aoms/1177704172). Infinite if there are too few for a rejection at `alpha`.
    """
    scores, pairs = checked(scores, pairs)
    check_open_unit("alpha", alpha)
    limits = np.empty((len(pairs), 2))
    for part, z, tolerance in differences(scores, pairs):
        kernels.signed_rank_limits(
            z, tolerance, USUAL_EXACT, alpha, float(-ndtri(alpha / 2.0)), limits[part]
        )
    return limits


def median_limits(scores: np.ndarray, pairs: np.ndarray, *, alpha: float = 0.05) -> np.ndarray:
    """Return limits [pair, 2] of the median non-zero difference: the inverted sign test."""
    scores, pairs = checked(scores, pairs)
    check_open_unit("alpha", alpha)
    limits = np.tile([-np.inf, np.inf], (len(pairs), 1))
    for part, z, tolerance in differences(scores, pairs):
        for place, (row, tiny) in enumerate(zip(z, tolerance, strict=True), start=part.start):
            ordered = np.sort(row[np.abs(row) > tiny])
            # The largest count of the rarer sign at which the sign test rejects.
            n = len(ordered)
            most = int((2.0 * bdtr(np.arange(n // 2 + 1), n, 0.5) <= alpha).sum()) - 1
            if n and most >= 0:
                limits[place] = ordered[most], ordered[n - 1 - most]
    return limits


def rejected_rank(alpha: float, n_samples: int) -> int:
    """Return the largest count with (1 + count) / (1 + B) <= alpha; -1 if there is none."""
    return math.floor(alpha * (n_samples + 1) + 1e-9) - 1


def _all_flips(scores: np.ndarray, pairs: np.ndarray, *, jobs: int | None) -> np.ndarray:
    """Return for each pair the share of all flips as extreme as the observed difference."""
    pvalue = np.empty(len(pairs))

    def enumerate_flips(part: slice) -> None:
        for inner, z, tolerance in differences(scores, pairs[part]):
            kept = np.abs(z) > tolerance[:, None]
            n = int(kept.sum(axis=1).max(initial=0))
            first = np.argsort(~kept, axis=1, kind="stable")[:, :n]
            # A zero that fills up a row doubles its flips, and changes no share.
            z = np.take_along_axis(np.where(kept, z, 0.0), first, axis=1)
            size = np.maximum(tolerance, CONSTANT * np.abs(z).sum(axis=1))
            limit, count = np.abs(z.sum(axis=1)) - size, np.zeros(len(z), np.int64)
            n_flips = 2 ** max(n - 1, 0)
            for block in blocks_of(n_flips):
                signs = signs_of_block(0, block, n, exact=True)
                kernels.count_extreme(signs @ z.T, limit, True, count)
            pvalue[part][inner] = count / n_flips

    in_threads(enumerate_flips, slices(len(pairs), WIDTH), jobs=jobs)
    return pvalue


def _drawn_flips(
    scores: np.ndarray, pairs: np.ndarray, *, n_samples: int, seed: int, jobs: int | None
) -> np.ndarray:
    """Return for each pair how many random flips are as extreme as the observed difference."""
    if not len(pairs):
        return np.zeros(0, np.int64)
    complete = ~np.isnan(scores).any(axis=1)
    whole = complete[pairs].all(axis=1)
    runs = np.where(complete[:, None], scores, 0.0)
    limit = _flip_limits(scores, pairs)
    shared, partial = np.flatnonzero(whole), np.flatnonzero(~whole)

    def count(blocks: Sequence[Block]) -> np.ndarray:
        counts = np.zeros(len(pairs), np.int64)
        for block in blocks:
            signs = sign_patterns(seed, block, scores.shape[1])
            extreme = np.zeros(len(shared), np.int64)
            kernels.count_run_differences(runs @ signs.T, pairs[shared], limit[shared], extreme)
            counts[shared] += extreme
            for part, z, _ in differences(scores, pairs[partial]):
                at = partial[part]
                extreme = np.zeros(len(at), np.int64)
                kernels.count_extreme(signs @ np.nan_to_num(z).T, limit[at], True, extreme)
                counts[at] += extreme
        return counts

    return add_up(count, blocks_of(n_samples), len(pairs), jobs=jobs)


def _flip_limits(scores: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return |sum of differences| minus the rounding error of a tie with it."""
    limit = np.empty(len(pairs))
    for part, z, _ in differences(scores, pairs):
        there = ~np.isnan(z)
        first, second = np.abs(scores[pairs[part, 0]]), np.abs(scores[pairs[part, 1]])
        size = np.where(there, first + second, 0.0).sum(axis=1)
        limit[part] = np.abs(np.where(there, z, 0.0).sum(axis=1)) - CONSTANT * size
    return limit


class _DrawnTogether(NamedTuple):
    """Pairs that share resamples: those with the same number of topics, or the same clusters."""

    members: np.ndarray
    """Positions of the pairs."""
    share: np.ndarray
    """Share of each unit in the weights."""
    gaps: Callable[[np.ndarray], np.ndarray]
    """Returns the contributions of units to the mean differences of some pairs, [pair, unit]."""
    stream: str

    def draws(self, seed: int, block: Block) -> np.ndarray:
        """Return how often each replicate of a block draws each unit."""
        return topic_draws(seed, block, len(self.share), self.stream)


def _drawn_together(
    scores: np.ndarray, pairs: np.ndarray, design: TopicDesign
) -> list[_DrawnTogether]:
    """Return one group of all pairs for a design; otherwise one group per number of topics."""
    if not design.is_plain:
        units = cluster_sums(scores, design)

        def gaps(members: np.ndarray) -> np.ndarray:
            return np.asarray(np.subtract(*units.sums[pairs[members].T]))

        return [_DrawnTogether(np.arange(len(pairs)), units.share, gaps, "clusters")]
    sizes = n_shared(scores, pairs)

    def of_size(n: int) -> _DrawnTogether:
        def gaps(members: np.ndarray) -> np.ndarray:
            return shared_differences(scores, pairs[members], n) / n

        return _DrawnTogether(np.flatnonzero(sizes == n), np.full(n, 1.0 / n), gaps, "topics")

    return [of_size(int(n)) for n in np.unique(sizes) if n > 1]


def _resampled_counts(
    groups: Sequence[_DrawnTogether],
    n_pairs: int,
    t: np.ndarray,
    *,
    n_samples: int,
    seed: int,
    paper: bool,
    two_sided: bool,
    jobs: int | None,
) -> np.ndarray:
    """Return for each pair how many t* are as extreme as t."""
    blocks = blocks_of(n_samples)
    shifts = [_mean_draws(group, blocks, seed, jobs=jobs) if paper else None for group in groups]
    t = np.where(np.abs(t) <= CONSTANT, 0.0, np.abs(t) if two_sided else t)
    limit = t * (1.0 - CONSTANT * np.sign(t))

    def count(some: Sequence[Block]) -> np.ndarray:
        counts = np.zeros(n_pairs, np.int64)
        for block in some:
            for group, mean_draws in zip(groups, shifts, strict=True):
                drawn = group.draws(seed, block)
                for part in slices(len(group.members), WIDTH):
                    at = group.members[part]
                    t_star = resampled_statistics(group.gaps(at), group.share, drawn, mean_draws)
                    extreme = np.zeros(len(at), np.int64)
                    kernels.count_extreme(t_star, limit[at], two_sided, extreme)
                    counts[at] += extreme
        return counts

    return add_up(count, blocks, n_pairs, jobs=jobs)


def resampled_statistics(
    gaps: np.ndarray, share: np.ndarray, drawn: np.ndarray, mean_draws: np.ndarray | None
) -> np.ndarray:
    """Return t* [replicate, pair], given how often replicates draw each unit [replicate, unit].

    `gaps` [pair, unit] are contributions of the units to the mean differences, and `share` their
    weights. The shift is the mean, or with `mean_draws`, the average draws of all replicates, the
    mean of all resample means.
    """
    off = gaps - gaps.sum(axis=1, keepdims=True) * share
    t: np.ndarray = drawn @ off.T
    shift = np.zeros(len(gaps)) if mean_draws is None else off @ mean_draws
    largest = np.abs(gaps).max(axis=1) / share.max()
    squares, total, spread = drawn @ np.square(off).T, drawn @ share, drawn @ np.square(share)
    if np.ptp(share) == 0.0:
        # With equal shares the sum of e s is s sum(e) = m s sum(s), so it joins the term in m².
        cross, along, spread = squares, 0.0, spread - 2.0 * share[0] * total
    else:
        cross, along = drawn @ (off * share).T, 1.0
    n = float(len(share))
    kernels.resampled_t(t, squares, cross, along, total, spread, n, shift, largest)
    return t


def shared_differences(scores: np.ndarray, pairs: np.ndarray, n: int) -> np.ndarray:
    """Return differences of pairs that share n topics each, without missing ones, [pair, n]."""
    z: np.ndarray = scores[pairs[:, 0]] - scores[pairs[:, 1]]
    return z if n == scores.shape[1] else z[~np.isnan(z)].reshape(len(z), n)


def n_shared(scores: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return the number of topics that both runs of each pair have."""
    there, (first, second) = ~np.isnan(scores), pairs.T
    if few_of_all(scores, pairs):
        return np.asarray((there[first] & there[second]).sum(axis=1))
    counts = there.astype(np.float64)
    return np.asarray((counts @ counts.T)[first, second].astype(np.int64))


def topic_draws(seed: int, block: Block, n_topics: int, purpose: str = "topics") -> np.ndarray:
    """Return how often each replicate of a block draws each topic or instance."""
    number, first, stop = block
    stream = block_stream(seed, purpose, number)
    weights = np.empty((stop - first, n_topics))
    kernels.topic_weights(
        stream.integers(0, n_topics, size=weights.shape, dtype=np.uint32), weights
    )
    return weights


def _mean_draws(
    group: _DrawnTogether, blocks: Sequence[Block], seed: int, *, jobs: int | None
) -> np.ndarray:
    """Return how often a replicate draws each unit, on average over all replicates."""

    def add(some: Sequence[Block]) -> np.ndarray:
        total = sum(group.draws(seed, block).sum(axis=0) for block in some)
        return np.asarray(total, dtype=np.int64)

    return add_up(add, blocks, len(group.share), jobs=jobs) / blocks[-1][2]


def share_of_samples(
    counts: np.ndarray, n_samples: int, mode: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return p-values and their Monte Carlo standard errors."""
    plain = counts / n_samples
    error = np.sqrt(plain * (1.0 - plain) / n_samples)
    return (plain if mode == "paper" else (1.0 + counts) / (1.0 + n_samples)), error


def settled(base: PairTests, pvalue: np.ndarray, error: np.ndarray, **changes: Any) -> PairTests:
    """Return tests with these p-values; those of degenerate pairs are fixed by convention."""
    for flag, value in ((NO_DIFFERENCE, 1.0), (TOO_FEW, np.nan)):
        pvalue[base.flag == flag] = value
        error[base.flag == flag] = 0.0 if flag == NO_DIFFERENCE else np.nan
    return dataclasses.replace(base, pvalue=pvalue, pvalue_error=error, **changes)


def _formula(mode: str) -> str:
    return "p = extreme / B" if mode == "paper" else "p = (1 + extreme) / (1 + B)"

"""Do two runs differ, without assuming normality? Sign flips and resampled topics.

Fisher's randomization test, and the studentized bootstrap of Jayasinghe, Webber, Sanderson,
Dharmasena & Culpepper (2015, Algorithm 1), for many pairs of runs at once. Every pair sees
the same flips or resamples, drawn in blocks, so that matrix products do most of the work.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from steadyrank.compute.random import block_stream, blocks_of
from steadyrank.errors import check_choice
from steadyrank.stats.inputs import check_samples, checked, pair_differences
from steadyrank.stats.pairs import kernels
from steadyrank.stats.pairs.result import CONSTANT, NO_DIFFERENCE, TOO_FEW, PairTests
from steadyrank.stats.pairs.tests import (
    add_up,
    differences,
    few_of_all,
    in_threads,
    paired_t,
    slices,
)

Block = tuple[int, int, int]

MODES = ("sound", "paper")

WIDTH = 512
"""Pairs whose resampled sums are held at a time."""

LONGEST_EXACT = 40
"""Non-zero differences above which no one waits for all 2^n flips."""


def randomization(
    scores: np.ndarray,
    pairs: np.ndarray,
    *,
    n_samples: int = 10_000,
    seed: int = 0,
    exact_up_to: int = 2**16,
    mode: str = "sound",
    jobs: int | None = None,
) -> PairTests:
    """Fisher's randomization test: if runs are interchangeable, each difference's sign is a coin.

    The statistic is the mean difference, two-sided; flips that tie with what was observed
    count as extreme. A pair with n non-zero differences is enumerated if 2^n is at most
    `exact_up_to`, and p is then exact; else `n_samples` flips are drawn and
    p = (1 + extreme) / (1 + n_samples), or extreme / n_samples in the mode "paper". Tests
    that the runs are interchangeable: with few topics, differences that are skewed but of
    mean 0 are rejected too often, as by t.

    >>> scores = np.array([[0.3, 0.5, 0.4, 0.7], [0.2, 0.5, 0.1, 0.5]])
    >>> randomization(scores, np.array([[0, 1]])).pvalue.tolist()
    [0.25]
    """
    scores, pairs = checked(scores, pairs)
    check_samples(n_samples)
    check_choice("mode", mode, MODES)
    base = paired_t(scores, pairs)
    exact = _nonzero(scores, pairs) <= _most_flipped(exact_up_to)
    pvalue, error = np.empty(len(pairs)), np.zeros(len(pairs))
    pvalue[exact] = _all_flips(scores, pairs[exact], jobs=jobs)
    counts = _drawn_flips(scores, pairs[~exact], n_samples=n_samples, seed=seed, jobs=jobs)
    pvalue[~exact], error[~exact] = share_of_samples(counts, n_samples, mode)
    return settled(
        base,
        pvalue,
        error,
        statistic=base.difference,
        n_samples=n_samples,
        method=f"Fisher's randomization of signs, two-sided; {exact.sum()} pairs exact, "
        f"{len(pairs) - exact.sum()} with {n_samples:,} samples, {_formula(mode)}",
    )


def studentized_bootstrap(
    scores: np.ndarray,
    pairs: np.ndarray,
    *,
    n_samples: int = 10_000,
    seed: int = 0,
    mode: str = "sound",
    alternative: str = "two-sided",
    jobs: int | None = None,
) -> PairTests:
    """Algorithm 1 of Jayasinghe et al. (2015): where does t lie among resampled, recentred t*?

    Topics are drawn with replacement, and t* = (mean of the resample - shift) / its standard
    error. The shift is the mean difference, or in the mode "paper" the mean of all resample
    means. Counts |t*| >= |t|, or t* >= t for the alternative "greater"; p is
    (1 + count) / (1 + n_samples), or count / n_samples in the mode "paper". A resample
    without variance has t* = ±inf. With fewer than some 10 topics resamples repeat
    themselves too much: prefer `randomization`.

    >>> scores = np.array([[0.3, 0.5, 0.4, 0.7], [0.2, 0.5, 0.1, 0.5]])
    >>> test = studentized_bootstrap(scores, np.array([[0, 1]]), n_samples=999)
    >>> bool(0 < test.pvalue[0] < 1)
    True
    """
    scores, pairs = checked(scores, pairs)
    check_samples(n_samples)
    check_choice("mode", mode, MODES)
    check_choice("alternative", alternative, ("two-sided", "greater"))
    base = paired_t(scores, pairs)
    counts = _resampled_counts(
        scores,
        pairs,
        np.where(base.flag == NO_DIFFERENCE, 0.0, base.statistic),
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
        n_samples=n_samples,
        method=f"studentized bootstrap over topics, {alternative}, {n_samples:,} samples, "
        + ("recentred by the mean of resample means, " if mode == "paper" else "")
        + _formula(mode),
    )


def _all_flips(scores: np.ndarray, pairs: np.ndarray, *, jobs: int | None) -> np.ndarray:
    pvalue = np.empty(len(pairs))

    def enumerate_flips(part: slice) -> None:
        for inner, z, tolerance in differences(scores, pairs[part]):
            kernels.exact_flips(z, tolerance, pvalue[part][inner])

    in_threads(enumerate_flips, slices(len(pairs), 64), jobs=jobs)
    return pvalue


def _drawn_flips(
    scores: np.ndarray, pairs: np.ndarray, *, n_samples: int, seed: int, jobs: int | None
) -> np.ndarray:
    """How many random flips are as extreme as what was observed, for each pair."""
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
    """|sum of differences| less what rounding may take from a tie with it."""
    limit = np.empty(len(pairs))
    for part, z, _ in differences(scores, pairs):
        there = ~np.isnan(z)
        first, second = np.abs(scores[pairs[part, 0]]), np.abs(scores[pairs[part, 1]])
        size = np.where(there, first + second, 0.0).sum(axis=1)
        limit[part] = np.abs(np.where(there, z, 0.0).sum(axis=1)) - CONSTANT * size
    return limit


def sign_patterns(seed: int, block: Block, n_topics: int, purpose: str = "signs") -> np.ndarray:
    """The random signs of a block of replicates, [replicate, topic], -1.0 or 1.0."""
    number, first, stop = block
    rows, width = stop - first, -(-n_topics // 8)
    drawn = block_stream(seed, purpose, number).bytes(rows * width)
    packed = np.frombuffer(drawn, np.uint8).reshape(rows, width)
    bits = np.unpackbits(packed, axis=1, count=n_topics)
    return np.asarray(bits.astype(np.float64) * 2.0 - 1.0)


def _resampled_counts(
    scores: np.ndarray,
    pairs: np.ndarray,
    t: np.ndarray,
    *,
    n_samples: int,
    seed: int,
    paper: bool,
    two_sided: bool,
    jobs: int | None,
) -> np.ndarray:
    """How many t* are as extreme as t, for each pair."""
    # Resamples draw positions, so all pairs with as many topics share the same matrix products.
    sizes = n_shared(scores, pairs)
    groups = {int(n): np.flatnonzero(sizes == n) for n in np.unique(sizes) if n > 1}
    blocks = blocks_of(n_samples)
    share = {n: _mean_weights(n, blocks, seed, jobs=jobs) for n in groups} if paper else {}
    t = np.where(np.abs(t) <= CONSTANT, 0.0, np.abs(t) if two_sided else t)
    limit = t * (1.0 - CONSTANT * np.sign(t))

    def count(some: Sequence[Block]) -> np.ndarray:
        counts = np.zeros(len(pairs), np.int64)
        for block in some:
            for n, members in groups.items():
                weights = topic_draws(seed, block, n)
                for part in slices(len(members), WIDTH):
                    at = members[part]
                    t_star = resampled_statistics(
                        shared_differences(scores, pairs[at], n), weights, share.get(n)
                    )
                    extreme = np.zeros(len(at), np.int64)
                    kernels.count_extreme(t_star, limit[at], two_sided, extreme)
                    counts[at] += extreme
        return counts

    return add_up(count, blocks, len(pairs), jobs=jobs)


def resampled_statistics(
    z: np.ndarray, weights: np.ndarray, mean_weights: np.ndarray | None
) -> np.ndarray:
    """t* of complete differences [pair, topic] under weights [replicate, topic].

    The shift is the mean, or the mean under `mean_weights`, the average weights of all
    replicates: this is the mean of all resample means.
    """
    n = z.shape[1]
    centred = z - z.mean(axis=1, keepdims=True)
    shift = np.zeros(len(z)) if mean_weights is None else centred @ mean_weights / n
    largest = np.abs(z).max(axis=1)
    t: np.ndarray = weights @ centred.T
    kernels.resampled_t(t, weights @ np.square(centred).T, float(n), shift, largest)
    return t


def shared_differences(scores: np.ndarray, pairs: np.ndarray, n: int) -> np.ndarray:
    """Differences of pairs that share n topics each, missing ones left out, [pair, n]."""
    z = pair_differences(scores, pairs)
    return z if n == scores.shape[1] else z[~np.isnan(z)].reshape(len(z), n)


def n_shared(scores: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Topics that both runs of each pair have."""
    there, (first, second) = ~np.isnan(scores), pairs.T
    if few_of_all(scores, pairs):
        return np.asarray((there[first] & there[second]).sum(axis=1))
    counts = there.astype(np.float64)
    return np.asarray((counts @ counts.T)[first, second].astype(np.int64))


def topic_draws(seed: int, block: Block, n_topics: int, purpose: str = "topics") -> np.ndarray:
    """How often each replicate of a block draws each topic, or instance, [replicate, topic]."""
    number, first, stop = block
    stream = block_stream(seed, purpose, number)
    weights = np.empty((stop - first, n_topics))
    kernels.topic_weights(
        stream.integers(0, n_topics, size=weights.shape, dtype=np.uint32), weights
    )
    return weights


def _mean_weights(
    n_topics: int, blocks: Sequence[Block], seed: int, *, jobs: int | None
) -> np.ndarray:
    """How often a replicate draws each topic, on average over all replicates."""

    def add(some: Sequence[Block]) -> np.ndarray:
        total = sum(topic_draws(seed, block, n_topics).sum(axis=0) for block in some)
        return np.asarray(total, dtype=np.int64)

    n_samples = blocks[-1][2]
    return add_up(add, blocks, n_topics, jobs=jobs) / n_samples


def _nonzero(scores: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    counts = np.empty(len(pairs), np.int64)
    for part, z, tolerance in differences(scores, pairs):
        counts[part] = (np.abs(z) > tolerance[:, None]).sum(axis=1)
    return counts


def _most_flipped(exact_up_to: int) -> int:
    """The largest n with 2^n <= exact_up_to, and no larger than anyone waits for."""
    return min(int(exact_up_to).bit_length() - 1, LONGEST_EXACT) if exact_up_to > 0 else -1


def share_of_samples(
    counts: np.ndarray, n_samples: int, mode: str
) -> tuple[np.ndarray, np.ndarray]:
    """p-values and their Monte Carlo standard errors."""
    plain = counts / n_samples
    error = np.sqrt(plain * (1.0 - plain) / n_samples)
    return (plain if mode == "paper" else (1.0 + counts) / (1.0 + n_samples)), error


def settled(base: PairTests, pvalue: np.ndarray, error: np.ndarray, **changes: Any) -> PairTests:
    """Tests with these p-values; degenerate pairs have those of the conventions, without error."""
    for flag, value in ((NO_DIFFERENCE, 1.0), (TOO_FEW, np.nan)):
        pvalue[base.flag == flag] = value
        error[base.flag == flag] = 0.0 if flag == NO_DIFFERENCE else np.nan
    return dataclasses.replace(base, pvalue=pvalue, pvalue_error=error, **changes)


def _formula(mode: str) -> str:
    return "p = extreme / B" if mode == "paper" else "p = (1 + extreme) / (1 + B)"

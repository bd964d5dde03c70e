"""Sign flips and the bootstrap where topics come in clusters or have weights.

What is flipped or drawn is a whole cluster (a single topic where there are weights alone), so that
topics of one cluster stay together. All work on `ClusterSums` of complete scores. With unequal
clusters a resample has a mean and a cluster-robust variance of its own clusters, which is what
keeps the level with few of them (Cameron, Gelbach & Miller 2008, doi:10.1162/rest.90.3.414).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Unpack

import numpy as np

from steadyrank.compute.random import blocks_of
from steadyrank.stats.datasets import kernels as weighted_kernels
from steadyrank.stats.datasets.flips import Flipped, flipped
from steadyrank.stats.pairs import kernels
from steadyrank.stats.pairs.inverted import flip_limits, rejected_rank
from steadyrank.stats.pairs.max_t import Draws, Flips, MaxT
from steadyrank.stats.pairs.resampled import (
    WIDTH,
    Block,
    randomization,
    settled,
    share_of_samples,
    topic_draws,
)
from steadyrank.stats.pairs.result import CONSTANT, TOO_FEW, PairTests
from steadyrank.stats.pairs.skewed import skewness_of_mean
from steadyrank.stats.pairs.tests import add_up, in_threads, slices
from steadyrank.stats.pairs.topic_design import ClusterSums


def cluster_max_t(
    units: ClusterSums, pairs: np.ndarray, errors: np.ndarray, **flips: Unpack[Flips]
) -> MaxT:
    """`max_t` with the signs of whole clusters flipped, and cluster-robust standard errors.

    Unlike there, differences are not centred first: each hypothesis says that the mean difference
    is 0, and where clusters are few and unequal, residuals about an estimated mean are too small.
    `critical` is in units of `errors`, the standard errors that the t tests of the pairs have.

    With 10 clusters of 1 to 11 topics, five equal runs were told apart in .05 of the trials at
    level .05, and in .10 with centred differences.
    """
    pairs = np.ascontiguousarray(pairs)
    sums, share = np.ascontiguousarray(units.sums.T), units.share
    gaps = _pair_sums(units, pairs)
    difference = gaps.sum(axis=1)
    off = gaps - difference[:, None] * share
    factor = len(share) / max(1.0, len(share) - 1.0)
    own_errors = np.sqrt(factor * np.square(off).sum(axis=1))
    squares, spread = factor * np.square(gaps).sum(axis=1), float(share @ share)
    weighted = factor * share[:, None] * sums

    def statistics(ordered: np.ndarray, rows: np.ndarray, *summed: np.ndarray) -> np.ndarray:
        out = np.empty((len(summed[0]), len(ordered)))
        weighted_kernels.weighted_statistics(*summed, ordered, squares[rows], factor * spread, out)
        return out

    observed = Flipped(
        difference=difference,
        error=own_errors,
        skewness=skewness_of_mean(off),
        n_draws=1.0 / spread,
        n_signs=len(share),
        sums=lambda signs: (signs @ sums, signs @ weighted),
        statistics=statistics,
    )
    together = flipped(observed, pairs, **flips)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.where(errors > 0.0, own_errors / errors, 1.0)
    return dataclasses.replace(
        together, critical=together.critical * scale, reach=together.reach * scale[:, None]
    )


def cluster_randomization(
    units: ClusterSums,
    pairs: np.ndarray,
    base: PairTests,
    *,
    n_samples: int,
    seed: int,
    jobs: int | None = None,
) -> PairTests:
    """Fisher's randomization test with the signs of whole clusters flipped.

    Exact where runs are interchangeable within clusters: the difference of a cluster's sums is as
    likely to have the other sign. `base` are the pairs' t tests.
    """
    # [run, cluster], such that plain means over clusters are the runs' means.
    scores = units.sums * len(units.share)
    of_clusters = randomization(scores, pairs, n_samples=n_samples, seed=seed, jobs=jobs)
    pvalue, error = of_clusters.pvalue.copy(), of_clusters.pvalue_error
    assert error is not None  # randomization has one
    return settled(
        base,
        pvalue,
        error,
        statistic=base.difference,
        n_samples=n_samples,
        method=of_clusters.method.replace("of signs", f"of the signs of {units.noun}"),
    )


def cluster_flip_limits(
    units: ClusterSums, pairs: np.ndarray, **draws: Unpack[Draws]
) -> np.ndarray:
    """Limits [pair, 2] of the mean difference: the inverted randomization test of clusters."""
    return flip_limits(units.sums, pairs, shares=units.share, **draws)


def cluster_bootstrap(
    units: ClusterSums,
    pairs: np.ndarray,
    base: PairTests,
    *,
    alternative: str = "two-sided",
    n_samples: int,
    seed: int,
    jobs: int | None = None,
) -> PairTests:
    """The studentized bootstrap of clusters: where does t lie among resampled, recentred t*?

    Clusters are drawn with replacement, as many as there are; a resample's mean is over all topics
    that it holds, and its standard error CR1. Observed t are CR1, too. `base` are the t tests.
    """
    gaps = _pair_sums(units, pairs)
    two_sided = alternative == "two-sided"
    t = _observed(gaps, units.share)
    t = np.where(np.abs(t) <= CONSTANT, 0.0, np.abs(t) if two_sided else t)
    limit = t * (1.0 - CONSTANT * np.sign(t))

    def count(blocks: Sequence[Block]) -> np.ndarray:
        counts = np.zeros(len(pairs), np.int64)
        for block in blocks:
            drawn = topic_draws(seed, block, len(units.share), "clusters")
            for part in slices(len(pairs), WIDTH):
                extreme = np.zeros(len(gaps[part]), np.int64)
                values = _drawn_statistics(gaps[part], units.share, drawn)
                kernels.count_extreme(values, limit[part], two_sided, extreme)
                counts[part] += extreme
        return counts

    counts = add_up(count, blocks_of(n_samples), len(pairs), jobs=jobs)
    pvalue, error = share_of_samples(counts, n_samples, "sound")
    return settled(
        base,
        pvalue,
        error,
        statistic=np.where(base.flag == "", _observed(gaps, units.share), base.statistic),
        n_samples=n_samples,
        method=f"studentized bootstrap over {units.noun}, {alternative}, {n_samples:,} samples, "
        "p = (1 + extreme) / (1 + B)",
    )


def cluster_bootstrap_limits(
    units: ClusterSums,
    pairs: np.ndarray,
    base: PairTests,
    *,
    alpha: float,
    alternative: str = "two-sided",
    n_samples: int,
    seed: int,
    jobs: int | None = None,
) -> np.ndarray:
    """Limits [pair, 2] of the mean difference: the inverted bootstrap test of clusters."""
    gaps, rank = _pair_sums(units, pairs), rejected_rank(alpha, n_samples)
    critical = np.full(len(pairs), np.inf)
    size: Callable[[np.ndarray], np.ndarray] = np.abs if alternative == "two-sided" else np.array

    def invert(part: slice) -> None:
        draws = (
            topic_draws(seed, block, len(units.share), "clusters") for block in blocks_of(n_samples)
        )
        values = [_drawn_statistics(gaps[part], units.share, drawn) for drawn in draws]
        place = n_samples - 1 - rank
        critical[part] = np.partition(size(np.concatenate(values)), place, axis=0)[place]

    if rank >= 0:
        in_threads(invert, slices(len(pairs), WIDTH), jobs=jobs)
    errors = _robust_errors(gaps, units.share)
    half = np.where(errors > 0.0, critical * np.where(errors > 0.0, errors, 1.0), 0.0)
    half[base.flag == TOO_FEW] = np.nan
    mean = base.difference
    upper = mean + half if alternative == "two-sided" else np.full(len(pairs), np.inf)
    return np.stack([mean - half, upper], axis=1)


def _pair_sums(units: ClusterSums, pairs: np.ndarray) -> np.ndarray:
    """[pair, cluster]: what clusters add to the mean differences."""
    return np.asarray(units.sums[pairs[:, 0]] - units.sums[pairs[:, 1]])


def _robust_errors(gaps: np.ndarray, share: np.ndarray) -> np.ndarray:
    """CR1 standard errors; 0 where only rounding is left."""
    n_clusters = len(share)
    if n_clusters < 2:
        return np.full(len(gaps), np.nan)
    off = gaps - gaps.sum(axis=1, keepdims=True) * share
    errors = np.sqrt(np.square(off).sum(axis=1) * n_clusters / (n_clusters - 1.0))
    return np.where(errors <= CONSTANT * np.maximum(1.0, np.abs(gaps).max(axis=1)), 0.0, errors)


def _observed(gaps: np.ndarray, share: np.ndarray) -> np.ndarray:
    errors, mean = _robust_errors(gaps, share), gaps.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.abs(mean) <= CONSTANT, 0.0, mean / errors)


def _drawn_statistics(gaps: np.ndarray, share: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """t* [replicate, pair] of the clusters that each replicate draws so often [replicate, cluster].

    From residuals about the observed mean, so that nothing large cancels.
    """
    n_clusters = len(share)
    off = gaps - gaps.sum(axis=1, keepdims=True) * share
    total = (drawn @ share)[:, None]
    mean = (drawn @ off.T) / total
    squares = drawn @ np.square(off).T - 2.0 * mean * (drawn @ (off * share).T)
    squares += np.square(mean) * (drawn @ np.square(share))[:, None]
    # Below this the sum of squares is what rounding has left of equal terms.
    least = CONSTANT * (drawn @ np.square(off).T)
    factor = math.sqrt(n_clusters / max(1.0, n_clusters - 1.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        error = factor * np.sqrt(np.where(squares > least, squares, 0.0)) / total
        t: np.ndarray = mean / error
    return np.where(np.isnan(t), 0.0, t)

"""Which differences would a test not reject? The interval that belongs to each paired test.

For anyone who prints an interval beside a p-value: a limit lies at 0 exactly where the test's own
p-value reaches alpha, so that the two never contradict each other. Student's interval does this
for the t test alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import bdtr, ndtri

from steadyrank.compute.random import blocks_of
from steadyrank.stats.inputs import check_open_unit, checked
from steadyrank.stats.pairs import kernels
from steadyrank.stats.pairs.resampled import (
    n_shared,
    resampled_statistics,
    shared_differences,
    sign_patterns,
    topic_draws,
)
from steadyrank.stats.pairs.tests import differences, in_threads, moments, slices

PAIRS_AT_ONCE = 32
"""Pairs whose resampled values are held at a time, by each thread."""


def hodges_lehmann_limits(
    scores: np.ndarray, pairs: np.ndarray, *, alpha: float = 0.05, exact_up_to: int = 50
) -> np.ndarray:
    """Limits [pair, 2] of the pseudomedian: the inverted signed-rank test.

    The pseudomedian is the median of the means of all couples of differences (Hodges & Lehmann
    1963, doi:10.1214/aoms/1177704172), here of the non-zero differences, as the test drops the
    others. Infinite where too few differences allow no rejection at `alpha`.

    >>> scores = np.array([[0.3, 0.6, 0.4, 0.7, 0.8, 0.9], [0.2, 0.4, 0.1, 0.3, 0.3, 0.3]])
    >>> hodges_lehmann_limits(scores, np.array([[0, 1]])).round(3).tolist()
    [[0.1, 0.6]]
    """
    scores, pairs = checked(scores, pairs)
    check_open_unit("alpha", alpha)
    limits = np.empty((len(pairs), 2))
    for part, z, tolerance in differences(scores, pairs):
        kernels.signed_rank_limits(
            z, tolerance, exact_up_to, alpha, float(-ndtri(alpha / 2.0)), limits[part]
        )
    return limits


def median_limits(scores: np.ndarray, pairs: np.ndarray, *, alpha: float = 0.05) -> np.ndarray:
    """Limits [pair, 2] of the median non-zero difference: the inverted sign test.

    Two order statistics; infinite where too few differences allow no rejection at `alpha`.

    >>> scores = np.array([[0.3, 0.6, 0.4, 0.7, 0.8, 0.9], [0.2, 0.4, 0.1, 0.3, 0.3, 0.3]])
    >>> median_limits(scores, np.array([[0, 1]])).round(3).tolist()
    [[0.1, 0.6]]
    """
    scores, pairs = checked(scores, pairs)
    check_open_unit("alpha", alpha)
    limits = np.tile([-np.inf, np.inf], (len(pairs), 1))
    for part, z, tolerance in differences(scores, pairs):
        for place, (row, tiny) in enumerate(zip(z, tolerance, strict=True), start=part.start):
            ordered = np.sort(row[np.abs(row) > tiny])
            most = _most_of_the_rarer_sign(len(ordered), alpha)
            if most >= 0:
                limits[place] = ordered[most], ordered[len(ordered) - 1 - most]
    return limits


def _most_of_the_rarer_sign(n: int, alpha: float) -> int:
    """The largest count at which the sign test rejects, -1 where there is none."""
    counts = np.arange(n // 2 + 1)
    return int((2.0 * bdtr(counts, n, 0.5) <= alpha).sum()) - 1 if n else -1


def flip_limits(
    scores: np.ndarray,
    pairs: np.ndarray,
    *,
    alpha: float = 0.05,
    shares: np.ndarray | None = None,
    n_samples: int = 10_000,
    seed: int = 0,
    jobs: int | None = None,
) -> np.ndarray:
    """Limits [pair, 2] of the mean difference: the inverted randomization test.

    Flipping the signs of a set of topics after subtracting a candidate value reaches the observed
    mean exactly if the value is at least the mean over that set: the limits are order statistics
    of means over random halves of the topics (Hartigan 1969, doi:10.1080/01621459.1969.10501057).
    Infinite where `n_samples` allow no rejection at `alpha`.

    Where columns are sums over clusters, `shares` are how much of the weights each has: by so much
    a candidate value moves it.

    >>> scores = np.random.default_rng(1).normal(size=(2, 40)) + [[1], [0]]
    >>> low, high = flip_limits(scores, np.array([[0, 1]]))[0]
    >>> bool(0 < low < high)
    True
    """
    scores, pairs = checked(scores, pairs)
    check_open_unit("alpha", alpha)
    rank = rejected_rank(alpha, n_samples)
    limits = np.tile([-np.inf, np.inf], (len(pairs), 1))
    if rank < 0:
        return limits
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


def bootstrap_t_limits(
    scores: np.ndarray,
    pairs: np.ndarray,
    *,
    alpha: float = 0.05,
    n_samples: int = 10_000,
    seed: int = 0,
    alternative: str = "two-sided",
    jobs: int | None = None,
) -> np.ndarray:
    """Limits [pair, 2] of the mean difference: the inverted studentized bootstrap test.

    difference ± c s with c the order statistic of |t*| (Hall 1988, doi:10.1214/aos/1176350933,
    calls it the symmetric interval); for the alternative "greater" from difference - c s up, with
    c of t*. Infinite where `n_samples` allow no rejection at `alpha`.

    >>> scores = np.random.default_rng(1).normal(size=(2, 40)) + [[1], [0]]
    >>> low, high = bootstrap_t_limits(scores, np.array([[0, 1]]))[0]
    >>> bool(0 < low < high)
    True
    """
    scores, pairs = checked(scores, pairs)
    check_open_unit("alpha", alpha)
    pair_moments = moments(scores, pairs)
    mean, error = pair_moments.mean, pair_moments.sd / np.sqrt(np.maximum(pair_moments.n, 1))
    rank = rejected_rank(alpha, n_samples)
    critical = np.full(len(pairs), np.inf)
    size: Callable[[np.ndarray], np.ndarray] = np.abs if alternative == "two-sided" else np.array
    sizes = n_shared(scores, pairs)

    def invert(members: np.ndarray) -> None:
        n = int(sizes[members[0]])
        z = shared_differences(scores, pairs[members], n)
        drawn = (topic_draws(seed, block, n) for block in blocks_of(n_samples))
        values = np.concatenate([resampled_statistics(z, weights, None) for weights in drawn])
        place = n_samples - 1 - rank
        critical[members] = np.partition(size(values), place, axis=0)[place]

    if rank >= 0:
        groups = [np.flatnonzero(sizes == n) for n in np.unique(sizes) if n > 1]
        parts = [group[part] for group in groups for part in slices(len(group), PAIRS_AT_ONCE)]
        in_threads(invert, parts, jobs=jobs)
    half = np.where(error > 0.0, critical * np.where(error > 0.0, error, 1.0), 0.0)
    upper = mean + half if alternative == "two-sided" else np.full(len(pairs), np.inf)
    return np.stack([mean - half, upper], axis=1)


def rejected_rank(alpha: float, n_samples: int) -> int:
    """How many samples may be extreme for (1 + count) / (1 + B) <= alpha; -1 where none may."""
    return math.floor(alpha * (n_samples + 1) + 1e-9) - 1

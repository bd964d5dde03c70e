"""How large is the difference of two runs: confidence intervals for the mean over topics.

For anyone who wants the size of a difference and not only its significance. Student's interval, and
three from the bootstrap over topics (Efron and Tibshirani 1993): percentile, BCa, studentised.
All pairs share the same resamples of topics, so that a whole track costs a few matrix products.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from steadyrank.compute.random import block_stream, blocks_of
from steadyrank.errors import check_choice
from steadyrank.stats.inputs import check_open_unit, check_samples, checked
from steadyrank.stats.pairs.kernels import topic_weights
from steadyrank.stats.pairs.resampled import shared_differences
from steadyrank.stats.pairs.result import CONSTANT, TOO_FEW
from steadyrank.stats.pairs.tests import in_threads, moments, slices

PAIR_BLOCK = 256
"""Pairs handled at a time: bounds memory, and never depends on the number of threads."""

NO_SPREAD = 1e-13
"""A resample's variance counts as none if it is at most this times its mean square."""


def t_intervals(scores: ArrayLike, pairs: ArrayLike, *, confidence: float = 0.95) -> np.ndarray:
    """Student's limits [pair, 2]: mean(z) ± t(n - 1) sd(z) / sqrt(n), z the differences by topic.

    Assumes that topics are a random sample and that mean(z) is close to normal; topics that either
    run misses are left out of that pair. A constant difference has no width, n < 2 has NaN. Do not
    use it for a handful of topics with very skewed differences (take `kind="studentized"`), nor
    read many intervals as holding together (take `tukey_hsd`).

    Reference: Student 1908, doi:10.1093/biomet/6.1.1.

    >>> t_intervals([[0.5, 0.7, 0.6], [0.4, 0.5, 0.6]], [[0, 1]]).round(4).tolist()
    [[-0.1484, 0.3484]]
    """
    matrix, chosen = checked(scores, pairs)
    check_open_unit("confidence", confidence)
    found = moments(matrix, chosen)
    quantile = special.stdtrit(np.maximum(found.df, 1.0), 0.5 + 0.5 * confidence)
    half_width = quantile * found.standard_error
    return np.stack([found.mean - half_width, found.mean + half_width], axis=1)


def bootstrap_intervals(
    scores: ArrayLike,
    pairs: ArrayLike,
    *,
    kind: str = "bca",
    confidence: float = 0.95,
    n_samples: int = 10_000,
    seed: int = 0,
    jobs: int | None = None,
) -> np.ndarray:
    """Bootstrap limits [pair, 2]: topics are drawn with replacement, differences staying paired.

    - `percentile`: the quantiles (1 ∓ confidence)/2 of the resampled means
    - `bca`: the same, at levels Φ(z0 + (z0 + z)/(1 - a (z0 + z))), with z0 from the share of
      resampled means below the mean (ties half) and a = Σ c³ / (6 (Σ c²)^1.5), c = z - mean(z)
    - `studentized`: mean - t* sd/sqrt(n), t* the quantiles of (mean* - mean)/(sd*/sqrt(n))

    Assumes that topics are a random sample. Do not use `percentile` or `bca` below some 20 topics:
    they are too short, by a factor of at least sqrt((n - 1)/n); `studentized` keeps its level there
    but can be very long, even infinite where many resamples repeat one value. Holds the weights
    [n_samples, topic] and, per thread, a few arrays [256 pairs, n_samples].

    Reference: Efron 1987, doi:10.1080/01621459.1987.10478410; Sakai 2006,
    doi:10.1145/1148170.1148261.

    >>> scores = [[0.5, 0.7, 0.6, 0.9], [0.4, 0.5, 0.6, 0.4]]
    >>> bootstrap_intervals(scores, [[0, 1]], seed=1).round(2).tolist()
    [[0.05, 0.43]]
    """
    check_choice("kind of interval", kind, LIMITS)
    matrix, chosen = checked(scores, pairs)
    check_open_unit("confidence", confidence)
    check_samples(n_samples)
    found = moments(matrix, chosen)
    n, flag = found.n, found.flag
    limits = np.stack([found.mean, found.mean], axis=1)
    limits[flag == TOO_FEW] = np.nan
    tail = 0.5 - 0.5 * confidence

    def block_limits(block: np.ndarray, weights: np.ndarray) -> np.ndarray:
        z = shared_differences(matrix, chosen[block], weights.shape[1])
        return LIMITS[kind](z, weights, tail)

    for size in np.unique(n[flag == ""]).tolist():
        members = np.flatnonzero((flag == "") & (n == size))
        blocks = [members[part] for part in slices(members.size, PAIR_BLOCK)]
        task = functools.partial(block_limits, weights=_weights(size, n_samples, seed))
        limits[members] = np.concatenate(in_threads(task, blocks, jobs=jobs))
    return limits


def _weights(n_topics: int, n_samples: int, seed: int) -> np.ndarray:
    """How often each resample holds each topic, [sample, topic]: multinomial counts."""
    weights = np.empty((n_samples, n_topics))
    for block, first, stop in blocks_of(n_samples):
        drawn = block_stream(seed, "weights", block).integers(0, n_topics, (stop - first, n_topics))
        topic_weights(drawn, weights[first:stop])
    return weights


def _centred(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mean = z.mean(axis=1)
    centred = z - mean[:, None]
    return mean, centred - centred.mean(axis=1)[:, None]


def _percentile(z: np.ndarray, weights: np.ndarray, tail: float) -> np.ndarray:
    mean, centred = _centred(z)
    means = np.sort(centred @ weights.T, axis=1) / z.shape[1]
    tails = np.broadcast_to([tail, 1.0 - tail], (len(z), 2))
    return np.asarray(mean[:, None] + _quantiles(means, tails))


def _bca(z: np.ndarray, weights: np.ndarray, tail: float) -> np.ndarray:
    mean, centred = _centred(z)
    means = np.sort(centred @ weights.T, axis=1) / z.shape[1]
    tolerance, n = CONSTANT * np.abs(centred).max(axis=1)[:, None], means.shape[1]
    # Means below 0, ties half; their share is kept off 0 and 1 by half a sample.
    below = 0.5 * ((means < -tolerance).sum(axis=1) + (means <= tolerance).sum(axis=1))
    bias = special.ndtri(np.clip(below, 0.5, n - 0.5) / n)[:, None]
    skew = ((centred**3).sum(axis=1) / (6.0 * (centred**2).sum(axis=1) ** 1.5))[:, None]
    shifted = bias + special.ndtri([tail, 1.0 - tail])
    stretch = 1.0 - skew * shifted
    # Past the pole the limit is the end of the range on that side.
    moved = bias + shifted / np.where(stretch > 0.0, stretch, np.nan)
    moved = np.where(stretch > 0.0, moved, np.copysign(np.inf, shifted))
    return np.asarray(mean[:, None] + _quantiles(means, special.ndtr(moved)))


def _studentized(z: np.ndarray, weights: np.ndarray, tail: float) -> np.ndarray:
    n = z.shape[1]
    mean, centred = _centred(z)
    means = (centred @ weights.T) / n
    squares = (centred**2 @ weights.T) / n
    variance = squares - means**2
    constant = variance <= NO_SPREAD * squares
    tied = np.abs(means) <= CONSTANT * np.abs(centred).max(axis=1)[:, None]
    error = np.sqrt(np.where(constant, 1.0, variance) / (n - 1))
    # A resample of one repeated topic: infinitely far off, unless it repeats the mean itself.
    ratio = np.where(constant, np.copysign(np.inf, means), means / error)
    ratio[tied] = 0.0
    tails = np.broadcast_to([1.0 - tail, tail], (len(z), 2))
    own_error = np.sqrt((centred**2).sum(axis=1) / (n * (n - 1)))
    width = _quantiles(np.sort(ratio, axis=1), tails) * own_error[:, None]
    return np.asarray(mean[:, None] - width)


def _quantiles(ordered: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Linearly interpolated quantiles of each sorted row at its own `levels` [row, level]."""
    position = levels * (ordered.shape[1] - 1)
    below = np.clip(np.floor(position).astype(np.int64), 0, ordered.shape[1] - 1)
    above = np.minimum(below + 1, ordered.shape[1] - 1)
    low = np.take_along_axis(ordered, below, axis=1)
    high = np.take_along_axis(ordered, above, axis=1)
    part = position - below
    # Equal neighbours may both be infinite, and infinity times 0 is no number.
    step = np.where(low == high, 0.0, high - np.where(np.isinf(low), 0.0, low))
    return np.asarray(low + np.where(part > 0.0, step, 0.0) * part)


Limits = Callable[[np.ndarray, np.ndarray, float], np.ndarray]
LIMITS: dict[str, Limits] = {"percentile": _percentile, "bca": _bca, "studentized": _studentized}
"""From differences [pair, topic], weights [sample, topic] and a tail to limits [pair, 2]."""

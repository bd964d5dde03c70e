"""Both topics and instances resampled: the pigeonhole bootstrap of two systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from steadyrank.compute.random import blocks_of
from steadyrank.errors import InputError
from steadyrank.stats.inputs import check_open_unit, check_samples
from steadyrank.stats.instances.bootstrap import instance_matrix, student, topic_means
from steadyrank.stats.interval import Interval
from steadyrank.stats.pairs.resampled import topic_draws
from steadyrank.stats.pairs.result import CONSTANT, NO_DIFFERENCE, TOO_FEW, ZERO_VARIANCE
from steadyrank.stats.pairs.tests import in_threads


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoWayBootstrap:
    """The two-way bootstrap of the difference of two systems."""

    difference: float
    standard_error: float
    """Standard deviation of the resampled differences."""
    interval: Interval
    pvalue: float
    pvalue_error: float
    """Monte Carlo standard error of the p-value."""
    n_undefined: int
    """Resamples without a topic that both systems have: left out."""
    n_instances: tuple[int, int]
    n_topics: int
    """Topics that both systems have in some instance."""
    flag: str
    """"" or a flag of `steadyrank.stats.pairs.result`."""


def two_way_bootstrap(
    a: ArrayLike,
    b: ArrayLike,
    *,
    n_samples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
    jobs: int | None = None,
) -> TwoWayBootstrap:
    """Draw topics and, independently, the instances of each system; how does a - b vary?

    `a` and `b` are scores [instance, topic], or [topic] for a deterministic system. Each resample
    draws N topics for both systems and as many instances of each as it has, with replacement; its
    difference d* is the mean over the drawn topics of a's mean less b's. The interval is between
    percentiles of d*; p = 2 min((1 + #{d* <= 0}), (1 + #{d* >= 0})) / (1 + n_samples), at most 1.
    The variance of d* counts the residual up to three times, but instances only (M - 1) / M times:
    with fewer than some 10 instances that differ, or some 50 topics, p is too small. Missing cells
    (NaN): for each drawn topic, the mean over the drawn instances that have it; topics that either
    system lacks are left out.

    Reference: Owen 2007, doi:10.1214/07-AOAS122 (the pigeonhole bootstrap).

    >>> a = [[0.3, 0.5, 0.1, 0.6], [0.4, 0.5, 0.2, 0.8], [0.2, 0.6, 0.1, 0.7]]
    >>> test = two_way_bootstrap(a, [0.2, 0.1, 0.1, 0.4])
    >>> round(test.difference, 4), test.n_instances, bool(test.interval[0] < test.difference)
    (0.2167, (3, 1), True)
    """
    first, second = _system("a", a), _system("b", b)
    if first.shape[1] != second.shape[1]:
        raise InputError(
            f"both systems require the same topics, got {first.shape[1]} and "
            f"{second.shape[1]}: mark missing scores as NaN"
        )
    check_samples(n_samples)
    check_open_unit("confidence", confidence)
    systems = _systems(first, second)
    by_topic = topic_means(first) - topic_means(second)
    difference, _, n_topics, _ = student(by_topic)
    drawn = in_threads(
        lambda block: _drawn_differences(systems, seed, block), blocks_of(n_samples), jobs=jobs
    )
    resampled = np.concatenate(drawn)
    defined = resampled[~np.isnan(resampled)]
    flag, tiny = _spread_flag(defined, difference, n_topics)
    known = flag != TOO_FEW
    pvalue, error = _two_sided(defined, tiny) if known else (np.nan, np.nan)
    ends = [0.5 - 0.5 * confidence, 0.5 + 0.5 * confidence]
    low, high = np.quantile(defined, ends).tolist() if known else (np.nan, np.nan)
    return TwoWayBootstrap(
        difference=difference,
        standard_error=float(defined.std()) if known else np.nan,
        interval=Interval(low, high),
        pvalue=pvalue,
        pvalue_error=error,
        n_undefined=n_samples - defined.size,
        n_instances=(len(first), len(second)),
        n_topics=n_topics,
        flag=flag,
    )


class _Present(NamedTuple):
    """A system's scores, 0 where missing, and which are there."""

    scores: np.ndarray
    there: np.ndarray | None
    """As 0.0 and 1.0; None if complete."""
    stream: str
    """What its draws are for."""


def _systems(first: np.ndarray, second: np.ndarray) -> list[_Present]:
    """Both systems, each with a stream that stays with it when they are swapped."""
    swapped = (first.shape, first.tobytes()) > (second.shape, second.tobytes())
    streams = ["instances of one system", "instances of the other"]
    systems = []
    for scores, stream in zip((first, second), streams[:: -1 if swapped else 1], strict=True):
        there = ~np.isnan(scores)
        some = None if there.all() else there.astype(np.float64)
        systems.append(_Present(np.where(there, scores, 0.0), some, stream))
    return systems


def _drawn_differences(
    systems: Sequence[_Present], seed: int, block: tuple[int, int, int]
) -> np.ndarray:
    """d* of a block of resamples; NaN where no drawn topic has scores of both systems."""
    n_topics = systems[0].scores.shape[1]
    topics = topic_draws(seed, block, n_topics, "topics of both systems")
    means = []
    for system in systems:
        instances = topic_draws(seed, block, len(system.scores), system.stream)
        means.append(_resampled_means(system, instances))
    difference = means[0] - means[1]
    lacking = np.isnan(difference)
    if not lacking.any():
        return np.asarray(np.einsum("bn,bn->b", topics, difference) / topics.shape[1])
    topics[lacking] = 0.0
    difference[lacking] = 0.0
    with np.errstate(invalid="ignore"):
        return np.asarray(np.einsum("bn,bn->b", topics, difference) / topics.sum(axis=1))


def _resampled_means(system: _Present, instances: np.ndarray) -> np.ndarray:
    """Each topic's mean over the drawn instances that have it, [resample, topic]."""
    sums = instances @ system.scores
    if system.there is None:
        return np.asarray(sums / len(system.scores))
    with np.errstate(invalid="ignore"):
        return np.asarray(sums / (instances @ system.there))


def _spread_flag(differences: np.ndarray, difference: float, n_topics: int) -> tuple[str, float]:
    """The flag of resampled differences, and the size below which one counts as 0."""
    if n_topics < 2 or not differences.size:
        return TOO_FEW, 0.0
    tiny = CONSTANT * max(1.0, float(np.abs(differences).max()))
    if float(np.ptp(differences)) > tiny:
        return "", tiny
    return (NO_DIFFERENCE if abs(difference) <= tiny else ZERO_VARIANCE), tiny


def _two_sided(differences: np.ndarray, tiny: float) -> tuple[float, float]:
    """p-value and Monte Carlo error from resampled differences."""
    extreme = min(int((differences <= tiny).sum()), int((differences >= -tiny).sum()))
    share = extreme / differences.size
    error = 2.0 * np.sqrt(share * (1.0 - share) / differences.size)
    return min(1.0, 2.0 * (1 + extreme) / (1 + differences.size)), float(error)


def _system(name: str, values: ArrayLike) -> np.ndarray:
    scores = np.asarray(values, dtype=np.float64)
    return instance_matrix(name, scores[None, :] if scores.ndim == 1 else scores)

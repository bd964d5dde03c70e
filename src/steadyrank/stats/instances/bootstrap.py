"""Does a non-deterministic system differ from another? Bootstraps over topics and instances.

Algorithm 2 of Jayasinghe, Webber, Sanderson, Dharmasena & Culpepper (2015) resamples the topics of
each instance. It is only about these instances, and rejects too often if instances differ and are
few. The two-way bootstrap resamples topics and instances, and is about both populations.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from steadyrank.compute.executors import map_in_order, workers
from steadyrank.compute.random import blocks_of
from steadyrank.errors import InputError, check_choice
from steadyrank.stats.inputs import check_open_unit, check_samples
from steadyrank.stats.instances.kernels import TOGETHER, extreme_counts, words_of
from steadyrank.stats.interval import Interval
from steadyrank.stats.pairs.resampled import topic_draws
from steadyrank.stats.pairs.result import (
    CONSTANT,
    NO_DIFFERENCE,
    TOO_FEW,
    ZERO_VARIANCE,
    degenerate_flags,
    tiny_of,
)
from steadyrank.stats.pairs.tests import in_threads, row_moments, slices

CHUNK = 1 << 14
"""Number of resamples that a thread counts at a time; a multiple of `TOGETHER`."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InstanceBootstrap:
    """Algorithm 2: a non-deterministic system against a deterministic one."""

    difference: float
    """Mean over topics of the instances' mean difference."""
    statistic: float
    """t of the topics' mean differences over instances."""
    pvalue: float
    pvalue_error: float
    counts: np.ndarray
    """Number of resamples of each instance that are as extreme."""
    n_instances: int
    """Number of instances with two topics or more: others cannot be resampled."""
    n_topics: int
    flag: str
    """"" or a flag of `steadyrank.stats.pairs.result`."""


def algorithm_two(
    differences: ArrayLike,
    *,
    n_samples: int = 1000,
    mode: str = "sound",
    seed: int = 0,
    jobs: int | None = None,
) -> InstanceBootstrap:
    """Algorithm 2 of Jayasinghe et al. (2015), on differences [instance, topic] to one system.

    t(z) is Student's t of the topics' mean differences over instances. From each instance's
    differences `n_samples` resamples of topics are drawn, independently of other instances', and
    t* = (mean - shift) / standard error; the shift is the instance's mean, or in the mode "paper"
    the mean of its resample means. Counts |t*| >= |t(z)| (the line that the listing lacks); p is
    (1 + count) / (1 + M n_samples), or count / (M n_samples) in the mode "paper". Without variance
    t* = ±inf.

    It exceeds its level unless N s_a² is small compared with M s_u² + s_e². Missing topics (NaN) of
    an instance are omitted. Reference: doi:10.1016/j.ipm.2015.06.005.
    """
    d = instance_matrix("differences", differences)
    check_samples(n_samples)
    check_choice("mode", mode, ("sound", "paper"))
    difference, t, n_topics, flag = student(topic_means(d))
    instances = _instances(d)
    counts = np.zeros(len(instances.places), np.int64)
    pvalue, error = (1.0, 0.0) if flag == NO_DIFFERENCE else (np.nan, np.nan)
    if flag not in (NO_DIFFERENCE, TOO_FEW) and counts.size:
        how: Any = {"n_samples": n_samples, "seed": seed, "jobs": jobs}
        # The smallest t* that counts as extreme, so that ties count despite rounding.
        limit = 0.0 if abs(t) <= CONSTANT else abs(t) * (1.0 - CONSTANT)
        counts = _extreme_counts(instances, limit, is_paper=mode == "paper", **how)
        pvalue, error = _pooled(counts, n_samples, mode)
    return InstanceBootstrap(
        difference=difference,
        statistic=t,
        pvalue=pvalue,
        pvalue_error=error,
        counts=counts,
        n_instances=len(instances.places),
        n_topics=n_topics,
        flag=flag,
    )


class Instances(NamedTuple):
    """Data of Algorithm 2: the differences of each instance about their mean."""

    places: np.ndarray
    """Rows of the instances with two topics or more."""
    n_topics: np.ndarray
    entries: np.ndarray
    """[instance, number]: centred difference and its square, of each topic in turn, then zeros."""
    largest: np.ndarray


def _instances(d: np.ndarray) -> Instances:
    n, means, _, _, largest = row_moments(d)
    keep = np.flatnonzero(n > 1)
    centred = d[keep] - means[keep, None]
    if (n[keep] < d.shape[1]).any():
        # Topics that are not missing come first, since draws are positions among them.
        order = np.argsort(np.isnan(centred), axis=1, kind="stable")
        centred = np.nan_to_num(np.take_along_axis(centred, order, axis=1))
    entries = np.zeros((len(keep), 2 * d.shape[1] + 2))
    entries[:, 0:-2:2], entries[:, 1:-2:2] = centred, centred**2
    return Instances(keep, n[keep], entries, largest[keep])


def _extreme_counts(
    instances: Instances,
    limit: float,
    *,
    n_samples: int,
    seed: int,
    is_paper: bool,
    jobs: int | None,
) -> np.ndarray:
    """Return for each instance how many t* reach the limit."""
    key, n_instances = np.uint64(_key(seed)), len(instances.places)
    # If all resamples of an instance are counted in one call, it computes their mean as well.
    at_once = is_paper and n_samples <= CHUNK
    tasks = [
        (part, first, stop)
        for part in slices(n_instances, max(1, CHUNK // n_samples))
        for _, first, stop in blocks_of(n_samples, CHUNK)
    ]

    def resample(shifts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        counts, totals = np.zeros(n_instances, np.int64), np.zeros(n_instances)

        def count(task: tuple[slice, int, int]) -> tuple[np.ndarray, np.ndarray]:
            """Return extreme t* and sums of resample means of some instances and resamples."""
            part, first, stop = task
            some, own = tuple(values[part] for values in instances), shifts[part]
            size = TOGETHER * words_of(int(instances.n_topics[part].max()))
            room = (*np.empty((2, size), np.uint64), *np.empty((2, stop - first)))
            results = np.zeros(len(own), np.int64), np.zeros(len(own))
            extreme_counts(key, first, some, own, at_once, limit, room, results)
            return results

        with workers(jobs=jobs if len(tasks) > 1 else 1) as threads:
            answers = map_in_order(count, tasks, threads)
        for (part, _, _), (extreme, total) in zip(tasks, answers, strict=True):
            counts[part] += extreme
            totals[part] += total
        return counts, totals

    counts, totals = resample(np.zeros(n_instances))
    return resample(totals / n_samples)[0] if is_paper and not at_once else counts


def _key(seed: int) -> int:
    """Return the key of the random streams of Algorithm 2 for a seed."""
    return int.from_bytes(hashlib.sha256(f"{seed}/algorithm two".encode()).digest()[:8], "little")


def topic_means(scores: np.ndarray) -> np.ndarray:
    """Return the mean of each topic over the instances that have it; NaN without any."""
    there = ~np.isnan(scores)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(there, scores, 0.0).sum(axis=0) / there.sum(axis=0))


def student(z: np.ndarray) -> tuple[float, float, int, str]:
    """Return mean, t, number of topics and flag of differences by topic."""
    n, mean, sd, _, largest = row_moments(z[None, :])
    flag = str(degenerate_flags(n, mean, sd, largest)[0])
    if flag in (NO_DIFFERENCE, TOO_FEW):
        return float(mean[0]), float("nan"), int(n[0]), flag
    if flag == ZERO_VARIANCE:
        return float(mean[0]), float(np.copysign(np.inf, mean[0])), int(n[0]), flag
    return float(mean[0]), float(mean[0] / sd[0] * np.sqrt(n[0])), int(n[0]), flag


def _pooled(counts: np.ndarray, n_samples: int, mode: str) -> tuple[float, float]:
    """Return the p-value over all instances, and its error with instances as strata."""
    shares = counts / n_samples
    error = float(np.sqrt((shares * (1.0 - shares)).sum() / n_samples) / len(counts))
    total = len(counts) * n_samples
    if mode == "paper":
        return float(counts.sum() / total), error
    return float((1 + counts.sum()) / (1 + total)), error


def instance_matrix(name: str, values: ArrayLike) -> np.ndarray:
    """Return the scores of one system as a finite matrix [instance, topic], or raise an error."""
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2 or not matrix.size:
        raise InputError(f"{name} must be a matrix [instance, topic], got shape {matrix.shape}")
    if np.isinf(matrix).any():
        raise InputError(f"{name} holds an infinite value: mark missing scores as NaN")
    return matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoWayBootstrap:
    """The two-way bootstrap of the difference of two systems."""

    difference: float
    standard_error: float
    """Standard deviation of the resampled differences."""
    interval: Interval
    pvalue: float
    pvalue_error: float
    n_undefined: int
    """Number of resamples without a topic that both systems have; they are omitted."""
    n_instances: tuple[int, int]
    n_topics: int
    """Number of topics that both systems have in some instance."""
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
    """Bootstrap a - b by resampling topics and, independently, the instances of each system.

    `a` and `b` are scores [instance, topic], or [topic] for a deterministic system. The limits of
    the interval are percentiles of the resampled differences d*; p = 2 min((1 + #{d* <= 0}),
    (1 + #{d* >= 0})) / (1 + n_samples), at most 1. The variance of d* includes the residual up to
    three times, but instances only (M - 1) / M times: with fewer than some 10 instances, or 50
    topics, p is too small. Of missing scores (NaN), a drawn topic has the mean over the drawn
    instances that have it; topics that either system lacks are omitted.

    Reference: Owen 2007, doi:10.1214/07-AOAS122 (the pigeonhole bootstrap).
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
    """A system's scores, 0 where missing, and which are present."""

    scores: np.ndarray
    there: np.ndarray | None
    """0.0 or 1.0 for each score; None if complete."""
    stream: str
    """Name of its random stream."""


def _systems(first: np.ndarray, second: np.ndarray) -> list[_Present]:
    """Return both systems, with random streams that do not change if they are swapped."""
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
    """Return d* of a block of resamples; NaN if no drawn topic has scores of both systems."""
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
    """Return each topic's mean over the drawn instances that have it, [resample, topic]."""
    sums = instances @ system.scores
    if system.there is None:
        return np.asarray(sums / len(system.scores))
    with np.errstate(invalid="ignore"):
        return np.asarray(sums / (instances @ system.there))


def _spread_flag(differences: np.ndarray, difference: float, n_topics: int) -> tuple[str, float]:
    """Return the flag of resampled differences, and the size up to which one counts as 0."""
    if n_topics < 2 or not differences.size:
        return TOO_FEW, 0.0
    tiny = tiny_of(differences)
    if float(np.ptp(differences)) > tiny:
        return "", tiny
    return (NO_DIFFERENCE if abs(difference) <= tiny else ZERO_VARIANCE), tiny


def _two_sided(differences: np.ndarray, tiny: float) -> tuple[float, float]:
    """Return p-value and Monte Carlo error of resampled differences."""
    extreme = min(int((differences <= tiny).sum()), int((differences >= -tiny).sum()))
    share = extreme / differences.size
    error = 2.0 * np.sqrt(share * (1.0 - share) / differences.size)
    return min(1.0, 2.0 * (1 + extreme) / (1 + differences.size)), float(error)


def _system(name: str, values: ArrayLike) -> np.ndarray:
    scores = np.asarray(values, dtype=np.float64)
    return instance_matrix(name, scores[None, :] if scores.ndim == 1 else scores)

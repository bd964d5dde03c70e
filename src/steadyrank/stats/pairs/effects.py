"""How large is the difference of two runs, and how few topics decide who leads?

A standardised difference does not depend on the measure's scale (Jayasinghe et al. 2015, eq. 8): a
significant difference may be small. With w_j d_j the weighted differences of a pair on the topics
that both have, the mean over some topics has the sign of their sum. So the fewest topics without
which the lead is gone are those with the largest w_j d_j, until the remaining sum is not above 0.
Topics of a cluster are dropped together: their sums replace single differences.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from steadyrank.stats.inputs import checked
from steadyrank.stats.pairs.result import NO_DIFFERENCE, ZERO_VARIANCE
from steadyrank.stats.pairs.tests import differences, moments, run_moments, sample_flags, topics_won
from steadyrank.stats.pairs.topic_design import sums_by_group
from steadyrank.stats.run_means import SAME_MEAN

NO_LEAD = -1
"""Number of topics that decide between two runs with the same mean, or without shared topics."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EffectSizes:
    """Effect sizes of many pairs of runs: arrays with one entry per pair."""

    sd: np.ndarray
    """Standard deviation of the differences by topic."""
    paired_d: np.ndarray
    """Mean difference over sd; weighted if topics have weights."""
    wins: np.ndarray
    """Number of topics on which the first run of the pair scores higher."""
    ties: np.ndarray
    losses: np.ndarray


def effect_sizes(
    scores: ArrayLike, pairs: ArrayLike, *, weights: np.ndarray | None = None
) -> EffectSizes:
    """Return effect sizes of each pair over the topics that both runs have."""
    matrix, chosen = checked(scores, pairs)
    found = moments(matrix, chosen)
    mean, sd = found.mean, found.sd
    if weights is not None:
        mean, sd = _weighted_moments(matrix, chosen, weights)
    return _effects(matrix, chosen, mean, sd, found.flag)


def two_sample_effects(scores: np.ndarray, pairs: np.ndarray) -> EffectSizes:
    """Return effect sizes of runs with different topics; wins and ties count shared topics.

    `paired_d` is Cohen's d of two samples, difference / sqrt((va + vb) / 2).
    """
    scores, pairs = checked(scores, pairs)
    runs = run_moments(scores)
    mean = runs.mean[pairs[:, 0]] - runs.mean[pairs[:, 1]]
    sd = np.sqrt(np.square(runs.sd[pairs]).mean(axis=1))
    return _effects(scores, pairs, mean, sd, sample_flags(runs, pairs, mean))


def _effects(
    scores: np.ndarray, pairs: np.ndarray, mean: np.ndarray, sd: np.ndarray, flag: np.ndarray
) -> EffectSizes:
    plain, constant = flag == "", flag == ZERO_VARIANCE
    effect = np.where(flag == NO_DIFFERENCE, 0.0, np.nan)
    effect[plain] = mean[plain] / sd[plain]
    effect[constant] = np.copysign(np.inf, mean[constant])
    wins, ties, losses = topics_won(scores, pairs).T
    return EffectSizes(sd=sd, paired_d=effect, wins=wins, ties=ties, losses=losses)


def _weighted_moments(
    matrix: np.ndarray, pairs: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return weighted means and standard deviations of the differences of each pair."""
    mean, sd = np.empty((2, len(pairs)))
    for part, z, _ in differences(matrix, pairs):
        weight = np.where(np.isnan(z), 0.0, weights)
        total, n = weight.sum(axis=1), (weight > 0.0).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean[part] = (weight * np.nan_to_num(z)).sum(axis=1) / total
            off = np.nan_to_num(z - mean[part, None])
            sd[part] = np.sqrt((weight * off * off).sum(axis=1) / total * n / (n - 1.0))
    return mean, sd


def fragility(
    scores: np.ndarray,
    pairs: np.ndarray,
    weights: np.ndarray | None = None,
    clusters: np.ndarray | None = None,
) -> np.ndarray:
    """Return for each pair the fewest topics or clusters without which its lead is gone.

    >>> scores = np.array([[0.9, 0.2, 0.3, 0.3], [0.1, 0.3, 0.3, 0.2]])
    >>> fragility(scores, np.array([[0, 1], [0, 0]])).tolist()
    [1, -1]
    """
    weight = np.ones(scores.shape[1]) if weights is None else np.asarray(weights, float)
    tolerance, fewest = SAME_MEAN * float(weight.sum()), np.empty(len(pairs), np.int64)
    group = None if clusters is None else np.unique(clusters, return_inverse=True)[1]
    for part, z, _ in differences(scores * weight, np.asarray(pairs)):
        gaps = np.nan_to_num(z)
        gaps = gaps if group is None else sums_by_group(gaps, group)
        total = gaps.sum(axis=1, keepdims=True)
        left = np.abs(total) + np.cumsum(np.sort(-gaps * np.sign(total), axis=1), axis=1)
        n = np.argmax(left <= tolerance, axis=1) + 1
        fewest[part] = np.where(np.abs(total[:, 0]) <= tolerance, NO_LEAD, n)
    return fewest


class Carried(NamedTuple):
    """The units that decide a lead, largest contribution first, and the number of all units."""

    units: list[int]
    n: int


def carried(
    difference: np.ndarray, weights: np.ndarray | None = None, clusters: np.ndarray | None = None
) -> Carried:
    """Return the units that decide the lead of one pair, given its differences by topic.

    >>> carried(np.array([0.8, -0.1, 0.0, 0.1]))
    Carried(units=[0], n=4)
    """
    weight = np.ones(len(difference)) if weights is None else weights
    unit = np.arange(len(difference)) if clusters is None else np.asarray(clusters)
    there = ~np.isnan(difference)
    sums = np.bincount(unit[there], (difference * weight)[there], int(unit.max(initial=-1)) + 1)
    known = np.unique(unit[there])
    total = float(sums.sum())
    if abs(total) <= SAME_MEAN * float(np.sum(weight)):
        return Carried([], len(known))
    towards = sums * np.sign(total)
    order = known[np.argsort(-towards[known], kind="stable")]
    left = abs(total) - np.cumsum(towards[order])
    n = int(np.argmax(left <= SAME_MEAN * float(np.sum(weight)))) + 1
    return Carried([int(one) for one in order[:n]], len(known))

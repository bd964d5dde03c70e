"""Do runs differ more in one segment of the topics than in another? The test of segment × run.

If a run is better on one kind of topics, this tests whether the kind matters. Each run's lead over
the mean of all runs is compared between a segment and the other topics. All runs and segments are
one family, corrected by the largest studentized statistic when the signs of topics, or of whole
clusters, are flipped, as in `steadyrank.stats.pairs.max_t`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steadyrank.stats.inputs import check_samples, check_scores
from steadyrank.stats.pairs.result import CONSTANT
from steadyrank.stats.pairs.sign_flips import Flips, Taken, over_patterns
from steadyrank.stats.pairs.tests import slices
from steadyrank.stats.pairs.topic_design import TopicDesign, sums_by_group

FEWEST = 5
"""Fewest topics, or clusters, of a tested segment: the variance of fewer is not reliable, and their
statistics would determine the limit for all."""

VALUES_AT_ONCE = 1 << 20
"""Number of statistics that a thread holds at a time."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Interaction:
    """Leads of runs in segments against those elsewhere: arrays [run, tested segment]."""

    tested: np.ndarray
    """Numbers of the segments with enough topics; empty if fewer than two have enough."""
    deviation: np.ndarray
    """A run's lead over the mean of all runs in the segment, minus its lead on the other topics."""
    statistic: np.ndarray
    """Deviation over its standard error, which allows a different variance in each segment."""
    pvalue: np.ndarray
    """Adjusted for all runs and segments; two-sided."""
    n_topics: int
    """Number of topics in tested segments with a score of every run."""
    n_patterns: int
    exact: bool
    """Whether all sign patterns were used."""

    @property
    def pvalue_of_any(self) -> float:
        """p-value of the hypothesis that no lead depends on the segment; NaN without a test."""
        return float(self.pvalue.min()) if self.pvalue.size else float("nan")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _LeadSums:
    """Leads minus their means, summed by cluster: the numbers whose signs are flipped."""

    sums: np.ndarray
    """[cluster, run, segment]"""
    weight: np.ndarray
    """[cluster, segment]"""
    factor: np.ndarray
    """G / (G - 1) for the G clusters in each segment."""

    def statistics(self, signs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return deviations and t [pattern, run, segment] for signs [pattern, cluster]."""
        flat = self.sums.reshape(len(self.sums), -1)
        weighted = (self.sums * self.weight[:, None, :]).reshape(flat.shape)
        shape, total = (len(signs), *self.sums.shape[1:]), self.weight.sum(axis=0)
        mean = (signs @ flat).reshape(shape) / total
        cross = (signs @ weighted).reshape(shape)
        squares = np.square(self.sums).sum(axis=0)
        left = squares - 2.0 * mean * cross + np.square(mean) * np.square(self.weight).sum(axis=0)
        variance = self.factor * np.where(left > CONSTANT * squares, left, 0.0) / np.square(total)
        deviation, error = _against_others(mean, variance, total)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = deviation / error
        return deviation, np.where(np.abs(deviation) <= CONSTANT, 0.0, t)


def segment_interaction(
    scores: np.ndarray,
    segments: np.ndarray,
    design: TopicDesign | None = None,
    *,
    n_samples: int = 10_000,
    seed: int = 0,
    jobs: int | None = None,
) -> Interaction:
    """Test whether the runs' leads depend on the segment.

    `scores` are [run, topic]; a topic that some run lacks is omitted. `segments` has a whole number
    for each topic. With y the scores minus their mean over runs on each topic, the deviation of run
    and segment is mean(y in the segment) - mean(y elsewhere), its variance that of a stratified
    mean, with a different (cluster-robust) variance in each segment. Under the hypothesis all y of
    a run have one mean; the signs of their differences from it are flipped, by topic or whole
    cluster, and deviations and variances are computed again. p = (1 + patterns with a larger
    maximum) / (1 + patterns).
    """
    check_samples(n_samples)
    matrix, plan = check_scores(scores), design or TopicDesign()
    tested, used = _testable(matrix, segments, plan)
    matrix, plan, segments = matrix[:, used], plan.of(used), np.asarray(segments)[used]
    if len(tested) < 2 or len(matrix) < 2:
        nothing = dict.fromkeys(("deviation", "statistic", "pvalue"), np.zeros((len(matrix), 0)))
        return Interaction(tested=tested[:0], n_topics=0, n_patterns=0, exact=False, **nothing)
    strata = _strata(matrix, np.searchsorted(tested, segments), plan)
    (deviation,), (t,) = strata.statistics(np.ones((1, len(strata.sums))))
    taken = _over_patterns(strata, {"n_samples": n_samples, "seed": seed, "jobs": jobs})
    return Interaction(
        tested=tested,
        deviation=deviation,
        statistic=t,
        pvalue=_pvalues(np.abs(t), np.concatenate(taken.kept)),
        n_topics=matrix.shape[1],
        n_patterns=taken.n_patterns,
        exact=taken.exact,
    )


def _testable(
    matrix: np.ndarray, segments: np.ndarray, design: TopicDesign
) -> tuple[np.ndarray, np.ndarray]:
    """Return segments with enough topics or clusters, and which topics are in one of them."""
    segments = np.asarray(segments)
    complete = ~np.isnan(matrix).any(axis=0)
    group = design.groups(matrix.shape[1])
    names = np.unique(segments[complete])
    sizes = [len(np.unique(group[complete & (segments == name)])) for name in names]
    tested = names[np.array(sizes, int) >= FEWEST]
    return tested, complete & np.isin(segments, tested)


def _strata(matrix: np.ndarray, place: np.ndarray, design: TopicDesign) -> _LeadSums:
    n_topics = matrix.shape[1]
    share, group = design.shares(n_topics), design.groups(n_topics)
    leads = matrix - matrix.mean(axis=0)
    leads = leads - (leads * share).sum(axis=1, keepdims=True)
    within = np.arange(place.max() + 1)[:, None] == place
    sums = [sums_by_group(leads * share * here, group) for here in within]
    weight = [sums_by_group((share * here)[None], group)[0] for here in within]
    n_clusters = np.array([len(np.unique(group[here])) for here in within], float)
    return _LeadSums(
        sums=np.ascontiguousarray(np.stack(sums).transpose(2, 1, 0)),
        weight=np.stack(weight, axis=1),
        factor=n_clusters / (n_clusters - 1.0),
    )


def _against_others(
    mean: np.ndarray, variance: np.ndarray, total: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return means of segments [..., segment] minus those of all other topics; standard errors."""
    others = total.sum() - total
    elsewhere = ((mean * total).sum(axis=-1, keepdims=True) - mean * total) / others
    squares = variance * np.square(total)
    spread = np.maximum(squares.sum(axis=-1, keepdims=True) - squares, 0.0) / np.square(others)
    return mean - elsewhere, np.sqrt(variance + spread)


def _over_patterns(strata: _LeadSums, flips: Flips) -> Taken:
    """Return the largest |t| of each pattern."""
    at_once = max(1, VALUES_AT_ONCE // max(1, strata.sums[0].size))

    def maxima(signs: np.ndarray, _: np.ndarray) -> np.ndarray:
        parts = [strata.statistics(signs[part])[1] for part in slices(len(signs), at_once)]
        return np.concatenate([np.abs(part).max(axis=(1, 2)) for part in parts])

    return over_patterns(len(strata.sums), maxima, 0, n_pairs=1, flips=flips)


def _pvalues(t: np.ndarray, largest: np.ndarray) -> np.ndarray:
    ordered = np.sort(largest)
    counts = len(ordered) - np.searchsorted(ordered, t * (1.0 - CONSTANT))
    # The negative of a pattern has the same |t|, and counts too.
    return np.asarray((1.0 + 2 * counts) / (1.0 + 2 * len(ordered)))

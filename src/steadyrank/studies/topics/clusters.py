"""Clustered and weighted topics in `topics`: variances per topic, whole clusters in the splits.

All figures stay those of topics, clustered and weighted as these are: a variance per topic is that
which, without clusters, would give the variance of the mean. So are numbers of topics.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from steadyrank.data.read.topic_info import cluster_codes, topic_weights
from steadyrank.data.scores import Scores
from steadyrank.errors import InputError
from steadyrank.stats.pairs.topic_design import TopicDesign, cluster_sums, cluster_t, linearised
from steadyrank.stats.planning.needed_topics import NeededTopics, needed_topics
from steadyrank.stats.planning.reversal import PairVariances


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawnTopics:
    """The scores that the study works on, and how their topics were drawn."""

    matrix: np.ndarray
    """[run, topic]; of weighted topics, values whose plain means are the weighted ones."""
    design: TopicDesign
    drawn: np.ndarray
    """[run, cluster]: values whose means are the runs', one per cluster; else the matrix."""

    @property
    def n_clusters(self) -> int | None:
        """None where topics are not clustered."""
        return self.design.n_clusters

    @property
    def largest_size(self) -> int:
        """Topics of which two disjoint sets have no cluster in common, however it is cut."""
        n_topics = int(self.matrix.shape[1])
        if self.design.clusters is None:
            return n_topics // 2
        largest = int(np.unique(self.design.clusters, return_counts=True)[1].max())
        return (n_topics - largest) // 2


def drawn_topics(scores: Scores, measure: str) -> DrawnTopics:
    """The scores of a measure; where topics are clustered or weighted, of those all runs have."""
    matrix = scores.matrix(measure)
    design = TopicDesign(clusters=cluster_codes(scores), weights=topic_weights(scores))
    if design.is_plain:
        return DrawnTopics(matrix=matrix, design=design, drawn=matrix)
    kept = ~np.isnan(matrix).any(axis=0)
    matrix, design = matrix[:, kept], design.of(kept)
    if matrix.shape[1] < 2 or (design.n_clusters or 2) < 2:
        raise InputError(
            "clustered or weighted topics require two clusters on which all runs have scores"
        )
    drawn = linearised(cluster_sums(matrix, design))
    if design.weights is not None:
        matrix = linearised(cluster_sums(matrix, TopicDesign(weights=design.weights)))
    # From here on weights are in the values.
    return DrawnTopics(matrix=matrix, design=TopicDesign(clusters=design.clusters), drawn=drawn)


def clustered_variances(
    moments: PairVariances, topics: DrawnTopics, pairs: np.ndarray
) -> PairVariances:
    """Variances per topic that give the cluster-robust variances of means."""
    if topics.design.clusters is None:
        return moments
    n_runs, n_topics = topics.matrix.shape
    # Each run against a row of zeros has the variance of its own mean.
    with_zero = np.vstack([topics.matrix, np.zeros(n_topics)])
    alone = np.stack([np.arange(n_runs), np.full(n_runs, n_runs)], axis=1)
    own = _per_topic(with_zero, alone, topics.design)
    robust = _per_topic(topics.matrix, pairs, topics.design)
    variance = np.where(moments.flag == "", robust, moments.variance)
    variance_a, variance_b = own[pairs[:, 0]], own[pairs[:, 1]]
    return replace(
        moments,
        variance_a=variance_a,
        variance_b=variance_b,
        covariance=0.5 * (variance_a + variance_b - variance),
        variance=variance,
    )


def _per_topic(matrix: np.ndarray, pairs: np.ndarray, design: TopicDesign) -> np.ndarray:
    errors = cluster_t(matrix, pairs, design).standard_error
    assert errors is not None  # cluster_t has them
    return np.asarray(matrix.shape[1] * np.square(errors))


def clustered_needed(
    moments: PairVariances, topics: DrawnTopics, *, alpha: float, beta: float, confidence: float
) -> NeededTopics:
    """Topics for a test of clusters: so many clusters, of the mean size that they have here."""
    sizes = np.where(moments.n > 0, moments.n, np.nan)
    levels = {"alpha": alpha, "beta": beta, "confidence": confidence}
    if topics.n_clusters is None:
        return needed_topics(moments.difference, moments.variance, sizes, **levels)
    per_cluster = topics.matrix.shape[1] / topics.n_clusters
    clusters = needed_topics(
        moments.difference, moments.variance / per_cluster, sizes / per_cluster, **levels
    )
    return NeededTopics(
        topics=np.ceil(clusters.topics * per_cluster),
        low=np.ceil(clusters.low * per_cluster),
        high=np.ceil(clusters.high * per_cluster),
    )

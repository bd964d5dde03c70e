"""Do two runs differ where topics come in clusters or have weights? For many pairs at once.

For anyone who compares runs on variations of one need, on turns of sessions, or by traffic. The t
test with the cluster-robust variance and degrees of freedom of `steadyrank.stats.pairs.clustered`,
and what the resampling tests of `steadyrank.stats.pairs.cluster_resampling` draw: whole clusters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from steadyrank.stats.inputs import checked
from steadyrank.stats.pairs.clustered import (
    cr2_loadings,
    effective_topics,
    mean_difference,
    takes_cr2,
)
from steadyrank.stats.pairs.result import CONSTANT, NO_DIFFERENCE, TOO_FEW, ZERO_VARIANCE, PairTests
from steadyrank.stats.pairs.tests import differences


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TopicDesign:
    """How topics were drawn: which of them together, and how much each counts."""

    clusters: np.ndarray | None = None
    """The cluster of each topic, as whole numbers; None where each was drawn alone."""
    weights: np.ndarray | None = None
    """Of each topic, above 0; None where all count the same."""

    @property
    def is_plain(self) -> bool:
        """Whether topics are neither clustered nor weighted."""
        return self.clusters is None and self.weights is None

    @property
    def is_trivial(self) -> bool:
        """Whether each topic is a cluster of its own, and all weigh the same."""
        clusters, weights = self.clusters, self.weights
        alone = clusters is None or len(np.unique(clusters)) == len(clusters)
        return alone and (weights is None or bool(np.ptp(weights) == 0.0))

    @property
    def n_clusters(self) -> int | None:
        """How many there are; None where topics are not clustered."""
        return None if self.clusters is None else len(np.unique(self.clusters))

    @property
    def effective_topics(self) -> float | None:
        """(sum of weights)² / sum of squared weights; None where topics have none."""
        return None if self.weights is None else effective_topics(self.weights)

    def of(self, topics: np.ndarray) -> TopicDesign:
        """That of some of the topics."""
        return TopicDesign(
            clusters=None if self.clusters is None else self.clusters[topics],
            weights=None if self.weights is None else self.weights[topics],
        )

    def shares(self, n_topics: int) -> np.ndarray:
        """Weights that sum to 1."""
        if self.weights is None:
            return np.full(n_topics, 1.0 / n_topics)
        return np.asarray(self.weights / self.weights.sum())

    def groups(self, n_topics: int) -> np.ndarray:
        """The clusters as 0, 1, …; the topics themselves where they have none."""
        if self.clusters is None:
            return np.arange(n_topics)
        return np.unique(self.clusters, return_inverse=True)[1]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClusterSums:
    """What is resampled: clusters, or single topics with their weights."""

    sums: np.ndarray
    """[run, cluster]: of weighted scores; they add up to the runs' means."""
    share: np.ndarray
    """Of each cluster in the weights; they sum to 1."""
    noun: str
    """What these are: "clusters", or "topics"."""


def cluster_sums(scores: np.ndarray, design: TopicDesign) -> ClusterSums:
    """The clusters of complete scores [run, topic].

    >>> design = TopicDesign(clusters=np.array([0, 0, 1, 1]))
    >>> cluster_sums(np.array([[0.1, 0.3, 0.0, 0.2]]), design).sums.round(3).tolist()
    [[0.1, 0.05]]
    """
    n_topics = scores.shape[1]
    share, group = design.shares(n_topics), design.groups(n_topics)
    return ClusterSums(
        sums=sums_by_group(scores * share, group),
        share=np.bincount(group, weights=share),
        noun="topics" if design.clusters is None else "clusters",
    )


def linearised(units: ClusterSums) -> np.ndarray:
    """[run, cluster]: values whose means are the runs', and whose variance over clusters is CR1.

    >>> design = TopicDesign(clusters=np.array([0, 0, 1]))
    >>> linearised(cluster_sums(np.array([[0.1, 0.3, 0.2]]), design)).round(3).tolist()
    [[0.2, 0.2]]
    """
    means = units.sums.sum(axis=1, keepdims=True)
    return np.asarray(means + len(units.share) * (units.sums - means * units.share))


def sums_by_group(values: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Sums [row, group] of values [row, topic] over the topics of each group 0, 1, …."""
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(int(group.max(initial=-1)) + 1))
    return np.asarray(np.add.reduceat(values[:, order], starts, axis=1))


def cluster_t(scores: np.ndarray, pairs: np.ndarray, design: TopicDesign) -> PairTests:
    """The t test of (weighted) mean differences with a cluster-robust variance, two-sided.

    CR1 with one degree of freedom less than clusters, or CR2 with Bell and McCaffrey's where
    clusters are few or unequal: `mean_difference`, for all pairs. A topic that either run of a
    pair lacks is left out of that pair; its clusters and weights are then those that are left.

    >>> scores = np.array([[0.1, 0.3, 0.0, 0.2], [0.0, 0.0, 0.0, 0.0]])
    >>> test = cluster_t(scores, np.array([[0, 1]]), TopicDesign(clusters=np.array([0, 0, 1, 1])))
    >>> round(float(test.statistic[0]), 3), float(test.df[0])
    (3.0, 1.0)
    """
    scores, pairs = checked(scores, pairs)
    n, mean, error, df = np.zeros((4, len(pairs)))
    flag = np.full(len(pairs), "", dtype=object)
    gaps = np.isnan(scores).any(axis=1)[pairs].any(axis=1)
    n_clusters = int(design.groups(scores.shape[1]).max(initial=-1)) + 1
    if n_clusters < 2:
        gaps[:] = True
    whole = np.flatnonzero(~gaps)
    if len(whole):
        n[whole] = scores.shape[1]
        mean[whole], error[whole], df[whole], flag[whole] = _complete(scores, pairs[whole], design)
    for place in np.flatnonzero(gaps):
        z = scores[pairs[place, 0]] - scores[pairs[place, 1]]
        fit = mean_difference(z, clusters=design.clusters, weights=design.weights)
        n[place], mean[place], error[place] = fit.n_topics, fit.mean, fit.standard_error
        df[place], flag[place] = fit.df, fit.flag
    return _tests(n.astype(np.int64), mean, error, df, flag, design)


def _complete(
    scores: np.ndarray, pairs: np.ndarray, design: TopicDesign
) -> tuple[np.ndarray, np.ndarray, float, np.ndarray]:
    """Means, standard errors, degrees of freedom and flags of pairs that have all topics."""
    n_topics = scores.shape[1]
    share, group = design.shares(n_topics), design.groups(n_topics)
    loadings, df = cr2_loadings(share, group)
    factor = 1.0
    if not takes_cr2(df):
        n_clusters = int(group.max()) + 1
        loadings, df, factor = share, n_clusters - 1.0, n_clusters / (n_clusters - 1.0)
    if design.is_plain or (design.weights is None and len(np.unique(group)) == n_topics):
        df = n_topics - 1.0
    mean, variance = np.empty((2, len(pairs)))
    flag = np.full(len(pairs), "", dtype=object)
    for part, z, _ in differences(scores, pairs):
        mean[part] = (z * share).sum(axis=1)
        off = z - mean[part, None]
        variance[part] = factor * np.square(sums_by_group(off * loadings, group)).sum(axis=1)
        tiny = CONSTANT * np.maximum(1.0, np.abs(z).max(axis=1))
        constant, nothing = np.abs(off).max(axis=1) <= tiny, np.abs(mean[part]) <= tiny
        flag[part][constant] = np.where(nothing, NO_DIFFERENCE, ZERO_VARIANCE)[constant]
    return mean, np.where(flag == "", np.sqrt(variance), 0.0), df, flag


def _tests(
    n: np.ndarray,
    mean: np.ndarray,
    error: np.ndarray,
    df: np.ndarray,
    flag: np.ndarray,
    design: TopicDesign,
) -> PairTests:
    with np.errstate(divide="ignore", invalid="ignore"):
        # Where deviations cancel within every cluster there is no error to divide by.
        t = np.where(flag == NO_DIFFERENCE, np.nan, mean / error)
    t[flag == TOO_FEW] = np.nan
    pvalue = np.minimum(1.0, 2.0 * stdtr(df, -np.abs(t)))
    pvalue[flag == NO_DIFFERENCE] = 1.0
    pvalue[(flag == ZERO_VARIANCE) | np.isinf(t)] = 0.0
    return PairTests(
        n=n,
        difference=mean,
        statistic=t,
        pvalue=pvalue,
        flag=flag,
        method=f"{_robust_words(df, design)}, two-sided",
        standard_error=error,
        df=df,
    )


def _robust_words(df: np.ndarray, design: TopicDesign) -> str:
    """The test and how its variance is estimated."""
    kind = "cluster-robust t" if design.clusters is not None else "t of weighted means"
    few = takes_cr2(float(np.nanmin(df))) if not np.isnan(df).all() else True
    variance = "CR2, Bell and McCaffrey's degrees of freedom" if few else "CR1, G − 1 df"
    return f"{kind} ({variance})"

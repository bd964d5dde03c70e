"""How topics were sampled, and the precision of mean differences given that.

A plain topic is sampled alone and has weight 1. Variations of one information need or turns of one
session are clusters of similar topics; weights say how much traffic a topic represents. `Units`
holds the contribution of each sampled unit to the runs' means. Variances are cluster-robust: CR1
for many clusters, CR2 with Bell and McCaffrey's degrees of freedom for few (Bell & McCaffrey,
Survey Methodology 28(2), 2002; Pustejovsky & Tipton 2018, doi:10.1080/07350015.2016.1247004).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import stdtr, stdtrit

from steadyrank.errors import InputError
from steadyrank.stats.interval import Interval, satterthwaite, t_intervals, t_limits
from steadyrank.stats.pairs.corrected_t import adverse, corrected_reach, inverted, skewness_of_mean
from steadyrank.stats.pairs.result import CONSTANT, NO_DIFFERENCE, TOO_FEW, ZERO_VARIANCE

MANY_CLUSTERS = 40
"""Number of clusters (degrees of freedom + 1) from which CR1 is used."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TopicDesign:
    """How topics were sampled: their clusters and their weights."""

    clusters: np.ndarray | None = None
    """The cluster of each topic, as whole numbers; None if each was sampled alone."""
    weights: np.ndarray | None = None
    """Weight of each topic, above 0; None if all are equal."""

    @property
    def is_plain(self) -> bool:
        """Whether topics are neither clustered nor weighted."""
        return self.clusters is None and self.weights is None

    @property
    def is_trivial(self) -> bool:
        """Whether each cluster has one topic, and all weights are equal."""
        clusters, weights = self.clusters, self.weights
        alone = clusters is None or len(np.unique(clusters)) == len(clusters)
        return alone and (weights is None or bool(np.ptp(weights) == 0.0))

    @property
    def noun(self) -> str:
        """The sampled units: "clusters", or "topics"."""
        return "topics" if self.clusters is None else "clusters"

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters; None if topics are not clustered."""
        return None if self.clusters is None else len(np.unique(self.clusters))

    @property
    def effective_topics(self) -> float | None:
        """(sum of weights)² / sum of squared weights; None without weights."""
        return None if self.weights is None else effective_topics(self.weights)

    def of(self, topics: np.ndarray) -> TopicDesign:
        """Return the design of some of the topics."""
        return TopicDesign(
            clusters=None if self.clusters is None else self.clusters[topics],
            weights=None if self.weights is None else self.weights[topics],
        )

    def shares(self, n_topics: int) -> np.ndarray:
        """Return weights that sum to 1."""
        if self.weights is None:
            return np.full(n_topics, 1.0 / max(1, n_topics))
        return np.asarray(self.weights / self.weights.sum())

    def groups(self, n_topics: int) -> np.ndarray:
        """Return the cluster of each topic as 0, 1, …; the topics if there are no clusters."""
        if self.clusters is None:
            return np.arange(n_topics)
        return np.unique(self.clusters, return_inverse=True)[1]


PLAIN = TopicDesign()
"""Topics sampled one by one, with equal weights."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Units:
    """The sampled units (topics, clusters, datasets), and their contributions to the runs' means.

    Units may come in fixed strata, which are adjacent, such as the topics of several datasets.
    """

    sums: np.ndarray
    """[run, unit]: sums of weighted scores; over all units they sum to the runs' means."""
    share: np.ndarray
    """Share of each unit in the weights of its stratum."""
    sizes: tuple[int, ...]
    """Number of units in each stratum."""
    weight: np.ndarray = field(default_factory=lambda: np.ones(1))
    """Weight of each stratum's mean in the runs' means."""

    @property
    def value(self) -> np.ndarray:
        """[run]: mean."""
        return np.asarray(self.sums.sum(axis=1))

    @property
    def residual(self) -> np.ndarray:
        """[run, unit]: sums minus their expectation given the mean of the stratum."""
        return np.asarray(self.sums - self.by_stratum(self.sums)[:, self._stratum] * self.share)

    @property
    def factor(self) -> np.ndarray:
        """m / (m - 1) for each stratum, which turns a sum of squared residuals into a variance."""
        m = np.array(self.sizes, np.float64)
        return np.asarray(m / np.maximum(1.0, m - 1.0))

    @property
    def n_draws(self) -> float:
        """Effective number of units: units of equal weight with the same precision."""
        return float(1.0 / (np.square(self.weight[self._stratum] * self.share)).sum())

    @property
    def _stratum(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def by_stratum(self, values: np.ndarray) -> np.ndarray:
        """Return sums [..., stratum] of values [..., unit]."""
        starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        return np.asarray(np.add.reduceat(values, starts, axis=-1))

    def intervals(self, confidence: float) -> np.ndarray:
        """Return t intervals [run, 2], each valid for one run; NaN if a stratum has one unit."""
        if min(self.sizes) < 2:
            return np.full((len(self.sums), 2), np.nan)
        parts = (self.factor * self.by_stratum(np.square(self.residual))).T
        df = satterthwaite(parts, np.array(self.sizes) - 1.0, without=1.0)
        return t_intervals(self.value, np.sqrt(parts.sum(axis=0)), df, confidence)


def cluster_sums(scores: np.ndarray, design: TopicDesign) -> Units:
    """Return the clusters of complete scores [run, topic] as units."""
    n_topics = scores.shape[1]
    share, group = design.shares(n_topics), design.groups(n_topics)
    shares = np.bincount(group, weights=share)
    return Units(sums=sums_by_group(scores * share, group), share=shares, sizes=(len(shares),))


def units_in_strata(scores: Sequence[np.ndarray], weight: np.ndarray) -> Units:
    """Return the topics [run, topic] of several fixed strata, such as datasets, as units."""
    sizes = tuple(each.shape[1] for each in scores)
    parts = [each * (own / size) for each, own, size in zip(scores, weight, sizes, strict=True)]
    share = np.repeat(1.0 / np.array(sizes), sizes)
    return Units(sums=np.concatenate(parts, axis=1), share=share, sizes=sizes, weight=weight)


def linearised(units: Units) -> np.ndarray:
    """Return [run, unit]: values whose means are the runs' means, and whose variance is CR1."""
    return np.asarray(units.value[:, None] + len(units.share) * units.residual)


def sums_by_group(values: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Return sums [row, group] of values [row, topic] over the topics of each group 0, 1, …."""
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(int(group.max(initial=-1)) + 1))
    return np.asarray(np.add.reduceat(values[:, order], starts, axis=1))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RobustMeans:
    """Weighted means of rows [row, topic], with cluster-robust variances."""

    mean: np.ndarray
    variance: np.ndarray
    """Variance of each mean; 0 for a constant row."""
    df: float
    method: str
    """"t", "CR1" or "CR2"."""
    flag: np.ndarray


def robust_means(z: np.ndarray, design: TopicDesign) -> RobustMeans:
    """Return means of complete rows with robust variances; NaN and a flag below two clusters.

    With weights w, W their sum and e = d - mean, CR1 is G/(G-1) sum_g (sum_{i in g} w_i e_i)² / W²
    with G - 1 degrees of freedom. CR2 replaces each inner sum over W by a_g' e_g, where
    a_g = B_g^(-1/2) w_g / W and B_g is the covariance of e_g for independent topics of equal
    variance; its degrees of freedom are Satterthwaite's under that model. CR2 is used if these are
    below MANY_CLUSTERS - 1: for few clusters, very unequal ones, or a few topics with most of the
    weight.
    """
    n_topics = z.shape[1]
    share, group = design.shares(n_topics), design.groups(n_topics)
    n_clusters = int(group.max(initial=-1)) + 1
    mean = (z * share).sum(axis=1) if n_topics else np.full(len(z), np.nan)
    flag = np.full(len(z), "" if n_clusters > 1 else TOO_FEW, dtype=object)
    if n_clusters < 2:
        unknown = np.full(len(z), np.nan)
        return RobustMeans(mean=mean, variance=unknown, df=math.nan, method="t", flag=flag)
    (loadings, df), factor, method = cr2_loadings(share, group), 1.0, "CR2"
    if not takes_cr2(df):
        loadings, df, method = share, n_clusters - 1.0, "CR1"
        factor = n_clusters / (n_clusters - 1.0)
    if design.weights is None and n_clusters == n_topics:
        df, method = n_topics - 1.0, "t" if design.clusters is None else method
    off = z - mean[:, None]
    variance = factor * np.square(sums_by_group(off * loadings, group)).sum(axis=1)
    tiny = CONSTANT * np.maximum(1.0, np.abs(z).max(axis=1))
    constant = np.abs(off).max(axis=1) <= tiny
    flag[constant] = np.where(np.abs(mean) <= tiny, NO_DIFFERENCE, ZERO_VARIANCE)[constant]
    variance = np.where(constant, 0.0, variance)
    return RobustMeans(mean=mean, variance=variance, df=df, method=method, flag=flag)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanDifference:
    """A mean of differences by topic, and its precision."""

    mean: float
    variance: float
    """Variance of the mean."""
    df: float
    n_topics: int
    """Number of topics with a difference, and a weight above 0."""
    n_clusters: int
    """Number of clusters, or of topics if there are none."""
    effective_topics: float
    """(sum of weights)² / sum of squared weights."""
    design_effect: float
    """Variance over that for independent topics; 1 without clusters."""
    skewness: float
    """Skewness of the mean."""
    method: str
    """"t", "CR1" or "CR2"."""
    draws: float
    """Effective number of clusters, or of topics if there are none."""
    reach: float = 0.0
    """Largest possible difference on a topic, of either sign; 0 if unknown."""
    flag: str = ""
    """"" or a flag of a degenerate difference."""

    @property
    def standard_error(self) -> float:
        """Standard error of the mean."""
        return math.sqrt(self.variance)

    def pvalue_above(self, value: float) -> float:
        """Return the one-sided p of the hypothesis that the true mean is at most `value`."""
        return self._pvalue(self.mean - value, 1.0)

    def pvalue_below(self, value: float) -> float:
        """Return the one-sided p of the hypothesis that the true mean is at least `value`."""
        return self._pvalue(value - self.mean, -1.0)

    def interval(self, tail: float) -> Interval:
        """Return limits, each with error probability `tail`."""
        if self.flag == TOO_FEW:
            return Interval(-math.inf, math.inf)
        if self.flag:
            share = unseen_share(self.draws, tail)
            return Interval(self.mean - share * self.room(1.0), self.mean + share * self.room(-1.0))
        reach = stdtrit(self.df, 1.0 - tail)
        low, high = (float(corrected_reach(reach, self._against(sign))) for sign in (1.0, -1.0))
        return Interval(
            self.mean - low * self.standard_error, self.mean + high * self.standard_error
        )

    def student_interval(self, confidence: float) -> Interval:
        """Return Student's two-sided limits, not corrected for skewness; NaN for too few draws."""
        if self.flag == TOO_FEW:
            return Interval(math.nan, math.nan)
        return t_limits(self.mean, 0.0 if self.flag else self.standard_error, self.df, confidence)

    def _pvalue(self, gap: float, sign: float) -> float:
        """Return the p-value by Student's law of the corrected t, consistent with `interval`."""
        if self.flag == TOO_FEW:
            return math.nan
        if self.flag:
            room = self.room(sign)
            if gap <= 0.0 or gap >= room:
                return float(gap <= 0.0)
            return math.pow(1.0 - gap / room, self.draws)
        t = inverted(gap / self.standard_error, self._against(sign))
        return float(stdtr(self.df, -t))

    def room(self, sign: float) -> float:
        """Return how far unseen topics may be below (1) or above (-1) a constant difference."""
        return 0.0 if self.flag == NO_DIFFERENCE else max(self.reach + sign * self.mean, 0.0)

    def _against(self, sign: float) -> np.ndarray:
        """Return the skewness against a claim that the mean is above (1) or below (-1) a value."""
        return adverse(np.asarray(sign * self.skewness), self.draws)


def mean_difference(
    differences: np.ndarray,
    *,
    clusters: np.ndarray | None = None,
    weights: np.ndarray | None = None,
    reach: float = 0.0,
) -> MeanDifference:
    """Return the weighted mean of differences by topic, with its cluster-robust variance.

    `differences` has one entry per topic, NaN where missing; topics of weight 0 are omitted.
    `reach` is the largest possible difference on a topic: if all differences are equal but not 0,
    limits allow for the share of topics that may differ by that much unseen (`unseen_share`).
    Limits and p-values are one-sided, by the corrected t.
    """
    d = np.asarray(differences, np.float64)
    w = np.ones(len(d)) if weights is None else np.asarray(weights, np.float64)
    if (w < 0.0).any():
        raise InputError("a weight must be at least 0")
    used = ~np.isnan(d) & (w > 0.0)
    design = TopicDesign(clusters=None if clusters is None else np.asarray(clusters), weights=w)
    d, w, design = d[used], w[used], design.of(used)
    if weights is None:
        design = replace(design, weights=None)
    group = design.groups(len(d))
    fit = robust_means(d[None], design)
    mean, variance, flag = float(fit.mean[0]), float(fit.variance[0]), str(fit.flag[0])
    single = w / w.sum() * (d - mean) if len(d) else d
    effect = math.nan if flag == TOO_FEW else 1.0
    if clusters is not None and flag != TOO_FEW:
        independent = float(single @ single) * len(d) / (len(d) - 1.0)
        effect = math.nan if flag else variance / independent
    return MeanDifference(
        mean=mean,
        variance=variance,
        df=fit.df,
        n_topics=len(d),
        n_clusters=int(group.max(initial=-1)) + 1,
        effective_topics=effective_topics(w) if len(d) else 0.0,
        design_effect=effect,
        skewness=0.0 if flag else float(skewness_of_mean(np.bincount(group, single))),
        method=fit.method,
        draws=effective_topics(np.bincount(group, w)) if len(d) else 0.0,
        reach=reach,
        flag=flag,
    )


def design_effect(
    rows: np.ndarray, clusters: np.ndarray, weights: np.ndarray | None = None
) -> float:
    """Return the variance of means of rows [row, topic] over that of independent topics, pooled.

    >>> rows = np.array([[0.1, 0.1, 0.5, 0.5, 0.2, 0.2]])
    >>> round(design_effect(rows, np.array([0, 0, 1, 1, 2, 2])), 6)
    2.5
    """
    fits = [mean_difference(row, clusters=clusters, weights=weights) for row in rows]
    known = [fit for fit in fits if not fit.flag]
    if not known:
        return math.nan
    total = math.fsum(fit.variance for fit in known)
    return total / math.fsum(fit.variance / fit.design_effect for fit in known)


def takes_cr2(df: float) -> bool:
    """Return whether clusters with these Bell-McCaffrey degrees of freedom are too few for CR1."""
    return df < MANY_CLUSTERS - 1 - CONSTANT


def cr2_loadings(w: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the factors of the topics' residuals in CR2, and the degrees of freedom.

    The sum of a cluster's products is its contribution to the mean. `w` are shares that sum to 1,
    `group` the clusters 0, 1, ….

    B_g = I - 1 w' - w 1' + 1 1' (w'w) differs from the identity only within the span of 1 and w_g,
    so that only the root of a 2 × 2 matrix is needed, for clusters of any size.
    """
    size = np.bincount(group).astype(float)
    root, level = np.sqrt(size), np.bincount(group, w) / size
    off = w - level[group]
    spread = np.sqrt(np.bincount(group, off * off))
    total = float(w @ w)
    # In the basis of 1 / sqrt(size) and off / spread, 1 is (root, 0) and w (level * root, spread).
    ones = np.stack([root, np.zeros_like(root)], axis=1)
    own = np.stack([level * root, spread], axis=1)
    crossed = ones[:, :, None] * own[:, None, :]
    covariance = np.eye(2) - crossed - crossed.transpose(0, 2, 1)
    covariance += total * ones[:, :, None] * ones[:, None, :]
    adjusted = np.einsum("gij,gj->gi", _inverse_roots(covariance), own)
    along = np.zeros_like(spread)
    np.divide(adjusted[:, 1], spread, out=along, where=spread > 0.0)
    loadings = (adjusted[:, 0] / root)[group] + along[group] * off
    square = (adjusted * adjusted).sum(axis=1)
    s, u = (adjusted * ones).sum(axis=1), (adjusted * own).sum(axis=1)
    return loadings, _satterthwaite(square, s, u, total)


def _satterthwaite(square: np.ndarray, s: np.ndarray, u: np.ndarray, total: float) -> float:
    """Return (trace)² / trace of the square of diag(square) - s u' - u s' + total s s'."""
    diagonal = square - 2.0 * s * u + total * s * s
    ss, su, uu = float(s @ s), float(s @ u), float(u @ u)
    outer = 2.0 * (ss * uu + su * su) + (total * ss) ** 2 - 4.0 * total * su * ss
    squares = outer + float((square * (2.0 * diagonal - square)).sum())
    return float(diagonal.sum()) ** 2 / squares


def _inverse_roots(matrices: np.ndarray) -> np.ndarray:
    """Return the inverse square roots of symmetric matrices; 0 in directions without variance."""
    values, vectors = np.linalg.eigh(matrices)
    roots = np.zeros_like(values)
    np.divide(1.0, np.sqrt(np.maximum(values, 0.0)), out=roots, where=values > CONSTANT)
    return np.asarray((vectors * roots[:, None, :]) @ vectors.transpose(0, 2, 1))


def effective_topics(weights: np.ndarray) -> float:
    """Return (sum of weights)² / sum of squared weights: the equivalent number of equal weights."""
    return float(weights.sum() ** 2 / (weights @ weights))


def reach_of(scores: np.ndarray) -> float:
    """Return the largest possible difference on a topic: the range of scores, with 0."""
    known = scores[~np.isnan(scores)]
    return float(known.max(initial=0.0) - known.min(initial=0.0))


def unseen_share(draws: float, alpha: float) -> float:
    """Return the share of topics that this number of draws misses entirely with probability alpha.

    >>> round(unseen_share(50, 0.05), 3)
    0.058
    """
    return 1.0 - math.pow(alpha, 1.0 / draws)

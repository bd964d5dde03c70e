"""How topics were drawn, and how surely a mean difference is known given that.

A plain topic is a cluster of its own with weight 1. Variations of one need or turns of one session
are clusters of topics that are alike; weights say by how much traffic a topic stands for. What was
drawn are then the clusters: `Units` has what each of them adds to the runs' means, and all that is
resampled or flipped are units.

Variances are cluster-robust: CR1 with Student's law where clusters are many, CR2 with Bell and
McCaffrey's degrees of freedom where they are few (Bell & McCaffrey, Survey Methodology 28(2), 2002;
Pustejovsky & Tipton 2018, doi:10.1080/07350015.2016.1247004). Without clusters and weights both are
Student's paired t.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import stdtr, stdtrit

from steadyrank.errors import InputError
from steadyrank.stats.interval import Interval
from steadyrank.stats.pairs.corrected_t import adverse, corrected_reach, inverted, skewness_of_mean
from steadyrank.stats.pairs.result import CONSTANT, NO_DIFFERENCE, TOO_FEW, ZERO_VARIANCE
from steadyrank.stats.student import satterthwaite, t_intervals

MANY_CLUSTERS = 40
"""From so many (by their degrees of freedom, plus one) on, CR1 with G - 1 degrees of freedom."""


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
    def noun(self) -> str:
        """What is drawn: "clusters", or "topics"."""
        return "topics" if self.clusters is None else "clusters"

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
            return np.full(n_topics, 1.0 / max(1, n_topics))
        return np.asarray(self.weights / self.weights.sum())

    def groups(self, n_topics: int) -> np.ndarray:
        """The clusters as 0, 1, …; the topics themselves where they have none."""
        if self.clusters is None:
            return np.arange(n_topics)
        return np.unique(self.clusters, return_inverse=True)[1]


PLAIN = TopicDesign()
"""Topics drawn one by one, all of which count the same."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Units:
    """What was drawn, and what each unit adds to the runs' means: topics, clusters, datasets.

    Units may come in strata of which none is drawn, such as the topics of several datasets; those
    of one stratum stand side by side.
    """

    sums: np.ndarray
    """[run, unit]: of weighted scores; over all units they add up to the runs' means."""
    share: np.ndarray
    """Of each unit in the weights of its stratum, in which they sum to 1."""
    sizes: tuple[int, ...]
    """Units of each stratum."""
    weight: np.ndarray = field(default_factory=lambda: np.ones(1))
    """Of each stratum's mean in the runs' means."""

    @property
    def value(self) -> np.ndarray:
        """One per run: its mean."""
        return np.asarray(self.sums.sum(axis=1))

    @property
    def residual(self) -> np.ndarray:
        """[run, unit]: the sums less what the mean of their stratum lets expect of them."""
        return np.asarray(self.sums - self.by_stratum(self.sums)[:, self._stratum] * self.share)

    @property
    def factor(self) -> np.ndarray:
        """m / (m - 1) of each stratum, which makes a sum of squared residuals a variance."""
        m = np.array(self.sizes, np.float64)
        return np.asarray(m / np.maximum(1.0, m - 1.0))

    @property
    def n_draws(self) -> float:
        """As many units of equal weight."""
        return float(1.0 / (np.square(self.weight[self._stratum] * self.share)).sum())

    @property
    def _stratum(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def by_stratum(self, values: np.ndarray) -> np.ndarray:
        """Sums [..., stratum] of values [..., unit]."""
        starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        return np.asarray(np.add.reduceat(values, starts, axis=-1))

    def intervals(self, confidence: float) -> np.ndarray:
        """t intervals [run, 2] of the means, one at a time; NaN where a stratum has one unit.

        Degrees of freedom are Welch and Satterthwaite's over strata: of one, m - 1.

        >>> cluster_sums(np.array([[0.1, 0.2, 0.3]]), PLAIN).intervals(0.95).round(4).tolist()
        [[-0.0484, 0.4484]]
        """
        if min(self.sizes) < 2:
            return np.full((len(self.sums), 2), np.nan)
        parts = (self.factor * self.by_stratum(np.square(self.residual))).T
        df = satterthwaite(parts, np.array(self.sizes) - 1.0, without=1.0)
        return t_intervals(self.value, np.sqrt(parts.sum(axis=0)), df, confidence)


def cluster_sums(scores: np.ndarray, design: TopicDesign) -> Units:
    """The clusters of complete scores [run, topic].

    >>> design = TopicDesign(clusters=np.array([0, 0, 1, 1]))
    >>> cluster_sums(np.array([[0.1, 0.3, 0.0, 0.2]]), design).sums.round(3).tolist()
    [[0.1, 0.05]]
    """
    n_topics = scores.shape[1]
    share, group = design.shares(n_topics), design.groups(n_topics)
    shares = np.bincount(group, weights=share)
    return Units(sums=sums_by_group(scores * share, group), share=shares, sizes=(len(shares),))


def units_in_strata(scores: Sequence[np.ndarray], weight: np.ndarray) -> Units:
    """Topics [run, topic] of several strata that are not drawn, such as datasets."""
    sizes = tuple(each.shape[1] for each in scores)
    parts = [each * (own / size) for each, own, size in zip(scores, weight, sizes, strict=True)]
    share = np.repeat(1.0 / np.array(sizes), sizes)
    return Units(sums=np.concatenate(parts, axis=1), share=share, sizes=sizes, weight=weight)


def linearised(units: Units) -> np.ndarray:
    """[run, unit]: values whose means are the runs', and whose variance over units is CR1.

    Of units of one stratum; plain topics have their own scores.

    >>> design = TopicDesign(clusters=np.array([0, 0, 1]))
    >>> linearised(cluster_sums(np.array([[0.1, 0.3, 0.2]]), design)).round(3).tolist()
    [[0.2, 0.2]]
    """
    return np.asarray(units.value[:, None] + len(units.share) * units.residual)


def sums_by_group(values: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Sums [row, group] of values [row, topic] over the topics of each group 0, 1, …."""
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(int(group.max(initial=-1)) + 1))
    return np.asarray(np.add.reduceat(values[:, order], starts, axis=1))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RobustMeans:
    """Weighted means of rows [row, topic], with cluster-robust variances."""

    mean: np.ndarray
    variance: np.ndarray
    """Of each mean; 0 where a row is constant."""
    df: float
    method: str
    """"t", "CR1" or "CR2"."""
    flag: np.ndarray


def robust_means(z: np.ndarray, design: TopicDesign) -> RobustMeans:
    """Of complete rows on at least two clusters; NaN with a flag on fewer.

    With weights w, W their sum and e = d - mean, CR1 is G/(G-1) sum_g (sum_{i in g} w_i e_i)² / W²
    with G - 1 degrees of freedom. CR2 takes a_g' e_g in place of each inner sum over W, where
    a_g = B_g^(-1/2) w_g / W and B_g is the covariance of e_g if topics were independent and of one
    variance; its degrees of freedom are Satterthwaite's under that model. It is used wherever they
    fall short of MANY_CLUSTERS - 1: few clusters, very unequal ones, or a few topics with most
    of the weight.
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
    """A mean of differences by topic and how surely it is known."""

    mean: float
    variance: float
    """Of the mean."""
    df: float
    n_topics: int
    """With a difference, and a weight above 0."""
    n_clusters: int
    """Topics, where these have no clusters."""
    effective_topics: float
    """(sum of weights)² / sum of squared weights: as many topics of equal weight."""
    design_effect: float
    """The variance over that of as many independent topics; 1 without clusters."""
    skewness: float
    """Of the mean: that of what the clusters contribute over the root of their number."""
    method: str
    """"t", "CR1" or "CR2"."""
    draws: float
    """As many clusters, or topics without clusters, of equal weight."""
    reach: float = 0.0
    """The largest difference that a topic may have, of either sign; 0 where not given."""
    flag: str = ""
    """"" or a flag of a degenerate difference."""

    @property
    def standard_error(self) -> float:
        """Of the mean."""
        return math.sqrt(self.variance)

    def pvalue_above(self, value: float) -> float:
        """One-sided p of the hypothesis that the true mean is at most `value`."""
        return self._pvalue(self.mean - value, 1.0)

    def pvalue_below(self, value: float) -> float:
        """One-sided p of the hypothesis that the true mean is at least `value`."""
        return self._pvalue(value - self.mean, -1.0)

    def interval(self, tail: float) -> Interval:
        """Limits that the true mean lies beyond with probability `tail`, on each side."""
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
        """Student's two-sided limits, not corrected for skewness; NaN where too few are drawn."""
        if self.flag == TOO_FEW:
            return Interval(math.nan, math.nan)
        error = 0.0 if self.flag else self.standard_error
        return Interval(*t_intervals(self.mean, error, self.df, confidence).tolist())

    def _pvalue(self, gap: float, sign: float) -> float:
        """By Student's law of the corrected t: as `interval`."""
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
        """How far topics that were not drawn may lie below (1) or above (-1) a constant difference.

        0 where all topics are equal: nothing has changed.
        """
        return 0.0 if self.flag == NO_DIFFERENCE else max(self.reach + sign * self.mean, 0.0)

    def _against(self, sign: float) -> np.ndarray:
        """Skewness against the claim that the mean is above (1) or below (-1) some value."""
        return adverse(np.asarray(sign * self.skewness), self.draws)


def mean_difference(
    differences: np.ndarray,
    *,
    clusters: np.ndarray | None = None,
    weights: np.ndarray | None = None,
    reach: float = 0.0,
) -> MeanDifference:
    """The weighted mean of differences by topic, with its cluster-robust variance.

    `differences` are one per topic, NaN where there is none, and `clusters` whole numbers; a topic
    of weight 0 is left out. The variance is that of `robust_means`. `reach` is the largest
    difference that a topic may have: if all differences are equal but not 0, limits allow for the
    share of topics that may differ by that much unseen (`unseen_share`).

    Limits and p-values are one-sided, of the t that `steadyrank.stats.pairs.corrected_t` corrects
    for skewness: limits of 25 symmetric differences are 12% farther out than Student's, of 100 3%.

    >>> pairs = mean_difference(np.array([0.1, 0.3, 0.0, 0.2]), clusters=np.array([0, 0, 1, 1]))
    >>> round(pairs.mean, 3), round(pairs.standard_error, 3), pairs.df, pairs.method
    (0.15, 0.05, 1.0, 'CR2')
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
    """Variance of the means of rows [row, topic] over that of independent topics, of all together.

    For differences of all pairs of runs, rows are the runs less their mean on each topic: squares
    over pairs add up to as many times those.

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
    """Whether clusters with so many Bell-McCaffrey degrees of freedom are too few for CR1."""
    return df < MANY_CLUSTERS - 1 - CONSTANT


def cr2_loadings(w: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, float]:
    """What each topic's residual is multiplied by in CR2, and its degrees of freedom.

    The sum of a cluster's products is what it contributes to the mean. `w` are shares that sum to
    1, `group` the clusters 0, 1, ….

    B_g = I - 1 w' - w 1' + 1 1' (w'w) differs from the identity only within the span of 1 and w_g,
    so that its root is that of a matrix of 2 × 2: no cluster is too large.
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
    """(trace)² / trace of the square of the matrix diag(square) - s u' - u s' + total s s'."""
    diagonal = square - 2.0 * s * u + total * s * s
    ss, su, uu = float(s @ s), float(s @ u), float(u @ u)
    outer = 2.0 * (ss * uu + su * su) + (total * ss) ** 2 - 4.0 * total * su * ss
    squares = outer + float((square * (2.0 * diagonal - square)).sum())
    return float(diagonal.sum()) ** 2 / squares


def _inverse_roots(matrices: np.ndarray) -> np.ndarray:
    """The inverse square roots of symmetric matrices; of directions without variance, 0."""
    values, vectors = np.linalg.eigh(matrices)
    roots = np.zeros_like(values)
    np.divide(1.0, np.sqrt(np.maximum(values, 0.0)), out=roots, where=values > CONSTANT)
    return np.asarray((vectors * roots[:, None, :]) @ vectors.transpose(0, 2, 1))


def effective_topics(weights: np.ndarray) -> float:
    """(sum of weights)² / sum of squared weights: as many topics of equal weight.

    >>> effective_topics(np.array([1.0, 1.0, 0.0]))
    2.0
    """
    return float(weights.sum() ** 2 / (weights @ weights))


def reach_of(scores: np.ndarray) -> float:
    """The largest difference that a topic may have: from the lowest score, or 0, to the highest.

    >>> reach_of(np.array([[0.25, np.nan], [0.5, 0.75]])), reach_of(np.array([-1.0, 2.0]))
    (0.75, 3.0)
    """
    known = scores[~np.isnan(scores)]
    return float(known.max(initial=0.0) - known.min(initial=0.0))


def unseen_share(draws: float, alpha: float) -> float:
    """The largest share of topics of which that many draws hold none with probability alpha.

    >>> round(unseen_share(50, 0.05), 3)
    0.058
    """
    return 1.0 - math.pow(alpha, 1.0 / draws)

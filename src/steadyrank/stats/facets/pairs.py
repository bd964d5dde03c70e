"""Tests of pairs of systems graded by several judges, about other topics and other judges.

A difference D is the mean, over the judges that two systems share, of the differences of their
levels (`steadyrank.data.levels`). Its variance over topics F is the jackknife's. Random judges add
J, which is learned from all systems, once under equal variances (pooled), and once by system,
moderated towards a common value (Smyth 2004, doi:10.2202/1544-6115.1027); the larger is used. A
claim must also be significant by the data of the pair alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, polygamma

from steadyrank.data.levels import Levels, levels_of
from steadyrank.stats.interval import satterthwaite, t_intervals, t_test
from steadyrank.stats.pairs import decisions
from steadyrank.stats.pairs.family import Family
from steadyrank.stats.pairs.result import NO_DIFFERENCE, TOO_FEW, ZERO_VARIANCE, PairTests
from steadyrank.stats.planning.reversal import swap_share

FEWEST_JUDGES = 3
"""Fewest judges that are random by default: with two, .05 to .12 of simulated families had a false
claim."""

CARRY_LITTLE = 5
"""With fewer real judges, who use scales differently, too many claims are false."""

CARRIED = "three real ones made a false claim in 11% to 20% of families, five in 2% to 8%"
"""False claims with 13 judges who graded summaries, the systems made equal (docs/coverage.md)."""

MORE_JUDGES = "grade a sample with two more judges and add a column `judge`"
"""Advice for a single judge."""

METHOD = "model with random topics and judges"
METHOD_FIXED = "model of systems by judge, judges fixed, jackknife over topics"

AT_ONCE = 4_000_000
"""Size of arrays [pair, topic, judge] in memory at a time."""

ROUNDING = 1e-10
"""Smaller differences, relative to the largest level or 1, count as 0."""

LEAST_SHARE = 1e-5
"""Smallest variance over judges relative to the median, before logarithms are taken."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedTests:
    """Tests of pairs of systems: arrays with one entry per pair."""

    pairs: np.ndarray
    n_judges: np.ndarray
    """Number of judges that both systems share; 0 if the two cannot be compared."""
    means: np.ndarray  # [pair, 2]: means of both systems, by the judges that they share
    difference: np.ndarray
    standard_error: np.ndarray
    """sqrt(V): topics, and unless `is_fixed` judges, are random."""
    df: np.ndarray
    pvalue: np.ndarray
    standard_error_fixed: np.ndarray
    """sqrt(F): only topics are random."""
    df_fixed: np.ndarray
    standard_error_own: np.ndarray
    """Standard error by the data of the pair, without those of other systems."""
    df_own: np.ndarray
    pvalue_own: np.ndarray
    judge_error: np.ndarray
    """The part of F that falls with more judges."""
    is_fixed: bool

    def narrower(self, n_judges: float) -> float:
        """Return the ratio of standard errors with this number of judges to those here.

        The parts of judges and single grades fall with the number of judges, that of topics does
        not. Standard errors are averaged as root mean squares.
        """
        known = ~np.isnan(self.standard_error)
        error = self.judge_error[known]
        falling = self.standard_error[known] ** 2 - self.standard_error_fixed[known] ** 2 + error
        staying = np.maximum(self.standard_error_fixed[known] ** 2 - error, 0.0)
        total = float((falling + staying).mean())
        more = float((falling * self.n_judges[known] / n_judges + staying).mean())
        return float(np.sqrt(more / total)) if total > 0.0 else np.nan

    @property
    def ratio(self) -> float:
        """Ratio of the standard error to that over topics only, as root mean squares."""
        fixed = float(np.nanmean(self.standard_error_fixed**2))
        return float(np.sqrt(np.nanmean(self.standard_error**2) / fixed)) if fixed > 0.0 else np.nan

    def as_tests(self, n_topics: int) -> PairTests:
        """Return the tests as `PairTests`; p-values are not corrected."""
        zero = self.standard_error == 0.0
        flag = np.full(len(self.pairs), "", object)
        flag[zero] = np.where(self.difference[zero] == 0.0, NO_DIFFERENCE, ZERO_VARIANCE)
        flag[self.n_judges == 0] = TOO_FEW
        with np.errstate(divide="ignore", invalid="ignore"):
            t = self.difference / self.standard_error
        return PairTests(
            n=np.where(self.n_judges > 0, n_topics, 0),
            difference=self.difference,
            statistic=np.where(zero & (self.difference == 0.0), 0.0, t),
            pvalue=self.pvalue,
            flag=flag,
            method=METHOD_FIXED if self.is_fixed else METHOD,
            standard_error=self.standard_error,
            df=self.df,
            own_error=self.standard_error_own,
            own_df=self.df_own,
            own_pvalue=self.pvalue_own,
        )


def judge_tests(levels: Levels, pairs: np.ndarray, *, is_fixed: bool = False) -> JudgedTests:
    """Return tests of pairs, with judges random or `is_fixed`; V is learned from all systems."""
    shared = levels.shared(pairs)
    means, over_topics, noise, spread = _differences(levels, pairs, shared)
    difference = means[:, 0] - means[:, 1]
    n_shared = shared.sum(axis=1)
    several = np.where(n_shared > 1, n_shared, np.nan)
    n = np.where(n_shared > 0, n_shared, np.nan)
    df_topics = _topic_df(levels, pairs, shared)
    own = _with_judges(over_topics, df_topics, spread, noise, several)
    own_variance, own_df = (
        np.where(np.isnan(a), b, a) for a, b in zip(own, (over_topics, df_topics), strict=True)
    )
    if is_fixed:
        variance, df = over_topics, df_topics
        own_variance, own_df = variance, df
    elif len(levels.mu) == 2:  # no other system says anything about judges
        variance, df = own_variance, own_df
    else:
        added, added_df = _judges_add(levels, pairs, n, np.where(n_shared > 1, noise, 0.0))
        variance = over_topics + added
        # If judges add nothing, their degrees of freedom do not count.
        both = (df_topics, np.where(added > 0, added_df, np.inf))
        df = satterthwaite((over_topics, added), both, without=df_topics)
    return JudgedTests(
        pairs=pairs,
        n_judges=n_shared,
        means=means,
        difference=difference,
        standard_error=np.sqrt(variance),
        df=df,
        pvalue=t_test(difference, np.sqrt(variance), df)[1],
        standard_error_fixed=np.sqrt(over_topics),
        df_fixed=df_topics,
        standard_error_own=np.sqrt(own_variance),
        df_own=own_df,
        pvalue_own=t_test(difference, np.sqrt(own_variance), own_df)[1],
        judge_error=np.where(n_shared > 1, noise / n, 0.0),
        is_fixed=is_fixed,
    )


def _differences(levels: Levels, pairs: np.ndarray, shared: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return means, F, the expected variance over judges by chance, and the observed variance."""
    means, found = np.full((len(pairs), 2), np.nan), np.full((3, len(pairs)), np.nan)
    mu, moved = np.nan_to_num(levels.mu), levels.moved
    step = max(1, AT_ONCE // max(1, moved.shape[0] * moved.shape[2]))
    for start in range(0, len(pairs), step):
        part = slice(start, start + step)
        (a, b), there = pairs[part].T, shared[part].astype(float)
        n = np.where(there.any(axis=1), there.sum(axis=1), np.nan)
        by_judge = (mu[a] - mu[b]) * there
        means[part] = np.stack([(mu[own] * there).sum(axis=1) / n for own in (a, b)], axis=1)
        without = (moved[:, a] - moved[:, b]) * there
        middle, shift = by_judge.sum(axis=1) / n, without.sum(axis=2) / n
        several = np.where(n > 1.0, n - 1.0, np.nan)
        centred = (without - shift[:, :, None]) * there
        found[0, part] = levels.shrink * (shift**2).sum(axis=0)
        found[1, part] = levels.shrink * (centred**2).sum(axis=(0, 2)) / several
        found[2, part] = (((by_judge - middle[:, None]) * there) ** 2).sum(axis=1) / several
    # Levels are solved to a limited precision; smaller variances and differences are 0.
    least = ROUNDING * max(1.0, float(np.abs(mu).max(initial=0.0)))
    same = np.abs(means[:, 0] - means[:, 1]) <= least
    means[same, 0] = means[same, 1]
    found[found <= least**2] = 0.0
    return means, *found


def _topic_df(levels: Levels, pairs: np.ndarray, shared: np.ndarray) -> np.ndarray:
    """Return (sum a)² / sum a² - 1, a the topics' shares of the variance for equal errors."""
    n_judges, n_systems = shared.shape[1], len(levels.mu)
    known = np.flatnonzero(shared.any(axis=1))
    df = np.full(len(pairs), np.nan)
    if levels.layout.there.all():  # all topics have equal shares
        df[known] = len(levels.layout.there) - 1.0
    if levels.layout.there.all() or not len(known):
        return df
    # Pairs that share the same judges share sums of levels.
    masks, mask = np.unique(shared[known], axis=0, return_inverse=True)
    keys = mask.reshape(-1, 1) * n_systems + pairs[known]
    sums, place = np.unique(keys, return_inverse=True)
    place = place.reshape(keys.shape)
    weights = np.zeros((len(sums), n_systems, n_judges))
    of_mask = masks[sums // n_systems]
    weights[np.arange(len(sums)), sums % n_systems] = of_mask / of_mask.sum(axis=1, keepdims=True)
    shares = levels.influences(weights.reshape(len(sums), -1))
    step = max(1, AT_ONCE // (n_systems * n_judges))
    for start in range(0, len(known), step):
        part = slice(start, start + step)
        a = shares(*place[part].T)
        df[known[part]] = a.sum(axis=1) ** 2 / (a**2).sum(axis=1) - 1.0
    return np.asarray(np.maximum(df, 1.0))


def _with_judges(
    over_topics: np.ndarray, df: np.ndarray, spread: np.ndarray, noise: np.ndarray, n: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return variance and df with random judges, from the variance `spread` over n judges.

    `noise` is the part of `spread` that is due to chance.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        added = np.maximum(0.0, (spread - noise) / n)
        variance = over_topics + added
        more = ((spread / n) ** 2 + (noise / n) ** 2 / df) / (n - 1.0)
        both = variance**2 / (over_topics**2 / df + more)
    return variance, np.where(added > 0.0, both, df)


def _judges_add(
    levels: Levels, pairs: np.ndarray, n: np.ndarray, noise: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return J and its df by all systems: the larger of the pooled and the moderated value."""
    fit = levels.additive
    free = fit.df
    rest = fit.residuals(np.nan_to_num(levels.mu)[None])[0]
    if free <= 0.0:
        return np.zeros(len(pairs)), np.full(len(pairs), np.inf)
    chance = levels.shrink * float((fit.residuals(levels.moved) ** 2).sum())
    pooled = np.maximum(0.0, 2.0 * (float((rest**2).sum()) - chance) / (free * n))
    variance, weight = _moderated(rest, fit.free, levels.kept.sum(axis=1) - 1.0, free)
    a, b = pairs.T
    by_system = np.maximum(0.0, (variance[a] + variance[b] - noise) / n)
    own_df = satterthwaite((variance[a], variance[b]), (weight[a], weight[b]))
    own_df = np.minimum(own_df, free)
    is_own = by_system > pooled
    return np.where(is_own, by_system, pooled), np.where(is_own, own_df, free)


def _moderated(
    rest: np.ndarray, projected: np.ndarray, df: np.ndarray, most: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return variances over judges by system, moderated towards a common value, and their df.

    `rest` are residuals [system, judge] of system + judge, and `projected` their expected squares
    for a variance of 1; `df` has the degrees of freedom of each system, `most` those of all.
    """
    known = (df > 0.0) & (projected.sum(axis=1) > 0.0)
    own, half = (rest[known] ** 2).sum(axis=1) / projected[known].sum(axis=1), df[known] / 2.0
    own = np.maximum(own, LEAST_SHARE * np.median(own)) if len(own) else own
    room = max(0.0, most - float(df[known].mean())) if len(own) else 0.0
    if not len(own) or not own.all():
        prior, strength = float(own.mean()) if len(own) else 0.0, room
    else:
        logs = np.log(own) - digamma(half) + np.log(half)
        excess = float(logs.var(ddof=1) - polygamma(1, half).mean()) if len(own) > 1 else 0.0
        strength, prior = np.inf, float(own.mean())
        if excess > 0.0:
            strength = 2.0 * _inverse_trigamma(excess)
            prior = float(np.exp(logs.mean() + digamma(strength / 2.0) - np.log(strength / 2.0)))
        strength = min(strength, room)
    variance, weight = np.full(len(rest), prior), np.full(len(rest), max(strength, 1.0))
    weight[known] = strength + df[known]
    variance[known] = (strength * prior + df[known] * own) / weight[known]
    return variance, weight


def _inverse_trigamma(value: float) -> float:
    """Return x with trigamma(x) = value, by Newton's method on 1 / trigamma as in limma."""
    if value > 1e7:
        return float(1.0 / np.sqrt(value))
    x = 0.5 + 1.0 / value
    for _ in range(50):
        t = float(polygamma(1, x))
        step = t * (1.0 - t / value) / float(polygamma(2, x))
        x += step
        if -step / x < 1e-10:
            break
    return float(x)


def level_intervals(levels: Levels, confidence: float, *, is_fixed: bool = False) -> np.ndarray:
    """Return intervals [system, 2] of means with random topics and judges, each for one system."""
    n = np.maximum(levels.kept.sum(axis=1), 1).astype(float)
    shift = levels.moved.sum(axis=2) / n
    over_topics = levels.shrink * (shift**2).sum(axis=0)
    df = np.full(len(n), len(levels.moved) - 1.0)
    if not is_fixed:
        several = np.where(n > 1.0, n - 1.0, np.nan)
        centred = (levels.moved - shift[:, :, None]) * levels.kept
        noise = levels.shrink * (centred**2).sum(axis=(0, 2)) / several
        middle = np.nansum(levels.mu, axis=1) / n
        spread = (((np.nan_to_num(levels.mu) - middle[:, None]) * levels.kept) ** 2).sum(
            axis=1
        ) / several
        over_topics, df = _with_judges(over_topics, df, spread, noise, np.where(n > 1, n, np.nan))
    return t_intervals(levels.means, np.sqrt(over_topics), df, confidence)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OtherJudges:
    """Decisions about other judges, of whom those here are a sample; arrays by row or pair."""

    rank_set: np.ndarray
    """[row, 2]: the ranks that its own comparisons leave to each row; they contain the ranks that
    the comparisons by these judges leave."""
    standard_error: np.ndarray
    """Standard error of each difference, with topics and judges random."""
    pvalue_adjusted: np.ndarray
    """p-value of each pair, adjusted by Holm's correction over all pairs."""
    significant: np.ndarray
    swap: float
    """Expected share of the pairs that the same number of other judges orders otherwise."""

    @property
    def could_be_first(self) -> np.ndarray:
        """Whether each row's rank set begins at 1."""
        return np.asarray(self.rank_set[:, 0] == 1)


def for_other_judges(cells: np.ndarray, family: Family) -> OtherJudges:
    """Return what holds for other judges of complete values [row, topic, judge].

    The rule is that of `compare` for scores with judges: topics and judges are random, and what
    judges add to the variance of a difference is learned from all rows. The pair's own variance
    must show the difference as well. Nothing is claimed that the `family` of these judges does not
    claim.
    """
    means, pairs = cells.mean(axis=(1, 2)), family.pairs
    tests = judge_tests(levels_of(np.ascontiguousarray(cells)), pairs)
    direction = np.sign(tests.difference)
    adjusted = np.maximum(decisions.adjust(tests.pvalue, "holm"), tests.pvalue_own)
    by_run = decisions.own_pvalues(tests.pvalue, pairs, len(means), "holm")
    claimed = decisions.own_claims(direction, pairs, by_run, means, family.alpha)
    (low, high), here = (
        decisions.own_decisions(pairs, claimed, means, family.order).rank_set.T,
        family.rank_set.T,
    )
    adjusted = np.maximum(adjusted, family.pvalue_adjusted)
    together = decisions.claims_of(direction, pairs, adjusted, means, family.alpha)
    return OtherJudges(
        rank_set=np.stack([np.minimum(low, here[0]), np.maximum(high, here[1])], axis=1),
        standard_error=tests.standard_error,
        pvalue_adjusted=adjusted,
        significant=together != 0,
        swap=swap_share(cells.mean(axis=1)),
    )

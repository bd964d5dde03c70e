"""Means of many cheap scores, corrected by few expensive ones: prediction-powered inference.

People score n topics; a judge scores the same and N more. The judge's mean over many topics is
precise but biased; the bias is estimated on the topics of both, and subtracted (Angelopoulos, Duchi
& Zrnic 2023, arXiv:2311.01453). The topics of people and those that only the judge has are
independent samples. Under the hypothesis of no difference the signs of both may be flipped, so the
largest t of all pairs has the same null distribution by flips as with one sample.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from steadyrank.stats.interval import satterthwaite, t_half_width, t_test
from steadyrank.stats.pairs import decisions
from steadyrank.stats.pairs.decisions import OwnDecisions, Placed, compact_letters
from steadyrank.stats.pairs.max_t import max_t, unit_max_t
from steadyrank.stats.pairs.result import all_pairs, tiny_of
from steadyrank.stats.pairs.sign_flips import Flips
from steadyrank.stats.pairs.tests import moments
from steadyrank.stats.pairs.topic_design import units_in_strata
from steadyrank.stats.run_means import best_first, ranks_of

FEWEST_USED = 2
"""Fewest further topics of the judge, for which the error of the mean can be estimated."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedScores:
    """Scores of the same runs by people and by a judge, complete."""

    human: np.ndarray
    """[run, topic] on the topics that people judged."""
    judge: np.ndarray
    """[run, topic] on the same topics."""
    more: np.ndarray
    """[run, topic] by the judge on further topics."""

    @property
    def n(self) -> int:
        """Number of topics that people judged."""
        return int(self.human.shape[1])

    @property
    def n_more(self) -> int:
        """Number of topics that only the judge judged."""
        return int(self.more.shape[1])

    @property
    def everything(self) -> np.ndarray:
        """The judge's scores on all topics, those of people first."""
        return np.concatenate([self.judge, self.more], axis=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """The weight of the judge."""

    value: float
    """lambda: 0 is people's estimate alone, 1 uses the judge's differences unchanged."""
    is_estimated: bool
    """Whether it was estimated from these data, which widens the intervals."""


About = Literal["these", "other"]
"""The topics that an estimate is about: these, of which people judged a sample, or others."""


def best_weight(scores: JudgedScores, about: About = "other") -> Weight:
    r"""Return the lambda with the least variance of the corrected means, one for all rows.

    \(\lambda = \mathrm{clip}(\mathrm{cov}_L(Y, F) / ((1 + n/N) \mathrm{var}_{L \cup U} F), 0, 1)\),
    covariances and variances summed over the rows; about these topics
    \(\mathrm{clip}(\mathrm{cov}_L(Y, F) / \mathrm{var}_L F, 0, 1)\). It is 0, and not estimated, if
    the judge has no further topics or does not vary.
    """
    is_other = about == "other"
    if scores.n_more < (FEWEST_USED if is_other else 1) or scores.n < 2:
        return Weight(value=0.0, is_estimated=False)
    everything = scores.everything if is_other else scores.judge
    spread = _centred(everything)
    variance = float((spread**2).sum()) / (everything.shape[1] - 1)
    if variance <= spread.size * tiny_of(everything) ** 2:
        return Weight(value=0.0, is_estimated=False)
    covariance = float((_centred(scores.human) * _centred(scores.judge)).sum()) / (scores.n - 1)
    best = covariance / variance
    if is_other:
        best /= 1.0 + scores.n / scores.n_more
    return Weight(value=min(max(best, 0.0), 1.0), is_estimated=True)


def shared_weight(scores: JudgedScores, about: About = "other") -> Weight:
    """Return the lambda with the least mean variance of all differences of two runs.

    Sums of squared differences over all pairs are a multiple of those of deviations from the runs'
    mean by topic: so the rows are centred over runs. One lambda for all keeps differences additive.
    """
    return best_weight(
        JudgedScores(
            human=scores.human - scores.human.mean(axis=0),
            judge=scores.judge - scores.judge.mean(axis=0),
            more=scores.more - scores.more.mean(axis=0),
        ),
        about,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CorrectedParts:
    """A corrected estimate as the sum of two independent means: of residuals, and of the judge."""

    residual: np.ndarray
    """[run, topic]: Y - lambda F on the topics of people."""
    followed: np.ndarray
    """[run, topic]: lambda F on the further topics; empty if lambda is 0."""
    weight: Weight
    is_finite: bool = False
    """Whether the residuals are for a finite population (`parts_of_these`)."""

    @property
    def mean(self) -> np.ndarray:
        """Corrected mean of each run."""
        means: np.ndarray = self.residual.mean(axis=1)
        return means + self.followed.mean(axis=1) if self.has_two else means

    @property
    def has_two(self) -> bool:
        """Whether the judge's further topics are used."""
        return bool(self.followed.shape[1])


def corrected_parts(scores: JudgedScores, weight: Weight) -> CorrectedParts:
    """Return the two parts of the estimate for this lambda."""
    followed = scores.more if weight.value > 0.0 else scores.more[:, :0]
    return CorrectedParts(
        residual=scores.human - weight.value * scores.judge,
        followed=weight.value * followed,
        weight=weight,
    )


def parts_of_these(scores: JudgedScores, weight: Weight) -> CorrectedParts:
    """Return one part with mean and variance of the estimate for these T topics.

    lambda mean_all F + mean_L(Y - lambda F), with the variance (1 - n/T) (n-1)/(n-2)
    var_L(Y - lambda F) / n: the residuals' deviations are shrunk by the root of its ratio to
    var_L / n, so that tests for a sample of an infinite population are valid.
    """
    n = scores.n
    residual = scores.human - weight.value * scores.judge
    mean = residual.mean(axis=1, keepdims=True)
    paid = (n - 1.0) / (n - 2.0) if weight.is_estimated else 1.0
    shrunk = math.sqrt(paid * scores.n_more / (n + scores.n_more)) * (residual - mean)
    followed = weight.value * scores.everything.mean(axis=1, keepdims=True)
    return CorrectedParts(
        residual=mean + followed + shrunk,
        followed=scores.more[:, :0],
        weight=weight,
        is_finite=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Uncertainty:
    """Standard errors, and their degrees of freedom."""

    error: np.ndarray
    df: np.ndarray

    def half_width(self, confidence: float) -> np.ndarray:
        """Return half widths of intervals, each of which is valid alone."""
        return np.asarray(t_half_width(self.error, self.df, confidence))


def mean_uncertainty(parts: CorrectedParts) -> Uncertainty:
    """Return the uncertainty of each run's corrected mean."""
    residual, followed = parts.residual, parts.followed
    further = followed.var(axis=1, ddof=1) if parts.has_two else np.zeros(len(residual))
    return _uncertainty(parts, residual.var(axis=1, ddof=1), further)


def difference_uncertainty(parts: CorrectedParts, pairs: np.ndarray) -> Uncertainty:
    """Return the uncertainty of the difference of each pair's corrected means."""
    further = np.zeros(len(pairs))
    if parts.has_two:
        further = moments(parts.followed, pairs).sd ** 2
    return _uncertainty(parts, moments(parts.residual, pairs).sd ** 2, further)


def _uncertainty(parts: CorrectedParts, own: np.ndarray, further: np.ndarray) -> Uncertainty:
    """Return the uncertainty, given the variances over topics of both parts.

    If lambda was estimated, one degree of freedom less is used: n - 2 in the variance, and one less
    by Welch and Satterthwaite. Without that, intervals of 15 topics at level .95 contain the true
    value in .937 of the cases.
    """
    n, n_more = parts.residual.shape[1], parts.followed.shape[1]
    paid = 1 if parts.weight.is_estimated else 0
    first = further / n_more if parts.has_two else np.zeros_like(own)
    second = own / n if parts.is_finite else own / n * (n - 1.0) / (n - 1.0 - paid)
    df = satterthwaite((first, second), (max(n_more - 1.0, 1.0), n - 1.0), without=n - 1.0)
    return Uncertainty(error=np.sqrt(first + second), df=np.maximum(df - paid, 1.0))


def _centred(rows: np.ndarray) -> np.ndarray:
    return np.asarray(rows - rows.mean(axis=1, keepdims=True))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunRanking(Placed):
    """Runs, and one family of decisions about all pairs of them, as `all_pairs` lists these."""

    mean: np.ndarray
    mean_interval: np.ndarray
    """[run, 2]: intervals of means, each valid for one run."""
    rank: np.ndarray
    own: OwnDecisions
    """Decisions by each run's own comparisons."""
    letters: tuple[str, ...]
    """Runs that share a letter are not significantly different; empty if too many are needed."""
    difference: np.ndarray
    error: np.ndarray
    """Standard error of each difference."""
    half_width: np.ndarray
    """Half width of each difference's interval, valid for one pair."""
    interval: np.ndarray
    """[pair, 2]: simultaneous intervals; they exclude 0 exactly if `significant`."""
    pvalue: np.ndarray
    """p-value of each pair, not corrected."""
    pvalue_adjusted: np.ndarray
    significant: np.ndarray
    n_patterns: int
    """Number of sign patterns for the adjusted p-values."""

    @property
    def order(self) -> list[int]:
        """Positions of the runs, best mean first."""
        return [int(run) for run in best_first(self.mean)]

    @property
    def claimed(self) -> np.ndarray:
        """1 or -1 if the first or the second run of a pair is significantly better, else 0."""
        return np.where(self.significant, np.sign(self.difference), 0.0).astype(int)

    @property
    def significant_share(self) -> float:
        """Share of the pairs that differ significantly."""
        return float(np.mean(self.significant))


def rank_runs(
    parts: CorrectedParts,
    *,
    places: np.ndarray,
    alpha: float,
    n_samples: int,
    seed: int,
    jobs: int | None = None,
) -> RunRanking:
    """Return the ranking by corrected means, or by plain means if there is only one part.

    Pairs are tested by the corrected t and sign flips of the topics (`max_t`), stepdown. People's
    topics and the judge's are two strata. `places` are the positions of the topics of both among
    the columns of a sign pattern, because random numbers are assigned to topics by name.
    """
    mean = parts.mean
    pairs = all_pairs(len(mean))
    difference = mean[pairs[:, 0]] - mean[pairs[:, 1]]
    spread = difference_uncertainty(parts, pairs)
    tiny = tiny_of(parts.residual)
    error = np.where(spread.error <= tiny, 0.0, spread.error)
    flips: Flips = {"alpha": alpha, "n_samples": n_samples, "seed": seed, "jobs": jobs}
    if parts.has_two:
        units = units_in_strata([parts.residual, parts.followed], np.ones(2))
        together = unit_max_t(
            units, pairs, estimate=(difference, error), df=spread.df, places=places, **flips
        )
    else:
        together = max_t(parts.residual, pairs, **flips)
    adjusted = np.nan_to_num(together.pvalue, nan=1.0)
    lead = np.where(np.abs(difference) <= tiny, 0.0, np.sign(difference)).astype(int)
    claimed = np.where(adjusted <= alpha, lead, 0)
    own = np.where(together.own <= alpha, lead[:, None], 0)
    wins = decisions.beaten(len(mean), pairs, claimed)
    half = mean_uncertainty(parts).half_width(1.0 - alpha)
    limits = difference[:, None] + together.width * [-1.0, 1.0]
    return RunRanking(
        mean=mean,
        mean_interval=np.stack([mean - half, mean + half], axis=1),
        rank=ranks_of(mean),
        own=decisions.own_decisions(pairs, own, mean, best_first(mean).tolist()),
        letters=tuple(compact_letters(wins | wins.T, best_first(mean)) or ()),
        difference=difference,
        error=spread.error,
        half_width=spread.half_width(1.0 - alpha),
        interval=decisions.agreeing_intervals(limits, claimed, math.inf),
        pvalue=t_test(difference, error, spread.df, tiny)[1],
        pvalue_adjusted=adjusted,
        significant=claimed != 0,
        n_patterns=together.n_patterns,
    )

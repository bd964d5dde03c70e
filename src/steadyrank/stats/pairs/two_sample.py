"""Do two runs differ that were measured on different topics? Welch's t test, for many pairs.

For scores from two collections, or with topics that only one of two runs has (Lin & Hauptmann 2005,
footnote 2). Compare runs that share their topics by a paired test: topics differ far more than
runs, and only a paired test removes the topics' part of the variance.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

from steadyrank.stats.inputs import checked
from steadyrank.stats.interval import satterthwaite, t_intervals
from steadyrank.stats.pairs.effects import (
    EffectSizes,
    cliffs_delta,
    effect_sizes,
    hedges_correction,
    read_effect,
)
from steadyrank.stats.pairs.result import (
    NO_DIFFERENCE,
    TOO_FEW,
    ZERO_VARIANCE,
    PairTests,
    degenerate_flags,
)
from steadyrank.stats.pairs.tests import row_moments


class RunMoments(NamedTuple):
    """Moments of each run over the topics that it has."""

    n: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    largest: np.ndarray

    @property
    def standard_error(self) -> np.ndarray:
        """Standard error of the mean; NaN for a single topic."""
        return np.asarray(self.sd / np.sqrt(np.maximum(self.n, 1)))

    def intervals(self, confidence: float) -> np.ndarray:
        """Return Student's limits of each mean, [run, 2]."""
        return t_intervals(self.mean, self.standard_error, np.maximum(self.n - 1, 1), confidence)


def run_moments(scores: np.ndarray) -> RunMoments:
    """Return number, mean and standard deviation of each run's scores, without missing ones."""
    n, mean, sd, _, largest = row_moments(scores)
    return RunMoments(n, mean, sd, largest)


def welch(scores: np.ndarray, pairs: np.ndarray) -> PairTests:
    """Welch's t test: t = (mean(a) - mean(b)) / sqrt(va / na + vb / nb).

    Degrees of freedom are Satterthwaite's. Assumes that the topics of the two runs are independent
    samples; if they are the same topics, the test is valid only if the scores are uncorrelated, and
    has far less power than `paired_t`. `n` is the smaller of the two numbers of topics.

    >>> scores = np.array([[0.3, 0.5, 0.4, np.nan, np.nan], [np.nan, np.nan, 0.1, 0.5, 0.2]])
    >>> test = welch(scores, np.array([[0, 1]]))
    >>> round(float(test.difference[0]), 4), round(float(test.pvalue[0]), 4)
    (0.1333, 0.3939)
    """
    scores, pairs = checked(scores, pairs)
    runs = run_moments(scores)
    first, second = pairs.T
    mean = runs.mean[first] - runs.mean[second]
    variances = np.square(runs.standard_error)
    error = np.sqrt(variances[first] + variances[second])
    df = satterthwaite(variances[pairs.T], runs.n[pairs.T] - 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = mean / error
        flag = _flags(runs, pairs, mean)
        t[(flag == NO_DIFFERENCE) | (flag == TOO_FEW)] = np.nan
        t[flag == ZERO_VARIANCE] = np.copysign(np.inf, mean[flag == ZERO_VARIANCE])
        pvalue = np.minimum(1.0, 2.0 * stdtr(df, -np.abs(t)))
    pvalue[flag == NO_DIFFERENCE], pvalue[flag == ZERO_VARIANCE] = 1.0, 0.0
    constant = (flag == NO_DIFFERENCE) | (flag == ZERO_VARIANCE)
    return PairTests(
        n=np.minimum(runs.n[first], runs.n[second]),
        difference=mean,
        statistic=t,
        pvalue=pvalue,
        flag=flag,
        method="Welch's t of two samples, Satterthwaite's degrees of freedom, two-sided",
        standard_error=np.where(constant, 0.0, error),
        df=df,
    )


def _flags(runs: RunMoments, pairs: np.ndarray, mean: np.ndarray) -> np.ndarray:
    n, sd, largest = (values[pairs] for values in (runs.n, runs.sd, runs.largest))
    return degenerate_flags(n.min(axis=1), mean, sd.max(axis=1), largest.max(axis=1))


def two_sample_effects(scores: np.ndarray, pairs: np.ndarray) -> EffectSizes:
    """Return effect sizes of runs with different topics; wins and ties count shared topics.

    `paired_d` is Cohen's d of two samples, difference / sqrt((va + vb) / 2), as is `residual_d`;
    Hedges' correction has na + nb - 2 degrees of freedom. Cliff's delta is over all couples of a
    topic of one run and a topic of the other.
    """
    scores, pairs = checked(scores, pairs)
    runs = run_moments(scores)
    n, variance = runs.n[pairs], np.square(runs.sd[pairs])
    mean, sd = runs.mean[pairs[:, 0]] - runs.mean[pairs[:, 1]], np.sqrt(variance.mean(axis=1))
    flag = _flags(runs, pairs, mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = np.where(flag == NO_DIFFERENCE, 0.0, mean / sd)
    effect[flag == TOO_FEW] = np.nan
    correction = hedges_correction(np.maximum(n.sum(axis=1) - 2, 1))
    return replace(
        effect_sizes(scores, pairs),
        n=n.min(axis=1),
        difference=mean,
        sd=sd,
        paired_d=effect,
        reading=read_effect(effect),
        hedges_g=np.where(np.isinf(effect), effect, correction * effect),
        residual_d=effect,
        cliffs_delta=np.array(
            [cliffs_delta(*(run[~np.isnan(run)] for run in scores[pair])) for pair in pairs]
        ),
        flag=flag,
    )

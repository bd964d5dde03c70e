"""How far off a judge's scores are: by run, and for runs of its own kin.

A judge that is off by the same for all runs moves no rank: what counts is how the bias spreads
over runs. Runs share topics, so whatever is said of groups of runs is tested over topics.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from scipy.special import stdtr, stdtrit

from steadyrank.stats.interval import Interval
from steadyrank.stats.pairs.result import CONSTANT


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bias:
    """Judge's score less people's, mean over the topics of both."""

    by_run: np.ndarray
    interval: np.ndarray
    """[run, 2]: Student's, one run at a time."""
    mean: float
    spread: float
    """Standard deviation over runs."""
    spread_by_chance: float
    """What topics alone would make of it, were the bias the same for all runs."""


def bias_of_runs(human: np.ndarray, judge: np.ndarray, *, confidence: float = 0.95) -> Bias:
    """The bias of each run's mean, from scores [run, topic] of the same topics.

    >>> found = bias_of_runs(np.array([[0.1, 0.3], [0.2, 0.2]]), np.array([[0.2, 0.4], [0.5, 0.3]]))
    >>> found.by_run.round(3).tolist(), round(found.spread, 4)
    ([0.1, 0.2], 0.0707)
    """
    off = judge - human
    n_runs, n = off.shape
    by_run = off.mean(axis=1)
    half = stdtrit(n - 1.0, 0.5 + 0.5 * confidence) * off.std(axis=1, ddof=1) / np.sqrt(n)
    # Centred over runs: what topics do to all runs alike does not spread them.
    apart = off - off.mean(axis=0)
    chance = apart.var(axis=1, ddof=1).sum() / (n_runs - 1.0) / n if n_runs > 1 else np.nan
    return Bias(
        by_run=by_run,
        interval=np.stack([by_run - half, by_run + half], axis=1),
        mean=float(by_run.mean()),
        spread=float(by_run.std(ddof=1)) if n_runs > 1 else float("nan"),
        spread_by_chance=float(np.sqrt(chance)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KinTest:
    """Whether a judge favours some runs: its bias for them less that for others."""

    difference: float
    interval: Interval
    pvalue: float
    welch_over_runs: float
    """The p-value of a test that takes runs for a sample: too small, since runs share topics."""


def favours_kin(
    human: np.ndarray,
    judge: np.ndarray,
    kin: np.ndarray,
    others: np.ndarray,
    *,
    confidence: float = 0.95,
) -> KinTest:
    """A t test over topics of the judge's bias for the kin less that for the others.

    `kin` and `others` are rows of the scores [run, topic]. D_t = mean over kin of (F - Y) less the
    mean over others, topic by topic.

    >>> rng = np.random.default_rng(1)
    >>> human = rng.normal(size=(4, 9))
    >>> judge = human + rng.normal(size=(4, 9)) + [[5], [5], [0], [0]]
    >>> favours_kin(human, judge, np.array([0, 1]), np.array([2, 3])).pvalue < 0.001
    True
    """
    off = judge - human
    apart = off[kin].mean(axis=0) - off[others].mean(axis=0)
    n, difference = len(apart), float(apart.mean())
    error = float(apart.std(ddof=1)) / np.sqrt(n)
    size = CONSTANT * max(1.0, float(np.abs(apart).max()))
    if error <= size:
        pvalue, half = float(abs(difference) <= size), 0.0
    else:
        pvalue = float(2.0 * stdtr(n - 1.0, -abs(difference) / error))
        half = float(stdtrit(n - 1.0, 0.5 + 0.5 * confidence) * error)
    return KinTest(
        difference=difference,
        interval=Interval(difference - half, difference + half),
        pvalue=pvalue,
        welch_over_runs=welch_pvalue(off[kin].mean(axis=1), off[others].mean(axis=1)),
    )


def welch_pvalue(first: np.ndarray, second: np.ndarray) -> float:
    """Welch's two-sided test of two independent samples; NaN below two in either.

    >>> round(welch_pvalue(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0, 8.0])), 4)
    0.0999
    """
    if min(len(first), len(second)) < 2:
        return float("nan")
    size = CONSTANT * max(1.0, float(np.abs(np.concatenate([first, second])).max()))
    if max(np.ptp(first), np.ptp(second)) <= size:
        return float(abs(first[0] - second[0]) <= size)
    return float(scipy.stats.ttest_ind(first, second, equal_var=False).pvalue)

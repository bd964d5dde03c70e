"""Who beats whom: one family of decisions, and all that a table says by it.

Corrected p-values, marks, letters, rank sets and intervals are five ways to tell the same
decisions. They are made here, once, so that no two of them can contradict each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from steadyrank.stats.pairs.result import PairTests

OPEN_END = float(np.finfo(np.float64).tiny)
"""Stands for "anything above 0" where a stepdown decides what its first step does not."""


def comparison_alpha(pvalues: np.ndarray, correction: str, alpha: float) -> float:
    """The level of each comparison's own interval, such that the intervals suit the decisions.

    Bonferroni's and Holm's intervals hold together with confidence 1 - alpha: they are taken at
    alpha / m. Benjamini and Hochberg's R rejected hypotheses have intervals at R alpha / m, of
    which a share of alpha misses on average (Benjamini & Yekutieli 2005,
    doi:10.1198/016214504000001907).

    >>> comparison_alpha(np.array([0.001, 0.02, 0.9]), "bh", 0.06)
    0.04
    """
    family = pvalues[~np.isnan(pvalues)]
    if correction == "none" or not family.size:
        return alpha
    if correction == "bh":
        ranked = np.sort(family) <= alpha * np.arange(1, family.size + 1) / family.size
        rejected = int(np.flatnonzero(ranked)[-1]) + 1 if ranked.any() else 1
        return float(alpha * rejected / family.size)
    return float(alpha / family.size)


def claims(
    tests: PairTests, pairs: np.ndarray, adjusted: np.ndarray, means: np.ndarray, alpha: float
) -> np.ndarray:
    """1 or -1 where the first or the second run of a pair is shown to be better, else 0.

    A test may speak for the run with the lower mean: rank tests do with skewed differences, and
    every test does where runs lack topics. Then nothing is claimed, which errs on the safe side.
    """
    direction = np.sign(tests.difference) if tests.direction is None else tests.direction
    return claims_of(direction, pairs, adjusted, means, alpha)


def claims_of(
    direction: np.ndarray, pairs: np.ndarray, adjusted: np.ndarray, means: np.ndarray, alpha: float
) -> np.ndarray:
    """The same of the sign that each test speaks for."""
    lead = np.sign(np.nan_to_num(means[pairs[:, 0]] - means[pairs[:, 1]]))
    rejected = np.nan_to_num(adjusted, nan=1.0) <= alpha
    return np.where(rejected & (direction == lead), np.nan_to_num(direction), 0.0).astype(int)


class Decided(Protocol):
    """Decisions about pairs of runs, as `compare` makes them."""

    @property
    def runs(self) -> Sequence[str]:
        """Their names."""
        ...

    @property
    def pairs(self) -> np.ndarray:
        """[pair, 2]: positions of the two runs."""
        ...

    @property
    def significant(self) -> np.ndarray:
        """One per pair."""
        ...

    @property
    def comparison_alpha(self) -> float:
        """The level of a single comparison that the correction's first step amounts to."""
        ...


def agreeing_intervals(limits: np.ndarray, claimed: np.ndarray) -> np.ndarray:
    """The limits [pair, 2], such that 0 lies outside exactly where a difference is claimed.

    A stepdown claims more than its first step, whose limits hold for all pairs together: all it
    adds is that the difference is above 0. Where nothing is claimed although the limits exclude
    0 (ties, Monte Carlo error, a test against the means), they are drawn to it.
    """
    low, high = limits.T.copy()
    low = np.where((claimed > 0) & ~(low > 0.0), OPEN_END, low)
    high = np.where((claimed < 0) & ~(high < 0.0), -OPEN_END, high)
    low = np.where((claimed <= 0) & (low > 0.0), 0.0, low)
    high = np.where((claimed >= 0) & (high < 0.0), 0.0, high)
    return np.stack([low, high], axis=1)


def beaten(n_runs: int, pairs: np.ndarray, claimed: np.ndarray) -> np.ndarray:
    """[run, run]: whether the run of the row is shown to be better than that of the column."""
    wins = np.zeros((n_runs, n_runs), bool)
    for sign in (1, -1):
        first, second = pairs[claimed == sign, ::sign].T
        wins[first, second] = True
    return wins


def rank_sets(wins: np.ndarray) -> np.ndarray:
    """[run, 2]: the best and the worst rank that the claims leave to each run.

    1 + the runs that beat it, to m - the runs that it beats. If all claims are right, which a
    correction for the family ensures with confidence 1 - alpha, every run's true rank lies in its
    set, all at once; equal runs share their ranks, and the set holds all of these (Mogstad,
    Romano, Shaikh & Wilhelm 2024, doi:10.1093/restud/rdad006).

    >>> rank_sets(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], bool)).tolist()
    [[1, 2], [1, 2], [3, 3]]
    """
    return np.stack([1 + wins.sum(axis=0), len(wins) - wins.sum(axis=1)], axis=1)

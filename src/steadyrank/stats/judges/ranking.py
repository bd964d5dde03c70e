"""A ranking of runs with its decisions: means, differences, intervals, rank sets.

People's judgments alone, a judge's alone, and the judge's corrected by people's each give one; all
three are made in the same way, each from one family of decisions about all pairs.

The topics of people and those of the judge alone are independent samples. Under the hypothesis of
no difference the signs of either may be flipped, so the largest t of all pairs has the same null
distribution by flips as with one sample (`steadyrank.stats.pairs.max_t`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np
from scipy.special import stdtr

from steadyrank.stats.judges.corrected import (
    CorrectedParts,
    difference_uncertainty,
    mean_uncertainty,
)
from steadyrank.stats.pairs import decisions
from steadyrank.stats.pairs.decisions import compact_letters
from steadyrank.stats.pairs.max_t import Flips, MaxT, max_t
from steadyrank.stats.pairs.result import CONSTANT, all_pairs
from steadyrank.stats.pairs.skewed import limits_of
from steadyrank.stats.pairs.topic_design import units_in_strata
from steadyrank.stats.pairs.unit_max_t import unit_max_t
from steadyrank.stats.run_means import best_first, ranks_of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunRanking:
    """Runs, and one family of decisions about all pairs of them, as `all_pairs` lists these."""

    mean: np.ndarray
    mean_interval: np.ndarray
    """[run, 2]: of each mean, one at a time."""
    rank: np.ndarray
    rank_set: np.ndarray
    """[run, 2]: the ranks that the decisions leave to each run, all at once."""
    could_be_first: np.ndarray
    """Which runs could be the best: one test of each against all others (`could_be_first`)."""
    letters: tuple[str, ...]
    """Runs that share a letter are not significantly different; empty where too many are needed."""
    difference: np.ndarray
    error: np.ndarray
    """Standard error of each difference."""
    half_width: np.ndarray
    """Of the interval of each difference alone, at the same level."""
    interval: np.ndarray
    """[pair, 2]: simultaneous; 0 lies outside exactly where `significant`."""
    pvalue: np.ndarray
    """Of each pair alone."""
    pvalue_adjusted: np.ndarray
    significant: np.ndarray
    n_patterns: int
    """Sign patterns behind the adjusted p-values."""

    @property
    def order(self) -> list[int]:
        """Positions of the runs, best mean first."""
        return [int(run) for run in best_first(self.mean)]

    @property
    def claimed(self) -> np.ndarray:
        """1 or -1 where the first or the second run of a pair is shown to be better, else 0."""
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
    """The ranking by corrected means, or by plain means where there is one part only.

    Student's tests of each pair, corrected for all pairs by studentized sign flips of the topics
    (`max_t`), stepdown. `places` are the places of the topics of both parts among all.
    """
    mean = parts.mean
    pairs = all_pairs(len(mean))
    difference = mean[pairs[:, 0]] - mean[pairs[:, 1]]
    spread = difference_uncertainty(parts, pairs)
    # Equal to rounding: no difference, or one without any spread.
    largest = max(1.0, float(np.abs(parts.residual).max()))
    same, constant = np.abs(difference) <= CONSTANT * largest, spread.error <= CONSTANT * largest
    statistic = _statistic(difference, spread.error, same, constant)
    flips: Flips = {"alpha": alpha, "n_samples": n_samples, "seed": seed, "jobs": jobs}
    if parts.has_two:
        together = two_part_max_t(parts, pairs, statistic, spread.df, places, **flips)
    else:
        together = max_t(parts.residual, pairs, **flips)
    adjusted = np.nan_to_num(together.pvalue, nan=1.0)
    claimed = np.where((adjusted <= alpha) & ~same, np.sign(difference), 0.0).astype(int)
    wins = decisions.beaten(len(mean), pairs, claimed)
    half = mean_uncertainty(parts).half_width(1.0 - alpha)
    limits = limits_of(difference, np.where(constant, 0.0, spread.error), together.reach)
    return RunRanking(
        mean=mean,
        mean_interval=np.stack([mean - half, mean + half], axis=1),
        rank=ranks_of(mean),
        rank_set=decisions.rank_sets(wins),
        could_be_first=together.first,
        letters=tuple(compact_letters(wins | wins.T, best_first(mean)) or ()),
        difference=difference,
        error=spread.error,
        half_width=spread.half_width(1.0 - alpha),
        interval=decisions.agreeing_intervals(limits, claimed),
        pvalue=np.where(np.isnan(statistic), 1.0, 2.0 * stdtr(spread.df, -np.abs(statistic))),
        pvalue_adjusted=adjusted,
        significant=claimed != 0,
        n_patterns=together.n_patterns,
    )


def _statistic(
    difference: np.ndarray, error: np.ndarray, same: np.ndarray, constant: np.ndarray
) -> np.ndarray:
    """t; ±inf for a difference without spread, NaN where there is neither."""
    t = difference / np.where(constant, 1.0, error)
    t = np.where(constant, np.copysign(np.inf, difference), t)
    return np.where(constant & same, np.nan, t)


def two_part_max_t(
    parts: CorrectedParts,
    pairs: np.ndarray,
    statistic: np.ndarray,
    df: np.ndarray,
    places: np.ndarray,
    **flips: Unpack[Flips],
) -> MaxT:
    """Adjusted p-values and critical values of the observed `statistic` of each pair, with its df.

    People's topics and the judge's are two strata. `places` says where the topics of the first
    part, then of the second, are among the columns of a pattern of signs: random numbers meet
    topics by their names. Infinite statistics (differences without spread) are rejected, and NaN
    (no difference at all) never.
    """
    units = units_in_strata([parts.residual, parts.followed], np.ones(2))
    return unit_max_t(units, pairs, t=statistic, n_draws=df + 1.0, places=places, **flips)

"""A ranking of runs with decisions: means, differences, intervals, rank sets.

There is one by people's judgments, one by a judge's, and one by the judge's corrected by people's.
All are computed in the same way, each from one family of decisions about all pairs.

The topics of people and those that only the judge has are independent samples. Under the hypothesis
of no difference the signs of both may be flipped, so the largest t of all pairs has the same null
distribution by flips as with one sample (`steadyrank.stats.pairs.max_t`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from steadyrank.stats.interval import t_test
from steadyrank.stats.judges.corrected import (
    CorrectedParts,
    difference_uncertainty,
    mean_uncertainty,
)
from steadyrank.stats.pairs import decisions
from steadyrank.stats.pairs.decisions import OwnDecisions, Placed, compact_letters
from steadyrank.stats.pairs.max_t import max_t, unit_max_t
from steadyrank.stats.pairs.result import all_pairs, tiny_of
from steadyrank.stats.pairs.sign_flips import Flips
from steadyrank.stats.pairs.topic_design import units_in_strata
from steadyrank.stats.run_means import best_first, ranks_of


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

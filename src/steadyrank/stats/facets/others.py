"""Decisions about all pairs that hold for other judges: the judges here are a sample of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steadyrank.data.levels import levels_of
from steadyrank.stats.facets.pairs import judge_tests
from steadyrank.stats.pairs import decisions
from steadyrank.stats.pairs.family import Family
from steadyrank.stats.planning.reversal import swap_share


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

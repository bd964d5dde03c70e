"""What holds for other judges, of whom those at hand are a sample: decisions about all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steadyrank.data.levels import levels_of
from steadyrank.stats.facets.pairs import judge_tests
from steadyrank.stats.pairs import decisions
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.planning.reversal import swap_share
from steadyrank.stats.run_means import in_order


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OtherJudges:
    """Decisions about other judges, of whom those here are a sample; arrays by row or pair."""

    own: decisions.OwnDecisions
    standard_error: np.ndarray
    """Standard error of each difference, with topics and judges random."""
    pvalue_adjusted: np.ndarray
    """p-value of each pair, adjusted by Holm's correction over all pairs."""
    significant: np.ndarray
    swap: float
    """Share of the pairs that as many other judges would be expected to order otherwise."""


def for_other_judges(cells: np.ndarray, names: Sequence[str], alpha: float) -> OtherJudges:
    """Return what holds for other judges of complete values [row, topic, judge].

    The rule is that of `compare` for scores with judges: topics and judges are random, and what
    judges add to the variance of a difference is learned from all rows. A pair is also required to
    show its difference by itself.
    """
    means, pairs = cells.mean(axis=(1, 2)), all_pairs(len(cells))
    tests = judge_tests(levels_of(np.ascontiguousarray(cells)), pairs)
    direction = np.sign(tests.difference)
    adjusted = np.maximum(decisions.adjust(tests.pvalue, "holm"), tests.pvalue_own)
    by_run = decisions.own_pvalues(tests.pvalue, pairs, len(means), "holm")
    claimed = decisions.own_claims(direction, pairs, by_run, means, alpha)
    return OtherJudges(
        own=decisions.own_decisions(pairs, claimed, means, in_order(means, names)),
        standard_error=tests.standard_error,
        pvalue_adjusted=adjusted,
        significant=decisions.claims_of(direction, pairs, adjusted, means, alpha) != 0,
        swap=swap_share(cells.mean(axis=1)),
    )

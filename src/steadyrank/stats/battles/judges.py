"""Judges of battles: what each of them says alone, and what other judges like them would say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steadyrank.data.levels import levels_of
from steadyrank.errors import InputError
from steadyrank.stats.battles.clusters import judged_values, judges_everything
from steadyrank.stats.battles.estimate import Estimate
from steadyrank.stats.battles.model import Design, fit, groups_of, is_identified
from steadyrank.stats.facets.pairs import FEWEST_JUDGES, judge_tests
from steadyrank.stats.pairs import decisions
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.planning.swaps import swap_share
from steadyrank.stats.run_means import in_order

MOST_JUDGES = 30
"""Largest number of judges that are described one by one."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgeFit:
    """What the battles of one judge say; NaN where they do not suffice."""

    judge: str
    n_battles: int
    strength: np.ndarray
    """Strength of each model in log odds, by this judge alone."""
    coefficient: np.ndarray
    """Coefficient of each covariate."""
    standard_error: np.ndarray
    """Standard error of each coefficient."""


def fits_by_judge(estimate: Estimate, codes: np.ndarray, names: tuple[str, ...]) -> list[JudgeFit]:
    """Return the fit of each judge's battles, with the covariates of the whole model."""
    return [
        _alone(estimate, np.flatnonzero(codes == place), name)
        for place, name in enumerate(names)
        if len(names) <= MOST_JUDGES
    ]


def _alone(estimate: Estimate, rows: np.ndarray, judge: str) -> JudgeFit:
    whole = estimate.fit.design
    design = Design(
        n_models=whole.n_models,
        a=whole.a[rows],
        b=whole.b[rows],
        outcome=whole.outcome[rows],
        covariates=whole.covariates[rows],
    )
    m = whole.n_models
    strength, coefficient, error = (
        np.full(n, np.nan) for n in (m, *[len(estimate.covariates)] * 2)
    )
    if len(groups_of(design)) == 1 and is_identified(design):
        try:
            own = fit(design)
        except InputError:  # it does not settle: this judge alone says too little
            own = None
        if own is not None:
            clusters = np.unique(estimate.first[rows], return_inverse=True)[1]
            strength, coefficient = own.strength, own.coefficient
            error = np.sqrt(np.diag(own.covariance(clusters))[m:])
    return JudgeFit(
        judge=judge,
        n_battles=len(rows),
        strength=strength,
        coefficient=coefficient,
        standard_error=error,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OtherJudges:
    """Decisions about other judges, of whom those here are a sample; arrays by model or pair."""

    own: decisions.OwnDecisions
    standard_error: np.ndarray
    """Standard error of each difference, with prompts and judges random."""
    pvalue_adjusted: np.ndarray
    """p-value of each pair, adjusted by Holm's correction over all pairs."""
    significant: np.ndarray
    swap: float
    """Share of the pairs that as many other judges would be expected to order otherwise."""


def other_judges(
    estimate: Estimate, prompts: np.ndarray, judges: np.ndarray, alpha: float
) -> OtherJudges:
    """Return what holds for other judges, where each judge judged everything.

    The rule is that of `compare` for scores with judges: topics and judges are random, and what
    judges add to the variance of a difference is learned from all models. A pair is also required
    to show its difference by itself.
    """
    cells, pairs = judged_values(estimate.fit, prompts, judges), all_pairs(len(estimate.names))
    tests = judge_tests(levels_of(np.ascontiguousarray(cells.transpose(0, 2, 1))), pairs)
    strength, direction = estimate.fit.strength, np.sign(tests.difference)
    adjusted = np.maximum(decisions.adjust(tests.pvalue, "holm"), tests.pvalue_own)
    by_run = decisions.own_pvalues(tests.pvalue, pairs, len(strength), "holm")
    claimed = decisions.own_claims(direction, pairs, by_run, strength, alpha)
    order = in_order(strength, estimate.names)
    return OtherJudges(
        own=decisions.own_decisions(pairs, claimed, strength, order),
        standard_error=tests.standard_error,
        pvalue_adjusted=adjusted,
        significant=decisions.claims_of(direction, pairs, adjusted, strength, alpha) != 0,
        swap=swap_share(cells.mean(axis=2)),
    )


def is_panel(prompts: np.ndarray, judges: np.ndarray, n_judges: int) -> bool:
    """Return whether the judges are enough to be a sample, and each judged everything."""
    return n_judges >= FEWEST_JUDGES and judges_everything(prompts, judges)

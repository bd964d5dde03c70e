"""Judges of battles: what each of them says alone, and what other judges like them would say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steadyrank.errors import InputError
from steadyrank.stats.battles.clusters import judged_values, judges_everything
from steadyrank.stats.battles.estimate import Estimate
from steadyrank.stats.battles.model import Design, fit, is_identified
from steadyrank.stats.facets.others import OtherJudges, for_other_judges
from steadyrank.stats.facets.pairs import FEWEST_JUDGES

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


def fits_by_judge(estimate: Estimate) -> tuple[JudgeFit, ...]:
    """Return the fit of each judge's battles, with the covariates of the whole model."""
    codes, names = estimate.judges
    return tuple(
        _alone(estimate, np.flatnonzero(codes == place), name)
        for place, name in enumerate(names)
        if len(names) <= MOST_JUDGES
    )


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
    if design.is_connected and is_identified(design):
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


def other_judges(estimate: Estimate, alpha: float) -> OtherJudges:
    """Return what holds for other judges, where each judge judged everything."""
    cells = judged_values(estimate.fit, estimate.prompts[0], estimate.judges[0])
    return for_other_judges(cells.transpose(0, 2, 1), estimate.names, alpha)


def is_panel(estimate: Estimate) -> bool:
    """Return whether the judges are enough to be a sample, and each judged everything."""
    (prompts, names), (judges, judge_names) = estimate.prompts, estimate.judges
    enough = len(judge_names) >= FEWEST_JUDGES and len(names) > 1
    return enough and judges_everything(prompts, judges)

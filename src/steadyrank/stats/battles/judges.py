"""Judges of battles: what each of them says alone, and what other judges like them would say."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
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
    """What the battles of one judge say."""

    judge: str
    n_battles: int
    strength: np.ndarray
    """Strength of each model in log odds, by this judge alone."""
    coefficient: np.ndarray
    """Coefficient of each covariate."""
    standard_error: np.ndarray
    """Standard error of each coefficient."""


def fits_by_judge(estimate: Estimate) -> Iterator[JudgeFit]:
    """Return the fit of each judge whose battles suffice, with the covariates of all battles."""
    (codes, names), whole = estimate.judges, estimate.fit.design
    for place, judge in enumerate(names if len(names) <= MOST_JUDGES else ()):
        rows = np.flatnonzero(codes == place)
        columns = {key: getattr(whole, key)[rows] for key in ("a", "b", "outcome", "covariates")}
        design = Design(n_models=whole.n_models, **columns)
        if not (design.is_connected and is_identified(design)):
            continue
        with contextlib.suppress(InputError):  # where it does not settle
            own, clusters = fit(design), np.unique(estimate.first[rows], return_inverse=True)[1]
            yield JudgeFit(
                judge=judge,
                n_battles=len(rows),
                strength=own.strength,
                coefficient=own.coefficient,
                standard_error=np.sqrt(np.diag(own.covariance(clusters))[design.n_models :]),
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

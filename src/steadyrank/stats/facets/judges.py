"""Figures of each judge: agreement with the others, ranking of systems, and outliers.

Agreement beyond chance is Lin's concordance, which for grades is Cohen's kappa with quadratic
weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steadyrank.data.scores import mean_of_present
from steadyrank.stats.ranks.correlation import TauInterval, bootstrap_tau_interval


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgeFigures:
    """Figures of one judge among others."""

    judge: str
    mean: float
    """Mean over all systems and topics."""
    agreement: float
    """Mean of Lin's concordance with each other judge."""
    tau: TauInterval
    """tau between the systems' means by this judge and by all others, with interval over topics."""


def judge_figures(
    cells: np.ndarray,
    judges: tuple[str, ...],
    *,
    confidence: float = 0.95,
    seed: int = 0,
    jobs: int | None = None,
) -> tuple[JudgeFigures, ...]:
    """Return figures of each judge of scores [system, topic, judge], at least two of both."""
    agreement, how = concordances(cells), {"confidence": confidence, "seed": seed, "jobs": jobs}
    figures = []
    for place, judge in enumerate(judges):
        own, others = cells[:, :, place], mean_of_present(np.delete(cells, place, axis=2))
        figures.append(
            JudgeFigures(
                judge=judge,
                mean=float(np.nanmean(own)),
                agreement=float(mean_of_present(np.delete(agreement[place], place))),
                tau=bootstrap_tau_interval(own, others, **how),  # type: ignore[arg-type]
            )
        )
    return tuple(figures)


def concordances(cells: np.ndarray) -> np.ndarray:
    """Return Lin's concordance [judge, judge] of shared grades (1989, doi:10.2307/2532051)."""
    grades = cells.reshape(-1, cells.shape[-1]).T
    made = np.eye(len(grades))
    for a in range(len(grades)):
        for b in range(a):
            both = ~np.isnan(grades[a]) & ~np.isnan(grades[b])
            x, y = grades[a, both], grades[b, both]
            apart = ((x - y) ** 2).mean() if both.any() else np.nan
            chance = x.var() + y.var() + (x.mean() - y.mean()) ** 2 if both.any() else np.nan
            made[a, b] = made[b, a] = 1.0 - apart / chance if chance > 0.0 else np.nan
    return made


def outlier_of(figures: Sequence[JudgeFigures]) -> JudgeFigures | None:
    """Return the judge whose ranking is significantly least like the others'; None for two judges.

    It is significant if the interval of its tau with all others is below the others' median tau.
    """
    known = [own for own in figures if not np.isnan(own.tau.tau)]
    if len(known) < 3:
        return None
    least = min(known, key=lambda own: own.tau.tau)
    others = np.median([own.tau.tau for own in known if own is not least])
    return least if least.tau.high < others else None


def effective_judges(cells: np.ndarray) -> float:
    """Return the equivalent number of independent judges, from 1 to their number L.

    1 + (tr C)² / tr C², C the covariance of the judges' errors about their mean of a system on a
    topic, without each judge's level. Errors that all judges share cannot be detected. NaN if fewer
    than two answers have all grades.

    >>> rng = np.random.default_rng(1)
    >>> own = rng.normal(size=(20, 100, 3))
    >>> round(effective_judges(own), 1), round(effective_judges(own[:, :, [0, 0, 1, 2]]), 1)
    (3.0, 3.0)
    """
    errors = cells - mean_of_present(cells)[:, :, None]
    errors = errors[~np.isnan(errors).any(axis=2)]
    if len(errors) < 2 or errors.shape[1] < 2:
        return np.nan
    covariance = np.atleast_2d(np.cov(errors, rowvar=False))
    squares = float((covariance**2).sum())
    return 1.0 + float(np.trace(covariance)) ** 2 / squares if squares > 0.0 else 1.0

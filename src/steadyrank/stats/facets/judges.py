"""Figures of each judge: agreement with the others, ranking of systems, and outliers.

Agreement beyond chance is Lin's concordance, which for grades is Cohen's kappa with quadratic
weights. The outlier is the judge whose ranking of the systems is least like the others', if this is
significant over topics. The effective number of judges follows from the covariance of their errors
about their mean: for L independent judges with errors of equal variance it has L - 1 equal
eigenvalues, and for judges with correlated errors fewer large ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steadyrank.data.scores import mean_of_present
from steadyrank.stats.pairs import decisions
from steadyrank.stats.pairs.max_t import max_t
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.ranks.correlation import TauInterval, bootstrap_tau_interval
from steadyrank.stats.run_means import adjusted_means, best_first, ranks_of


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
    rank: np.ndarray
    """[system]: rank by this judge."""
    rank_set: np.ndarray
    """[system, 2]: lowest and highest possible rank by this judge."""


def judge_figures(
    cells: np.ndarray,
    judges: tuple[str, ...],
    *,
    alpha: float = 0.05,
    n_samples: int = 2000,
    seed: int = 0,
    jobs: int | None = None,
) -> tuple[JudgeFigures, ...]:
    """Return figures of each judge of scores [system, topic, judge], at least two of both."""
    agreement = concordances(cells)
    pairs = all_pairs(len(cells))
    figures = []
    for place, judge in enumerate(judges):
        own, others = cells[:, :, place], mean_of_present(np.delete(cells, place, axis=2))
        means = adjusted_means(own)
        found = max_t(own, pairs, alpha=alpha, n_samples=n_samples, seed=seed, jobs=jobs)
        direction = np.sign(means[pairs[:, 0]] - means[pairs[:, 1]])
        claimed = decisions.own_claims(direction, pairs, found.own, means, alpha)
        order = best_first(means).tolist()
        decided = decisions.own_decisions(pairs, claimed, means, order)
        figures.append(
            JudgeFigures(
                judge=judge,
                mean=float(np.nanmean(own)),
                agreement=float(mean_of_present(np.delete(agreement[place], place))),
                tau=bootstrap_tau_interval(own, others, confidence=1 - alpha, seed=seed, jobs=jobs),
                rank=ranks_of(means),
                rank_set=decided.rank_set,
            )
        )
    return tuple(figures)


def concordances(cells: np.ndarray) -> np.ndarray:
    """Return Lin's concordance [judge, judge] of shared grades (1989, doi:10.2307/2532051).

    >>> cells = np.array([[[1.0, 1, 2], [2, 2, 3]], [[3.0, 3, 4], [2, 2, 3]]])
    >>> concordances(cells).round(3).tolist()
    [[1.0, 1.0, 0.5], [1.0, 1.0, 0.5], [0.5, 0.5, 1.0]]
    """
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
    topic, without each judge's level: L for independent errors of equal variance. Written as L /
    (1 + (L - 1) rho) it gives the correlation rho of errors beyond the -1 / (L - 1) of any errors
    about a common mean. Errors that all judges share cannot be detected. NaN if fewer than two
    answers have all grades.

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

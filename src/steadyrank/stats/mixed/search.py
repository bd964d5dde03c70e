"""Maximise the likelihood of a mixed model, and find the precision of the estimates.

The search works with any layout that provides deviance, gradient and Hessian. It optimises
variances, not standard deviations, so that a component at 0 can become positive again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy
from scipy.linalg import solve_triangular

FLOOR = 1e-8
"""Smallest residual variance tried, as a share of the variance of the response: scores with four
digits have more, and smaller values lose too many digits in unbalanced layouts."""

NEGLIGIBLE = 1e-10
"""A component below this share of the residual variance is set to 0 if the fit gets no worse."""

STEPS = 100
SCORING_STEPS = 2
"""Number of first steps that use expected information; one suffices for a balanced layout."""

SETTLED = 1e-9
"""Expected gain in deviance at which the next step is the last; Newton's error is quadratic."""

FREELY = 1e6
"""Variance, relative to the residual one, at which effects are practically fixed effects."""

ALIKE = 1e-9
"""A term is confounded with others if they explain its information up to this share."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Point:
    """The deviance, and the generalised least squares estimates, at given variances."""

    value: float
    estimates: np.ndarray
    covariance: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Slopes:
    """Derivatives of deviance and estimates' covariance by the variances, residual last."""

    point: Point
    gradient: np.ndarray
    fisher: np.ndarray
    """Positive semidefinite approximation of the Hessian."""
    hessian: np.ndarray
    covariance_slopes: np.ndarray  # [variance, coefficient, coefficient]
    leverage: np.ndarray
    """X'V^-1 V_k P V_l V^-1 X, [variance, variance, coefficient, coefficient], for the additional
    variance of the estimates if variances are estimated (Kenward & Roger 1997)."""


class Likelihood(Protocol):
    """Methods of a layout that the search requires."""

    @property
    def n_terms(self) -> int:
        """Number of random terms; there is one more variance, the residual's."""

    @property
    def saturable(self) -> bool:
        """Whether there may be enough random effects to explain every row."""

    def point(self, variances: np.ndarray) -> Point:
        """Return deviance and estimates."""

    def slopes(self, variances: np.ndarray) -> Slopes:
        """Return deviance and estimates with derivatives."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Optimum:
    """Maximum of the likelihood; variances of terms at the boundary are exactly 0."""

    variances: np.ndarray
    uncertainty: np.ndarray
    """Covariance matrix of the variances; NaN in rows of terms at 0 or not identified."""
    value: float
    bounded: bool
    """False if the deviance falls without bound as the residual variance goes to 0."""
    estimates: np.ndarray
    covariance: np.ndarray
    covariance_slopes: np.ndarray
    converged: bool


def identified(likelihood: Likelihood) -> np.ndarray:
    """Return the variances that the layout can separate: the residual, and terms in their order.

    Others make the information matrix at zero components singular. If several terms together
    explain every row and leave no residual, the last ones are omitted.
    """
    last = likelihood.n_terms
    fisher = likelihood.slopes(np.append(np.zeros(last), 1.0)).fisher
    spread = np.sqrt(np.maximum(np.diag(fisher), 0.0))
    kept = [last]
    for term in range(last):
        if spread[term] ** 2 <= ALIKE * fisher[last, last]:
            continue
        cross = fisher[kept, term] / (spread[kept] * spread[term])
        inner = fisher[np.ix_(kept, kept)] / np.outer(spread[kept], spread[kept])
        if 1.0 - cross @ np.linalg.solve(inner, cross) > ALIKE:
            kept.append(term)
    while likelihood.saturable and len(kept) > 1 and not residual_df(likelihood, np.sort(kept)):
        kept.pop()
    return np.sort(kept)


def residual_df(likelihood: Likelihood, free: np.ndarray) -> int:
    """Return the residual degrees of freedom if `free` random effects were fixed effects."""
    variances = np.zeros(likelihood.n_terms + 1)
    variances[free] = FREELY
    variances[-1] = 1.0
    # With such large variances P is a projection, and the trace of its square is its rank.
    return round(float(likelihood.slopes(variances).fisher[-1, -1]))


def maximise(likelihood: Likelihood, free: np.ndarray) -> Optimum:
    """Maximise the likelihood over variances >= 0 of the `free` components; the others are 0."""
    variances = np.zeros(likelihood.n_terms + 1)
    variances[free] = 1.0 / len(free)
    variances, converged = search(likelihood, free, variances)
    variances = _without_negligible(likelihood, variances)
    slopes, bounded = likelihood.slopes(variances), bool(variances[-1] > FLOOR)
    return Optimum(
        variances=variances,
        uncertainty=_uncertainty(slopes.hessian, variances, bounded),
        value=slopes.point.value,
        bounded=bounded,
        estimates=slopes.point.estimates,
        covariance=slopes.point.covariance,
        covariance_slopes=slopes.covariance_slopes,
        converged=converged,
    )


def search(
    likelihood: Likelihood,
    free: np.ndarray,
    variances: np.ndarray,
    *,
    scoring_steps: int = SCORING_STEPS,
) -> tuple[np.ndarray, bool]:
    """Return the variances of least deviance, starting at the given ones, and whether it converged.

    Fisher's scoring, then Newton's method over variances >= 0; a step is halved while the deviance
    does not fall.
    """
    if not len(free):
        return variances, True
    for step in range(STEPS):
        here = likelihood.slopes(variances)
        target = _best_nearby(here, variances, free, newton=step >= scoring_steps)
        gain = -float(here.gradient @ (target - variances))
        if gain < SETTLED:
            return target, True
        trial = _halved(likelihood, here, variances, target, gain)
        if trial is None:
            return variances, gain < np.sqrt(SETTLED)
        variances = trial
    return variances, False


def _uncertainty(hessian: np.ndarray, variances: np.ndarray, bounded: bool) -> np.ndarray:
    """Return twice the inverse Hessian of the deviance over components not at 0 or the floor."""
    inside = np.flatnonzero(variances > 0.0)[: None if bounded else -1]
    covariance = np.full(hessian.shape, np.nan)
    root, scale = _root(hessian[np.ix_(inside, inside)])
    if root is not None:
        back = solve_triangular(root, np.eye(len(inside)), check_finite=False) / scale[:, None]
        covariance[np.ix_(inside, inside)] = 2.0 * back @ back.T
    if not bounded:
        covariance[np.append(inside, -1), -1] = covariance[-1, np.append(inside, -1)] = 0.0
    return covariance


def _halved(
    likelihood: Likelihood, here: Slopes, variances: np.ndarray, target: np.ndarray, gain: float
) -> np.ndarray | None:
    """Return the first of target, half way, a quarter, … that lowers the deviance, or None."""
    share = 1.0
    while share > 1e-9:
        trial: np.ndarray = variances + share * (target - variances)
        if likelihood.point(trial).value < here.point.value - 1e-4 * share * gain:
            return trial
        share /= 2.0
    return None


def _best_nearby(
    here: Slopes, variances: np.ndarray, free: np.ndarray, *, newton: bool
) -> np.ndarray:
    """Return the minimum of a quadratic model of the deviance, by non-negative least squares.

    Newton's model omits the components at their lowest value. If it is not convex, or at the start,
    Fisher's model is used.
    """
    lowest = np.zeros(len(variances))
    lowest[-1] = FLOOR
    resting = (variances <= lowest) & (here.gradient > 0.0)
    moving = free[~resting[free]] if newton else free
    root, scale = _root(here.hessian[np.ix_(moving, moving)] if newton else None)
    if root is None:
        moving = free
        expected = here.fisher[np.ix_(free, free)]
        root, scale = _root(expected + 1e-12 * np.diag(np.diag(expected)))
    if root is None or not len(moving):
        return variances
    pull = solve_triangular(root, here.gradient[moving] / scale, trans=1, check_finite=False)
    step, _ = scipy.optimize.nnls(root, root @ ((variances - lowest)[moving] * scale) - pull)
    target = variances.copy()
    target[moving] = lowest[moving] + step / scale
    return target


def _root(matrix: np.ndarray | None) -> tuple[np.ndarray | None, np.ndarray]:
    """Return the upper Cholesky factor of the matrix scaled to a unit diagonal, and the scale."""
    if matrix is None:
        return None, np.empty(0)
    diagonal = np.diag(matrix)
    if not (diagonal > 0.0).all():
        return None, diagonal
    scale = np.sqrt(diagonal)
    try:
        return np.linalg.cholesky(matrix / np.outer(scale, scale)).T, scale
    except np.linalg.LinAlgError:
        return None, scale


def _without_negligible(likelihood: Likelihood, variances: np.ndarray) -> np.ndarray:
    small = (variances > 0.0) & (variances < NEGLIGIBLE * variances[-1])
    if not small.any():
        return variances
    without = np.where(small, 0.0, variances)
    before, after = (likelihood.point(trial).value for trial in (variances, without))
    return without if after <= before + SETTLED else variances

"""Strengths of models from battles: the model of Bradley and Terry, fitted by Newton's method.

logit P(a beats b) = theta_a - theta_b + gamma'z. The covariates z of a battle favour its first
model: the advantage of the first place is a covariate of ones. Strengths sum to 0. A tie is half a
win for each model (a quasi-likelihood), or has a probability of its own (Davidson 1970,
doi:10.1080/01621459.1970.10481082):

    P(tie) = nu sqrt(P(a) P(b)), with P(a) + P(b) + P(tie) = 1.

The design has two entries per battle beside its covariates, so no matrix of battles by models is
made: sums over battles are counts by model and by pair of models.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

from steadyrank.errors import InputError

Ties = Literal["half", "davidson"]

MOST_STEPS, SETTLED = 100, 1e-10
"""Newton steps, and the largest change of a parameter at which they end."""

LARGEST_STEP, LARGEST = 4.0, 30.0
"""Largest change of a parameter in one Newton step, and largest parameter, in log odds."""

UNSETTLED = "the strengths do not settle: is a control constant or repeated, or ties everywhere?"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Design:
    """Battles as arrays: one entry per battle."""

    n_models: int
    a: np.ndarray
    """Place of the first model."""
    b: np.ndarray
    outcome: np.ndarray
    """1 where the first model won, 0 where the second won, 0.5 for a tie."""
    covariates: np.ndarray
    """[battle, covariate]: what speaks for the first model, beside its strength."""

    @property
    def n_parameters(self) -> int:
        """Strengths and coefficients of covariates."""
        return int(self.n_models + self.covariates.shape[1])

    def predictor(self, parameters: np.ndarray) -> np.ndarray:
        """Return the log odds that the first model wins, per battle."""
        theta, gamma = np.split(parameters, [self.n_models])
        return np.asarray(theta[self.a] - theta[self.b] + self.covariates @ gamma)

    def summed(self, values: np.ndarray) -> np.ndarray:
        """Return X'values, with X the design [battle, parameter]."""
        m = self.n_models
        by_model = np.bincount(self.a, values, m) - np.bincount(self.b, values, m)
        return np.concatenate([by_model, self.covariates.T @ values])

    def crossed(self, weights: np.ndarray) -> np.ndarray:
        """Return X'WX, with `weights` the diagonal of W."""
        m = self.n_models
        pairs = np.bincount(self.a * m + self.b, weights, m * m).reshape(m, m)
        pairs = pairs + pairs.T
        made = np.zeros((self.n_parameters, self.n_parameters))
        made[:m, :m] = np.diag(pairs.sum(axis=1)) - pairs
        for k, column in enumerate(self.covariates.T, start=m):
            made[:m, k] = made[k, :m] = self.summed(weights * column)[:m]
        made[m:, m:] = self.covariates.T @ (self.covariates * weights[:, None])
        return made

    def quadratic(self, matrix: np.ndarray) -> np.ndarray:
        """Return x'Mx for the row x of every battle."""
        m, a, b, z = self.n_models, self.a, self.b, self.covariates
        squares = np.diag(matrix)
        found = squares[a] + squares[b] - 2.0 * matrix[a, b]
        for k, column in enumerate(z.T, start=m):
            found = found + 2.0 * column * (matrix[a, k] - matrix[b, k])
        return np.asarray(found + np.einsum("ij,jk,ik->i", z, matrix[m:, m:], z))

    def sums(self, values: np.ndarray, clusters: np.ndarray) -> csr_array:
        """Return X'values by cluster, [cluster, parameter]; clusters are numbered from 0."""
        rows = np.arange(len(values))
        columns = [self.a, self.b]
        entries = [values, -values]
        for k, column in enumerate(self.covariates.T, start=self.n_models):
            columns.append(np.full_like(rows, k))
            entries.append(values * column)
        shape = (int(clusters.max(initial=-1)) + 1, self.n_parameters)
        places = (np.tile(clusters, len(columns)), np.concatenate(columns))
        return coo_array((np.concatenate(entries), places), shape).tocsr()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """Strengths and coefficients, and what each battle says about them."""

    design: Design
    strength: np.ndarray
    """Log odds; they sum to 0."""
    coefficient: np.ndarray
    """Of each covariate."""
    score: np.ndarray
    """Per battle: the derivative of the log-likelihood by its log odds."""
    inverse: np.ndarray
    """[parameter, parameter]: the inverse information, on strengths that sum to 0."""
    tie_score: np.ndarray | None = None
    """Per battle: the derivative by Davidson's log nu; None where ties are half wins."""
    tie_share: np.ndarray | None = None
    """Per parameter: how much of `tie_score` the other scores carry, as log nu is estimated."""
    log_nu: float = -np.inf
    is_penalised: bool = False
    """Whether Firth's penalty kept the estimates finite."""

    def influences(self, clusters: np.ndarray) -> np.ndarray:
        """Return [cluster, parameter]: the first-order effect of each cluster on the estimates."""
        sums = self.design.sums(self.score, clusters)
        found = np.asarray(sums @ self.inverse)
        if self.tie_score is not None and self.tie_share is not None:
            by_cluster = np.bincount(clusters, self.tie_score, len(found))
            found -= np.outer(by_cluster, self.inverse @ self.tie_share)
        return found

    def covariance(self, clusters: np.ndarray) -> np.ndarray:
        """Return the sandwich covariance of all parameters, by clusters and with G / (G - 1)."""
        n = int(clusters.max(initial=-1)) + 1
        sums = self.design.sums(self.score, clusters)
        squares = np.asarray((sums.T @ sums).todense())
        if self.tie_score is not None and self.tie_share is not None:
            by_cluster = np.bincount(clusters, self.tie_score, n)
            mixed = np.outer(sums.T @ by_cluster, self.tie_share)
            own = by_cluster @ by_cluster * np.outer(self.tie_share, self.tie_share)
            squares = squares - mixed - mixed.T + own
        return np.asarray(n / max(n - 1, 1) * (self.inverse @ squares @ self.inverse))


def groups_of(design: Design) -> list[np.ndarray]:
    """Return the groups of models that battles connect, the largest first, then by battles."""
    links = coo_array((np.ones(len(design.a)), (design.a, design.b)), (design.n_models,) * 2)
    n_groups, group = connected_components(links, directed=False)
    size, fought = np.bincount(group), np.bincount(group[design.a], minlength=n_groups)
    return [np.flatnonzero(group == one) for one in np.lexsort((-fought, -size))]


def is_separated(design: Design) -> bool:
    """Return whether some models never lose to the others, so that strengths have no bound."""
    won, lost = design.outcome > 0.0, design.outcome < 1.0
    winner = np.concatenate([design.a[won], design.b[lost]])
    loser = np.concatenate([design.b[won], design.a[lost]])
    links = coo_array((np.ones(len(winner)), (winner, loser)), (design.n_models,) * 2)
    return int(connected_components(links, directed=True, connection="strong")[0]) > 1


def fit(design: Design, ties: Ties = "half") -> Fit:
    """Return the maximum-likelihood fit, with Firth's penalty where estimates have no bound.

    Estimates have no bound where some models never lose to the others, or where the first place or
    a control decides every battle. Firth's penalty (1993, doi:10.1093/biomet/80.1.27) adds the
    score h (1/2 - p) per battle, with h its leverage. It is defined for ties as half wins:
    Davidson's model is refused there.
    """
    if len(groups_of(design)) > 1:
        raise InputError("the battles do not connect all models")
    is_penalised = is_separated(design)
    if ties == "davidson":
        if is_penalised:
            raise InputError(
                "a group of models never loses to the others, which Davidson's model of ties does "
                "not allow: use ties as half wins"
            )
        return _davidson(design)
    found = None if is_penalised else _half_wins(design, is_penalised=False)
    found = found or _half_wins(design, is_penalised=True)
    if found is None:
        raise InputError(UNSETTLED)
    return found


def _half_wins(design: Design, *, is_penalised: bool) -> Fit | None:
    """Return the fit with ties as half wins; None where the estimates do not settle."""
    parameters = np.zeros(design.n_parameters)
    for _ in range(MOST_STEPS):
        p = expit(design.predictor(parameters))
        score, weight = design.outcome - p, p * (1.0 - p)
        inverse = _pinned_inverse(design.crossed(weight), design.n_models)
        if inverse is None or np.abs(parameters).max(initial=0.0) > LARGEST:
            return None
        if is_penalised:
            score = score + weight * design.quadratic(inverse) * (0.5 - p)
        step = inverse @ design.summed(score)
        if np.abs(step).max(initial=0.0) <= SETTLED:
            strength, coefficient = np.split(parameters, [design.n_models])
            return Fit(
                design=design,
                strength=strength - strength.mean(),
                coefficient=coefficient,
                score=score,
                inverse=inverse,
                is_penalised=is_penalised,
            )
        parameters = parameters + _bounded(step)
    return None


def _davidson(design: Design) -> Fit:
    """Return the fit of Davidson's model, with log nu as one more parameter."""
    tied = design.outcome == 0.5
    if not tied.any():
        return fit(design, "half")
    parameters, log_nu = np.zeros(design.n_parameters), 0.0
    for _ in range(MOST_STEPS):
        won, lost, drawn = _three_ways(design.predictor(parameters), log_nu)
        score = (design.outcome - 0.5) - 0.5 * (won - lost)
        weight = 0.25 * (won + lost - np.square(won - lost))
        mixed = design.summed(-0.5 * (won - lost) * drawn)
        of_ties = (drawn * (1.0 - drawn)).sum()
        # Log nu is eliminated: what is left is the information about the other parameters.
        information = design.crossed(weight) - np.outer(mixed, mixed) / of_ties
        inverse = _pinned_inverse(information, design.n_models)
        if inverse is None or max(np.abs(parameters).max(), abs(log_nu)) > LARGEST:
            raise InputError(UNSETTLED)
        surplus = (tied - drawn).sum()
        step = inverse @ (design.summed(score) - mixed * surplus / of_ties)
        nu_step = (surplus - mixed @ step) / of_ties
        if max(np.abs(step).max(), abs(nu_step)) <= SETTLED:
            break
        parameters, log_nu = parameters + _bounded(step), log_nu + float(_bounded(nu_step))
    else:
        raise InputError(UNSETTLED)
    strength, coefficient = np.split(parameters, [design.n_models])
    return Fit(
        design=design,
        strength=strength - strength.mean(),
        coefficient=coefficient,
        score=score,
        inverse=inverse,
        tie_score=tied - drawn,
        tie_share=mixed / of_ties,
        log_nu=log_nu,
    )


def _three_ways(predictor: np.ndarray, log_nu: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the probabilities that the first model wins, that it loses, and of a tie."""
    half = 0.5 * predictor
    largest = np.maximum(np.abs(half), log_nu)
    won, lost, drawn = (np.exp(part - largest) for part in (half, -half, log_nu))
    total = won + lost + drawn
    return won / total, lost / total, drawn / total


def _pinned_inverse(information: np.ndarray, n_models: int) -> np.ndarray | None:
    """Return the inverse on strengths that sum to 0, a constant added to the others; or None."""
    pinned = information.copy()
    scale = max(float(np.trace(information[:n_models, :n_models])) / n_models, 1e-300)
    pinned[:n_models, :n_models] += scale / n_models
    try:
        return np.linalg.inv(pinned)
    except np.linalg.LinAlgError:
        return None


def is_identified(design: Design) -> bool:
    """Return whether these battles tell all strengths and coefficients apart."""
    information = design.crossed(np.ones(len(design.a)))
    size = np.sqrt(np.maximum(np.diag(information), 1e-300))
    values = np.linalg.eigvalsh(information / np.outer(size, size))
    return bool(values[1] > 1e-9)  # the first belongs to a constant added to all strengths


def _bounded(step: np.ndarray) -> np.ndarray:
    """Return a Newton step of which no part is longer than LARGEST_STEP."""
    return np.asarray(step / max(1.0, float(np.abs(step).max(initial=0.0)) / LARGEST_STEP))


def win_probability(difference: np.ndarray, log_nu: float = -np.inf) -> np.ndarray:
    """Return the share of wins, ties as half of one, of a model that is stronger by a difference.

    >>> win_probability(np.array([0.0, np.log(3.0)])).round(4).tolist()
    [0.5, 0.75]
    """
    won, _, drawn = _three_ways(difference, log_nu)
    return np.asarray(won + 0.5 * drawn)


def win_rates(strength: np.ndarray, log_nu: float = -np.inf) -> np.ndarray:
    """Return the share of wins of each model against an average one of the others.

    >>> win_rates(np.array([0.0, 0.0, 0.0])).tolist()
    [0.5, 0.5, 0.5]
    """
    chances = win_probability(strength[:, None] - strength[None, :], log_nu)
    np.fill_diagonal(chances, 0.0)
    return np.asarray(chances.sum(axis=1) / (len(strength) - 1))

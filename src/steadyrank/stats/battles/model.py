"""Strengths of models from battles: the model of Bradley and Terry, fitted by Newton's method.

logit P(a beats b) = theta_a - theta_b + gamma'z. The covariates z of a battle favour its first
model: the advantage of the first place is a covariate of ones. Strengths sum to 0. A tie is half a
win for each model (a quasi-likelihood), or a third outcome (Davidson 1970,
doi:10.1080/01621459.1970.10481082):

    P(tie) = nu sqrt(P(a) P(b)), with P(a) + P(b) + P(tie) = 1.

The design is sparse, with two entries per battle in addition to its covariates.

Battles on one prompt, or by one voter, are not independent. The errors of strengths are those over
prompts (a sandwich with the clusters' summed scores), or over prompts and voters together (two-way
clusters; Cameron, Gelbach & Miller 2011, doi:10.1198/jbes.2010.07136). A model's *pseudo-value* on
a prompt is its strength plus the number of prompts times the prompt's influence: to strengths what
topics' scores are to means. Their mean is the strength, their variance over n is the sandwich's,
and flipping their signs is the multiplier bootstrap.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from steadyrank.compute.executors import one_blas_thread
from steadyrank.data.battles import connected
from steadyrank.errors import InputError

Ties = Literal["half", "davidson"]

MOST_STEPS, SETTLED = 200, 1e-10
"""Newton steps, and the largest change of a parameter at which they end."""

LARGEST_STEP, LARGEST = 4.0, 30.0
"""Largest change of a parameter in one Newton step, and largest parameter, in log odds."""


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
    """[battle, covariate]: what favours the first model in addition to its strength."""

    x: csr_array = field(init=False)
    """[battle, parameter]: 1 and -1 for the two models, and the covariates."""

    def __post_init__(self) -> None:
        n, k = self.covariates.shape
        columns = np.column_stack(
            [self.a, self.b, *(np.full(n, self.n_models + j) for j in range(k))]
        )
        values = np.column_stack([np.ones(n), -np.ones(n), self.covariates])
        starts, shape = np.arange(0, n * (k + 2) + 1, k + 2), (n, self.n_models + k)
        object.__setattr__(self, "x", csr_array((values.ravel(), columns.ravel(), starts), shape))

    @property
    def is_connected(self) -> bool:
        """Whether battles connect all models."""
        return len(connected(self.a, self.b, self.n_models)) == 1

    def crossed(self, weights: np.ndarray) -> np.ndarray:
        """Return X'WX, with `weights` the diagonal of W."""
        m = self.n_models
        pairs = np.bincount(self.a * m + self.b, weights, m * m).reshape(m, m)
        pairs += pairs.T.copy()
        made = np.zeros(2 * self.x.shape[1:])
        made[:m, :m] = np.diag(pairs.sum(axis=1)) - pairs
        made[:, m:] = self.x.T @ (self.covariates * weights[:, None])
        made[m:] = made[:, m:].T
        return made

    def quadratic(self, matrix: np.ndarray) -> np.ndarray:
        """Return x'Mx for the row x of every battle."""
        return np.asarray(self.x.multiply(self.x @ matrix).sum(axis=1))

    def sums(self, values: np.ndarray, clusters: np.ndarray) -> csr_array:
        """Return X'values by cluster, [cluster, parameter]; clusters are numbered from 0."""
        places = (clusters, np.arange(len(values)))
        return coo_array((values, places), (clusters.max() + 1, len(values))).tocsr() @ self.x


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """Strengths and coefficients, and what each battle says about them."""

    design: Design
    strength: np.ndarray
    """Log odds; they sum to 0."""
    coefficient: np.ndarray
    """Coefficient of each covariate."""
    score: np.ndarray
    """Per battle: the derivative of the log-likelihood by its log odds."""
    inverse: np.ndarray
    """[parameter, parameter]: the inverse information, on strengths that sum to 0."""
    tie_score: np.ndarray
    """Per battle: the derivative by Davidson's log nu."""
    tie_share: np.ndarray
    """Per parameter: how much of `tie_score` the other scores carry, as log nu is estimated; 0
    where ties are half wins."""
    log_nu: float
    """Davidson's; minus infinity where ties are half wins."""
    is_penalised: bool = False
    """Whether Firth's penalty kept the estimates finite."""

    @property
    def predictor(self) -> np.ndarray:
        """The log odds that the first model wins, per battle."""
        return np.asarray(self.design.x @ np.concatenate([self.strength, self.coefficient]))

    def influences(self, clusters: np.ndarray) -> np.ndarray:
        """Return [cluster, parameter]: the first-order effect of each cluster on the estimates."""
        sums = np.asarray(self.design.sums(self.score, clusters) @ self.inverse)
        tied = np.bincount(clusters, self.tie_score, len(sums))
        return np.asarray(sums - np.outer(tied, self.inverse @ self.tie_share))

    def covariance(self, clusters: np.ndarray) -> np.ndarray:
        """Return the sandwich covariance of all parameters, by clusters and with G / (G - 1)."""
        sums = self.design.sums(self.score, clusters)
        n, share = sums.shape[0], self.tie_share
        tied = np.bincount(clusters, self.tie_score, n)
        mixed = np.outer(sums.T @ tied, share)
        squares = (sums.T @ sums).todense() - mixed - mixed.T + tied @ tied * np.outer(share, share)
        return np.asarray(n / max(n - 1, 1) * (self.inverse @ squares @ self.inverse))


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
    if not design.is_connected:
        raise InputError("the battles do not connect all models")
    has_nu = ties == "davidson" and bool((design.outcome == 0.5).any())
    is_apart = is_separated(design)
    if is_apart and ties == "davidson":
        raise InputError(
            "a group of models never loses to the others, which Davidson's model of ties does not "
            "allow: use ties as half wins"
        )
    with one_blas_thread():  # the matrices are small
        found = None if is_apart else _newton(design, has_nu=has_nu)
        if found is None and not has_nu:
            found = _newton(design, is_penalised=True)
    if found is None:
        raise InputError(
            "the strengths do not settle: is a control constant or repeated, or are nearly all "
            "battles ties?"
        )
    return found


def _newton(design: Design, *, has_nu: bool = False, is_penalised: bool = False) -> Fit | None:
    """Return the fit; None where the estimates do not settle.

    Ties as half wins are the limit of Davidson's model in which nu is 0. Log nu is one more
    parameter, which is eliminated: `information` is what is left about the others.
    """
    parameters, log_nu = np.zeros(design.x.shape[1]), 0.0 if has_nu else -np.inf
    tied, share, of_ties, surplus = design.outcome == 0.5, np.zeros_like(parameters), 1.0, 0.0
    for _ in range(MOST_STEPS):
        won, lost, drawn = _three_ways(design.x @ parameters, log_nu)
        ahead = 0.5 * (won - lost)
        score, weight = design.outcome - 0.5 - ahead, 0.25 * (won + lost) - np.square(ahead)
        information = design.crossed(weight)
        if has_nu:
            of_ties, surplus = (drawn * (1.0 - drawn)).sum(), (tied - drawn).sum()
            share = -(design.x.T @ (ahead * drawn)) / of_ties
            information = information - of_ties * np.outer(share, share)
        inverse = _pinned_inverse(information, design.n_models)
        if inverse is None or np.abs(parameters).max(initial=0.0) > LARGEST:
            return None
        if is_penalised:
            score = score - weight * design.quadratic(inverse) * ahead
        step = inverse @ (design.x.T @ score - share * surplus)
        nu_step = surplus / of_ties - share @ step if has_nu else 0.0
        if max(np.abs(step).max(initial=0.0), abs(nu_step)) <= SETTLED:
            strength, coefficient = np.split(parameters, [design.n_models])
            return Fit(
                design=design,
                strength=strength - strength.mean(),
                coefficient=coefficient,
                score=score,
                inverse=inverse,
                tie_score=tied - drawn,
                tie_share=share,
                log_nu=log_nu,
                is_penalised=is_penalised,
            )
        parameters, log_nu = (
            parameters + _bounded(step),
            log_nu + float(_bounded(np.array(nu_step))),
        )
    return None


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


def _bounded(step: Any) -> Any:
    """Return a Newton step of which no part is longer than LARGEST_STEP."""
    return step / max(1.0, float(np.max(np.abs(step), initial=0.0)) / LARGEST_STEP)


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


def next_pairs(fit: Fit, undecided: np.ndarray, n: int) -> list[tuple[int, int]]:
    """Return the pairs of models for the next `n` battles, one battle at a time.

    A battle of a and b adds w x x' to the information, with x = e_a - e_b and w = p (1 - p). Each
    step takes the pair that lowers the summed variance of the `undecided` differences [pair, 2]
    most, and updates the inverse information (Sherman & Morrison). Each model of a pair comes first
    in every second battle.
    """
    m = fit.design.n_models
    inverse = fit.inverse[:m, :m].copy()
    wanted = np.zeros((len(undecided), m))
    rows = np.arange(len(undecided))
    wanted[rows, undecided[:, 0]], wanted[rows, undecided[:, 1]] = 1.0, -1.0
    a, b = np.triu_indices(m, 1)
    p = win_probability(fit.strength[a] - fit.strength[b])
    weight = p * (1.0 - p)
    seen: dict[int, int] = {}
    chosen = []
    for _ in range(n):
        effect = wanted @ inverse
        gain = np.square(effect[:, a] - effect[:, b]).sum(axis=0)
        spread = inverse[a, a] + inverse[b, b] - 2.0 * inverse[a, b]
        best = int(np.argmax(weight * gain / (1.0 + weight * spread)))
        column = inverse[:, a[best]] - inverse[:, b[best]]
        inverse -= np.outer(column, column) * (weight[best] / (1.0 + weight[best] * spread[best]))
        pair = (int(a[best]), int(b[best]))
        chosen.append(pair if seen.get(best, 0) % 2 == 0 else pair[::-1])
        seen[best] = seen.get(best, 0) + 1
    return chosen


MOST_UNITS = 2_000
"""Largest number of pseudo-values per model; more prompts are joined in blocks of equal size."""

MOST_JUDGES, ALMOST_ALL = 100, 0.9
"""Number of judges above which none judged everything, and the share of battles that is all."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PseudoValues:
    """[model, unit] values whose means are strengths and whose spread gives their errors."""

    values: np.ndarray
    covariance: np.ndarray
    """[parameter, parameter]: covariance of strengths and coefficients."""
    n_clusters: int
    """Number of prompts; with two ways of clustering the smaller number."""


def pseudo_values(fit: Fit, prompts: np.ndarray, voters: np.ndarray | None = None) -> PseudoValues:
    """Return the pseudo-values of prompts (codes from 0), or of prompts and voters together.

    With voters the covariance is V_prompts + V_voters - V_both, made positive semi-definite, and
    the prompts' values are turned linearly so that they have it.
    """
    m = fit.design.n_models
    n_prompts = int(prompts.max()) + 1
    covariance = fit.covariance(prompts)
    unit = prompts % MOST_UNITS if n_prompts > MOST_UNITS else prompts
    n_units = min(n_prompts, MOST_UNITS)
    influence = fit.influences(unit)[:, :m]
    if voters is not None:
        n_voters = int(voters.max()) + 1
        both = np.unique(prompts.astype(np.int64) * n_voters + voters, return_inverse=True)[1]
        covariance = _power(covariance + fit.covariance(voters) - fit.covariance(both), 1.0)
    made = n_units / max(n_units - 1, 1) * (influence.T @ influence)
    if voters is not None or n_units < n_prompts:
        influence = influence @ _power(made, -0.5) @ _power(covariance[:m, :m], 0.5)
    return PseudoValues(
        values=fit.strength[:, None] + n_units * influence.T,
        covariance=covariance,
        n_clusters=n_prompts if voters is None else min(n_prompts, n_voters),
    )


def judged_values(fit: Fit, prompts: np.ndarray, judges: np.ndarray) -> np.ndarray:
    """Return [model, judge, prompt] values whose means over judges and prompts are the strengths.

    A judge's value is the strength plus the first-order effect of that judge's battles on the
    prompt, as if all judges were like this one.
    """
    n_prompts, n_judges = int(prompts.max()) + 1, int(judges.max()) + 1
    influence = fit.influences(prompts * n_judges + judges)[:, : fit.design.n_models]
    missing = n_prompts * n_judges - len(influence)
    influence = np.pad(influence, ((0, missing), (0, 0)))
    cells = influence.reshape(n_prompts, n_judges, -1).transpose(2, 1, 0)
    return np.asarray(fit.strength[:, None, None] + n_prompts * n_judges * cells)


def judges_everything(fit: Fit, prompts: np.ndarray, judges: np.ndarray) -> bool:
    """Return whether each judge compared (almost) all pairs of models on all prompts."""
    n_judges, (low, high) = int(judges.max()) + 1, np.sort([fit.design.a, fit.design.b], axis=0)
    if n_judges > MOST_JUDGES:
        return False
    battle = (prompts * fit.design.n_models + low) * fit.design.n_models + high
    seen, cell = np.unique(battle, return_inverse=True)
    judged = np.unique(judges * len(seen) + cell) // len(seen)
    return bool(np.bincount(judged, minlength=n_judges).min() >= ALMOST_ALL * len(seen))


def _power(matrix: np.ndarray, exponent: float) -> np.ndarray:
    """Return a power of a positive semi-definite matrix; of 0 eigenvalues, 0."""
    values, vectors = np.linalg.eigh(matrix)
    kept = values > 1e-12 * max(values.max(initial=0.0), 1e-300)
    powers = np.zeros_like(values)
    powers[kept] = values[kept] ** exponent
    return np.asarray((vectors * powers) @ vectors.T)

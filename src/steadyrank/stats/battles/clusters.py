"""Pseudo-values of strengths: what each prompt, voter or judge says about each model.

Battles on one prompt, or by one voter, are not independent. The errors of strengths are therefore
those over prompts (a sandwich with the clusters' summed scores), or over prompts and voters
together (two-way clusters; Cameron, Gelbach & Miller 2011, doi:10.1198/jbes.2010.07136).

A model's *pseudo-value* on a prompt is its strength plus the number of prompts times the prompt's
influence. Pseudo-values are to strengths what topics' scores are to means: their mean is the
strength, their variance over n is the sandwich's, and flipping their signs is the multiplier
bootstrap. So what is made of scores by topic can be made of battles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steadyrank.stats.battles.model import Fit

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

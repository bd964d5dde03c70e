"""Which battle to run next, and whether one line of strengths fits the battles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from steadyrank.stats.battles.model import Fit


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
    p = expit(fit.strength[a] - fit.strength[b])
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


class Transitivity(NamedTuple):
    """Triples of models that beat each other in a circle."""

    triples: int
    """Circles among majorities of battles."""
    expected: float
    """Their mean number if one line of strengths holds and battles are independent."""
    pvalue: float
    """(1 + simulations with as many) / (1 + simulations)."""


def transitivity(fit: Fit, *, n_samples: int, rng: np.random.Generator) -> Transitivity:
    """Return the circles of majorities, held against battles simulated from the fit."""
    design, m = fit.design, fit.design.n_models
    cell = design.a * m + design.b
    fought = np.bincount(cell, minlength=m * m).reshape(m, m)
    won = np.bincount(cell, design.outcome, m * m).reshape(m, m)
    p = np.bincount(cell, expit(_predictor(fit)), m * m).reshape(m, m)
    p = np.divide(p, fought, out=np.zeros_like(p), where=fought > 0)
    observed = _circles(won, fought)
    drawn = [_circles(rng.binomial(fought, p), fought) for _ in range(n_samples)]
    as_many = sum(one >= observed for one in drawn)
    return Transitivity(observed, float(np.mean(drawn)), (1 + as_many) / (1 + n_samples))


def _predictor(fit: Fit) -> np.ndarray:
    return fit.design.predictor(np.concatenate([fit.strength, fit.coefficient]))


def _circles(won: np.ndarray, fought: np.ndarray) -> int:
    """Return the directed triangles of "won the majority of their battles"."""
    total = fought + fought.T
    wins = won + (fought - won).T
    beats = (2.0 * wins > total + 1e-9).astype(np.float32)
    return round(float(np.einsum("ij,ji->", beats @ beats, beats)) / 3.0)

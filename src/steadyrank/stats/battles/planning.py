"""Which battle to run next, and whether one line of strengths fits the battles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from steadyrank.data.battles import Battles
from steadyrank.stats.battles.model import Fit, win_probability


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


def prompts_for(
    chosen: Sequence[tuple[int, int]], battles: Battles, codes: np.ndarray, names: Sequence[str]
) -> list[str]:
    """Return a prompt for each of the next battles, on which its two models have not fought.

    Prompts are taken in order. Empty where the two fought on all of them, or where none are named:
    the battle then requires a new prompt.
    """
    left: dict[tuple[int, int], Iterator[str]] = {}
    found = []
    for a, b in chosen:
        pair = (min(a, b), max(a, b))
        if pair not in left:
            met = (np.minimum(battles.a, battles.b) == pair[0]) & (
                np.maximum(battles.a, battles.b) == pair[1]
            )
            used = set(codes[met].tolist()) if len(codes) else set()
            left[pair] = (name for place, name in enumerate(names) if place not in used)
        found.append(next(left[pair], ""))
    return found


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
    p = np.bincount(cell, win_probability(_predictor(fit), fit.log_nu), m * m).reshape(m, m)
    p = np.divide(p, fought, out=np.zeros_like(p), where=fought > 0)
    observed = _circles(won, fought)
    if not n_samples:
        return Transitivity(observed, np.nan, np.nan)
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

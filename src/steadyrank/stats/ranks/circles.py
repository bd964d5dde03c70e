"""Does one line of strengths fit pairwise comparisons? Triples that beat each other in a circle."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steadyrank.compute.blas import one_blas_thread

MOST_SIMULATED = 200
"""Largest number of models for which comparisons are simulated."""


class Circles(NamedTuple):
    """Triples of models that beat each other in a circle."""

    intransitive_triples: int
    """Circles among majorities of comparisons."""
    expected: float
    """Their mean number if one line of strengths holds and comparisons are independent."""
    pvalue: float
    """(1 + simulations with at least as many) / (1 + simulations)."""


def circles(
    won: np.ndarray,
    fought: np.ndarray,
    chance: np.ndarray,
    *,
    rng: np.random.Generator,
    n_samples: int = 199,
) -> Circles:
    """Return the circles of majorities, compared with those of simulated comparisons.

    All are [first, second]: comparisons that the first model won, a tie as half of one, all of
    them, and the mean chance that the first wins. Of more than MOST_SIMULATED models none are
    simulated.
    """
    observed = _circles(won, fought)
    if len(won) > MOST_SIMULATED:
        return Circles(observed, np.nan, np.nan)
    with one_blas_thread():
        drawn = [_circles(rng.binomial(fought, chance), fought) for _ in range(n_samples)]
    as_many = sum(one >= observed for one in drawn)
    return Circles(observed, float(np.mean(drawn)), (1 + as_many) / (1 + n_samples))


def _circles(won: np.ndarray, fought: np.ndarray) -> int:
    """Return the directed triangles of "won the majority of their comparisons"."""
    wins = won + (fought - won).T
    beats = (2.0 * wins > fought + fought.T + 1e-9).astype(np.float32)
    return round(float(np.einsum("ij,ji->", beats @ beats, beats)) / 3.0)

"""Bayesian signed-rank test: is one run better on most datasets, or are the two as good as equal?

For anyone who needs a probability instead of a p-value (Benavoli et al. 2017). A difference within
the region of practical equivalence, the rope, counts as none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steadyrank.compute.random import block_stream, blocks_of
from steadyrank.errors import InputError
from steadyrank.stats.inputs import check_samples

PRIOR = 0.5
"""Weight of one pseudo-observation of no difference, as in the paper."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedRankPosterior:
    """Probabilities that each of the three is the most probable outcome of a pair of datasets."""

    first: float
    equivalent: float
    """Practically: the differences lie within the rope."""
    second: float
    rope: float
    n_samples: int


def bayesian_signed_rank(
    difference: np.ndarray, *, rope: float = 0.0, n_samples: int = 20_000, seed: int = 0
) -> SignedRankPosterior:
    """Posterior of Wilcoxon's parameter, P(d + d' > 2 rope) for two datasets d and d'.

    The differences, and one of 0 with weight 0.5, get Dirichlet weights w; with each draw, the sums
    of w_i w_j over pairs (also of a dataset with itself) whose mean difference lies above the rope,
    in it, or below are compared, and the largest of the three wins; equal ones share.

    Parameters
    ----------
    difference : one per dataset
        First run less second.
    rope : float
        Half-width of the region of practical equivalence, in the unit of the scores.
    n_samples : int
        Draws of the posterior.
    seed : int

    Notes
    -----
    Assumes datasets drawn independently from one population. Do not use it to select a winner among
    many runs: nothing corrects for their number.

    Reference: Benavoli, Corani, Demšar and Zaffalon, JMLR 18, 2017,
    https://jmlr.org/papers/v18/16-305.html.

    >>> bayesian_signed_rank(np.array([0.2, 0.3, 0.1, 0.4, 0.2, 0.3]), rope=0.01).first > 0.99
    True
    """
    check_samples(n_samples)
    d = np.asarray(difference, np.float64)
    if d.ndim != 1 or not len(d) or not np.isfinite(d).all():
        raise InputError("the signed-rank test requires one or more finite differences")
    if not (np.isfinite(rope) and rope >= 0.0):
        raise InputError(f"rope must be a number of at least 0, got {rope!r}")
    with_prior = np.append(0.0, d)
    total = with_prior[:, None] + with_prior
    above, below = (total > 2.0 * rope).astype(float), (total < -2.0 * rope).astype(float)
    shape = np.append(PRIOR, np.ones(len(d)))
    wins = np.zeros(3)
    for block, start, stop in blocks_of(n_samples):
        stream = block_stream(seed, "signed rank", block)
        weight = stream.dirichlet(shape, stop - start)
        first = np.einsum("bi,ij,bj->b", weight, above, weight, optimize=True)
        second = np.einsum("bi,ij,bj->b", weight, below, weight, optimize=True)
        wins += _winners(np.stack([first, 1.0 - first - second, second], axis=1), rope)
    share = wins / n_samples
    return SignedRankPosterior(
        first=float(share[0]),
        equivalent=float(share[1]),
        second=float(share[2]),
        rope=rope,
        n_samples=n_samples,
    )


def _winners(parts: np.ndarray, rope: float) -> np.ndarray:
    """How often each of the three is largest; without a rope ties go to both sides by half."""
    if rope == 0.0:
        parts = parts + parts[:, 1:2] * [0.5, -1.0, 0.5]
    best = parts >= parts.max(axis=1, keepdims=True) - 1e-12
    return np.asarray((best / best.sum(axis=1, keepdims=True)).sum(axis=0))

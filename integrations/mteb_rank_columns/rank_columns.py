"""Between which ranks may each model of a results table lie? NumPy only."""

from __future__ import annotations

import numpy as np

ALL_PATTERNS = 16
"""Tasks up to which every pattern of signs is taken."""


def rank_columns(
    scores: np.ndarray, *, alpha: float = 0.05, n_samples: int = 10_000, seed: int = 0
) -> dict[str, np.ndarray]:
    """Columns rank, rank_low, rank_high and tier of a complete table [model, task]."""
    scores = np.asarray(scores, float)
    if scores.ndim != 2 or min(scores.shape) < 2 or not np.isfinite(scores).all():
        raise ValueError("scores must be a complete table of at least two models and two tasks")
    means = scores.mean(axis=1)
    better, worse, pvalue = pairs_best_first(scores, n_samples, seed)
    claimed = pvalue <= alpha
    wins = np.zeros((len(scores), len(scores)), bool)
    wins[better[claimed], worse[claimed]] = True
    return {
        "rank": 1 + (means[:, None] < means - 1e-12).sum(axis=1),
        "rank_low": 1 + wins.sum(axis=0),
        "rank_high": len(scores) - wins.sum(axis=1),
        "tier": tiers(wins, means),
    }


def tiers(wins: np.ndarray, means: np.ndarray) -> np.ndarray:
    """1 for the models that are not shown to be worse than the best, and so on for the rest."""
    tier = np.zeros(len(means), int)
    left = np.argsort(-means, kind="stable")
    while len(left):
        is_worse = wins[left[0], left]
        tier[left[~is_worse]] = tier.max() + 1
        left = left[is_worse]
    return tier


def pairs_best_first(
    scores: np.ndarray, n_samples: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The better and the worse model of every pair, and its p-value, adjusted for all pairs."""
    n = scores.shape[1]
    first, second = np.triu_indices(len(scores), 1)
    turned = scores[first].mean(axis=1) < scores[second].mean(axis=1)
    better, worse = np.where(turned, second, first), np.where(turned, first, second)
    gap = scores[better] - scores[worse]
    off = gap - gap.mean(axis=1, keepdims=True)
    size = np.sqrt((off**2).sum(axis=1))
    spread = np.where(size > 1e-12 * max(1.0, np.abs(gap).max()), size, np.inf)
    t = careful_t(gap.mean(axis=1) * np.sqrt(n * (n - 1)) / spread, off / spread[:, None], n)
    # Signs leave the squares as they are, so r = signed sum / sqrt(n squares) orders as t does.
    observed = t / np.sqrt(n - 1 + t**2) * (1 - 1e-12)
    observed[np.isinf(spread)] = np.where(gap[np.isinf(spread)].mean(axis=1) > 1e-12, np.inf, 0.0)
    order = np.argsort(-observed, kind="stable")
    sums = (scores - scores.mean(axis=1, keepdims=True)) @ signs(n, n_samples, seed).T
    weight = 1 / (np.sqrt(n) * spread)

    def flipped(pair: int) -> np.ndarray:
        return (sums[better[pair]] - sums[worse[pair]]) * weight[pair]

    # The opposite direction of a pair is never rejected, and so always in play.
    largest = np.zeros(sums.shape[1])
    for pair in order:
        np.maximum(largest, -flipped(pair), out=largest)
    count = np.zeros(len(order))
    for pair in order[::-1]:
        np.maximum(largest, flipped(pair), out=largest)
        count[pair] = (largest >= observed[pair]).sum()
    halves = 2 if n <= ALL_PATTERNS else 1  # a pattern and its negative are one
    pvalue = np.empty(len(order))
    adjusted = (1 + count[order] / halves) / (1 + len(largest) // halves)
    pvalue[order] = np.minimum(1.0, np.maximum.accumulate(adjusted))
    return better, worse, pvalue


def careful_t(t: np.ndarray, off: np.ndarray, n: int) -> np.ndarray:
    """t >= 0, lowered by Hall's transformation; `off` are deviations whose squares add up to 1."""
    skewness = (off**3).sum(axis=1)
    lowered = [
        t + g * (t**2 / 3 + 1 / 6) + g**2 * t**3 / 27
        for g in (skewness, skewness - 1.5 * np.sqrt(6) / n)
    ]
    return np.maximum(0.0, np.minimum(t, np.minimum(*lowered)))


def signs(n: int, n_samples: int, seed: int) -> np.ndarray:
    """Patterns of signs [pattern, task]: all of them for few tasks, else random ones."""
    if n <= ALL_PATTERNS:
        return (np.arange(2**n)[:, None] >> np.arange(n) & 1) * 2.0 - 1.0
    return np.random.default_rng(seed).integers(0, 2, (n_samples, n)) * 2.0 - 1.0

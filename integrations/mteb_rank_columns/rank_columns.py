"""Between which ranks may each model of a results table lie? NumPy only."""

from __future__ import annotations

import numpy as np

ALL_PATTERNS = 16
"""Tasks up to which every pattern of signs is taken."""


def rank_columns(
    scores: np.ndarray, *, alpha: float = 0.05, n_samples: int = 10_000, seed: int = 0
) -> dict[str, np.ndarray]:
    """Columns rank, rank_low, rank_high and tier of a complete table [model, task].

    Ranks of a model are those that its comparisons with all others leave to it.
    """
    scores = np.asarray(scores, float)
    if scores.ndim != 2 or min(scores.shape) < 2 or not np.isfinite(scores).all():
        raise ValueError("scores must be a complete table of at least three models and two tasks")
    if len(scores) < 3:
        raise ValueError("scores must have at least three models: compare two by a paired test")
    means = scores.mean(axis=1)
    better, worse, pvalue = Pairs(scores, n_samples, seed).own()
    lost, won = np.zeros((2, len(scores), len(scores)), bool)
    won[better, worse], lost[better, worse] = (pvalue <= alpha).T
    return {
        "rank": 1 + (means[:, None] < means - 1e-12).sum(axis=1),
        "rank_low": 1 + lost.sum(axis=0),
        "rank_high": len(scores) - won.sum(axis=1),
        "tier": tiers(lost, means),
    }


def tiers(lost: np.ndarray, means: np.ndarray) -> np.ndarray:
    """1 down to the last model that the best one does not beat, and so on for the rest."""
    tier = np.zeros(len(means), int)
    left = np.argsort(-means, kind="stable")
    while len(left):
        size = 1 + np.flatnonzero(~lost[left[0], left]).max()
        tier[left[:size]] = tier.max() + 1
        left = left[size:]
    return tier


class Pairs:
    """All pairs of models, the better one first, those that differ most surely first."""

    def __init__(self, scores: np.ndarray, n_samples: int, seed: int):
        n = scores.shape[1]
        first, second = np.triu_indices(len(scores), 1)
        turned = scores[first].mean(axis=1) < scores[second].mean(axis=1)
        better, worse = np.where(turned, second, first), np.where(turned, first, second)
        gap = scores[better] - scores[worse]
        off = gap - gap.mean(axis=1, keepdims=True)
        squares = (off**2).sum(axis=1)
        squares[np.sqrt(squares) <= 1e-12 * max(1.0, np.abs(gap).max())] = 0.0
        squares += floor(squares / (n - 1))
        spread = np.where(squares > 0.0, np.sqrt(squares), np.inf)
        t = corrected_t(gap.mean(axis=1) * np.sqrt(n * (n - 1)) / spread, off / spread[:, None], n)
        # Signs leave the squares as they are, so r = signed sum / sqrt(n squares) orders as t does.
        observed = t / np.sqrt(n - 1 + t**2) * (1 - 1e-12)
        constant = np.isinf(spread)
        observed[constant] = np.where(gap[constant].mean(axis=1) > 1e-12, np.inf, 0.0)
        order = np.argsort(-observed, kind="stable")
        self.better, self.worse, self.observed = better[order], worse[order], observed[order]
        self.weight = (1 / (np.sqrt(n) * spread))[order]
        centred = scores - scores.mean(axis=1, keepdims=True)
        self.sums = centred @ signs(n, n_samples, seed).T

    def together(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The better and the worse model of every pair, and its p-value, adjusted for all pairs."""
        return self.better, self.worse, self.adjusted(np.arange(len(self.better)))

    def own(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same with p-values [pair, 2], adjusted for the pairs of the better model, and for
        those of the worse."""
        pvalue = np.empty((len(self.better), 2))
        for model in range(len(self.sums)):
            members = np.flatnonzero((self.better == model) | (self.worse == model))
            pvalue[members, (self.worse[members] == model) * 1] = self.adjusted(members)
        return self.better, self.worse, pvalue

    def adjusted(self, family: np.ndarray) -> np.ndarray:
        """Stepdown p-values of some pairs as a family, by the largest flipped statistic in play."""
        # The opposite direction of a pair is never rejected, and so always in play.
        largest = np.zeros(self.sums.shape[1])
        for pair in family:
            np.maximum(largest, -self.flipped(pair), out=largest)
        count = np.zeros(len(family))
        for place in range(len(family) - 1, -1, -1):
            np.maximum(largest, self.flipped(family[place]), out=largest)
            count[place] = (largest >= self.observed[family[place]]).sum()
        adjusted = (1 + count) / (1 + len(largest))
        return np.minimum(1.0, np.maximum.accumulate(adjusted))

    def flipped(self, pair: int) -> np.ndarray:
        """The statistic of a pair under every pattern of signs."""
        gap = self.sums[self.better[pair]] - self.sums[self.worse[pair]]
        return gap * self.weight[pair]


def floor(variances: np.ndarray) -> float:
    """Four more tasks on which two models differ as the most alike tenth of the pairs do."""
    positive = variances[variances > 0.0]
    return 4.0 * float(np.quantile(positive, 0.1)) if len(positive) else 0.0


def corrected_t(t: np.ndarray, off: np.ndarray, n: int) -> np.ndarray:
    """t >= 0, lowered for a skewness against it, two standard errors worse than the sample's.

    `off` are deviations whose squares, with the floor, add up to 1.
    """
    error = np.sqrt(6 * (n - 2) / (n * (n + 1) * (n + 3)))
    against = np.maximum(0.0, 2 * error - (off**3).sum(axis=1))
    above = np.maximum(0.0, t - against / 6)
    return 2 * above / (1 + np.sqrt(1 + 4 / 3 * against * above))


def signs(n: int, n_samples: int, seed: int) -> np.ndarray:
    """Patterns of signs [pattern, task]: all of them for few tasks, else random ones and their
    negatives."""
    if n <= ALL_PATTERNS:
        return (np.arange(2**n)[:, None] >> np.arange(n) & 1) * 2.0 - 1.0
    drawn = np.random.default_rng(seed).integers(0, 2, (n_samples, n)) * 2.0 - 1.0
    return np.concatenate([drawn, -drawn])

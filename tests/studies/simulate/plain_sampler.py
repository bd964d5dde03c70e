"""The witness: draw every score, sort, and measure, as one would write it from the paper."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import gaussian_kde

Measured = Callable[[np.ndarray, int], float]


def average_precision(ranks: np.ndarray, base: int) -> float:
    return float((np.arange(1, len(ranks) + 1) / ranks).sum() / base) if base else 0.0


def precision_at_10(ranks: np.ndarray, base: int) -> float:
    return float((ranks <= 10).sum() / 10)


def recall_at_20(ranks: np.ndarray, base: int) -> float:
    return float((ranks <= 20).sum() / base) if base else 0.0


def reciprocal_rank(ranks: np.ndarray, base: int) -> float:
    return float(1 / ranks[0]) if len(ranks) else 0.0


def success_at_5(ranks: np.ndarray, base: int) -> float:
    return float(len(ranks) > 0 and ranks[0] <= 5)


def ndcg_at_10(ranks: np.ndarray, base: int) -> float:
    if not base:
        return 0.0
    ideal = (1 / np.log2(np.arange(1, min(base, 10) + 1) + 1)).sum()
    return float((1 / np.log2(ranks[ranks <= 10] + 1)).sum() / ideal)


def rank_biased_precision(ranks: np.ndarray, base: int) -> float:
    return float((0.2 * 0.8 ** (ranks - 1.0)).sum())


MEASURES: dict[str, Measured] = {
    "AP": average_precision,
    "P@10": precision_at_10,
    "R@20": recall_at_20,
    "RR": reciprocal_rank,
    "Success@5": success_at_5,
    "nDCG@10": ndcg_at_10,
    "RBP(p=0.8)": rank_biased_precision,
}


def width(scores: np.ndarray) -> float:
    """Scott's bandwidth by scipy; none where it cannot smooth."""
    if len(scores) < 2 or np.ptp(scores) == 0:
        return 0.0
    return float(np.sqrt(gaussian_kde(scores, "scott").covariance[0, 0]))


def plain_samples(
    relevant: np.ndarray,
    others: np.ndarray,
    n_samples: int,
    rng: np.random.Generator,
    *,
    judged: int,
    depth: int | None = None,
    smooth: bool = False,
    denominator: str = "judged",
    measure: str = "AP",
) -> np.ndarray:
    """`n_samples` values of a measure, each from a ranking that was drawn and sorted."""
    depth = depth or len(relevant) + len(others)
    h_relevant, h_others = (width(relevant), width(others)) if smooth else (0.0, 0.0)
    values = np.empty(n_samples)
    for i in range(n_samples):
        n_relevant = min(rng.poisson(len(relevant)), depth) if len(relevant) else 0
        n_others = depth - n_relevant if len(others) else 0
        drawn = []
        if n_relevant:
            drawn.append(
                rng.choice(relevant, n_relevant) + h_relevant * rng.normal(size=n_relevant)
            )
        if n_others:
            drawn.append(rng.choice(others, n_others) + h_others * rng.normal(size=n_others))
        scores = np.concatenate(drawn) if drawn else np.empty(0)
        order = np.lexsort((rng.random(len(scores)), -scores))
        ranks = np.flatnonzero(order < n_relevant) + 1
        base = {
            "judged": max(judged, n_relevant),
            "sampled": n_relevant,
            "poisson": n_relevant + rng.poisson(judged - len(relevant)),
        }[denominator]
        values[i] = MEASURES[measure](ranks, base)
    return values

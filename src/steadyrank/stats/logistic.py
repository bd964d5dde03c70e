"""Logistic regression of the relevance of documents, with topics as clusters."""

from __future__ import annotations

import numpy as np

from steadyrank.measures.holes.lists import CellEntries, Lists

RIDGE = 0.1
"""Prior precision of coefficients, which keeps them finite for separable grades."""

FEWEST_KNOWN = 10
"""Fewest relevant, and fewest non-relevant, judged documents for a model of the rank."""


def fit_logistic(
    x: np.ndarray, reached: np.ndarray, topic: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return coefficients by Newton's method, and a root of their cluster-robust covariance."""
    beta = np.zeros(x.shape[1])
    penalty = RIDGE * np.eye(len(beta))
    for _ in range(50):
        chance = 1.0 / (1.0 + np.exp(-np.clip(x @ beta, -30.0, 30.0)))
        information = (x * (chance * (1.0 - chance))[:, None]).T @ x + penalty
        step = np.linalg.solve(information, x.T @ (reached - chance) - penalty @ beta)
        beta += step
        if np.abs(step).max() < 1e-9:
            break
    sums = np.zeros((int(topic.max(initial=-1)) + 1, len(beta)))
    np.add.at(sums, topic, x * (reached - chance)[:, None])
    bread = np.linalg.inv(information)
    # The sandwich estimator with topics as clusters; the prior counts as one more cluster.
    covariance = bread @ (sums.T @ sums + penalty) @ bread
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2.0)
    return beta, vectors * np.sqrt(np.maximum(values, 0.0))


def rank_law(lists: Lists, top_grade: int) -> np.ndarray | None:
    """Return [hole, grade from 1 on]: probabilities of at least a grade, by the hole's best rank.

    None if there are too few relevant or non-relevant judged documents.
    """
    grades, topic = lists.qrels.grades, np.repeat(np.arange(lists.n_topics), lists.qrels.sizes)
    best = _best_ranks(lists.judged, len(grades))
    seen = best <= lists.depth
    x, grades, topic = _features(best[seen]), np.maximum(grades[seen], 0), topic[seen]
    n_relevant = int((grades > 0).sum())
    if min(n_relevant, len(grades) - n_relevant) < FEWEST_KNOWN:
        return None
    holes = _features(_best_ranks(lists.open, lists.n_open))
    reach = np.ones((lists.n_open, top_grade))
    for grade in range(1, top_grade + 1):
        below = grades >= grade - 1
        beta, _ = fit_logistic(x[below], grades[below] >= grade, topic[below])
        reach[:, grade - 1 :] *= (1.0 / (1.0 + np.exp(-holes @ beta)))[:, None]
    return reach


def _best_ranks(entries: CellEntries, n: int) -> np.ndarray:
    best = np.full(n, np.iinfo(np.int64).max)
    np.minimum.at(best, entries.rows, entries.ranks.astype(np.int64))
    return best


def _features(ranks: np.ndarray) -> np.ndarray:
    return np.stack([np.ones(len(ranks)), np.log(ranks)], axis=1)

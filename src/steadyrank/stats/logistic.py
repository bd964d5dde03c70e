"""Chances by logistic regression on documents that come in topics."""

from __future__ import annotations

import numpy as np

RIDGE = 0.1
"""Prior precision of coefficients, which keeps them finite where grades are separable."""


def fit_logistic(
    x: np.ndarray, reached: np.ndarray, topic: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients by Newton's method, and a root of their covariance, topics being clusters."""
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
    # Topics as clusters, or independent documents where that is wider.
    covariance = bread @ (sums.T @ sums + penalty) @ bread
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2.0)
    return beta, vectors * np.sqrt(np.maximum(values, 0.0))

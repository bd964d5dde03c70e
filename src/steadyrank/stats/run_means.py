"""What would each run score on all topics? Means where some runs lack some topics.

A run that lacks the hard topics has a high mean of the rest. Least-squares means of the model
run + topic put all runs on the same topics, so that ranks and paired tests speak of one thing.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import special

from steadyrank.data.scores import mean_of_present
from steadyrank.stats.inputs import check_scores
from steadyrank.stats.ranks.tied import first_ranks

SAME_MEAN = 1e-12
"""Means closer than this are equal: sums of the same scores in another order differ by as much."""


def other_first(means: np.ndarray, others: np.ndarray) -> int | None:
    """The first run by `others`, where no run has the best mean by both; else None.

    >>> other_first(np.array([0.5, 0.4]), np.array([0.3, 0.4])), other_first(np.ones(2), np.ones(2))
    (1, None)
    """
    first, also = (np.max(values) - values <= SAME_MEAN for values in (means, others))
    return None if (first & also).any() else int(np.argmax(also))


def signs_of(differences: np.ndarray) -> np.ndarray:
    """1, -1, or 0 for equal means."""
    return np.where(np.abs(differences) > SAME_MEAN, np.sign(differences), 0.0)


def share_turned(here: np.ndarray, there: np.ndarray) -> float:
    """Share of the pairs with an order here that have the other one there; ties there count half.

    >>> share_turned(np.array([0.1, 0.2, 0.1, 0.0]), np.array([-0.1, 0.2, 0.0, 0.1]))
    0.5
    """
    has_order = (signs_of(here) != 0.0) & ~np.isnan(there)
    return float(mean_of_present((0.5 - 0.5 * signs_of(here) * signs_of(there))[has_order]))


def adjusted_means(scores: ArrayLike, weights: np.ndarray | None = None) -> np.ndarray:
    """Least-squares means of the runs over all topics of the model score = run + topic.

    The plain means where nothing is missing, weighted where topics have `weights`. Assumes that
    what a run lacks does not depend on how well it would have done there, given the topic's
    difficulty. Where runs share no topics, not even through other runs, each group has means over
    its own topics (`connected_runs` tells).
    NaN for a run without any score.

    >>> adjusted_means([[0.9, np.nan, 0.8], [0.8, 0.2, 0.7]]).round(4).tolist()
    [0.6667, 0.5667]
    """
    matrix = check_scores(scores)
    present = ~np.isnan(matrix)
    if present.all():
        if weights is None:
            return mean_of_present(matrix)
        return np.asarray((matrix * weights).sum(axis=1) / weights.sum())
    weight = np.ones(matrix.shape[1]) if weights is None else weights
    means = np.full(len(matrix), np.nan)
    for members in connected_runs(matrix):
        rows = matrix[members]
        topics = present[members].any(axis=0)
        means[members] = _least_squares(
            rows[:, topics], present[members][:, topics], weight[topics]
        )
    return means


def connected_runs(scores: np.ndarray) -> list[np.ndarray]:
    """Groups of runs that are linked by shared topics; a run without scores is in none."""
    present = ~np.isnan(scores)
    shared = present.astype(np.float64) @ present.T
    _, group = scipy.sparse.csgraph.connected_components(shared > 0)
    with_scores = present.any(axis=1)
    return [np.flatnonzero((group == g) & with_scores) for g in np.unique(group[with_scores])]


def _least_squares(
    scores: np.ndarray, present: np.ndarray, topic_weights: np.ndarray
) -> np.ndarray:
    """Topics eliminated, the runs' normal equations are a graph's Laplacian."""
    there = present.astype(np.float64)
    weight = there * topic_weights
    per_topic = there.sum(axis=0)
    filled = np.where(present, scores, 0.0)
    topic_means = filled.sum(axis=0) / per_topic
    laplacian = np.diag(weight.sum(axis=1)) - (weight / per_topic) @ there.T
    right = (filled * topic_weights).sum(axis=1) - weight @ topic_means
    # Effects are known up to a constant; adding 1 to all entries picks those that sum to 0.
    effects = np.linalg.solve(laplacian + 1.0, right - right.mean())
    topic_effects = topic_means - effects @ there / per_topic
    return np.asarray(effects + np.average(topic_effects, weights=topic_weights))


def mean_intervals(scores: np.ndarray, confidence: float) -> np.ndarray:
    """t intervals [run, 2] of the runs' means over topics, for one run at a time.

    Around the adjusted mean, with the spread over the run's own topics; NaN below two topics.

    >>> mean_intervals(np.array([[0.1, 0.2, 0.3]]), 0.95).round(4).tolist()
    [[-0.0484, 0.4484]]
    """
    own, n = mean_of_present(scores), (~np.isnan(scores)).sum(axis=1)
    squares = np.nansum((scores - own[:, None]) ** 2, axis=1)
    df = np.where(n > 1, n - 1.0, np.nan)
    half = special.stdtrit(df, 0.5 + 0.5 * confidence) * np.sqrt(squares / df / np.maximum(n, 1))
    mean = adjusted_means(scores)
    return np.stack([mean - half, mean + half], axis=1)


def best_first(means: np.ndarray) -> np.ndarray:
    """Places of the runs from the highest mean down, those without a mean last."""
    return np.argsort(_descending(means), kind="stable")


def ranks_of(means: np.ndarray) -> np.ndarray:
    """Ranks from 1 for the highest mean; equal means share the better rank.

    >>> ranks_of(np.array([0.1 + 0.2, 0.5, 0.3])).tolist()
    [2, 1, 2]
    """
    return first_ranks(_descending(means))


def _descending(means: np.ndarray) -> np.ndarray:
    """Sort keys: the higher the mean the lower, and equal where means are as good as equal."""
    return np.asarray(-np.round(np.nan_to_num(means, nan=-np.inf) / SAME_MEAN))

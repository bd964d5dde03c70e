"""What would each run score on all topics, and on new ones? Means where some runs lack some topics.

A run that lacks the hard topics has a high mean of the rest. Least-squares means of the model
run + topic put all runs on the same topics, so that ranks and paired tests speak of one thing.

The best of many runs was picked by the scores that it is praised for: the highest mean is too high,
the more so the more runs there are and the closer they lie. An empirical Bayes estimate learns from
all runs how far true means lie apart, and from that how much of the leader's lead is likely to stay
on new topics (Robbins 1956; Efron 2016, doi:10.1093/biomet/asv068).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from steadyrank.data.order import order_by_name
from steadyrank.data.scores import mean_of_present
from steadyrank.stats.inputs import check_scores
from steadyrank.stats.student import t_intervals

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
    error = np.sqrt(squares / df / np.maximum(n, 1))
    return t_intervals(adjusted_means(scores), error, df, confidence)


def best_first(means: np.ndarray) -> np.ndarray:
    """Places of the runs from the highest mean down, those without a mean last."""
    return np.argsort(_descending(means), kind="stable")


def in_order(means: np.ndarray, names: Sequence[str]) -> list[int]:
    """Places of the runs that have a mean, best first; equal means in the order of their names.

    >>> in_order(np.array([0.5, np.nan, 0.7, 0.5]), ["b", "c", "d", "a"])
    [2, 3, 0]
    """
    places = order_by_name(names)
    ranked = places[best_first(means[places])]
    return [int(run) for run in ranked if not np.isnan(means[run])]


def ranks_of(means: np.ndarray) -> np.ndarray:
    """Ranks from 1 for the highest mean; equal means share the better rank.

    >>> ranks_of(np.array([0.1 + 0.2, 0.5, 0.3])).tolist()
    [2, 1, 2]
    """
    return first_ranks(_descending(means))


def _descending(means: np.ndarray) -> np.ndarray:
    """Sort keys: the higher the mean the lower, and equal where means are as good as equal."""
    return np.asarray(-np.round(np.nan_to_num(means, nan=-np.inf) / SAME_MEAN))


ATOMS = 160
"""Points that the distribution of true means is made of."""

STEPS = 40
"""Of the EM algorithm, stopped early."""

SMOOTHING = 0.5
"""Standard deviation of what the estimated distribution is smoothed by, in standard errors of a
mean: maximum likelihood puts all its weight on a few points, as if these were known."""

FEWEST_RUNS = 3
"""Below, there is nothing to learn how far runs lie apart from: means are left as they are."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExpectedMeans:
    """What runs are expected to score on new topics of the same difficulty."""

    mean: np.ndarray
    """One per run; NaN for a run without scores."""
    atoms: np.ndarray
    posterior: np.ndarray
    """[run, atom]: where each run's true mean is likely to lie; rows of 0 where unknown."""


def expected_means(scores: np.ndarray) -> ExpectedMeans:
    """Posterior means of the runs, given the distribution of true means that all of them suggest.

    Model: adjusted mean of run i = true mean + N(0, s² / n_i), s² the residual of run + topic; the
    true means come from a distribution on a grid, estimated by maximum likelihood (EM). Unlike
    shrinking towards a normal distribution, one broken run or a long tail of poor ones leaves
    the others' estimates alone.

    >>> scores = np.random.default_rng(1).normal(size=(20, 25))
    >>> best = int(adjusted_means(scores).argmax())
    >>> bool(expected_means(scores).mean[best] < adjusted_means(scores)[best])
    True
    """
    means = adjusted_means(scores)
    known = ~np.isnan(means)
    atoms, posterior = np.zeros(ATOMS), np.zeros((len(means), ATOMS))
    variance = _error_variance(scores, means)
    if known.sum() < FEWEST_RUNS or not variance > 0.0 or np.ptp(means[known]) == 0.0:
        return ExpectedMeans(mean=means, atoms=atoms, posterior=posterior)
    n = (~np.isnan(scores)).sum(axis=1)[known]
    low, high = means[known].min(), means[known].max()
    error = float(np.sqrt(variance / n.mean()))
    atoms = np.linspace(low - 2.0 * error, high + 2.0 * error, ATOMS)
    off = means[known][:, None] - atoms
    likelihood = np.exp(-0.5 * off * off * n[:, None] / variance)
    weight = ((low <= atoms) & (atoms <= high)).astype(np.float64)
    if not weight.any():
        # Runs that are nearly tied may all lie between two atoms: then these two.
        weight = (np.abs(atoms - 0.5 * (low + high)) <= atoms[1] - atoms[0]).astype(np.float64)
    for _ in range(STEPS):
        weight = _shares(likelihood, weight).mean(axis=0)
    gaps = (atoms[:, None] - atoms) / (SMOOTHING * error)
    posterior[known] = _shares(likelihood, np.exp(-0.5 * gaps * gaps) @ weight)
    expected = np.where(known, posterior @ atoms, np.nan)
    return ExpectedMeans(mean=expected, atoms=atoms, posterior=posterior)


def _shares(likelihood: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Posterior shares of the atoms for each run."""
    share = likelihood * weight
    total = share.sum(axis=1, keepdims=True)
    # A run with very few topics may lie where no atom is likely: then all are, as weighted.
    known = total > 0.0
    return np.asarray(np.where(known, share / np.where(known, total, 1.0), weight / weight.sum()))


def intervals_as_picked(
    scores: np.ndarray, confidence: float, expected: ExpectedMeans | None = None
) -> np.ndarray:
    """t intervals [run, 2] of the runs' means, one at a time, that allow for how runs were picked.

    Student's interval around the mean, and the same around what is expected of the run on new
    topics, together: the leader's reaches further down, the last one's further up. For a run that
    nobody picked it is a little wide.

    >>> low, high = intervals_as_picked(np.array([[0.1, 0.2, 0.3], [0.3, 0.4, 0.2]]), 0.95)[0]
    >>> round(float(low), 4), round(float(high), 4)
    (-0.0484, 0.4484)
    """
    low, high = mean_intervals(scores, confidence).T
    shift = (expected or expected_means(scores)).mean - adjusted_means(scores)
    return np.stack([low + np.minimum(shift, 0.0), high + np.maximum(shift, 0.0)], axis=1)


def _error_variance(scores: np.ndarray, means: np.ndarray) -> float:
    """The residual mean square of the model run + topic."""
    off = scores - means[:, None]
    present = ~np.isnan(off)
    per_topic = present.sum(axis=0)
    topic = np.where(present, off, 0.0).sum(axis=0) / np.maximum(per_topic, 1)
    residual = np.where(present, off - topic, 0.0)
    df = present.sum() - (per_topic > 0).sum() - present.any(axis=1).sum() + 1
    return float((residual**2).sum() / df) if df > 0 else float("nan")


def first_ranks(values: np.ndarray) -> np.ndarray:
    """Equal numbers share the best of their ranks.

    >>> first_ranks(np.array([[3.0, 1.0, 1.0], [2.0, 2.0, 5.0]])).tolist()
    [[3, 1, 1], [1, 1, 3]]
    """
    order, ordered = _ordered(values)
    return _in_place(order, _starts(ordered) + 1)


def average_ranks(values: np.ndarray) -> np.ndarray:
    """Equal numbers share the average of their ranks; all are NaN where any number is.

    >>> average_ranks(np.array([3.0, 1.0, 1.0, 7.0])).tolist()
    [3.0, 1.5, 1.5, 4.0]
    """
    order, ordered = _ordered(values)
    from_behind = _starts(ordered[..., ::-1])[..., ::-1]
    ranks = _in_place(order, 0.5 * (_starts(ordered) + values.shape[-1] - from_behind + 1))
    ranks[np.isnan(values).any(axis=-1)] = np.nan
    return ranks


def _ordered(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(values, axis=-1, kind="stable")
    return order, np.take_along_axis(values, order, axis=-1)


def _starts(ordered: np.ndarray) -> np.ndarray:
    """For each of some ordered numbers, the place of the first that equals it."""
    places = np.zeros(ordered.shape, np.int64)
    is_new = ordered[..., 1:] != ordered[..., :-1]
    places[..., 1:] = np.where(is_new, np.arange(1, ordered.shape[-1]), 0)
    return np.maximum.accumulate(places, axis=-1)


def _in_place(order: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Ranks of ordered numbers, brought back into the numbers' own order."""
    out = np.empty_like(ranks)
    np.put_along_axis(out, order, ranks, axis=-1)
    return out

"""Means and ranks of runs, also if runs lack topics, and means expected on new topics.

A run that lacks hard topics has a high mean over the others. Least-squares means of the model
run + topic put all runs on the same topics, so that ranks and paired tests agree.

The highest of many means is too high, because the run was selected by it: the more so, the more
runs there are and the closer they are. An empirical Bayes estimate learns from all runs how far
true means are apart, and from that how much of the leader's lead is likely to remain on new topics
(Robbins 1956; Efron 2016, doi:10.1093/biomet/asv068).
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
from steadyrank.stats.interval import t_intervals

SAME_MEAN = 1e-12
"""Means closer than this count as equal; the order of summation changes them by as much."""


def other_first(means: np.ndarray, others: np.ndarray) -> int | None:
    """Return the best run by `others` if no run has the best mean by both, otherwise None.

    >>> other_first(np.array([0.5, 0.4]), np.array([0.3, 0.4])), other_first(np.ones(2), np.ones(2))
    (1, None)
    """
    first, also = (np.max(values) - values <= SAME_MEAN for values in (means, others))
    return None if (first & also).any() else int(np.argmax(also))


def signs_of(differences: np.ndarray) -> np.ndarray:
    """Return 1, -1, or 0 for equal means."""
    return np.where(np.abs(differences) > SAME_MEAN, np.sign(differences), 0.0)


def share_turned(here: np.ndarray, there: np.ndarray) -> float:
    """Return the share of pairs ordered `here` that are reversed `there`; ties there count half.

    >>> share_turned(np.array([0.1, 0.2, 0.1, 0.0]), np.array([-0.1, 0.2, 0.0, 0.1]))
    0.5
    """
    has_order = (signs_of(here) != 0.0) & ~np.isnan(there)
    return float(mean_of_present((0.5 - 0.5 * signs_of(here) * signs_of(there))[has_order]))


def adjusted_means(scores: ArrayLike, weights: np.ndarray | None = None) -> np.ndarray:
    """Return least-squares means of the runs over all topics, by the model score = run + topic.

    These are plain means if no score is missing, and weighted ones if topics have `weights`. If
    groups of runs share no topics, each group has means over the topics of the group (see
    `connected_runs`). NaN for a run without any score.
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
    """Return groups of runs that are linked by shared topics; runs without scores are in none."""
    present = ~np.isnan(scores)
    shared = present.astype(np.float64) @ present.T
    _, group = scipy.sparse.csgraph.connected_components(shared > 0)
    with_scores = present.any(axis=1)
    return [np.flatnonzero((group == g) & with_scores) for g in np.unique(group[with_scores])]


def _least_squares(
    scores: np.ndarray, present: np.ndarray, topic_weights: np.ndarray
) -> np.ndarray:
    """Eliminate topics and solve the normal equations of runs, which are a graph's Laplacian."""
    there = present.astype(np.float64)
    weight = there * topic_weights
    per_topic = there.sum(axis=0)
    filled = np.where(present, scores, 0.0)
    topic_means = filled.sum(axis=0) / per_topic
    laplacian = np.diag(weight.sum(axis=1)) - (weight / per_topic) @ there.T
    right = (filled * topic_weights).sum(axis=1) - weight @ topic_means
    # Effects are determined up to a constant; adding 1 to all entries selects those that sum to 0.
    effects = np.linalg.solve(laplacian + 1.0, right - right.mean())
    topic_effects = topic_means - effects @ there / per_topic
    return np.asarray(effects + np.average(topic_effects, weights=topic_weights))


def mean_intervals(scores: np.ndarray, confidence: float) -> np.ndarray:
    """Return t intervals [run, 2] of the runs' means over topics, each valid for one run.

    They are centred at the adjusted mean, with the standard error over the run's topics; NaN for
    fewer than two topics.
    """
    own, n = mean_of_present(scores), (~np.isnan(scores)).sum(axis=1)
    squares = np.nansum((scores - own[:, None]) ** 2, axis=1)
    df = np.where(n > 1, n - 1.0, np.nan)
    error = np.sqrt(squares / df / np.maximum(n, 1))
    return t_intervals(adjusted_means(scores), error, df, confidence)


def best_first(means: np.ndarray) -> np.ndarray:
    """Return positions of the runs from the highest mean down, those without a mean last."""
    return np.argsort(_descending(means), kind="stable")


def in_order(means: np.ndarray, names: Sequence[str]) -> list[int]:
    """Return positions of the runs that have a mean, best first; equal means by name.

    >>> in_order(np.array([0.5, np.nan, 0.7, 0.5]), ["b", "c", "d", "a"])
    [2, 3, 0]
    """
    places = order_by_name(names)
    ranked = places[best_first(means[places])]
    return [int(run) for run in ranked if not np.isnan(means[run])]


def ranks_of(means: np.ndarray) -> np.ndarray:
    """Return ranks from 1 for the highest mean; equal means share the better rank.

    >>> ranks_of(np.array([0.1 + 0.2, 0.5, 0.3])).tolist()
    [2, 1, 2]
    """
    return first_ranks(_descending(means))


def _descending(means: np.ndarray) -> np.ndarray:
    """Return sort keys that descend with the mean, and are equal for means that count as equal."""
    return np.asarray(-np.round(np.nan_to_num(means, nan=-np.inf) / SAME_MEAN))


ATOMS = 160
"""Number of points of the distribution of true means."""

STEPS = 40
"""Steps of the EM algorithm, which is stopped early."""

SMOOTHING = 0.5
"""Standard deviation of the normal kernel that smooths the estimated distribution, in standard
errors of a mean: maximum likelihood alone concentrates it on a few points."""

FEWEST_RUNS = 3
"""With fewer runs the distribution of true means cannot be estimated: means are not changed."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExpectedMeans:
    """Expected means of runs on new topics of the same difficulty."""

    mean: np.ndarray
    """One per run; NaN for a run without scores."""
    atoms: np.ndarray
    posterior: np.ndarray
    """[run, atom]: posterior distribution of each run's true mean; rows of 0 if unknown."""


def expected_means(scores: np.ndarray) -> ExpectedMeans:
    """Return posterior means of the runs, given a distribution of true means learned from all runs.

    Model: adjusted mean of run i = true mean + N(0, s² / n_i), s² the residual of run + topic; the
    true means come from a distribution on a grid, estimated by maximum likelihood (EM), so that one
    broken run or a long tail of poor runs does not affect the estimates of the others.
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
        # Nearly tied runs may all be between two atoms: then these two are used.
        weight = (np.abs(atoms - 0.5 * (low + high)) <= atoms[1] - atoms[0]).astype(np.float64)
    for _ in range(STEPS):
        weight = _shares(likelihood, weight).mean(axis=0)
    gaps = (atoms[:, None] - atoms) / (SMOOTHING * error)
    posterior[known] = _shares(likelihood, np.exp(-0.5 * gaps * gaps) @ weight)
    expected = np.where(known, posterior @ atoms, np.nan)
    return ExpectedMeans(mean=expected, atoms=atoms, posterior=posterior)


def _shares(likelihood: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the posterior probabilities of the atoms for each run."""
    share = likelihood * weight
    total = share.sum(axis=1, keepdims=True)
    # If no atom is likely, as for a run with very few topics, the prior weights are used.
    known = total > 0.0
    return np.asarray(np.where(known, share / np.where(known, total, 1.0), weight / weight.sum()))


def intervals_as_picked(
    scores: np.ndarray, confidence: float, expected: ExpectedMeans | None = None
) -> np.ndarray:
    """Return t intervals [run, 2] of the runs' means that allow for selection by the mean.

    An interval covers Student's interval around the mean, and the same around the expected mean on
    new topics.
    """
    low, high = mean_intervals(scores, confidence).T
    shift = (expected or expected_means(scores)).mean - adjusted_means(scores)
    return np.stack([low + np.minimum(shift, 0.0), high + np.maximum(shift, 0.0)], axis=1)


def _error_variance(scores: np.ndarray, means: np.ndarray) -> float:
    """Return the residual mean square of the model run + topic."""
    off = scores - means[:, None]
    present = ~np.isnan(off)
    per_topic = present.sum(axis=0)
    topic = np.where(present, off, 0.0).sum(axis=0) / np.maximum(per_topic, 1)
    residual = np.where(present, off - topic, 0.0)
    df = present.sum() - (per_topic > 0).sum() - present.any(axis=1).sum() + 1
    return float((residual**2).sum() / df) if df > 0 else float("nan")


def first_ranks(values: np.ndarray) -> np.ndarray:
    """Return ranks from 1 for the smallest number; equal numbers share the best of their ranks."""
    order, ordered = _ordered(values)
    return _in_place(order, _starts(ordered) + 1)


def average_ranks(values: np.ndarray) -> np.ndarray:
    """Return ranks, of which equal numbers share the average; all are NaN if any number is."""
    order, ordered = _ordered(values)
    from_behind = _starts(ordered[..., ::-1])[..., ::-1]
    ranks = _in_place(order, 0.5 * (_starts(ordered) + values.shape[-1] - from_behind + 1))
    ranks[np.isnan(values).any(axis=-1)] = np.nan
    return ranks


def _ordered(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(values, axis=-1, kind="stable")
    return order, np.take_along_axis(values, order, axis=-1)


def _starts(ordered: np.ndarray) -> np.ndarray:
    """Return for each of the ordered numbers the position of the first that equals it."""
    places = np.zeros(ordered.shape, np.int64)
    is_new = ordered[..., 1:] != ordered[..., :-1]
    places[..., 1:] = np.where(is_new, np.arange(1, ordered.shape[-1]), 0)
    return np.maximum.accumulate(places, axis=-1)


def _in_place(order: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Return ranks of ordered numbers in the original order of the numbers."""
    out = np.empty_like(ranks)
    np.put_along_axis(out, order, ranks, axis=-1)
    return out

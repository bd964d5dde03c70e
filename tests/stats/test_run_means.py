"""Least-squares means put runs that lack topics on the same topics as the others."""

from __future__ import annotations

import numpy as np
import pytest

from steadyrank.stats.run_means import adjusted_means, connected_runs, mean_intervals


def test_without_gaps_they_are_the_means():
    scores = np.random.default_rng(0).random((5, 12))
    np.testing.assert_array_equal(adjusted_means(scores), scores.mean(axis=1))


def test_against_the_regression_on_runs_and_topics():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(5, 12))
    scores[rng.random(scores.shape) < 0.3] = np.nan
    run, topic = np.nonzero(~np.isnan(scores))
    design = np.zeros((len(run), 5 + 11))
    design[np.arange(len(run)), run] = 1
    for t in range(1, 12):
        design[topic == t, 4 + t] = 1
    found = np.linalg.lstsq(design, scores[run, topic], rcond=None)[0]
    expected = found[:5] + np.append(found[5:], 0.0).mean()
    np.testing.assert_allclose(adjusted_means(scores), expected, rtol=1e-10)


def test_additive_scores_lose_nothing_by_gaps():
    rng = np.random.default_rng(2)
    whole = rng.random((6, 1)) + rng.random(40)
    gaps = whole.copy()
    gaps[rng.random(gaps.shape) < 0.4] = np.nan
    np.testing.assert_allclose(adjusted_means(gaps), whole.mean(axis=1), rtol=1e-10)


def test_runs_without_topics_in_common_keep_their_own():
    scores = np.full((4, 4), np.nan)
    scores[0, :2], scores[1, :2], scores[2, 2:] = [0.1, 0.3], [0.2, 0.4], [0.9, 0.7]
    np.testing.assert_allclose(adjusted_means(scores), [0.2, 0.3, 0.8, np.nan])
    assert [group.tolist() for group in connected_runs(scores)] == [[0, 1], [2]]


def test_intervals_lie_around_the_adjusted_means():
    scores = np.array([[0.9, np.nan, 0.8], [0.8, 0.2, 0.7]])
    low, high = mean_intervals(scores, 0.95).T
    np.testing.assert_allclose(0.5 * (low + high), adjusted_means(scores))


def test_weighted_means_are_those_of_weighted_least_squares():
    """Dummies for runs and topics, rows times the roots of the weights, as any textbook has it."""
    rng = np.random.default_rng(3)
    scores, weights = rng.normal(0.4, 0.2, (4, 12)), rng.uniform(0.5, 4.0, 12)
    whole = adjusted_means(scores, weights)
    assert whole == pytest.approx(np.average(scores, axis=1, weights=weights))
    scores[rng.random(scores.shape) < 0.25] = np.nan
    runs, topics = np.nonzero(~np.isnan(scores))
    design = np.zeros((len(runs), 16))
    design[np.arange(len(runs)), runs] = 1.0
    design[np.arange(len(runs)), 4 + topics] = 1.0
    root = np.sqrt(weights[topics])
    effects = np.linalg.lstsq(design * root[:, None], scores[runs, topics] * root, rcond=None)[0]
    expected = effects[:4] + np.average(effects[4:], weights=weights)
    assert adjusted_means(scores, weights) == pytest.approx(expected)

"""The leader of many close runs was lucky: what is expected of it must come true on average."""

from __future__ import annotations

import numpy as np
import pytest

from steadyrank.stats.run_means import (
    adjusted_means,
    expected_means,
    intervals_as_picked,
    mean_intervals,
)


def true_means(kind, n_runs, rng):
    if kind == "equal":
        return np.zeros(n_runs)
    if kind == "long tail":
        return -rng.exponential(0.1, n_runs)
    means = rng.normal(0, 0.015, n_runs)
    if kind == "one broken":
        means[0] = -0.6
    return means


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["equal", "close", "long tail", "one broken"])
@pytest.mark.parametrize(("n_runs", "n_topics"), [(10, 25), (40, 43)])
def test_what_is_expected_of_the_leader_comes_true(kind, n_runs, n_topics):
    # 150 experiments; the Monte Carlo error of the average is below .0025.
    rng = np.random.default_rng([n_runs, n_topics])
    sd = 0.12
    bias, plain_bias = [], []
    for _ in range(150):
        true = true_means(kind, n_runs, rng)
        scores = true[:, None] + rng.normal(0, sd, (n_runs, n_topics)) + rng.normal(size=n_topics)
        means = adjusted_means(scores)
        first = np.argmax(means)
        expected = expected_means(scores)
        centre = scores.mean() - true.mean()
        bias.append(expected.mean[first] - true[first] - centre)
        plain_bias.append(means[first] - true[first] - centre)
    assert abs(np.mean(bias)) < 0.4 * np.mean(plain_bias)


def test_runs_far_apart_stay_where_they_are():
    scores = np.array([0.1, 0.5, 0.9])[:, None] + np.random.default_rng(3).normal(0, 0.01, (3, 50))
    np.testing.assert_allclose(expected_means(scores).mean, scores.mean(axis=1), atol=0.004)


def test_equal_scores_and_missing_runs():
    scores = np.tile(np.random.default_rng(4).random(10), (4, 1))
    np.testing.assert_allclose(expected_means(scores).mean, scores.mean(axis=1))
    scores[1] = np.nan
    assert np.isnan(expected_means(scores).mean).tolist() == [False, True, False, False]


@pytest.mark.slow
def test_the_leaders_interval_holds_its_mean():
    # 200 experiments of 40 equal runs: at .95 fewer than 176 happen once in 2,000.
    rng = np.random.default_rng(12)
    held = plain = 0
    for _ in range(200):
        scores = rng.normal(size=(40, 25))
        leader = int(scores.mean(axis=1).argmax())
        low, high = intervals_as_picked(scores, 0.95)[leader]
        held += low <= 0 <= high
        low, high = mean_intervals(scores, 0.95)[leader]
        plain += low <= 0 <= high
    assert held >= 176
    assert plain < 140


def test_runs_that_are_nearly_tied_are_expected_where_they_are():
    """Their means may all lie between two atoms of the grid."""
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.3, (3, 20))
    scores = noise - noise.mean(axis=1, keepdims=True) + np.array([[0.5], [0.5001], [0.5002]])
    expected = expected_means(scores).mean
    assert expected == pytest.approx([0.5001] * 3, abs=0.01)

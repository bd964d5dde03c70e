"""Least-squares means, ranks, and what is expected of the leader of many close runs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata

from steadyrank.stats.run_means import (
    adjusted_means,
    average_ranks,
    connected_runs,
    expected_means,
    first_ranks,
    intervals_as_picked,
    mean_intervals,
)


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


def test_runs_without_topics_in_common_keep_their_own():
    scores = np.full((4, 4), np.nan)
    scores[0, :2], scores[1, :2], scores[2, 2:] = [0.1, 0.3], [0.2, 0.4], [0.9, 0.7]
    np.testing.assert_allclose(adjusted_means(scores), [0.2, 0.3, 0.8, np.nan])
    assert [group.tolist() for group in connected_runs(scores)] == [[0, 1], [2]]


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


@pytest.mark.parametrize("shape", [(0,), (1,), (9,), (7, 1), (6, 40), (2, 3, 12)])
@pytest.mark.parametrize("n_values", [1, 3, 1000])
def test_ranks_are_those_of_scipy(shape, n_values):
    values = np.random.default_rng(len(shape)).integers(-n_values, n_values, shape) / 7.0
    first, average = first_ranks(values), average_ranks(values)
    assert first.dtype == np.int64
    np.testing.assert_array_equal(first, rankdata(values, method="min", axis=-1))
    np.testing.assert_array_equal(average, rankdata(values, axis=-1))


def test_zeros_of_either_sign_are_equal_and_infinities_are_numbers():
    values = np.array([0.0, -0.0, np.inf, -np.inf, np.inf])
    np.testing.assert_array_equal(first_ranks(values), rankdata(values, method="min"))
    np.testing.assert_array_equal(average_ranks(values), rankdata(values))


def test_a_number_that_is_none_leaves_no_rank_of_its_row():
    values = np.array([[1.0, np.nan, 2.0], [3.0, 1.0, 2.0]])
    np.testing.assert_array_equal(average_ranks(values), rankdata(values, axis=-1))


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

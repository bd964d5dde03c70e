"""Effect sizes against brute force, simulation and their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from plain_tables import refused
from scipy import stats

from steadyrank.stats.pairs.effects import effect_sizes, hedges_correction, read_effect
from steadyrank.stats.pairs.result import NO_DIFFERENCE, TOO_FEW, ZERO_VARIANCE, all_pairs

scores_with_ties = arrays(
    float,
    st.tuples(st.integers(2, 4), st.integers(1, 12)),
    elements=st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0, np.nan]),
)


def brute_force_delta(a, b):
    common = ~np.isnan(a) & ~np.isnan(b)
    if not common.any():
        return np.nan
    return np.sign(a[common][:, None] - b[common]).mean()


@given(scores_with_ties)
def test_cliffs_delta_and_wins_as_by_brute_force(scores):
    pairs = all_pairs(len(scores))
    sizes = effect_sizes(scores, pairs)
    deltas, won = sizes.cliffs_delta, np.stack([sizes.wins, sizes.ties, sizes.losses], axis=1)
    for index, (i, j) in enumerate(pairs):
        expected = brute_force_delta(scores[i], scores[j])
        np.testing.assert_allclose(deltas[index], expected, atol=1e-15)
        z = scores[i] - scores[j]
        assert won[index].tolist() == [np.sum(z > 0), np.sum(z == 0), np.sum(z < 0)]


@given(scores_with_ties)
def test_cliffs_delta_against_one_run_is_that_of_all_pairs(scores):
    others = np.arange(1, len(scores))
    baseline = np.stack([others, np.zeros_like(others)], axis=1)
    sizes = effect_sizes(scores, baseline)
    expected = [brute_force_delta(scores[i], scores[0]) for i in others]
    np.testing.assert_allclose(sizes.cliffs_delta, expected, atol=1e-15)


@given(scores_with_ties)
def test_swapping_the_runs_turns_every_sign(scores):
    pairs = all_pairs(len(scores))
    one, other = effect_sizes(scores, pairs), effect_sizes(scores, pairs[:, ::-1])
    for name in ("paired_d", "hedges_g", "residual_d", "cliffs_delta", "difference"):
        np.testing.assert_array_equal(getattr(one, name), -getattr(other, name))
    np.testing.assert_array_equal(one.wins, other.losses)
    np.testing.assert_array_equal(one.flag, other.flag)


def test_paired_d_is_mean_over_standard_deviation():
    random = np.random.default_rng(1)
    scores = random.random((6, 40))
    scores[random.random(scores.shape) < 0.1] = np.nan
    pairs = all_pairs(6)
    z = scores[pairs[:, 0]] - scores[pairs[:, 1]]
    found = effect_sizes(scores, pairs)
    d = np.nanmean(z, axis=1) / np.nanstd(z, axis=1, ddof=1)
    np.testing.assert_allclose(found.paired_d, d, rtol=1e-12)
    t = stats.ttest_1samp(z, 0.0, axis=1, nan_policy="omit").statistic
    np.testing.assert_allclose(found.paired_d * np.sqrt(found.n), t, rtol=1e-10)


def test_residual_d_uses_the_residual_of_the_two_way_model():
    scores = np.random.default_rng(2).random((2, 15))
    residual = scores - scores.mean(axis=1, keepdims=True) - scores.mean(axis=0) + scores.mean()
    sd = np.sqrt((residual**2).sum() / 14)
    difference = scores[0].mean() - scores[1].mean()
    found = effect_sizes(scores, [[0, 1]])
    assert found.residual_d[0] == pytest.approx(difference / sd)


def test_hedges_removes_the_bias():
    # E[d] = delta / J exactly for normal differences: the mean of the noncentral t.
    for n in (3, 5, 20, 249):
        expected = stats.nct.mean(n - 1, 0.5 * np.sqrt(n)) / np.sqrt(n)
        assert hedges_correction(n - 1) * expected == pytest.approx(0.5, rel=1e-10)
    df = np.array([5, 50, 500])
    np.testing.assert_allclose(hedges_correction(df), 1 - 3 / (4 * df - 1), rtol=2e-3)


def test_words():
    values = [0.0, 0.19, -0.2, 0.49, 0.5, -0.79, 0.8, np.inf, np.nan]
    words = [word for word in ("negligible", "small", "medium", "large") for _ in range(2)]
    assert read_effect(values).tolist() == [*words, ""]


def test_degenerate_pairs():
    scores = np.array([[0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [0.2, 0.3, 0.4], [np.nan, np.nan, 0.1]])
    found = effect_sizes(scores, [[0, 1], [2, 0], [0, 2], [0, 3]])
    assert found.flag.tolist() == [NO_DIFFERENCE, ZERO_VARIANCE, ZERO_VARIANCE, TOO_FEW]
    np.testing.assert_array_equal(found.paired_d, [0.0, np.inf, -np.inf, np.nan])
    np.testing.assert_array_equal(found.hedges_g, [0.0, np.inf, -np.inf, np.nan])
    assert found.reading.tolist() == ["negligible", "large", "large", ""]
    assert found.wins.tolist() == [0, 3, 0, 1]


def test_no_common_topic_and_no_pairs():
    scores = np.array([[0.1, np.nan], [np.nan, 0.2]])
    found = effect_sizes(scores, [[0, 1]])
    assert found.n[0] == 0
    assert found.flag[0] == TOO_FEW
    assert np.isnan(found.cliffs_delta[0])
    assert effect_sizes(scores, []).n.shape == (0,)
    assert effect_sizes(np.zeros((2, 0)), [[0, 1]]).flag.tolist() == [TOO_FEW]


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_the_order_of_topics_does_not_matter(seed):
    random = np.random.default_rng(seed)
    scores = random.integers(0, 5, (3, 9)) / 4
    order = random.permutation(9)
    one, other = effect_sizes(scores, all_pairs(3)), effect_sizes(scores[:, order], all_pairs(3))
    np.testing.assert_array_equal(one.cliffs_delta, other.cliffs_delta)
    np.testing.assert_allclose(one.paired_d, other.paired_d, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("scores", "pairs", "message"),
    [
        ([0.1, 0.2], [[0, 1]], "matrix"),
        ([[0.1], [np.inf]], [[0, 1]], "infinite"),
        ([[0.1], [0.2]], [[0, 2]], "names run 2"),
        ([[0.1], [0.2]], [[-1, 0]], "names run -1"),
        ([[0.1], [0.2]], [[0.0, 1.0]], "integers"),
    ],
)
def test_wrong_input_is_refused(scores, pairs, message):
    refused(message, effect_sizes, scores, pairs)

"""Wilcoxon's test among families and on many topics, as counted by `bench.levels.signed_ranks`.

Bands are five standard errors wide: a false alarm once in a million suites. Seeds are fixed.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from bench.levels import signed_ranks as levels

N = 400


@pytest.fixture(scope="module")
def matrix():
    """Thirty runs on 200 topics: skewed scores, and means that differ."""
    rng = np.random.default_rng(5)
    topics = rng.beta(1.0, 3.0, 200)
    shapes = rng.uniform(0.5, 2.0, (30, 1))
    return np.clip(topics**shapes + rng.normal(0.0, 0.05, (30, 200)), 0.0, 1.0)


def near(rate, expected):
    return abs(rate - expected) <= 5.0 * np.sqrt(expected * (1.0 - expected) / N) + 1e-12


@pytest.mark.parametrize("n_topics", [25, 250])
def test_the_sign_test_rejects_as_often_as_the_binomial_says(n_topics):
    """P(exponential > its mean) = exp(-1): the hypothesis of the sign test is false."""
    rejected = levels.rejections(levels.exponential, n_topics, N)[2]
    wins = np.arange(n_topics + 1)
    pvalues = np.array([stats.binomtest(int(k), n_topics).pvalue for k in wins])
    expected = stats.binom.pmf(wins, n_topics, np.exp(-1.0))[pvalues <= levels.ALPHA].sum()
    assert near(rejected, min(expected, 1.0 - 1e-9))


def test_signed_ranks_of_many_skewed_topics_reject_equal_means_and_t_does_not():
    t, wilcoxon, sign = levels.rejections(levels.exponential, 2000, N)
    assert near(t, levels.ALPHA)
    assert wilcoxon > 0.99
    assert sign > 0.99


@pytest.mark.parametrize("n_topics", [25, 2000])
def test_all_tests_hold_where_runs_are_exchangeable(matrix, n_topics):
    rates = levels.rejections(levels.exchangeable(matrix, 2), n_topics, N)
    assert np.all(rates <= levels.ALPHA + 5.0 * np.sqrt(levels.ALPHA * 0.95 / N))


def test_families_hold_where_runs_are_exchangeable(matrix):
    rates = levels.any_claim(levels.exchangeable(matrix), 50, 100)
    assert rates.shape == (len(levels.PROCEDURES),)
    assert np.all(rates <= levels.ALPHA + 5.0 * np.sqrt(levels.ALPHA * 0.95 / 100))


def test_shares_of_false_claims_and_power(matrix):
    """BH rejects whatever Holm rejects, and keeps its share; t's is the one about means."""
    shares, powers = levels.false_share_and_power(matrix, 50, 60)
    t_bh, wilcoxon_bh, t_holm, wilcoxon_holm, maxt = powers
    assert t_bh >= t_holm > 0.0
    assert wilcoxon_bh >= wilcoxon_holm > 0.0
    assert 0.0 < maxt <= t_bh
    assert shares[0] <= levels.ALPHA

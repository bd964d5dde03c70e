"""Effect sizes against their definitions; the fewest topics that carry a lead, by all subsets."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from steadyrank.stats.pairs.effects import NO_LEAD, carried, effect_sizes, fragility
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.run_means import SAME_MEAN

scores_with_ties = arrays(
    float,
    st.tuples(st.integers(2, 4), st.integers(1, 12)),
    elements=st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0, np.nan]),
)


@given(scores_with_ties)
def test_swapping_the_runs_turns_every_sign(scores):
    pairs = all_pairs(len(scores))
    one, other = effect_sizes(scores, pairs), effect_sizes(scores, pairs[:, ::-1])
    np.testing.assert_array_equal(one.paired_d, -other.paired_d)
    np.testing.assert_array_equal(one.wins, other.losses)
    for index, (i, j) in enumerate(pairs):
        z = scores[i] - scores[j]
        won = one.wins[index], one.ties[index], one.losses[index]
        assert won == (np.sum(z > 0), np.sum(z == 0), np.sum(z < 0))


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
    np.testing.assert_allclose(found.paired_d * np.sqrt((~np.isnan(z)).sum(axis=1)), t, rtol=1e-10)


def test_degenerate_pairs():
    scores = np.array([[0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [0.2, 0.3, 0.4], [np.nan, np.nan, 0.1]])
    found = effect_sizes(scores, [[0, 1], [2, 0], [0, 2], [0, 3]])
    np.testing.assert_array_equal(found.paired_d, [0.0, np.inf, -np.inf, np.nan])
    assert found.wins.tolist() == [0, 3, 0, 1]


def test_no_common_topic_and_no_pairs():
    scores = np.array([[0.1, np.nan], [np.nan, 0.2]])
    assert np.isnan(effect_sizes(scores, [[0, 1]]).paired_d[0])
    assert effect_sizes(scores, []).paired_d.shape == (0,)
    assert np.isnan(effect_sizes(np.zeros((2, 0)), [[0, 1]]).paired_d[0])


def fewest_by_enumeration(difference, weights, clusters):
    """The least number of clusters whose topics, left out, leave no lead."""
    there = ~np.isnan(difference)
    total = (weights * difference)[there].sum()
    if abs(total) <= SAME_MEAN * weights.sum():
        return NO_LEAD
    units = np.unique(clusters[there])
    for k in range(1, len(units) + 1):
        for dropped in itertools.combinations(units, k):
            left = there & ~np.isin(clusters, dropped)
            if np.sign(total) * (weights * difference)[left].sum() <= SAME_MEAN * weights.sum():
                return k
    raise AssertionError("without any topic there is no lead")


@pytest.mark.parametrize("kind", ["plain", "weights", "clusters", "gaps", "ties", "all"])
def test_the_fewest_of_all_subsets(kind):
    rng = np.random.default_rng(3)
    for n in (1, 2, 5, 9, 12):
        scores = rng.random((4, n)) + np.linspace(0.2, 0.0, 4)[:, None]
        if kind in ("ties", "all"):
            scores = np.round(scores * 4) / 4
        if kind in ("gaps", "all"):
            scores[rng.random(scores.shape) < 0.2] = np.nan
        weights = rng.integers(1, 4, n) * 0.5 if kind in ("weights", "all") else np.ones(n)
        clusters = rng.integers(0, 4, n) if kind in ("clusters", "all") else np.arange(n)
        pairs = np.array(list(itertools.combinations(range(4), 2)))
        found = fragility(scores, pairs, weights, clusters)
        for (a, b), k in zip(pairs, found, strict=True):
            difference = scores[a] - scores[b]
            assert k == fewest_by_enumeration(difference, weights, clusters), (n, a, b)
            named = carried(difference, weights, clusters)
            assert len(named.units) == max(k, 0)
            if k > 0:
                left = ~np.isnan(difference) & ~np.isin(clusters, named.units)
                total = np.nansum(weights * difference)
                rest = (weights * difference)[left].sum()
                assert np.sign(total) * rest <= SAME_MEAN * weights.sum()


def test_many_pairs_by_sorting():
    rng = np.random.default_rng(0)
    scores = rng.beta(1, 3, (40, 150)) + np.linspace(0.3, 0.0, 40)[:, None]
    pairs = np.array(list(itertools.combinations(range(40), 2)))
    found = fragility(scores, pairs)
    assert found.tolist() == [len(carried(scores[a] - scores[b]).units) for a, b in pairs]


def test_every_topic_favours_the_first():
    scores = np.array([[0.5, 0.6, 0.7], [0.4, 0.5, 0.6]])
    assert fragility(scores, np.array([[0, 1], [1, 0]])).tolist() == [3, 3]
    assert carried(scores[0] - scores[1]) == ([0, 1, 2], 3)


def test_two_runs_without_a_lead_or_a_shared_topic():
    scores = np.array([[0.5, np.nan], [np.nan, 0.4], [0.5, 0.1]])
    pairs = np.array([[0, 1], [0, 2], [1, 2]])
    assert fragility(scores, pairs).tolist() == [NO_LEAD, NO_LEAD, 1]

"""Means of clustered and weighted differences, against clubSandwich, statsmodels and scipy."""

from __future__ import annotations

import math

import numpy as np
import plain_order
import pytest
import statsmodels.api as sm
from golden_cases import golden_case
from plain_tables import refused
from scipy import stats

from steadyrank.stats.pairs.effects import effect_sizes
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tests import paired_t
from steadyrank.stats.pairs.topic_design import (
    TopicDesign,
    cluster_sums,
    linearised,
    mean_difference,
)

D = np.array([0.05, 0.2, -0.1, 0.3, 0.12, 0.08, -0.02, 0.4, 0.15, -0.3, 0.22, 0.01])
CLUSTERS = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 4, 4])
WEIGHTS = np.array([1, 2, 1, 5, 1, 1, 3, 2, 2, 1, 4, 1.0])


# R 4.2.2 clubSandwich 0.5.8: vcovCR(lm(d ~ 1, weights), cluster, "CR2"), coef_test()$df
@pytest.mark.parametrize(
    ("clusters", "weights", "variance", "df"),
    [
        (CLUSTERS, None, 0.00239469696969697, 3.28685258964143),
        (CLUSTERS, WEIGHTS, 0.00176668631650696, 2.54237922903007),
        (None, WEIGHTS, 0.00300512771605282, 3.83148055360026),
    ],
)
def test_few_clusters_as_clubsandwich(clusters, weights, variance, df):
    fit = mean_difference(D, clusters=clusters, weights=weights)
    assert fit.method == "CR2"
    assert fit.variance == pytest.approx(variance, rel=1e-12)
    assert fit.df == pytest.approx(df, rel=1e-12)
    assert fit.mean == pytest.approx(np.average(D, weights=weights), rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_many_clusters_as_statsmodels(weighted):
    rng = np.random.default_rng(1)
    clusters = np.repeat(np.arange(60), 4)
    d = rng.normal(0.02, 0.2, 240) + rng.normal(0, 0.2, 60)[clusters]
    weights = rng.uniform(1.0, 1.5, 240) if weighted else np.ones(240)
    fit = mean_difference(d, clusters=clusters, weights=weights if weighted else None)
    other = sm.WLS(d, np.ones(240), weights=weights).fit(
        cov_type="cluster", cov_kwds={"groups": clusters}
    )
    assert (fit.method, fit.df, fit.n_clusters) == ("CR1", 59, 60)
    # statsmodels corrects weighted and unweighted fits alike by G / (G - 1) (n - 1) / (n - 1).
    assert fit.variance == pytest.approx(float(other.bse[0]) ** 2, rel=1e-10)
    assert 2.0 < fit.design_effect < 4.5  # 1 + 3 · ½ in truth
    assert fit.effective_topics == pytest.approx(weights.sum() ** 2 / (weights**2).sum())


@pytest.mark.parametrize("n", [5, 25, 39, 40, 41, 400])
def test_single_topics_are_students_t(n):
    d = np.random.default_rng(n).normal(0.01, 0.1, n)
    fit, alone = mean_difference(d), mean_difference(d, clusters=np.arange(n)[::-1])
    for answer in (fit, alone):
        assert answer.variance == pytest.approx(d.var(ddof=1) / n, rel=1e-12)
        assert answer.df == pytest.approx(n - 1, rel=1e-9)
    assert (fit.method, fit.design_effect) == ("t", 1.0)


def test_equal_clusters_have_one_degree_less_than_clusters():
    d = np.random.default_rng(0).normal(size=30)
    fit = mean_difference(d, clusters=np.arange(30) // 3)
    means = d.reshape(10, 3).mean(axis=1)
    assert fit.df == pytest.approx(9)
    assert fit.variance == pytest.approx(means.var(ddof=1) / 10, rel=1e-12)


def corrected_limit(d, tail):
    """The lower limit by Johnson's term, with scipy's quantile and skewness."""
    n = len(d)
    skewness = stats.skew(d) / math.sqrt(n)
    return d.mean() - plain_order.reach(stats.t.ppf(1 - tail, n - 1), skewness, n) * stats.sem(d)


@pytest.mark.parametrize("n", [5, 25, 200])
@pytest.mark.parametrize("tail", [0.05, 0.01])
def test_limits_are_corrected_for_skewness(n, tail):
    rng = np.random.default_rng(n)
    for d in (rng.normal(size=n), rng.exponential(size=n), -rng.exponential(size=n)):
        expected = corrected_limit(d, tail), -corrected_limit(-d, tail)
        assert mean_difference(d).interval(tail) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("n", "farther"), [(25, 1.13), (100, 1.04), (1000, 1.004)])
def test_symmetric_differences_have_nearly_students_limits(n, farther):
    half = stats.norm.ppf((np.arange(1, n // 2 + 1) - 0.5) / n)
    d = np.concatenate([half, -half])
    low, high = mean_difference(d).interval(0.05)
    student = stats.ttest_1samp(d, 0).confidence_interval(0.9)
    assert 1.0 < low / student.low < farther
    assert high == pytest.approx(-low)


def test_limits_and_pvalues_agree_and_the_long_tail_is_longer():
    d = 0.1 - np.random.default_rng(3).exponential(0.1, 40)
    fit = mean_difference(d)
    low, high = fit.interval(0.05)
    assert fit.mean - low > high - fit.mean
    assert fit.pvalue_above(low) == pytest.approx(0.05, rel=1e-9)
    assert fit.pvalue_below(high) == pytest.approx(0.05, rel=1e-9)
    mirrored = mean_difference(-d)
    assert mirrored.interval(0.05) == pytest.approx((-high, -low))


def test_one_topic_with_most_of_the_weight_leaves_few_degrees_of_freedom():
    weights = np.ones(500)
    weights[0] = 500.0
    fit = mean_difference(np.random.default_rng(5).normal(size=500), weights=weights)
    assert fit.method == "CR2"
    assert fit.df < 3
    assert fit.effective_topics == pytest.approx(999**2 / (500**2 + 499))


def test_weights_of_zero_and_missing_differences_are_left_out():
    weights = np.array([0.0, 1, 1, 1, 1, 1])
    d = np.array([9.0, np.nan, 0.1, 0.2, 0.3, 0.15])
    assert mean_difference(d, weights=weights).mean == pytest.approx(d[2:].mean())
    assert mean_difference(d, weights=weights).n_topics == 4
    refused("a weight must be at least 0", mean_difference, d, weights=-weights)


def test_degenerate_differences_have_flags():
    same, constant = mean_difference(np.zeros(9)), mean_difference(np.full(9, -0.02))
    assert (same.flag, same.interval(0.05), same.pvalue_above(-0.01)) == (
        "no_difference",
        (0, 0),
        0,
    )
    assert (constant.flag, constant.pvalue_below(0.0)) == ("zero_variance", 0.0)
    alone = mean_difference(np.array([0.1, 0.2]), clusters=np.zeros(2, int))
    assert alone.flag == "too_few_topics"
    assert math.isnan(alone.pvalue_above(0.0))
    assert alone.interval(0.05) == (-math.inf, math.inf)
    assert math.isnan(mean_difference(np.array([])).mean)


@pytest.mark.parametrize(("tail", "mean"), [(0.05, -0.02), (0.01, 0.3)])
def test_a_constant_difference_is_no_more_certain_than_its_topics_allow(tail, mean):
    """If a share 1 - tail^(1/n) of the topics lies at an end, n topics miss it with `tail`."""
    clusters, weights = np.arange(60) // 3, np.repeat([1.0, 3.0], 30)
    for options, draws in (({}, 60), ({"clusters": clusters}, 20), ({"weights": weights}, 48)):
        fit = mean_difference(np.full(60, mean), reach=0.8, **options)
        assert fit.draws == pytest.approx(draws)
        low, high = fit.interval(tail)
        for limit, end in ((low, -0.8), (high, 0.8)):
            missed = (end - limit) / (end - mean)
            assert missed**draws == pytest.approx(tail)
        assert fit.pvalue_above(low) == pytest.approx(tail)
        assert fit.pvalue_below(high) == pytest.approx(tail)
        assert [fit.pvalue_above(value) for value in (-0.9, mean)] == [0.0, 1.0]
    assert mean_difference(np.zeros(60), reach=0.8).interval(tail) == (0.0, 0.0), "nothing changed"


def test_a_cluster_of_thousands_takes_no_matrix_of_its_size():
    clusters = np.repeat([0, 1, 2], [20_000, 3000, 3000])
    rng = np.random.default_rng(2)
    fit = mean_difference(
        rng.normal(size=26_000), clusters=clusters, weights=rng.uniform(1, 2, 26_000)
    )
    assert 1.0 < fit.df < 2.0


INPUTS, EXPECTED, TOLERANCE = golden_case("cluster_robust_t")
SCORES, GROUPS = np.array(INPUTS["scores"]), np.array(INPUTS["clusters"]).astype(int)
SHARES = np.array(INPUTS["weights"])
DESIGNS = {
    "clusters": TopicDesign(clusters=GROUPS),
    "both": TopicDesign(clusters=GROUPS, weights=SHARES),
    "weights": TopicDesign(weights=SHARES),
}


def figures(tests):
    return np.stack([tests.difference, tests.standard_error, tests.df, tests.pvalue], axis=1)


@pytest.mark.parametrize("kind", DESIGNS)
def test_all_pairs_as_clubsandwich(kind):
    tests = paired_t(SCORES, all_pairs(3), DESIGNS[kind])
    assert figures(tests) == pytest.approx(np.array(EXPECTED[kind]), rel=TOLERANCE)
    assert tests.n.tolist() == [36] * 3


def test_missing_topics_are_left_out_of_their_pair_as_clubsandwich():
    scores = SCORES.copy()
    scores[0, np.array(INPUTS["missing"], int) - 1] = np.nan
    tests = paired_t(scores, all_pairs(3), DESIGNS["both"])
    assert figures(tests)[0] == pytest.approx(EXPECTED["both_missing"], rel=TOLERANCE)
    assert figures(tests)[2] == pytest.approx(EXPECTED["both"][2], rel=TOLERANCE)
    assert tests.n.tolist() == [30, 30, 36]


def test_linearised_values_have_the_runs_means_and_the_robust_variance():
    units = cluster_sums(SCORES, DESIGNS["both"])
    values = linearised(units)
    fits = [mean_difference(row, clusters=GROUPS, weights=SHARES) for row in SCORES]
    assert values.mean(axis=1) == pytest.approx([fit.mean for fit in fits])
    off = values - values.mean(axis=1, keepdims=True)
    g = len(units.share)
    robust = (off**2).sum(axis=1) / (g * (g - 1))
    weight = SHARES / SHARES.sum()
    for row, variance in zip(SCORES, robust, strict=True):
        sums = np.bincount(GROUPS - 1, weight * (row - weight @ row))
        assert variance == pytest.approx(g / (g - 1) * (sums @ sums))


def test_weighted_effects_follow_the_weighted_difference():
    effects = effect_sizes(SCORES, all_pairs(3), weights=SHARES)
    z = SCORES[0] - SCORES[1]
    mean = np.average(z, weights=SHARES)
    sd = np.sqrt(np.cov(z, aweights=SHARES, ddof=0) * 36 / 35)
    assert effects.paired_d[0] == pytest.approx(mean / sd)
    equal = effect_sizes(SCORES, all_pairs(3), weights=np.full(36, 7.0))
    assert equal.paired_d == pytest.approx(effect_sizes(SCORES, all_pairs(3)).paired_d)

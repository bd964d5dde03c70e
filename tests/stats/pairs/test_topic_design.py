"""The t test of clustered and weighted topics, against clubSandwich, statsmodels and paired t."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from golden_cases import golden_case
from plain_tables import close

from steadyrank.stats.pairs.effects import effect_sizes
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tests import paired_t
from steadyrank.stats.pairs.topic_design import (
    TopicDesign,
    cluster_sums,
    linearised,
    mean_difference,
)

INPUTS, EXPECTED, TOLERANCE = golden_case("cluster_robust_t")
SCORES, CLUSTERS = np.array(INPUTS["scores"]), np.array(INPUTS["clusters"]).astype(int)
WEIGHTS = np.array(INPUTS["weights"])
DESIGNS = {
    "clusters": TopicDesign(clusters=CLUSTERS),
    "both": TopicDesign(clusters=CLUSTERS, weights=WEIGHTS),
    "weights": TopicDesign(weights=WEIGHTS),
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


def test_many_clusters_as_statsmodels():
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(60), 3)
    scores = rng.normal(0.4, 0.1, (4, 180)) + rng.normal(0, 0.1, (4, 60))[:, clusters]
    pairs = all_pairs(4)
    tests = paired_t(scores, pairs, TopicDesign(clusters=clusters))
    for p, (a, b) in enumerate(pairs):
        fit = sm.OLS(scores[a] - scores[b], np.ones(180)).fit(
            cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True
        )
        assert tests.standard_error[p] == pytest.approx(float(fit.bse[0]), rel=1e-10)
        assert tests.pvalue[p] == pytest.approx(float(fit.pvalues[0]), rel=1e-8)


def test_single_topics_are_students_paired_t():
    scores = np.random.default_rng(1).normal(size=(5, 30))
    tests = paired_t(scores, all_pairs(5), TopicDesign(clusters=np.arange(30)[::-1]))
    plain = paired_t(scores, all_pairs(5))
    close(tests, plain, "statistic pvalue", rel=1e-10)


def test_degenerate_pairs_have_flags_and_no_exception():
    scores = np.array([[0.1] * 6, [0.1] * 6, [0.3] * 6, [0.2, 0.0, 0.2, 0.0, 0.2, 0.0]])
    tests = paired_t(scores, all_pairs(4), TopicDesign(clusters=np.repeat([0, 1, 2], 2)))
    assert tests.flag[:3].tolist() == ["no_difference", "zero_variance", ""]
    assert tests.pvalue[:2].tolist() == [1.0, 0.0]
    # Deviations of the fourth run cancel within every cluster: nothing is left to test by.
    assert tests.difference[2] == pytest.approx(0.0, abs=1e-15)
    alone = paired_t(scores, all_pairs(4), TopicDesign(clusters=np.zeros(6, int)))
    assert set(alone.flag) == {"too_few_topics"}
    assert np.isnan(alone.pvalue).all()


def test_linearised_values_have_the_runs_means_and_the_robust_variance():
    units = cluster_sums(SCORES, DESIGNS["both"])
    values = linearised(units)
    fits = [mean_difference(row, clusters=CLUSTERS, weights=WEIGHTS) for row in SCORES]
    assert values.mean(axis=1) == pytest.approx([fit.mean for fit in fits])
    off = values - values.mean(axis=1, keepdims=True)
    g = len(units.share)
    robust = (off**2).sum(axis=1) / (g * (g - 1))
    weight = WEIGHTS / WEIGHTS.sum()
    for row, variance in zip(SCORES, robust, strict=True):
        sums = np.bincount(CLUSTERS - 1, weight * (row - weight @ row))
        assert variance == pytest.approx(g / (g - 1) * (sums @ sums))


def test_weighted_effects_follow_the_weighted_difference():
    effects = effect_sizes(SCORES, all_pairs(3), weights=WEIGHTS)
    z = SCORES[0] - SCORES[1]
    mean = np.average(z, weights=WEIGHTS)
    sd = np.sqrt(np.cov(z, aweights=WEIGHTS, ddof=0) * 36 / 35)
    assert effects.paired_d[0] == pytest.approx(mean / sd)
    equal = effect_sizes(SCORES, all_pairs(3), weights=np.full(36, 7.0))
    assert equal.paired_d == pytest.approx(effect_sizes(SCORES, all_pairs(3)).paired_d)

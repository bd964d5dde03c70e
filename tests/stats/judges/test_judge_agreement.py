"""Agreement, bias and worth of a judge: other packages' figures, loops and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from golden_cases import golden_case
from plain_tables import refused
from scipy import stats

import steadyrank as sr
from steadyrank.stats.interval import Interval
from steadyrank.stats.judges.agreement import (
    COEFFICIENTS,
    Worth,
    ac1_of_counts,
    agreement_over_topics,
    bias_of_runs,
    confusion_counts,
    favours_kin,
    kappa_of_counts,
    topics_factor,
    topics_for_power,
    topics_for_width,
    welch_pvalue,
    worth_of,
)
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.ranks.correlation import bootstrap_tau_interval


def test_coefficients_are_those_of_other_packages():
    inputs, expected, tolerance = golden_case("agreement_of_grades")
    counts = confusion_counts(*(np.array(inputs[judge]) for judge in ("first", "second")))
    for name, coefficient in COEFFICIENTS.items():
        assert float(coefficient(counts)) == pytest.approx(expected[name], abs=tolerance)
    linear = float(kappa_of_counts(counts, "linear"))
    assert linear == pytest.approx(expected["kappa_linear"], abs=tolerance)
    assert sr.cohen_kappa(inputs["first"], inputs["second"]) == pytest.approx(expected["kappa"])


def test_ac1_of_gwets_example_stays_high_where_kappa_falls():
    """Gwet 2008, doi:10.1348/000711006X126600, section 2: 118, 5, 2 and 0 of 125 subjects."""
    counts = np.array([[118.0, 5.0], [2.0, 0.0]])
    assert float(ac1_of_counts(counts)) == pytest.approx(0.9408, abs=1e-4)
    assert float(kappa_of_counts(counts)) == pytest.approx(-0.0234, abs=1e-4)


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_intervals_leave_out_one_topic_at_a_time(name):
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 9, (8, 3, 3)).astype(float)
    found = agreement_over_topics(counts, COEFFICIENTS[name], confidence=0.9)
    left = [float(COEFFICIENTS[name](np.delete(counts, t, axis=0).sum(axis=0))) for t in range(8)]
    error = np.sqrt(7 / 8 * np.square(np.array(left) - np.mean(left)).sum())
    half = stats.t.ppf(0.95, 7) * error
    expected = [found.value - half, found.value + half]
    assert list(found.interval) == pytest.approx(expected, rel=1e-10)


def test_bias_is_the_mean_difference_with_students_interval():
    rng = np.random.default_rng(5)
    human = rng.normal(size=(6, 14))
    judge = human + rng.normal(0.1, 0.2, human.shape)
    found = bias_of_runs(human, judge, confidence=0.9)
    for run in range(6):
        expected = stats.ttest_rel(judge[run], human[run]).confidence_interval(0.9)
        assert found.interval[run] == pytest.approx([expected.low, expected.high], rel=1e-9)
    assert found.spread == pytest.approx(np.std(found.by_run, ddof=1))


def test_the_spread_by_chance_is_what_equal_biases_show():
    """Mean over 4,000 draws; its Monte Carlo error is under half a percent."""
    rng = np.random.default_rng(6)
    spreads, expected = [], []
    for _ in range(4000):
        judge = rng.normal(size=(5, 10)) + rng.normal(size=10)
        found = bias_of_runs(np.zeros((5, 10)), judge)
        spreads.append(found.spread**2)
        expected.append(found.spread_by_chance**2)
    assert np.mean(spreads) == pytest.approx(np.mean(expected), rel=0.03)


def test_kin_are_tested_over_topics():
    rng = np.random.default_rng(7)
    human = rng.normal(size=(7, 12))
    judge = human + rng.normal(size=human.shape)
    kin, others = np.array([0, 2]), np.array([1, 3, 6])
    found = favours_kin(human, judge, kin, others)
    off = judge - human
    expected = stats.ttest_rel(off[kin].mean(axis=0), off[others].mean(axis=0))
    assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
    assert list(found.interval) == pytest.approx(list(expected.confidence_interval()), rel=1e-9)
    welch = stats.ttest_ind(off[kin].mean(axis=1), off[others].mean(axis=1), equal_var=False)
    assert found.welch_over_runs == pytest.approx(welch.pvalue)


def test_a_test_over_runs_finds_kin_where_there_are_none_and_one_over_topics_does_not():
    """Runs of a kind share what a judge gets wrong on a topic: 400 experiments without favour."""
    rng = np.random.default_rng(9)
    over_runs = over_topics = 0
    for _ in range(400):
        shared = np.repeat(rng.normal(size=(2, 15)), 10, axis=0)
        judge = shared + 0.3 * rng.normal(size=(20, 15))
        found = favours_kin(np.zeros((20, 15)), judge, np.arange(10), np.arange(10, 20))
        over_runs += found.welch_over_runs < 0.05
        over_topics += found.pvalue < 0.05
    assert over_runs > 300
    # One false alarm in 100,000 if the level is .05.
    assert stats.binom(400, 0.05).ppf(1e-5) <= over_topics <= stats.binom(400, 0.05).isf(1e-5)


def test_constant_samples_have_a_p_value_too():
    assert welch_pvalue(np.full(3, 0.5), np.full(4, 0.5)) == 1.0
    assert welch_pvalue(np.full(3, 0.5), np.full(4, 0.6)) == 0.0
    assert math.isnan(welch_pvalue(np.array([1.0]), np.arange(4.0)))


def test_the_correlation_is_that_of_all_differences():
    rng = np.random.default_rng(10)
    human = rng.normal(size=(5, 11))
    judge = human + rng.normal(size=human.shape)
    moments = np.zeros((2, 2))
    for a, b in all_pairs(5):
        moments += np.cov(human[a] - human[b], judge[a] - judge[b])
    found = worth_of(human, judge)
    expected = moments[0, 1] / np.sqrt(moments[0, 0] * moments[1, 1])
    assert found.correlation == pytest.approx(expected, rel=1e-12)
    assert found.sd == pytest.approx(np.sqrt(moments[0, 0] / len(all_pairs(5))), rel=1e-12)
    assert found.interval.low < found.correlation < found.interval.high
    assert worth_of(human, human).correlation == pytest.approx(1.0)
    assert math.isnan(worth_of(human, np.zeros_like(human)).correlation)


@pytest.mark.parametrize(("n", "n_more"), [(10, 10), (15, 185), (40, 25)])
def test_the_factor_is_the_ratio_of_variances_at_the_best_lambda(n, n_more):
    """With unit variances V = lambda²/N + (1 - 2 lambda rho + lambda²)/n."""
    rho = 0.7
    best = rho / (1 + n / n_more)
    variance = best**2 / n_more + (1 - 2 * best * rho + best**2) / n
    assert topics_factor(rho, n, n_more) == pytest.approx(1 / n / variance, rel=1e-12)


def test_the_plan_is_the_fewest_topics_that_do():
    worth = Worth(sd=0.25, correlation=0.75, interval=Interval(0.6, 0.85))
    needed = topics_for_width(worth, 0.12, n_judged=150)

    def width(n, judged):
        if not judged:
            return 2 * stats.t.ppf(0.975, n - 1) * 0.25 / np.sqrt(n)
        factor = 1 - 0.75**2 * (judged - n) / judged
        return 2 * stats.t.ppf(0.975, n - 2) * 0.25 * np.sqrt(factor * (n - 1) / (n - 2) / n)

    assert width(needed.alone, 0) <= 0.12 < width(needed.alone - 1, 0)
    assert width(needed.with_judge, 150) <= 0.12 < width(needed.with_judge - 1, 150)
    assert needed.with_endless < needed.with_judge < needed.alone
    assert topics_for_width(worth, 1e-9, n_judged=150).alone is None


def test_a_judge_that_tells_nothing_saves_nothing():
    worth = Worth(sd=0.2, correlation=0.0, interval=Interval(-0.2, 0.2))
    needed = topics_for_power(worth, 0.05, n_judged=400)
    # The paired t test of 128 topics is the one that `plan` finds.
    assert (needed.alone, needed.with_judge, needed.with_endless) == (128, 128, 128)


def test_tau_ap_has_an_interval_with_the_second_ranking_as_reference():
    rng = np.random.default_rng(11)
    human = rng.normal(size=(9, 12)) + np.arange(9)[:, None] / 3
    judge = human + rng.normal(size=human.shape)
    found = bootstrap_tau_interval(judge, human, coefficient="tau_ap", n_samples=300)
    expected = sr.tau_ap(judge.mean(axis=1), human.mean(axis=1))
    assert found.tau == pytest.approx(expected.value)
    assert found.low <= found.tau <= found.high


@pytest.mark.parametrize(
    ("weights", "wt"), [("none", None), ("linear", "linear"), ("quadratic", "quadratic")]
)
@pytest.mark.parametrize("seed", range(5))
def test_statsmodels_says_the_same(weights, wt, seed):
    from statsmodels.stats.inter_rater import cohens_kappa

    rng = np.random.default_rng(seed)
    first = rng.integers(0, 4, 60)
    second = np.where(rng.random(60) < 0.6, first, rng.integers(0, 4, 60))
    table = np.zeros((4, 4))
    np.add.at(table, (first, second), 1)
    assert sr.cohen_kappa(first, second, weights=weights) == pytest.approx(
        cohens_kappa(table, wt=wt, return_results=False), abs=1e-12
    )


def test_perfect_chance_and_none():
    assert sr.cohen_kappa([0, 1, 2], [0, 1, 2]) == 1.0
    assert sr.cohen_kappa([0, 0, 1, 1], [0, 1, 0, 1]) == 0.0
    assert math.isnan(sr.cohen_kappa([1, 1], [1, 1]))


@pytest.mark.parametrize(("first", "second"), [([], []), ([1], [1, 2]), ([[1]], [[1]])])
def test_lists_that_do_not_match_are_refused(first, second):
    refused("of equal length", sr.cohen_kappa, first, second)


def test_unknown_weights():
    refused("quadratic", sr.cohen_kappa, [0, 1], [0, 1], weights="quadratik")

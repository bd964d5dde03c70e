from __future__ import annotations

import math
import os

import numpy as np
import pandas as pd
import pytest
from golden_cases import golden
from instance_power import exact_rates, power
from mixed_layouts import of_array
from scipy import integrate, special, stats

from steadyrank.compute.random import block_stream
from steadyrank.errors import InputError
from steadyrank.stats.mixed.fit import fit
from steadyrank.stats.mixed.two_way import nested_difference, two_way_difference
from steadyrank_lab.papers.jayasinghe2015.experiments import (
    METHODS,
    TESTS,
    contradictions,
    equivalence_intervals,
    error_rates,
    instance_spread,
    method_pvalues,
    paper_comparison,
    paper_scores,
    pool_pvalues,
    single_instance_shares,
    topic_spread,
)
from steadyrank_lab.papers.jayasinghe2015.pvalues import (
    nested_pvalues,
    t_pvalues,
    two_way_pvalues,
    welch_pvalues,
)

BUDGET = int(os.environ.get("STEADYRANK_CELLS", "1"))
"""Multiplies the replications of the slow tests."""

SURE = 4.4
"""Standard errors allowed: a false alarm once in 100,000 seeds."""


def variances(instance, system_topic=0.08, residual=0.06):
    return {"instance": instance**2, "system_topic": system_topic**2, "residual": residual**2}


def made(n_instances, n_topics, seed, n=1):
    rng = np.random.default_rng(seed)
    topics = rng.normal(0.02, 0.08, (n, 1, n_topics))
    instances = rng.normal(0, 0.02, (n, n_instances, 1))
    return topics + instances + rng.normal(0, 0.06, (n, n_instances, n_topics))


@pytest.mark.parametrize(("n_instances", "n_topics"), [(1, 9), (2, 3), (3, 20), (8, 4)])
def test_batches_of_tests_are_the_tests_one_by_one(n_instances, n_topics):
    a, b = made(n_instances, n_topics, 1, n=40), made(n_instances, n_topics, 2, n=40)
    # Some without instance effect, some without topic effect: components are dropped.
    a[:10] -= a[:10].mean(axis=2, keepdims=True)
    a[5:15] -= a[5:15].mean(axis=1, keepdims=True)
    a[20:] += 0.1
    singles = [two_way_difference(each) for each in a]
    np.testing.assert_allclose(two_way_pvalues(a), [t.pvalue for t in singles], rtol=1e-9)
    nested = [nested_difference(one, two).pvalue for one, two in zip(a, b, strict=True)]
    np.testing.assert_allclose(nested_pvalues(a, b), nested, rtol=1e-9)
    if n_instances > 1:
        assert len({t.dropped for t in singles}) > 2
        welch = stats.ttest_ind(a.mean(axis=2), b.mean(axis=2), axis=1, equal_var=False).pvalue
        np.testing.assert_allclose(welch_pvalues(a, b)[15:], welch[15:], rtol=1e-9)
    student = stats.ttest_1samp(a[15:], 0, axis=2).pvalue
    np.testing.assert_allclose(t_pvalues(a[15:]), student, rtol=1e-9)


def test_welch_against_r():
    case = golden("t_two_sample")
    first, second = (np.array(case["inputs"][name])[:, None] for name in "ab")
    expected = case["expected"]["welch"]["p"]
    assert welch_pvalues(first, second) == pytest.approx(expected, rel=1e-10)


def test_batches_without_spread():
    same, constant = np.zeros((3, 5)), np.full((3, 5), 0.2)
    assert two_way_pvalues(np.stack([same, constant])).tolist() == [1.0, 0.0]
    assert t_pvalues(np.stack([same, constant])).tolist() == [[1.0] * 3, [0.0] * 3]
    assert nested_pvalues(constant, same).item() == 0.0
    assert nested_pvalues(constant, constant).item() == 1.0


def test_the_paper_model_is_t_on_means_with_more_degrees_of_freedom():
    d = made(4, 12, 5)[0]
    both = np.stack([d + 0.3, np.full_like(d, 0.3)])
    terms = {"instance": "instance", "topic": "topic", "system_topic": ("system", "topic")}
    axes = ("system", "instance", "topic")
    found = fit(of_array(both, axes=axes, random=terms, fixed="system"))
    expected = 2 * special.stdtr(both.size - 1, -abs(found.statistic[-1]))
    pvalues = method_pvalues([(d + 0.3, np.full(12, 0.3))])
    assert pvalues["mixed_paper"][0] == pytest.approx(expected, rel=1e-6)
    assert pvalues["mixed"][0] == pytest.approx(two_way_difference(d).pvalue, rel=1e-9)


def expected_score(mean):
    return integrate.quad(lambda t: math.sqrt((t * t + mean * mean) / 2), 0, 1)[0]


def test_scores_of_the_papers_system():
    stream = np.random.default_rng(0)
    for mean in (0.4543, 0.5):
        scores = paper_scores(stream, mean, 0.0, size=(400, 3, 50))
        error = scores[:, 0].mean(axis=1).std() / math.sqrt(400)
        assert abs(scores[:, 0].mean() - expected_score(mean)) < SURE * error
    # The expected score is not .5 at a mean effect of .5.
    assert expected_score(0.5) == pytest.approx(0.5229, abs=5e-5)
    assert expected_score(0.4543) == pytest.approx(0.5, abs=5e-5)
    wide = paper_scores(stream, 0.5, 0.3, size=(4000, 1, 50))
    error = wide.mean(axis=2).std() / math.sqrt(4000)
    assert abs(wide.mean() - 0.540) < SURE * error + 5e-4
    assert wide.min() >= 0.0
    assert wide.max() <= 1.0


def test_instance_effects_are_shared_or_not():
    one = paper_scores(np.random.default_rng(0), 0.5, 0.1, size=(6, 8))
    squares = 2 * one**2
    # t² + i² is additive: its interaction vanishes if the effect belongs to the instance.
    rest = squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean()
    assert np.abs(rest).max() < 1e-12
    cells = paper_scores(np.random.default_rng(0), 0.5, 0.1, size=(6, 8), effects="cell")
    squares = 2 * cells**2
    rest = squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean()
    assert np.abs(rest).max() > 0.01


def test_equal_systems_are_found_to_differ_as_often_as_alpha():
    found = single_instance_shares(
        means=[0.4543], spreads=[0.0], n_instances=2, n_trials=4000, n_topics=50
    )
    # Without spread all instances are alike: one t test a repetition.
    error = math.sqrt(0.05 * 0.95 / 4000)
    assert abs(found["share"].item() - 0.05) < SURE * error + 0.003
    assert found["share_error"].item() == pytest.approx(error, rel=0.2)


def test_single_instances_by_hand():
    options = {"means": [0.3, 0.6], "spreads": [0.2], "n_instances": 7, "n_topics": 11}
    found = single_instance_shares(**options, n_trials=5, seed=3, alpha=0.1)
    assert found[["mean", "spread"]].to_numpy().tolist() == [[0.3, 0.2], [0.6, 0.2]]
    stream = block_stream(3, "instances tested one by one", 1)
    scores = paper_scores(stream, 0.6, 0.2, size=(5, 7, 11))
    others = stream.random((5, 1, 11))
    pvalues = stats.ttest_rel(scores, np.broadcast_to(others, scores.shape), axis=2).pvalue
    assert found["share"][1] == pytest.approx((pvalues < 0.1).mean())
    by_repetition = (pvalues < 0.1).mean(axis=1)
    assert found["share_error"][1] == pytest.approx(by_repetition.std() / math.sqrt(5))
    again = single_instance_shares(**options, n_trials=5, seed=3, alpha=0.1, jobs=2)
    pd.testing.assert_frame_equal(found, again, check_exact=True)


def test_intervals_shrink_into_the_margin():
    found = equivalence_intervals([5, 50, 500, 5000], sd=0.1, delta=0.01)
    width, n = found["high"] - found["low"], found["topics"]
    expected = 2 * stats.t.ppf(0.975, n - 1) * 0.1 / np.sqrt(n)
    # The width's relative sd is 1/sqrt(2 n - 2).
    assert (np.abs(width / expected - 1) < SURE / np.sqrt(2.0 * n - 2)).all()
    assert found["inside"].tolist()[0] is False
    assert found["inside"].tolist()[-1] is True


def test_intervals_cover_the_difference():
    hits = [
        (found["low"] <= 0) & (found["high"] >= 0)
        for found in (equivalence_intervals([8, 30], seed=seed) for seed in range(2000))
    ]
    assert (np.abs(np.mean(hits, axis=0) - 0.95) < SURE * math.sqrt(0.95 * 0.05 / 2000)).all()


def test_contradictions_are_counted_by_direction():
    rng = np.random.default_rng(4)
    baseline = rng.random(30)
    scores = baseline + rng.normal(0, 0.05, (40, 1)) + rng.normal(0, 0.1, (40, 30))
    scores[0, :5] = np.nan
    scores[1, 1:] = np.nan
    found = contradictions({"wide": scores, "none": baseline[None]}, baseline, alphas=(0.1, 0.05))
    tests = [
        stats.ttest_rel(row[~np.isnan(row)], baseline[~np.isnan(row)])
        for k, row in enumerate(scores)
        if k != 1
    ]
    assert found["system"].tolist() == ["wide", "wide", "none", "none"]
    assert found["alpha"].tolist() == [0.1, 0.05] * 2
    for k, level in enumerate((0.1, 0.05)):
        better = sum(t.pvalue < level and t.statistic > 0 for t in tests)
        worse = sum(t.pvalue < level and t.statistic < 0 for t in tests)
        assert (found["better"][k], found["worse"][k]) == (better, worse)
        assert better > 3
        assert worse > 3
        verdicts = [(t.pvalue < level) * np.sign(t.statistic) for t in tests]
        differ = [one != two for i, one in enumerate(verdicts) for two in verdicts[:i]]
        assert found["disagreement"][k] == pytest.approx(np.mean(differ))
    assert found["instances"].tolist() == [39, 39, 1, 1]
    assert found["better"].tolist()[2:] == found["worse"].tolist()[2:] == [0, 0]
    assert found["disagreement"].isna().tolist() == [False, False, True, True]


def test_spread_of_instances():
    scores = {"one": made(9, 6, 1)[0], "two": made(4, 6, 2)[0]}
    scores["two"][1, 2] = np.nan
    found = instance_spread(scores)
    assert found["system"].tolist() == ["one", "two"]
    assert found["instances"].tolist() == [9, 4]
    means = np.nanmean(scores["two"], axis=1)
    expected = [means.mean(), means.std(ddof=1), means.min(), means.max()]
    assert found.iloc[1, 2:].tolist() == pytest.approx(expected)
    topics = topic_spread(scores["two"])
    assert topics["largest"][2] == np.nanmax(scores["two"][:, 2])
    assert topics["least"][2] == np.nanmin(scores["two"][:, 2])
    assert topics["sd"][2] == pytest.approx(np.nanstd(scores["two"][:, 2], ddof=1))
    assert topic_spread(scores["one"])["median"][3] == pytest.approx(np.median(scores["one"][:, 3]))


def test_the_papers_two_tests_agree_because_they_share_a_statistic():
    found = method_pvalues(paper_comparison(0, k, size=(40, 50)) for k in range(150))
    assert tuple(found) == METHODS
    correlations = found.corr()
    alike = correlations["mixed_paper"]["bootstrap"]
    assert alike > 0.998
    assert (found["mixed_paper"] - found["bootstrap"]).abs().mean() < 0.01
    assert correlations["t_single"]["mixed"] < alike - 0.1
    calls = found < 0.05
    same = (calls["mixed_paper"] == calls["bootstrap"]).mean()
    assert (calls["t_single"] == calls["mixed"]).mean() < same
    # The tests that are blind to instances have the lower curves, and no right to them.
    assert found["t_single"].mean() < found["mixed"].mean()


def test_methods_leave_out_topics_that_an_instance_lacks():
    comparisons = [(made(m, 12, m)[0] + 0.5, np.full(12, 0.5)) for m in (3, 5)]
    comparisons[1][0][2, 4] = np.nan
    found = method_pvalues(comparisons, n_samples=50)
    d = np.delete(comparisons[1][0], 4, axis=1) - 0.5
    assert found["mixed"][1] == pytest.approx(two_way_difference(d).pvalue, rel=1e-9)
    assert ((found >= 0) & (found <= 1)).all(axis=None)
    again = method_pvalues(comparisons, n_samples=50, jobs=2)
    pd.testing.assert_frame_equal(found, again, check_exact=True)


def test_pools_scatter_less_with_more_instances():
    a = made(60, 40, 9)[0]
    found = pool_pvalues(a, np.zeros(40), sizes=(2, 10, 60), n_pools=60)
    assert list(found) == ["instances", "mixed_paper", "bootstrap", "mixed"]
    assert found["instances"].value_counts().to_dict() == {2: 60, 10: 60, 60: 60}
    ends = [found.groupby("instances").quantile(end) for end in (0.05, 0.95)]
    spread = ends[1] - ends[0]
    assert (spread.loc[60] < spread.loc[2]).all()
    whole = found.attrs["all_instances"]
    assert whole["mixed"] == pytest.approx(two_way_difference(a).pvalue, rel=1e-9)
    assert (found["bootstrap"] - found["mixed_paper"]).abs().mean() < 0.03


# Reference simulations of the level at nominal .05, s_u = .08 (of the difference: .08 / sqrt 2 for
# each of two systems that vary), s_e = .06, with 2000 replications (1500 for such two systems):
# design, instances, topics, s_a, and the rate of each of its TESTS.
LEVELS = """
    crossed 3 50 0.02 0.253 0.155 0.163 0.154 0.057 0.076
    crossed 5 10 0.0 0.058 0.055 0.088 0.048 0.051 0.076
    crossed 10 150 0.02 0.459 0.14 0.141 0.143 0.045 0.05
    nested 3 50 0.02 0.215 0.085 0.066 0.073 0.078
    nested 10 50 0.02 0.119 0.065 0.06 0.201 0.049
"""


@pytest.mark.slow
@pytest.mark.parametrize("line", LEVELS.strip().splitlines())
def test_levels_are_those_of_the_reference(line):
    design, *sizes, instance = line.split()[:4]
    n_instances, n_topics = map(int, sizes)
    published = dict(zip(TESTS[design], map(float, line.split()[4:]), strict=True))
    n = 300 * BUDGET
    own = 0.08 / math.sqrt(2) if design == "nested" else 0.08
    components = variances(float(instance), system_topic=own)
    found = error_rates(
        n_instances, n_topics, components=components, design=design, n_replications=n
    )
    assert tuple(found.index) == TESTS[design]
    reference = 2000 if design == "crossed" else 1500
    for name, rate in published.items():
        # Both are simulated; the variance is that of their difference.
        error = math.sqrt(max(rate, 0.05) * (1 - rate) * (1 / n + 1 / reference))
        assert abs(found["rate"][name] - rate) < SURE * error, name
    known = exact_rates(n_instances, n_topics, components, design=design)
    for name, exact in known.items():
        assert abs(found["rate"][name] - exact) < SURE * math.sqrt(exact * (1 - exact) / n), name


@pytest.mark.slow
def test_power_of_the_tests():
    found = error_rates(
        5,
        50,
        components=variances(0.01),
        difference=0.03,
        n_replications=400 * BUDGET,
        tests=("t_on_means", "bootstrap", "mixed"),
    )
    # The reference: .67 by Algorithm 2, .62 by two-way random effects.
    error = math.sqrt(0.65 * 0.35 * (1 / (400 * BUDGET) + 1 / 2000))
    assert abs(found["rate"]["bootstrap"] - 0.67) < SURE * error
    assert abs(found["rate"]["mixed"] - 0.62) < SURE * error
    assert power(variances(0.01), 50, 5, difference=0.03) == pytest.approx(0.625, abs=0.002)


def test_rates_are_near_the_exact_ones_whatever_the_threads():
    options = {"components": variances(0.02), "tests": ("t_single", "t_on_means", "mixed")}
    found = error_rates(3, 50, n_replications=2000, **options)
    exact = exact_rates(3, 50, variances(0.02))
    for name in found.index:
        error = math.sqrt(exact[name] * (1 - exact[name]) / 2000)
        assert abs(found["rate"][name] - exact[name]) < SURE * error
    assert found["rate_error"]["mixed"] == pytest.approx(math.sqrt(0.057 * 0.943 / 2000), rel=0.2)
    again = error_rates(3, 50, n_replications=2000, jobs=2, **options)
    pd.testing.assert_frame_equal(found, again, check_exact=True)
    skewed = error_rates(3, 50, n_replications=2000, skewed=True, **options)
    assert 0 < (skewed["rate"] - found["rate"]).abs().max() < 0.07


def test_exact_levels():
    rates = exact_rates(10, 150, variances(0.02))
    assert {name: round(rate, 3) for name, rate in rates.items()} == {
        "mixed": 0.051,
        "t_on_means": 0.152,
        "mixed_paper": 0.156,
        "t_single": 0.456,
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tests": ("mixd",)}, "did you mean 'mixed'"),
        ({"tests": ("welch",)}, "unknown test"),
        ({"design": "both"}, "unknown design"),
    ],
)
def test_wrong_simulations_are_named(options, message):
    with pytest.raises(InputError, match=message):
        error_rates(3, 10, components=variances(0.01), **options)

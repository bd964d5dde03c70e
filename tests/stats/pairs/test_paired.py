from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from golden_cases import golden_case
from plain_tables import refused, words
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar

from steadyrank.stats.pairs.resampled import randomization, studentized_bootstrap
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tests import few_of_all, means_and_errors, paired_t, sign_test, wilcoxon

ONE = np.array([[0, 1]])
TESTS = [paired_t, wilcoxon, sign_test, randomization, studentized_bootstrap]


def scores_of(inputs):
    if "z" in inputs:
        return np.array([inputs["z"], np.zeros(len(inputs["z"]))])
    return np.array([inputs["a"], inputs["b"]], dtype=float)


def simulated(n_runs, n_topics, seed=1, decimals=None):
    rng = np.random.default_rng(seed)
    scores = rng.beta(1, 2, n_topics) + rng.normal(0, 0.1, (n_runs, n_topics))
    return scores if decimals is None else scores.round(decimals)


def test_t_of_the_golden_files():
    inputs, expected, tolerance = golden_case("t_paired_basic")
    test = paired_t(scores_of(inputs), ONE)
    assert test.n[0] == expected["n"]
    assert test.difference[0] == pytest.approx(expected["mean_diff"], rel=tolerance)
    assert test.statistic[0] == pytest.approx(expected["t"], rel=tolerance)
    assert test.pvalue[0] == pytest.approx(expected["p_two_sided"], rel=tolerance)
    inputs, expected, tolerance = golden_case("t_paired_missing")
    test = paired_t(scores_of(inputs), ONE)
    assert test.n[0] == expected["n"]
    assert test.difference[0] == pytest.approx(expected["mean_diff"], rel=tolerance)
    assert test.statistic[0] == pytest.approx(expected["t"], rel=tolerance)
    assert test.pvalue[0] == pytest.approx(expected["p_two_sided"], rel=tolerance)


@pytest.mark.parametrize("name", ["all_zero", "constant", "single"])
def test_degenerate_pairs_follow_the_conventions(name):
    inputs, expected, _ = golden_case("t_paired_degenerate")
    test, want = paired_t(scores_of(inputs[name]), ONE), expected[name]
    number = {None: np.nan, "Infinity": np.inf}
    assert test.flag[0] == want["flag"]
    assert test.difference[0] == want["mean_diff"]
    np.testing.assert_equal(test.statistic[0], number.get(want["t"], want["t"]))
    np.testing.assert_equal(test.pvalue[0], number.get(want["p_two_sided"], want["p_two_sided"]))


@pytest.mark.parametrize("test", TESTS)
def test_every_test_flags_degenerate_pairs(test):
    scores = np.array([[0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [0.6, 0.7, 0.8], [0.5, np.nan, np.nan]])
    found = test(scores, np.array([[0, 1], [2, 0], [0, 2], [0, 3], [3, 3]]))
    assert found.flag.tolist() == words(
        """
        no_difference zero_variance zero_variance too_few_topics too_few_topics
        """
    )
    assert found.pvalue[0] == 1
    assert np.isnan(found.pvalue[3:]).all()
    assert found.pvalue[1] == found.pvalue[2] < 1
    assert found.n.tolist() == [3, 3, 3, 1, 1]


def test_no_shared_topic_is_no_error():
    scores = np.array([[0.1, np.nan], [np.nan, 0.3]])
    for test in TESTS:
        found = test(scores, ONE)
        assert found.n[0] == 0
        assert found.flag[0] == "too_few_topics"
        assert np.isnan(found.pvalue[0])
        assert np.isnan(found.difference[0])


def test_no_pairs_and_no_topics():
    for test in TESTS:
        assert len(test(simulated(3, 5), np.zeros((0, 2), int)).pvalue) == 0
        assert test(np.zeros((2, 0)), ONE).flag.tolist() == ["too_few_topics"]


def test_wilcoxon_of_the_golden_files():
    inputs, expected, tolerance = golden_case("wilcoxon_exact")
    exact, normal = (wilcoxon(scores_of(inputs), ONE, exact_up_to=k) for k in (50, 0))
    assert exact.statistic[0] == expected["W_plus"]
    assert exact.pvalue[0] == pytest.approx(expected["p_exact_two_sided"], rel=tolerance)
    assert normal.pvalue[0] == pytest.approx(expected["p_normal_corrected"], rel=tolerance)
    inputs, expected, tolerance = golden_case("wilcoxon_ties_zeros")
    normal = wilcoxon(scores_of(inputs), ONE, exact_up_to=9)
    assert normal.statistic[0] == expected["W_plus"]
    assert normal.pvalue[0] == pytest.approx(expected["p_normal_corrected"], rel=tolerance)
    inputs, expected, tolerance = golden_case("wilcoxon_ties_exact_enumeration")
    exact = wilcoxon(scores_of(inputs), ONE)
    assert exact.pvalue[0] == pytest.approx(expected["p_two_sided"], rel=tolerance)


def test_sign_test_of_the_golden_file():
    inputs, expected, tolerance = golden_case("sign_test")
    test = sign_test(scores_of(inputs), ONE)
    assert test.statistic[0] == expected["n_pos"]
    assert test.pvalue[0] == pytest.approx(expected["p_two_sided"], rel=tolerance)


def test_mostly_tied_of_the_golden_file():
    inputs, expected, tolerance = golden_case("mostly_tied")
    scores = scores_of(inputs)
    t = paired_t(scores, ONE)
    assert t.statistic[0] == pytest.approx(expected["t"], rel=tolerance)
    assert t.pvalue[0] == pytest.approx(expected["p_t"], rel=tolerance)
    normal = wilcoxon(scores, ONE, exact_up_to=0)
    assert normal.statistic[0] == expected["W_plus"]
    assert normal.pvalue[0] == pytest.approx(expected["p_wilcoxon_normal_corrected"], rel=tolerance)
    assert sign_test(scores, ONE).pvalue[0] == pytest.approx(expected["sign_p"], rel=tolerance)


def test_t_agrees_with_scipy_and_loses_no_digits_on_twins():
    scores = simulated(12, 60)
    rng = np.random.default_rng(2)
    scores[5] = scores[4] + rng.normal(0, 1e-6, 60)
    scores[6] = scores[4] + rng.normal(0, 3e-3, 60)
    pairs = all_pairs(12)
    ours = paired_t(scores, pairs)
    peer = stats.ttest_rel(scores[pairs[:, 0]], scores[pairs[:, 1]], axis=1)
    np.testing.assert_allclose(ours.statistic, peer.statistic, rtol=1e-10)
    np.testing.assert_allclose(ours.pvalue, peer.pvalue, rtol=1e-10)


@pytest.mark.parametrize("n_topics", [5, 20, 50])
def test_wilcoxon_without_ties_agrees_with_scipy(n_topics):
    scores = simulated(8, n_topics)
    pairs = all_pairs(8)
    z = scores[pairs[:, 0]] - scores[pairs[:, 1]]
    exact = stats.wilcoxon(z, axis=1, method="exact").pvalue
    np.testing.assert_allclose(wilcoxon(scores, pairs).pvalue, exact, rtol=1e-10)
    normal = stats.wilcoxon(z, axis=1, method="asymptotic", correction=True).pvalue
    ours = wilcoxon(scores, pairs, exact_up_to=0).pvalue
    np.testing.assert_allclose(ours, normal, rtol=1e-10)


def test_wilcoxon_with_ties_agrees_with_scipys_normal_and_with_all_flips():
    scores = simulated(6, 9, decimals=1)
    pairs = all_pairs(6)
    for (i, j), p, normal in zip(
        pairs,
        wilcoxon(scores, pairs).pvalue,
        wilcoxon(scores, pairs, exact_up_to=0).pvalue,
        strict=True,
    ):
        z = (scores[i] - scores[j]).round(6)
        z = z[z != 0]
        ranks = stats.rankdata(np.abs(z))
        flips = [np.dot(flip, ranks) for flip in product([0, 1], repeat=len(z))]
        w, middle = ranks[z > 0].sum(), ranks.sum() / 2
        assert p == pytest.approx(np.mean(np.abs(np.array(flips) - middle) >= abs(w - middle)))
        peer = stats.wilcoxon(z, method="asymptotic", correction=True).pvalue
        assert normal == pytest.approx(peer, rel=1e-10)


def test_sign_test_agrees_with_scipy():
    scores = simulated(8, 31, decimals=1)
    pairs = all_pairs(8)
    for (i, j), p in zip(pairs, sign_test(scores, pairs).pvalue, strict=True):
        z = (scores[i] - scores[j]).round(6)
        peer = stats.binomtest(int((z > 0).sum()), int((z != 0).sum())).pvalue
        assert p == pytest.approx(peer, rel=1e-10)


def test_sign_test_of_scores_of_0_and_1_is_mcnemars_of_statsmodels():
    rng = np.random.default_rng(1)
    scores = (rng.random((5, 40)) < rng.random(40)).astype(float)
    scores[rng.random(scores.shape) < 0.1] = np.nan
    pairs = all_pairs(5)
    for (i, j), p in zip(pairs, sign_test(scores, pairs).pvalue, strict=True):
        both = scores[[i, j]][:, ~np.isnan(scores[i] + scores[j])].astype(int)
        counts = np.zeros((2, 2), int)
        np.add.at(counts, tuple(both), 1)
        assert p == pytest.approx(mcnemar(counts, exact=True).pvalue, abs=1e-12)


def test_replicates_are_tested_as_single_matrices_are():
    values = np.random.default_rng(3).normal(size=(33, 6, 20))
    values[:, 3] = values[:, 2]
    values[:, 4] = values[:, 2] + 0.5
    pairs = all_pairs(6)
    t = np.stack([np.nan_to_num(paired_t(v, pairs).statistic, posinf=1e9) for v in values])
    errors = np.empty((33, 15))
    means = means_and_errors(values, errors)
    differences = means[:, pairs[:, 0]] - means[:, pairs[:, 1]]
    ordinary = (np.abs(t) > 0.0) & (np.abs(t) < 1e6)
    ours = differences[ordinary] / errors[ordinary]
    np.testing.assert_allclose(ours, t[ordinary], rtol=1e-9, atol=1e-12)
    # Identical runs, and those with a constant difference, have no error but rounding.
    assert ordinary.sum() == 33 * 12
    assert (errors[~ordinary] < 1e-12).all()


def test_missing_scores_are_as_if_their_topics_were_deleted():
    scores = simulated(6, 40)
    scores[np.random.default_rng(4).random(scores.shape) < 0.1] = np.nan
    pairs = all_pairs(6)
    for test in (paired_t, wilcoxon, sign_test):
        found = test(scores, pairs)
        for p, pair in enumerate(pairs):
            kept = scores[pair][:, ~np.isnan(scores[pair]).any(axis=0)]
            alone = test(kept, ONE)
            for name in ("n", "difference", "statistic", "pvalue"):
                assert getattr(found, name)[p] == pytest.approx(getattr(alone, name)[0], rel=1e-10)


def test_bad_input_is_named():
    scores = simulated(3, 5)
    refused("run", paired_t, scores, np.array([[0, 3]]))
    refused("pair, 2", wilcoxon, scores, np.array([[0, 1, 2]]))
    refused("exact_up_to", wilcoxon, scores, ONE, exact_up_to=5000)
    refused("infinite", sign_test, np.full((2, 3), np.inf), ONE)


@pytest.mark.parametrize("test", TESTS)
def test_a_few_pairs_of_many_runs_are_tested_as_each_by_itself(test, monkeypatch):
    scores = simulated(600, 25, decimals=2)
    scores[40:60, 3] = np.nan
    pairs = np.arange(600).reshape(-1, 2)[:250]
    assert few_of_all(scores, pairs)
    found = test(scores, pairs)
    monkeypatch.setattr("steadyrank.stats.pairs.tests.FEW", 10**9)
    assert not few_of_all(scores, pairs)
    by_product = test(scores, pairs)
    assert found.n.tolist() == by_product.n.tolist()
    np.testing.assert_allclose(found.statistic, by_product.statistic, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(found.pvalue, by_product.pvalue, rtol=1e-9)


def test_a_baseline_of_very_many_runs_keeps_the_digits_of_one_of_few():
    scores = simulated(3000, 25, decimals=2)
    with_first = np.stack([np.arange(1, 3000), np.zeros(2999, np.int64)], axis=1)
    assert not few_of_all(scores, with_first)
    few = paired_t(scores[:50], with_first[:49])
    assert paired_t(scores, with_first).difference[:49].tolist() == few.difference.tolist()

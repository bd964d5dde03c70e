"""Error rates of two experiments: golden files, SciPy, limits, and simulated experiments."""

from __future__ import annotations

import numpy as np
import pytest
from golden_cases import golden_case
from plain_tables import refused
from scipy.integrate import quad
from scipy.special import erf
from scipy.stats import norm

import steadyrank as sr
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.planning.reversal import (
    approximate_error_rate,
    error_rate,
    pair_variances,
    predictive_rate,
    topics_for_error_rate,
)


def williams_normal(z):
    """Williams' approximation of the normal distribution function, for z >= 0."""
    return 0.5 * (1.0 + np.sqrt(-np.expm1(-2.0 / np.pi * z**2)))


def test_the_three_forms_are_the_golden_ones():
    given, expected, tolerance = golden_case("reer")
    gap, n = given["mu_diff"], given["n"]
    independent = given["var_a"] + given["var_b"]
    paired = independent - 2 * given["cov_ab"]
    for found, key in (
        (error_rate(gap, independent, n), "reer_eq8"),
        (approximate_error_rate(gap, independent, n), "reer_eq13"),
        (error_rate(gap, paired, n), "reer_paired"),
    ):
        np.testing.assert_allclose(found, expected[key], atol=tolerance, rtol=0)
    assert error_rate(0.0, paired, 50) == expected["reer_no_difference"]


def test_williams_is_the_golden_one_and_the_misprint_is_not():
    given, expected, tolerance = golden_case("williams_erf")
    z = np.array(given["z"])
    np.testing.assert_allclose(williams_normal(z), expected["phi_williams"], atol=tolerance)
    np.testing.assert_allclose(norm.cdf(z), expected["phi_exact"], atol=tolerance)
    printed = np.sqrt(1 - np.exp(-2 * (z / np.sqrt(2)) ** 2 / np.pi))
    assert np.abs(printed - erf(z / np.sqrt(2))).max() > 0.1
    wrong = 1 - williams_normal(z)
    np.testing.assert_allclose(2 * wrong * (1 - wrong), approximate_error_rate(z, 1, 1), atol=1e-15)


def test_against_scipys_normal_distribution():
    rng = np.random.default_rng(0)
    gap, variance = rng.normal(0, 0.05, 200), rng.gamma(2, 0.02, 200)
    n, other = rng.integers(1, 300, (2, 200))
    right = [norm(gap, np.sqrt(variance / size)).sf(0) for size in (n, other)]
    unequal = right[0] * (1 - right[1]) + right[1] * (1 - right[0])
    np.testing.assert_allclose(error_rate(gap, variance, n, other), unequal, atol=1e-14)
    equal = 2 * right[0] * (1 - right[0])
    np.testing.assert_allclose(error_rate(gap, variance, n), equal, atol=1e-14)
    spread = np.sqrt(variance / n + variance / other)
    expected = norm(np.abs(gap), spread).cdf(0)
    np.testing.assert_allclose(predictive_rate(gap, variance, n, other), expected, rtol=1e-12)


def test_the_predictive_rate_is_the_error_rate_over_what_is_known_of_the_true_difference():
    """The chance of another sign in the second, integrated over N(observed, v / n)."""
    for gap, variance, n, other in ((0.02, 0.025, 50, 50), (-0.05, 0.03, 20, 70)):
        known = norm(gap, np.sqrt(variance / n))

        def reversed_if(true, gap=gap, variance=variance, other=other, known=known):
            below = norm(true, np.sqrt(variance / other)).cdf(0)
            return known.pdf(true) * (below if gap > 0 else 1 - below)

        integral, _ = quad(reversed_if, gap - 1, gap + 1, points=[gap], epsabs=1e-12)
        assert predictive_rate(gap, variance, n, other) == pytest.approx(integral, rel=1e-7)


def test_range_limits_and_monotonicity():
    z = np.linspace(0, 40, 4001)
    for rate in (error_rate, approximate_error_rate, predictive_rate):
        values = rate(z, 1.0, 1.0)
        assert values[0] == 0.5
        assert (np.diff(values) <= 0).all()
        assert 0 <= values[-1] < 1e-12
        np.testing.assert_array_equal(values, rate(-z, 1.0, 1.0))
        assert (np.diff(rate(0.03, 0.025, np.arange(1, 500))) < 0).all()
        assert (np.diff(rate(0.03, np.linspace(0.01, 1, 50), 50)) > 0).all()
    gap = error_rate(z, 1, 1) - approximate_error_rate(z, 1, 1)
    assert gap.min() > -1e-15
    assert 0.0057 < gap.max() < 0.0058
    # A positive covariance makes the paired variance the smaller one.
    assert error_rate(0.03, 0.085 - 0.06, 50) < error_rate(0.03, 0.085, 50)


def test_a_plug_in_of_the_observed_difference_misleads_where_runs_are_equal():
    """Its mean is 1/3 where two experiments contradict each other half of the time."""
    z = norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    assert error_rate(z, 1.0, 1.0).mean() == pytest.approx(1 / 3, abs=1e-6)
    assert error_rate(0.0, 1.0, 1.0) == 0.5


@pytest.mark.parametrize("rate", [0.001, 0.05, 0.2, 0.49])
def test_needed_topics_are_the_smallest_that_are_enough(rate):
    rng = np.random.default_rng(1)
    gap, variance = rng.uniform(0.001, 0.2, 300), rng.gamma(2, 0.02, 300)
    needed = topics_for_error_rate(gap, variance, rate)
    assert (error_rate(gap, variance, needed) <= rate * (1 + 1e-9)).all()
    more = needed > 1
    assert (error_rate(gap[more], variance[more], needed[more] - 1) > rate).all()
    assert (needed == np.floor(needed)).all()


def test_no_number_of_topics_makes_a_predictive_rate_small():
    """Against draws: the truth around the observed difference, then an endless second experiment.

    1,000,000 draws: .002 is more than four standard errors.
    """
    limit = predictive_rate(0.004, 0.04, 50, np.inf)
    assert limit == pytest.approx(norm.cdf(-0.004 / np.sqrt(0.04 / 50)))
    assert limit > 0.4
    sizes = np.array([50, 500, 5000, 5e9])
    assert (np.diff(predictive_rate(0.004, 0.04, 50, sizes)) < 0).all()
    assert (predictive_rate(0.004, 0.04, 50, sizes) > limit).all()
    truth = np.random.default_rng(0).normal(0.004, np.sqrt(0.04 / 50), 1_000_000)
    assert (truth < 0).mean() == pytest.approx(limit, abs=0.002)


def test_degenerate_arguments():
    np.testing.assert_array_equal(error_rate([0, 0, 0.1], [0, 1, 0], 10), [0.5, 0.5, 0.0])
    np.testing.assert_array_equal(predictive_rate([0, 0, 0.1], [0, 1, 0], 10), [0.5, 0.5, 0.0])
    nan = np.nan
    assert np.isnan(error_rate([nan, 0, 0], [1, nan, 0], [9, 9, nan])).all()
    assert np.isnan(predictive_rate([nan, 0, 0], [1, nan, 0], [9, 9, nan])).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: error_rate(0.1, -1, 5), "a variance must be at least 0, got -1"),
        (lambda: error_rate(0.1, 1, 0), "a number of topics must be above 0, got 0"),
        (lambda: predictive_rate(0.1, 1, 5, -2), "a number of topics must be above 0, got -2"),
        (lambda: topics_for_error_rate(0.1, 1, 0.5), "strictly between 0 and 0.5"),
    ],
)
def test_impossible_arguments_are_refused(call, message):
    refused(message, call)


def test_variances_of_pairs_are_numpys_over_the_topics_that_both_have():
    rng = np.random.default_rng(2)
    scores = rng.random((6, 40))
    scores[rng.random(scores.shape) < 0.2] = np.nan
    pairs = all_pairs(6)
    found = pair_variances(scores, pairs)
    for p, (a, b) in enumerate(pairs):
        there = ~np.isnan(scores[a] + scores[b])
        expected = np.cov(scores[a, there], scores[b, there], ddof=1)
        assert found.n[p] == there.sum()
        assert found.difference[p] == pytest.approx((scores[a] - scores[b])[there].mean())
        assert found.variance_a[p] == pytest.approx(expected[0, 0])
        assert found.variance_b[p] == pytest.approx(expected[1, 1])
        assert found.covariance[p] == pytest.approx(expected[0, 1], abs=1e-15)
        assert found.variance[p] == pytest.approx(np.var((scores[a] - scores[b])[there], ddof=1))


def test_degenerate_pairs_are_flagged_and_clean():
    base = np.random.default_rng(3).random(20)
    equal_means = base + np.tile([0.1, -0.1], 10)
    alone = np.where(np.arange(20) == 0, base, np.nan)
    scores = np.stack([base, base, base + 0.3, equal_means, alone])
    found = pair_variances(scores, [[0, 1], [2, 0], [3, 0], [4, 2]])
    assert found.flag.tolist() == ["no_difference", "zero_variance", "", "too_few_topics"]
    assert found.difference[:3].tolist() == [0.0, pytest.approx(0.3), 0.0]
    assert found.variance[:2].tolist() == [0.0, 0.0]
    assert found.variance[2] == pytest.approx(0.01 * 20 / 19)
    assert np.isnan(found.variance[3])


def test_simulated_experiments_with_a_known_difference_contradict_each_other_as_eq_8_says():
    """200,000 pairs of experiments in each case; |z| < 4.5 in each of 8: false alarm 5e-5."""
    rng = np.random.default_rng(4)
    trials = 200_000
    for gap in (0.0, 0.01, 0.03, 0.06):
        for covariance in (0.0, 0.03):
            n, variance = 40, 0.04 + 0.045 - 2 * covariance
            # Means of n normal topics: the same law, n times as fast.
            root = np.linalg.cholesky([[0.04 / n, covariance / n], [covariance / n, 0.045 / n]])
            means = rng.normal(size=(2, trials, 2)) @ root.T
            d1, d2 = means[..., 0] - means[..., 1] + gap
            expected = error_rate(gap, variance, n)
            z = (np.mean(d1 * d2 < 0) - expected) / np.sqrt(expected * (1 - expected) / trials)
            assert abs(z) < 4.5


def reliability(predicted: np.ndarray, happened: np.ndarray) -> np.ndarray:
    """z of happened - predicted, both [study, pair], in 7 bins of the prediction.

    Whole studies are the units, as pairs of one study depend on each other.
    """
    place = np.digitize(predicted, [0.02, 0.05, 0.1, 0.2, 0.3, 0.4])
    off = np.stack([((happened - predicted) * (place == b)).sum(axis=1) for b in range(7)], axis=1)
    return off.mean(axis=0) / (off.std(axis=0, ddof=1) / np.sqrt(len(off)))


def test_the_predictive_rate_is_calibrated_where_every_difference_is_equally_likely():
    """40,000 pairs on 60 topics and 60 others, true differences uniform far beyond the noise.

    |z| < 4.5 in each of 7 bins: false alarm 5e-5. That variances are estimated would show from
    some ten times as many pairs on.
    """
    rng = np.random.default_rng(5)
    n, n_pairs = 60, 40_000
    pairs = np.arange(2 * n_pairs).reshape(-1, 2)
    topics = np.repeat(rng.normal(0, 0.2, (n_pairs, n)), 2, axis=0)
    first = topics + rng.normal(0, 0.4, topics.shape)
    true = rng.uniform(-0.6, 0.6, n_pairs)
    first[::2] += true[:, None]
    found = pair_variances(first, pairs)
    second = rng.normal(true, 0.4 * np.sqrt(2 / n))
    happened = (found.difference * second < 0)[:, None]
    predicted = predictive_rate(found.difference, found.variance, n)[:, None]
    plugged = error_rate(found.difference, found.variance, n)[:, None]
    assert np.abs(reliability(predicted, happened)).max() < 4.5
    assert np.abs(reliability(plugged, happened)).max() > 6  # some 10 is expected


@pytest.mark.slow
def test_the_predictive_rate_is_calibrated_on_simulated_tracks():
    """32 tracks of 16 runs, 50 topics against 50 others; independent variances would not do.

    |z| < 4.5 in each of 7 bins, by Student's t with 31 degrees of freedom: false alarm 6e-4.
    """
    pairs, n = all_pairs(16), 50
    predicted, happened, independent = [], [], []
    for seed in range(32):
        track = sr.simulated_track(
            n_teams=8, runs_per_team=2, n_topics=2 * n, depth=50, pool_depth=10, rng=seed
        )
        scores = sr.evaluate(track.runs, track.complete, "AP").matrix()
        first = pair_variances(scores[:, :n], pairs)
        second = scores[:, n:].mean(axis=1)
        predicted.append(predictive_rate(first.difference, first.variance, n))
        apart = first.variance_a + first.variance_b
        independent.append(predictive_rate(first.difference, apart, n))
        happened.append(first.difference * (second[pairs[:, 0]] - second[pairs[:, 1]]) < 0)
    assert np.abs(reliability(np.array(predicted), np.array(happened))).max() < 4.5
    assert np.abs(reliability(np.array(independent), np.array(happened))).max() > 10

"""A limit lies at 0 exactly where the test's p-value reaches alpha."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from steadyrank.stats.pairs.resampled import (
    bootstrap_t_limits,
    flip_limits,
    hodges_lehmann_limits,
    median_limits,
    randomization,
    studentized_bootstrap,
)
from steadyrank.stats.pairs.tests import sign_test, wilcoxon

ONE = np.array([[0, 1]])
N = 999


def sample(seed, n=18, shift=0.4):
    z = np.random.default_rng(seed).normal(shift, 1.0, n)
    return np.stack([z, np.zeros(n)])


TESTS = {
    "wilcoxon": (wilcoxon, hodges_lehmann_limits, {}),
    "sign": (sign_test, median_limits, {}),
    "randomization": (
        lambda s, p, **o: randomization(s, p, exact_up_to=0, **o),
        flip_limits,
        {"n_samples": N},
    ),
    "bootstrap": (studentized_bootstrap, bootstrap_t_limits, {"n_samples": N}),
}


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("alpha", [0.05, 0.004])
def test_the_test_rejects_exactly_what_lies_outside(name, seed, alpha):
    test, limits_of, options = TESTS[name]
    scores = sample(seed)
    low, high = limits_of(scores, ONE, alpha=alpha, **options)[0]
    for end, outwards in ((low, -1.0), (high, 1.0)):
        if np.isinf(end):
            continue
        for step, rejected in ((1e-6, True), (-1e-6, False)):
            moved = scores.copy()
            moved[0] -= end + outwards * step
            assert (test(moved, ONE, **options).pvalue[0] <= alpha) == rejected


def test_hodges_and_lehmann_against_all_couples():
    rng = np.random.default_rng(1)
    z = rng.normal(0.3, 1.0, 12)
    couples = [(a + b) / 2 for a, b in itertools.combinations_with_replacement(z, 2)]
    ordered = np.sort(couples)
    # Signed ranks of 12 values: 2 P(W <= 13) = .0425, 2 P(W <= 14) = .0522.
    limits = hodges_lehmann_limits(np.stack([z, np.zeros(12)]), ONE)[0]
    np.testing.assert_allclose(limits, [ordered[13], ordered[-14]], rtol=1e-12)


def test_the_median_against_its_order_statistics():
    z = np.random.default_rng(2).normal(0.3, 1.0, 20)
    ordered = np.sort(z)  # binomial(20, .5): 2 P(X <= 5) = .0414
    limits = median_limits(np.stack([z, np.zeros(20)]), ONE)[0]
    np.testing.assert_array_equal(limits, [ordered[5], ordered[-6]])


def test_large_samples_come_close_to_students_interval():
    scores = sample(3, n=400)
    z = scores[0]
    half = stats.t.ppf(0.975, 399) * z.std(ddof=1) / 20
    for limits_of in (flip_limits, bootstrap_t_limits):
        low, high = limits_of(scores, ONE, n_samples=20_000)[0]
        assert low == pytest.approx(z.mean() - half, abs=0.08 * half)
        assert high == pytest.approx(z.mean() + half, abs=0.08 * half)


@pytest.mark.parametrize("name", TESTS)
def test_too_little_data_has_no_limits(name):
    _, limits_of, options = TESTS[name]
    low, high = limits_of(sample(4, n=4), ONE, alpha=1e-4, **options)[0]
    assert (low, high) == (-np.inf, np.inf)


@pytest.mark.parametrize("name", TESTS)
def test_missing_topics_are_left_out(name):
    _, limits_of, options = TESTS[name]
    scores = sample(5, n=30)
    gaps = np.insert(scores, [0, 7, 30], np.nan, axis=1)
    without = limits_of(scores, ONE, **options)
    if name in ("wilcoxon", "sign", "bootstrap"):
        np.testing.assert_allclose(limits_of(gaps, ONE, **options), without, rtol=1e-12)
    else:  # other signs, since there are more topics
        np.testing.assert_allclose(limits_of(gaps, ONE, **options), without, atol=0.15)


def test_zeros_are_dropped_as_the_tests_do():
    z = np.array([0.0] * 20 + [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, -0.05])
    scores = np.stack([z, np.zeros(30)])
    assert sign_test(scores, ONE).pvalue[0] < 0.05
    assert median_limits(scores, ONE)[0, 0] > 0
    assert wilcoxon(scores, ONE).pvalue[0] < 0.05
    assert hodges_lehmann_limits(scores, ONE)[0, 0] > 0


def test_the_one_sided_bootstrap_has_one_limit():
    scores = sample(6)
    low, high = bootstrap_t_limits(scores, ONE, alternative="greater", n_samples=N)[0]
    assert np.isfinite(low)
    assert high == np.inf
    assert low > bootstrap_t_limits(scores, ONE, n_samples=N)[0, 0]

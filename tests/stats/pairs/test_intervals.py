"""Intervals against SciPy, full enumeration of small resamples, and their coverage."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from steadyrank.errors import InputError
from steadyrank.stats.pairs.intervals import LIMITS, bootstrap_intervals, t_intervals
from steadyrank.stats.pairs.result import all_pairs

KINDS = sorted(LIMITS)


def skewed(seed, n):
    return np.random.default_rng(seed).exponential(0.2, n) - 0.1


def as_scores(z):
    return np.stack([z, np.zeros_like(z)])


@pytest.mark.parametrize("level", [0.5, 0.95, 0.99])
def test_t_as_by_scipy(level):
    z = skewed(1, 15)
    expected = stats.ttest_1samp(z, 0.0).confidence_interval(level)
    found = t_intervals(as_scores(z), [[0, 1]], confidence=level)
    np.testing.assert_allclose(found[0], [expected.low, expected.high], rtol=1e-12)


@pytest.mark.parametrize(("kind", "theirs"), [("percentile", "percentile"), ("bca", "BCa")])
@pytest.mark.parametrize("n", [12, 60])
def test_bootstrap_as_by_scipy(kind, theirs, n):
    z = skewed(n, n)
    found = bootstrap_intervals(as_scores(z), [[0, 1]], kind=kind, n_samples=40_000)[0]
    expected = stats.bootstrap(
        (z,), np.mean, n_resamples=40_000, method=theirs, vectorized=True, rng=2, batch=1000
    ).confidence_interval
    # The 2.5 % quantile of 40,000 has a standard error of about .013 se; BCa's moves a little
    # more. Two such runs differ by .12 se in fewer than one of 10,000 seeds.
    se = z.std(ddof=1) / np.sqrt(n)
    np.testing.assert_allclose(found, [expected.low, expected.high], rtol=0, atol=0.12 * se)


def enumerated(z):
    """All n^n resamples: their means and studentised means, centred at the sample's."""
    draws = z[np.array(list(itertools.product(range(z.size), repeat=z.size)))]
    means = draws.mean(axis=1) - z.mean()
    spread = draws.std(axis=1, ddof=1) / np.sqrt(z.size)
    constant = spread < 1e-9
    infinite = np.copysign(np.inf, means)
    return means, np.where(constant, infinite, means / np.where(constant, 1.0, spread))


def quantile(values, level):
    """The inverse of the exact distribution function, which must not step at `level`."""
    ordered = np.sort(values)
    assert abs(level * ordered.size - round(level * ordered.size)) > 0
    return ordered[int(np.ceil(level * ordered.size)) - 1]


def atoms_away(values, level, band=0.004):
    """Whether the exact quantile is the same over a band wider than the Monte Carlo error."""
    return np.isclose(quantile(values, level - band), quantile(values, level + band))


def test_exact_limits_by_enumeration():
    z = np.array([0.0, 0.1, 0.3, 0.9])
    means, ratios = enumerated(z)
    # 100,000 resamples: the band of .004 at level .7 is over 5 standard errors wide.
    tail = 0.15
    assert all(atoms_away(means, level) for level in (tail, 1 - tail))
    found = bootstrap_intervals(
        as_scores(z), [[0, 1]], kind="percentile", confidence=0.7, n_samples=100_000
    )[0]
    expected = [z.mean() + quantile(means, level) for level in (tail, 1 - tail)]
    np.testing.assert_allclose(found, expected, atol=1e-12)

    assert all(atoms_away(ratios, level) for level in (tail, 1 - tail))
    found = bootstrap_intervals(
        as_scores(z), [[0, 1]], kind="studentized", confidence=0.7, n_samples=100_000
    )[0]
    se = z.std(ddof=1) / 2
    expected = [z.mean() - quantile(ratios, level) * se for level in (1 - tail, tail)]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_exact_bca_limits_by_enumeration():
    z = np.array([0.0, 0.1, 0.3, 0.9, 1.0])
    means, _ = enumerated(z)
    below = (np.sum(means < -1e-12) + 0.5 * np.sum(np.abs(means) <= 1e-12)) / means.size
    left_out = np.array([np.delete(z, i).mean() for i in range(z.size)])
    moved = left_out.mean() - left_out
    skew = (moved**3).sum() / (6 * (moved**2).sum() ** 1.5)
    bias = stats.norm.ppf(below)
    shifted = bias + stats.norm.ppf([0.15, 0.85])
    levels = stats.norm.cdf(bias + shifted / (1 - skew * shifted))
    expected = [z.mean() + quantile(means, level) for level in levels]
    found = bootstrap_intervals(as_scores(z), [[0, 1]], confidence=0.7, n_samples=100_000)[0]
    assert all(atoms_away(means, level, 0.006) for level in levels)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_two_topics_make_studentised_limits_infinite():
    # Half of the resamples of two topics repeat one of them.
    found = bootstrap_intervals(as_scores(np.array([0.1, 0.3])), [[0, 1]], kind="studentized")
    assert found.tolist() == [[-np.inf, np.inf]]


@pytest.mark.parametrize("kind", KINDS)
def test_symmetric_large_samples_agree_with_student(kind):
    random = np.random.default_rng(9)
    scores = random.normal(0.4, 0.1, (4, 400))
    found = bootstrap_intervals(scores, all_pairs(4), kind=kind)
    expected = t_intervals(scores, all_pairs(4))
    width = np.ptp(expected, axis=1)[:, None]
    assert np.all(np.abs(found - expected) < 0.08 * width)


@pytest.mark.parametrize("kind", KINDS)
def test_same_bytes_on_any_number_of_threads(kind):
    scores = np.random.default_rng(3).random((30, 25))
    scores[3, 4] = np.nan
    pairs = all_pairs(30)
    found = [
        bootstrap_intervals(scores, pairs, kind=kind, n_samples=600, jobs=jobs)
        for jobs in (1, 2, 4)
    ]
    assert len({each.tobytes() for each in found}) == 1
    other = bootstrap_intervals(scores, pairs, kind=kind, n_samples=600, seed=1)
    assert other.tobytes() != found[0].tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_a_pair_depends_on_its_own_topics_alone(kind):
    scores = np.random.default_rng(4).random((5, 20))
    scores[0, 2] = scores[1, 5] = scores[2, 7] = np.nan
    pairs = all_pairs(5)
    together = bootstrap_intervals(scores, pairs, kind=kind, n_samples=500)
    shared = (~np.isnan(scores[pairs].sum(axis=1))).sum(axis=1)
    assert shared.tolist() == [18, 18, 19, 19, 18, 19, 19, 19, 19, 20]
    for index, (i, j) in enumerate(pairs):
        common = ~np.isnan(scores[i] - scores[j])
        alone = bootstrap_intervals(scores[[i, j]][:, common], [[0, 1]], kind=kind, n_samples=500)[
            0
        ]
        np.testing.assert_allclose(together[index], alone, rtol=1e-12, atol=1e-14)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.1, 50), st.sampled_from([*KINDS, "t"]))
def test_scale_and_shift(seed, scale, kind):
    scores = np.random.default_rng(seed).random((3, 12))

    def limits(matrix):
        if kind == "t":
            return t_intervals(matrix, all_pairs(3))
        return bootstrap_intervals(matrix, all_pairs(3), kind=kind, n_samples=300)

    # A shift of every topic cancels; a shift of one run moves the limits.
    changed = scale * (scores + np.linspace(-1, 1, 12))
    np.testing.assert_allclose(limits(changed), scale * limits(scores), rtol=1e-8, atol=1e-10)
    moved = scores + np.array([[1.0], [0.0], [0.0]])
    expected = limits(scores) + np.array([[1.0], [1.0], [0.0]])
    np.testing.assert_allclose(limits(moved), expected, rtol=1e-8, atol=1e-10)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 9), st.sampled_from(KINDS))
def test_limits_are_ordered_numbers(seed, n, kind):
    scores = np.random.default_rng(seed).integers(0, 4, (3, n)) / 4
    found = bootstrap_intervals(scores, all_pairs(3), kind=kind, n_samples=200)
    assert not np.isnan(found).any()
    assert np.all(found[:, 0] <= found[:, 1])


@pytest.mark.parametrize("kind", [*KINDS, "t"])
def test_degenerate_pairs(kind):
    scores = np.array([[0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [0.2, 0.3, 0.4], [np.nan, np.nan, 0.1]])
    pairs = [[0, 1], [2, 0], [0, 3]]
    if kind == "t":
        found = t_intervals(scores, pairs)
    else:
        found = bootstrap_intervals(scores, pairs, kind=kind, n_samples=100)
    expected = [[0.0, 0.0], [0.1, 0.1], [np.nan, np.nan]]
    np.testing.assert_allclose(found, expected, atol=1e-15)


def test_no_pairs_and_no_topics():
    assert bootstrap_intervals(np.zeros((2, 3)), []).shape == (0, 2)
    assert np.isnan(t_intervals(np.zeros((2, 0)), [[0, 1]])).all()


def test_wrong_input_is_refused():
    scores = np.zeros((2, 3))
    with pytest.raises(InputError, match="did you mean 'percentile'"):
        bootstrap_intervals(scores, [[0, 1]], kind="percentil")
    with pytest.raises(InputError, match="confidence must lie"):
        t_intervals(scores, [[0, 1]], confidence=1.0)
    with pytest.raises(InputError, match="n_samples"):
        bootstrap_intervals(scores, [[0, 1]], n_samples=0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        ("t", 0.87, 0.95),
        ("percentile", 0.85, 0.94),
        ("bca", 0.86, 0.95),
        ("studentized", 0.91, 0.97),
    ],
)
def test_coverage_with_skewed_differences(kind, low, high):
    # 1000 samples of 20 exponential differences, nominal .95. 20,000 samples gave .918, .902, .912
    # and .943; the bands leave at least 3.5 standard errors: 1 of 4000 seeds would fall outside.
    z = np.random.default_rng(17).exponential(1.0, (1000, 20))
    scores = np.concatenate([z, np.ones((1, 20))])
    pairs = np.stack([np.arange(1000), np.full(1000, 1000)], axis=1)
    if kind == "t":
        limits = t_intervals(scores, pairs)
    else:
        limits = bootstrap_intervals(scores, pairs, kind=kind, n_samples=2000)
    covered = np.mean((limits[:, 0] <= 0) & (limits[:, 1] >= 0))
    assert low < covered < high

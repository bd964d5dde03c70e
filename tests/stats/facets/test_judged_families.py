"""Families of systems that several judges graded: the balanced rule, decisions, worlds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, special, stats

from steadyrank.data.levels import levels_of
from steadyrank.stats.facets.pairs import judge_tests, level_intervals
from steadyrank.stats.instances.mixed_tests import crossed_mean
from steadyrank.stats.pairs.decisions import adjust
from steadyrank.stats.pairs.result import all_pairs


def balanced(x):
    """The rule by mean squares: D, sqrt(V), its df, the error of the pair alone and its df."""
    m, n, k = x.shape
    by_judge = x.mean(axis=1)
    r = by_judge - by_judge.mean(1, keepdims=True) - by_judge.mean(0) + by_judge.mean()
    ms_sg = n * (r**2).sum() / ((m - 1) * (k - 1))
    rest = x - x.mean(2, keepdims=True) - x.mean(1, keepdims=True) - x.mean(0, keepdims=True)
    rest = rest + x.mean((1, 2), keepdims=True) + x.mean((0, 2), keepdims=True)
    rest = rest + x.mean((0, 1), keepdims=True) - x.mean()
    ms_stg = (rest**2).sum() / ((m - 1) * (n - 1) * (k - 1))
    free = (m - 1) * (k - 1)
    pooled = max(0.0, 2 * (ms_sg - ms_stg) / (n * k))
    v = m / (m - 1) * (r**2).sum(1) / (k - 1)
    v = np.maximum(v, 1e-5 * np.median(v))
    half = (k - 1) / 2
    e = np.log(v) - special.psi(half) + np.log(half)
    excess = e.var(ddof=1) - special.polygamma(1, half)
    prior_df, prior = np.inf, v.mean()
    if excess > 0:
        prior_df = 2 * optimize.brentq(lambda q: special.polygamma(1, q) - excess, 1e-6, 1e9)
        prior = np.exp(e.mean() + special.psi(prior_df / 2) - np.log(prior_df / 2))
    prior_df = min(prior_df, free - (k - 1))
    v = (prior_df * prior + (k - 1) * v) / (prior_df + k - 1)
    found = []
    for a, b in all_pairs(m):
        d = x[a] - x[b]
        over_topics = d.mean(1).var(ddof=1) / n
        error = d - d.mean(1, keepdims=True) - d.mean(0) + d.mean()
        ms_e = (error**2).sum() / ((n - 1) * (k - 1))
        ms_t, ms_g = k * d.mean(1).var(ddof=1), n * d.mean(0).var(ddof=1)
        own = max(0.0, (v[a] + v[b]) / k - ms_e / (n * k))
        df = min(free, (v[a] + v[b]) ** 2 * (prior_df + k - 1) / (v[a] ** 2 + v[b] ** 2))
        added, df = (own, df) if own > pooled else (pooled, free)
        variance = over_topics + added
        both = variance**2 / (over_topics**2 / (n - 1) + added**2 / df)
        alone, alone_df = over_topics, n - 1
        if ms_g > ms_e:
            total = ms_t + ms_g - ms_e
            alone = total / (n * k)
            parts = ms_t**2 / (n - 1) + ms_g**2 / (k - 1) + ms_e**2 / ((n - 1) * (k - 1))
            alone_df = total**2 / parts
        if m == 2:  # the pair is all that is known
            variance, both = alone, alone_df
        found.append((d.mean(), np.sqrt(variance), both, np.sqrt(alone), alone_df))
    return np.array(found).T


@pytest.mark.parametrize("shape", [(2, 20, 3), (5, 30, 3), (8, 20, 5), (3, 10, 10)])
@pytest.mark.parametrize("spread", [0.0, 0.5])
def test_complete_tables_have_the_balanced_rule(shape, spread):
    rng = np.random.default_rng(3)
    own = spread * rng.chisquare(3, size=(shape[0], 1, 1))
    x = rng.normal(size=shape) + own * rng.normal(size=(shape[0], 1, shape[2]))
    tests = judge_tests(levels_of(x), all_pairs(shape[0]))
    found = (
        tests.difference,
        tests.standard_error,
        tests.df,
        tests.standard_error_own,
        tests.df_own,
    )
    for one, expected in zip(found, balanced(x), strict=True):
        np.testing.assert_allclose(one, expected, rtol=1e-7)
    t = np.abs(tests.difference) / tests.standard_error
    np.testing.assert_allclose(tests.pvalue, 2 * stats.t.sf(t, tests.df), rtol=1e-6)


def test_fixed_judges_of_complete_tables_have_paired_t_tests():
    x = np.random.default_rng(4).normal(size=(4, 25, 3))
    tests = judge_tests(levels_of(x), all_pairs(4), is_fixed=True)
    for pair, (a, b) in enumerate(all_pairs(4)):
        expected = stats.ttest_rel(x[a].mean(1), x[b].mean(1))
        assert tests.pvalue[pair] == pytest.approx(expected.pvalue)
        assert tests.df[pair] == pytest.approx(24)


def test_intervals_of_means_are_those_of_both_ways_random():
    x = np.random.default_rng(6).normal(size=(3, 20, 4)) + np.arange(4)
    for system, limits in enumerate(level_intervals(levels_of(x), 0.95)):
        expected = crossed_mean(x[system])
        half = stats.t.ppf(0.975, expected.df) * expected.standard_error
        assert limits.tolist() == pytest.approx(
            [expected.estimate - half, expected.estimate + half]
        )


def test_identical_systems_and_judges_without_error():
    x = np.tile(np.random.default_rng(5).normal(size=(1, 12, 1)), (3, 1, 4))
    tests = judge_tests(levels_of(x), all_pairs(3))
    np.testing.assert_allclose(tests.pvalue, 1.0)
    assert set(tests.as_tests(12).flag) == {"no_difference"}


def world(rng, m=6, n=60, k=5, sg=0.06, gaps=0.0, confounded=0.0, of_these=False):
    """Grades [system, topic, judge] of equally good systems; layouts with gaps or confounding.

    `of_these`: equally good by these judges, and not by all others like them.
    """
    own = np.sqrt(np.broadcast_to(sg, m))[:, None, None] * rng.normal(size=(m, 1, k))
    if of_these:
        own = own - own.mean(axis=2, keepdims=True)
    x = (
        own
        + 0.28 * rng.normal(size=(m, n, 1))
        + 0.6 * rng.normal(size=(1, 1, k))
        + 0.4 * rng.normal(size=(1, n, k))
        + 0.7 * rng.normal(size=(m, n, k))
    )
    there = rng.random(x.shape) >= gaps
    # On these topics each system is graded by one judge, mostly its own.
    own = rng.random(n) < confounded
    chosen = np.where(
        rng.random((m, n)) < 0.8, np.arange(m)[:, None] % k, rng.integers(0, k, (m, n))
    )
    there &= ~own[None, :, None] | (np.arange(k) == chosen[:, :, None])
    x[~there] = np.nan
    return x


def claimed(x, alpha=0.05, is_fixed=False):
    """Whether anything at all is claimed, and which pairs' intervals hold the truth."""
    tests = judge_tests(levels_of(x), all_pairs(len(x)), is_fixed=is_fixed)
    adjusted = np.maximum(adjust(tests.pvalue, "holm"), tests.pvalue_own)
    half = stats.t.ppf(0.975, tests.df) * tests.standard_error
    return (adjusted <= alpha).any(), np.abs(tests.difference) <= half


def test_confounded_judges_claim_nothing():
    """Two judges .2 apart, 20 topics graded by both, 80 by another judge for each system."""
    rng = np.random.default_rng(7)
    n = 100
    topic = 0.1 * rng.normal(size=(1, n, 1))
    x = 0.5 + topic + np.array([0.1, -0.1]) + 0.03 * rng.normal(size=(2, n, 2))
    x[0, 20:, 1] = x[1, 20:, 0] = np.nan
    levels = levels_of(x)
    tests = judge_tests(levels, all_pairs(2), is_fixed=True)
    assert abs(tests.difference[0]) < 0.02
    assert not claimed(x, is_fixed=True)[0]
    assert levels.means[0] - levels.means[1] == pytest.approx(tests.difference[0])


@pytest.mark.parametrize(
    "layout",
    [
        {"k": 3},
        {"k": 5},
        {"k": 10},
        {"k": 5, "gaps": 0.6},
        {"k": 4, "gaps": 0.3, "confounded": 0.5},
        {"k": 3, "confounded": 0.9, "n": 100},
        {"k": 5, "sg": [0.06] * 3 + [0.24] * 3},
        {"k": 2, "of_these": True},
        {"k": 2, "confounded": 0.8, "n": 100, "of_these": True},
        {"k": 5, "gaps": 0.6, "of_these": True},
        {"k": 3, "gaps": 0.3, "confounded": 0.9, "n": 100, "of_these": True},
    ],
    ids=str,
)
def test_worlds_of_known_truth(layout):
    """250 families each; the bands are those that are promised, and three standard errors."""
    rng = np.random.default_rng(11)
    is_fixed = layout.get("of_these", False)
    found = [claimed(world(rng, **layout), is_fixed=is_fixed) for _ in range(250)]
    claims, covered = (np.array(part) for part in zip(*found, strict=True))
    assert claims.mean() <= 0.08 + 3 * np.sqrt(0.05 * 0.95 / 250)
    held = covered.mean(axis=1)
    assert held.mean() >= 0.93 - 3 * held.std() / np.sqrt(250)

"""Welch's test of runs with topics of their own, against R and scipy."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from golden_cases import golden_case
from scipy import stats

import steadyrank as sr
from steadyrank.stats.pairs.effects import two_sample_effects
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tests import welch
from steadyrank.studies.compare.wording import gaps_words

ONE = np.array([[0, 1]])


def apart(n_runs=4, n_topics=40, seed=1):
    """Runs that have some of the topics each, one of them none in common with the first."""
    rng = np.random.default_rng(seed)
    scores = rng.beta(1, 2, (n_runs, n_topics))
    scores[rng.random(scores.shape) < 0.4] = np.nan
    scores[0, n_topics // 2 :] = scores[1, : n_topics // 2] = np.nan
    return scores


def table(matrix):
    n_runs, n_topics = matrix.shape
    return sr.Scores(
        measures=("AP",),
        runs=tuple(f"r{i}" for i in range(n_runs)),
        topics=tuple(f"{t}" for t in range(n_topics)),
        values=matrix[None],
    )


def test_welch_is_that_of_r():
    """R 4.2.2, t.test: t, degrees of freedom, p and interval."""
    inputs, expected, tolerance = golden_case("t_two_sample")
    scores = np.array([inputs["a"], inputs["b"]], float)
    test, want = welch(scores, ONE), expected["welch"]
    assert test.statistic[0] == pytest.approx(want["t"], rel=tolerance)
    assert test.df[0] == pytest.approx(want["df"], rel=tolerance)
    assert test.pvalue[0] == pytest.approx(want["p"], rel=tolerance)
    with pytest.warns(sr.SteadyrankWarning, match="a paired test"):
        result = sr.compare(table(scores), test="welch")
    assert result.interval[0] == pytest.approx(want["ci"], rel=1e-9)


def test_every_pair_is_scipy_s():
    scores, pairs = apart(), all_pairs(4)
    test, effects = welch(scores, pairs), two_sample_effects(scores, pairs)
    for p, (a, b) in enumerate(pairs):
        first, second = (row[~np.isnan(row)] for row in (scores[a], scores[b]))
        want = stats.ttest_ind(first, second, equal_var=False)
        assert test.statistic[p] == pytest.approx(want.statistic, rel=1e-12)
        assert (test.pvalue[p], test.df[p]) == pytest.approx((want.pvalue, want.df), rel=1e-10)
        assert test.n[p] == min(len(first), len(second))
        d = want.statistic * test.standard_error[p]
        sd = np.sqrt((first.var(ddof=1) + second.var(ddof=1)) / 2)
        assert effects.paired_d[p] == pytest.approx(d / sd)


def test_compare_takes_each_run_over_its_own_topics():
    matrix = apart()
    result = sr.compare(table(matrix), test="welch")
    assert result.correction == "holm"
    np.testing.assert_allclose(result.mean, np.nanmean(matrix, axis=1))
    np.testing.assert_allclose(result.pair_means, np.nanmean(matrix, axis=1)[result.pairs])
    np.testing.assert_allclose(result.difference, result.pair_means @ [1, -1])
    for row, (low, high) in zip(matrix, result.mean_interval, strict=True):
        known = row[~np.isnan(row)]
        want = stats.t.interval(0.95, len(known) - 1, known.mean(), stats.sem(known))
        assert (low, high) == pytest.approx(want)
    assert (result.interval[:, 0] <= result.difference).all()
    assert (result.fragility == -1).all()
    assert np.isnan(result.smallest_difference).all()
    assert "different topics" in gaps_words(result)


def test_runs_that_share_no_topic_differ_by_welch_where_nothing_else_says_anything():
    rng = np.random.default_rng(2)
    matrix = np.full((2, 60), np.nan)
    matrix[0, :30], matrix[1, 30:] = rng.normal(0.6, 0.1, 30), rng.normal(0.3, 0.1, 30)
    assert sr.compare(table(matrix), test="welch").significant.tolist() == [True]
    with pytest.warns(sr.SteadyrankWarning, match="shares no topic"):
        assert np.isnan(sr.compare(table(matrix)).pvalue).all()


def test_odd_pairs_are_flagged():
    nan = np.nan
    scores = np.array([[0.1, 0.1, 0.1], [0.1, 0.1, nan], [0.2, 0.2, 0.2], [0.5, nan, nan]])
    test = welch(scores, np.array([[0, 1], [0, 2], [0, 3]]))
    assert test.flag.tolist() == ["no_difference", "zero_variance", "too_few_topics"]
    np.testing.assert_equal(test.pvalue, [1.0, 0.0, nan])
    np.testing.assert_equal(test.statistic, [nan, -np.inf, nan])


def test_what_is_paired_is_refused():
    with pytest.raises(sr.InputError):
        sr.compare(table(apart()), test="welch", correction="maxt")


def test_the_level_holds_where_spreads_and_numbers_differ():
    """2,000 experiments with equal means: .05 within four standard errors, .0195."""
    rng = np.random.default_rng(3)
    matrix = np.full((4000, 55), np.nan)
    matrix[::2, :15] = rng.normal(0.4, 0.2, (2000, 15))
    matrix[1::2, 15:] = rng.normal(0.4, 0.05, (2000, 40))
    pvalue = welch(matrix, np.arange(4000).reshape(-1, 2)).pvalue
    assert (pvalue < 0.05).mean() == pytest.approx(0.05, abs=0.0195)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        welch(matrix[:2], ONE)

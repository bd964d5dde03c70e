"""Betting limits: brute force, a textbook bound, and coverage at every look."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from steadyrank.stats.pairs.betting import LARGEST_STAKE, sequential_difference
from steadyrank.stats.pairs.topic_design import mean_difference


def bets(d, alpha=0.05):
    return sequential_difference(mean_difference(d), np.asarray(d, float), alpha=alpha)


def capital(d, mean, alpha):
    """The bettor round by round, as the paper has it: on values above the mean."""
    values, mean = (np.asarray(d) + 1) / 2, (mean + 1) / 2
    fortune, best, total, squares = 1.0, 1.0, 0.5, 0.25
    for t, value in enumerate(values, start=1):
        stake = math.sqrt(2 * math.log(1 / alpha) / (squares / t * t * math.log(1 + t)))
        fortune *= 1 + min(stake, LARGEST_STAKE / mean) * (value - mean)
        best = max(best, fortune)
        total += value
        squares += (value - total / (t + 1)) ** 2
    return best


@pytest.mark.parametrize("shift", [-0.2, 0.0, 0.1])
def test_capital_is_that_of_a_bettor(shift):
    d = np.clip(np.random.default_rng(3).normal(shift, 0.3, 200), -1, 1)
    fit = bets(d)
    for mean in (-0.1, 0.0, 0.05):
        assert fit.pvalue_above(mean) == pytest.approx(1 / capital(d, mean, 0.05))
        assert fit.pvalue_below(mean) == pytest.approx(1 / capital(-d, -mean, 0.05))
    low, high = fit.interval(0.05)
    assert capital(d, low, 0.05) == pytest.approx(20, rel=1e-6)
    assert capital(-d, -high, 0.05) == pytest.approx(20, rel=1e-6)
    assert low < d.mean() < high


def test_a_decision_is_reached_once_and_stays():
    d = np.clip(np.random.default_rng(4).normal(0.05, 0.1, 400), -1, 1)
    fit = bets(d)
    first = fit.first_above(0.0, 0.05)
    assert bets(d[:first]).pvalue_above(0.0) <= 0.05
    assert bets(d[: first - 1]).pvalue_above(0.0) > 0.05
    assert bets(d[: first - 1]).first_above(0.0, 0.05) is None
    widths = [np.ptp(bets(d[:n]).interval(0.05)) for n in (20, 100, 400)]
    assert widths[0] > widths[1] > widths[2]
    assert fit.first_below(0.0, 0.05, 0.0) is None
    assert bets(-d).first_below(0.0, 0.05, 0.0) == first


def test_missing_topics_are_left_out():
    d = np.array([0.1, np.nan, 0.3, -0.2])
    assert bets(d).interval(0.05) == bets(d[~np.isnan(d)]).interval(0.05)


@pytest.mark.parametrize("kind", ["normal", "rare losses"])
def test_limits_cover_the_truth_at_every_look(kind):
    """Over 1,000 looks at 300 experiments each side errs in at most alpha of the experiments; a
    false alarm once in 10,000 times."""
    rng, n_trials, missed = np.random.default_rng(5), 300, np.zeros(2, int)
    for _ in range(n_trials):
        d = np.clip(rng.normal(0, 0.2, 1000), -1, 1)
        if kind == "rare losses":
            d = 0.015 - 0.5 * (rng.random(1000) < 0.03)
        fit = bets(d)
        missed += fit.pvalue_above(0.0) <= 0.05, fit.pvalue_below(0.0) <= 0.05
    assert (stats.binom(n_trials, 0.05).sf(missed - 1) > 1e-4).all()

"""The tables behind the slider: every number is the planner's own."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.stats.planning.demands import check_demands
from steadyrank.stats.planning.reversal import error_rate
from steadyrank.studies.plan.slider import (
    COARSE_STEPS,
    Grid,
    plan_grid,
    standard_grid,
    tabulate,
    topic_numbers,
)

PAIRED = check_demands(method="ttest", topics=2)
ANOVA = check_demands(method="anova", systems=10, topics=2)


def small(grid: Grid) -> Grid:
    """Every third choice: all kinds of numbers, in a fraction of the time."""
    return replace(
        grid,
        families=grid.families[::3],
        spreads=grid.spreads[::3],
        differences=grid.differences[::3],
        topics=grid.topics[::9],
        first=(0, 0, 0, 0),
    )


@pytest.mark.parametrize("demands", [PAIRED, ANOVA, replace(PAIRED, paired=False, alpha=0.01)])
def test_every_number_is_the_planners(demands):
    grid = small(standard_grid(demands))
    tables = tabulate(grid)
    rng = np.random.default_rng(0)
    for _ in range(60):
        f, s, d, t = (int(rng.integers(size)) for size in tables.power.shape)
        own, spread = grid.families[f].demands, grid.spreads[s]
        difference, n = grid.differences[d], grid.topics[t]
        asked = replace(own, minimum_difference=difference)
        power = asked.power(spread.variance, n)
        assert tables.power[f, s, d, t] == pytest.approx(power, abs=1e-9)
        assert tables.smallest_difference[f, s, t] == pytest.approx(
            own.smallest_difference(spread.variance, n), rel=1e-9
        )
        width = own.expected_width(spread.variance, n)
        assert tables.expected_width[f, s, t] == pytest.approx(width, rel=1e-9, nan_ok=True)
        reversal = error_rate(difference, spread.difference_variance, n)
        assert tables.reversal[s, d, t] == pytest.approx(float(reversal))
        needed = asked.topics(spread.variance)
        assert tables.needed[f, s, d] == (max(2, needed) if needed <= grid.topics[-1] else math.inf)


def test_reversals_are_those_of_simulated_experiments():
    """20,000 pairs of experiments: a band of four standard errors, false alarms in 1 of 15,000."""
    grid = standard_grid(PAIRED)
    s, d, t = 3, grid.differences.index(0.05), grid.topics.index(30)
    rate = tabulate(replace(grid, families=grid.families[:1])).reversal[s, d, t]
    rng = np.random.default_rng(3)
    means = rng.normal(0.05, 0.20 / math.sqrt(30), (20_000, 2))
    observed = (np.sign(means[:, 0]) != np.sign(means[:, 1])).mean()
    assert observed == pytest.approx(rate, abs=4 * math.sqrt(rate * (1 - rate) / 20_000))


def test_a_plan_opens_with_itself():
    result = sr.plan(variance={"nG@1": 0.114, "Q@10": 0.029}, minimum_difference=0.15, systems=12)
    grid = plan_grid(result)
    family, spread, difference, topics = grid.first
    assert grid.families[family].demands == result.demands
    assert grid.spreads[spread].label == "nG@1"
    assert grid.differences[difference] == 0.15
    assert grid.topics[topics] == result.plans[0].topics
    assert [one.label for one in grid.families] == ["2", "3", "5", "10", "12", "20", "50", "100"]
    tables = tabulate(grid)
    assert tables.needed[family, :, difference].tolist() == [p.topics for p in result.plans]
    assert tables.power[grid.first] == pytest.approx(result.plans[0].power, abs=1e-10)
    assert np.isnan(tables.expected_width).all()


def test_a_pilot_gives_the_ends_of_its_interval_and_its_topics():
    rng = np.random.default_rng(1)
    scores = sr.Scores(
        measures=["AP"],
        runs=["a", "b", "c"],
        topics=[str(t) for t in range(37)],
        values=rng.normal(0.4, 0.2, (1, 3, 37)),
    )
    result = sr.plan(scores, minimum_difference=0.1, method="ttest", comparisons=3)
    grid = plan_grid(result, steps=COARSE_STEPS, alone=True)
    (plan,) = result.plans
    assert grid.topics[grid.first[3]] == 37
    assert [one.label for one in grid.families] == ["2 systems, one comparison", "3 comparisons"]
    assert [2 * one.variance for one in grid.spreads] == pytest.approx(
        [plan.difference_variance, *plan.pilot.difference_interval]
    )
    tables = tabulate(grid)
    family, _, difference, _ = grid.first
    low, high = plan.topics_interval
    assert tables.needed[family, :, difference].tolist() == [plan.topics, low, high]
    by_anova = plan_grid(sr.plan(scores, minimum_difference=0.1, systems=3))
    assert by_anova.spreads[0].difference_variance == plan.pilot.difference_variance


def test_published_formulas_stay_published():
    result = sr.plan(variance=0.114, minimum_difference=0.15, systems=10, formula="nagata")
    grid = plan_grid(result)
    family, spread, difference, topics = grid.first
    tables = tabulate(grid)
    assert tables.needed[family, spread, difference] == result.plans[0].topics == 159
    smallest = tables.smallest_difference[family, spread, topics]
    assert smallest == pytest.approx(result.plans[0].smallest_difference)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 100.0])
def test_any_scale_of_scores_has_its_differences(scale):
    result = sr.plan(variance=0.04 * scale**2, n_topics=50, method="ttest")
    grid = plan_grid(result)
    assert grid.topics[grid.first[3]] == 50
    assert grid.differences[0] < result.plans[0].smallest_difference < grid.differences[-1]
    tables = tabulate(replace(grid, families=grid.families[:1], topics=grid.topics[::20]))
    assert tables.power[0, 0].min() < 0.3 < 0.8 < tables.power[0, 0].max()


def test_sliders_reach_as_far_as_plans():
    assert topic_numbers(COARSE_STEPS)[-1] == 1000
    far = topic_numbers(COARSE_STEPS, [52_311])
    assert 52_311 in far
    assert far[-1] >= 104_622
    assert len(far) < 500

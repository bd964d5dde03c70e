"""The smallest difference that topics detect, against the noncentrality that power requires."""

from __future__ import annotations

import math

import pytest

from steadyrank.stats.planning import design
from steadyrank.stats.planning.demands import check_demands
from steadyrank.stats.planning.design import noncentrality_for_power


@pytest.mark.parametrize("n", [5, 12, 50, 275, 1000])
@pytest.mark.parametrize("alpha", [0.05, 0.05 / 153])
def test_the_smallest_effect_is_the_planners(n, alpha):
    noncentrality = noncentrality_for_power(0.8, 1, n - 1, alpha)
    expected = design.smallest_range(0.02, n, paired=True, alpha=alpha)
    assert math.sqrt(2 * 0.02 * noncentrality / n) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(
    "asked",
    [
        {"method": "anova", "systems": 10},
        {"method": "anova", "systems": 10, "formula": "nagata"},
        {"method": "ttest", "alpha": 0.05 / 45},
        {"method": "ttest", "paired": False},
        {"method": "interval", "width": 0.1, "formula": "nagata"},
    ],
)
def test_a_detectable_difference_grows_with_the_standard_deviation(asked):
    demands = check_demands(minimum_difference=0.05, topics=2, **asked)
    for n in (10, 80):
        expected = demands.smallest_difference(0.03, n)
        assert math.sqrt(0.03) * demands.smallest_difference(1.0, n) == pytest.approx(
            expected, rel=1e-10
        )

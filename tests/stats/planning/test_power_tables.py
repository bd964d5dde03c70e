"""Power for many differences at once, against `design` and against SciPy's noncentral F."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from steadyrank.errors import InputError
from steadyrank.stats.planning import design
from steadyrank.stats.planning.demands import check_demands
from steadyrank.stats.planning.design import f_powers, noncentrality_for_power

EFFECTS = np.array([0.0, 0.01, 0.2, 1.0, 3.0, 30.0, 400.0, 1e5])


@pytest.mark.parametrize("alpha", [0.05, 0.01, 0.05 / 4950])
@pytest.mark.parametrize(("systems", "n"), [(2, 5), (2, 60), (2, 1000), (10, 5), (100, 250)])
def test_it_is_the_power_of_the_planner(systems, n, alpha):
    df1, df2 = systems - 1, systems * (n - 1)
    expected = [design.f_power(noncentrality, df1, df2, alpha) for noncentrality in EFFECTS]
    np.testing.assert_allclose(f_powers(EFFECTS, df1, df2, alpha), expected, atol=1e-10)


def test_it_is_scipys_noncentral_f():
    noncentrality = np.array([0.5, 5.0, 15.65, 40.0])
    critical = stats.f.isf(0.05, 9, 990)
    expected = stats.ncf.sf(critical, 9, 990, noncentrality)
    np.testing.assert_allclose(f_powers(noncentrality, 9, 990), expected, atol=1e-4)


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
        {"method": "ttest", "comparisons": 45},
        {"method": "ttest", "paired": False},
        {"method": "interval", "width": 0.1, "formula": "nagata"},
    ],
)
def test_demands_give_the_same_one_by_one_and_together(asked):
    demands = check_demands(minimum_difference=0.05, topics=2, **asked)
    for n in (10, 80):
        (power,) = demands.powers(np.array([0.05**2 / 0.03]), n)
        assert power == pytest.approx(demands.power(0.03, n), abs=1e-10)
        expected = demands.smallest_difference(0.03, n)
        assert math.sqrt(0.03) * demands.smallest_difference(1.0, n) == pytest.approx(
            expected, rel=1e-10
        )


def test_a_level_that_is_none_is_refused():
    with pytest.raises(InputError, match="alpha"):
        f_powers([1.0], 1, 10, alpha=1.5)

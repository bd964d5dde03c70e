"""One-way analysis of variance on NIST's eleven certified sets."""

from __future__ import annotations

import pytest
from golden_cases import golden

from bench.accuracy.nist_sets import NAMES, OneWay, certified, exact_of_stored, stored
from steadyrank.stats.anova.balanced import anova

PRINTED = {
    "SmLs02": OneWay(between=16.08, within=18.0, statistic=201.0),
    "SmLs03": OneWay(between=160.08, within=180.0, statistic=2001.0),
}
"""What NIST certifies of the larger sets of the rule, whatever their base."""


def computed(name):
    table = anova(stored(name), factors=["group", None])
    group, error = table.source("group"), table.source("error")
    return OneWay(between=group.ss, within=error.ss, statistic=group.statistic)


@pytest.mark.parametrize("name", NAMES)
def test_certified_values_to_the_digits_that_float64_leaves(name):
    left = exact_of_stored(name).digits(certified(name))
    assert computed(name).digits(certified(name)) >= min(left - 0.01, 14.5)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_lost_of_what_is_stored(name):
    assert computed(name).digits(exact_of_stored(name)) >= 14.5


@pytest.mark.parametrize("name", ["SiRstv", "AtmWtAg", "SmLs01", "SmLs04", "SmLs07"])
def test_certified_tables(name):
    case = golden(f"nist_anova_{name}")
    expected, truth = case["expected"], certified(name)
    printed = OneWay(
        between=expected["SS_between"], within=expected["SS_within"], statistic=expected["F"]
    )
    assert printed.digits(truth) >= 14.0
    table = anova(stored(name), factors=["group", None])
    group, error = table.source("group"), table.source("error")
    assert (group.df, error.df) == (expected["df_between"], expected["df_within"])
    assert group.eta_squared == pytest.approx(expected["R2"], rel=case["tolerance"])
    assert group.pvalue == pytest.approx(expected["p"], rel=max(case["tolerance"], 1e-9))


@pytest.mark.parametrize("name", PRINTED)
def test_the_rule_gives_the_certified_sets(name):
    for later in (0, 3, 6):
        same = certified(f"SmLs{int(name[4:]) + later:02d}")
        assert same == PRINTED[name]

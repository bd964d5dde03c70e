"""Reproduction of Ferro 2018: the arithmetic of its tables, and the same analysis on other data."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from golden_cases import golden
from scipy import stats

import steadyrank as sr
from steadyrank_lab.papers import ferro2018 as ferro
from steadyrank_lab.papers import ferro2018 as printed
from steadyrank_lab.papers.data import builtin_data
from steadyrank_lab.papers.model import Work

GOLDEN = golden("ferro2018_tables_omega2")
TOPIC_SIZES, SYSTEM_SIZES = [10, 20, 30, 40, 50], [10, 20, 50, 75, 100, 125, 150]
COLUMNS = {"tau": "tau", "tau_ap": "tauap"}


@pytest.fixture(scope="module")
def data():
    return builtin_data("grid", budget="small")


@pytest.fixture(scope="module")
def made(data):
    return ferro.ferro2018(data, Work(budget="small", seed=3))


def by_text(claims):
    return {claim.text: claim for claim in claims}


def outcomes(coefficient):
    return [claim.holds for claim in printed.printed_claims(coefficient)]


def effects_of(coefficient):
    return [line for line in printed.TABLES[coefficient] if line.omega_squared is not None]


@pytest.mark.parametrize("coefficient", COLUMNS)
def test_printed_constants_are_those_of_the_golden_file(coefficient):
    lines, column = effects_of(coefficient), COLUMNS[coefficient]
    assert [line.df for line in lines] == GOLDEN["inputs"]["df"]
    assert [line.f for line in lines] == GOLDEN["inputs"][f"F_{column}"]
    assert [line.omega_squared for line in lines] == GOLDEN["expected"][f"published_{column}"]
    assert GOLDEN["inputs"]["N"] == printed.N


@pytest.mark.parametrize("coefficient", COLUMNS)
def test_omega_squared_follows_from_printed_f(coefficient):
    expected = np.maximum(0.0, GOLDEN["expected"][f"omega2_{COLUMNS[coefficient]}"])
    found = [printed.omega_squared(line) for line in effects_of(coefficient)]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    claim = by_text(printed.printed_claims(coefficient))["Printed omega² follow from F"]
    assert not claim.holds
    assert claim.detail == "5 of 6 lines agree; not topic size × system size"


def test_what_agrees_within_the_printed_tables():
    # DF, total, MS, F, p, omega², power
    assert outcomes("tau") == [True, True, True, True, False, False, False]
    assert outcomes("tau_ap") == [True, True, False, True, True, False, False]
    tau = by_text(printed.printed_claims("tau"))
    assert "not system size and topic size × system size" in tau["Printed p follow from F"].detail
    tau_ap = by_text(printed.printed_claims("tau_ap"))
    assert tau_ap["Printed MS follow from SS and DF"].detail.endswith("measure pair × topic size")


@pytest.mark.parametrize("coefficient", COLUMNS)
def test_every_printed_f_and_p_by_another_way(coefficient):
    """Plain division, and scipy's F law, at the precision that rounded sums of squares leave."""
    error = printed.TABLES[coefficient][-2]
    for line in printed.TABLES[coefficient][:-2]:
        f = (line.ss / line.df) / (error.ss / error.df)
        last_digit = 0.5e-4
        assert abs(f - line.f) <= last_digit * (1.0 + f / line.ss + f / error.ss)
        p = stats.f.sf(line.f, line.df, error.df)
        misprinted = coefficient == "tau" and line.source == "topic_size:system_size"
        if misprinted:
            assert p == pytest.approx(1.62e-5, rel=2e-3)
        elif 0.0 < line.pvalue < 1.0:
            assert p == pytest.approx(line.pvalue, rel=4e-3)
        else:
            assert p == pytest.approx(line.pvalue, abs=5e-5)


def test_the_printed_power_is_no_observed_power():
    table = printed.printed_table(1, "tau")
    assert table.header[-3:] == ("power printed", "by df F", "by df (F − 1)")
    powers = [row[-2:] for row in table.rows if row[-1].value is not None]
    expected = GOLDEN["expected"]
    by_f, by_omega = ([pair[k].value for pair in powers] for k in (0, 1))
    # F is recomputed from rounded sums of squares here, and printed there.
    np.testing.assert_allclose(by_f, expected["observed_power_lambda_dfF_tau"], atol=1e-6)
    np.testing.assert_allclose(by_omega, expected["observed_power_omega_tau"], atol=5e-5)
    claim = by_text(printed.printed_claims("tau"))["The printed power is an observed power"]
    assert claim.detail.startswith("3 of 6 lines agree")


@pytest.mark.parametrize(
    ("column", "change", "text"),
    [
        ("df", 1, "Printed DF are those of the design"),
        ("ss", 0.01, "Printed SS add up to their total"),
        ("ms", 0.0002, "Printed MS follow from SS and DF"),
        ("f", 0.01, "Printed F follow from SS and DF"),
        ("omega_squared", 0.0001, "Printed omega² follow from F"),
    ],
)
def test_a_wrong_digit_is_found(monkeypatch, column, change, text):
    lines = printed.TABLES["tau"]
    before = by_text(printed.printed_claims("tau"))[text].detail
    wrong = lines[3]._replace(**{column: getattr(lines[3], column) + change})
    monkeypatch.setitem(printed.TABLES, "tau", (*lines[:3], wrong, *lines[4:]))
    after = by_text(printed.printed_claims("tau"))[text]
    assert not after.holds
    assert after.detail != before
    if column != "ss":
        assert "system size" in after.detail


def test_exhibits_are_those_of_the_paper(made):
    assert [exhibit.id for exhibit in made.exhibits] == [
        "figure-1",
        "table-1",
        "table-2",
        "figure-2",
    ]
    for exhibit in made.exhibits:
        assert exhibit.claims
        for figure in exhibit.figures:
            ElementTree.fromstring(figure.svg)
    assert made.settings["samples"] == 20
    assert made.settings["topic sizes"] == TOPIC_SIZES
    assert made.settings["system sizes"] == SYSTEM_SIZES


def test_tables_are_what_agree_finds(made, data):
    sizes = {"topic_sizes": TOPIC_SIZES, "system_sizes": SYSTEM_SIZES}
    result = sr.agree(data.scores, **sizes, n_samples=20, rng=3)
    for number, key in ((1, "tau"), (2, "tau_ap")):
        table = made.exhibits[number].tables[0]
        lines = result.anovas[key].sources
        assert [row[1].value for row in table.rows] == [line.ss for line in lines]
        sizes = [line.omega_squared for line in lines if not np.isnan(line.omega_squared)]
        assert [row[5].value for row in table.rows if row[5].value is not None] == sizes
    rmse = made.exhibits[3].results["rmse"]
    assert rmse == result.rmse
    claim = made.exhibits[3].claims[0]
    assert (claim.detail[:11], claim.published) == (f"RMSE {rmse:.4f}", "RMSE 0.0242")


def test_trends_are_told_apart():
    rising = np.array([[0.5, 0.52], [0.7, 0.71]])
    up, down = ({"tau": x, "tau_ap": x} for x in (rising, rising[::-1]))
    assert [claim.holds for claim in ferro._trend_claims(up)] == [True] * 4
    assert [claim.holds for claim in ferro._trend_claims(down)] == [False, True, False, True]
    flat = {"tau": rising.T, "tau_ap": rising.T}
    assert not list(ferro._trend_claims(flat))[1].holds, "systems move it more"
    widths = {"tau": 1.0 - rising, "tau_ap": 2.0 - rising}
    assert [claim.holds for claim in ferro._width_claims(widths)] == [True, True, True, True]
    wider = {"tau": rising, "tau_ap": 0.5 * rising}
    assert [claim.holds for claim in ferro._width_claims(wider)] == [False] * 4

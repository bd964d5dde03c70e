"""Reproduction of Sakai & Shang 2016: the arithmetic of Tables 2 and 3, and teams left out."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from exhibiting import values as rows
from golden_cases import golden

import steadyrank as sr
from steadyrank_lab.papers import sakai2016 as sakai
from steadyrank_lab.papers.data import builtin_data
from steadyrank_lab.papers.model import Work

TAU = golden("kendall_ci_sakai2016_table2")
EXACT = golden("topicsize_anova_exact")


@pytest.fixture(scope="module")
def data():
    return builtin_data("teams", budget="small")


@pytest.fixture(scope="module")
def made(data):
    return sakai.sakai2016(data, Work(budget="small", seed=1))


@pytest.fixture(scope="module")
def scores(data):
    measures = [name.format(sakai.GAINS) for name in sakai.SPELLED]
    return sr.evaluate(data.runs, data.qrels, measures)


def printed_plans():
    return [plan for plans in sakai.PRINTED_PLANS.values() for plan in plans]


def test_table_2_has_the_printed_intervals():
    printed = list(sakai.PRINTED_TAU.values())
    assert [tau for tau, _, _ in printed] == TAU["inputs"]["tau"]
    assert [low for _, low, _ in printed] == TAU["expected"]["published_lower"]
    assert [high for _, _, high in printed] == TAU["expected"]["published_upper"]
    n = sakai.RUNS
    half = 1.959964 * math.sqrt(2 * (2 * n + 5) / (9 * n * (n - 1)))
    assert half == pytest.approx(TAU["expected"]["half_width"], abs=1e-6)
    for tau, low, high in printed:
        assert (tau - half, tau + half) == pytest.approx((low, high), abs=1e-3)
    formula, meaning = sakai.tau_claims()
    assert formula.holds
    assert formula.detail == "10 of 10 intervals agree"
    assert not meaning.holds
    assert meaning.detail.startswith("6 of 10")


def test_a_wrong_interval_is_found(monkeypatch):
    monkeypatch.setitem(sakai.PRINTED_TAU, ("P+", "Q@10"), (0.751, 0.546, 0.958))
    assert next(sakai.tau_claims()).detail == "9 of 10 intervals agree"


def test_table_3_topics_follow_from_the_variances():
    """n = ceil(2 (4.860 + 3.584 sqrt(9)) variance / .15²), here without the package."""
    factor = 2 * (4.860 + 3.584 * 3) / 0.15**2
    direct = [math.ceil(factor * variance) == n for variance, n in printed_plans()]
    assert (sum(direct), len(direct)) == (23, 25)
    off = [plan for plan, ok in zip(printed_plans(), direct, strict=True) if not ok]
    assert off == [[0.028, 40], [0.041, 58]]
    for variance, n in off:
        assert (
            math.ceil(factor * (variance - 0.0005)) <= n <= math.ceil(factor * (variance + 0.0005))
        )
    follows, power, short = sakai.plan_claims()
    assert follows.holds
    assert follows.detail == "25 of 25 numbers agree; 23 from the rounded variance itself"
    assert not power.holds
    assert short.holds


def test_table_3_beside_exact_numbers():
    """The columns of the printed table against R's power.anova.test."""
    found = {row[2]: row for row in rows(sakai._plan_table())}
    expected = EXACT["expected"]
    for place, variance in enumerate(EXACT["inputs"]["sigma2"]):
        row = found[variance]
        assert (row[4], row[5]) == (expected["n_nagata"][place], expected["n"][place])
        if row[3] == row[4]:
            assert row[6] == pytest.approx(expected["power_at_n_nagata"][place], abs=1e-4)


def test_a_wrong_number_of_topics_is_found(monkeypatch):
    plans = sakai.PRINTED_PLANS["P+"]
    monkeypatch.setitem(sakai.PRINTED_PLANS, "P+", ((0.094, 133), *plans[1:]))
    assert next(sakai.plan_claims()).detail.startswith("24 of 25")


def test_exhibits_are_those_of_the_paper(made):
    assert [each.id for each in made.exhibits] == ["table-2", "figure-1", "table-3", "figure-2"]
    assert all(exhibit.claims for exhibit in made.exhibits)
    assert [len(exhibit.figures) for exhibit in made.exhibits] == [0, 1, 0, 1]
    assert made.settings["measures"][0] == "nG(gains=(0,1,3))@1"


def test_variances_are_those_of_plan_and_pools(made, data, scores):
    """By three ways: Table 3 with all topics, the figures at k = 0, and `plan` on the scores."""
    alive = [
        float(np.sum(np.var(matrix[:, matrix.any(axis=0)], axis=1, ddof=1)) / len(matrix))
        for matrix in scores.values
    ]
    table_3, table_1 = made.exhibits[2].tables[0], made.exhibits[1].tables[0]
    assert [row[1] for row in rows(table_3)] == pytest.approx(alive, rel=1e-12)
    assert [row[1] for row in rows(table_1)] == pytest.approx(alive, rel=1e-12)
    topics = [
        sr.plan(variance=v, minimum_difference=0.15, systems=10, formula="nagata").plans[0].topics
        for v in alive
    ]
    assert [row[2] for row in rows(table_3)] == topics
    assert [row[0] for row in rows(table_3)] == list(sakai.MEASURES)


def test_figures_show_what_pools_finds(made, data):
    measures = [name.format(sakai.GAINS) for name in sakai.SPELLED]
    result = sr.pools(
        data.runs,
        data.qrels,
        measures=measures,
        n_trials=4,
        pilot_topics=[60, 10],
        mode="paper",
        rng=1,
    )
    for exhibit, size in ((made.exhibits[1], 60), (made.exhibits[3], 10)):
        expected = [cell.mean for cell in result.leave_out if cell.pilot_topics == size]
        assert [row[2] for row in rows(exhibit.tables[1])] == expected
    first = {row.measure: row.first_miss[60] for row in result.references}
    shown = [row[3] for row in rows(made.exhibits[1].tables[0])]
    assert shown == [first[measure] for measure in measures]


def test_taus_are_those_of_the_rankings(made, scores):
    means = scores.mean().round(12)  # means that only rounding tells apart tie
    shown = rows(made.exhibits[0].tables[0])
    assert len(shown) == 10
    assert shown[0][1] == pytest.approx(float(sr.kendall_tau(means[0], means[1])))
    low, high = json.loads(shown[0][2])
    n = len(scores.runs)
    half = 1.959964 * math.sqrt(2 * (2 * n + 5) / (9 * n * (n - 1)))
    assert (high - low) / 2 == pytest.approx(half, abs=1e-6)

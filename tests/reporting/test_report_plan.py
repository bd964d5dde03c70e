"""Budgets, and what they buy: a function of the data and the budget alone."""

from __future__ import annotations

import math

import pytest

from steadyrank.errors import InputError
from steadyrank.reporting.budget import costs, duration, make_plan, parse_budget, step_down, step_up
from steadyrank.studies.material import MOST_COMPARED
from steadyrank.studies.part import Shape

SMALL = Shape(n_runs=8, n_topics=20, n_measures=3, n_documents=8000, n_teams=4)
TRACK = Shape(n_runs=126, n_topics=50, n_measures=3, n_documents=6_300_000, n_teams=42)


def planned(shape, budget, **options):
    return make_plan(shape, budget=parse_budget(budget), **{"why_not": {}, **options})


@pytest.mark.parametrize(
    ("budget", "seconds"),
    [
        ("90s", 90),
        ("2m", 120),
        ("1h", 3600),
        ("45", 45),
        (45, 45),
        (0.5, 0.5),
        ("1.5m", 90),
        (" 2 m ", 120),
        (".5h", 1800),
    ],
)
def test_budgets_are_read(budget, seconds):
    assert parse_budget(budget) == seconds


@pytest.mark.parametrize(
    "budget",
    [
        "2\x1em",
        "٢m",
        "",
        "soon",
        "2 weeks",
        "-1",
        "0",
        "0s",
        "1e3",
        "nan",
        "inf",
        "2mm",
        True,
        None,
        "m",
    ],
)
def test_other_budgets_are_refused_with_the_remedy(budget):
    with pytest.raises(InputError, match="such as 90s, 2m or 1h"):
        parse_budget(budget)


def test_times_are_told_in_the_largest_unit_that_fits():
    assert [duration(s) for s in (1, 90, 120, 3600, 7200, 5400, 0.5)] == [
        "1 s",
        "1.5 min",
        "2 min",
        "1 h",
        "2 h",
        "1.5 h",
        "0.5 s",
    ]
    assert parse_budget(step_up(3 * 3600)) >= 3 * 3600
    assert step_up(100 * 3600) == "100h"


def test_samples_go_down_in_steps_of_1_2_and_5():
    steps = {step_down(x) for x in range(1, 3000)}
    assert steps == {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000}
    assert all(step_down(step) == step for step in steps)
    assert all(step_down(x) <= x for x in (1, 1.5, 4.99, 9.99, 999.9, 1e9))


def test_more_time_never_buys_fewer_samples():
    budgets = ["1s", "10s", "30s", "1m", "2m", "5m", "20m", "1h", "10h"]
    for shape in (SMALL, TRACK):
        plans = [planned(shape, budget) for budget in budgets]
        for study, cost in costs(shape).items():
            numbers = [plan.samples(study) for plan in plans]
            assert numbers == sorted(numbers), study
            assert all(n == 0 or cost.least <= n <= cost.most for n in numbers)


def test_the_plan_keeps_to_half_of_the_budget():
    for budget in ("1m", "2m", "10m", "1h"):
        plan = planned(TRACK, budget)
        assert sum(study.seconds for study in plan.studies.values()) <= plan.budget / 2
    ungraded = dict.fromkeys(("graders", "answers"), "needs judges or answers")
    assert planned(TRACK, "2m", why_not=ungraded).samples("simulate") >= 5000


def test_a_tiny_budget_leaves_long_studies_out_and_says_how_much_they_take():
    plan = planned(TRACK, "1s")
    assert not plan.runs("simulate")
    why = plan.studies["simulate"].why_not
    assert "budget of 1 s" in why
    asked = why.rpartition(" ")[2]
    assert planned(TRACK, asked).runs("simulate")
    for study in ("compare", "topics", "plan", "stability"):
        assert plan.runs(study)


def test_small_data_have_every_study_in_a_second():
    """But for those that need more than runs and judgments."""
    needy = {"datasets": "needs datasets", "judges": "needs judges"}
    plan = planned(SMALL, "1s", why_not=needy)
    assert all(plan.runs(study) for study in plan.studies if study not in needy)
    assert plan.samples("simulate") == 100


def test_what_data_do_not_support_costs_nothing():
    without = planned(TRACK, "30s", why_not={"pools": "no teams"})
    assert not without.runs("pools")
    assert without.studies["pools"].why_not == "no teams"
    assert without.samples("simulate") >= planned(TRACK, "30s").samples("simulate")


def test_a_number_of_samples_can_be_asked_for():
    plan = planned(TRACK, "1s", n_samples=700)
    assert plan.samples("simulate") == plan.samples("topics") == 700
    assert plan.samples("pools") == costs(TRACK)["pools"].most
    assert "with the given number of samples" in plan.lines()[0]


def test_many_runs_are_not_all_compared_pair_by_pair():
    shape = Shape(n_runs=4000, n_topics=50, n_measures=9)
    assert shape.n_compared == MOST_COMPARED
    assert shape.n_pairs == math.comb(MOST_COMPARED, 2)


def test_lines_name_studies_samples_and_what_is_left_out():
    lines = planned(SMALL, "2m", why_not={"agree": "one measure only"}).lines()
    assert "for a budget of 2 min" in lines[0]
    assert "simulate (20,000 collections)" in lines[0]
    assert lines[1].endswith(": agree")

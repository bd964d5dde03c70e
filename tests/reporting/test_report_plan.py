"""Budgets, and what they buy: a function of the data and the budget alone."""

from __future__ import annotations

import pytest

from steadyrank.errors import InputError
from steadyrank.reporting.budget import make_plan, parse_budget
from steadyrank.studies.registry import studies_by_turn

TRACK = (126, 50)
"""Runs and topics."""


def planned(size, budget, **options):
    return make_plan(*size, budget=parse_budget(budget), **{"why_not": {}, **options})


@pytest.mark.parametrize(
    ("budget", "seconds"),
    [("90s", 90), ("2m", 120), ("1h", 3600), (45, 45), (0.5, 0.5), (" 1.5 m ", 90), (".5h", 1800)],
)
def test_budgets_are_read(budget, seconds):
    assert parse_budget(budget) == seconds


@pytest.mark.parametrize(
    "budget",
    [
        *("2\x1em", "٢m", "", "soon", "2 weeks", "-1", "0s", "1e3", "nan", "inf", "2mm"),
        True,
        None,
        "m",
    ],
)
def test_other_budgets_are_refused_with_the_remedy(budget):
    with pytest.raises(InputError, match="such as 45s, 2m or 1h"):
        parse_budget(budget)


def test_below_a_minute_every_study_draws_its_fast_number_and_else_its_full_one():
    for study in studies_by_turn():
        kind = study.part.samples
        if kind is not None:
            assert 0 < kind.fast < kind.full
            for budget, number in (("1s", kind.fast), ("59s", kind.fast), ("1m", kind.full)):
                assert planned(TRACK, budget).n_samples[study.name] == number
            assert planned(TRACK, "10h").n_samples[study.name] == kind.full
            assert planned(TRACK, "1s", n_samples=3).n_samples[study.name] == 3
            assert planned(TRACK, "1s", n_samples=10**9).n_samples[study.name] == 2 * kind.full


@pytest.mark.parametrize("size", [(100, 301), (300, 10), (4000, 50)])
def test_large_data_have_the_fast_numbers(size):
    assert planned((100, 300), "2m").n_samples["simulate"] == 10_000
    assert planned(size, "10h").n_samples["simulate"] == 1000


def test_lines_name_studies_samples_and_what_is_left_out():
    lines = planned(TRACK, "2m", why_not={"agree": "one measure only"}).lines()
    assert "for a budget of 120 s" in lines[0]
    assert "simulate (10,000 collections)" in lines[0]
    assert lines[1].endswith(": agree")
    assert "with the given number of samples" in planned(TRACK, "2m", n_samples=7).lines()[0]

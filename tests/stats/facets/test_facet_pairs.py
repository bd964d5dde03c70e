"""Pairs of graded systems, designs and judges: closed forms, lme4's model, plain arithmetic."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from plain_tables import refused
from scipy import stats

from steadyrank.data.levels import levels_of
from steadyrank.stats.facets import design
from steadyrank.stats.facets.components import Sizes, graded_components
from steadyrank.stats.facets.judges import concordances, effective_judges, judge_figures, outlier_of
from steadyrank.stats.facets.pairs import judge_tests
from steadyrank.stats.judges.agreement import cohen_kappa

PAIR = np.array([[0, 1]])


def made(seed, n=30, judges=6, spread=0.5):
    """Cells [system, topic, judge] in which all mean squares stand above the error's."""
    rng = np.random.default_rng(seed)
    return (
        rng.normal(size=(2, n, judges))
        + 2 * rng.normal(size=(2, n, 1))
        + spread * rng.normal(size=(2, 1, judges))
        + rng.normal(size=(1, n, judges))
    )


def test_the_formula_of_a_pair():
    cells = made(1)
    d = cells[0] - cells[1]
    n, k = d.shape
    m = d.mean()
    rows, columns = d.mean(axis=1), d.mean(axis=0)
    ms_t = k * ((rows - m) ** 2).sum() / (n - 1)
    ms_g = n * ((columns - m) ** 2).sum() / (k - 1)
    ms_e = ((d - rows[:, None] - columns + m) ** 2).sum() / ((n - 1) * (k - 1))
    assert min(ms_t, ms_g) > ms_e
    total = ms_t + ms_g - ms_e
    df = total**2 / (ms_t**2 / (n - 1) + ms_g**2 / (k - 1) + ms_e**2 / ((n - 1) * (k - 1)))
    tests = judge_tests(levels_of(cells), PAIR)
    assert tests.difference[0] == pytest.approx(m)
    # Of two systems, all that is known about judges is what this pair shows.
    assert tests.standard_error[0] == pytest.approx(math.sqrt(total / (n * k)))
    assert tests.standard_error_own[0] == pytest.approx(tests.standard_error[0])
    assert tests.df_own[0] == pytest.approx(df)
    p = 2 * stats.t.sf(abs(m) / math.sqrt(total / (n * k)), df)
    assert tests.pvalue_own[0] == pytest.approx(p)
    assert tests.standard_error_fixed[0] == pytest.approx(stats.sem(rows))


def test_pairs_that_no_topics_link_are_flagged():
    cells = made(3)
    cells[0, 15:], cells[1, :15] = np.nan, np.nan
    tests = judge_tests(levels_of(cells), PAIR)
    assert tests.as_tests(30).flag[0] == "too_few_topics"
    assert np.isnan(tests.pvalue[0])
    assert np.isnan(tests.standard_error_fixed[0])


def components(**sizes):
    rng = np.random.default_rng(7)
    shape = (6, 20, sizes.get("answers", 1), sizes.get("judges", 1), sizes.get("draws", 1))
    parts = ((6, 1, 1, shape[3], 1), (6, 20, 1, 1, 1), (*shape[:3], 1, 1), (6, 20, 1, shape[3], 1))
    return graded_components(sum(rng.normal(size=part) for part in parts) + rng.normal(size=shape))


def test_the_variance_of_a_difference_is_the_formula():
    g = components(answers=2, judges=3, draws=2)
    v, at = g.variance, Sizes(topics=50, answers=4, judges=7, draws=3)
    n, k, own, r = 50, 4, 7, 3
    expected = 2 * (
        v["system:topic"] / n
        + v["answer"] / (n * k)
        + v["system:judge"] / own
        + v["system:topic:judge"] / (n * own)
        + v["answer:judge"] / (n * k * own)
        + v["residual"] / (n * k * own * r)
    )
    assert design.standard_error(g, at) == pytest.approx(math.sqrt(expected))
    fixed = expected - 2 * v["system:judge"] / own
    assert design.standard_error(g, at, fixed=True) == pytest.approx(math.sqrt(fixed))
    shares = design.difference_shares(g, at)
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["judges"] == pytest.approx(2 * v["system:judge"] / own / expected)
    error = v["topic"] / n + v["judge"] / own + v["topic:judge"] / (n * own)
    assert g.phi(at) == pytest.approx(v["system"] / (v["system"] + expected / 2 + error))
    assert g.e_rho2(at) == pytest.approx(v["system"] / (v["system"] + expected / 2))


def test_more_answers_buy_nothing_that_one_answer_shows():
    g = components(judges=3)
    once, thrice = (design.standard_error(g, Sizes(topics=20, answers=k, judges=3)) for k in (1, 3))
    assert once == thrice


def test_no_number_of_topics_reaches_what_the_judges_forbid():
    g = components(judges=3)
    least = math.sqrt(2 * g.variance["system:judge"] / 3)
    found = design.allocation(g, target=0.9 * least)
    assert found.topics_needed == math.inf
    assert found.judges_needed == math.floor(3 / 0.81) + 1
    reached = design.allocation(g, target=1.1 * least)
    n = int(reached.topics_needed)
    at = [design.standard_error(g, Sizes(topics=k, judges=3)) for k in (n - 1, n)]
    assert at[1] <= 1.1 * least < at[0]


def test_the_cheapest_is_the_cheapest_of_all():
    g = components(answers=2, judges=3)
    costs = {"topic": 2.0, "answer": 0.05, "judge": 0.1}
    target = 0.3 * design.standard_error(g, g.sizes)
    best = design.allocation(g, target=target, costs=costs).cheapest
    assert best.standard_error <= target
    for judges in range(1, 120):
        for answers in range(1, 8):
            for topics in range(2, 120):
                price = topics * (2.0 + 6 * answers * (0.05 + judges * 0.1))
                if price < best.cost * (1 - 1e-9):
                    at = Sizes(topics=topics, answers=answers, judges=judges)
                    assert design.standard_error(g, at) > target
                else:
                    break


@pytest.mark.parametrize("costs", [{"grade": 1}, {"topic": -1}, {"topic": 0}])
def test_costs_that_cannot_be_are_refused(costs):
    refused("cost", design.allocation, components(judges=3), target=1.0, costs=costs)


def test_concordance_of_grades_is_quadratic_kappa():
    rng = np.random.default_rng(5)
    grades = rng.integers(0, 4, (4, 25, 2)).astype(float)
    expected = cohen_kappa(*grades.reshape(-1, 2).T.astype(int), weights="quadratic")
    assert concordances(grades)[0, 1] == pytest.approx(expected)


def test_judges_that_err_together_count_for_fewer():
    rng = np.random.default_rng(6)
    truth, own = rng.normal(size=(10, 200, 1)), rng.normal(size=(10, 200, 5))
    assert effective_judges(truth + own) == pytest.approx(5, abs=0.1)
    together = own.copy()
    together[:, :, 1] = together[:, :, 0] + 0.1 * own[:, :, 1]
    assert effective_judges(truth + together) < 4.2


def test_the_judge_who_orders_otherwise_is_found():
    rng = np.random.default_rng(8)
    quality = np.linspace(0, 3, 8)[:, None, None]
    cells = quality + rng.normal(size=(8, 60, 5))
    cells[:, :, 3] = -quality[:, :, 0] + rng.normal(size=(8, 60))
    figures = judge_figures(cells, tuple("abcde"))
    assert outlier_of(figures).judge == "d"
    assert outlier_of(figures[:2]) is None


@pytest.mark.parametrize("name", ["e_rho2", "phi"])
def test_topics_for_a_level_are_the_fewest(name):
    # Judges who prefer different systems, so that topics alone reach less than 1.
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(6, 20, 2, 3, 1)) + 0.3 * rng.normal(size=(6, 1, 1, 3, 1))
    g = graded_components(scores + 0.2 * np.arange(6)[:, None, None, None, None])
    stability, topics_for = getattr(g, name), getattr(g, f"topics_for_{name}")
    most = stability(replace(g.sizes, topics=math.inf))
    n = topics_for(0.9 * most, g.sizes)
    below, reached = (stability(replace(g.sizes, topics=k)) for k in (n - 1, n))
    assert below < 0.9 * most <= reached
    assert topics_for(1.01 * most, g.sizes) == math.inf

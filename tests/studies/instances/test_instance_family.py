"""Tables of many systems: what they claim together, corrected for their number."""

from __future__ import annotations

import numpy as np
import pytest
from test_instances import QUICK, scores_of, swept

import steadyrank as sr
from steadyrank.stats.interval import t_limits
from steadyrank.stats.pairs.decisions import adjust
from steadyrank.studies.instances.study import adjusted_in_sequence
from steadyrank.studies.instances.view import VIEW, difference_words, margin, margin_words

FAST = {"n_samples": 1, "samples_per_instance": 1, "posterior": False, "jobs": 1}
DELTA = 0.02


def table_of_systems(seed, *, n_systems=8, gap=-DELTA, m=1, n=15):
    """Systems whose expected differences to a deterministic baseline are `gap`.

    With one run each a comparison is a paired t test, which is quick; what a table makes of it is
    the same with several.
    """
    rng = np.random.default_rng(seed)
    baseline = rng.normal(0.4, 0.1, n)
    noise = rng.normal(0, 0.03, (n_systems, m, n)) + rng.normal(0, 0.03, (n_systems, 1, n))
    noise += (m > 1) * rng.normal(0, 0.01, (n_systems, m, 1))
    gaps = np.broadcast_to(gap, n_systems)[:, None, None]
    systems = {"base": baseline[None]}
    systems |= {f"s{k}": scores for k, scores in enumerate(baseline + gaps + noise)}
    return scores_of(systems)


def margin_tables(n):
    """Tables of eight systems that are worse by exactly the margin: every claim is false."""
    return [
        sr.instances(table_of_systems(seed), b="base", delta=DELTA, **FAST) for seed in range(n)
    ]


def claims(found):
    return found.equivalence.non_inferior or found.equivalence.equivalent


@pytest.mark.slow
def test_tables_hold_a_false_claim_at_most_as_often_as_alpha():
    """Band: 4 standard errors of .05 with 300 tables, a false alarm in 30,000.

    One by one, at .05 each, more than a third of the tables hold one.
    """
    tables = margin_tables(300)
    share = np.mean([any(map(claims, table.comparisons)) for table in tables])
    assert share < 0.05 + 4 * np.sqrt(0.05 * 0.95 / len(tables))
    alone = np.mean(
        [
            any(found.equivalence.pvalue_non_inferiority < 0.05 for found in table.comparisons)
            for table in tables
        ]
    )
    assert alone > 0.25


def test_words_decisions_and_json_come_from_the_adjusted_pvalues():
    beside = 0
    for table in margin_tables(40):
        tests = [found.equivalence for found in table.comparisons]
        for kind, decided in (("equivalence", "equivalent"), ("non_inferiority", "non_inferior")):
            adjusted = adjust([getattr(test, f"pvalue_{kind}") for test in tests], "holm")
            rows = [row["equivalence"] for row in table.rows()]
            np.testing.assert_allclose([row[f"pvalue_{kind}_adjusted"] for row in rows], adjusted)
            assert [row[decided] for row in rows] == (adjusted < 0.05).tolist()
            assert [getattr(test, decided) for test in tests] == (adjusted < 0.05).tolist()
        for found in table.comparisons:
            assert (margin(found) in ("within", "not worse")) == claims(found)
            text = margin_words(found)
            assert (" is not worse " in text or " is within " in text) == claims(found)
            beside += found.equivalence.pvalue_non_inferiority < 0.05 and not claims(found)
    assert beside > 3


def test_a_pair_by_itself_is_not_corrected():
    scores = table_of_systems(3, n_systems=3, gap=[-0.01, 0.0, 0.01], m=3)
    table = sr.instances(scores, b="base", delta=DELTA, **FAST)
    alone = sr.instances(scores, a="s1", b="base", delta=DELTA, **FAST)
    assert alone.family is None
    assert alone.pvalue_adjusted == alone.headline_pvalue
    assert alone.equivalence.equivalent == (alone.equivalence.pvalue_equivalence < 0.05)
    assert alone.interval == t_limits(alone.difference, alone.standard_error, alone.df, 0.95)
    assert alone.equivalence.interval == t_limits(
        alone.difference, alone.standard_error, alone.df, 0.9
    )
    assert "pvalue_equivalence_adjusted" not in alone.row()["equivalence"]
    member = table.comparisons[1]
    assert member.family.size == 3
    assert member.headline_pvalue == alone.headline_pvalue
    single = sr.instances(
        scores.select(runs=[r for r in scores.runs if r[:2] in ("ba", "s1")]),
        b="base",
        delta=DELTA,
        **FAST,
    )
    assert single.comparisons[0].interval == alone.interval
    assert VIEW.findings(single.comparisons[0]) == VIEW.findings(alone)


@pytest.mark.slow
def test_intervals_hold_for_all_comparisons_at_once():
    """200 tables of eight true differences: all covered in 95% or more, to 4 standard errors."""
    gaps = np.linspace(-0.05, 0.05, 8)
    covered, one_by_one = [], []
    for seed in range(200):
        table = sr.instances(table_of_systems(seed, gap=gaps), b="base", **FAST)
        shown = [found.interval for found in table.comparisons]
        alone = [t_limits(f.difference, f.standard_error, f.df, 0.95) for f in table.comparisons]
        covered.append(all(low <= g <= high for g, (low, high) in zip(gaps, shown, strict=True)))
        one_by_one.append(all(low <= g <= high for g, (low, high) in zip(gaps, alone, strict=True)))
    assert np.mean(covered) > 0.95 - 4 * np.sqrt(0.05 * 0.95 / 200)
    assert np.mean(one_by_one) < 0.87


def test_an_interval_beside_a_decision_does_not_contradict_it():
    """Bonferroni's interval leaves nothing open that is not significant, nor says the contrary."""
    further = 0
    for seed in range(60):
        gaps = np.array([0.03, 0.03, 0.025, 0.025, 0.02])
        table = sr.instances(table_of_systems(seed, n_systems=5, gap=gaps), b="base", **FAST)
        for found in table.comparisons:
            excludes = not found.interval[0] <= 0.0 <= found.interval[1]
            assert found.significant or not excludes
            words = difference_words(found)
            assert ("better than" in words) == found.significant
            assert ("interval" in words) == (excludes or not found.significant)
            assert "over 5 comparisons" in words
            further += found.significant and not excludes
    assert further > 3


def test_a_sweep_tests_the_margin_from_the_largest_setting_down():
    scores = swept([-0.1, 0.0, -0.1, 0.0])
    table = sr.instances(scores, b="full", sweep="rate", **QUICK)
    tests = [found.equivalence for found in table.comparisons]
    assert [test.non_inferior for test in tests] == [False, False, False, True]
    assert tests[1].pvalue_non_inferiority < 0.05
    expected = adjusted_in_sequence([test.pvalue_non_inferiority for test in tests])
    adjusted = [found.family.pvalue_non_inferiority_adjusted for found in table.comparisons]
    np.testing.assert_array_equal(adjusted, expected)
    assert [margin(found) for found in table.comparisons] == [
        "worse",
        "undecided",
        "worse",
        "within",
    ]
    with pytest.warns(sr.SteadyrankWarning, match="mode paper"):
        paper = sr.instances(scores, b="full", sweep="rate", mode="paper", **QUICK)
    assert paper.comparisons[1].equivalence.non_inferior
    assert VIEW.json([paper])["family"]["non_inferiority"] == "none"

"""`compare` of systems that several judges graded."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from test_compare import assert_one_family

import steadyrank as sr
from steadyrank.data.facets import averaged_facets
from steadyrank.errors import InputError
from steadyrank.studies.compare.view import VIEW, findings


@pytest.fixture(scope="module")
def graded():
    return sr.simulated_facets(n_systems=4, n_topics=40, n_judges=5, n_answers=2, rng=2)


def said(result):
    return {finding.id: finding.text for finding in findings([result])}


def test_three_or_more_judges_are_a_sample(graded):
    result = sr.compare(graded)
    assert (result.test, result.correction, result.judges_fixed) == ("mixed", "holm", False)
    assert (result.standard_error > result.standard_error_fixed).all()
    assert result.row_word == "system"
    assert "The 5 judges count as a sample" in said(result)["compare.judges"]
    assert "random topics and judges" in result.caption()
    outside = (result.interval[:, 0] > 0) | (result.interval[:, 1] < 0)
    assert (outside == result.significant).all()
    keys = json.loads(VIEW.text([result], "json"))
    assert {"standard_error", "standard_error_fixed"} <= keys["pairs"][0].keys()
    assert keys["judges"] == [f"j{k}" for k in range(1, 6)]


def test_fixed_judges_are_the_tests_of_means(graded):
    result = sr.compare(graded, fixed="judge", rng=1)
    means = sr.compare(averaged_facets(graded), rng=1)
    np.testing.assert_allclose(result.pvalue_adjusted, means.pvalue_adjusted)
    np.testing.assert_allclose(result.interval, means.interval)
    assert (result.test, result.correction) == ("t", "maxt")
    assert (result.standard_error > result.standard_error_fixed).all()
    assert said(result)["compare.judges"].startswith("The verdict is about these five judges")


def test_two_judges_are_fixed():
    scores = sr.simulated_facets(n_systems=3, n_topics=30, n_judges=2, rng=3)
    result = sr.compare(scores)
    assert result.judges_fixed
    assert "3 or more count as a sample" in said(result)["compare.judges"]


def test_answers_alone_are_averaged():
    scores = sr.simulated_facets(n_systems=3, n_topics=30, n_judges=1, n_answers=3, rng=3)
    result = sr.compare(scores)
    assert (result.test, result.judges, result.row_word) == ("t", (), "run")
    np.testing.assert_array_equal(result.pvalue, sr.compare(averaged_facets(scores)).pvalue)


def test_run_by_run_as_asked(graded):
    assert len(sr.compare(graded, by="run", correction="holm").runs) == 40


def test_what_does_not_go_together_is_refused(graded):
    with pytest.raises(InputError, match="three or more judges are a sample"):
        sr.compare(graded, test="wilcoxon")
    with pytest.raises(InputError, match="which correction maxt does not support"):
        sr.compare(graded, correction="maxt")
    with pytest.raises(InputError, match="facet that can be fixed 'answer'"):
        sr.compare(graded, fixed="answer")
    with pytest.raises(InputError, match="requires at least two judges"):
        sr.compare(averaged_facets(graded), fixed="judge")
    with pytest.raises(InputError, match="omit fixed, or use test t"):
        sr.compare(graded, fixed="judge", test="mixed")


def test_sentences_of_compare_and_stability_have_the_same_figures():
    """1.0 said that 5 judges halve intervals, and in its D-study that 6 do not."""
    scores = sr.simulated_facets(n_systems=6, n_topics=30, n_judges=3, rng=3)
    result, study = sr.compare(scores), sr.stability(scores)
    assert "Three judges are a small sample" in said(result)["compare.judges"]
    ratio = study.standard_error / study.standard_error_fixed
    rms = np.sqrt((result.standard_error**2).mean() / (result.standard_error_fixed**2).mean())
    assert result.judging.ratio == pytest.approx(rms)
    assert ratio == pytest.approx(rms)
    assert f"errors are {ratio:.1f} times those over topics" in said(result)["compare.judges"]
    more = next(row for row in study.d_study if row["judges"] == 6 and row["topics"] == 30)
    narrower = 1 - more["standard_error"] / study.standard_error
    assert f"6 would narrow intervals by {narrower:.0%}" in said(result)["compare.judges"]


def test_gaps_and_a_baseline():
    scores = sr.simulated_facets(n_systems=4, n_topics=40, n_judges=4, missing=0.05, rng=6)
    result = sr.compare(scores, baseline="s1")
    assert len(result.pairs) == 3
    assert np.isfinite(result.pvalue).all()


def scores_of(cells, judges=None, systems=None):
    """Scores of cells [system, topic, judge]."""
    m, n, k = cells.shape
    names = judges or [f"j{g}" for g in range(k)]
    of = systems or [f"s{a}" for a in range(m)]
    return sr.Scores(
        measures=["grade"],
        runs=[f"{system}/{judge}" for system in of for judge in names],
        topics=range(n),
        values=cells.transpose(0, 2, 1).reshape(1, m * k, n),
        run_info={
            "system": [system for system in of for _ in names],
            "judge": [judge for _ in of for judge in names],
        },
    )


def confounded(k=2):
    """Judges .2 apart: on 20 topics all grade both systems, on 80 each system has another."""
    rng = np.random.default_rng(7)
    level = np.linspace(-0.1, 0.1, k)
    cells = 0.5 + 0.1 * rng.normal(size=(1, 100, 1)) + level + 0.03 * rng.normal(size=(2, 100, k))
    cells[0, 20:, 1:] = np.nan
    cells[1, 20:, :-1] = np.nan
    return scores_of(cells)


@pytest.mark.parametrize("k", [2, 3])
def test_confounded_judges_are_no_difference(k):
    """1.0: +0.1577 [+0.1406, +0.1749] where the truth is 0, and means that contradict it."""
    result = sr.compare(confounded(k))
    assert not result.significant[0]
    assert abs(result.difference[0]) < 0.02
    assert result.mean[0] - result.mean[1] == pytest.approx(result.difference[0])
    assert np.diff(result.pair_means[0])[0] == pytest.approx(-result.difference[0])
    assert result.interval[0, 0] < 0 < result.interval[0, 1]
    gate = sr.gate(*(confounded(k).select(runs=own) for own in sides(k)), measures={"grade": 0.03})
    assert gate.verdict == "pass"
    assert gate.measures[0].difference == pytest.approx(-result.difference[0], abs=1e-9)


def sides(k):
    return [[f"s{a}/j{g}" for g in range(k)] for a in range(2)]


def test_the_last_by_every_judge_is_not_among_the_first():
    """1.0 gave it p 1.0000 beside p .0022 and limits of -8.54 and +13.80 on a scale of 1 to 5."""
    rng = np.random.default_rng(2)
    quality = np.linspace(4.2, 2.6, 14)
    quality[-1] = 1.0
    cells = (
        quality[:, None, None] + np.array([0.3, 0.0, -0.3]) + 0.2 * rng.normal(size=(14, 100, 3))
    )
    cells = np.clip(np.round(cells + 0.25 * rng.normal(size=(14, 1, 3))), 1, 5)
    result = sr.compare(scores_of(cells))
    assert not result.could_be_first[-1]
    assert result.rank_set[-1].tolist() == [14, 14]
    assert (np.nan_to_num(np.abs(result.interval)) <= 4).all()
    assert (result.mean_interval >= 1).all()
    assert (result.mean_interval <= 5).all()
    assert_one_family(result)


def test_one_judge_is_named():
    rng = np.random.default_rng(1)
    result = sr.compare(scores_of(rng.random((3, 30, 1)), judges=["gpt"]))
    assert result.judges == ("gpt",)
    for name in ("verdict", "significant"):
        assert "by gpt alone" in said(result)[f"compare.{name}"]
    assert "by gpt alone" in VIEW.paragraph([result])
    assert "judge gpt alone" in result.caption()
    assert "grade a sample with two more judges" in said(result)["compare.judges"]
    two = sr.compare(scores_of(rng.random((3, 30, 2)), judges=["gpt", "claude"]))
    assert "by claude and gpt alone" in said(two)["compare.verdict"]


def test_fixed_judges_who_graded_different_answers_are_compared_by_levels(graded):
    gapped = sr.simulated_facets(n_systems=4, n_topics=40, n_judges=5, missing=0.3, rng=6)
    result = sr.compare(gapped, fixed="judge")
    assert (result.test, result.correction, result.judges_fixed) == ("mixed", "holm", True)
    np.testing.assert_allclose(
        np.diff(result.interval, axis=1)[:, 0] > 2 * result.standard_error_fixed, True
    )
    assert "judges fixed" in result.caption()
    with pytest.raises(InputError, match="judges graded different answers"):
        sr.compare(gapped, fixed="judge", test="wilcoxon")


def test_systems_without_a_judge_are_compared_on_the_shared_ones():
    rng = np.random.default_rng(3)
    cells = rng.normal(size=(4, 30, 4)) + np.array([0.0, 0.0, 0.0, 2.0])
    cells[0, :, 3] = np.nan
    result = sr.compare(scores_of(cells))
    assert result.judging.shared.tolist() == [3, 3, 3, 4, 4, 4]
    assert result.difference[0] == pytest.approx((cells[0] - cells[1])[:, :3].mean(), abs=1e-9)
    assert result.judging.lacking == {"s0": ["j3"]}
    assert "s0 lacks grades by j3" in said(result)["compare.lacking_judges"]
    cells[0, :, 1:] = np.nan
    text = said(sr.compare(scores_of(cells)))["compare.one_judge"]
    assert text == (
        "s0 and s1 share one judge: they are compared by j0 alone (as are 2 other pairs)."
    )


def test_a_thousand_judges_are_compared():
    rng = np.random.default_rng(4)
    cells = rng.normal(size=(10, 20, 1000)) + 0.1 * np.arange(10)[:, None, None]
    result = sr.compare(scores_of(cells))
    assert result.significant.all()
    cells[rng.random(cells.shape) < 0.8] = np.nan
    assert sr.compare(scores_of(cells)).significant.sum() > 35


def test_judges_of_another_measure_are_not_counted():
    rng = np.random.default_rng(5)
    values = rng.normal(size=(2, 6, 20))
    values[0, 1::3], values[0, 2::3] = np.nan, np.nan  # by the first measure one judge alone
    scores = sr.Scores(
        measures=["fluency", "relevance"],
        runs=[f"{run}/{judge}" for run in "ab" for judge in "xyz"],
        topics=range(20),
        values=values,
        run_info={"system": list("aaabbb"), "judge": list("xyz") * 2},
    )
    table = sr.compare(scores)
    assert table["fluency"].judges == ("x",)
    assert table["relevance"].judges == ("x", "y", "z")
    assert table["relevance"].judges_fixed
    values[1, 0, :5] = np.nan
    gapped = sr.compare(dataclasses.replace(scores, values=values))
    assert [one.test for one in gapped.results] == ["mixed", "mixed"]
    expected = sr.compare(scores.select(measures="fluency"))
    np.testing.assert_allclose(gapped["fluency"].difference, expected.difference)
    assert sr.compare(scores, measure="relevance").test == "mixed"


def test_a_baseline_changes_no_figure_about_judges(graded):
    every, against = sr.compare(graded), sr.compare(graded, baseline="s1")
    assert against.judging.ratio == every.judging.ratio
    assert said(against)["compare.judges"] == said(every)["compare.judges"]
    place = [pair.tolist() for pair in every.pairs].index([0, 1])
    assert against.standard_error[0] == pytest.approx(every.standard_error[place])


def test_wins_are_those_of_the_grades_where_these_are_complete():
    """A single missing grade left no ties where grades are whole numbers."""
    rng = np.random.default_rng(8)
    cells = rng.integers(1, 4, size=(3, 40, 3)).astype(float)
    whole = sr.compare(scores_of(cells))
    cells[0, 0, 0] = np.nan
    gapped = sr.compare(scores_of(cells))
    assert np.abs(gapped.effects.ties - whole.effects.ties).max() <= 1
    assert whole.effects.ties[0] > 0


@pytest.mark.parametrize("seed", range(5))
def test_two_systems_have_one_interval(seed):
    """The leader's line and the table of the only pair say the same."""
    rng = np.random.default_rng(seed)
    cells = rng.normal(size=(2, 30, 3)) + rng.normal(size=(2, 1, 3)) * 0.3 + [[[0.0]], [[0.8]]]
    cells[rng.random(cells.shape) < 0.2] = np.nan
    result = sr.compare(scores_of(cells))
    sign = -1 if result.lead.first == 1 else 1
    expected = sorted(sign * result.interval[0])
    assert result.lead.interval.tolist() == pytest.approx(expected, nan_ok=True)
    assert result.lead.significant == bool(result.significant[0])
    assert (result.rank_set[1].tolist() == [1, 1]) == bool(result.significant[0])


@pytest.mark.parametrize("gaps", [0.0, 0.4])
def test_the_order_of_rows_changes_nothing(gaps):
    rng = np.random.default_rng(9)
    cells = rng.normal(size=(5, 25, 4)) + rng.normal(size=(5, 1, 4))
    cells[rng.random(cells.shape) < gaps] = np.nan
    scores = scores_of(cells)
    order = rng.permutation(len(scores.runs))
    topics = [scores.topics[t] for t in rng.permutation(25)]
    mixed = scores.select(runs=[scores.runs[r] for r in order], topics=topics)
    one, other = sr.compare(scores), sr.compare(mixed)
    rows = [{frozenset((row["a"], row["b"])): row for row in each.rows()} for each in (one, other)]
    for pair, row in rows[0].items():
        assert rows[1][pair]["pvalue_adjusted"] == pytest.approx(row["pvalue_adjusted"], rel=1e-6)
        assert rows[1][pair]["standard_error"] == pytest.approx(row["standard_error"], rel=1e-6)
    ranks = [dict(zip(each.runs, each.rank_set.tolist(), strict=True)) for each in (one, other)]
    assert ranks[0] == ranks[1]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("fixed", [(), ("judge",)])
def test_decisions_limits_and_ranks_agree(seed, fixed):
    rng = np.random.default_rng(seed)
    quality = rng.choice([0, 0.4, 1.2], size=(7, 1, 1))
    own = rng.choice([0.1, 0.7], size=(7, 1, 1)) * rng.normal(size=(7, 1, int(rng.integers(3, 7))))
    cells = quality + own + rng.normal(size=(7, 40, own.shape[2]))
    cells[rng.random(cells.shape) < 0.15 * (seed % 3)] = np.nan
    result = sr.compare(scores_of(cells), fixed=fixed)
    assert_one_family(result)

"""`compare` of systems that several judges graded."""

from __future__ import annotations

import json

import numpy as np
import pytest

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
    assert "The 5 judges are a sample" in said(result)["compare.judges"]
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
    assert said(result)["compare.judges"].startswith("About these five judges alone")


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
    with pytest.raises(InputError, match="have no correction maxt: take fixed="):
        sr.compare(graded, correction="maxt")
    with pytest.raises(InputError, match="facet that can be fixed 'answer'"):
        sr.compare(graded, fixed="answer")
    with pytest.raises(InputError, match="no several judges"):
        sr.compare(averaged_facets(graded), fixed="judge")
    with pytest.raises(InputError, match="omit fixed, or use test t"):
        sr.compare(graded, fixed="judge", test="mixed")


def test_few_judges_say_how_many_it_takes():
    scores = sr.simulated_facets(n_systems=3, n_topics=30, n_judges=3, rng=3)
    assert "5 judges would halve intervals" in said(sr.compare(scores))["compare.judges"]


def test_gaps_and_a_baseline():
    scores = sr.simulated_facets(n_systems=4, n_topics=40, n_judges=4, missing=0.05, rng=6)
    result = sr.compare(scores, baseline="s1")
    assert len(result.pairs) == 3
    assert np.isfinite(result.pvalue).all()

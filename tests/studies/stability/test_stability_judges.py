"""`stability` of graded answers: what it finds of known components, and what it says."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.errors import InputError
from steadyrank.studies.stability.facets_view import VIEW, findings


@pytest.fixture(scope="module")
def result():
    scores = sr.simulated_facets(n_systems=12, n_topics=150, n_judges=8, n_answers=3, rng=3)
    return sr.stability(scores, costs={"topic": 2, "answer": 0.01, "judge": 0.02}, target=0.12)


def test_components_are_near_the_truth(result):
    truth = {"system:topic": 0.08, "answer": 0.03, "system:judge": 0.06, "topic:judge": 0.18}
    for name, value in truth.items():
        low, high = result.components.intervals[name]
        assert low < result.components.variance[name] < high
        assert result.components.variance[name] == pytest.approx(value, rel=0.35)


def test_no_number_of_topics_is_said():
    scores = sr.simulated_facets(n_judges=3, n_topics=40, components={"system:judge": 0.2}, rng=5)
    found = sr.stability(scores, target=0.05)
    said = {finding.id: finding.text for finding in findings([found])}
    assert "no number of topics reaches 0.05: this requires" in said["stability.target"]
    assert "Three judges carry little" in said["stability.few_judges"]
    assert found.allocation.topics_needed == math.inf
    assert json.loads(VIEW.text([found], "json"))["allocation"]["topics_needed"] is None


def test_facets_are_found_and_can_be_chosen():
    scores = sr.simulated_facets(n_judges=3, n_answers=2, n_topics=20, rng=1)
    assert sr.stability(scores).facets == ("judge", "answer")
    plain = sr.stability(scores, facets=[])
    assert list(plain.components.variance) == ["system", "topic", "residual"]
    with pytest.raises(InputError, match="another run of its system has the same judge"):
        sr.stability(scores, facets=["judge"])
    with pytest.raises(InputError, match="the scores have no draws"):
        sr.stability(scores, facets=["draw"])
    with pytest.raises(InputError, match="unknown facet 'assessor'"):
        sr.stability(scores, facets=["assessor"])
    with pytest.raises(InputError, match="require scores with judges or answers"):
        sr.stability(plain_scores(), target=0.1)


def plain_scores():
    values = np.random.default_rng(0).random((1, 4, 10))
    return sr.Scores(measures=["AP"], runs="abcd", topics=range(10), values=values)


def test_answers_alone_are_the_answers_share():
    scores = sr.simulated_facets(n_judges=1, n_answers=4, n_topics=60, rng=2)
    found = sr.stability(scores)
    assert found.difference_shares["judges"] == 0
    assert found.difference_shares["answers"] > 0
    assert found.standard_error == found.standard_error_fixed
    assert found.judges == ()
    assert set(found.swaps) == {"answers"}


def test_gaps_change_little():
    whole = sr.simulated_facets(n_systems=8, n_topics=60, n_judges=5, rng=4)
    gapped = sr.simulated_facets(n_systems=8, n_topics=60, n_judges=5, missing=0.05, rng=4)
    one, other = sr.stability(whole), sr.stability(gapped)
    assert other.components.method == "restricted maximum likelihood"
    assert other.standard_error == pytest.approx(one.standard_error, rel=0.1)


def test_one_judge_and_topics_are_not_separated():
    """1.0 said that 100% of the variance was the topics'."""
    rng = np.random.default_rng(0)
    scores = sr.Scores(
        measures=["m"],
        runs=[f"{run}/gpt" for run in "abcd"],
        topics=range(20),
        values=rng.random((1, 4, 20)),
        run_info={"system": list("abcd"), "judge": ["gpt"] * 4},
    )
    found = sr.stability(scores, facets=["judge"])
    text = findings([found])[0].text
    assert text.startswith("Topics and the view of gpt alone cannot be separated")
    assert "add a column `judge`" in text
    assert "%" not in text
    assert math.isnan(found.difference_shares["judges"])
    assert math.isnan(found.difference_shares["topics"])
    assert found.plot() is not None
    assert "which one judge cannot separate" in VIEW.paragraph([found])


def test_systems_and_judges_that_cannot_be_separated_are_refused():
    rng = np.random.default_rng(0)
    scores = sr.Scores(
        measures=["m"],
        runs=["A/gpt", "B/claude"],
        topics=range(20),
        values=rng.random((1, 2, 20)),
        run_info={"system": ["A", "B"], "judge": ["gpt", "claude"]},
    )
    for study in (sr.stability, sr.compare, sr.topics):
        with pytest.raises(InputError, match="A was graded by gpt only, B by claude only"):
            study(scores)

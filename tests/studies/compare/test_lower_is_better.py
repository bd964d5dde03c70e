"""Measures where lower is better: the same decisions as on scores with the other sign."""

from dataclasses import replace

import numpy as np
import pytest

import steadyrank as sr


@pytest.fixture(scope="module")
def scores():
    values = np.random.default_rng(3).gamma(2.0, size=(1, 6, 25))
    values[0, :3] *= [[0.4], [0.5], [0.9]]
    return sr.Scores(
        measures=["wer"],
        runs=[f"run{i}" for i in range(6)],
        topics=[f"t{t}" for t in range(25)],
        values=values,
    ).with_topic_info(half=["a", "b"] * 12 + ["a"])


@pytest.mark.parametrize(
    "options", [{}, {"baseline": "run3"}, {"by": "half"}, {"test": "wilcoxon"}]
)
def test_decisions_are_those_of_scores_with_the_other_sign(scores, options):
    lower = sr.compare(scores, **options)
    higher = sr.compare(
        replace(scores, values=-scores.values, directions={"wer": "higher"}), **options
    )
    assert lower.lower_is_better
    assert not higher.lower_is_better
    for key in ("rank", "rank_set", "tier", "significant", "pvalue_adjusted", "n_better"):
        np.testing.assert_array_equal(getattr(lower, key), getattr(higher, key))
    np.testing.assert_array_equal(lower.mean, -higher.mean)
    np.testing.assert_array_equal(lower.difference, -higher.difference)
    np.testing.assert_array_equal(lower.interval, -higher.interval[:, ::-1])
    if options.get("by"):
        for own, other in zip(lower.segments.results, higher.segments.results, strict=True):
            np.testing.assert_array_equal(own.mean, -other.mean)


def test_the_lowest_mean_leads_and_is_bold(scores):
    result = sr.compare(scores)
    assert result.runs[result.order[0]] == "run0"
    text = str(result)
    assert text.startswith("run0 ")
    assert "wer (lower is better)" in text
    html = result._repr_html_()
    assert f"<b>{result.mean.min():.4f}" in html.replace("strong", "b")


def test_measures_of_both_directions_stand_in_one_table(scores):
    both = sr.Scores(
        measures=["wer", "acc"],
        runs=scores.runs,
        topics=scores.topics,
        values=np.concatenate([scores.values, -scores.values]),
    )
    table = sr.compare(both)
    assert [one.order[0] for one in table.results] == [0, 0]
    assert "Lower is better: wer." in str(table)


def test_topics_without_any_score_by_a_measure_are_not_missing(scores):
    values = np.full((2, 6, 50), np.nan)
    values[0, :, :25], values[1, :, 25:] = scores.values[0], scores.values[0]
    both = sr.Scores(
        measures=["wer", "acc"],
        runs=scores.runs,
        topics=[f"t{t}" for t in range(50)],
        values=values,
    )
    assert [(one.n_topics, one.n_missing) for one in sr.compare(both).results] == [(25, 0)] * 2

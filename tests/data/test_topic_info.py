"""What is known about topics: read, kept, and refused where it is not complete."""

from __future__ import annotations

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.data.order import scores_in_order
from steadyrank.data.scores import cluster_codes, topic_column, topic_weights
from steadyrank.studies.evaluate.view import scores_text

QRELS = {topic: {"d1": 1, "d2": 0} for topic in ("7-a", "7-b", "10-a")}
RUN = {topic: {"d2": 2.0, "d1": 1.0} for topic in QRELS}


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "topics.csv"
    path.write_text("topic,kind,weight\n10-a,long,3\n7-b,short,1\n7-a,long,0.5\nother,long,1\n")
    return path


def evaluated(**options):
    return sr.evaluate({"r": RUN}, QRELS, "AP", **options)


def test_a_file_and_a_pattern(table):
    scores = evaluated(topic_info=table, cluster_from=r"^(\d+)-")
    assert scores.topics == ("7-a", "7-b", "10-a")
    assert scores.topic_info == {
        "cluster": ("7", "7", "10"),
        "kind": ("long", "short", "long"),
        "weight": ("0.5", "1", "3"),
    }
    assert cluster_codes(scores).tolist() == [1, 1, 0]
    assert topic_weights(scores).tolist() == [0.5, 1.0, 3.0]


def test_means_are_weighted_wherever_they_are_shown(table):
    """`evaluate` and `compare` gave two means of the same run."""
    good = {topic: {"d1": 2.0, "d2": 1.0} for topic in RUN}
    tied = {"7-a": {"d1": 1.0, "d2": 1.0}, "7-b": {"d1": 1.0}, "10-a": {"d2": 2.0, "d1": 1.0}}
    runs = {"good": good, "tied": tied}
    scores = sr.evaluate(runs, QRELS, "AP", topic_info=table)
    weights = np.array([0.5, 1.0, 3.0])
    expected = np.average(scores.matrix("AP"), axis=1, weights=weights)
    np.testing.assert_allclose(scores.mean()[0], expected)
    np.testing.assert_allclose(sr.compare(scores).mean, expected)
    assert "3 topics, weighted (as many as 2.0 of equal weight)" in str(scores)
    assert "mean is weighted" in scores_text(scores, "table", per_topic=True)


def test_a_row_takes_precedence_over_a_name(tmp_path):
    path = tmp_path / "topics.csv"
    path.write_text("topic,cluster\n7-a,x\n7-b,y\n10-a,y\n")
    assert evaluated(topic_info=path, cluster_from="^(.)").topic_info["cluster"] == ("x", "y", "y")


def test_it_stays_with_its_topics(table, tmp_path):
    scores = evaluated(topic_info=table)
    assert scores.select(topics=["10-a", "7-b"]).topic_info["kind"] == ("long", "short")
    turned = scores.select(topics=["10-a", "7-b", "7-a"])
    assert scores_in_order(turned).topic_info == scores.topic_info
    sr.write_scores(turned, tmp_path / "scores.parquet")
    again = sr.read_scores(tmp_path / "scores.parquet")
    assert (again.topics, again.topic_info) == (turned.topics, turned.topic_info)
    parts = scores.select(topics=["7-a"]), scores.select(topics=["7-b", "10-a"])
    assert sr.join_scores(*parts).topic_info == scores.topic_info
    with pytest.raises(sr.InputError, match="disagree about kind of topic '7-a'"):
        sr.join_scores(scores, scores.with_topic_info(kind=["short", "short", "long"]))


def test_columns_of_the_wrong_length_are_refused():
    with pytest.raises(sr.InputError, match="topic_info column 'kind' has 1 entries for 3 topics"):
        evaluated().with_topic_info(kind=["long"])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("topic,kind\n7-a,x\n7-b,x\n", r"1 topic has no row \(10-a\): add it"),
        ("topic,kind\n7-a,x\n", r"2 topics have no row \(7-b and 10-a\): add them"),
        ("topic,kind\n1,x\n", "unknown topic '7-a' in "),
        ("query,kind\n7-a,x\n", "expected a column 'topic'"),
        ("topic,kind\n7-a,x\n7-a,y\n", "topic '7-a' has a second row: keep one"),
    ],
)
def test_incomplete_files_are_refused(tmp_path, text, complaint):
    path = tmp_path / "topics.csv"
    path.write_text(text)
    with pytest.raises(sr.InputError, match=complaint):
        evaluated(topic_info=path)


def test_what_is_needed_must_be_there():
    scores = evaluated()
    with pytest.raises(sr.InputError, match="'kind' requires information about the topics"):
        topic_column(scores, "kind")
    with pytest.raises(
        sr.InputError, match="there is no column 'knd' in the topic information .*'kind'"
    ):
        topic_column(scores.with_topic_info(kind=["a", "b", "c"]), "knd")
    with pytest.raises(sr.InputError, match="topic '7-b' has no kind"):
        topic_column(scores.with_topic_info(kind=["a", "", "c"]), "kind")
    assert cluster_codes(scores) is None
    assert topic_weights(scores) is None


@pytest.mark.parametrize("wrong", ["-1", "much", "inf", "nan", "1_0"])
def test_weights_are_numbers(wrong):
    with pytest.raises(sr.InputError, match=f"topic '7-b' has the weight '{wrong}': expected a"):
        topic_weights(evaluated().with_topic_info(weight=["1", wrong, "2"]))
    with pytest.raises(sr.InputError, match="all topics have the weight 0"):
        topic_weights(evaluated().with_topic_info(weight=np.zeros(3)))


def test_a_pattern_without_a_group():
    with pytest.raises(
        sr.InputError, match="has no group: put the part that you want in parentheses"
    ):
        evaluated(cluster_from="^7")


@pytest.mark.parametrize("size", [1e308, 1e-170, 5e-300])
def test_weights_of_any_size_count_by_their_ratios(size):
    values = np.random.default_rng(1).random((1, 3, 12))
    scores = sr.Scores(
        measures=["AP"], runs=["a", "b", "c"], topics=[*"abcdefghijkl"], values=values
    )
    plain, odd = (
        scores.with_topic_info(weight=[unit * ((1 + i % 3) / 3) for i in range(12)])
        for unit in (1.0, size)
    )
    np.testing.assert_allclose(odd.mean(), plain.mean(), rtol=1e-12)
    np.testing.assert_allclose(
        sr.compare(odd).pvalue, sr.compare(plain).pvalue, rtol=1e-9, equal_nan=False
    )
    np.testing.assert_allclose(
        sr.topics(odd, n_trials=20, rng=1).predictive,
        sr.topics(plain, n_trials=20, rng=1).predictive,
        rtol=1e-9,
    )


def test_weights_that_no_sum_can_hold_together_are_refused():
    scores = sr.Scores(measures=["AP"], runs=["a"], topics=["1", "2"], values=[[[0.1, 0.2]]])
    with pytest.raises(
        sr.InputError, match="topic '2' has the weight 1e-170, the largest is 1e\\+308"
    ):
        scores.with_topic_info(weight=[1e308, 1e-170]).mean()

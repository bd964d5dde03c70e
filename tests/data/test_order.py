"""The order by name that studies work in."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import steadyrank as sr
from steadyrank.data.order import (
    natural_key,
    order_by_name,
    places_by_name,
    qrels_in_order,
    scores_in_order,
)
from steadyrank.data.read.run_files import judgments_of

NAMES = st.lists(st.text(alphabet="ab01²9-", max_size=5), unique=True)


def test_numbers_go_by_their_size_and_the_rest_by_its_letters():
    names = ["run10", "run9", "B2", "b1", "run9b", "009", "9", "10", "", "9" * 5000]
    assert sorted(names, key=natural_key) == [
        "",
        "009",
        "9",
        "10",
        "9" * 5000,
        "B2",
        "b1",
        "run9",
        "run9b",
        "run10",
    ]


@settings(deadline=None, max_examples=50)
@given(NAMES, st.randoms())
def test_names_have_one_order_whatever_order_they_come_in(names, random):
    mixed = random.sample(names, len(names))
    assert [mixed[i] for i in order_by_name(mixed)] == [names[i] for i in order_by_name(names)]
    assert np.array_equal(places_by_name(mixed)[order_by_name(mixed)], np.arange(len(names)))


def test_scores_keep_their_cells():
    values = np.arange(12.0).reshape(1, 3, 4)
    scores = sr.Scores(
        measures=["AP"],
        runs=["r10", "r2", "r1"],
        topics=["b", "10", "9", "a"],
        values=values,
        run_info={"team": ["x", "y", "z"]},
    )
    by_topic = scores_in_order(scores)
    assert (by_topic.runs, by_topic.topics) == (scores.runs, ("9", "10", "a", "b"))
    assert np.array_equal(by_topic.values, values[:, :, [2, 1, 3, 0]])
    by_both = scores_in_order(scores, runs=True)
    assert (by_both.runs, by_both.run_info["team"]) == (("r1", "r2", "r10"), ("z", "y", "x"))
    assert np.array_equal(by_both.values, values[:, ::-1][:, :, [2, 1, 3, 0]])
    assert scores_in_order(by_both, runs=True) is by_both


def test_judgments_keep_their_documents():
    judged = {"10": {"d1": 2, "d3": 0}, "9": {"d3": 1}, "b": {}, "a": {"d2": -1, "d1": 3}}
    qrels = judgments_of(judged)
    assert qrels.topics == ("9", "10", "a", "b")
    assert {topic: qrels.judgments(topic) for topic in qrels.topics} == judged
    assert qrels_in_order(qrels) is qrels

"""A user's own measure works wherever a name does."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from plain_tables import refused

import steadyrank as sr


@pytest.fixture
def data():
    rng = np.random.default_rng(5)
    qrels = sr.qrels_from_dict(
        {f"{t}": {f"d{d}": int(rng.integers(-1, 3)) for d in range(30)} for t in range(15)}
    )
    runs = [
        sr.run_from_dict(
            {
                f"{t}": {f"d{d}": float(rng.random()) for d in rng.permutation(60)[:40]}
                for t in range(15)
            },
            name=name,
        )
        for name in ("a", "b")
    ]
    return runs, qrels


def own_average_precision(ranked, judged):
    found, total = 0, 0.0
    for i in range(len(ranked)):
        if ranked[i] > 0:
            found += 1
            total += found / (i + 1)
    relevant = 0
    for grade in judged:
        relevant += grade > 0
    return total / relevant


def test_a_measure_agrees_with_the_built_in_one(data):
    runs, qrels = data
    own = sr.register_measure("OwnAP", own_average_precision)
    scores = sr.evaluate(runs, qrels, ["AP", "OwnAP", "AP@5", own @ 5, "Judged@10"])
    assert np.allclose(scores.matrix("AP"), scores.matrix("OwnAP"), rtol=0, atol=1e-15)
    assert np.allclose(scores.matrix("AP@5"), scores.matrix("OwnAP@5"), rtol=0, atol=1e-15)


def test_a_name_means_what_was_registered_last(data):
    runs, qrels = data
    refused("Later", sr.evaluate, runs, qrels, "Later@5")
    for value in (0.25, 0.75):
        sr.register_measure("Later", lambda ranked, judged, value=value: value)
        assert (sr.evaluate(runs, qrels, "Later@5").values == value).all()


def test_the_grades_handed_over_are_those_of_the_files():
    seen = []

    def spy(ranked, judged):
        seen.append((ranked.tolist(), judged.tolist()))
        return str(len(seen)).count("x") + 0.5

    qrels = sr.qrels_from_dict({"1": {"a": 2, "b": -1, "c": 0, "e": 1}, "2": {"a": 0}})
    run = sr.run_from_dict({"1": {"x": 9, "b": 8, "a": 7, "c": 6}, "2": {"a": 1}}, name="r")
    sr.register_measure("Spy", spy)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = sr.evaluate(run, qrels, "Spy", no_relevant="skip")
    assert seen == [([0, -1, 2, 0], [2, 1, 0, -1])]
    assert np.array_equal(scores.values[0, 0], [0.5, np.nan], equal_nan=True)


def test_a_measure_may_scribble_on_its_arguments(data):
    runs, qrels = data

    def rude(ranked, judged):
        judged[:] = 7
        ranked[:] = 7
        return 1.0

    sr.register_measure("Rude", rude)
    before = sr.evaluate(runs, qrels, "nDCG").values
    assert np.array_equal(sr.evaluate(runs, qrels, ["Rude", "nDCG"]).values[1:], before)


@pytest.mark.parametrize(
    "function",
    [
        lambda ranked, judged: None,
        lambda ranked, judged: "high",
        lambda ranked, judged: 1 / 0,
        lambda ranked: 1.0,
    ],
)
def test_functions_that_give_no_number_are_told(data, function):
    runs, qrels = data
    sr.register_measure("Broken", function)
    refused("measure Broken failed: .*must turn", sr.evaluate, runs, qrels, "Broken")


@pytest.mark.parametrize("name", ["AP", "map", "ndcg", "P_10", "rbp95", "1st", "a b", "x@5", ""])
def test_names_that_are_taken_or_no_names_are_refused(name):
    with pytest.raises(sr.InputError):
        sr.register_measure(name, own_average_precision)


def test_names_register_again_and_are_suggested():
    sr.register_measure("Mine_5", lambda ranked, judged: 0.0)
    sr.register_measure("Mine_5", own_average_precision)
    assert repr(sr.parse_measure("Mine_5@3")) == "Mine_5@3"
    refused("did you mean 'Mine_5'", sr.parse_measure, "Mine5", error=sr.UnknownNameError)

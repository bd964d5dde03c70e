"""Bounds of differences over unjudged documents, against every completion there is."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.measures.names import parse_measures
from steadyrank.measures.scoring import prepare
from steadyrank.measures.unjudged import difference_bounds

pytestmark = pytest.mark.filterwarnings("ignore::steadyrank.SteadyrankWarning")


def drawn(seed):
    """Two runs and judgments with two or three holes on each of three topics."""
    rng = np.random.default_rng(seed)
    qrels, first, second = {}, {}, {}
    for topic in ("1", "2", "10"):
        documents = [f"d{i}" for i in range(7)]
        judged = rng.choice(documents, rng.integers(4, 6), replace=False)
        qrels[topic] = {doc: int(rng.integers(0, 3)) for doc in judged} | {"other": 2}
        for run in (first, second):
            ranked = rng.permutation(documents)[: rng.integers(3, 7)]
            run[topic] = {doc: 9.0 - place for place, doc in enumerate(ranked)}
    return qrels, first, second


def differences(first, second, qrels, measure):
    scores = sr.evaluate({"a": first, "b": second}, qrels, measure)
    return scores.values[0, 1] - scores.values[0, 0]


def completions(qrels, first, second, topic, depth):
    """Judgments with every grade for every hole of a topic that the measure sees."""
    seen = {
        doc
        for run in (first, second)
        for doc in sorted(run[topic], key=run[topic].get)[::-1][:depth]
    }
    holes = sorted(seen - qrels[topic].keys())
    for grades in itertools.product(range(3), repeat=len(holes)):
        own = {**qrels[topic], **dict(zip(holes, grades, strict=True))}
        yield {topic: own}


@pytest.mark.parametrize("measure", ["P@3", "P(rel=2)@5", "RBP(p=0.8)", "RBP(graded=True)@4"])
@pytest.mark.parametrize("seed", range(4))
def test_linear_measures_attain_their_bounds(measure, seed):
    check_bounds(measure, seed, is_exact=True)


@pytest.mark.parametrize("measure", ["AP", "AP(rel=2)", "AP@3"])
@pytest.mark.parametrize("seed", range(6))
def test_no_completion_of_average_precision_lies_beyond_its_bounds(measure, seed):
    check_bounds(measure, seed, is_exact=False)


@pytest.mark.parametrize("measure", ["nDCG@3", "nDCG", "nDCG(dcg='exp-log2')@5"])
@pytest.mark.parametrize("seed", range(4))
def test_no_completion_of_ndcg_lies_beyond_its_bounds(measure, seed):
    check_bounds(measure, seed, is_exact=False)


def check_bounds(measure, seed, *, is_exact):
    qrels, first, second = drawn(seed)
    parsed = parse_measures(measure)[0]
    ready = sr.qrels_from_dict(qrels)
    bounds = difference_bounds(
        sr.run_from_dict(first, name="a"),
        sr.run_from_dict(second, name="b"),
        ready,
        prepare(parsed, 2),
        differences(first, second, qrels, measure),
    )
    for place, topic in enumerate(ready.topics):
        outcomes = [
            differences({topic: first[topic]}, {topic: second[topic]}, judged, measure)[0]
            for judged in completions(qrels, first, second, topic, parsed.cutoff)
        ]
        low, high = bounds.low[place], bounds.high[place]
        if is_exact:
            assert (low, high) == pytest.approx((min(outcomes), max(outcomes)), abs=1e-12)
        else:
            assert low <= min(outcomes) + 1e-12
            assert high >= max(outcomes) - 1e-12
            assert -1.0 <= low <= high <= 1.0
    assert bounds.is_exact == is_exact


def test_without_holes_the_difference_is_all():
    qrels = {"1": {"a": 1, "b": 0, "c": 2}}
    first, second = {"1": {"a": 2.0, "b": 1.0}}, {"1": {"c": 2.0, "a": 1.0, "deep": 0.5}}
    gap = differences(first, second, qrels, "AP@2")
    runs = [sr.run_from_dict(run, name="r") for run in (first, second)]
    judged = sr.qrels_from_dict(qrels)
    bounds = difference_bounds(*runs, judged, prepare(parse_measures("AP@2")[0], 2), gap)
    assert (bounds.low, bounds.high, bounds.is_exact, bounds.n_documents) == (gap, gap, True, 0)
    deeper = prepare(parse_measures("RR")[0], 2)
    assert difference_bounds(*runs, judged, deeper, gap) is None, "no method for RR with holes"


def test_a_document_that_both_rank_alike_moves_nothing():
    qrels = {"1": {"a": 1, "b": 1}}
    first, second = {"1": {"new": 3.0, "a": 2.0}}, {"1": {"new": 3.0, "b": 2.0}}
    gap = differences(first, second, qrels, "P@2")
    runs = [sr.run_from_dict(run, name="r") for run in (first, second)]
    recipe = prepare(parse_measures("P@2")[0], 1)
    bounds = difference_bounds(*runs, sr.qrels_from_dict(qrels), recipe, gap)
    assert (bounds.low, bounds.high, bounds.n_documents) == (0.0, 0.0, 1)

"""Bounds hold for every completion: all of them for small lists, many random ones of large ones."""

import itertools
import os
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import steadyrank as sr
from steadyrank.data.read.run_files import judgments_of
from steadyrank.measures.holes import bounds as module
from steadyrank.measures.holes.bounds import find_bounds
from steadyrank.measures.holes.lists import (
    FAMILIES,
    by_document,
    make_rankings,
    parse_holed,
    read_lists,
)
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.studies.holes.view import VIEW

_MEASURES = """
P@3 P(rel=2)@2 RBP(p=0.7) RBP(p=0.5,graded=True)@3 SetP NumRelRet nDCG@3 nDCG
nDCG(dcg='exp-log2')@2 nDCG(gains=(0,0,3))@3 nG@1 R@2 R(rel=2)@3 SetR RR RR(rel=2)@2 Success@2
AP AP@2 AP(rel=2) ERR ERR@2 nERR@3 Q Q@2 SetF SetAP
"""
MEASURES = _MEASURES.split()
TIGHT = 1e-12


def bounds_of(runs, qrels, measure):
    judged = judgments_of(qrels)
    holed = parse_holed(measure, judged.max_grade)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        lists = read_lists(runs, judged, depth=holed.depth)
    rankings = make_rankings(lists, holed.top_grade)
    return holed, find_bounds(rankings, holed, all_pairs(len(lists.runs)), jobs=1)


def holes_of(rankings, qrels):
    """Every (topic, document) that some run has and nobody judged."""
    return sorted(
        {
            (topic, document)
            for lists in rankings.values()
            for topic, ranking in lists.items()
            if topic in qrels
            for document in ranking
            if document not in qrels[topic]
        }
    )


def completed(qrels, holes, grades):
    made = {topic: dict(judged) for topic, judged in qrels.items()}
    for (topic, document), grade in zip(holes, grades, strict=True):
        made[topic][document] = int(grade)
    return made


def means(rankings, qrels, *measures):
    """[measure, run]"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        return sr.evaluate(rankings, qrels, measures, jobs=1).mean()


def small_case(rng, n_runs=2, n_documents=5, length=4, top=2):
    """Two short rankings of few documents, of which some are judged."""
    documents = [f"d{i}" for i in range(n_documents)]
    qrels = {"1": {d: int(rng.integers(0, top + 1)) for d in documents if rng.random() < 0.45}}
    qrels["2"] = {"x": top, "y": 1}  # keeps the largest grade, and ties topics together
    rankings = {}
    for r in range(n_runs):
        chosen = rng.permutation(documents)[:length]
        rankings[f"r{r}"] = {
            "1": {str(d): float(-i) for i, d in enumerate(chosen)},
            "2": {"x": 1.0 + r, "y": 2.0},
        }
    if not qrels["1"]:
        qrels["1"] = {"z": 0}
    return rankings, qrels


@pytest.fixture(scope="module")
def enumerated():
    """Small cases with the scores [completion, measure, run] of all their completions."""
    rng, cases = np.random.default_rng(3), []
    for _ in range(10):
        rankings, qrels = small_case(rng, n_documents=int(rng.integers(3, 6)), length=3)
        holes = holes_of(rankings, qrels)[:5]
        every = itertools.product(range(3), repeat=len(holes))
        seen = [means(rankings, completed(qrels, holes, grades), *MEASURES) for grades in every]
        cases.append((rankings, qrels, np.array(seen)))
    return cases


@pytest.mark.parametrize("measure", MEASURES)
def test_all_completions_of_small_lists(enumerated, measure):
    """Never passed; where exact, the smallest and largest of all completions to the last digit."""
    for rankings, qrels, scores in enumerated:
        seen = scores[:, MEASURES.index(measure)]
        holed, bounds = bounds_of(rankings, qrels, measure)
        difference = seen[:, 0] - seen[:, 1]
        assert (bounds.lowest <= seen.min(axis=0) + TIGHT).all()
        assert (bounds.highest >= seen.max(axis=0) - TIGHT).all()
        assert bounds.pair_lowest[0] <= difference.min() + TIGHT
        assert bounds.pair_highest[0] >= difference.max() - TIGHT
        if holed.has_exact_runs:
            np.testing.assert_allclose(bounds.lowest, seen.min(axis=0), atol=TIGHT)
            np.testing.assert_allclose(bounds.highest, seen.max(axis=0), atol=TIGHT)
        assert bounds.pair_is_exact[0] == (holed.family != "other")
        if holed.family != "other":
            assert bounds.pair_lowest[0] == pytest.approx(difference.min(), abs=TIGHT)
            assert bounds.pair_highest[0] == pytest.approx(difference.max(), abs=TIGHT)


def test_every_measure_with_bounds_is_tried():
    assert {sr.parse_measure(measure).name for measure in MEASURES} == set(FAMILIES)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), measure=st.sampled_from(MEASURES))
def test_random_completions_of_large_lists(seed, measure):
    """Deep lists of many runs, holes at all ranks, runs without a topic, topics without relevant
    documents: no random completion passes a bound."""
    rng = np.random.default_rng(seed)
    rankings, qrels = large_case(rng)
    holes = holes_of(rankings, qrels)
    _, bounds = bounds_of(rankings, qrels, measure)
    pairs = all_pairs(len(rankings))
    for share in (0.02, 0.3, 0.8):
        grades = np.where(rng.random(len(holes)) < share, rng.integers(1, 3, len(holes)), 0)
        seen = means(rankings, completed(qrels, holes, grades), measure)[0]
        assert (bounds.lowest <= seen + TIGHT).all()
        assert (bounds.highest >= seen - TIGHT).all()
        difference = seen[pairs[:, 0]] - seen[pairs[:, 1]]
        assert (bounds.pair_lowest <= difference + TIGHT).all()
        assert (bounds.pair_highest >= difference - TIGHT).all()


COMPLETIONS = int(os.environ.get("STEADYRANK_COMPLETIONS", "100000"))


@pytest.mark.slow
def test_no_completion_of_a_hundred_thousand_passes_a_bound():
    """A fixed budget, over all measures: completions of every density."""
    rng, n_cases = np.random.default_rng(17), 8
    for case in range(n_cases):
        rankings, qrels = large_case(rng)
        judged = by_document(judgments_of(qrels))
        for measure in MEASURES:
            holed = parse_holed(measure, judged.max_grade)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", sr.SteadyrankWarning)
                lists = read_lists(rankings, judged, depth=holed.depth)
            made = make_rankings(lists, holed.top_grade)
            pairs = all_pairs(len(lists.runs))
            bounds = find_bounds(made, holed, pairs, jobs=1)
            size = COMPLETIONS // (n_cases * len(MEASURES)), lists.n_open
            share = rng.random((size[0], 1)) ** 2
            completions = rng.integers(1, 3, size, dtype=np.int32) * (rng.random(size) < share)
            seen = np.array([made.scores(holed.recipe, each).mean(axis=1) for each in completions])
            assert (bounds.lowest <= seen + TIGHT).all(), (case, measure)
            assert (bounds.highest >= seen - TIGHT).all(), (case, measure)
            difference = seen[:, pairs[:, 0]] - seen[:, pairs[:, 1]]
            assert (bounds.pair_lowest <= difference + TIGHT).all(), (case, measure)
            assert (bounds.pair_highest >= difference - TIGHT).all(), (case, measure)


@pytest.mark.parametrize("measure", ["AP", "AP@4", "AP(rel=2)", "ERR", "ERR@4"])
def test_few_holes_are_tried_and_many_are_not(monkeypatch, measure):
    """Without any work allowed, bounds are outer ones, hold, and are no narrower."""
    rng = np.random.default_rng(5)
    narrower = 0.0
    for _ in range(10):
        rankings, qrels = small_case(rng, n_documents=8, length=7)
        _, exact = bounds_of(rankings, qrels, measure)
        with monkeypatch.context() as patch:
            patch.setattr("steadyrank.measures.holes.bounds.MOST_WORK", 0.0)
            patch.setattr("steadyrank.measures.holes.bounds.MOST_JOINT", -1)
            _, outer = bounds_of(rankings, qrels, measure)
        assert exact.pair_is_exact.all()
        assert not outer.pair_is_exact.any()
        assert (outer.pair_lowest <= exact.pair_lowest + TIGHT).all()
        assert (outer.pair_highest >= exact.pair_highest - TIGHT).all()
        narrower += float((outer.pair_highest - exact.pair_highest).sum())
    assert narrower > 0.01


@pytest.mark.parametrize("measure", ["AP", "AP@3", "AP(rel=2)"])
def test_joint_bounds_of_precision_against_all_completions(monkeypatch, measure):
    """Never passed, and far closer than bounds of one ranking at a time."""
    monkeypatch.setattr("steadyrank.measures.holes.bounds.MOST_WORK", 0.0)
    rng, excess = np.random.default_rng(11), []
    for case in range(60):
        rankings, qrels = small_case(rng, n_runs=2 + case % 2, n_documents=7, length=6, top=2)
        holes = holes_of(rankings, qrels)
        every = itertools.product((0, 2), repeat=len(holes))
        seen = np.array([means(rankings, completed(qrels, holes, g), measure)[0] for g in every])
        difference = seen[:, 0] - seen[:, 1]
        _, joint = bounds_of(rankings, qrels, measure)
        with monkeypatch.context() as patch:
            patch.setattr("steadyrank.measures.holes.bounds.MOST_JOINT", -1)
            _, marginal = bounds_of(rankings, qrels, measure)
        highest, lowest = difference.max(), difference.min()
        assert joint.pair_lowest[0] <= lowest + TIGHT
        assert joint.pair_highest[0] >= highest - TIGHT
        ends = [(b.pair_highest[0] - highest, lowest - b.pair_lowest[0]) for b in (joint, marginal)]
        assert np.subtract(*ends).max() <= TIGHT, "the smaller of both bounds is given"
        excess.append(np.sum(ends, axis=1))
    joint, marginal = np.mean(excess, axis=0)
    assert joint < 0.002 < 0.02 < marginal


@pytest.mark.parametrize("measure", MEASURES)
def test_the_same_ranking_under_another_name_differs_by_nothing(measure):
    rng = np.random.default_rng(7)
    rankings, qrels = large_case(rng, n_runs=1)
    rankings["copy"] = rankings["r0"]
    _, bounds = bounds_of(rankings, qrels, measure)
    assert bounds.pair_lowest[0] == bounds.pair_highest[0] == 0.0


@pytest.mark.parametrize("measure", ["AP", "AP@20"])
def test_pairs_that_completions_leave_open_need_no_joint_bounds(monkeypatch, measure):
    """Where work is short: open pairs stay open, the others have the joint bounds."""
    rankings, qrels = large_case(np.random.default_rng(8), n_runs=3)
    moved = {topic: dict(ranked) for topic, ranked in rankings["r0"].items()}
    for ranked in moved.values():
        best = sorted(ranked, key=ranked.get)[-2:]
        ranked.update(zip(best, [ranked[d] for d in reversed(best)], strict=True))
    rankings["r0 moved"] = moved
    _, every = bounds_of(rankings, qrels, measure)
    monkeypatch.setattr("steadyrank.measures.holes.bounds.MOST_JOINT_WORK", 0.0)
    _, some = bounds_of(rankings, qrels, measure)
    is_open = (every.pair_lowest < 0.0) & (every.pair_highest > 0.0)
    assert (some.pair_lowest[is_open] < 0.0).all()
    assert (some.pair_highest[is_open] > 0.0).all()
    assert (some.pair_lowest <= every.pair_lowest + TIGHT).all()
    assert (some.pair_lowest < every.pair_lowest - 1e-3).any()


@pytest.mark.parametrize("measure", ["AP", "AP@20", "AP(rel=2)"])
def test_the_completion_that_favours_one_run_is_scored_as_any_other(measure):
    rankings, qrels = large_case(np.random.default_rng(9), n_runs=3)
    judged = by_document(judgments_of(qrels))
    holed = parse_holed(measure, judged.max_grade)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        lists = read_lists(rankings, judged, depth=holed.depth)
    made = make_rankings(lists, holed.top_grade)
    pairs = np.array([[0, 1], [1, 0], [2, 1]])
    few = module._few_of(made, holed, [pairs])
    out = np.empty((len(pairs), lists.n_topics))
    module.bound_kernels.try_favoured(few, pairs, out)
    weight = np.zeros((3, lists.n_open))
    weight[lists.open.cells // lists.n_topics, lists.open.rows] = 1.0 / lists.open.ranks
    for (a, b), found in zip(pairs, out, strict=True):
        grades = np.where(weight[a] > weight[b], holed.top_grade, 0).astype(np.int32)
        scores = made.scores(holed.recipe, grades)
        np.testing.assert_allclose(found, scores[a] - scores[b], atol=TIGHT)


def test_what_is_outer_is_said(monkeypatch):
    """In the table, the notes and the JSON, pair by pair."""
    rankings, qrels = small_case(np.random.default_rng(5), n_runs=3, n_documents=8, length=7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        exact = sr.holes(rankings, qrels, measure="AP")
        monkeypatch.setattr("steadyrank.measures.holes.bounds.MOST_WORK", 0.0)
        outer = sr.holes(rankings, qrels, measure="AP")
    assert (exact.bounds, exact.run_bounds) == ("exact", "exact")
    assert (outer.bounds, outer.run_bounds) == ("outer", "exact")
    assert {pair["bounds"] for pair in VIEW.json(outer)["pairs"]} == {"outer"}
    tables = [VIEW.made(found, only=["holes-pairs"])[0] for found in (exact, outer)]
    assert "bounds" not in tables[0].header
    assert {row[tables[1].header.index("bounds")].text for row in tables[1].rows} == {"outer"}
    kinds = [VIEW.findings(found)[0].values["bounds"] for found in (exact, outer)]
    assert kinds == ["exact", "outer"]


def large_case(rng, n_runs=4, n_topics=3, n_documents=60):
    documents = [f"d{i}" for i in range(n_documents)]
    qrels = {"0": {"x": 2}}
    for t in range(1, n_topics + 1):
        top = 0 if rng.random() < 0.2 else 2
        qrels[str(t)] = {d: int(rng.integers(0, top + 1)) for d in documents if rng.random() < 0.5}
        qrels[str(t)] |= {"only judged": 1}
    rankings = {}
    for r in range(n_runs):
        rankings[f"r{r}"] = {
            str(t): {str(d): float(-i) for i, d in enumerate(rng.permutation(documents)[:length])}
            for t in range(n_topics + 1)
            if t == 0 or rng.random() < 0.9
            for length in [int(rng.integers(1, n_documents))]
        }
    return rankings, qrels

"""Intervals of imputed scores are rehearsed on runs whose judgments are complete."""

import json
from dataclasses import replace

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.data.read.run_files import judgments_of
from steadyrank.measures.holes.lists import by_document, parse_holed, read_lists
from steadyrank.studies.holes.completions import (
    FEWEST_RUNS,
    _hidden_documents,
    _pool_depths,
    _with_holes,
    rehearse,
)
from steadyrank.studies.holes.prior import Prior
from steadyrank.studies.holes.view import VIEW


@pytest.fixture(scope="module")
def track():
    return sr.simulated_track(
        n_teams=8, runs_per_team=3, n_topics=30, depth=30, pool_depth=10, pooled_per_team=1, rng=2
    )


@pytest.fixture(scope="module")
def result(track):
    return sr.holes(track.runs, track.qrels, measure="nDCG@10", n_samples=100)


@pytest.fixture(scope="module")
def lists(track):
    return read_lists(track.runs, by_document(judgments_of(track.qrels)), depth=10)


def test_lists_with_hidden_documents_are_those_of_smaller_judgments(track, lists):
    """The witness reads the same runs with judgments from which the documents are gone."""
    pooled = np.array([r for r, run in enumerate(lists.runs) if run in track.pooled])
    hidden = pooled[[1, 4]]
    marked = _hidden_documents(lists, pooled, hidden)
    assert marked.any()
    made = _with_holes(lists, pooled, marked)
    kept = {
        topic: {
            document: grade
            for row, (document, grade) in enumerate(lists.qrels.judgments(topic).items())
            if not marked[lists.qrels.blocks[t] + row]
        }
        for t, topic in enumerate(lists.qrels.topics)
    }
    fewer = by_document(judgments_of(kept))
    read = read_lists([track.runs[r] for r in pooled], fewer, depth=10)
    assert made.qrels.grades.tolist() == fewer.grades.tolist()
    for name in ("judged", "open"):
        for ours, theirs in zip(getattr(made, name)[:2], getattr(read, name)[:2], strict=True):
            np.testing.assert_array_equal(ours, theirs)
    names = [[one.documents[i] for i in one.open.rows] for one in (made, read)]
    assert names[0] == names[1]
    counts = [
        dict(zip((one.documents[i] for i in range(one.n_open)), one.hole_runs, strict=True))
        for one in (made, read)
    ]
    assert counts[0] == counts[1]


def test_what_the_other_pools_have_stays(track, lists):
    """A document that another pooled run has within its pool is not hidden."""
    pooled = np.array([r for r, run in enumerate(lists.runs) if run in track.pooled])
    hidden = pooled[:3]
    marked = set(np.flatnonzero(_hidden_documents(lists, pooled, hidden)).tolist())
    for run in pooled[3:]:
        for t, topic in enumerate(lists.qrels.topics):
            first = lists.qrels.blocks[t]
            rows = {d: first + i for i, d in enumerate(lists.qrels.judgments(topic))}
            for document, _ in track.runs[run].ranking(topic)[:10]:
                assert rows[document] not in marked


def test_pools_are_as_deep_as_judgments_are_unbroken(track, lists):
    depths = _pool_depths(lists)
    for r, run in enumerate(track.runs):
        unbroken = min(
            next(
                (i for i, (d, _) in enumerate(run.ranking(topic)) if d not in judged),
                np.iinfo(np.int32).max,
            )
            for topic in lists.qrels.topics
            for judged in [lists.qrels.judgments(topic)]
        )
        assert depths[r] == unbroken
        assert run.name not in track.pooled or depths[r] >= 10


def test_intervals_are_widened_and_stay_within_bounds(track, result):
    rehearsal = result.rehearsal
    assert rehearsal.n_scores > 0
    assert rehearsal.scale >= 1.0
    assert 0.0 <= rehearsal.held <= 1.0
    assert result.interval_warning == ""
    for row in result.runs:
        low, high = row.imputed_interval
        assert row.lowest - 1e-12 <= low <= row.imputed <= high <= row.highest + 1e-12
    shown = VIEW.json(result)["rehearsal"]
    assert shown == {
        "n_scores": rehearsal.n_scores,
        "held": rehearsal.held,
        "scale": rehearsal.scale,
        "warning": None,
    }
    checked = {finding.id: finding for finding in VIEW.findings(result)}["holes.checked"]
    assert checked.values == {key: shown[key] for key in ("n_scores", "held", "scale")}
    assert checked.text in str(result)


def test_threads_and_the_order_of_runs_change_nothing(track):
    measure = parse_holed("nDCG@10", 2)
    found = [
        rehearse(
            read_lists(runs, by_document(judgments_of(track.qrels)), depth=10),
            measure,
            confidence=0.95,
            jobs=jobs,
            seed=3,
        )
        for runs, jobs in ((track.runs, 1), (track.runs[::-1], 2))
    ]
    assert found[0].n_scores == found[1].n_scores
    assert found[0].scale == pytest.approx(found[1].scale, rel=1e-9)


def test_where_nothing_can_be_rehearsed_it_is_said(track):
    """Beside the interval: as a warning, in the tables and in the JSON."""
    runs = [run for run in track.runs if run.name not in track.pooled]
    with pytest.warns(sr.SteadyrankWarning, match="the imputed intervals are unchecked"):
        result = sr.holes(runs, track.qrels, measure="P@10", n_samples=50)
    assert f"0 of {FEWEST_RUNS} required runs" in result.interval_warning
    assert result.rehearsal.scale == 1.0
    unchecked = {finding.id: finding for finding in VIEW.findings(result)}["holes.unchecked"]
    assert unchecked.values == {"n_fully_judged": 0}
    assert unchecked.text in str(result)
    shown = json.loads(json.dumps(VIEW.json(result)["rehearsal"]))
    assert shown["warning"] == result.interval_warning
    assert shown["held"] is None


def test_the_share_that_others_found(track, result):
    """All pools are given: none. Only runs that were not pooled: all."""
    assert result.prior.found_share == 0.0
    runs = [run for run in track.runs if run.name not in track.pooled]
    with pytest.warns(sr.SteadyrankWarning):
        new = sr.holes(runs, track.qrels, measure="P@10", n_samples=20)
    assert new.prior.found_share > 0.9


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_factor_of_a_mixture(share):
    """Hidden documents: `share` of them of chance p, the others of chance ratio × p."""
    prior = replace(
        Prior(coefficients=np.zeros((1, 1)), roots=np.zeros((1, 1, 1))), found_share=share
    )
    for ratio in (0.1, 0.5, 1.0):
        p = 0.6
        hidden = share * p + (1.0 - share) * ratio * p
        assert prior.factor(ratio) * hidden == pytest.approx(ratio * p)

"""What a report says about other documents: of which measure, and of which runs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import steadyrank as sr

pytestmark = pytest.mark.usefixtures("drawn_nowhere")


@pytest.fixture(scope="module")
def track():
    return sr.simulated_track(n_teams=5, runs_per_team=1, n_topics=12, depth=40, pool_depth=40)


def made(runs, qrels, tmp_path, *measures):
    return sr.report(
        runs, qrels, out=tmp_path / "r.html", measures=measures, n_samples=40, no_relevant="skip"
    )


def section_of(result):
    return next(section for section in result.page.sections if section.id == "simulate")


def as_ranks(run):
    return sr.run_from_dict(
        {
            topic: {doc: -float(rank) for rank, (doc, _) in enumerate(run.ranking(topic))}
            for topic in run.topics
        },
        name=run.name,
    )


def test_the_measure_that_ranks_the_runs_is_simulated_with_its_grades(track, tmp_path):
    """Statements and tables are about one measure and its own order of the runs."""
    result = made(track.runs, track.complete, tmp_path, "nDCG@10", "AP")
    simulated, shown = result.results["simulate"], section_of(result)
    assert (simulated.measure, simulated.documents) == ("nDCG@10", "shared")
    assert simulated.measure == result.results["compare"][0].measure
    assert "the ranking by nDCG@10 has a mean Kendall's tau" in shown.answer[0]
    ranks, neighbours = shown.tables[:2]
    assert (ranks.id, neighbours.id) == ("simulated", "documents-neighbours")
    assert ranks.header[1] == "nDCG@10"
    assert "documents shared by all runs" in ranks.caption
    assert "nDCG@10" in neighbours.caption
    order = np.argsort(-simulated.raw_mean, kind="stable")
    names = [simulated.runs[run] for run in order]
    assert [row[0].text for row in ranks.rows] == names
    pairs = [(row[0].text, row[1].text) for row in neighbours.rows]
    assert pairs == list(itertools.pairwise(names))
    for (better, worse), row in zip(pairs, neighbours.rows, strict=True):
        assert row[2].value >= 0
        a, b = simulated.runs.index(better), simulated.runs.index(worse)
        assert row[3].value == simulated.above[a, b]


def test_another_measure_is_simulated_where_the_first_cannot_be(track, tmp_path):
    result = made(track.runs, track.complete, tmp_path, "Bpref", "AP")
    assert result.results["simulate"].measure == "AP"
    assert section_of(result).answer[1] == "By AP: Bpref cannot be simulated."


def test_ranks_in_disguise_are_simulated_like_any_run(track, tmp_path):
    """With shared documents only the order of a run enters."""
    runs = [as_ranks(track.runs[0]), *track.runs[1:]]
    result = made(runs, track.complete, tmp_path, "AP")
    plain = made(track.runs, track.complete, tmp_path, "AP")
    assert section_of(result).warnings == ()
    np.testing.assert_array_equal(
        result.results["simulate"].simulated, plain.results["simulate"].simulated
    )

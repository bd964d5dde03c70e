"""What a report says about other documents: of which measure, and of which runs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.reporting import page as report_page
from steadyrank.studies.simulate.section import documents_share

BINARY = "binary nDCG@10 (grade ≥ 1)"


@pytest.fixture(autouse=True)
def drawn_nowhere(monkeypatch):
    """Figures are not at issue here, and take most of the time."""
    monkeypatch.setattr(report_page, "figure", lambda *args, **options: [])


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


def test_a_measure_that_needs_no_grades_is_simulated_first(track, tmp_path):
    result = made(track.runs, track.complete, tmp_path, "nDCG@10", "AP")
    assert result.results["simulate"].measure == "AP"
    shown = section_of(result)
    assert shown.answer[1] == (
        "By AP: nDCG@10 needs grades, which simulated documents do not have."
    )
    assert "the ranking by AP keeps a Kendall correlation" in shown.answer[0]
    assert shown.tables[0].header[2] == "AP"


def test_a_binary_measure_is_called_so_in_the_whole_section(track, tmp_path):
    """Statements and tables are about one measure and its own order of the runs."""
    result = made(track.runs, track.complete, tmp_path, "nDCG@10")
    simulated, shown = result.results["simulate"], section_of(result)
    assert simulated.measure == BINARY
    assert simulated.measure != result.results["compare"][0].measure
    assert shown.answer[1].startswith(
        f"Simulated documents have no grades: all figures are of {BINARY}, not of nDCG@10"
    )
    assert f"the ranking by {BINARY} keeps a Kendall correlation" in shown.answer[0]
    assert not any("no grades" in warning for warning in shown.warnings), "said twice"
    ranks, neighbours = shown.tables
    assert ranks.header[2] == BINARY
    assert BINARY in ranks.caption
    assert BINARY in neighbours.caption
    order = np.argsort(-simulated.raw_mean, kind="stable")
    names = [simulated.runs[run] for run in order]
    assert [row[1].text for row in ranks.rows] == names
    pairs = [(row[0].text, row[1].text) for row in neighbours.rows]
    assert pairs == list(itertools.pairwise(names))
    for (better, worse), row in zip(pairs, neighbours.rows, strict=True):
        assert row[2].value >= 0
        assert row[3].value == documents_share(simulated, better, worse)


def test_one_grade_of_relevant_documents_lets_ndcg_keep_its_name(track, tmp_path):
    frame = track.complete.to_frame()
    two = {
        topic: dict(zip(part["doc_id"], (part["relevance"] > 0).astype(int), strict=True))
        for topic, part in frame.groupby("query_id", sort=False)
    }
    result = made(track.runs, sr.qrels_from_dict(two), tmp_path, "nDCG@10", "AP")
    assert result.results["simulate"].measure == "nDCG@10"
    assert "grades" not in " ".join(section_of(result).answer)


def test_ranks_in_disguise_are_left_out_and_named(track, tmp_path):
    runs = [as_ranks(track.runs[0]), *track.runs[1:]]
    result = made(runs, track.complete, tmp_path, "AP")
    assert result.results["simulate"].runs == tuple(run.name for run in track.runs[1:])
    assert len(result.results["compare"][0].runs) == 5
    assert section_of(result).warnings == (
        f"1 run is left out of the simulation: the scores of {runs[0].name} are ranks in disguise, "
        "which say in what order documents stand and nothing else; steadyrank simulate "
        "--score-source rank takes ranks for scores",
    )


def test_without_two_runs_that_have_scores_the_study_is_left_out(track, tmp_path):
    runs = [*map(as_ranks, track.runs[:2]), track.runs[2]]
    result = made(runs, track.complete, tmp_path, "AP")
    assert "simulate" not in result.results
    assert result.left_out["simulate"] == (
        "fewer than two runs have scores to resample: the scores of "
        f"{runs[0].name} and {runs[1].name} are ranks in disguise"
    )

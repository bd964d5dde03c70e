"""The page of a leaderboard: its answer first, and nothing that needs topics."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import steadyrank as sr
from steadyrank.studies.datasets.view import VIEW


def frame(n_runs=30, n_datasets=12):
    rng = np.random.default_rng(3)
    values = rng.normal(0.5, 0.05, (n_runs, n_datasets)) + rng.normal(0, 0.05, (n_runs, 1))
    runs = [f"model_{i:02d}" for i in range(n_runs)]
    return pd.DataFrame(values, index=runs, columns=[f"set{k}" for k in range(n_datasets)])


def first_text(result):
    return next(f.text for f in VIEW.findings(result) if f.id == "datasets.first")


def test_the_page_says_how_many_could_be_first(tmp_path):
    result = sr.report(datasets=frame(), out=tmp_path / "r.html")
    found = result.results["datasets"]
    assert list(result.results) == ["datasets"]
    assert first_text(found) in result.sentences
    assert set(result.left_out) >= {"evaluate", "compare", "topics", "check"}
    (section,) = [section for section in result.page.sections if not section.why_not]
    assert section.id == "datasets"
    assert [figure.id for figure in section.figures] == ["forest"]
    assert len(section.tables[0].rows) == 30


def test_the_same_table_gives_the_same_page(tmp_path):
    table = tmp_path / "t.csv"
    frame().to_csv(table)
    pages = []
    for name in ("a.html", "b.html"):
        result = sr.report(datasets=str(table), out=tmp_path / name)
        pages.append((tmp_path / name).read_bytes())
    assert pages[0] == pages[1]
    assert any("t.csv" in str(row) for part in result.page.provenance for row in part.rows)


def test_a_table_beside_runs_or_scores_is_refused(tmp_path):
    with pytest.raises(sr.InputError, match="either a table of datasets"):
        sr.report(scores="scores.csv", datasets=frame(), out=tmp_path / "r.html")


def test_the_first_screen_says_who_leads_and_how_many_could(tmp_path, drawn_nowhere):
    result = sr.report(datasets=frame(), out=tmp_path / "r.html")
    found, first = result.results["datasets"], result.page.first
    leader = found.runs[found.order[0]]
    firsts = int(found.could_be_first.sum())
    assert 1 < firsts < 30
    assert first.verdict == f"{leader} leads, but {firsts} of 30 runs could be first."
    assert [row.name for row in first.board.rows] == [found.runs[run] for run in found.order[:10]]
    assert {bar.about for bar in first.bars} == {"Other datasets", "Another aggregate"}
    assert {bar.link for bar in first.bars} == {"datasets"}
    assert first.not_examined.endswith("other judges (report QRELS RUN... on one collection).")
    assert first.not_examined.count("(") == 1, "no option of another study helps here"
    assert result.page.pairs is None

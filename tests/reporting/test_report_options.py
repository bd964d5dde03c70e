"""Options of a report: another test, a baseline, names that somebody chose, rows at first."""

from __future__ import annotations

import re

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.studies.compare import wording


def scores_of(*means, noise=0.05, n_topics=30, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.normal(0, noise, (len(means), n_topics))
    values += np.array(means)[:, None] - values.mean(axis=1, keepdims=True)
    return sr.Scores(
        measures=["AP"],
        runs=[chr(65 + place) for place in range(len(means))],
        topics=range(n_topics),
        values=[values + rng.normal(0, 0.1, n_topics)],
    )


def made(tmp_path, scores, **options):
    return sr.report(scores=scores, out=tmp_path / "page.html", n_samples=20, **options)


def section(result, study):
    return next(part for part in result.page.sections if part.id == study)


# A baseline


def test_all_of_a_page_follows_the_baseline(tmp_path, drawn_nowhere):
    scores = scores_of(0.5, 0.9, 0.8, 0.2, 0.501)
    result = made(tmp_path, scores, baseline="A", test="randomization", correction="holm")
    compared = result.results["compare"][0]
    assert (compared.test, compared.correction, compared.baseline) == ("randomization", "holm", "A")
    board = section(result, "evaluate").tables[0]
    column = list(board.header).index("against the baseline")
    assert {row[1].text: row[column].text for row in board.rows} == {
        "A": "baseline",
        "B": "better",
        "C": "better",
        "D": "worse",
        "E": "not different",
    }
    assert "group" not in board.header
    against = section(result, "compare").tables[0]
    assert against.id == "against-baseline"
    assert [row[0].text for row in against.rows] == ["B", "C", "E", "A (baseline)", "D"]
    assert [against.marks.get((i, 1), "") for i in range(5)] == ["†", "†", "", "", "‡"]
    (tests,) = [one for one in result.findings if one.id == "compare.tests"]
    assert tests.values == {"test": "randomization", "correction": "holm", "alpha": 0.05}
    assert "aired randomisation test, Holm's correction over 4 comparisons" in tests.text
    assert result.page.first.verdict == (
        "2 of 4 other runs are significantly better than A, 1 significantly worse."
    )
    assert result.page.first.board.group == "against the baseline"
    assert {row.name: row.group for row in result.page.first.board.rows}["D"] == "worse"
    assert result.results["topics"].comparisons == 4
    panel = result.page.pairs
    b, c = panel.names.index("B"), panel.names.index("C")
    assert "were not compared with each other" in panel.text("{decision}", b, c)


def test_an_unknown_baseline_or_test_is_refused(tmp_path):
    with pytest.raises(sr.SteadyrankError, match="run 'X'"):
        made(tmp_path, scores_of(0.5, 0.4), baseline="X")
    with pytest.raises(sr.SteadyrankError, match="test 'chi'"):
        made(tmp_path, scores_of(0.5, 0.4), test="chi")


@pytest.mark.parametrize(
    ("test", "correction", "words"),
    [
        ("t", None, "Corrected t, max-t over 3 comparisons; alpha 0.05"),
        ("t", "none", "paired t test; alpha 0.05"),
        ("wilcoxon", "holm", "Wilcoxon's signed-rank test, Holm's correction over 3 comparisons"),
        ("tukey", None, "Tukey's HSD"),
    ],
)
def test_sentences_name_the_test_that_was_asked_for(
    tmp_path, drawn_nowhere, test, correction, words
):
    result = made(tmp_path, scores_of(0.9, 0.5, 0.3), test=test, correction=correction)
    (tests,) = [one for one in result.findings if one.id == "compare.tests"]
    assert words in tests.text
    assert tests.values["test"] == test
    assert wording.tested_words(result.results["compare"][0]) in result.page.pairs.sentence


# Names


def write(tmp_path, text):
    path = tmp_path / "names.tsv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("between", ["\t", ","])
def test_runs_are_called_by_their_chosen_names(tmp_path, drawn_nowhere, between):
    letters = scores_of(0.9, 0.5, 0.3)
    scores = sr.Scores(
        measures=["AP"], runs=["run_A", "run_B", "c"], topics=range(30), values=letters.values
    )
    text = f"run_A{between}BM25 (title)\n\nrun_B{between}Dense\nc{between}Sparse\n"
    plain = made(tmp_path, scores)
    named = made(tmp_path, scores, names=write(tmp_path, text))
    assert named.sentences[0] == plain.sentences[0].replace("run_A", "BM25 (title)")
    page = named.path.read_text("utf-8")
    assert '<span title="run_A">BM25 (title)</span> leads; with 95% confidence' in page
    assert '<th scope="row" title="run_A">BM25 (title)</th>' in page
    assert named.page.pairs.fields == plain.page.pairs.fields, "no number depends on names"
    (files,) = [part for part in named.page.provenance if part.id == "files-read"]
    assert files.rows[-1][0].text == "names of runs"


@pytest.mark.filterwarnings("ignore::steadyrank.SteadyrankWarning")
def test_names_may_be_those_of_files(tmp_path, drawn_nowhere):
    track = sr.simulated_track(n_teams=2, runs_per_team=1, n_topics=6, depth=20, pool_depth=10)
    for place, run in enumerate(track.runs):
        sr.write_run(run, tmp_path / f"input.{place}.run")
    sr.write_qrels(track.qrels, tmp_path / "qrels.txt")
    names = write(tmp_path, "input.0.run First\ninput.1.run Second\n")
    files = [tmp_path / f"input.{place}.run" for place in (0, 1)]
    result = sr.report(
        files,
        tmp_path / "qrels.txt",
        out=tmp_path / "page.html",
        names=names,
        n_samples=20,
        no_relevant="skip",
    )
    assert set(result.page.names.shown.values()) == {"First", "Second"}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("A\n", r"names.tsv:1: expected two columns, .* got 1"),
        ("A\tx\ty\n", r"names.tsv:1: expected two columns"),
        ("A\tx\nA\ty\n", r"names.tsv:2: 'A' occurs twice: keep one"),
        ("A\tx\nB\tx\n", "two runs would both be shown as 'x'"),
        ("X\tx\n", "run 'X'"),
        ("A\tB\n", "two runs would be shown as 'B'"),
    ],
)
def test_names_that_would_mislead_are_refused(tmp_path, text, error):
    with pytest.raises(sr.SteadyrankError, match=re.compile(error)):
        made(tmp_path, scores_of(0.9, 0.5, 0.3), names=write(tmp_path, text))


@pytest.mark.slow
def test_a_page_of_129_runs_stays_below_two_megabytes(tmp_path):
    """With names of 60 characters and eight measures."""
    rng = np.random.default_rng(2)
    values = rng.normal(0.4, 0.1, (8, 129, 50)) + rng.normal(0, 0.05, (129, 1))
    scores = sr.Scores(
        measures=["AP", "nDCG@10", "RR", "P@10", "R@100", "RBP", "nDCG", "Rprec"],
        runs=[f"input.dl2019_passage_{i:03}_as_long_as_those_of_a_track.gz" for i in range(129)],
        topics=range(50),
        values=np.clip(values, 0, 1),
    )
    assert made(tmp_path, scores).path.stat().st_size < 2_000_000

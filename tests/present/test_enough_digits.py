"""Two different means of one table never print alike, unless the reader chose the decimals."""

from __future__ import annotations

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.cli import run
from steadyrank.present.table import render
from steadyrank.studies.evaluate.view import scores_table

MEANS = (0.41231, 0.41234, 0.3, 0.2)


@pytest.fixture
def scores(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    noise = np.random.default_rng(2).normal(0, 0.05, (len(MEANS), 30))
    values = noise - noise.mean(axis=1, keepdims=True) + np.array(MEANS)[:, None]
    names = [f"r{k}" for k in range(len(MEANS))]
    scores = sr.Scores(measures=["AP"], runs=names, topics=range(30), values=[values])
    sr.write_scores(scores, "scores.csv")
    return scores


@pytest.mark.parametrize(
    "command",
    [
        *("compare", "compare --latex", "compare --markdown", "evaluate", "topics"),
        "compare --format html",
    ],
)
def test_means_that_differ_print_differently(scores, capsys, command):
    assert run([*command.split(), "--scores", "scores.csv"]) == 0
    shown = capsys.readouterr().out
    assert "0.41231" in shown
    assert "0.41234" in shown
    assert run([*command.split(), "--scores", "scores.csv", "--digits", "3"]) == 0
    shown = capsys.readouterr().out.split("CSV")[0].split("highest")[0]
    rows = [line for line in shown.split("\n") if line.startswith(" ")]
    assert not any("0.4123" in row for row in rows), "the lead has the digits that it needs"


def test_more_than_six_decimals_tell_nothing():
    values = np.array([[[0.25, 0.25], [0.25, 0.25 + 1e-9], [0.5, 0.5]]])
    scores = sr.Scores(measures=["AP"], runs=list("abc"), topics=range(2), values=values)
    assert render(scores_table(scores), "table").count("0.2500") == 2


def test_the_first_screen_shows_no_two_means_alike(scores, tmp_path, drawn_nowhere):
    result = sr.report(scores, out=tmp_path / "page.html", n_samples=20)
    shown = [row.score for row in result.page.first.board.rows]
    assert shown == ["0.41234", "0.41231", "0.30000", "0.20000"]
    assert "r1 0.41234, r0 0.41231" in result.page.first.line

"""Printed numbers: a minus sign that is no hyphen, and decimals by which different means differ."""

from __future__ import annotations

import csv
import html
import io
import re

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.cli import run
from steadyrank.present.table import render
from steadyrank.studies.evaluate.view import scores_table

HYPHEN = re.compile(r"(?:^|[\s(\[])-\.?\d", re.MULTILINE)
COMMANDS = (
    *("compare -m gain --describe", "compare -m gain --markdown"),
    *("topics -m gain --trials 20", "evaluate"),
)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    base = 0.3 + 0.03 * (np.arange(6) % 3)[:, None] + 0.2 * rng.standard_normal((6, 30))
    names = [f"r{k}-s{k % 2}" if k else "r0" for k in range(6)]
    names[0] = "r0"
    values = [base, -3.0 * base + 0.2 * rng.standard_normal(base.shape)]
    scores = sr.Scores(measures=["AP", "gain"], runs=names, topics=range(30), values=values)
    sr.write_scores(scores, "s.csv")
    return tmp_path


@pytest.mark.filterwarnings("ignore::steadyrank.SteadyrankWarning")
@pytest.mark.parametrize("command", COMMANDS)
def test_no_hyphen_stands_before_a_number(files, capsys, command):
    assert run([*command.split(), "--scores", "s.csv"]) == 0
    shown = capsys.readouterr()
    assert "−" in shown.out
    assert not HYPHEN.search(shown.out + shown.err)


def test_nor_on_a_page_or_in_its_figures(files, capsys):
    assert run(["report", "--scores", "s.csv", "--samples", "10", "--quiet"]) == 0
    page = (files / "report.html").read_text("utf-8")
    page = re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL)
    shown = re.findall(r">([^<]+)<", page) + re.findall(r'(?:title|aria-label)="([^"]*)"', page)
    assert not [text for text in map(html.unescape, shown) if HYPHEN.search(text)]
    assert not HYPHEN.search(capsys.readouterr().out)


def test_programs_read_ascii(files, capsys):
    words = ["compare", "-m", "gain", "--scores", "s.csv"]
    assert run([*words, "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert all(float(row["mean_a"]) < 0.0 for row in rows)
    assert run([*words, "--latex"]) == 0
    latex = capsys.readouterr().out
    assert "$-$0." in latex
    assert "−" not in latex


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

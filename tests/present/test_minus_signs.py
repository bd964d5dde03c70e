"""Printed numbers have the sign for minus, which is no hyphen; files for programs have ASCII."""

from __future__ import annotations

import csv
import html
import io
import re

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.cli import run

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

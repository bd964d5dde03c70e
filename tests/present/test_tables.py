"""Tables that paste into a paper, whatever the runs are called."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import numpy as np
import pytest
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

import steadyrank as sr
from steadyrank.present.table import Cell, Table, render, text_rows
from steadyrank.studies.evaluate.view import scores_table

TRICKY = r"50%_of & $x$ #1 {~^\} |*`<b>"


def scores():
    values = np.array([[[0.5, 0.7], [0.9, np.nan]], [[0.25, 0.25], [0.25, 0.25]]])
    return sr.Scores(
        measures=("AP", "P@5"), runs=(TRICKY, "plain"), topics=("1", "2"), values=values
    )


def test_best_means_come_first_and_ties_for_the_best_are_all_bold():
    table = scores_table(scores(), digits=2)
    assert [row[0].text for row in table.rows] == ["plain", TRICKY]
    assert table.rows[0] == [Cell("plain", "plain"), Cell("0.90", 0.9), Cell("0.25", 0.25)]
    assert table.best == {(0, 1), (0, 2), (1, 2)}


def test_the_terminal_shows_every_column_in_full():
    names = [f"a-rather-long-run-name-{i:02d}" for i in range(12)]
    table = Table(
        header=["topic", *names], rows=text_rows([["301", *["0.1234"] * 12]]), caption="c" * 300
    )
    text = render(table, "table")
    assert all(name in text for name in names)
    assert text.count("0.1234") == 12
    assert "\x1b" not in text
    assert "\x1b" in render(scores_table(scores()), "table", colour=True)


def test_topics_come_with_their_mean():
    table = scores_table(scores().select(measures="AP"), per_topic=True, digits=1)
    texts = [[cell.text for cell in row] for row in table.rows]
    assert texts == [["1", "0.5", "0.9"], ["2", "0.7", "–"], ["mean", "0.6", "0.9"]]
    assert scores_table(scores(), per_topic=True).header[1:] == [
        *(f"{TRICKY} AP", "plain AP", f"{TRICKY} P@5", "plain P@5")
    ]


def test_all_missing_columns_have_no_best():
    values = np.full((1, 2, 1), np.nan)
    empty = sr.Scores(measures=("m",), runs=("a", "b"), topics=("1",), values=values)
    table = scores_table(empty)
    assert table.best == frozenset()
    assert [row[1] for row in table.rows] == [Cell("–"), Cell("–")]


def drawn_by_rich(table, first, last):
    """The plain table as rich draws it, rows from `first` to `last` left out."""
    drawn = RichTable(box=SIMPLE_HEAD, pad_edge=False)
    for j, name in enumerate(table.header):
        side = "right" if j >= table.n_names else "left"
        drawn.add_column(Text(name), justify=side, no_wrap=True, overflow="fold")
    for i, row in enumerate(table.rows):
        if i == first:
            drawn.add_row(f"… {last - first} more")
        if not first <= i < last:
            drawn.add_row(*(Text(cell.text) for cell in row))
    out = io.StringIO()
    Console(file=out, width=500, color_system=None, legacy_windows=False).print(drawn)
    lines = [line.rstrip() for line in out.getvalue().split("\n")]
    return "\n".join(lines).strip("\n") + "\n"


@pytest.mark.parametrize("most_rows", [None, 4])
def test_a_terminal_shows_what_rich_draws(most_rows):
    names = ["bm25", "日本語システム", "é", "a long name", "", "e\u0301 combined", "x"]
    rows = [[name, f"{i / 7:.{1 + i % 4}f}", "–"] for i, name in enumerate(names)]
    table = Table(header=["run", "AP", "nDCG@10"], rows=text_rows(rows))
    first, last = (7, 7) if most_rows is None else (3, 7)
    shown = render(table, "table", most_rows=most_rows)
    assert shown == drawn_by_rich(table, first, last)
    styled = replace(table, best=frozenset({(0, 1)}))
    coloured = render(styled, "table", colour=True, most_rows=most_rows)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == shown
    assert "\x1b[1m0.0" in coloured


def test_digits_stand_below_digits_whatever_marks_are_behind_them():
    rows = text_rows([["a", "0.10", "0.5"], ["b", "10.20", "0.6"], ["c", "0.30", "0.7"]])
    marks = {(0, 1): "*", (2, 1): "***"}
    text = render(Table(header=["run", "AP", "P@5"], rows=rows, marks=marks), "table")
    _, _, *lines = text.splitlines()
    points = [[match.start() for match in re.finditer(r"\.", line)] for line in lines]
    assert points[0] == points[1] == points[2]
    assert [line.count("*") for line in lines] == [1, 0, 3]

"""Tables that paste into a paper, whatever the runs are called."""

from __future__ import annotations

import numpy as np

import steadyrank as sr
from steadyrank.present.json import to_json
from steadyrank.present.score_tables import means_table, topics_table
from steadyrank.present.table import Cell, Table, render, text_rows

TRICKY = r"50%_of & $x$ #1 {~^\} |*`<b>"


def scores():
    values = np.array([[[0.5, 0.7], [0.9, np.nan]], [[0.25, 0.25], [0.25, 0.25]]])
    return sr.Scores(
        measures=("AP", "P@5"), runs=(TRICKY, "plain"), topics=("1", "2"), values=values
    )


def test_best_means_come_first_and_ties_for_the_best_are_all_bold():
    table = means_table(scores(), digits=2)
    assert [row[0].text for row in table.rows] == ["plain", TRICKY]
    assert table.rows[0] == [Cell("plain", "plain"), Cell("0.90", 0.9), Cell("0.25", 0.25)]
    assert table.best == {(0, 1), (0, 2), (1, 2)}


def test_latex_specials_are_escaped():
    text = render(means_table(scores()), "latex")
    assert r"50\%\_of \& \$x\$ \#1 \{\textasciitilde{}\textasciicircum{}\textbackslash{}\}" in text
    assert text.count(r"\\") == 3
    assert r"\begin{tabular}{lrr}" in text


def test_markdown_cells_stay_cells():
    rows = render(means_table(scores()), "markdown").splitlines()
    assert rows[1] == "| --- | ---: | ---: |"
    assert rows[3].replace(r"\|", "").count("|") == 4
    assert r"\<b\>" in rows[3]


def test_the_terminal_shows_every_column_in_full():
    names = [f"a-rather-long-run-name-{i:02d}" for i in range(12)]
    table = Table(
        header=["topic", *names], rows=text_rows([["301", *["0.1234"] * 12]]), caption="c" * 300
    )
    text = render(table, "table", width=40)
    assert all(name in text for name in names)
    assert text.count("0.1234") == 12
    assert "\x1b" not in text
    assert "\x1b" in render(means_table(scores()), "table", colour=True)


def test_wide_characters_are_not_cut():
    table = Table(header=["run", "AP"], rows=text_rows([["日本語システム", "0.1"], ["é", "0.2"]]))
    assert "日本語システム" in render(table, "table")


def test_topics_come_with_their_mean():
    table = topics_table(scores().select(measures="AP"), digits=1)
    texts = [[cell.text for cell in row] for row in table.rows]
    assert texts == [["1", "0.5", "0.9"], ["2", "0.7", "–"], ["mean", "0.6", "0.9"]]
    assert topics_table(scores()).header[1:] == [
        f"{TRICKY} AP",
        "plain AP",
        f"{TRICKY} P@5",
        "plain P@5",
    ]


def test_all_missing_columns_have_no_best():
    values = np.full((1, 2, 1), np.nan)
    empty = sr.Scores(measures=("m",), runs=("a", "b"), topics=("1",), values=values)
    table = means_table(empty)
    assert table.best == frozenset()
    assert [row[1] for row in table.rows] == [Cell("–"), Cell("–")]


def test_csv_quotes_what_needs_quotes():
    table = Table(header=["run", "x"], rows=text_rows([['a,"b"', "1"]]))
    assert render(table, "csv") == 'run,x\n"a,""b""",1\n'


def test_json_has_no_nan_and_keeps_every_digit():
    text = to_json({"a": np.float64(0.1), "b": [np.nan, np.inf, np.int32(3)], 5: (True, None)})
    assert text == '{"a": 0.1, "b": [null, null, 3], "5": [true, null]}\n'

"""No table of a study repeats another: what it shows does not all stand in one beside it."""

from __future__ import annotations

import pytest
from test_coverage import SHOWN, data  # noqa: F401 a fixture

import steadyrank as sr
from steadyrank.cli import run
from steadyrank.present.table import Cell, Table
from steadyrank.present.view import Col, TableSpec, View
from steadyrank.studies.evaluate.view import VIEW as EVALUATE


def is_within(table: Table, other: Table) -> bool:
    """Whether every row of a table, blanks left out, stands in some row of another."""
    rows, others = (
        [{cell.text for cell in row} - {"–", ""} for row in t.rows] for t in (table, other)
    )
    return all(any(row <= beside for beside in others) for row in rows)


def twins(view: View, subject) -> list[tuple[str, str]]:
    """Pairs of tables, on a page or in a terminal, of which the first adds nothing."""
    found = set()
    for page in (True, False):
        tables = view.made(subject, page=page)
        found |= {
            (one.id, other.id)
            for one in tables
            for other in tables
            if one is not other and is_within(one, other)
        }
    return sorted(found)


@pytest.mark.parametrize("place", range(1, len(SHOWN)), ids=lambda k: f"{k}-{SHOWN[k][0]}")
def test_no_table_of_a_view_is_part_of_another(place, data, monkeypatch, capsys):  # noqa: F811
    shown = []
    as_json = View.json

    def kept(view, subject, **options):
        shown.append((view, subject))
        return as_json(view, subject, **options)

    monkeypatch.setattr(View, "json", kept)
    arguments = [part.format(data=data) for part in SHOWN[place]]
    assert run([*arguments, "--format", "json", "--quiet"]) == 0
    capsys.readouterr()
    assert shown, "every study is shown by a view"
    assert [pair for view, subject in shown for pair in twins(view, subject)] == []


def test_topics_are_not_the_means_again(data):  # noqa: F811
    scores = sr.evaluate(str(data / "runs"), data / "qrels.txt", ["AP", "P@10"])
    assert twins(EVALUATE, scores) == []


def test_a_twin_is_found_however_its_columns_stand():
    rows = [{"run": "a", "mean": 0.5, "rank": 1}, {"run": "b", "mean": None, "rank": 2}]
    whole = TableSpec(
        id="whole",
        rows=lambda subject: rows,
        columns=(Col("rank", form="d"), Col("run", form="name"), Col("mean")),
    )
    part = TableSpec(
        id="part", rows=lambda subject: rows[::-1], columns=(Col("run", form="name"), Col("mean"))
    )
    view = View(findings=lambda subject: (), tables=(whole, part), fields=lambda subject: {})
    assert twins(view, None) == [("part", "whole")]
    assert not is_within(Table(header=["run"], rows=[[Cell("c")]]), view.made(None)[0])

"""Reproductions as pages and files: all or none, the same bytes, and nothing of others touched."""

from __future__ import annotations

import csv
import json
import warnings
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.errors import InputError, SteadyrankWarning, UnknownNameError
from steadyrank_lab.papers import output
from steadyrank_lab.papers import reproduce as workflow
from steadyrank_lab.papers.data import RATES, builtin_data
from steadyrank_lab.papers.model import Claim, Exhibit, Reproduction, page_table

SMALL = {"budget": "small", "rng": 2, "command": "the command"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("made") / "lin"
    sr.reproduce("lin2005", out=out, **SMALL)
    return out


@pytest.fixture
def tiny():
    """A reproduction without any study behind it."""
    table = page_table("t", "A & B", ("name", "x"), [("a_b", 0.123456789), ("c", None), ("d", 3)])
    made = Exhibit(
        id="table-9",
        title="What is in it?",
        tables=(table,),
        explanation="Because.",
        claims=(
            Claim(text="A holds", holds=True),
            Claim(text="B", holds=False, detail="1 < 2", published="0", why="Why."),
        ),
    )
    without = Exhibit(id="figure-9", title="Nothing", explanation="There are no runs.")
    return Reproduction(paper="p", reference="R.", data="d", exhibits=(made, without))


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_folder_holds_what_claims_json_lists(folder):
    told = json.loads((folder / "claims.json").read_text())
    assert sorted(told["files"]) == sorted(path.name for path in folder.iterdir())
    assert (told["paper"], told["settings"]["budget"]) == ("lin2005", "small")
    counts = told["claims"]
    claims = [claim for exhibit in told["exhibits"] for claim in exhibit["claims"]]
    assert sum(counts.values()) == len(claims)
    assert counts["do_not_hold"] == sum(claim["holds"] is False for claim in claims)
    for exhibit in told["exhibits"]:
        for table in exhibit["tables"]:
            assert {f"{table['id']}.csv", f"{table['id']}.tex"} <= set(told["files"])
        for figure in exhibit["figures"]:
            assert (folder / f"{figure['id']}.svg").read_text().startswith("<svg ")


def test_csv_has_every_digit(folder):
    told = json.loads((folder / "claims.json").read_text())
    for exhibit in told["exhibits"]:
        for table in exhibit["tables"]:
            with open(folder / f"{table['id']}.csv", newline="") as lines:
                header, *rows = csv.reader(lines)
            assert header == table["header"]
            for row, expected in zip(rows, table["rows"], strict=True):
                for text, value in zip(row, expected, strict=True):
                    if isinstance(value, float):
                        assert float(text) == value
                    else:
                        assert text == (value or "")


def test_the_page_shows_claims_and_command(folder):
    class Text(HTMLParser):
        shown = ""

        def handle_data(self, data):
            self.shown += data

    parser = Text()
    parser.feed((folder / "index.html").read_text())
    for wanted in (
        "lin2005, reproduced",
        "the command",
        "Eq. 13 follows from eq. 12 as printed",
        "fails",
        "a misprint: Williams has 4x²/π",
        "off by up to 0.125",
        "Table 1",
        "Equation 13",
    ):
        assert wanted in parser.shown


def test_same_seed_same_bytes_whatever_the_threads(folder, tmp_path):
    again = tmp_path / "again"
    sr.reproduce("lin2005", out=again, jobs=2, **SMALL)
    assert contents(again) == contents(folder)


def test_files_of_an_earlier_reproduction_go(tiny, tmp_path):
    output.write_reproduction({"old.csv": "", "claims.json": '{"files": ["old.csv"]}'}, tmp_path)
    output.write_reproduction(output.reproduction_files(tiny), tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"index.html", "t.csv", "t.tex", "claims.json"}


@pytest.mark.parametrize("held", ["[1]", "{}", "no JSON"])
def test_a_folder_of_something_else_is_refused(tiny, tmp_path, held):
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "claims.json").write_text(held)
    with pytest.raises(InputError, match="holds other files"):
        output.write_reproduction(output.reproduction_files(tiny), tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    with pytest.raises(InputError, match="expected a folder, got a file"):
        sr.reproduce("lin2005", out=tmp_path / "notes.txt")


def test_names_outside_the_folder_are_never_removed(tiny, tmp_path):
    (tmp_path / "other.txt").write_text("mine")
    inside = tmp_path / "out"
    inside.mkdir()
    (inside / "claims.json").write_text(json.dumps({"files": ["../other.txt", "claims.json"]}))
    output.write_reproduction(output.reproduction_files(tiny), inside)
    assert (tmp_path / "other.txt").exists()


def test_a_full_disk_leaves_the_folder_as_it_was(tiny, tmp_path, monkeypatch):
    output.write_reproduction(output.reproduction_files(tiny), tmp_path)
    before = contents(tmp_path)
    write, calls = output.write_whole, []

    def failing(path, text):
        calls.append(path)
        if len(calls) == 3:
            raise OSError(28, "No space left on device")
        write(path, text)

    monkeypatch.setattr(output, "write_whole", failing)
    changed = output.reproduction_files(replace(tiny, data="other"))
    with pytest.raises(OSError, match="No space left"):
        output.write_reproduction(changed, tmp_path)
    assert contents(tmp_path) == before


def test_tables_in_words_and_digits(tiny):
    files = output.reproduction_files(tiny)
    assert files["t.csv"] == "name,x\na_b,0.123456789\nc,\nd,3\n"
    assert r"a\_b & 0.1235 \\" in files["t.tex"]
    assert r"\caption{A \& B}" in files["t.tex"]
    table = output.claims_table(tiny, details=True)
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["table-9", "holds", "A holds", "", "", ""],
        ["table-9", "fails", "B", "1 < 2", "0", "Why."],
        ["figure-9", "open", "There are no runs.", "", "", ""],
    ]
    assert table.caption == "R. Data: d. Claims: 1 of 2 holds, 1 fails."


def test_unknown_papers_and_budgets_are_named():
    with pytest.raises(UnknownNameError, match="did you mean 'sakai2016'"):
        sr.reproduce("sakai2015")
    with pytest.raises(UnknownNameError, match="unknown budget 'large'"):
        sr.reproduce("lin2005", budget="large")


def test_a_small_budget_makes_fewer_systems():
    scores = builtin_data("instances", budget="small").scores
    systems = scores.run_info["system"]
    assert sorted(systems.count(name) for name in set(systems)) == [1, 30]
    assert len(set(scores.run_info["rate"])) == 4
    assert builtin_data("scores", budget="small").scores.values.shape == (2, 34, 120)


@pytest.mark.slow
def test_titles_and_descriptions_stand_for_two_collections():
    data = builtin_data("scores")
    assert data.scores.values.shape == (2, 85, 120)
    # Each topic is of one of the two.
    known = ~np.isnan(data.scores.values[:, 0])
    np.testing.assert_array_equal(known.sum(axis=0), 1)
    np.testing.assert_array_equal(known.sum(axis=1), 60)
    titles, descriptions = np.nanmean(data.scores.values, axis=(1, 2))
    assert titles > descriptions


@pytest.mark.slow
def test_selective_search_has_as_many_instances_as_the_paper():
    seen = []
    data = builtin_data("instances", progress=lambda *done: seen.append(done))
    rates = data.scores.run_info["rate"]
    assert {rate: rates.count(rate) for rate in set(rates)} == {
        "": 1,
        **{f"{rate:g}": 100 for rate in RATES},
    }
    assert data.scores.measures == ("nDCG@10", "P@10", "AP")
    assert seen[-1] == (701, 701)
    assert "5 of 20 topical shards at 7 sampling rates with 100 instances each" in data.words


def test_what_studies_warn_of_is_told_once(monkeypatch):
    def make(data, work):
        for _ in range(2):
            warnings.warn("odd", SteadyrankWarning, stacklevel=1)
        return Reproduction(paper="p", reference="", data=data.words, exhibits=())

    monkeypatch.setattr(workflow, "maker", lambda paper: make)
    with pytest.warns(SteadyrankWarning) as told:
        made = sr.reproduce("lin2005", budget="small")
    assert [str(warning.message) for warning in told] == ["odd"]
    assert made.data.startswith("the built-in collection (11,738 docstrings")

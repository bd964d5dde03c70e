"""The command `datasets`, as people type it."""

from __future__ import annotations

import numpy as np
import pytest
from commanding import answered, call, refused

import steadyrank as sr

WIDE = "model,nq,fiqa,scifact,arguana,touche,covid,quora\n" + "\n".join(
    f"m{i}," + ",".join(f"{0.9 - 0.2 * i + 0.01 * ((i + 3 * k) % 5):.3f}" for k in range(7))
    for i in range(3)
)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "beir.csv"
    path.write_text(WIDE + "\n")
    return path


@pytest.fixture
def track(tmp_path):
    made = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=12, depth=30, pool_depth=15)
    made.write(tmp_path / "one")
    made.write(tmp_path / "two")
    return tmp_path


def test_a_table_in_every_format(capsys, table):
    shown = answered(capsys, "datasets", table, "--format", "json")
    assert shown["could_be_first"] == ["m0"]
    assert [row["rank_set"] for row in shown["runs"]] == [[1, 1], [2, 2], [3, 3]]
    _, out, _ = call(capsys, "datasets", table, "--format", "csv")
    assert out.splitlines()[0].startswith("run,value,interval_low,interval_high,rank,")
    _, out, _ = call(capsys, "datasets", table, "--aggregate", "borda")
    assert "With 95% confidence m0 is the best of these runs." in out


def test_types_pairs_and_a_figure(capsys, table, tmp_path):
    info = tmp_path / "types.csv"
    names = ["nq", "fiqa", "scifact", "arguana", "touche", "covid", "quora"]
    info.write_text("dataset,type\n" + "\n".join(f"{n},{n[:1]}" for n in names) + "\n")
    picture = tmp_path / "ranks.svg"
    code, out, err = call(
        capsys,
        *("datasets", table, "--datasets", info, "--drawn", "types", "--a", "m0", "--b", "m2"),
        *("--plot", picture),
    )
    assert (code, err) == (0, "")
    assert "m0 − m2" in out
    assert picture.read_text().startswith("<?xml")


def test_collections_are_evaluated(capsys, track):
    given = [f"{n}={track}/{n}/qrels.txt,{track}/{n}/runs" for n in ("one", "two")]
    shown = answered(
        capsys,
        *("datasets", "--collection", given[0], "--collection", given[1], "-m", "AP"),
        *("--drawn", "topics", "--format", "json", "--samples", "200", "--quiet"),
    )
    runs, qrels = str(track / "one" / "runs"), str(track / "one" / "qrels.txt")
    means = sr.evaluate(runs, qrels, "AP").mean()[0]
    assert sorted(row["value"] for row in shown["runs"]) == pytest.approx(np.sort(means))
    assert shown["datasets"] == ["one", "two"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give either TABLE... or --collection"),
        (("--collection", "x"), "--collection x: write NAME=QRELS,RUNS"),
        (("missing.csv",), "missing.csv"),
        (("{table}", "--drawn", "topics"), "--drawn topics requires scores per topic"),
        (("{table}", "--drawn", "types"), "give --datasets FILE"),
        (("{table}", "--a", "m0"), "name both --a RUN and --b RUN"),
    ],
)
def test_what_is_wrong_is_said_in_options(capsys, table, arguments, message):
    asked = [part.format(table=table) for part in arguments]
    assert message in refused(capsys, "datasets", *asked)


def test_the_page_of_a_leaderboard(capsys, table, tmp_path, drawn_nowhere):
    page = tmp_path / "page.html"
    code, out, err = call(capsys, "report", "--datasets", table, "--out", page, "--quiet")
    assert (code, err) == (0, "")
    assert out.startswith("m0 leads; with 95% confidence no other of the 3 runs could be first.")
    text = page.read_text("utf-8")
    assert "dataset-leaderboard" in text
    assert "3 runs · 7 datasets" in text
    assert "requires scores per topic; a table of scores per dataset was given" in text
    err = refused(capsys, "report", "q.txt", "r.txt", "--datasets", table, "--out", page)
    assert "not both" in err

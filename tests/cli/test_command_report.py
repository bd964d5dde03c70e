"""The `report` command as people and programs call it."""

from __future__ import annotations

import json
import re
import shlex

import numpy as np
import pytest
from commanding import call, refused

import steadyrank as sr

QUICK = ("--samples", "30", "--quiet")


@pytest.fixture(scope="module")
def track(tmp_path_factory):
    """A small track in a folder of its own, as people have theirs."""
    root = tmp_path_factory.mktemp("track")
    made = sr.simulated_track(n_teams=4, runs_per_team=1, n_topics=26, depth=40, pool_depth=20)
    (root / "runs").mkdir()
    for run in made.runs:
        sr.write_run(run, root / "runs" / f"{run.name}.run")
    sr.write_qrels(made.complete, root / "qrels.txt")
    return root


pytestmark = pytest.mark.usefixtures("drawn_nowhere")


@pytest.fixture
def scores(tmp_path):
    rng = np.random.default_rng(0)
    values = rng.random((2, 5, 30)) * 0.2 + rng.random((5, 1)) * 0.3 + rng.random(30) * 0.3
    made = sr.Scores(measures=("AP", "RR"), runs=list("abcde"), topics=range(30), values=values)
    sr.write_scores(made, tmp_path / "scores.csv")
    sr.write_scores(made.select(measures="AP"), tmp_path / "ap.csv", wide=True)
    sr.write_scores(made.select(measures="RR"), tmp_path / "rr.csv", wide=True)
    return made


def test_the_page_is_written_and_the_findings_are_printed(capsys, track, tmp_path, monkeypatch):
    monkeypatch.chdir(track)
    out = tmp_path / "page.html"
    code, printed, err = call(
        capsys, "report", "qrels.txt", "runs", "--team-from", "^(team.)", "--out", out, *QUICK
    )
    assert (code, err) == (0, "")
    assert out.read_text("utf-8").startswith("<!DOCTYPE html>")
    lines = printed.splitlines()
    assert " leads" in lines[0]
    assert re.match(r"team\d-s\d 0\.\d{3}, team\d-s\d 0\.\d{3}: ", lines[1])
    assert lines[-1] == f"The page: {out}"
    assert list(tmp_path.iterdir()) == [out]


def test_json_says_what_was_done(capsys, track, tmp_path):
    code, printed, _ = call(
        capsys,
        *("report", track / "qrels.txt", track / "runs", "--out", tmp_path / "r.html"),
        *("--format", "json"),
        *QUICK,
    )
    shown = json.loads(printed)
    assert code == 0
    keys = ["out", "findings", "studies", "n_samples", "left_out", "command", "version"]
    assert list(shown) == keys
    assert shown["version"] == sr.__version__
    assert shown["n_samples"] == {"topics": 30, "simulate": 30, "holes": 30}
    assert "agree" in shown["left_out"]
    assert shown["studies"] == [
        *("evaluate", "check", "compare", "stability", "plan", "topics", "simulate", "holes")
    ]


def test_the_command_on_the_page_makes_the_same_bytes(capsys, track, tmp_path, monkeypatch):
    monkeypatch.chdir(track)
    first = (
        *("report", "qrels.txt", "runs/team1-s1.run", "runs/team2-s1.run", "runs/team3-s1.run"),
        *("-m", "AP", "-m", "P@5", "--out"),
        tmp_path / "a.html",
        *("--alpha", "0.1", "--seed", "7", "--title", "it's mine; rm *", "--system-from"),
        "^(team.)",
    )
    call(capsys, *first, *QUICK, "--jobs", 1)
    code, printed, _ = call(capsys, *first, *QUICK, "--format", "json")
    command = json.loads(printed)["command"]
    assert code == 0
    assert "--quiet" not in command
    assert "--jobs" not in command
    words = shlex.split(command)
    assert words[:2] == ["steadyrank", "report"]
    assert words[-2:] == ["--out", "report.html"]
    code, _, _ = call(capsys, *words[1:-1], tmp_path / "b.html", "--quiet", "--jobs", 2)
    assert code == 0
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_what_is_planned_is_told_before_it_starts(capsys, scores, tmp_path):
    code, _, err = call(
        capsys,
        *("report", "--scores", tmp_path / "scores.csv", "--out", tmp_path / "r.html"),
        *("--budget", "90s"),
    )
    assert code == 0
    assert "studies (for a budget of 90 s): compare" in err
    assert "topics (10,000 splits)" in err
    assert "omitted (the page says why): simulate, instances, components, pools" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--budget", "soon"), "--budget must be a time such as 45s"),
        (("--samples", "1"), "'--samples'"),
        (("--alpha", "2"), "'--alpha'"),
        (("--delta", "-1"), "delta"),
        (("--out", "nowhere/r.html"), "the folder nowhere does not exist"),
        (("-o", "nowhere/r.txt"), "the folder nowhere does not exist"),
        (("-m", "AP=x.csv"), "either --scores FILE or -m NAME=FILE"),
        (("-m", "nDGC"), "unknown measure 'nDGC'"),
        (("qrels.txt", "a.run"), "either QRELS RUN... or scores"),
        (("--run-info", "nothing.csv"), "'--run-info'"),
        (("--factors", "stemmer"), "there is no column 'stemmer' in the run information"),
        (("--jobs", "0"), "'--jobs'"),
    ],
)
def test_bad_input_is_one_line_and_code_2(
    capsys, scores, tmp_path, monkeypatch, arguments, message
):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    assert message in refused(capsys, "report", "--scores", "scores.csv", *QUICK, *arguments)
    assert sorted(tmp_path.iterdir()) == before


def test_one_run_or_none_is_refused(capsys, track, tmp_path):
    out = ("--out", tmp_path / "r.html")
    assert "at least two RUNs" in refused(capsys, "report", track / "qrels.txt", *out)
    one = track / "runs" / "team1-s1.run"
    err = refused(capsys, "report", track / "qrels.txt", one, *out)
    assert "at least two are required, got 1" in err
    assert "-m AP names no file" in refused(capsys, "report", "-m", "AP", "-m", f"RR={one}", *out)


def test_other_settings_of_a_store_are_refused(capsys, track, tmp_path):
    given = (
        *("report", track / "qrels.txt", track / "runs", "--out", tmp_path / "r.html", "--store"),
        tmp_path / "store",
        *QUICK,
    )
    assert call(capsys, *given)[0] == 0
    assert (tmp_path / "store" / "simulate" / "settings.json").exists()
    (tmp_path / "r.html").unlink()
    assert "was made with different settings" in refused(capsys, *given, "--seed", 5)
    assert not (tmp_path / "r.html").exists()

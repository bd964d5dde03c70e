"""The `pools` command as people and programs call it."""

from __future__ import annotations

import csv
import io

import pytest
from commanding import answered, call, refused

import steadyrank as sr

N_TEAMS, N_TOPICS = 4, 10
ASKED = ("--minimum-difference", ".15", "--systems", "10")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small track as files, with run information."""
    root = tmp_path_factory.mktemp("track")
    track = sr.simulated_track(
        n_teams=N_TEAMS, runs_per_team=2, n_topics=N_TOPICS, depth=40, pool_depth=10
    )
    track.write(root)
    return root


@pytest.fixture(scope="module")
def files(folder):
    return (folder / "qrels.txt", folder / "runs", "--run-info", folder / "run-info.csv")


def test_json_has_the_promised_keys(capsys, files, folder):
    options = ("-m", "AP", "-m", "nDCG@10", "--pilot-topics", "10,5", *ASKED)
    shown = answered(capsys, "pools", *files, *options, "--quiet", "--format", "json")
    assert (shown["n_teams"], shown["measures"]) == (N_TEAMS, ["AP", "nDCG@10"])
    cells = {(row["measure"], row["k"], row["pilot_topics"]): row for row in shown["leave_out"]}
    assert set(cells) == {
        (measure, k, size)
        for measure in ("AP", "nDCG@10")
        for k in range(N_TEAMS)
        for size in (10, 5)
    }
    keys = {
        *("measure", "k", "pilot_topics", "variances", "mean", "interval", "quantiles"),
        "topics_needed",
    }
    for row in cells.values():
        assert keys <= set(row)
        assert row["mean"] == pytest.approx(sum(row["variances"]) / len(row["variances"]))
        assert isinstance(row["topics_needed"], int)
    assert cells["AP", 0, 10]["interval"] is None
    assert len(cells["AP", 0, 10]["variances"]) == 1
    assert len(cells["AP", 0, 5]["variances"]) == 10
    assert cells["AP", 1, 10]["interval"] is None, "sets of teams are no sample"
    low, high = cells["AP", 1, 10]["range"]
    assert low == min(cells["AP", 1, 10]["variances"]) < cells["AP", 1, 10]["mean"] < high
    assert shown["references"][0]["first_miss"] == []
    assert len(cells["AP", 1, 10]["variances"]) == N_TEAMS, "all there are"
    assert [row["run"] for row in shown["pool_bias"][:2]] == ["team1-s1", "team1-s2"]
    track_runs = sr.read_runs(folder / "runs", run_info=folder / "run-info.csv")
    found = sr.pools(
        track_runs,
        sr.read_qrels(folder / "qrels.txt"),
        measures=["AP", "nDCG@10"],
        pilot_topics=[10, 5],
    )
    assert tuple(cells["nDCG@10", 2, 5]["variances"]) == found.cell("nDCG@10", 2, 5).variances


def test_csv_has_a_row_a_cell(capsys, files):
    options = ("-m", "AP", "-m", "RR", *ASKED, "--quiet", "--format", "csv")
    code, out, _ = call(capsys, "pools", *files, *options)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0
    assert [(row["measure"], row["k"]) for row in rows] == [
        (measure, str(k)) for measure in ("AP", "RR") for k in range(N_TEAMS)
    ]
    assert rows[0]["range_low"] == rows[1]["interval_low"] == ""
    assert float(rows[1]["range_low"]) < float(rows[1]["mean"])
    assert int(rows[1]["topics_needed"]) > 0
    assert float(rows[1]["quantile_0.025"]) <= float(rows[1]["quantile_0.5"])


def test_teams_by_name(capsys, files, folder):
    by_name = (folder / "qrels.txt", folder / "runs", "--team-from", "^([^-]+)-")
    quiet = ("--quiet", "--format", "json")
    assert call(capsys, "pools", *by_name, *quiet) == call(capsys, "pools", *files, *quiet)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--ks", "4"), "at most 3 of 4 teams can be left out, got 4"),
        (("--ks", "0"), "--ks must be whole numbers of at least 1, got 0"),
        (("--ks", "one"), "--ks one: give whole numbers separated by commas"),
        (("--pool-depth", "0"), "--pool-depth must be a whole number of at least 1, got 0"),
        (("--trials", "0"), "--trials must be whole numbers of at least 1, got 0"),
        (
            ("--pilot-topics", "50"),
            "at most 10 pilot topics are possible, the topics of the qrels, got 50",
        ),
        (("-m", "APP"), "unknown measure 'APP': did you mean 'AP'?"),
        (("-m", "AP=scores.csv"), "give QRELS RUN... instead of scores"),
        (("--scores", "scores.csv"), "give QRELS RUN... instead of scores"),
        (("--minimum-difference", ".1"), "specify the number of systems that ANOVA will compare"),
        (("--minimum-difference", "0", "--systems", "3"), "--minimum-difference must be a number"),
        (("--alpha", "1"), "alpha must lie strictly between 0 and 1"),
    ],
)
def test_bad_input_is_one_line_and_code_2(capsys, files, arguments, message):
    assert message in refused(capsys, "pools", *files, "--quiet", *arguments)


def test_runs_without_teams_say_how_to_give_them(capsys, folder):
    err = refused(capsys, "pools", folder / "qrels.txt", folder / "runs", "--quiet")
    assert "no run has a team" in err
    assert "run-info FILE" in err
    assert "team-from REGEX" in err
    one = ("--team-from", "^(team)")
    err = refused(capsys, "pools", folder / "qrels.txt", folder / "runs", *one, "--quiet")
    assert "all runs are of one team, 'team': leaving out teams requires at least two" in err

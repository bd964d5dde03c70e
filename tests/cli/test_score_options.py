"""What the commands that take scores make of `--scores`, `-m NAME=FILE` and `--run-info`."""

from __future__ import annotations

import json

import numpy as np
import pytest
from commanding import call, refused

import steadyrank as sr
from steadyrank.cli import commands

STUDIES = {
    "agree": ("--samples", "5", "--topic-sizes", "5", "--system-sizes", "3"),
    "compare": (),
    "evaluate": (),
    "instances": ("--system-from", "^(.)", "--no-posterior"),
    "judges": ("--judge-scores", "same=whole.csv", "--samples", "50"),
    "plan": ("--minimum-difference", "0.1", "--systems", "3"),
    "report": ("--samples", "5"),
    "stability": (),
    "topics": ("--trials", "20"),
}
"""Every command that reads scores without asking for more."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The same scores of 6 runs on 24 topics whole, without topics, and in halves."""
    monkeypatch.chdir(tmp_path)
    values = np.random.default_rng(0).random((1, 6, 24)).round(4) * np.linspace(0.3, 1, 6)[:, None]
    runs = ["a1", "a2", "a3", "b1", "b2", "b3"]
    scores = sr.Scores(measures=("AP",), runs=runs, topics=range(1, 25), values=values)
    sr.write_scores(scores, tmp_path / "whole.csv", wide=True)
    lines = (tmp_path / "whole.csv").read_text().splitlines()
    bare = [line.partition(",")[2] for line in lines]
    (tmp_path / "bare.csv").write_text("\n".join(bare) + "\n")
    (tmp_path / "early.csv").write_text("\n".join(lines[:13]) + "\n")
    (tmp_path / "late.csv").write_text("\n".join([lines[0], *lines[13:]]) + "\n")
    other = sr.Scores(measures=("RR",), runs=runs, topics=range(1, 25), values=values**0.5)
    sr.write_scores(other, tmp_path / "rr.csv", wide=True)
    return tmp_path


def test_every_command_with_scores_is_tried_here():
    from click.testing import CliRunner

    from steadyrank.cli import group

    joining = [
        name
        for name in commands()
        if "repeat to join" in " ".join(CliRunner().invoke(group, [name, "--help"]).output.split())
    ]
    assert set(joining) == {*STUDIES, "components"}, "which needs more data"


def printed(capsys, *arguments):
    code, out, err = call(capsys, *arguments, "--format", "json")
    assert code == 0, err
    shown = json.loads(out)
    shown.pop("meta", None)  # which files scores come from
    return shown, err


@pytest.mark.parametrize("name", STUDIES)
def test_a_matrix_without_topics_is_refused(capsys, folder, name):
    err = refused(capsys, name, "--scores", folder / "bare.csv", *STUDIES[name])
    assert "the first heading, 'a1', does not say what the rows are" in err


@pytest.mark.parametrize("name", [name for name in STUDIES if name not in ("agree", "report")])
def test_two_score_files_are_joined(capsys, folder, name):
    whole, _ = printed(capsys, name, "--scores", folder / "whole.csv", *STUDIES[name])
    halves = ("--scores", folder / "early.csv", "--scores", folder / "late.csv")
    assert printed(capsys, name, *halves, *STUDIES[name])[0] == whole


@pytest.mark.parametrize("name", STUDIES)
def test_two_measures_without_names_are_refused(capsys, folder, name):
    both = ("--scores", folder / "whole.csv", "--scores", folder / "rr.csv")
    err = refused(capsys, name, *both, *STUDIES[name])
    assert "disagree about score / a1 / 1: if the files hold different measures" in err


@pytest.mark.parametrize("name", STUDIES)
def test_two_files_of_one_measure_name_are_refused(capsys, folder, name):
    err = refused(
        capsys, name, "-m", f"AP={folder / 'early.csv'}", "-m", f"AP={folder / 'late.csv'}"
    )
    assert f"-m AP names two files: join them with --scores {folder / 'early.csv'} --scores" in err


@pytest.mark.parametrize(
    ("option", "values"), [("--team-from", ("^(.)", "(.)$")), ("--system-from", ("^(.)", "(.)$"))]
)
def test_what_describes_the_runs_is_given_once(capsys, folder, option, values):
    twice = [word for value in values for word in (option, value)]
    err = refused(capsys, "compare", "--scores", folder / "whole.csv", *twice)
    assert f"{option} takes one value, got ^(.), (.)$: give it once" in err


def test_a_report_names_all_score_files_and_how_to_make_it_again(capsys, folder, drawn_nowhere):
    page = folder / "r.html"
    halves = ("--scores", folder / "early.csv", "--scores", folder / "late.csv")
    told, _ = printed(capsys, "report", *halves, "--samples", "5", "--out", page)
    assert f"--scores {folder / 'early.csv'} --scores {folder / 'late.csv'}" in told["command"]
    text = page.read_text()
    assert "6 runs · 24 topics" in text
    assert "early.csv" in text
    assert "late.csv" in text


@pytest.fixture
def gaps(folder):
    """whole.csv with the first run empty on 6 of 24 topics."""
    lines = (folder / "whole.csv").read_text().splitlines()
    rows = [line.split(",") for line in lines]
    for row in rows[1:7]:
        row[1] = ""
    (folder / "gaps.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    return folder


def test_missing_is_about_empty_cells_of_score_files_too(gaps, capsys):
    """Left out by default, 0 or an error where that is typed."""
    common = ("compare", "--scores", "gaps.csv", "--format", "json", "--quiet")
    known = sr.read_scores(gaps / "gaps.csv").values[0, 0]
    for options, mean, n in (((), np.nanmean(known), 18), (("--missing", "zero"), None, 24)):
        code, out, _ = call(capsys, *common, *options)
        assert code == 0
        pair = json.loads(out)["pairs"][0]
        assert (pair["a"], pair["n"]) == ("a1", n)
        expected = np.nan_to_num(known).mean() if mean is None else mean
        assert pair["mean_a"] == pytest.approx(expected)
    _, _, err = call(capsys, *common[:-1], "--missing", "zero")
    assert "1 run lacks scores on some topics ('a1' lacks 6 of 24): it scores 0 there" in err
    err = refused(capsys, *common, "--missing", "error")
    assert "1 run lacks scores on some topics ('a1' lacks 6 of 24): complete it, or" in err


def test_missing_is_about_scores_of_judges_and_no_option_of_a_report_is_silent(gaps, capsys):
    judges = (
        *("judges", "--scores", "gaps.csv", "--judge-scores", "same=whole.csv", "--samples", "50"),
    )
    assert "'a1' lacks 6 of 24" in refused(capsys, *judges, "--missing", "error")
    err = refused(capsys, "report", "--scores", "gaps.csv", "--missing", "zero")
    assert "evaluate --scores FILE --missing zero" in err


def test_gate_counts_empty_cells_as_it_is_told(gaps, capsys):
    names = ("gate", "--scores", "gaps.csv", "a2", "a1", "--margin", ".01", "--quiet")
    assert "--missing zero" in refused(capsys, *names)
    shown = [
        call(capsys, *names, "--missing", way, "--format", "json")[1] for way in ("zero", "skip")
    ]
    assert [json.loads(out)["measures"][0]["n_topics"] for out in shown] == [24, 18]

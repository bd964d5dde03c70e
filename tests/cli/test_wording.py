"""Errors and warnings of a command speak of its options; those of the library speak Python."""

from __future__ import annotations

import pickle

import click
import pytest
from commanding import call, refused

import steadyrank as sr
from steadyrank.cli import group
from steadyrank.cli.command import in_options
from steadyrank.errors import arg

LINE = "1 Q0 {document} 1 {score} twin\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Judgments and two runs that bear one name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text("1 0 d1 1\n1 0 d2 0\n")
    for name in ("a", "b"):
        (tmp_path / f"{name}.run").write_text(LINE.format(document="d1", score=1))
    return tmp_path


def command_of(name):
    return group.get_command(click.Context(group), name)


def test_two_runs_of_one_name_are_named_by_their_files(capsys, folder):
    code, out, err = call(capsys, "evaluate", "qrels.txt", "a.run", "b.run")
    assert code == 0
    assert "2 runs have the same names as others (first 'twin', of a.run and b.run)" in err
    assert "a.run" in out
    code, out, err = call(capsys, "check", "qrels.txt", "a.run", "b.run")
    assert code == 0
    assert "2 runs share their names with others, so that files name them (a.run and b.run)" in out


def test_runs_without_systems_are_told_both_options(capsys, folder):
    scores = sr.Scores(measures=["AP"], runs=["x", "y"], topics=[1, 2], values=[[[1, 0], [0, 1]]])
    sr.write_scores(scores, "scores.csv")
    err = refused(capsys, "instances", "--scores", "scores.csv")
    assert "with a column system (--run-info FILE), or a pattern" in err
    assert "(--system-from REGEX)" in err
    with pytest.raises(sr.InputError, match=r"\(run_info=\).*\(system_from=\)"):
        sr.instances(scores)


def test_a_warning_is_told_the_option(capsys, folder):
    (folder / "flat.run").write_text("1 Q0 d1 1 5 flat\n1 Q0 d2 2 5 flat\n")
    arguments = ("simulate", "qrels.txt", "flat.run", "a.run", "--samples", "5")
    code, _, err = call(capsys, *arguments)
    assert code == 0
    assert "use ranks instead of scores with --score-source rank" in err


@pytest.mark.parametrize(
    ("command", "marked", "python", "option"),
    [
        ("pools", arg("alpha"), "alpha", "--alpha"),
        ("pools", arg("n_trials"), "n_trials", "--trials"),
        ("compare", arg("mode", "paper"), 'mode="paper"', "--mode paper"),
        ("compare", arg("run_info="), "run_info=", "--run-info FILE"),
        ("compare", arg("top_shards="), "top_shards=", "top_shards="),
        ("compare", "run_info= of a run", "run_info= of a run", "run_info= of a run"),
    ],
)
def test_marked_parameters_become_options(command, marked, python, option):
    for kind in (sr.InputError, sr.MachineError, sr.SteadyrankWarning):
        told = pickle.loads(pickle.dumps(kind(f"set {marked}!", code="value")))
        assert (str(told), told.code) == (f"set {python}!", "value")
        assert in_options(told, command_of(command)) == f"set {option}!"
        assert "\x1f" not in repr(told)


def test_an_error_says_which_parameter_it_is_about():
    track = sr.simulated_track(n_teams=2, runs_per_team=1, n_topics=5, depth=10, pool_depth=5)
    with pytest.raises(sr.InputError) as caught:
        sr.simulate(track.runs, track.qrels, n_samples=0)
    assert (caught.value.code, caught.value.parameter) == ("value", "n_samples")
    with pytest.raises(sr.UnknownNameError) as unknown:
        sr.parse_measure("nDGC")
    assert (unknown.value.code, unknown.value.parameter) == ("unknown-name", None)
    error = sr.FormatError("a.run", f"give {arg('name=')}", line=3)
    again = pickle.loads(pickle.dumps(error))
    assert (again.path, again.line, again.parameter, again.code) == ("a.run", 3, "name", "format")
    assert str(again) == "a.run:3: give name="

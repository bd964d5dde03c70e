"""Errors and warnings of a command speak of its options; those of the library speak Python."""

from __future__ import annotations

import click
import pytest
from commanding import call

import steadyrank as sr
from steadyrank.cli import COMMANDS, group
from steadyrank.cli.command import in_options

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
    code, _, err = call(capsys, "instances", "--scores", "scores.csv")
    assert code == 2
    assert "with a column system (--run-info FILE), or a pattern" in err
    assert "(--system-from REGEX)" in err
    with pytest.raises(sr.InputError, match=r"\(run_info=\).*\(system_from=\)"):
        sr.instances(scores)


def test_a_document_twice_is_told_the_option(capsys, folder):
    twice = LINE.format(document="d1", score=1) + LINE.format(document="d1", score=2)
    (folder / "twice.run").write_text(twice)
    code, _, err = call(capsys, "evaluate", "qrels.txt", "twice.run")
    assert code == 2
    assert "keep the first (--duplicates first) or the best (--duplicates best)" in err


def test_a_warning_is_told_the_option(capsys, folder):
    (folder / "flat.run").write_text("1 Q0 d1 1 5 flat\n1 Q0 d2 2 5 flat\n")
    arguments = ("simulate", "qrels.txt", "flat.run", "a.run", "--samples", "5")
    code, _, err = call(capsys, *arguments)
    assert code == 0
    assert "use ranks in place of scores with --score-source rank" in err


@pytest.mark.parametrize(
    ("command", "message", "told"),
    [
        ("pools", "alpha must lie below 1", "--alpha must lie below 1"),
        ("pools", "n_trials: expected whole numbers", "--trials: expected whole numbers"),
        ("pools", "ks: expected whole numbers", "--ks: expected whole numbers"),
        ("agree", "n_samples must be 2 or more", "--samples must be 2 or more"),
        ("shard", "cannot search 9 shards: lower top_shards.", "cannot search 9 shards: lower "),
        ("compare", 'take mode="paper".', "take --mode paper."),
        ("compare", "give run_info=, or run_info= again", "give --run-info FILE, or --run-info "),
    ],
)
def test_parameters_become_options(command, message, told):
    words = in_options(message, command_of(command))
    assert words.startswith(told)
    assert "_" not in words


@pytest.mark.parametrize(
    "message",
    [
        "run_info.csv: no column run",
        "data/run_info: no such file",
        "unknown run 'run_info'",
        "topics 1 and 2 have no scores",
        "first: mode=fast, level=2 instead of 3",
        "unknown measure 'AP(rel=2)'",
    ],
)
@pytest.mark.parametrize("name", ["components", "instances", "report"])
def test_what_the_user_named_stays(name, message):
    assert in_options(message, command_of(name)) == message


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_one_name(name):
    options = [option for option in command_of(name).params if isinstance(option, click.Option)]
    names = [option.name for option in options]
    assert len(names) == len(set(names))

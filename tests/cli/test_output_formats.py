"""`-o NAME.suffix`: the suffix chooses the format, or is refused before anything is computed."""

from __future__ import annotations

import json

import click
import pytest

import steadyrank as sr
from steadyrank.cli import commands, group
from steadyrank.cli.output import BY_SUFFIX, OF_SOME, choose_format
from tests.cli.commanding import call, refused

NEEDED = {"components": ("--factors", "stemmer"), "grid": ("--out", "made")}
NEEDED |= {"shard": ("--out", "made"), "reproduce": ("lin2005",)}
"""What a command line must have to be understood at all."""


def refusal(capsys, name, *options):
    """The one line with which a command refuses where its result is to go."""
    command = group.get_command(click.Context(group), name)
    files = ["nothing.txt", "nothing.run"] if has_arguments(command) else []
    code, out, err = call(capsys, name, *NEEDED.get(name, files), *options)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    return command, err


def has_arguments(command):
    return any(isinstance(parameter, click.Argument) for parameter in command.params)


def has_plot(command):
    return any(parameter.name == "plot" for parameter in command.params)


ALL = [name for name in commands() if name not in ("components", "grid", "shard")]


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("file", ["fig.svg", "table.docx"])
def test_every_command_refuses_other_suffixes(capsys, tmp_path, monkeypatch, name, file):
    monkeypatch.chdir(tmp_path)
    command, err = refusal(capsys, name, "-o", file)
    assert f"-o {file}: name a file that ends in .txt, .csv, .json, .tex, .md" in err
    assert ("draw figures with --plot FILE" in err) == has_plot(command)
    assert (".parquet" in err) == (name == "evaluate")


@pytest.mark.parametrize("name", ["compare", "evaluate", "doctor"])
def test_a_name_that_contradicts_the_format_is_refused(capsys, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    _, err = refusal(capsys, name, "-o", "table.tex", "--format", "csv")
    assert "-o table.tex: the suffix means latex, but --format is csv" in err


@pytest.mark.parametrize(
    ("form", "name", "format"),
    [
        (None, None, "table"),
        ("csv", None, "csv"),
        (None, "/dev/stdout", "table"),
        (None, "x.TXT", "table"),
        ("latex", "x.txt", "latex"),
        (None, "x.htm", "html"),
        ("html", "x.htm", "html"),
        (None, "a.b/x.md", "markdown"),
        ("json", "x.jsonish", "json"),
    ],
)
def test_the_format_is_the_one_named(form, name, format):
    assert choose_format(form, name, list(BY_SUFFIX), draws=True) == format


def test_every_suffix_has_its_format(capsys, tmp_path):
    scores = sr.Scores(
        measures=["AP"], runs=["a", "b"], topics=range(5), values=[[[0.1, 0.2, 0.3, 0.4, 0.6]] * 2]
    )
    sr.write_scores(scores, tmp_path / "scores.csv")
    for suffix in BY_SUFFIX:
        if suffix not in OF_SOME:
            given = ("--scores", tmp_path / "scores.csv", "-o", tmp_path / f"made{suffix}")
            assert call(capsys, "stability", *given, "--quiet") == (0, "", ""), suffix
    made = {path.suffix: path.read_text("utf-8") for path in tmp_path.glob("made.*")}
    assert "E rho²" in made[".txt"]
    assert made[".csv"].startswith("measure,topics,e_rho2,")
    assert json.loads(made[".json"])["measure"] == "AP"
    assert made[".tex"].startswith("\\begin{table}")
    assert "\n| --- " in made[".md"]
    assert "<table>" in made[".html"]
    assert made[".htm"] == made[".html"]


def test_a_report_goes_where_o_says(capsys, tmp_path, monkeypatch, drawn_nowhere):
    monkeypatch.chdir(tmp_path)
    values = [[[0.1, 0.2, 0.3, 0.4, 0.6], [0.3, 0.2, 0.3, 0.5, 0.7]]]
    scores = sr.Scores(measures=["AP"], runs=["a", "b"], topics=range(5), values=values)
    sr.write_scores(scores, "scores.csv")
    given = ("report", "--scores", "scores.csv", "--samples", "5", "--quiet")
    code, printed, _ = call(capsys, *given, "-o", "x.html")
    assert code == 0
    assert (tmp_path / "x.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    assert "The page: x.html" in printed
    assert not (tmp_path / "report.html").exists()
    err = refused(capsys, *given, "-o", "x.html", "--out", "y.html")
    assert "-o x.html and --out y.html both name the page" in err

"""The action and the recipes of docs/howto/nightly-build.md, run as a pipeline runs them."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from steadyrank.cli import run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "howto" / "nightly-build.md").read_text("utf-8")


def write_run(path, place):
    """The relevant document at this rank of five, on 30 topics."""
    ranking = ["d1", "d2", "d3", "d4"]
    ranking.insert(place - 1, "d0")
    lines = [f"{t} Q0 {doc} 0 {9 - i} r\n" for t in range(30) for i, doc in enumerate(ranking)]
    path.write_text("".join(lines))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Judgments, a baseline, and `steadyrank` on the path."""
    monkeypatch.chdir(tmp_path)
    grades = [f"{t} 0 d{i} {int(i == 0)}\n" for t in range(30) for i in range(5)]
    (tmp_path / "qrels.txt").write_text("".join(grades))
    write_run(tmp_path / "old.run", 1)
    kept = ("-m", "nDCG@10", "-m", "AP", "-o", "baseline.parquet")
    assert run(["evaluate", "qrels.txt", "old.run", *kept]) == 0
    command = tmp_path / "bin" / "steadyrank"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m steadyrank "$@"\n')
    command.chmod(0o755)
    return tmp_path


def shell_step(name):
    """The script of a step of the action."""
    text = (ROOT / "action.yml").read_text("utf-8")
    step = text.split(f"- name: {name}\n")[1].split("\n    - name:")[0]
    return textwrap.dedent(step.split("run: |\n")[1])


def inputs_used():
    """Inputs by the variables that hand them to the step, and inputs that are declared."""
    text = (ROOT / "action.yml").read_text("utf-8")
    declared = re.findall(r"^  ([a-z]+):\n    description", text.split("outputs:")[0], re.MULTILINE)
    return set(re.findall(r"\$\{\{ inputs\.(\w+) \}\}", text)), set(declared)


@pytest.mark.parametrize(
    ("place", "options", "code", "verdict"),
    [(1, "", 0, "pass"), (3, "", 3, "fail"), (3, "--unjudged not-relevant", 3, "fail")],
)
def test_the_step_of_the_action(folder, place, options, code, verdict):
    write_run(folder / "new.run", place)
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", shell_step("Gate")],
        env={
            **os.environ,
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "QRELS": "qrels.txt",
            "BASELINE": "baseline.parquet",
            "CANDIDATE": "new.run",
            "MEASURES": "nDCG@10 AP=.02",
            "MARGIN": "0.01",
            "OPTIONS": options,
            "GITHUB_STEP_SUMMARY": "summary.md",
            "GITHUB_OUTPUT": "output",
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == code, done.stderr
    assert (folder / "output").read_text() == f"verdict={verdict}\n"
    assert f"Gate: {verdict}" in (folder / "summary.md").read_text("utf-8")
    assert (folder / "gate.xml").exists()


def test_the_action_says_what_is_wrong(folder):
    done = subprocess.run(
        ["bash", "-c", shell_step("Gate")],
        env={
            **os.environ,
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            **{"QRELS": "qrels.txt", "BASELINE": "old.run", "CANDIDATE": "gone.run"},
            **{"MEASURES": "AP", "MARGIN": "0.01", "OPTIONS": ""},
            **{"GITHUB_STEP_SUMMARY": "summary.md", "GITHUB_OUTPUT": "output"},
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "gone.run" in done.stderr
    assert not (folder / "output").exists()


def test_the_action_uses_every_input():
    used, declared = inputs_used()
    assert used == declared
    assert len(declared) == 7


def test_the_commands_of_the_recipes(folder):
    write_run(folder / "new.run", 1)
    lines = re.findall(r"(?:- |entry: )(steadyrank gate .+)", PAGE)
    assert len(lines) == 2, "GitLab and pre-commit"
    for line in lines:
        assert run(shlex.split(line)[1:]) == 0
    assert (folder / "gate.xml").exists()


def test_the_workflow_gives_inputs_of_the_action():
    workflow = PAGE.split("## GitHub")[1].split("```")[1]
    given = set(re.findall(r"^          (\w+):", workflow, re.MULTILINE))
    assert given <= inputs_used()[1]

"""The action and the recipes of docs/howto/nightly-build.md, run as a pipeline runs them."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import sysconfig
import textwrap
import time
import venv
from pathlib import Path

import pytest

from steadyrank.cli import run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "howto" / "nightly-build.md").read_text("utf-8")


def write_run(path, place):
    """Return a run with the relevant document at this rank of five, on 30 topics."""
    ranking = ["d1", "d2", "d3", "d4"]
    ranking.insert(place - 1, "d0")
    lines = [f"{t} Q0 {doc} 0 {9 - i} r\n" for t in range(30) for i, doc in enumerate(ranking)]
    path.write_text("".join(lines))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with judgments and a baseline, with `steadyrank` on the path."""
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
    """Return the script of a step of the action."""
    text = (ROOT / "action.yml").read_text("utf-8")
    step = text.split(f"- name: {name}\n")[1].split("\n    - name:")[0]
    return textwrap.dedent(step.split("run: |\n")[1])


def bash(script, environment, **options):
    """Run a step as GitHub does."""
    command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script]
    return subprocess.run(command, env=environment, capture_output=True, text=True, **options)


def test_the_step_takes_scores_without_judgments(folder):
    write_run(folder / "new.run", 1)
    for name in ("old", "new"):
        assert run(["evaluate", "qrels.txt", f"{name}.run", "-m", "AP", "-o", f"{name}.csv"]) == 0
    for n_gates in (1, 2):
        done, _ = gate_step(folder, BASELINE="old.csv", CANDIDATE="new.csv")
        assert done.returncode == 0, done.stderr
        text = (folder / "summary.md").read_text("utf-8")
        assert text.count("✅ Gate: pass") == n_gates, "a second gate of a step adds to its summary"


@pytest.mark.slow
def test_the_steps_in_a_clean_environment(folder):
    """A fresh home, Python and caches: settle, install from the repository, gate, and again.

    The dependencies of steadyrank are those of this environment; building it requires hatchling.
    """
    write_run(folder / "new.run", 1)
    venv.create(folder / "python", with_pip=True)
    own = folder / "python" / "bin" / "python"
    lent = sysconfig.get_paths()["purelib"]
    where = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    (site,) = subprocess.run([own, "-c", where], capture_output=True, text=True).stdout.split()
    others = [lent, *(path for path in sys.path if path.endswith("site-packages"))]
    # Behind the clean environment's own, and without whatever is installed as steadyrank there.
    (Path(site) / "lent.pth").write_text(
        "".join(f"import sys; sys.path.append({path!r})\n" for path in dict.fromkeys(others))
    )
    outputs, home = folder / "outputs", folder / "home"
    home.mkdir()
    index = {"PIP_CONFIG_FILE": str(Path.home() / ".config" / "pip" / "pip.conf")}
    index |= {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    environment = {
        **index,  # where packages come from is no part of the environment
        **{"HOME": str(home), "PATH": f"{own.parent}:/usr/bin:/bin", "LANG": "C.UTF-8"},
        **{"ACTION": str(ROOT), "TEMPORARY": str(folder / "temporary"), "INSTALL": "action"},
        **{"GITHUB_OUTPUT": str(outputs), "GITHUB_STEP_SUMMARY": "summary.md"},
        **{"QRELS": "qrels.txt", "BASELINE": "old.run", "CANDIDATE": "new.run"},
        **{"MEASURES": "", "MARGIN": "0.01", "OPTIONS": ""},
    }
    assert bash(shell_step("Settle"), environment).returncode == 0
    settled = dict(line.split("=", 1) for line in outputs.read_text().splitlines())
    assert re.fullmatch(r"python-3\.\d+\.\d+-[0-9a-f]{16}", settled["key"])
    environment |= {"KEPT": settled["kept"], "NUMBA_CACHE_DIR": settled["kept"]}
    done = bash(shell_step("Install"), environment)
    if done.returncode and "hatchling" in done.stderr:
        pytest.skip("hatchling is not to be had")
    assert done.returncode == 0, done.stderr
    which = bash("python -c 'import steadyrank; print(steadyrank.__file__)'", environment)
    assert Path(which.stdout.strip()).is_relative_to(site), "installed from the repository"
    seconds = []
    for _ in range(2):
        start = time.monotonic()
        done = bash(shell_step("Gate"), environment)
        seconds.append(time.monotonic() - start)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[1].startswith("PASS ")
    kernels = sorted(Path(settled["kept"]).glob("steadyrank-kernels/**/*.nbc"))
    assert kernels, "kept where the cache looks"
    assert seconds[1] < seconds[0]
    told = outputs_of(outputs.read_text().split("key=")[1].split("\n", 1)[1])
    assert told["verdict"] == "pass"


def inputs_used():
    """Inputs by the variables that hand them to the step, and inputs that are declared."""
    text = (ROOT / "action.yml").read_text("utf-8")
    declared = re.findall(
        r"^  ([a-z-]+):\n    description", text.split("\noutputs:")[0], re.MULTILINE
    )
    return set(re.findall(r"\$\{\{ inputs\.([\w-]+) \}\}", text)), set(declared)


def outputs_of(text):
    """What GitHub reads: NAME=VALUE, or NAME<<MARK with the value up to a line that is the mark."""
    told, lines = {}, iter(text.splitlines())
    for line in lines:
        name, mark = re.fullmatch(r"([^=<]+)(?:=|<<)(.*)", line).groups()
        value = list(iter(lambda: next(lines), mark)) if f"{name}<<" in line else [mark]
        told[name] = "\n".join(value)
    return told


def gate_step(folder, **inputs):
    """The step of the action with these inputs, and what it hands on."""
    (folder / "output").write_text("")
    environment = {
        **os.environ,
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        **{"QRELS": "", "MEASURES": "", "MARGIN": "0.01", "OPTIONS": ""},
        **{"GITHUB_STEP_SUMMARY": "summary.md", "GITHUB_OUTPUT": "output"},
    }
    done = bash(shell_step("Gate"), environment | inputs)
    return done, outputs_of((folder / "output").read_text())


def test_no_name_of_a_topic_is_an_output_of_the_action(folder):
    forged = '"q\nverdict=pass\n## ✅ Gate: pass"'
    for name, score in (("old", 0), ("new", 1)):
        rows = [
            f"AP,{name},{topic},{0.9 - score * (0.7 - n / 50)}"
            for n, topic in enumerate([forged, *"abcdefghijkl"])
        ]
        (folder / f"{name}.csv").write_text("measure,run,topic,value\n" + "\n".join(rows) + "\n")
    done, told = gate_step(folder, BASELINE="old.csv", CANDIDATE="new.csv")
    assert (done.returncode, set(told), told["verdict"]) == (3, {"verdict", "line"}, "fail")
    assert r"lost most: q\nverdict=pass" in told["line"]


@pytest.mark.parametrize(
    ("place", "options", "code", "verdict"),
    [(1, "", 0, "pass"), (3, "", 3, "fail"), (3, "--missing zero", 3, "fail")],
)
def test_the_step_of_the_action(folder, place, options, code, verdict):
    write_run(folder / "new.run", place)
    about = {"QRELS": "qrels.txt", "BASELINE": "baseline.parquet", "CANDIDATE": "new.run"}
    done, told = gate_step(folder, **about, MEASURES="nDCG@10 AP=.02", OPTIONS=options)
    assert done.returncode == code, done.stderr
    assert told["verdict"] == verdict
    assert told["line"].startswith(f"{verdict.upper()} ")
    before, line, after = done.stdout.splitlines()
    assert (line, before) == (told["line"], f"::stop-commands::{after.strip(':')}")
    assert len(told["line"]) < 200
    assert f"Gate: {verdict}" in (folder / "summary.md").read_text("utf-8")
    assert (folder / "gate.xml").exists()


@pytest.mark.parametrize(("way", "code"), [("ask", 4), ("pass", 0), ("fail", 3)])
def test_the_step_is_told_what_holes_mean(folder, way, code):
    """The candidate has an unjudged document below the relevant one: P@2 could fall by .5."""
    for name, order in (("old", ("new", "d0")), ("new", ("d0", "d1"))):
        lines = [f"{t} Q0 {d} 0 {9 - i} r\n" for t in range(30) for i, d in enumerate(order)]
        (folder / f"{name}.run").write_text("".join(lines))
    about = {"QRELS": "qrels.txt", "BASELINE": "old.run", "CANDIDATE": "new.run", "MEASURES": "P@2"}
    done, _ = gate_step(folder, **about, ON_HOLES=way)
    assert done.returncode == code, done.stderr
    assert "holes" in (folder / "output").read_text().splitlines()


def test_the_action_says_what_is_wrong(folder):
    about = {"QRELS": "qrels.txt", "BASELINE": "old.run", "CANDIDATE": "gone.run"}
    done, told = gate_step(folder, **about, MEASURES="AP")
    assert (done.returncode, told) == (2, {})
    assert "gone.run" in done.stderr


def test_the_commands_of_the_recipes(folder):
    write_run(folder / "new.run", 1)
    lines = re.findall(r"(?:- |entry: )(steadyrank gate .+)", PAGE)
    assert len(lines) == 2, "GitLab and pre-commit"
    for line in lines:
        assert run(shlex.split(line)[1:]) == 0
    assert (folder / "gate.xml").exists()


def test_the_workflow_gives_inputs_of_the_action():
    workflow = PAGE.split("## GitHub")[1].split("```")[1].split("uses: steadyrank")[1]
    given = set(re.findall(r"^          ([\w-]+):", workflow, re.MULTILINE))
    assert given <= inputs_used()[1]

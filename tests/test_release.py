"""What a release consists of: versions, metadata, workflows, recipe, digests, scripts."""

from __future__ import annotations

import datetime
import importlib.machinery
import importlib.util
import os
import re
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import golden_sums
import pytest
import yaml

import steadyrank

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / ".ci"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
JOBS = [
    pytest.param(workflow, job, id=f"{path.stem}-{name}")
    for path in WORKFLOWS
    for workflow in [yaml.safe_load(path.read_text("utf-8"))]
    for name, job in workflow["jobs"].items()
]


def script(name: str):
    """A script of .ci/ as a module."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(SCRIPTS / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


READY = script("release-ready")


def test_one_version_everywhere():
    assert set(READY.versions().values()) == {steadyrank.__version__}
    assert len(READY.versions()) == 4


def test_what_is_not_ready_is_named(monkeypatch):
    day = READY.dates()["CHANGELOG.md"]
    datetime.date.fromisoformat(day)
    monkeypatch.setattr(READY, "open_addresses", lambda: ["pyproject.toml"])
    said = READY.reasons("v0.0.1", "2001-02-03")
    assert "pyproject.toml: an address ends in .invalid: fill it in" in said
    assert f"CHANGELOG.md: dated {day}, not 2001-02-03" in said
    assert any(line.startswith("the tag is v0.0.1") for line in said)
    monkeypatch.setattr(READY, "open_addresses", list)
    texts = {"CHANGELOG.md": f"## {steadyrank.__version__} (2001-02-03)\n"}
    real = READY.text_of
    monkeypatch.setattr(READY, "text_of", lambda name: texts.get(name) or real(name))
    monkeypatch.setattr(READY, "dates", lambda: {"CHANGELOG.md": "2001-02-03"})
    assert READY.reasons(f"v{steadyrank.__version__}", "2001-02-03") == []


def test_addresses_are_filled_in_everywhere_or_nowhere():
    about = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text("utf-8"))["about"]
    urls = PROJECT["urls"]
    assert {"Homepage", "Documentation", "Source", "Issues", "Changelog"} == set(urls)
    assert about["homepage"] == urls["Homepage"]
    assert about["documentation"] == urls["Documentation"]
    assert about["repository"] == urls["Source"]


def test_the_change_log_has_one_entry_per_version_the_latest_first():
    """The one that is being made has no date yet."""
    log = (ROOT / "CHANGELOG.md").read_text("utf-8")
    versions = re.findall(
        r"^## (\d+)\.(\d+)\.(\d+)(?: \((?:\d{4}-\d\d-\d\d|never published)\))?$", log, re.M
    )
    assert len(versions) == len(re.findall(r"^## ", log, re.M)) == len(set(versions))
    numbers = [tuple(map(int, version)) for version in versions]
    assert numbers == sorted(numbers, reverse=True)


def test_golden_figures_are_those_of_their_digests():
    kept = golden_sums.SUMS.read_text("utf-8")
    assert golden_sums.sums() == kept, (
        "if a golden file was meant to change: python tests/golden_sums.py"
    )
    assert len(kept.splitlines()) > 60


def test_lowest_versions_are_the_bounds():
    kept = (SCRIPTS / "constraints" / "lowest.txt").read_text("utf-8")
    command = "python .ci/pins.py lowest > .ci/constraints/lowest.txt"
    assert script("pins.py").lowest() == kept, command


def test_every_dependency_has_a_newest_version_that_was_tried():
    def pins(name):
        lines = (SCRIPTS / "constraints" / f"{name}.txt").read_text("utf-8").splitlines()
        return dict(line.split("==") for line in lines if not line.startswith("#"))

    def numbers(version):
        return [int(part) for part in re.findall(r"\d+", version)]

    lowest, newest = pins("lowest"), pins("newest")
    assert set(lowest) == set(newest), ".ci/bounds latest"
    assert all(numbers(newest[name]) >= numbers(lowest[name]) for name in lowest)


def conda_name(requirement: str) -> str:
    """`PyStemmer>=2.2` as the recipe has it; conda's matplotlib brings a window system with it."""
    name, bound = re.fullmatch(r"([\w-]+)(>=.*)", requirement).groups()
    return f"{'matplotlib-base' if name == 'matplotlib' else name.lower()} {bound}"


def test_the_recipe_requires_what_the_package_does():
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text("utf-8"))
    python, *others = recipe["requirements"]["run"]
    assert python == "python >=${{ python_min }}"
    assert recipe["context"]["python_min"] == PROJECT["requires-python"].removeprefix(">=")
    assert others == [conda_name(need) for need in PROJECT["dependencies"]]
    (entry,) = recipe["build"]["python"]["entry_points"]
    assert dict([entry.split(" = ")]) == PROJECT["scripts"]
    assert recipe["build"]["noarch"] == "python"
    assert recipe["about"]["license"] == PROJECT["license"]
    assert recipe["about"]["summary"] == PROJECT["description"]
    assert (ROOT / recipe["about"]["license_file"]).exists()


def steps(job):
    return [step for step in job["steps"] if "run" in step]


@pytest.mark.parametrize(("workflow", "job"), JOBS)
def test_every_job_runs_a_script_that_is_here(workflow, job):
    named = [word for step in steps(job) for word in re.findall(r"\.ci/[\w-]+", step["run"])]
    for name in named:
        path = ROOT / name
        assert path.exists(), name
        assert os.name == "nt" or path.stat().st_mode & stat.S_IXUSR, f"chmod +x {name}"
    # Jobs that only publish what another one made run nothing of the repository.
    assert named or not any("checkout" in step.get("uses", "") for step in job["steps"])


@pytest.mark.parametrize(("workflow", "job"), JOBS)
def test_jobs_may_do_little_and_run_what_was_reviewed(workflow, job):
    assert workflow["permissions"] == {"contents": "read"}
    assert job["timeout-minutes"] <= 60
    for step in job["steps"]:
        if "uses" in step:
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step["uses"]), "pin actions to a commit"
        if "actions/checkout@" in step.get("uses", ""):
            assert step["with"]["persist-credentials"] is False
        assert "${{" not in step.get("run", ""), "hand values over as variables"
    writes = {key for key, value in job.get("permissions", {}).items() if value == "write"}
    if "pull-requests" in writes:  # nothing of a pull request may run where comments are written
        assert not any("checkout" in step.get("uses", "") for step in job["steps"])


def test_publishing_needs_an_approved_environment_and_no_password():
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    release = yaml.safe_load(text)["jobs"]
    assert release["publish"]["environment"] == "release"
    assert release["publish"]["permissions"] == {"id-token": "write"}
    assert release["publish"]["steps"][-1]["with"] == {"attestations": True}
    assert "secrets." not in text
    commands = [step["run"] for step in steps(release["build"])]
    assert commands[0].startswith(".ci/release-ready"), "what is not ready is not built"


def test_documents_name_scripts_and_tests_that_are_here():
    pages = [*ROOT.glob("*.md"), ROOT / "docs" / "security.md", ROOT / "docs" / "versioning.md"]
    for page in pages:
        named = re.findall(
            r"`(?:python )?((?:\.ci|tests|docs|conda)/[\w/.-]+\w)", page.read_text("utf-8")
        )
        for name in named:
            assert (ROOT / name).exists(), (page.name, name)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a script for POSIX systems")
def test_a_newcomer_with_the_wheel_and_the_readme():
    """Built twice, the same bytes; installed, typed, and every line of the README: 3 minutes."""
    # What it installs is too much for the memory that other tests write to.
    environment = {key: value for key, value in os.environ.items() if key != "TMPDIR"}
    done = subprocess.run(
        [SCRIPTS / "newcomer"], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("newcomer: ")

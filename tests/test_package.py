"""The package as a whole: its public names and its error tree."""

from __future__ import annotations

import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import steadyrank

ROOT = Path(__file__).parents[1]
IN_ROOT = {
    *(".ci", ".gitattributes", ".github", ".gitignore", ".pre-commit-config.yaml", "action.yml"),
    *("AGENTS.md", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "README.md"),
    *("CODE_OF_CONDUCT.md", "RELEASING.md", "SECURITY.md", "pyproject.toml"),
    *("bench", "conda", "docs", "fuzz", "integrations", "paper", "src", "tests"),
}
"""Files and folders that the root of the repository may have."""


def test_the_root_holds_what_belongs_there():
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("no repository: a copy may stand among other files")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert {path.partition("/")[0] for path in listed.stdout.split("\0") if path} == IN_ROOT


def test_public_names_are_exact_and_importable():
    assert list(steadyrank.__all__) == sorted(steadyrank.__all__)
    assert set(steadyrank.__all__) == {*steadyrank._HOMES, "__version__"}
    for name in steadyrank.__all__:
        assert getattr(steadyrank, name) is not None
    assert set(dir(steadyrank)) == set(steadyrank.__all__)
    with pytest.raises(AttributeError, match="no attribute 'evaluat'"):
        _ = steadyrank.evaluat


def test_importing_the_package_imports_nothing_else():
    code = "import sys, steadyrank; print({'numpy', 'numba', 'click'} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"


def documented_parameters(function) -> list[str]:
    """The names in the Parameters section of a docstring; several may share an entry."""
    section = inspect.getdoc(function).partition("\nParameters\n----------\n")[2]
    section = re.split(r"\n\w+\n-{3,}\n|\n>>> ", section)[0]
    entries = [line.split(" : ")[0] for line in section.split("\n") if line and line[0] != " "]
    return [name.lstrip("*") for entry in entries for name in entry.split(", ")]


def public_functions():
    for name in steadyrank.__all__:
        if inspect.isfunction(function := getattr(steadyrank, name)):
            yield name, function


def test_every_parameter_of_a_public_function_is_documented():
    for name, function in public_functions():
        assert documented_parameters(function) == list(inspect.signature(function).parameters), name

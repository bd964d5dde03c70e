"""`reporting/` puts the studies' offers together, and knows none of the studies."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import steadyrank.reporting
from steadyrank.studies.registry import STUDIES

MODULES = [
    path
    for path in sorted(Path(steadyrank.reporting.__file__).parent.glob("*.py"))
    if path.stem != "demo"  # runs studies with few samples, so that their kernels are compiled
]
FOLDERS = {study.home for study in STUDIES}


def imported(path: Path) -> set[str]:
    """Modules that a module imports anywhere in it, by their whole names."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def of_studies(path: Path) -> set[tuple[str, str]]:
    """What it imports of the folders of studies, cut to modules."""
    return {
        (path.stem, ".".join(name.split(".")[:4]))
        for name in imported(path)
        if any(name == folder or name.startswith(f"{folder}.") for folder in FOLDERS)
    }


def test_no_module_imports_a_study():
    assert len(MODULES) > 5
    assert set.union(*map(of_studies, MODULES)) == set()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_no_module_asks_for_a_study_by_its_name(path):
    """As in results["compare"]."""
    names = {study.name for study in STUDIES}
    tree = ast.parse(path.read_text("utf-8"))
    asked = [
        node.slice.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
    ]
    asked += [
        node.args[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("get", "runs", "samples")
        and node.args
        and isinstance(node.args[0], ast.Constant)
    ]
    assert names & {name for name in asked if isinstance(name, str)} == set()

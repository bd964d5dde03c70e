"""Notebooks run from their first cell to their last, and show every result as Jupyter would."""

from __future__ import annotations

import ast
import functools
import json
import subprocess
import warnings
from pathlib import Path

import pytest

import steadyrank as sr
from tests.docs.test_notebook_tables import DATA, NUMBERS, returned_classes

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))
NAMES = [path.stem for path in NOTEBOOKS]

MADE_WITH_MORE = {"WrittenRuns", "Reproduction", "SimulatePart"}
"""Results that need a collection, a paper's data or several machines, or only serve tests."""


def cells_of(notebook):
    return json.loads(notebook.read_text("utf-8"))["cells"]


def code_of(notebook):
    return ["".join(cell["source"]) for cell in cells_of(notebook) if cell["cell_type"] == "code"]


def last_value(source, names):
    """Return the value of a cell's last line, if that is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return (
        None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    )


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """Return every value that a notebook shows."""

    @functools.cache
    def run(name):
        names = {}
        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
            patch.chdir(tmp_path_factory.mktemp("notebook"))
            patch.setattr(subprocess, "check_call", lambda *_: pytest.fail("installs what is here"))
            warnings.simplefilter("ignore", sr.SteadyrankWarning)
            return [last_value(source, names) for source in code_of(NOTEBOOKS[NAMES.index(name)])]

    return run


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=NAMES)
def test_a_notebook_holds_no_outputs(notebook):
    cells = cells_of(notebook)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)
    assert len({cell["id"] for cell in cells}) == len(cells)


def test_the_notebook_of_results_shows_every_result(shown):
    own = {name for name, kind in returned_classes().items() if kind is getattr(sr, name, None)}
    wanted = own - DATA - NUMBERS - MADE_WITH_MORE
    values = shown("results")
    assert wanted - {type(value).__name__ for value in values} == set()
    for value in values:
        if type(value).__name__ in wanted:
            assert value._repr_html_().startswith(("<table", "<p>")), type(value)


def test_the_notebook_of_a_leaderboard_names_who_could_be_first(shown):
    *_, first, figure, pair, _ = shown("leaderboard")
    assert first == ["large", "tuned", "base", "small"]
    assert figure.axes
    difference, (low, high), (next_low, next_high) = pair
    assert next_low < low < difference < high < next_high


def test_the_notebook_of_a_gate_has_every_verdict_and_a_drift(shown):
    verdicts, _, _, history = (value for value in shown("gate") if value is not None)
    assert verdicts == {
        "monday": ("pass", 0), "tuesday": ("cannot tell", 4), "wednesday": ("fail", 3)
    }  # fmt: skip
    assert [gate["verdict"] for gate in history.gates] == ["pass"] * 4
    assert [row["measure"] for row in history.drifted()] == ["nDCG@10"]

"""The notebook runs from its first cell to its last, and shows every result as Jupyter would."""

from __future__ import annotations

import ast
import json
import warnings
from pathlib import Path

import pytest

import steadyrank as sr
from tests.docs.test_notebook_tables import DATA, NUMBERS, returned_classes

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebooks" / "results.ipynb"

MADE_WITH_MORE = {"GridResult", "ShardResult", "WrittenRuns", "Reproduction", "TrueMeans"} | {
    "SimulatePart"
}
"""Results that need a collection, a paper's data or several machines, or only serve tests."""


def last_value(source, names):
    """What a cell shows: the value of its last line, if that is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return (
        None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    )


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """Every value that the notebook shows."""
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    names = {}
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.chdir(tmp_path_factory.mktemp("notebook"))
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        return [last_value(source, names) for source in sources]


def test_the_notebook_holds_no_outputs():
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)
    assert len({cell["id"] for cell in cells}) == len(cells)


def test_the_notebook_shows_every_result(shown):
    own = {name for name, kind in returned_classes().items() if kind is getattr(sr, name, None)}
    wanted = own - DATA - NUMBERS - MADE_WITH_MORE
    assert wanted - {type(value).__name__ for value in shown} == set()
    for value in shown:
        if type(value).__name__ in wanted:
            assert value._repr_html_().startswith(("<table", "<p>")), type(value)

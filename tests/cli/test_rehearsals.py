"""What other processes compile for a first command: named right, without importing any of it."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from steadyrank.cli import rehearsals
from steadyrank.measures.evaluate import DEFAULT_MEASURES
from steadyrank.reporting.demo import MEASURES

ALL = [
    *rehearsals.of_evaluate(),
    *rehearsals.of_simulate("AP"),
    *rehearsals.of_report(()),
    *rehearsals.of_demo(()),
]


@pytest.mark.parametrize("rehearsal", sorted(set(ALL), key=str), ids=lambda r: r.function)
def test_functions_and_modules_are_there(rehearsal):
    module, function = rehearsal.function.split(":")
    assert callable(getattr(importlib.import_module(module), function))
    for name in rehearsal.modules:
        values = vars(importlib.import_module(name)).values()
        assert any(hasattr(value, "py_func") for value in values), name


def test_measures_are_those_that_commands_have_unless_told_otherwise():
    assert rehearsals.DEMO_MEASURES == MEASURES
    assert rehearsals.of_report(()) == [
        rehearsals.scoring(),
        *rehearsals.of_report(DEFAULT_MEASURES)[1:],
    ]
    first = rehearsals.of_demo(())[0]
    assert first.arguments == MEASURES


def test_no_two_rehearsals_of_a_command_share_a_module():
    """Who needs a kernel of one would leave out the other."""
    for chosen in (rehearsals.of_evaluate(), rehearsals.of_simulate("AP"), rehearsals.of_demo(())):
        modules = [module for rehearsal in chosen for module in rehearsal.modules]
        assert len(set(modules)) == len(modules)


def test_naming_them_imports_neither_numba_nor_what_studies_need():
    code = (
        "import sys; from steadyrank.cli.rehearsals import of_demo; of_demo(()); "
        "print([m for m in sys.modules if m == 'numba' or m.startswith('steadyrank.stats')])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert printed.stdout == "[]\n"

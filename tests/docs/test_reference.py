"""Docstrings of public functions have the sections of numpydoc, in their order."""

from __future__ import annotations

import inspect
import re

import pytest

import steadyrank as sr
from steadyrank import papers

SECTIONS = ["Parameters", "Returns", "Notes", "References", "Examples"]
FUNCTIONS = {
    f"{room.__name__}.{name}": getattr(room, name)
    for room in (sr, papers)
    for name in room.__all__
    if inspect.isfunction(getattr(room, name))
}

YET_TO_EDIT = {"steadyrank.gate", "steadyrank.holes", "steadyrank.report"}
"""Functions whose docstrings lack what they return: take one out once it has it."""


def sections(function) -> list[str]:
    return re.findall(r"^(\w+)\n-{3,}$", inspect.getdoc(function), re.MULTILINE)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_public_functions_say_what_they_take_and_return(name):
    function = FUNCTIONS[name]
    own = sections(function)
    assert own == [title for title in SECTIONS if title in own]
    assert own[0] == "Parameters"
    assert own[-1] == "Examples"
    returns = inspect.signature(function).return_annotation not in (None, "None")
    assert ("Returns" in own) == returns or name in YET_TO_EDIT


STUDIES = ["agree", "compare", "components", "datasets", "instances", "judges", "simulate"]
STUDIES += ["stability", "topics"]


@pytest.mark.parametrize("name", STUDIES)
def test_studies_name_their_papers(name):
    own = inspect.getdoc(getattr(sr, name)).partition("\nReferences\n----------\n")[2]
    assert own.startswith("- ")
    assert re.search(r"doi:10\.\d{4,}/|arXiv:\d{4}\.\d{5}", own)

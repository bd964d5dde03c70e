"""Docstrings of public names have the sections of numpydoc, in order, and examples that run."""

from __future__ import annotations

import inspect
import re

import pytest

import steadyrank as sr

SECTIONS = ["Parameters", "Returns", "Notes", "References", "Examples"]
PUBLIC = {
    f"steadyrank.{name}": getattr(sr, name) for name in sr.__all__ if callable(getattr(sr, name))
}
FUNCTIONS = [name for name, value in PUBLIC.items() if inspect.isfunction(value)]

CITATION = re.compile(r"doi:10\.\d{4,}/\S|arXiv:\d{4}\.\d{5}")

METHODS = ["agree", "cohen_kappa", "compare", "components", "correlations", "datasets"]
METHODS += ["evaluate", "gate", "grid", "holes", "instances", "judges"]
METHODS += ["kendall_tau", "plan", "pools", "shard", "simulate"]
METHODS += ["stability", "symmetric_tau_ap", "tau_ap", "topics"]
"""Functions whose methods come from papers."""


def sections(value) -> dict[str, str]:
    """The sections of a docstring by their titles."""
    parts = re.split(r"^(\w+)\n-{3,}\n", inspect.getdoc(value), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names_have_examples_in_sections_of_numpydoc(name):
    own = sections(PUBLIC[name])
    assert list(own) == [title for title in SECTIONS if title in own]
    assert ">>> " in own["Examples"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_public_functions_say_what_they_take_and_return(name):
    function = PUBLIC[name]
    own = sections(function)
    assert ("Parameters" in own) == bool(inspect.signature(function).parameters)
    returns = inspect.signature(function).return_annotation not in (None, "None")
    assert ("Returns" in own) == returns


@pytest.mark.parametrize("name", FUNCTIONS)
def test_papers_are_cited_under_references(name):
    own = sections(PUBLIC[name])
    cited = CITATION.search(inspect.getdoc(PUBLIC[name]))
    assert bool(cited) == ("References" in own)
    assert cited is None or CITATION.search(own["References"])
    assert re.match(r"- \w", own.get("References", "- A"))
    assert cited or name.removeprefix("steadyrank.") not in METHODS

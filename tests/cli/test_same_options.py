"""A command and the function of its name agree: the same choices, the same defaults.

They are written twice, since importing a study takes ten times as long as showing its help.
"""

from __future__ import annotations

import inspect
import typing

import click
import pytest
from test_frozen_help import command_of, plain

import steadyrank as sr
from steadyrank.cli import commands
from steadyrank.reporting.demo import demo
from steadyrank_lab.retrieval.makers import shard
from steadyrank_lab.retrieval.makers.runs import lay_out_runs

BESIDE = {
    "demo": (demo,),
    "grid": (lay_out_runs,),
    "shard": (shard._prepare, shard.ShardDesign, lay_out_runs),
}
"""What else takes the options of a command."""

OWN_WAY = {
    ("compare", "test"): "mixed is for systems",
    ("report", "out"): "-o FILE.html may name the page",
    ("stability", "levels"): "numbers between commas",
    ("shard", "sample_rate"): "numbers between commas, in percent as well",
    ("shard", "cluster_share"): "in percent as well",
    ("agree", "ties"): "of documents; --tau-ap-ties are those of the study",
}
"""Where they differ, and why."""

LATER = ("measure", "measures", "name_from", "duplicates")
"""Parameters whose default one of the two puts in after it was asked."""


def words_of(hint) -> list[str]:
    """The words that a type allows."""
    if typing.get_origin(hint) is typing.Literal:
        return [*typing.get_args(hint)]
    return [word for part in typing.get_args(hint) for word in words_of(part)]


def parameters(name):
    """Default and words of every parameter that the functions of a command have."""
    functions = (getattr(sr, name, None), *BESIDE.get(name, ()), sr.read_runs)
    found = {}
    for function in filter(None, functions):
        hints = typing.get_type_hints(function)
        for parameter in inspect.signature(function).parameters.values():
            words = words_of(hints.get(parameter.name))
            found.setdefault(parameter.name, (parameter.default, words))
    return found


@pytest.mark.parametrize("name", commands())
def test_choices_and_defaults_are_those_of_the_function(name):
    known = parameters(name)
    for option in command_of(name).params:
        if option.name not in known or (name, option.name) in OWN_WAY:
            continue
        default, words = known[option.name]
        if isinstance(option.type, click.Choice) and words:
            assert sorted(option.type.choices) == sorted(words), f"{name} {option.name}"
        if default is not inspect.Parameter.empty and option.name not in LATER:
            assert plain(option.default) == plain(default), f"{name} {option.name}"

"""docs/papers show what `reproduce` finds: every figure of theirs is the command's."""

from __future__ import annotations

import csv
import importlib.util
import shlex
from collections import Counter
from pathlib import Path

import click
import pytest

import steadyrank as sr
from steadyrank.cli import group as main
from steadyrank_lab.papers.model import Sheet
from steadyrank_lab.papers.output import reproduction_text
from steadyrank_lab.papers.reproduce import PAPERS

DOCS = Path(__file__).parents[2] / "docs"


def load_maker():
    spec = importlib.util.spec_from_file_location("make_papers", DOCS / "make_papers.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKER = load_maker()
SLOW = {"ferro2018", "jayasinghe2015", "yang2018"}


def claims_of(paper):
    with open(MAKER.csv_of(paper), newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


@pytest.mark.parametrize(
    "paper", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in PAPERS]
)
def test_pages_show_what_the_command_finds(paper):
    made = sr.reproduce(paper)
    again = "run: python docs/make_papers.py"
    assert MAKER.csv_of(paper).read_text("utf-8") == reproduction_text(made, "csv"), again
    page = (DOCS / "papers" / f"{paper}.md").read_text("utf-8")
    assert page == MAKER.filled(page, MAKER.found(made)), again


@pytest.mark.parametrize("paper", PAPERS)
def test_every_claim_is_decided_with_its_published_value(paper):
    rows, sheet = claims_of(paper), Sheet(paper).words
    outcomes = Counter(row["outcome"] for row in rows)
    block = MAKER.BLOCK.search((DOCS / "papers" / f"{paper}.md").read_text("utf-8"))[0]
    counts = len(rows), outcomes["holds"], outcomes["fails"], outcomes["open"]
    assert MAKER.counts(block) == tuple(map(str, counts))
    assert all(row["claim"] and row["published"] and row["figures"] for row in rows)
    assert all(bool(row["why"]) == (row["outcome"] == "fails") for row in rows)
    known = {
        claim["text"].partition("{")[0].strip()
        for exhibit in sheet.values()
        if isinstance(exhibit, dict)
        for claim in exhibit.get("claims", {}).values()
    }
    for row in rows:
        assert any(start in row["claim"] for start in known), row["claim"]


def test_the_index_counts_them():
    index = (DOCS / "papers" / "index.md").read_text("utf-8")
    assert index == MAKER.filled(index, MAKER.index_table())


COMMANDS = sorted(
    {
        part.strip()
        for paper in PAPERS
        for exhibit in Sheet(paper).words.values()
        if isinstance(exhibit, dict)
        for part in exhibit.get("command", "").split(";")
        if part.strip().startswith("steadyrank ")
    }
)


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_beside_exhibits_have_these_options(line):
    _, name, *words = shlex.split(line)
    command = main.get_command(click.Context(main), name)
    options = {spelled: param for param in command.params for spelled in param.opts}
    for word, value in zip(words, [*words[1:], ""], strict=True):
        if word.startswith("-"):
            choices = getattr(options[word].type, "choices", None)
            assert choices is None or value in choices, line

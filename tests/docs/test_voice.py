"""Pages name their readers; texts for users avoid the words of docs/dev/voice.md."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import click
import pytest

from steadyrank.cli import commands, group

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SOURCE = ROOT / "src"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)
NAMES = [path.relative_to(DOCS).as_posix() for path in PAGES]

UNWANTED = [
    r"\btold\b(?!-)",
    r"\btell(s|ing)? (\w+ ){0,6}apart\b",
    r"\banew\b",
    r"\blikewise\b",
    r"\bdo(es)? not do\b",
    r"\basks? for\b",
    r"\bspeaks? of\b",
    r"\bwithout end\b",
    r"\bwhole numbers? from \S+ on\b",
    r"\bone (row|line|file|call|panel|figure|column) a \w+",
    r"\ba panel a\b",
    r"\bstands? twice\b",
    r"\bin disguise\b",
    r"\bgive or take\b",
    r"\btopics buys?\b",
]
UNWANTED_WORDS = re.compile("|".join(UNWANTED), re.IGNORECASE)


def unwanted(text: str) -> list[str]:
    return [found[0] for found in UNWANTED_WORDS.finditer(" ".join(text.split()))]


def prose(page: Path) -> str:
    """Return a page without its code and outputs."""
    text = re.sub(r"^(`{3,})[^\n]*\n.*?^\1\s*$", "", page.read_text(), flags=re.M | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


def sentences(path: Path) -> list[tuple[int, str]]:
    """Return the texts of a file except docstrings, with their lines."""
    tree = ast.parse(path.read_text())
    silent = {
        id(line.value)
        for node in ast.walk(tree)
        for line in (node.body if isinstance(getattr(node, "body", None), list) else [])
        if isinstance(line, ast.Expr)
    }
    return [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent
    ]


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_a_page_says_for_whom_it_is(page):
    readers = re.findall(r"^\*For [^\n]+\.\*$|^\*For everybody: [^\n]+\*$", page.read_text(), re.M)
    assert len(readers) == 1, "one line below the title: *For …*"


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_pages_use_the_words_of_the_field(page):
    is_list_of_words = page == DOCS / "dev" / "voice.md"
    assert is_list_of_words or unwanted(prose(page)) == []


@pytest.mark.parametrize("name", commands())
def test_help_uses_the_words_of_the_field(name):
    command = group.get_command(click.Context(group), name)
    context = click.Context(command, info_name=f"steadyrank {name}")
    assert unwanted(f"{commands()[name]} {command.get_help(context)}") == []


def test_sentences_use_the_words_of_the_field():
    found = [
        f"{path.relative_to(SOURCE)}:{line}: {words}"
        for path in sorted(SOURCE.rglob("*.py"))
        for line, text in sentences(path)
        for words in unwanted(text)
    ]
    assert found == [], "docs/dev/voice.md has other words"

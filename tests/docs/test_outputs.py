"""README, how-to pages and cases show what commands print, and quote numbers from it."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def load_maker():
    spec = importlib.util.spec_from_file_location("make_outputs", ROOT / "docs" / "make_outputs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKER = load_maker()
SHOWN = [
    pytest.param(*shown, id=f"{page.stem}-{number}")
    for page in MAKER.PAGES
    for number, shown in enumerate(MAKER.outputs(page.read_text("utf-8")), start=1)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("outputs")
    MAKER.make_track(made)
    return made


@pytest.mark.parametrize(("commands", "output", "lines"), SHOWN)
def test_pages_show_what_the_commands_print(commands, output, lines, folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert MAKER.printed(commands, lines) == output, "run: python docs/make_outputs.py"


def test_every_block_of_output_has_its_commands():
    for page in MAKER.PAGES:
        text = page.read_text("utf-8")
        assert text.count("<!-- output") == len(MAKER.outputs(text)), page.name
    assert len(SHOWN) >= 4


def test_the_readme_is_short():
    readme = (ROOT / "README.md").read_text("utf-8").splitlines()
    assert len(readme) < 150
    # What it quotes is folded, but for tables, which a page scrolls.
    assert all(len(line) <= 120 for line in readme if not line.startswith("|"))


CHOSEN = {".02", ".05", "1.5", "2.0", "3.11", "45%", "90%", "95%", "100%"}
"""Levels, margins and versions, which are not measured."""

CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def decimals(text: str) -> set[str]:
    """Return the decimals of a text as a sentence may round them, also as percentages."""
    values = {float(number) for number in re.findall(r"\d*\.\d+", text)}
    known = {f"{value:.{digits}f}" for value in values for digits in (1, 2, 3, 4)}
    known |= {f"{100 * value:.{digits}f}" for value in values for digits in (0, 1)}
    return {number.removeprefix("0") for number in known} | set(re.findall(r"\d+", text))


@pytest.mark.parametrize("page", MAKER.PAGES, ids=lambda page: page.stem)
def test_decimals_of_sentences_are_those_of_outputs_and_counts(page):
    text = page.read_text("utf-8")
    counts = "\n".join(
        (page.parent / path).read_text("utf-8") for path in re.findall(r"\]\(([^()]+\.csv)\)", text)
    )
    prose = re.sub(r"`[^`\n]*`|\]\([^()]*\)", "", CODE.sub("", text))
    quoted = set(re.findall(r"(?<![\w.])\d*\.\d+%?|\b\d+%", prose)) - CHOSEN
    known = decimals("\n".join(CODE.findall(text)) + counts)
    unknown = {n for n in quoted if n.removesuffix("%").removeprefix("0") not in known}
    assert unknown == set(), "a number that no command or count of the page has"

"""What README and the how-to pages show as output is what the commands print."""

from __future__ import annotations

import importlib.util
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

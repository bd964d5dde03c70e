"""The tables of levels.md and coverage.md summarise the counts in docs/evidence."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
MAKER = runpy.run_path(str(DOCS / "make_evidence.py"))


@pytest.mark.parametrize("name", MAKER["TABLES"])
def test_pages_summarise_the_counts(name):
    rows, table = MAKER["TABLES"][name]
    page = (DOCS / f"{name}.md").read_text("utf-8")
    assert MAKER["filled"](page, name, table(rows())) == page, "run: python docs/make_evidence.py"


@pytest.mark.parametrize("name", MAKER["FIGURES"])
def test_pictures_draw_every_count(name):
    rows, figure = MAKER["FIGURES"][name]
    drawn = figure(rows()).axes[0].collections
    column = "level" if name == "levels" else "nominal"
    chosen = rows()[rows()[column] == (0.05 if name == "levels" else 0.95)]
    if name == "levels":
        chosen = chosen[~chosen.verdict.str.contains("not its null")]
    assert sum(len(dots.get_offsets()) for dots in drawn) == len(chosen)

"""Pages say for whom they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)
NAMES = [path.relative_to(DOCS).as_posix() for path in PAGES]


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_a_page_says_for_whom_it_is(page):
    readers = re.findall(r"^\*For [^\n]+\.\*$|^\*For everybody: [^\n]+\*$", page.read_text(), re.M)
    assert len(readers) == 1, "one line below the title: *For …*"

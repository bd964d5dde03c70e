"""Draw the pictures of the case studies: those that the pages' own code makes.

python docs/make_cases.py [PAGE ...]

A page runs from top to bottom, as in the tests. Each picture is the value of the variable `figure`
after the code above it.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from steadyrank.present.figures import svg_text

DOCS = Path(__file__).parent
PAGES = tuple(sorted((DOCS / "cases").glob("*.md")))

PICTURE = re.compile(r"^!\[(?P<alt>[^\]]+)\]\(\.\./(?P<path>images/cases/[\w-]+\.svg)\)$", re.M)


def pictures(text: str) -> dict[str, str]:
    """Return the alternative text of each picture of a page, by its path in this folder.

    >>> pictures("![A line.](../images/cases/line.svg)")
    {'images/cases/line.svg': 'A line.'}
    """
    return {found["path"]: found["alt"] for found in PICTURE.finditer(text)}


def drawn(text: str) -> Iterator[tuple[str, str]]:
    """Run a page and yield each picture's path and drawing."""
    known: dict[str, Any] = {"__name__": "__main__"}
    start = 0
    for found in PICTURE.finditer(text):
        _run(text[start : found.start()], known)
        start = found.end()
        yield found["path"], svg_text(known.pop("figure"), alt=found["alt"], background="#ffffff")


def _run(text: str, known: dict[str, Any]) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        for example in doctest.DocTestParser().get_examples(text):
            exec(example.source, known)


def make(page: Path, folder: Path = DOCS) -> list[Path]:
    """Draw the pictures of a page into a folder and return their paths."""
    made = []
    for path, drawing in drawn(page.read_text("utf-8")):
        made.append(folder / path)
        made[-1].parent.mkdir(parents=True, exist_ok=True)
        made[-1].write_text(drawing, "utf-8")
    return made


if __name__ == "__main__":
    for page in [Path(name) for name in sys.argv[1:]] or PAGES:
        for path in make(page):
            print(path)

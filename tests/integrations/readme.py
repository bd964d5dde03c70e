"""Run the examples of an integration's README."""

from __future__ import annotations

import doctest
from pathlib import Path

ROOT = Path(__file__).parents[2] / "integrations"


def failures_of(folder: str) -> int:
    """How many examples of a README fail; their output is printed."""
    found = doctest.testfile(str(ROOT / folder / "README.md"), module_relative=False)
    assert found.attempted > 3
    return found.failed

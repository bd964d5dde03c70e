"""One browser for all tests of this folder: Playwright starts only once in a process."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="Playwright is not installed: pip install 'steadyrank[test]'"
    )
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip(f"no browser: none of {', '.join(names)} is on the path")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield chromium
        chromium.close()

"""What axe-core, an independent checker of accessibility, finds in pages: nothing serious.

It comes from npm and is no dependency: name its file in STEADYRANK_AXE, or install it beside the
tests (`npm install axe-core`); without it these tests are skipped.
"""

from __future__ import annotations

import os
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steadyrank.present.page import page_html

from .conftest import LONG

ROOT = Path(__file__).parents[2]
PLACES = (os.environ.get("STEADYRANK_AXE", ""), ROOT / "node_modules" / "axe-core" / "axe.min.js")
SERIOUS = ("serious", "critical")


@pytest.fixture(scope="session")
def axe() -> str:
    found = next((Path(place) for place in PLACES if place and Path(place).is_file()), None)
    if found is None:
        pytest.skip("axe-core is not installed: npm install axe-core")
    return found.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    make = runpy.run_path(str(ROOT / "tests" / "present" / "nasty_page.py"))["nasty_page"]
    path = tmp_path_factory.mktemp("axe") / "page.html"
    path.write_text(page_html(make()), encoding="utf-8")
    return path


@pytest.fixture
def pages(browser: Any) -> Iterator[Any]:
    contexts: list[Any] = []

    def opened(path: Path, **options: Any) -> Any:
        # The checker is put into the page from outside, which the page's own policy forbids.
        context = browser.new_context(bypass_csp=True, reduced_motion="reduce", **options)
        contexts.append(context)
        context.set_default_timeout(LONG)
        page = context.new_page()
        page.goto(path.resolve().as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()


def violations(page: Any, axe: str) -> list[str]:
    page.evaluate("() => document.querySelectorAll('details').forEach(d => { d.open = true; })")
    page.add_script_tag(content=axe)
    result = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{found['id']} ({found['impact']}): {node['html'][:200]}"
        for found in result["violations"]
        if found["impact"] in SERIOUS
        for node in found["nodes"][:5]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_a_report_has_no_serious_violation(
    axe: str, pages: Any, report: Any, scheme: str, width: int
) -> None:
    size = {"width": width, "height": 900}
    page = pages(report.path, color_scheme=scheme, viewport=size)
    assert violations(page, axe) == []


def test_a_page_with_any_names_has_no_serious_violation(axe: str, pages: Any, nasty: Path) -> None:
    assert violations(pages(nasty), axe) == []

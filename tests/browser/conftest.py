"""A browser without a network for all tests of pages; they are skipped where there is none."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.present.pair_panel import DIGITS

ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


LONG = 600_000
"""Milliseconds after which something is taken never to happen, however busy the machine is."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="Playwright is not installed: pip install 'steadyrank[test]'"
    )
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip(f"no browser: none of {', '.join(names)} is on the path")
    playwright.expect.set_options(timeout=LONG)
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=path, args=ARGUMENTS, timeout=LONG)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def tabs(browser: Any) -> Callable[..., tuple[Any, list[str]]]:
    """Opens an address in a tab, and lists its troubles: what fails, and what else is asked for.

    Each kind of window has one tab, kept from test to test: a new one takes most of the time.
    """
    kept: dict[str, tuple[Any, list[str]]] = {}
    asked: list[str] = []

    def new_tab(before: str, options: dict[str, Any]) -> tuple[Any, list[str]]:
        context = browser.new_context(**options)
        context.set_offline(True)
        context.set_default_timeout(LONG)
        page, troubles = context.new_page(), list[str]()
        context.route("**/*", lambda route: answer(route, troubles))
        page.on("console", lambda message: troubles.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.add_init_script(before)
        return page, troubles

    def answer(route: Any, troubles: list[str]) -> None:
        if route.request.url.partition("#")[0] == asked[-1]:
            route.continue_()
        else:
            troubles.append(f"asked for {route.request.url}")
            route.abort()

    def opened(address: str, fragment: str, before: str, **options: Any) -> tuple[Any, list[str]]:
        kind = repr((before, sorted(options.items())))
        if kind not in kept:
            kept[kind] = new_tab(before, options)
        page, troubles = kept[kind]
        page.emulate_media(media="screen")
        page.mouse.move(0, 0)
        page.goto("about:blank")
        troubles.clear()
        asked[:] = [address]
        page.goto(address + fragment)
        return page, troubles

    return opened


@pytest.fixture
def open_tab(tabs: Callable[..., tuple[Any, list[str]]]) -> Iterator[Callable[..., Any]]:
    """Opens an address; at the end, nothing may have failed, run wild or been asked for."""
    pages: list[tuple[Any, list[str]]] = []

    def opened(address: str, fragment: str = "", before: str = "", **options: Any) -> Any:
        usual = {"viewport": {"width": 1000, "height": 800}, "reduced_motion": "reduce"}
        pages.append(tabs(address, fragment, before, **(usual | options)))
        return pages[-1][0]

    yield opened
    for page, troubles in pages:
        assert page.evaluate("window.hacked") is None
        assert troubles == []


N_RUNS, N_TOPICS = 30, 20


def scores() -> sr.Scores:
    """Runs with names as files of a track have them, one with a comma, of five teams."""
    rng = np.random.default_rng(5)
    means = 0.5 - 0.2 * rng.random((1, N_RUNS, 1))
    values = means + rng.normal(0, 0.1, (2, N_RUNS, N_TOPICS)) + rng.normal(0, 0.1, N_TOPICS)
    names = [f"input.dl2019_passage_full_ranking_{i:02},rerank_&_fuse.trec" for i in range(N_RUNS)]
    return sr.Scores(
        measures=["AP", "nDCG@10"],
        runs=names,
        topics=[f"{400 + topic}" for topic in range(N_TOPICS)],
        values=np.round(values, DIGITS),
        run_info={"team": [f"team {i % 5}" for i in range(N_RUNS)]},
    )


@pytest.fixture(scope="session")
def report(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> sr.ReportResult:
    """A page with figures, where there is a browser to show it."""
    out = tmp_path_factory.mktemp("report") / "report.html"
    return sr.report(scores=scores(), out=out, n_samples=50)

"""The slider from topics to certainty in Chromium: what it shows is what the library computes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.stats.planning.demands import check_demands
from steadyrank.stats.planning.reversal import error_rate
from steadyrank.studies.plan.slider import standard_grid

pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

GRID = standard_grid(check_demands(method="ttest", topics=2))
Open = Callable[..., Any]

SETTINGS = """
(all) => all.map(([difference, spread, family, topics]) => {
  const box = document.querySelector(".slider");
  const [first, second, third] = box.querySelectorAll("select");
  first.selectedIndex = difference;
  second.selectedIndex = spread;
  third.selectedIndex = family;
  box.querySelector("input[type=range]").value = topics;
  box.dispatchEvent(new Event("input"));
  const shown = [...box.querySelectorAll("dd output")].map((output) => output.textContent);
  return [...shown, box.querySelector(".sentence").textContent];
})
"""


@pytest.fixture(scope="session")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sr.planner_page(out=tmp_path_factory.mktemp("planner") / "planner.html")


@pytest.fixture
def open_planner(open_tab: Open, planner: Path) -> Open:
    return functools.partial(open_tab, planner.as_uri())


def percent(share: float) -> str:
    text = f"{100 * share:.1f}%"
    return {"0.0%": "less than 0.1%", "100.0%": "more than 99.9%"}.get(text, text)


def expected(difference: int, spread: int, family: int, topics: int) -> list[str]:
    """What the library says, one call of the planner's functions for each number."""
    demands = replace(
        GRID.families[family].demands, minimum_difference=GRID.differences[difference]
    )
    assumed, n = GRID.spreads[spread], GRID.topics[topics]
    needed = demands.topics(assumed.variance)
    reversal = error_rate(GRID.differences[difference], assumed.difference_variance, n)
    return [
        percent(demands.power(assumed.variance, n)),
        f"{demands.smallest_difference(assumed.variance, n):.4f}",
        f"{demands.expected_width(assumed.variance, n):.4f}",
        percent(float(reversal)),
        f"{needed:,}" if needed <= GRID.topics[-1] else f"more than {GRID.topics[-1]:,}",
    ]


def test_every_number_is_the_librarys(open_planner: Open) -> None:
    page = open_planner()
    rng = np.random.default_rng(5)
    sizes = (len(GRID.differences), len(GRID.spreads), len(GRID.families), len(GRID.topics))
    chosen = [[int(rng.integers(size)) for size in sizes] for _ in range(150)]
    chosen += [[0, 0, 0, 0], [size - 1 for size in sizes], [0, sizes[1] - 1, sizes[2] - 1, 0]]
    for settings, texts in zip(chosen, page.evaluate(SETTINGS, chosen), strict=True):
        assert texts[:5] == expected(*settings), settings
        sentence = texts[-1]
        assert f"With {GRID.topics[settings[3]]:,} topics, a paired t test" in sentence
        assert f"difference of {GRID.differences[settings[0]]:g} with probability" in sentence
        assert sentence.endswith(f"requires {texts[4]} topics.")
        assert "{" not in sentence


@pytest.mark.parametrize(
    ("documents", "minutes", "n_topics"), [(50, 1, 50), (137, 0.7, 1000), (3, 0.25, 7)]
)
def test_hours_are_the_librarys(
    open_planner: Open, documents: float, minutes: float, n_topics: int
) -> None:
    page = open_planner()
    plan = sr.plan(
        difference_variance=0.04,
        method="ttest",
        n_topics=n_topics,
        documents_per_topic=documents,
        minutes_per_document=minutes,
    ).plans[0]
    page.evaluate(SETTINGS, [[0, 0, 0, GRID.topics.index(n_topics)]])
    page.get_by_label("Documents to judge per topic").fill(str(documents))
    page.get_by_label("Minutes per document").fill(str(minutes))
    text = page.locator(".product output").text_content()
    assert text == f"{plan.hours:,.{1 if plan.hours < 10 else 0}f} hours"
    judged = page.locator(".product .note").text_content()
    assert judged == f"{n_topics * documents:,} judgments"


def test_hours_of_nonsense_are_none(open_planner: Open) -> None:
    page = open_planner()
    for text in ("", "-3"):
        page.get_by_label("Minutes per document").fill(text)
        assert page.locator(".product output").text_content() == "–"


def test_the_keyboard_moves_everything(open_planner: Open) -> None:
    page = open_planner(reduced_motion="reduce")
    slider = page.get_by_role("slider")
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".wide output").text_content() == "51"
    assert slider.get_attribute("aria-valuetext") == "51"
    page.keyboard.press("End")
    assert page.locator(".wide output").text_content() == "1,000"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.key") == "difference"
    before = page.locator(".sentence").text_content()
    page.keyboard.press("ArrowDown")
    assert page.locator(".sentence").text_content() != before
    labels = page.locator(".charts svg").evaluate_all(
        "all => all.map((svg) => svg.getAttribute('aria-label'))"
    )
    assert labels[0].startswith("chance against topics (logarithmic scale); at 1,000: Power ")


def test_it_fits_a_phone_and_prints_without_controls(open_planner: Open) -> None:
    page = open_planner(viewport={"width": 390, "height": 800}, color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    # Chart texts shrink with the window; they must stay legible.
    heights = page.locator(".charts text").evaluate_all(
        "all => all.map((text) => text.getBoundingClientRect())"
        ".map((box) => Math.min(box.width, box.height)).filter((size) => size > 0)"
    )
    assert min(heights) > 5
    page.emulate_media(media="print")
    assert not page.locator(".settings").is_visible()
    assert page.locator(".sentence").is_visible()
    assert page.locator(".charts svg").count() == 2


def test_without_scripts_the_table_is_left(open_planner: Open) -> None:
    page = open_planner(java_script_enabled=False)
    assert not page.locator(".slider").is_visible()
    assert page.locator("#planner-topics tbody tr").count() > 10

"""The first screen in a real browser: everything in sight, in order, legible, and leading on.

Pages of every size: few runs and hundreds, long names, a leaderboard of many models.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import steadyrank as sr

playwright = pytest.importorskip(
    "playwright.sync_api", reason="Playwright is not installed: pip install 'steadyrank[test]'"
)

WIDE = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
SIZES = {"wide": WIDE, "phone": PHONE}
Open = Callable[..., Any]


def simulated(n_runs: int, n_topics: int = 25, name: str = "run_{:03}") -> dict[str, Any]:
    rng = np.random.default_rng(n_runs)
    means = 0.5 + rng.normal(0, 0.06, (1, n_runs, 1))
    values = means + rng.normal(0, 0.08, (2, n_runs, n_topics)) + rng.normal(0, 0.1, n_topics)
    runs = [name.format(i) for i in range(n_runs)]
    scores = sr.Scores(measures=["AP", "nDCG@10"], runs=runs, topics=range(n_topics), values=values)
    return {"scores": scores}


def models() -> dict[str, Any]:
    rng = np.random.default_rng(187)
    values = rng.normal(0.5, 0.05, (187, 15)) + rng.normal(0, 0.06, (187, 1))
    names = [f"org-{i % 23}/embedding-model-{i:03}-v1.5" for i in range(187)]
    return {"datasets": pd.DataFrame(values, names, [f"set{k}" for k in range(15)])}


LONG = "input.{:02}_reranked_by_a_large_model_of_which_the_name_is_very_long_x"

CASES: dict[str, Callable[[], dict[str, Any]]] = {
    "129 runs": lambda: simulated(129),
    "61 long names": lambda: simulated(61, name=LONG),
    "2 runs": lambda: simulated(2),
    "300 runs": lambda: simulated(300),
    "187 models": models,
}


@pytest.fixture(scope="session")
def made(
    browser: Any, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Callable[[str], sr.ReportResult]:
    """The report of a case without figures, made once, where there is a browser to show it."""
    known: dict[str, sr.ReportResult] = {}

    def of_the_demo() -> dict[str, Any]:
        collection = request.getfixturevalue("builtin_collection")
        runs = request.getfixturevalue("builtin_runs")
        return {"runs": runs, "qrels": collection.qrels, "measures": ["nDCG@10", "AP", "RR"]}

    def report(case: str) -> sr.ReportResult:
        if case not in known:
            out = tmp_path_factory.mktemp("first") / "report.html"
            given = of_the_demo() if case == "demo" else CASES[case]()
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("steadyrank.reporting.page.figure", lambda *args, **options: [])
                known[case] = sr.report(**given, out=out, n_samples=50, budget="5m")
        return known[case]

    return report


@pytest.fixture
def open_case(open_tab: Open, made: Callable[[str], sr.ReportResult]) -> Open:
    def opened(case: str, size: str = "wide", fragment: str = "", **options: Any) -> Any:
        address = Path(made(case).path).resolve().as_uri()
        return open_tab(address, fragment, viewport=SIZES[size], **options)

    return opened


def box(page: Any, selector: str) -> dict[str, float]:
    found = page.locator(selector).first.bounding_box()
    assert found is not None, selector
    return found


def bottom(of: dict[str, float]) -> float:
    return of["y"] + of["height"]


TEXTS = """
() => {
  const last = document.querySelector(".fold").getBoundingClientRect().top;
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    const text = node.data.trim();
    if (!text || !element.checkVisibility() || element.closest("script, style, .skip")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    // What a cell cuts off is not seen.
    const cell = element.closest("th, td");
    const cut = cell && getComputedStyle(cell).overflowX === "hidden"
      ? cell.getBoundingClientRect() : { left: -1e6, right: 1e6 };
    const place = texts.length;
    for (const rect of range.getClientRects()) {
      if (rect.top >= last) continue;
      const [left, right] = [Math.max(rect.left, cut.left), Math.min(rect.right, cut.right)];
      const { top, bottom } = rect;
      if (right > left) texts.push({ text, left, right, top, bottom, place });
    }
  }
  return texts;
}
"""


def overlaps(texts: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Texts of which one lies upon the other, by more than lines that stand close do."""
    found = []
    for i, one in enumerate(texts):
        for other in texts[i + 1 :]:
            width = min(one["right"], other["right"]) - max(one["left"], other["left"])
            height = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
            least = min(one["bottom"] - one["top"], other["bottom"] - other["top"])
            if one["place"] != other["place"] and width > 1 and height > 0.35 * least:
                found.append((one["text"], other["text"]))
    return found


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("case", ["demo", *CASES])
def test_the_answer_is_in_sight_and_nothing_hides_or_overlaps(
    open_case: Open, case: str, size: str
) -> None:
    page = open_case(case, size)
    width, height = SIZES[size]["width"], SIZES[size]["height"]
    verdict, line, board, causes = (
        box(page, selector) for selector in ("#page-verdict", ".line", ".board", ".causes")
    )
    assert verdict["y"] < line["y"] < board["y"]
    if size == "wide":
        assert max(map(bottom, (verdict, board, causes))) <= height
        assert causes["x"] > board["x"] + board["width"], "beside the board"
    else:
        assert bottom(verdict) < height / 2
        assert bottom(board) <= causes["y"]
        assert board["height"] < 700, "a name takes two lines at most"
        assert board["x"] == causes["x"] == verdict["x"], "one column"
        if page.locator(".tiles").count():
            assert bottom(causes) <= box(page, ".tiles")["y"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    texts = page.evaluate(TEXTS)
    assert overlaps(texts) == []
    assert [text for text in texts if text["left"] < 0 or text["right"] > width] == []
    assert len(texts) > 10
    cut = "all => all.filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent)"
    assert page.locator(".board tbody th").evaluate_all(cut) == [], "names are whole"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("case", ["demo", "61 long names", "187 models"])
def test_an_open_page_does_not_scroll_sideways(open_case: Open, case: str, size: str) -> None:
    page = open_case(case, size)
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]


@pytest.mark.parametrize("case", ["demo", "187 models"])
def test_bars_lead_to_their_sections(
    open_case: Open, made: Callable[[str], sr.ReportResult], case: str
) -> None:
    page, bars = open_case(case), made(case).page.first.bars
    links = page.locator(".causes li a")
    assert links.all_text_contents() == [bar.about for bar in bars]
    widths = page.locator(".causes rect").evaluate_all("all => all.map((r) => r.getBBox().width)")
    shares = [bar.share for bar in bars]
    assert widths == pytest.approx([widths[0] * share / shares[0] for share in shares], rel=0.05)
    for place, bar in enumerate(bars):
        links.nth(place).click()
        section = page.locator(f"#{bar.link} > details")
        playwright.expect(section).to_have_attribute("open", "")
        assert page.evaluate("location.hash") == f"#{bar.link}"
        assert page.locator(f"#{bar.link}").evaluate("e => e.getBoundingClientRect().top") < 100
        page.evaluate("scrollTo(0, 0)")


def test_links_of_the_board_open_all_rows_and_the_picker(open_case: Open) -> None:
    page = open_case("demo")
    page.get_by_role("link", name="All 18 runs").click()
    playwright.expect(page.locator("#leaderboard")).to_be_visible()
    many = open_case("300 runs")
    assert many.get_by_role("link", name="All 300 runs").get_attribute("href") == "#evaluate"
    again = open_case("demo")
    again.get_by_role("link", name="Compare two").click()
    playwright.expect(again.locator("#page-pair select").first).to_be_visible()


def test_an_address_of_two_runs_opens_the_picker(
    open_case: Open, made: Callable[[str], sr.ReportResult]
) -> None:
    names = made("129 runs").page.pairs.names
    page = open_case("129 runs", fragment=f"#pair={names[5]},{names[2]}")
    assert page.locator("#page-pair").is_visible()
    answer = made("129 runs").page.pairs.text("{decision}", 2, 5)
    assert page.locator("#page-pair-answer").text_content() == f"{answer}."
    top = page.locator("#page-pair").evaluate("e => e.getBoundingClientRect().top")
    assert 0 <= top < 100


def test_the_board_is_sorted_by_its_heads(open_case: Open) -> None:
    page = open_case("demo")
    names = page.locator(".board tbody th")
    by_rank = names.all_text_contents()
    head = page.locator(".board thead").get_by_role("button", name="name")
    head.click()
    assert names.all_text_contents() == sorted(by_rank)
    head.press("Enter")
    assert names.all_text_contents() == sorted(by_rank, reverse=True)
    assert page.locator(".board th[aria-sort]").get_attribute("aria-sort") == "descending"
    page.locator(".board thead").get_by_role("button", name="rank", exact=True).click()
    page.locator(".board thead").get_by_role("button", name="rank", exact=True).click()
    assert names.all_text_contents() == by_rank


COLOURS = """
() => [...document.querySelectorAll("main .lead, main .line, .board th, .board td, .board a,"
    + " .first h2, .first small, .causes a, .causes .n, .links, .tiles strong, .tiles span,"
    + " .fold h2, .found")]
  .filter((element) => element.checkVisibility() && element.textContent.trim())
  .map((element) => {
    let ground = element;
    while (ground && getComputedStyle(ground).backgroundColor === "rgba(0, 0, 0, 0)") {
      ground = ground.parentElement;
    }
    return [element.className || element.tagName, getComputedStyle(element).color,
      getComputedStyle(ground ?? document.body).backgroundColor];
  })
"""


def luminance(colour: str) -> float:
    parts = np.array([int(part) for part in re.findall(r"\d+", colour)[:3]]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_themes_are_legible(open_case: Open, scheme: str) -> None:
    """By the contrast that WCAG 2.2 asks of small letters, and of drawings."""
    page = open_case("demo", color_scheme=scheme)
    found = page.evaluate(COLOURS)
    assert len(found) > 50
    grounds = {ground for _, _, ground in found}
    assert (max(map(luminance, grounds)) < 0.1) == (scheme == "dark")
    for what, ink, ground in found:
        low, high = sorted((luminance(ink), luminance(ground)))
        assert (high + 0.05) / (low + 0.05) >= 4.5, (what, ink, ground)
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    for shape in (".track circle", ".causes rect", ".causes .largest"):
        fill = page.locator(shape).last.evaluate("e => getComputedStyle(e).fill")
        low, high = sorted((luminance(fill), luminance(paper)))
        assert (high + 0.05) / (low + 0.05) >= 3, shape

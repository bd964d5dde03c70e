"""What a page does in a real browser: Chromium without a network."""

from __future__ import annotations

import functools
import runpy
import xml.dom.minidom
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steadyrank.present.page import page_html, visible

playwright = pytest.importorskip(
    "playwright.sync_api", reason="Playwright is not installed: pip install 'steadyrank[test]'"
)

NASTY_PAGE = runpy.run_path(str(Path(__file__).parents[1] / "present" / "nasty_page.py"))
NASTY: tuple[str, ...] = tuple(map(visible, NASTY_PAGE["NASTY"]))
Open = Callable[..., Any]


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page_html(NASTY_PAGE["nasty_page"]()), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def open_page(open_tab: Open, address: str) -> Open:
    return functools.partial(open_tab, address)


def column(page: Any, table: str, number: int) -> list[str]:
    cells = page.locator(f"#{table} tbody tr > :nth-child({number})")
    return [text.replace("\r\n", "\n") for text in cells.all_text_contents()]


def rows_shown(page: Any, table: str) -> int:
    rows = page.locator(f"#{table} tbody tr")
    return int(rows.evaluate_all("rows => rows.filter(row => row.offsetParent).length"))


def sort_state(page: Any, table: str) -> list[str | None]:
    heads = page.locator(f"#{table} thead th")
    return list(heads.evaluate_all("heads => heads.map(th => th.getAttribute('aria-sort'))"))


def wait_for_text(page: Any, selector: str, text: str) -> None:
    """Asks from outside: the page's policy forbids what Playwright would evaluate inside it."""
    playwright.expect(page.locator(selector)).to_have_text(text)


def active(page: Any, expression: str) -> Any:
    return page.evaluate(f"document.activeElement.{expression}")


# 0.25, missing, nan, 3, -inf, 1e-9, 0.25, inf, -12.5, 10 and again, up to 24 rows
RISING = [4, 14, 8, 18, 5, 15, 0, 6, 10, 16, 20, 3, 13, 23, 9, 19, 7, 17, 1, 2, 11, 12, 21, 22]
FALLING = [7, 17, 9, 19, 3, 13, 23, 0, 6, 10, 16, 20, 5, 15, 8, 18, 4, 14, 1, 2, 11, 12, 21, 22]


def test_numbers_sort_by_click_and_by_keyboard(open_page: Open) -> None:
    page = open_page()
    assert column(page, "runs", 1) == list(NASTY)
    head = page.get_by_role("button", name="AP", exact=True)
    head.click()
    assert sort_state(page, "runs") == [None, "descending", None]
    assert column(page, "runs", 1) == [NASTY[i] for i in FALLING]
    head.press("Enter")
    assert sort_state(page, "runs") == [None, "ascending", None]
    # Stable: equal numbers keep the order of the falling table, which was that of the page.
    assert column(page, "runs", 1) == [NASTY[i] for i in RISING]
    assert rows_shown(page, "runs") == 5


def test_texts_sort_by_code_unit_and_missing_last(open_page: Open) -> None:
    page = open_page()
    page.locator("#runs thead button").nth(0).press("Space")
    assert sort_state(page, "runs") == ["ascending", None, None]
    by_unit = sorted(NASTY, key=lambda name: name.encode("utf-16-be"))
    assert column(page, "runs", 1) == by_unit
    note = page.locator("#runs thead button").nth(2)
    for direction in ("ascending", "descending"):
        note.click()
        assert sort_state(page, "runs") == [None, None, direction]
        assert column(page, "runs", 3) == ["same"] * 12 + ["–"] * 12


def test_rows_open_filter_and_fold(open_page: Open) -> None:
    page = open_page()
    assert rows_shown(page, "runs") == 5
    page.get_by_role("button", name="Show all 24 rows").click()
    assert rows_shown(page, "runs") == 24
    page.get_by_role("button", name="Show 5 rows").click()
    assert rows_shown(page, "runs") == 5
    page.locator("#runs input").fill("HACKED = ")
    wanted = [name for name in NASTY if "hacked = " in name]
    assert rows_shown(page, "runs") == len(wanted) > 3
    assert page.locator("#runs .status").text_content() == f"{len(wanted)} of 24 rows"
    page.locator("#runs input").fill("")
    assert rows_shown(page, "runs") == 5


def test_everything_opens_without_scripts_and_in_print(open_page: Open) -> None:
    page = open_page(java_script_enabled=False)
    assert page.locator("#runs tbody tr").last.is_visible()
    assert not page.locator("[data-copy]").first.is_visible()
    page = open_page(color_scheme="dark")
    page.locator("#runs input").fill("nothing")
    assert rows_shown(page, "runs") == 0
    page.emulate_media(media="print")
    assert rows_shown(page, "runs") == 24
    tools = page.locator(".tools").evaluate_all("all => all.filter(e => e.offsetParent).length")
    assert tools == 0
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_hover_and_focus_tell_more(open_page: Open) -> None:
    page = open_page()
    tip = page.locator("#page-tip")
    cell = page.locator("#runs tbody td").first
    cell.hover()
    assert tip.text_content() == f"hover {NASTY[0]}"
    assert tip.is_visible()
    page.locator("h1").hover()
    assert not tip.is_visible()
    assert cell.get_attribute("title") == f"hover {NASTY[0]}"
    page.locator("#one-point").hover()
    assert tip.text_content() == "<b>first</b>"
    page.mouse.move(1, 1)
    page.get_by_role("region", name=NASTY[3]).focus()
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert tip.text_content() == f"hover {NASTY[0]}"
    page.keyboard.press("ArrowDown")
    assert tip.text_content() == f"hover {NASTY[1]}"
    page.keyboard.press("Escape")
    assert not tip.is_visible()
    page.keyboard.press("Tab")
    assert active(page, "textContent") == "same"  # one stop for all cells, then the row's link


def test_copies_follow_order_and_filter(open_page: Open) -> None:
    page = open_page("#topics", permissions=["clipboard-read", "clipboard-write"])
    page.locator("#topics thead button").nth(1).click()
    page.locator("#topics [data-copy=csv]").click()
    wait_for_text(page, "#topics .status", "Copied.")
    copied = page.evaluate("navigator.clipboard.readText()").replace("\r\n", "\n")
    lines = copied.splitlines()
    assert lines[0] == "topic,mean"
    assert [line[-1] for line in lines[1:]] == list("6543210")
    page.locator("#runs input").fill("amp;b")
    page.locator("#runs [data-copy=latex]").click()
    wait_for_text(page, "#runs .status", "Copied.")
    copied = page.evaluate("navigator.clipboard.readText()").replace("\r\n", "\n")
    assert copied.count("\\\\\n") == 2  # the header and one row
    assert r"a\&amp;b 100 \% \#1 \_x\_" in copied
    assert copied.endswith("\\bottomrule\n\\end{tabular}\n\\end{table}\n")


NO_CLIPBOARD = "Object.defineProperty(navigator, 'clipboard', { value: undefined });"


def test_copy_without_clipboard_takes_the_old_command(open_page: Open) -> None:
    caught = "document.addEventListener('copy', () => { window.got = String(getSelection()) || "
    caught += "document.activeElement.value; });"
    page = open_page(before=NO_CLIPBOARD + caught)
    page.locator("#page-copy-command").click()
    wait_for_text(page, ".command .status", "Copied.")
    assert page.evaluate("window.got") == "steadyrank report '</script>' \\\n  --out x.html"
    assert not page.get_by_role("dialog").is_visible()
    assert active(page, "id") == "page-copy-command"


def test_copy_that_cannot_be_shows_the_text_selected(open_page: Open) -> None:
    page = open_page(before=NO_CLIPBOARD + "document.execCommand = () => false;")
    page.locator("#files [data-copy=csv]").click()
    page.get_by_role("dialog").wait_for()
    assert active(page, "value") == "file\na\n"
    assert active(page, "selectionEnd - document.activeElement.selectionStart") == 7
    page.keyboard.press("Escape")
    assert not page.get_by_role("dialog").is_visible()


def test_downloaded_drawing_stands_alone(open_page: Open) -> None:
    page = open_page()
    with page.expect_download() as waiting:
        page.locator("#two [data-download]").click()
    assert waiting.value.suggested_filename == "two.svg"
    text = Path(waiting.value.path()).read_text(encoding="utf-8")
    drawing = xml.dom.minidom.parseString(text.encode()).documentElement
    assert drawing.namespaceURI == "http://www.w3.org/2000/svg"
    assert "currentColor" not in text
    shape = drawing.getElementsByTagName("use")[0]
    assert shape.getAttributeNS("http://www.w3.org/1999/xlink", "href") == "#two-dot"
    assert drawing.getElementsByTagName("text")[0].getAttribute("fill") == "black"


def test_drawing_keeps_its_colours_under_the_policy(open_page: Open) -> None:
    page = open_page()
    style = "getComputedStyle(document.querySelector('#one-point')).fill"
    assert page.evaluate(style) == "rgb(31, 119, 180)"
    family = "getComputedStyle(document.querySelector('#one svg')).fontFamily"
    assert page.evaluate(family) == "sans-serif"


def test_light_and_dark(open_page: Open) -> None:
    light, dark = (open_page(color_scheme=scheme) for scheme in ("light", "dark"))
    shots = [page.screenshot() for page in (light, dark)]
    assert shots[0] != shots[1]
    assert min(map(len, shots)) > 15_000  # a blank page of this size packs into some 4,000 bytes
    light.get_by_role("button", name="Dark theme").click()
    background = "getComputedStyle(document.body).backgroundColor"
    assert light.evaluate(background) == dark.evaluate(background) == "rgb(20, 24, 28)"
    dark.get_by_role("button", name="Light theme").click()
    assert dark.evaluate(background) == "rgb(255, 255, 255)"


def test_phone_does_not_scroll_sideways(open_page: Open) -> None:
    page = open_page("#wide", viewport={"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Show all 24 rows").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box = page.locator("#wide .scroll")
    assert box.evaluate("box => box.scrollWidth > box.clientWidth")
    assert page.locator("#one svg").bounding_box()["width"] <= 358

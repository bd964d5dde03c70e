from __future__ import annotations

import base64
import csv
import hashlib
import html
import io
import json
import re
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.figure import Figure
from nasty_page import NASTY, nasty_first_page, nasty_page

from steadyrank.present.figures import clean, svg_text, tell
from steadyrank.present.page import Page, PageFigure, Section, page_html, visible
from steadyrank.present.table import Cell, Table, render

PARTS = files("steadyrank.present") / "page"


class Read(HTMLParser):
    """Elements in order, with the text that stands directly in them."""

    def __init__(self, text: str):
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[int] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), (tag, attrs)
        self.elements.append((tag, dict(attrs)))
        self.texts.append("")
        if tag not in ("meta", "input"):
            self.open.append(len(self.texts) - 1)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.elements[self.open.pop()][0] == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts[self.open[-1]] += data

    def all(self, tag: str, **wanted: str) -> list[tuple[dict[str, str | None], str]]:
        return [
            (attributes, text)
            for (name, attributes), text in zip(self.elements, self.texts, strict=True)
            if name == tag and wanted.items() <= attributes.items()
        ]


@pytest.fixture(scope="module")
def text() -> str:
    return page_html(nasty_page())


@pytest.fixture(scope="module")
def read(text: str) -> Read:
    return Read(text)


@pytest.fixture(scope="module", params=[nasty_page, nasty_first_page])
def either(request: pytest.FixtureRequest) -> Read:
    """With and without a first screen."""
    return Read(page_html(request.param()))


@pytest.fixture(scope="module")
def data(read: Read) -> dict[str, dict]:
    ((_, found),) = read.all("script", id="page-data")
    return json.loads(found)


def table_page(table: Table) -> Page:
    section = Section(id="s", title="S", question="?", tables=(table,))
    return Page(title="T", subtitle="", lead=("L.",), sections=(section,))


# Escaping


def test_every_element_is_closed_and_scripts_are_ours_alone(either: Read) -> None:
    assert either.open == []
    scripts = either.all("script")
    assert [attributes for attributes, _ in scripts] == [
        {"type": "application/json", "id": "page-data"},
        {},
    ]
    assert scripts[1][1] == (PARTS / "page.js").read_text(encoding="utf-8")
    assert [found for _, found in either.all("style")] == [
        (PARTS / "page.css").read_text(encoding="utf-8")
    ]


def test_no_attribute_acts_or_loads(either: Read) -> None:
    for tag, attributes in either.elements:
        assert tag not in ("img", "iframe", "object", "embed", "link", "base")
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            assert name not in ("style", "src", "action", "srcset"), (tag, name)
            if name.endswith("href"):
                assert value.startswith("#"), value


def test_names_are_shown_as_they_are(read: Read) -> None:
    shown = [found for _, found in read.all("th", scope="row")]
    for name in NASTY:
        assert visible(name) in shown
    assert {found for _, found in read.all("title")} >= {NASTY[2]}
    assert [found for _, found in read.all("h1")] == [NASTY[2]]


def test_control_characters_are_replaced(text: str) -> None:
    assert not re.search(
        "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]", text
    )
    assert visible("a\x00\u202eb\nc\ud800") == "a\\x00\\u202eb\nc\\ud800"
    assert visible("é 漢 🙂 \u200d") == "é 漢 🙂 \u200d"
    text.encode()


def test_json_cannot_end_its_element(text: str) -> None:
    inside = text.split('id="page-data">')[1].split("</script>")[0]
    assert not set("<>&\u2028") & set(inside)
    assert json.loads(inside)["tables"].keys() == {"runs", "topics", "wide", "files"}


# The page as a whole


def test_policy_knows_the_blocks_by_their_hashes(read: Read) -> None:
    ((attributes, _),) = read.all("meta", **{"http-equiv": "Content-Security-Policy"})
    policy = dict(part.strip().split(" ", 1) for part in attributes["content"].split(";"))

    def digest(block: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(block.encode()).digest()).decode()}'"

    assert policy == {
        "default-src": "'none'",
        "style-src": digest(read.all("style")[0][1]),
        "script-src": digest(read.all("script")[1][1]),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def test_ids_are_unique_and_links_lead_somewhere(either: Read) -> None:
    ids = [attributes["id"] for _, attributes in either.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for tag, attributes in either.elements:
        for name in ("href", "xlink:href", "aria-labelledby"):
            if name in attributes:
                target = attributes[name].removeprefix("#").partition("/")[0]
                assert target in ids, (tag, name, attributes[name])


def test_headings_are_in_order(either: Read) -> None:
    levels = [int(tag[1]) for tag, _ in either.elements if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    tags = [tag for tag, _ in either.elements]
    assert all(tags.count(tag) == 1 for tag in ("header", "main", "footer"))
    assert ("html", {"lang": "en"}) in either.elements


def test_the_answer_comes_before_all_else(text: str) -> None:
    main = text[text.index("<main") :]
    order = ['class="lead"', 'id="first"', 'id="page-terms"', 'id="page-provenance"']
    places = [main.index(mark) for mark in order]
    assert places == sorted(places)
    section = main[main.index('id="first"') : main.index('id="second"')]
    order = [
        "<summary><h2",
        'class="found"',
        "</summary>",
        'class="question"',
        'class="more"',
        "warnings",
        "<figure",
        'class="table"',
        '<details class="meaning"><summary>What it means, and what it does not</summary>',
    ]
    places = [section.index(mark) for mark in order]
    assert places == sorted(places)


def test_the_first_screen_comes_before_the_sections() -> None:
    text = page_html(nasty_first_page())
    main = text[text.index("<main") :]
    order = [
        'aria-label="Cautions"',
        'id="page-verdict"',
        'class="line"',
        'class="board"',
        'class="causes"',
        "What would change the order?",
        'class="links"',
        'class="tiles"',
        'id="first"',
    ]
    places = [main.index(mark) for mark in order[:6]]
    places += [main.index(mark, places[-1]) for mark in order[6:]]
    assert places == sorted(places)
    # Answers are shown; how they came about is one click away.
    assert main.count("<details open>") == 1, "the section that asks to be"
    (said,) = re.findall('og:description" content="([^"]*)"', text)
    assert html.unescape(said) == NASTY[1]
    board = main.partition('class="board"')[2].partition("</section>")[0]
    names = re.findall(r'<th scope="row"[^>]*>([^<]*)</th>', board)
    assert [html.unescape(name) for name in names] == list(map(visible, NASTY[:10]))


def test_bars_are_drawn_to_scale() -> None:
    text = page_html(nasty_first_page())
    causes = text.partition('class="causes"')[2].partition("</section>")[0]
    assert re.findall(r'<rect width="([\d.]+)%"', causes) == ["100.0", "50.0", "0.7"]
    assert re.findall('height="14" rx="3"(.*?)/>', causes) == [' class="largest"', "", ""]
    board = text.partition('class="board"')[2].partition("</section>")[0]
    assert set(re.findall(r'<rect x="([\d.]+)%" y="4" width="([\d.]+)%"', board)) == {
        ("0.0", "100.0")
    }
    dots = [float(x) for x in re.findall(r'<circle cx="([\d.]+)%"', board)]
    assert dots == [10 * rank + 5.0 for rank in range(10)]


# Contrast


def _themes() -> dict[str, dict[str, str]]:
    css = (PARTS / "page.css").read_text(encoding="utf-8")
    blocks = re.findall(r":root[^{]*\{([^}]*--paper[^}]*)\}", css)
    light, dark, chosen = (dict(re.findall(r"--([\w-]+): (#\w{6});", block)) for block in blocks)
    assert dark == chosen
    return {"light": light, "dark": dark}


def _luminance(colour: str) -> float:
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one: str, other: str) -> float:
    """As WCAG 2.2 defines it."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_contrasts_with_what_it_stands_on(theme: str) -> None:
    colours = _themes()[theme]
    for ink in ("ink", "muted", "accent"):
        for ground in ("paper", "soft"):
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
    assert contrast(colours["ink"], colours["caution"]) >= 4.5
    for edge in ("edge", "caution-edge"):  # what is not text needs 3
        assert contrast(colours[edge], colours["paper"]) >= 3, edge


# What is copied


def test_csv_holds_every_digit_and_no_formula(data: dict[str, dict]) -> None:
    parts = data["tables"]["runs"]["csv"]
    header, *rows = csv.reader(io.StringIO(parts["head"] + "".join(parts["rows"]), newline=""))
    assert header == ["run", "AP", "'=note"]
    assert len(parts["rows"]) == len(rows) == len(NASTY)
    assert [row[1] for row in rows[:10]] == [
        *("0.25", "", "", "3", "-inf", "1e-09", "0.25", "inf", "-12.5", "10")
    ]
    for name, row in zip(NASTY, rows, strict=True):
        defused = "'" if name[0] in "=+-@\t" and name != "-2" else ""  # a number is no formula
        assert row[0] == defused + visible(name).replace(r"\x09", "\t")


def test_latex_is_escaped(data: dict[str, dict]) -> None:
    parts = data["tables"]["runs"]["latex"]
    assert parts["head"].startswith("\\begin{table}\n\\centering\n\\caption{\\textless{}/script")
    assert r"\begin{tabular}{lrr}" in parts["head"]
    assert parts["foot"] == "\\bottomrule\n\\end{tabular}\n\\end{table}\n"
    escaped = dict(zip(NASTY, parts["rows"], strict=True))
    row = escaped["a&amp;b 100 % #1 _x_ ^~"]
    assert row == (
        r"a\&amp;b 100 \% \#1 \_x\_ \textasciicircum{}\textasciitilde{} & 0.25 & -- \\" + "\n"
    )
    assert escaped["back\\slash \\u003c"].startswith(r"back\textbackslash{}slash ")
    assert all(line.endswith(" \\\\\n") and line.count("\n") == 1 for line in parts["rows"])


# Sorting


def test_cells_carry_what_they_sort_by() -> None:
    rows = (
        (Cell("b", "1"), Cell("25", 25.0), Cell("0.1", 0.1)),
        (Cell("–"), Cell("12", None), Cell("0.10", np.float64(0.1))),
        (Cell("a"), Cell("x", "x"), Cell("inf", float("inf"))),
        (Cell("c"), Cell("1,000", np.int64(1000)), Cell("-", float("nan"))),
    )
    table = Table(id="t", caption="C", header=("a", "b", "c"), rows=rows)
    found = Read(page_html(table_page(table)))
    cells = [
        (attributes.get("data-v"), attributes.get("class"))
        for tag, attributes in found.elements
        if tag == "td" or (tag == "th" and attributes["scope"] == "row")
    ]
    assert cells == [
        ("1", None),
        (None, "n"),
        (None, "n"),
        ("", None),
        ("", "n"),
        ("0.1", "n"),
        (None, None),
        ("", "n"),
        ("Infinity", "n"),
        (None, None),
        ("1000", "n"),
        ("", "n"),
    ]


def test_a_page_shows_the_table_of_a_command() -> None:
    rows = [[Cell("a", "a"), Cell("-0.5", -0.5)], [Cell("-b", "-b"), Cell("0.25", 0.25)]]
    table = Table(
        id="t",
        caption="C",
        header=("run", "AP"),
        rows=rows,
        best=frozenset({(1, 1)}),
        marks={(0, 1): "<*>"},
    )
    assert render(table, "csv") == "run,AP\na,-0.5\n'-b,0.25\n"
    assert "a & $-$0.5 & \\textsuperscript{<*>} " in render(table, "latex")
    text = page_html(table_page(table))
    # A minus before a number is no hyphen; before a name it is.
    assert '<td class="n" data-v="-0.5">−0.5<sup>&lt;*&gt;</sup></td>' in text
    assert '<th scope="row">-b</th><td class="n"><strong>0.25</strong></td>' in text
    head = json.loads(re.search(r'type="application/json"[^>]*>(.*?)</script>', text)[1])
    assert head["tables"]["t"]["csv"]["rows"] == ["a,-0.5\n", "'-b,0.25\n"]
    assert head["tables"]["t"]["latex"]["rows"][1] == "-b & \\textbf{0.25} &  \\\\\n"


# Drawings


def test_names_in_a_drawing_are_only_seen() -> None:
    figure = Figure()
    ax = figure.add_subplot()
    (line,) = ax.plot(range(len(NASTY)), "o", label=NASTY[0])
    ax.set_xlabel(NASTY[3], parse_math=False)
    ax.legend()
    tell(line, NASTY)
    shown = PageFigure(
        id="dots", caption="C", alt=NASTY[1], svg=svg_text(figure, alt=NASTY[1], prefix="here-")
    )
    section = Section(id="s", title="T", question="Q", figures=(shown,))
    page = page_html(Page(title="P", subtitle="", lead=(), sections=(section,)))
    assert shown.svg in page
    read = Read(page)
    assert read.open == []
    test_no_attribute_acts_or_loads(read)
    assert len(read.all("script")) == 2
    assert len(read.all("style")) == 1
    ((drawing, _),) = read.all("svg")
    assert (drawing["role"], drawing["aria-label"]) == ("img", NASTY[1])
    assert drawing["stroke-linejoin"] == "round"
    assert [text for _, text in read.all("title")][1:] == list(map(clean, NASTY))
    assert {text for _, text in read.all("text")} >= {NASTY[0], NASTY[3]}
    assert not read.all("metadata")


# What is refused

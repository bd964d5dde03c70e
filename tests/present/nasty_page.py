"""A page as bad as names can make it, with everything that a page can have."""

from __future__ import annotations

from dataclasses import replace

from markupsafe import Markup

from steadyrank.present.page import (
    Bar,
    Board,
    BoardRow,
    FirstScreen,
    Page,
    PageFigure,
    Section,
    Tile,
)
from steadyrank.present.table import Cell, Table

NASTY = (
    "<script>window.hacked = 1</script>",
    '"><img src=x onerror="window.hacked = 2">',
    *("</style><script>window.hacked = 3</script>", "</script><script>window.hacked = 4</script>"),
    *("<!-- <script>", "]]><svg onload=window.hacked=5>", "javascript:window.hacked=6"),
    *("back\\slash \\u003c", "line\u2028separator", "\u202egnp.exe", "nul\x00bell\x07del\x7f"),
    *("half \ud800", "=HYPERLINK(1)", "+1+1", "-2", "@SUM(A1)", "\t=1", "\r=1"),
    *("{{ 7 * 7 }}{% raw %}", "$& $1 `${window.hacked = 7}`", "a&amp;b 100 % #1 _x_ ^~"),
    "a/b#c?d=%41",
    "comma, \"quote\" and 'apostrophe'",
    "x" * 200,
)

SVG = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
viewBox="0 0 200 60" width="200pt" height="60pt" role="img" font-family="sans-serif">
<defs><path id="{prefix}-dot" d="M-3 -3H3V3H-3z" stroke="currentColor"/></defs>
<g fill="#1f77b4">
<use id="{prefix}-point" xlink:href="#{prefix}-dot" x="30" y="30"
><title>&lt;b&gt;first&lt;/b&gt;</title></use></g>
<text x="60" y="35" font-size="10px" fill="currentColor">A &amp; B</text>
</svg>"""
"""As `svg_text` writes it, with ids that tests know."""


def figure(name: str) -> PageFigure:
    svg = Markup(SVG.replace("{prefix}", name))
    return PageFigure(id=name, caption=NASTY[0], alt=NASTY[1], svg=svg)


def runs_table() -> Table:
    """A table whose numbers are -inf, small, missing, equal and large, in no order."""
    numbers = [0.25, None, float("nan"), 3.0, float("-inf"), 1e-9, 0.25, float("inf"), -12.5, 10.0]
    values = [numbers[i % len(numbers)] for i in range(len(NASTY))]
    return Table(
        id="runs",
        caption=NASTY[3],
        header=("run", "AP", "=note"),
        rows=tuple(
            (
                Cell(name),
                Cell("–" if value is None else f"{value:.2f}", value, hover=f"hover {name}"),
                Cell("same" if i % 2 else "–", link="topics" if i == 3 else ""),
            )
            for i, (name, value) in enumerate(zip(NASTY, values, strict=True))
        ),
        shown=5,
    )


def topics_table() -> Table:
    names = (NASTY[0], "$& $1 `${window.hacked = 7}`", *NASTY[2:6], NASTY[0])
    return Table(
        id="topics",
        caption="Topics.",
        header=("topic", "mean"),
        rows=tuple((Cell(name, hover="more"), Cell(f"{i}", i)) for i, name in enumerate(names)),
    )


def nasty_page() -> Page:
    wide = Table(
        id="wide",
        caption="Many columns.",
        header=("name", *(f"column {i}" for i in range(40))),
        rows=(tuple(Cell(f"{i}.5", i + 0.5) for i in range(41)),),
    )
    return Page(
        title=NASTY[2],
        subtitle=NASTY[3],
        lead=(f"The answer names {NASTY[0]} first, by tau.", NASTY[9]),
        sections=(
            Section(
                id="first",
                title=NASTY[0],
                question="Do topics matter?",
                answer=("A topic does; another topic too.", NASTY[7]),
                means=NASTY[5],
                means_not=NASTY[6],
                figures=(figure("one"), figure("two")),
                tables=(runs_table(), topics_table(), wide),
                warnings=NASTY[:3],
            ),
            Section(id="second", title="Nothing", question=NASTY[1], why_not=NASTY[4]),
        ),
        provenance=(Table(id="files", caption="Files.", header=("file",), rows=((Cell("a"),),)),),
        command="steadyrank report '</script>' \\\n  --out x.html",
        notes={"tau": NASTY[1], "topic": 'a "need" <b>', "AP": "average precision"},
    )


def nasty_first_page() -> Page:
    """The same with a first screen, all of whose texts are as bad."""
    rows = tuple(
        BoardRow(rank=i + 1, name=name, score="0.5", low=1, high=10, group=name)
        for i, name in enumerate(NASTY[:10])
    )
    first = FirstScreen(
        verdict=f"{NASTY[0]} leads by tau.",
        line=NASTY[1],
        cautions=NASTY[2:5],
        board=Board(
            title=NASTY[5],
            note=NASTY[6],
            measure=NASTY[7],
            rows=rows,
            n_ranks=10,
            group=NASTY[8],
            link="first",
            more=NASTY[9],
        ),
        bars=tuple(
            Bar(about=NASTY[i], share=share, text=NASTY[i + 1], link="first")
            for i, share in enumerate((0.5, 0.25, 0.0))
        ),
        bars_note=NASTY[3],
        not_examined=NASTY[4],
        tiles=tuple(Tile(id=f"t{i}", figure=NASTY[i], text=NASTY[i + 1]) for i in range(4)),
    )
    return replace(nasty_page(), first=first, description=NASTY[1])

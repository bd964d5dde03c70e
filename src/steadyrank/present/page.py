"""Pages of results: their parts, and how they become one HTML file, which loads nothing else.

A page begins with its answer, has one section for each question, and ends with the provenance of
its numbers. Names of runs and topics may contain anything, so every text is escaped, control
characters are shown as codes, and the page allows only the script and style that it contains. The
same page gives the same bytes.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from itertools import takewhile
from numbers import Real
from types import CodeType
from typing import TYPE_CHECKING, Any

from steadyrank.data.write import csv_line
from steadyrank.present.pair_panel import PairPanel, packed
from steadyrank.present.run_names import RunNames
from steadyrank.present.table import Cell, Table, to_latex
from steadyrank.visible import visible

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFigure:
    """A figure of a page, as SVG with `<title>`s on its points. `id` is unique on the page."""

    id: str
    caption: str
    alt: str
    svg: str
    """As `svg_text` draws it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The section of one question: answer, meaning, figures and tables.

    A section that the data do not support has `why_not`; it is a line under "What else could be
    asked".
    """

    id: str
    title: str
    question: str
    answer: tuple[str, ...] = ()
    means: str = ""
    means_not: str = ""
    figures: tuple[PageFigure, ...] = ()
    tables: tuple[Table, ...] = ()
    warnings: tuple[str, ...] = ()
    why_not: str = ""
    is_open: bool = True
    """Whether it is open at first; otherwise its title and first sentence are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardRow:
    """One row of the board: a run, its rank, and the ranks that it may have."""

    rank: int
    name: str
    score: str
    low: int
    high: int
    group: str = ""
    """The letters of its groups, or a word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """The best rows of a leaderboard."""

    title: str
    note: str
    """The meaning of dots and bars."""
    measure: str
    rows: tuple[BoardRow, ...]
    n_ranks: int
    """Number of ranks on the scale of the bars."""
    group: str = "group"
    """The title of the last column."""
    link: str = ""
    """The id of the section with all rows."""
    more: str = ""
    """The text of that link."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A share of pairs that swap, and the id of the section about it."""

    about: str
    share: float
    text: str
    link: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """A key number, and what it counts."""

    id: str
    figure: str
    text: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstScreen:
    """The answer of a page: verdict, best rows, what would change the order, figures."""

    verdict: str
    line: str = ""
    """The lead, its interval, and whether it is significant."""
    assumption: str = ""
    """The effect of another assumption."""
    cautions: tuple[str, ...] = ()
    board: Board | None = None
    bars: tuple[Bar, ...] = ()
    """The largest share first."""
    bars_note: str = ""
    not_examined: str = ""
    tiles: tuple[Tile, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A whole page: answer, sections and provenance."""

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    lead: tuple[str, ...] = ()
    """The answer in sentences, for a page without a first screen."""
    first: FirstScreen | None = None
    description: str = ""
    """One line for link previews."""
    provenance: tuple[Table, ...] = ()
    command: str = ""
    """The command that rebuilds the page."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Terms of the page with their explanations."""
    names: RunNames = field(default_factory=RunNames)
    """The names of runs as the page shows them."""
    pairs: PairPanel | None = None
    """The panel for comparing two runs."""


_MISSING = ("", "-", "–", "—")


def page_html(page: Page) -> str:
    """Return the page as one HTML document, to be written as UTF-8.

    It requires no network, and JavaScript only to sort, copy and compare two runs. All rows are
    printed.

    >>> text = page_html(Page(title="A <b>", subtitle="", lead=("No.",), sections=()))
    >>> "A &lt;b&gt;" in text, "<b>" in text
    (True, False)
    """
    from jinja2 import Template
    from markupsafe import Markup

    style = _part("page.css")
    script = _part("page.js") + (_part("pair.js") if page.pairs else "")
    environment = _environment(page)
    template = Template.from_code(environment, _template(), environment.make_globals(None))
    return template.render(
        page=page,
        policy=_policy(style, script),
        style=Markup(style),
        script=Markup(script),
        data=Markup(_data(page)),
    )


def _environment(page: Page) -> Environment:
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=lambda value: value if isinstance(value, Markup) else visible(str(value)),
    )
    environment.filters.update(
        filter_values=lambda table, j: sorted({row[j].text for row in table.rows} - {*_MISSING}),
        hover=hoverer(page.names),
        look=looker(page.names),
        name=page.names.cell,
        named=namer(page.names),
        number_columns=_number_columns,
        share_bar=_share_bar,
        track=_track,
        short=page.names.cell,
        sort_key=_sort_key,
        told=page.names.told,
        typeset=_typeset,
    )
    return environment


@functools.cache
def _template() -> CodeType:
    nothing = Page(title="", subtitle="", sections=())
    return _environment(nothing).compile(_part("page.html.j2"))


def _part(name: str) -> str:
    return (files("steadyrank.present") / "page" / name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Return a policy that allows only the page's style and script, by hash, and inline images."""
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _tables(page: Page) -> Iterator[Table]:
    for section in page.sections:
        yield from section.tables
    yield from page.provenance


# Bars of the first screen; their widths are percentages


def _track(row: BoardRow, n_ranks: int) -> Markup:
    """Draw a bar over the ranks that a row may have, and a dot at its rank."""
    from markupsafe import Markup

    left, width = 100 * (row.low - 1) / n_ranks, 100 * (row.high - row.low + 1) / n_ranks
    dot = 100 * (min(row.rank, n_ranks) - 0.5) / n_ranks
    return Markup(
        '<svg height="14" aria-hidden="true"><rect x="{:.1f}%" y="4" width="{:.1f}%" height="6" '
        'rx="3"/><circle cx="{:.1f}%" cy="7" r="4.5"/></svg>'
    ).format(left, width, dot)


def _share_bar(bar: Bar, largest: float, is_largest: bool) -> Markup:
    from markupsafe import Markup

    width = 100 * bar.share / largest if largest > 0.0 else 0.0
    look = Markup(' class="largest"') if is_largest else Markup()
    return Markup(
        '<svg height="14" aria-hidden="true"><rect width="{:.1f}%" height="14" rx="3"{}/></svg>'
    ).format(max(width, 0.7), look)


# Sorting


def _number_columns(table: Table) -> tuple[bool, ...]:
    """Return which columns hold any number; their other cells are missing values."""
    return tuple(
        any(isinstance(row[column].value, Real) for row in table.rows)
        for column in range(len(table.header))
    )


def _sort_key(cell: Cell, is_number: bool) -> str:
    """Return the number or text by which JavaScript sorts a cell; nothing if it is missing."""
    if is_number:
        return _number(cell.value).replace("inf", "Infinity")
    text = cell.value if isinstance(cell.value, str) else cell.text
    return "" if text in _MISSING else text


def _number(value: float | str | None) -> str:
    """Return all digits of a number, and nothing for other values."""
    if not isinstance(value, Real) or math.isnan(value):
        return ""
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def _typeset(cell: Cell) -> str:
    """Return the text of a cell; a number has a minus sign instead of a hyphen."""
    if isinstance(cell.value, Real) and cell.text.startswith("-"):
        return f"−{cell.text[1:]}"
    return cell.text


# Data of the script


def _data(page: Page) -> str:
    """Return everything that the script needs, as JSON that is safe inside an HTML element."""
    data = {
        "tables": {
            table.id: {"latex": _latex_parts(table, page.names), "csv": _csv_parts(table)}
            for table in _tables(page)
        },
        **({} if page.pairs is None else {"pairs": packed(page.pairs, page.names.shown)}),
    }
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")


def _latex_parts(table: Table, names: RunNames) -> dict[str, str | list[str]]:
    """Return a booktabs table in lines, so that rows can be copied in the order of the page.

    Names are as the page shows them; CSV has the full names.
    """
    plain = replace(
        table,
        header=[visible(name) for name in table.header],
        rows=[[Cell(visible(names.cell(_typeset(cell)))) for cell in row] for row in table.rows],
        caption=visible(table.caption),
        n_names=max(
            1, len(list(takewhile(lambda is_number: not is_number, _number_columns(table))))
        ),
    )
    lines = to_latex(plain).splitlines(keepends=True)
    start, end = lines.index("\\midrule\n") + 1, lines.index("\\bottomrule\n")
    return {"head": "".join(lines[:start]), "rows": lines[start:end], "foot": "".join(lines[end:])}


def _csv_parts(table: Table) -> dict[str, str | list[str]]:
    numbers = _number_columns(table)
    rows = [
        [
            _number(cell.value)
            if is_number
            else (cell.value if isinstance(cell.value, str) else cell.text)
            for cell, is_number in zip(row, numbers, strict=True)
        ]
        for row in table.rows
    ]
    return {"head": csv_line(table.header), "rows": [csv_line(row) for row in rows], "foot": ""}


LONGEST_LINE = 24
"""Number of characters of a cell that are kept on one line."""


def namer(names: RunNames) -> Callable[[str], Markup]:
    """Return a function that shows names of runs as the page does, with the full name on hover."""
    from markupsafe import Markup, escape

    def named(text: str) -> Markup:
        whole = Markup('<span title="{}">{}</span>')
        parts = names.parts(visible(text))
        return Markup("").join(whole.format(n, piece) if n else escape(piece) for piece, n in parts)

    return named


def hoverer(names: RunNames) -> Callable[[Cell], str]:
    """Return a function for the tooltip of a cell: its hover text, or the full name of a run."""

    def hover(cell: Cell) -> str:
        if cell.hover or isinstance(cell.value, Real):
            return cell.hover
        return names.told(cell.text) if cell.text in names.shown else ""

    return hover


def looker(names: RunNames) -> Callable[[Cell, bool], Markup]:
    """Return a function for the classes of a cell: numbers, long texts and shortened names."""
    from markupsafe import Markup

    def look(cell: Cell, is_number: bool) -> Markup:
        is_long = len(names.cell(cell.text)) > LONGEST_LINE
        is_a = {"n": is_number, "long": is_long, "name": is_long and cell.text in names.shown}
        kinds = [kind for kind, holds in is_a.items() if holds]
        return Markup(' class="{}"').format(" ".join(kinds)) if kinds else Markup()

    return look

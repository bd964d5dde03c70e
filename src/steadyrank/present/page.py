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
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from itertools import takewhile
from numbers import Real
from types import CodeType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from steadyrank.data.write import csv_line
from steadyrank.present.pair_panel import PairPanel, packed, packed_numbers
from steadyrank.present.run_names import RunNames
from steadyrank.present.table import Cell, Drilldown, Table, to_latex
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

    It requires no network, and JavaScript only for sorting, copying and drilldowns. All rows are
    printed.

    >>> text = page_html(Page(title="A <b>", subtitle="", lead=("No.",), sections=()))
    >>> "A &lt;b&gt;" in text, "<b>" in text
    (True, False)
    """
    from jinja2 import Template
    from markupsafe import Markup

    style = _part("page.css")
    script = _part("numbers.js") + _part("page.js") + (_part("pair.js") if page.pairs else "")
    environment = _environment(page)
    template = Template.from_code(environment, _template(), environment.make_globals(None))
    return template.render(
        page=page,
        new_section=set,
        policy=_policy(style, script),
        style=Markup(style),
        script=Markup(script),
        data=Markup(_data(page)),
    )


def _environment(page: Page) -> Environment:
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    without_terms = explainer({}, page.names)
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=lambda value: value if isinstance(value, Markup) else visible(str(value)),
    )
    environment.filters.update(
        explained=explainer(page.notes, page.names),
        filter_values=lambda table, j: sorted({row[j].text for row in table.rows} - {*_MISSING}),
        fragment=_fragment,
        hover=hoverer(page.names),
        is_tall=_is_tall,
        look=looker(page.names),
        name=page.names.cell,
        named=lambda text: without_terms(text, set()),
        note=lambda name: page.notes.get(name, ""),
        number_columns=_number_columns,
        row_links=_row_links,
        share_bar=_share_bar,
        track=_track,
        shape=_shape,
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


# Figures and tables


TALL = 500.0
"""Height of a figure, in points, above which a page shows only its upper part at first."""

WIDE = 500.0
"""Width of a figure, in points, above which a phone scrolls it sideways instead of shrinking it."""

_SIZE = re.compile(r'viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"')


def _points(figure: PageFigure) -> tuple[float, float]:
    """Return the width and height of a figure in points, or 0 if they are unknown."""
    size = _SIZE.search(str(figure.svg)[:2000])
    return (0.0, 0.0) if size is None else (float(size[1]), float(size[2]))


def _is_tall(figure: PageFigure) -> bool:
    return _points(figure)[1] > TALL


def _shape(figure: PageFigure) -> Markup:
    """Return the classes of a figure that is tall, or too wide for a phone."""
    from markupsafe import Markup

    is_a = {"wide": _points(figure)[0] > WIDE, "tall": _is_tall(figure)}
    names = [name for name, holds in is_a.items() if holds]
    return Markup(' class="{}"').format(" ".join(names)) if names else Markup()


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


# Sorting and links of rows


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


def _row_links(table: Table) -> list[str]:
    """Return the link to each row's drilldown: `#table/row`, with a number if a name repeats."""
    if table.drilldown is None:
        return [""] * len(table.rows)
    met: Counter[str] = Counter()
    links = []
    for row in table.rows:
        link = f"#{table.id}/{_quoted(row[0].text)}"
        met[link] += 1
        links.append(link if met[link] == 1 else f"{link}/{met[link]}")
    return links


def _fragment(link: str) -> str:
    """Return the fragment of a link to `table` or `table/row`."""
    if not link:
        return ""
    where, slash, row = link.partition("/")
    return f"#{where}{slash}{_quoted(row)}"


def _quoted(text: str) -> str:
    return quote(visible(text), safe="!'()*")


# Data of the script


def _data(page: Page) -> str:
    """Return everything that the script needs, as JSON that is safe inside an HTML element."""
    tables = list(_tables(page))
    data = {
        "tables": {
            table.id: {"latex": _latex_parts(table, page.names), "csv": _csv_parts(table)}
            for table in tables
        },
        "drilldowns": {
            table.id: _drilldown(table.drilldown, page.names)
            for table in tables
            if table.drilldown is not None
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


def _drilldown(drilldown: Drilldown, names: RunNames) -> dict[str, object]:
    # Two additional digits keep the order of values that look equal.
    values = np.array(drilldown.values, np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        shown, exact = (np.round(values, drilldown.digits + more) for more in (0, 2))
    has_more = not np.array_equal(shown, exact, equal_nan=True)
    return {
        "title": visible(drilldown.title),
        "header": [visible(name) for name in drilldown.header],
        "digits": drilldown.digits,
        "names": [visible(names.cell(name)) for name in drilldown.names],
        "values": packed_numbers(values, drilldown.digits + (2 if has_more else 0)),
    }


LONGEST_LINE = 24
"""Number of characters of a cell that are kept on one line."""


def explainer(notes: Mapping[str, str], names: RunNames) -> Callable[[str, set[str]], Markup]:
    """Return a function that marks up the first mention of each term, unless it is in `seen`.

    Names of runs are as the page shows them, with the full name as tooltip.
    """
    from markupsafe import Markup, escape

    terms = sorted((term for term in notes if term), key=lambda term: (-len(term), term))
    pattern = re.compile(
        r"(?<![\w@-])(?:" + "|".join(map(_term_pattern, terms)) + r")(?![\w@-])"
        if terms
        else "(?!)"
    )

    def explained(text: str, seen: set[str]) -> Markup:
        out = Markup()
        for piece, name in names.parts(visible(text)):
            whole = Markup('<span title="{}">{}</span>')
            out += whole.format(name, piece) if name else with_terms(piece, seen)
        return out

    def with_terms(text: str, seen: set[str]) -> Markup:
        end, out = 0, Markup()
        for match in pattern.finditer(text):
            term = terms[(match.lastindex or 1) - 1]
            if term in seen:
                continue
            seen.add(term)
            out += escape(text[end : match.start()])
            out += Markup('<abbr title="{}" tabindex="0">{}</abbr>').format(
                visible(notes[term]), match.group()
            )
            end = match.end()
        return out + escape(text[end:])

    return explained


def _term_pattern(term: str) -> str:
    """Match words in any case and number; names and single letters exactly."""
    is_word = term.islower() and len(term) > 2
    return f"((?i:{re.escape(term)}s?))" if is_word else f"({re.escape(term)})"


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

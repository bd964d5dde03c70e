"""What a page of results is made of, before it is HTML.

A report is written in these few words: a page leads with its answer, has one section for each
question, and ends with where its numbers come from. `page_html` writes them out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table: what is shown, what it sorts and copies by, and what hovering tells.

    `link` is the id of something on the page. A `value` of None is a missing number.
    """

    text: str
    value: float | str | None = None
    hover: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drilldown:
    """The numbers behind a table's rows: one list of `names` for each row, best first when shown.

    Row i of the table opens `values[i]`, the figures of `names` (the runs of a topic, say).
    """

    names: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    title: str
    """With `{row}` for the row's first cell: "Runs on topic {row}"."""
    header: tuple[str, str] = ("run", "score")
    """What stands above the names and above their figures."""
    digits: int = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTable:
    """A table of a page. `id` is unique on the page."""

    id: str
    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    drilldown: Drilldown | None = None
    shown: int = 25
    """Rows that are open at first; the others open on a click, and print."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFigure:
    """A figure of a page, as SVG with `<title>`s on its points. `id` is unique on the page."""

    id: str
    caption: str
    alt: str
    svg: str
    """Ready for a page where `page_svg` made it; any other text is cleaned first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One question: its answer in words, what that means and does not, figures and tables.

    A section that the data cannot support has `why_not` and nothing else to show.
    """

    id: str
    title: str
    question: str
    answer: tuple[str, ...] = ()
    means: str = ""
    means_not: str = ""
    figures: tuple[PageFigure, ...] = ()
    tables: tuple[PageTable, ...] = ()
    warnings: tuple[str, ...] = ()
    why_not: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A whole page: the answer first, then the sections, then where it all comes from."""

    title: str
    subtitle: str
    lead: tuple[str, ...]
    sections: tuple[Section, ...]
    provenance: tuple[PageTable, ...] = ()
    command: str = ""
    """The command that rebuilds the page."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Terms used on the page, each with one line that explains it."""

"""The parts of a page of results, which `page_html` writes as HTML.

A page begins with its answer, has one section for each question, and ends with the provenance of
its numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from steadyrank.present.pair_panel import PairPanel
from steadyrank.present.run_names import RunNames
from steadyrank.present.table import Table

if TYPE_CHECKING:
    from markupsafe import Markup


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFigure:
    """A figure of a page, as SVG with `<title>`s on its points. `id` is unique on the page."""

    id: str
    caption: str
    alt: str
    svg: Markup
    """As `page_svg` draws it."""


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
    preview: bytes = b""
    """A PNG of the first screen, for link previews."""
    provenance: tuple[Table, ...] = ()
    command: str = ""
    """The command that rebuilds the page."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Terms of the page with their explanations."""
    names: RunNames = field(default_factory=RunNames)
    """The names of runs as the page shows them."""
    pairs: PairPanel | None = None
    """The panel for comparing two runs."""

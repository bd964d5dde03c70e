"""What a page of results is made of, before it is HTML.

A report is written in these few words: a page leads with its answer, has one section for each
question, and ends with where its numbers come from. `page_html` writes them out.
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
    """One question: its answer in words, what that means and does not, figures and tables.

    A section that the data cannot support has `why_not` and nothing else to show: it shrinks to a
    line under "What else could be asked".
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
    """Whether it is unfolded at first; else its title and the first sentence are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardRow:
    """One of the best: its rank, and the ranks that it may have."""

    rank: int
    name: str
    score: str
    low: int
    high: int
    group: str = ""
    """Letters or a word that place it among the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """The best rows of a leaderboard."""

    title: str
    note: str
    """What dots and bars are."""
    measure: str
    rows: tuple[BoardRow, ...]
    n_ranks: int
    """Ranks that the bars are drawn over."""
    group: str = "group"
    """What the last column is called."""
    link: str = ""
    """The section with all rows."""
    more: str = ""
    """What stands for that link."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A share of pairs that swap, and the section about it."""

    about: str
    share: float
    text: str
    link: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """A figure to remember, and what it counts."""

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
    """What another assumption would change."""
    cautions: tuple[str, ...] = ()
    board: Board | None = None
    bars: tuple[Bar, ...] = ()
    """The largest share first."""
    bars_note: str = ""
    not_examined: str = ""
    tiles: tuple[Tile, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A whole page: the answer first, then the sections, then where it all comes from."""

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    lead: tuple[str, ...] = ()
    """The answer in sentences, of a page without a first screen."""
    first: FirstScreen | None = None
    description: str = ""
    """One line for whoever links to the page."""
    preview: bytes = b""
    """A PNG of the first screen, for the same."""
    provenance: tuple[Table, ...] = ()
    command: str = ""
    """The command that rebuilds the page."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Terms used on the page, each with one line that explains it."""
    names: RunNames = field(default_factory=RunNames)
    """What stands for names of runs."""
    pairs: PairPanel | None = None
    """A panel in which two runs are picked."""

"""What a page of results is made of, before it is HTML.

A report is written in these few words: a page leads with its answer, has one section for each
question, and ends with where its numbers come from. `page_html` writes them out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from steadyrank.present.pair_panel import PairPanel
from steadyrank.present.run_names import RunNames
from steadyrank.present.slider import PageSlider
from steadyrank.present.table import Table


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
    sliders: tuple[PageSlider, ...] = ()
    """They stand before figures and tables."""
    warnings: tuple[str, ...] = ()
    why_not: str = ""
    is_open: bool = True
    """Whether it is unfolded at first; print and pages without scripts show everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A line of a card: what it is about, and a sentence or two."""

    about: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """The answer of a page on one screen: cautions, a sentence, facts and a picture."""

    verdict: str
    cautions: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    figure: PageFigure | None = None

    @property
    def sentences(self) -> tuple[str, ...]:
        """All that it says, what must be known first before the rest."""
        return (*self.cautions, self.verdict, *(fact.text for fact in self.facts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A whole page: the answer first, then the sections, then where it all comes from."""

    title: str
    subtitle: str
    lead: tuple[str, ...]
    """The answer in sentences; a page with a card shows that instead."""
    sections: tuple[Section, ...]
    card: Card | None = None
    provenance: tuple[Table, ...] = ()
    command: str = ""
    """The command that rebuilds the page."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Terms used on the page, each with one line that explains it."""
    names: RunNames = field(default_factory=RunNames)
    """What stands for names of runs."""
    pairs: PairPanel | None = None
    """A panel in which two runs are picked."""

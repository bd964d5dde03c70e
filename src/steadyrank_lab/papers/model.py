"""Parts of a reproduction: a paper's tables and figures, and claims about them.

A claim is what must agree with the paper: its sentence in our words and the published value are
in the paper's `Sheet`, a file of claims; the paper's module computes ours and decides. A figure
that depends on the paper's data is drawn from the given data, and only its shape or its order can
agree. A module has one function per exhibit, which yields its parts. A table takes plain values
and shows them rounded, while its CSV file has every digit; a figure is drawn once and kept as SVG.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, wraps
from importlib.resources import files
from itertools import chain
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np

from steadyrank._version import __version__
from steadyrank.compute.executors import Progress
from steadyrank.notebook import Framed, shown_by
from steadyrank.present.figures import svg_text
from steadyrank.present.page import PageFigure
from steadyrank.present.plot_style import tidy
from steadyrank.present.table import Cell, Table
from steadyrank.studies.plotting import alt_text, plot
from steadyrank.words import MISSING, by_number, counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_P = ParamSpec("_P")

SURE = 1.96
"""Standard errors on either side of a 95% interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How much of a paper to reproduce, with which seed, and by how many threads."""

    budget: str | int = "full"
    """"small", "full", or a number of samples."""
    seed: int = 0
    jobs: int | None = None
    progress: Progress | None = None

    @property
    def threads(self) -> dict[str, Any]:
        """What studies take to do it."""
        return {"jobs": self.jobs, "progress": self.progress}

    def number(self, *, small: int, full: int) -> int:
        """Return the number of samples of the budget.

        >>> Work(budget="small").number(small=20, full=100), Work(budget=50).number(small=2, full=9)
        (20, 50)
        """
        if isinstance(self.budget, int):
            return self.budget
        return small if self.budget == "small" else full


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One thing that must agree with the paper, and whether it does.

    `holds` is None where the data or the Monte Carlo interval leave it open.
    """

    text: str
    """The paper's sentence in our words."""
    holds: bool | None
    detail: str = ""
    """Ours: the figures compared, simulated ones with their Monte Carlo interval."""
    id: str = ""
    published: str = ""
    """What the paper prints."""
    why: str = ""
    """Why it does not hold."""

    @property
    def verdict(self) -> str:
        """holds, fails or open."""
        return {True: "holds", False: "fails", None: "open"}[self.holds]

    @property
    def outcome(self) -> str:
        """The verdict, with the reason where it fails."""
        return f"{self.verdict}: {self.why}" if self.holds is False and self.why else self.verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """A reproduced table or figure of a paper."""

    id: str
    """As the paper calls it: "table-3", "figure-1"."""
    title: str
    command: str = ""
    """What gives the same outside of a reproduction, on anyone's data."""
    tables: tuple[Table, ...] = ()
    """Results of the given data, with what is printed where the two are comparable."""
    figures: tuple[PageFigure, ...] = ()
    claims: tuple[Claim, ...] = ()
    explanation: str = ""
    """What differs from the paper's text, and why."""
    results: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Exhibit {self.id}: {self.title}; claims: {summary(self.claims)}>"


Part = Table | PageFigure | Claim | str | Mapping[str, Any]
"""A part of an exhibit; words explain what differs from the paper, a mapping has results."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """What a paper claims and prints, from its file in `claims/`: all that is words, none computed.

    >>> sheet = Sheet("lin2005")
    >>> claim = sheet.claim("equation-13.near", True, "largest distance 0.00575")
    >>> claim.text, claim.verdict, claim.published
    ('Eq. 13 is within 0.0058 of eq. 8', 'holds', 'an approximation')
    """

    paper: str

    @property
    def words(self) -> dict[str, Any]:
        """The whole file: reference, what is not reproduced, and the exhibits by their ids."""
        return _sheet(self.paper)

    def claim(self, id: str, holds: Any, ours: str = "", **names: Any) -> Claim:
        """Return a decided claim; `names` fill gaps in its words, such as a collection's name."""
        place, _, name = id.rpartition(".")
        words = self.words[place]["claims"][name]
        said = {key: str(text).format(**names) for key, text in words.items()}
        return Claim(id=id, holds=None if holds is None else bool(holds), detail=ours, **said)

    def share_claim(
        self, id: str, agrees: Iterable[bool], ours: str = "", *, of: str = "", **names: Any
    ) -> Claim:
        """Return a claim about several figures, which holds if each agrees."""
        known = list(agrees)
        told = f"{sum(known)} of {len(known)} {of}".strip() + " agree"
        holds = all(known) if known else None
        return self.claim(id, holds, f"{told}; {ours}" if ours else told, **names)

    def exhibit(self, id: str) -> Callable[[Callable[_P, Iterable[Part]]], Callable[_P, Exhibit]]:
        """Let a function that yields parts return the exhibit that they make."""

        def decorate(parts: Callable[_P, Iterable[Part]]) -> Callable[_P, Exhibit]:
            @wraps(parts)
            def made(*args: _P.args, **options: _P.kwargs) -> Exhibit:
                return self.made(id, parts(*args, **options))

            return made

        return decorate

    def made(self, id: str, parts: Iterable[Part], **names: Any) -> Exhibit:
        """Return an exhibit of its parts, each kind in its order, with the words of the file."""
        known, words = list(parts), self.words[id]
        notes = [words.get("note", ""), *(part for part in known if isinstance(part, str))]
        found = (part.items() for part in known if isinstance(part, Mapping))
        return Exhibit(
            id=id,
            title=words["title"].format(**names),
            command=words.get("command", ""),
            tables=tuple(part for part in known if isinstance(part, Table)),
            figures=tuple(part for part in known if isinstance(part, PageFigure)),
            claims=tuple(part for part in known if isinstance(part, Claim)),
            explanation=" ".join(filter(None, notes)),
            results=dict(chain.from_iterable(found)),
        )

    def reproduction(self, data: str, exhibits: Iterable[Exhibit], **settings: Any) -> Reproduction:
        """All exhibits of the paper, made from data that are told in words."""
        return Reproduction(
            paper=self.paper,
            reference=self.words["reference"],
            data=data,
            exhibits=tuple(exhibits),
            settings={**settings, "steadyrank": __version__},
            missed=tuple(self.words.get("missed", ())),
        )


@cache
def _sheet(paper: str) -> dict[str, Any]:
    file = files("steadyrank_lab.papers") / "claims" / f"{paper}.toml"
    return tomllib.loads(file.read_text("utf-8"))


@dataclass(frozen=True, slots=True, kw_only=True)
@shown_by("steadyrank_lab.papers.output:reproduction_text")
class Reproduction(Framed):
    """All exhibits of one paper, with the claims that must hold.

    Examples
    --------
    >>> import steadyrank as sr
    >>> made = sr.reproduce("lin2005", budget="small")
    >>> len(made.exhibits), all(claim.holds for claim in made.exhibits[0].claims)
    (4, True)
    """

    paper: str
    reference: str
    data: str
    """The data that the exhibits were made from, in words."""
    exhibits: tuple[Exhibit, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    missed: tuple[str, ...] = ()
    """Parts of the paper that are not reproduced, and why."""

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Claims of all exhibits, in their order."""
        return tuple(chain.from_iterable(exhibit.claims for exhibit in self.exhibits))

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per claim; `holds` is None where it is open."""
        return [
            {
                "exhibit": each.id,
                "claim": claim.text,
                "holds": claim.holds,
                "figures": claim.detail,
                "published": claim.published,
                "why": claim.why,
            }
            for each in self.exhibits
            for claim in each.claims
        ]

    def __repr__(self) -> str:
        number = counted(len(self.exhibits), "exhibit")
        return f"<Reproduction of {self.paper}: {number}; claims: {summary(self.claims)}>"


def summary(claims: Sequence[Claim]) -> str:
    """Return how many claims hold, in words.

    >>> summary((Claim(text="a", holds=True), Claim(text="b", holds=None)))
    '1 of 2 holds, 0 fail, 1 open'
    """
    held, failed = (sum(claim.holds is value for claim in claims) for value in (True, False))
    words = f"{held} of {len(claims)} {by_number(held, 'holds', 'hold')}"
    words += f", {failed} {by_number(failed, 'fails', 'fail')}"
    return f"{words}, {len(claims) - held - failed} open" if held + failed < len(claims) else words


def cell(value: Any, digits: int = 4) -> Cell:
    """Return a value as a table shows it; whole numbers and texts as they are.

    >>> cell(0.123456).text, cell(12).text, cell(None).text, cell((0.1, 0.25), 2).text
    ('0.1235', '12', '–', '[0.10, 0.25]')
    """
    if isinstance(value, Cell):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return Cell(MISSING)
    if isinstance(value, (tuple, list)):
        low, high = (cell(end, digits).text for end in value)
        return Cell(f"[{low}, {high}]", f"[{value[0]!r}, {value[1]!r}]")
    if isinstance(value, float):
        return Cell(f"{value:,.{digits}f}", value)
    return Cell(str(value), value if isinstance(value, str) else float(value))


def scientific(value: float) -> Cell:
    """Return a small number by its order.

    >>> scientific(0.000464).text
    '4.64e-04'
    """
    return Cell(MISSING) if math.isnan(value) else Cell(f"{value:.2e}", value)


def page_table(
    name: str,
    caption: str,
    header: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    digits: int = 4,
) -> Table:
    """Return a table of values and ready cells; `name` is its id and the name of its files."""
    cells = tuple(tuple(cell(value, digits) for value in row) for row in rows)
    return Table(id=name, caption=caption, header=tuple(header), rows=cells)


def result_figure(name: str, caption: str, result: Any, kind: str, **options: Any) -> PageFigure:
    """Return a result drawn as `plot` draws it."""
    drawn = plot(result, kind=kind, **options)
    return page_figure(name, caption, drawn, alt=alt_text(result, kind))


def blank_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """Return a figure of this size in inches with axes to draw on, as `plot` has them."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    ax = figure.add_subplot()
    tidy(ax)
    return figure, ax


def frame_figure(
    name: str,
    caption: str,
    draw: Callable[..., None],
    frame: Any,
    size: tuple[float, float] = (5.6, 4.0),
    **options: Any,
) -> PageFigure:
    """Return a figure of a frame, drawn by a function that draws on axes."""
    figure, ax = blank_figure(*size)
    draw(ax, frame, **options)
    return page_figure(name, caption, figure)


def page_figure(name: str, caption: str, figure: Figure, *, alt: str = "") -> PageFigure:
    """Return a figure as SVG; `name` is its id and its file's name; `alt` defaults to its axes."""
    ax = figure.axes[0]
    alt = alt or f"{caption}: {ax.get_ylabel()} against {ax.get_xlabel()}."
    return PageFigure(
        id=name, caption=caption, alt=alt, svg=svg_text(figure, prefix=f"{name}-", alt=alt)
    )


def above(value: float, limit: float, error: float) -> bool | None:
    """Return whether a simulated value is above a limit; None within 1.96 standard errors of it.

    >>> above(0.9, 0.5, 0.1), above(0.6, 0.5, 0.1), above(0.1, 0.5, 0.1)
    (True, None, False)
    """
    return None if not abs(value - limit) > SURE * error else value > limit


def simulated(value: float, error: float, digits: int = 4) -> str:
    """Return a simulated figure with its 95% Monte Carlo interval.

    >>> simulated(0.32, 0.01, 3)
    '0.320 [0.300, 0.340]'
    """
    low, high = value - SURE * error, value + SURE * error
    return f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def increases(values: Sequence[float]) -> bool | None:
    """Return whether values rise, if not at each step: by Spearman's sign over their places.

    The result is None if fewer than two are known, or all are the same.

    >>> increases([1.0, 3.0, 2.0, 4.0]), increases([3.0, 2.0, 1.0])
    (True, False)
    >>> increases([1.0]), increases([0.0, 0.0, 0.0])
    (None, None)
    """
    known = np.array([value for value in values if not math.isnan(value)])
    if len(np.unique(known)) < 2:
        return None
    above = np.sign(known[:, None] - known).sum(axis=1)
    return bool((np.arange(len(known)) * above).sum() > 0)


def listed(values: Iterable[float], digits: int = 3) -> str:
    """Numbers in a sentence.

    >>> listed([0.1, 0.25])
    '0.100, 0.250'
    """
    return ", ".join(f"{value:.{digits}f}" for value in values)

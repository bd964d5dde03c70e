"""What a reproduction is made of: a paper's tables and figures, made again, and claims about them.

An exhibit says what must agree with the paper and whether it does; a figure that depends on the
paper's own data is drawn from the data at hand, and only its shape or its order can agree.
A paper's module has one function per exhibit, which yields its parts. A table takes plain values
and shows them rounded, while its CSV file has every digit; a figure is drawn once and kept as SVG;
a claim compares and says with which figures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from itertools import chain
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np

from steadyrank.compute.executors import Progress
from steadyrank.errors import InputError
from steadyrank.notebook import Framed, shown_by
from steadyrank.present.page import PageFigure
from steadyrank.present.plot_style import tidy
from steadyrank.present.svg import page_svg
from steadyrank.present.table import Cell, Table
from steadyrank.studies.plotting import alt_text, plot
from steadyrank.words import MISSING, by_number, counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_P = ParamSpec("_P")


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How much of a paper to make again, by which random numbers, and who does it."""

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
        """How many samples the budget stands for.

        >>> Work(budget="small").number(small=20, full=100), Work(budget=50).number(small=2, full=9)
        (20, 50)
        """
        budget = self.budget
        if isinstance(budget, int) and not isinstance(budget, bool) and budget >= 2:
            return budget
        if budget not in ("small", "full"):
            raise InputError(
                f"budget is 'small', 'full' or a number of samples of at least 2: {budget!r}"
            )
        return small if budget == "small" else full


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One thing that must agree with the paper, and whether it does.

    `holds` is None where the data at hand cannot tell. `detail` gives the figures compared.
    """

    text: str
    holds: bool | None
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """A table or figure of a paper, made again."""

    id: str
    """As the paper calls it: "table-3", "figure-1"."""
    title: str
    tables: tuple[Table, ...] = ()
    """What the data at hand give, beside what is printed where the two are comparable."""
    figures: tuple[PageFigure, ...] = ()
    claims: tuple[Claim, ...] = ()
    explanation: str = ""
    """What differs from the paper's text, and why."""
    results: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Exhibit {self.id}: {self.title}; claims: {summary(self.claims)}>"


Part = Table | PageFigure | Claim | str | Mapping[str, Any]
"""A part of an exhibit; words explain what differs from the paper, a mapping has results."""


def exhibit(id: str, title: str) -> Callable[[Callable[_P, Iterable[Part]]], Callable[_P, Exhibit]]:
    """Let a function that yields parts return the exhibit that they make."""

    def decorate(parts: Callable[_P, Iterable[Part]]) -> Callable[_P, Exhibit]:
        @wraps(parts)
        def made(*args: _P.args, **options: _P.kwargs) -> Exhibit:
            return exhibit_of(id, title, parts(*args, **options))

        return made

    return decorate


def exhibit_of(id: str, title: str, parts: Iterable[Part]) -> Exhibit:
    """An exhibit of its parts, each kind in its order."""
    known = list(parts)
    return Exhibit(
        id=id,
        title=title,
        tables=tuple(part for part in known if isinstance(part, Table)),
        figures=tuple(part for part in known if isinstance(part, PageFigure)),
        claims=tuple(part for part in known if isinstance(part, Claim)),
        explanation=" ".join(part for part in known if isinstance(part, str)),
        results=dict(
            chain.from_iterable(part.items() for part in known if isinstance(part, Mapping))
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
@shown_by("papers.output:reproduction_text")
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
    """Which data the exhibits were made from, in words."""
    exhibits: tuple[Exhibit, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Those of all exhibits, in their order."""
        return tuple(chain.from_iterable(exhibit.claims for exhibit in self.exhibits))

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per claim; `holds` is None where the data cannot tell."""
        return [
            {"exhibit": each.id, "claim": claim.text, "holds": claim.holds, "figures": claim.detail}
            for each in self.exhibits
            for claim in each.claims
        ]

    def __repr__(self) -> str:
        number = counted(len(self.exhibits), "exhibit")
        return f"<Reproduction of {self.paper}: {number}; claims: {summary(self.claims)}>"


def summary(claims: Sequence[Claim]) -> str:
    """How many claims hold, in words.

    >>> summary((Claim(text="a", holds=True), Claim(text="b", holds=None)))
    '1 of 2 holds; 1 cannot be decided from these data'
    """
    held, open_ = (sum(claim.holds is value for claim in claims) for value in (True, None))
    words = f"{held} of {len(claims)} {by_number(held, 'holds', 'hold')}"
    return f"{words}; {open_} cannot be decided from these data" if open_ else words


def cell(value: Any, digits: int = 4) -> Cell:
    """A value as a table shows it; whole numbers and texts as they are.

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
    """A small number by its order.

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
    """A table of plain values and ready cells; `name` is its id and the name of its files."""
    cells = tuple(tuple(cell(value, digits) for value in row) for row in rows)
    return Table(id=name, caption=caption, header=tuple(header), rows=cells)


def result_figure(name: str, caption: str, result: Any, kind: str, **options: Any) -> PageFigure:
    """A result drawn as `plot` draws it."""
    drawn = plot(result, kind=kind, **options)
    return page_figure(name, caption, drawn, alt=alt_text(result, kind))


def blank_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """A figure of so many inches with axes to draw on, as `plot` has them."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    ax = figure.add_subplot()
    tidy(ax)
    return figure, ax


def page_figure(name: str, caption: str, figure: Figure, *, alt: str) -> PageFigure:
    """A figure as SVG; `name` is its id and the name of its file."""
    return PageFigure(
        id=name, caption=caption, alt=alt, svg=page_svg(figure, prefix=f"{name}-", alt=alt)
    )


def claim(text: str, holds: Any, detail: str = "") -> Claim:
    """A claim, and whether it holds: None where nothing can be said."""
    return Claim(text=text, holds=None if holds is None else bool(holds), detail=detail)


def share_claim(text: str, agrees: Sequence[bool], detail: str = "", *, of: str = "") -> Claim:
    """A claim about several figures, which holds if each agrees."""
    what = f"{sum(agrees)} of {len(agrees)} {of}".strip()
    words = f"{what} agree" + (f"; {detail}" if detail else "")
    return claim(text, all(agrees) if agrees else None, words)


def increases(values: Sequence[float]) -> bool | None:
    """Whether values rise, if not at each step: by Spearman's sign over their places.

    None where fewer than two are known, or where all are the same.

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

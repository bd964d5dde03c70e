"""Small pieces that all reproductions are put together from: cells, tables, figures, claims.

A table takes plain values and shows them rounded, while its CSV file has every digit; a figure is
drawn once and kept as SVG; a claim compares and says with which figures.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from steadyrank.papers.model import Claim
from steadyrank.present.page import PageFigure
from steadyrank.present.page_svg import page_svg
from steadyrank.present.table import Cell, Table
from steadyrank.studies.plotting import alt_text, plot
from steadyrank.words import MISSING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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

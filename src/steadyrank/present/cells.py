"""Small pieces that sections of a report are put together from: cells, tables and figures.

A cell shows a number rounded and sorts and copies by all its digits. Figures that would be too
large to look at are left out; tables are cut and say what they leave out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from steadyrank.present.page import Cell, Drilldown, PageTable
from steadyrank.words import MISSING
from steadyrank.words import pvalue as pvalue_text

DIGITS = 4

MOST_ROWS = 1000
"""Rows of a table."""

MOST_CELLS = 6000
"""Cells of a heat map: more cannot be pointed at, and make the page heavy."""

MOST_NUMBERS = 100_000
"""Numbers behind the rows of a table."""


def number(value: float, form: str = ".4f") -> Cell:
    """A number as a table shows it.

    >>> number(0.123456).text, number(float("nan")).text, number(0.02, "+.3f").text
    ('0.1235', '–', '+0.020')
    """
    value = float(value)
    if math.isnan(value):
        return Cell(MISSING)
    if math.isinf(value):
        return Cell("none", None)
    return Cell(format(value, form).replace("-", "−"), value)


def whole(value: float | None) -> Cell:
    """A count; nothing where there is none.

    >>> whole(1200).text, whole(None).text
    ('1,200', '–')
    """
    if value is None:
        return Cell(MISSING)
    return number(value, ",.0f")


def percent(share: float) -> Cell:
    """A share.

    >>> percent(0.1234).text
    '12.3%'
    """
    return number(share, ".1%")


def pvalue(value: float) -> Cell:
    """A p-value; small ones only as such.

    >>> pvalue(0.0123).text, pvalue(1e-9).text
    ('0.0123', '< 0.0001')
    """
    return Cell(pvalue_text(value), None if math.isnan(value) else float(value))


def span(ends: Sequence[float] | None, form: str = ".4f") -> Cell:
    """An interval.

    >>> span((0.1, 0.25), ".2f").text, span((0.1, math.inf), ".2f").text, span(None).text
    ('0.10 to 0.25', '0.10 to ∞', '–')
    """
    if ends is None or any(end is None or math.isnan(end) for end in ends):
        return Cell(MISSING)
    low, high = (_end(end, form) for end in ends)
    return Cell(f"{low.text} to {high.text}", f"{low.value} to {high.value}")


def _end(value: float, form: str) -> Cell:
    if math.isinf(value):
        endless = "∞" if value > 0 else "−∞"
        return Cell(endless, endless)
    return number(value, form)


def name(text: str, hover: str = "") -> Cell:
    """A name, which sorts by itself."""
    return Cell(text, text, hover)


def table(
    id: str,
    caption: str,
    header: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    *,
    shown: int = 25,
    drilldown: Drilldown | None = None,
    most: int = MOST_ROWS,
) -> PageTable:
    """A table of cells; of too many rows the first, and the caption says so."""
    made = [tuple(row) for row in rows]
    if len(made) > most:
        caption = f"{caption} The first {most:,} of {len(made):,} rows."
        made = made[:most]
    return PageTable(
        id=id,
        caption=caption,
        header=tuple(header),
        rows=tuple(made),
        shown=shown,
        drilldown=drilldown,
    )


def drilldown(names: Sequence[str], values: np.ndarray, title: str) -> tuple[Drilldown, int]:
    """The numbers behind rows [row, name], to four digits, and how many names are left out.

    Names come in the order in which they are to be kept.
    """
    kept = min(len(names), max(20, MOST_NUMBERS // max(1, len(values))))
    rounded = np.round(values[:, :kept], DIGITS)
    rows = tuple(
        tuple(None if math.isnan(value) else value for value in row) for row in rounded.tolist()
    )
    made = Drilldown(names=tuple(names[:kept]), values=rows, title=title)
    return made, len(names) - kept

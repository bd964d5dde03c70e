"""Small pieces that tables are put together from, for commands and for pages alike.

A cell shows a number rounded and sorts and copies by all its digits. Tables of a page that would
be too long are cut and say what they leave out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from steadyrank.present.table import Cell, Drilldown, Table
from steadyrank.words import MISSING, typeset
from steadyrank.words import interval as interval_text
from steadyrank.words import pvalue as pvalue_text
from steadyrank.words import size as size_text

DIGITS = 4

MOST_ROWS = 1000
"""Rows of a table."""

MOST_NUMBERS = 50_000
"""Scores of runs on topics that a page holds, behind the rows of a table or for two runs."""


def number(value: float | None, form: str = ".4f") -> Cell:
    """A number as a table shows it, with the sign for minus, which is no hyphen.

    >>> number(0.123456).text, number(float("nan")).text, number(-0.02, "+.3f").text
    ('0.1235', '–', '−0.020')
    """
    if value is None or math.isnan(value):
        return Cell(MISSING)
    if math.isinf(value):
        return Cell("none")
    return Cell(typeset(format(value, form)), float(value))


def whole(value: float | None) -> Cell:
    """A count; nothing where there is none.

    >>> whole(1200).text, whole(None).text
    ('1,200', '–')
    """
    return number(value, ",.0f")


def size(value: float | None) -> Cell:
    """A number that a computation requires, as of topics.

    >>> size(1200).text, size(2e7).text, size(math.inf).text, size(None).text
    ('1,200', 'more than a million', 'none', '–')
    """
    if value is None or math.isnan(value) or math.isinf(value):
        return whole(value)
    return Cell(size_text(value), float(value))


def size_interval(ends: Sequence[float] | None) -> Cell:
    """An interval of such numbers.

    >>> size_interval((51, 8404)).text, size_interval((51, math.inf)).text
    ('[51, 8,404]', '[51, none]')
    """
    return Cell(MISSING) if ends is None else Cell(f"[{', '.join(size(end).text for end in ends)}]")


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
    """An interval, as a page shows it; of a limit that is not known a dash.

    >>> span((0.1, 0.25), ".2f").text, span((0.1, math.inf), ".2f").text, span(None).text
    ('0.10 to 0.25', '0.10 to ∞', '–')
    >>> span((math.nan, 0.25), ".2f").text
    '– to 0.25'
    """
    if ends is None or all(end is None or math.isnan(end) for end in ends):
        return Cell(MISSING)
    low, high = (_end(end, form) for end in ends)
    return Cell(f"{low.text} to {high.text}", f"{low.value} to {high.value}")


def _end(value: float | None, form: str) -> Cell:
    if value is None or math.isnan(value):
        return Cell(MISSING, MISSING)
    if math.isinf(value):
        return Cell(_endless(value), _endless(value))
    return Cell(typeset(format(value, form)), float(value))


def interval(ends: Sequence[float] | None, form: str) -> Cell:
    """An interval in brackets, as commands print it.

    >>> interval((0.1, 0.25), ".2f").text
    '[0.10, 0.25]'
    """
    return Cell(interval_text(ends, form, endless="none"))


def signed(value: float | None, form: str) -> Cell:
    """A number with the sign for minus, which is no hyphen.

    >>> signed(-0.0123, "+.3f").text, signed(math.inf, "+.2f").text, signed(None, "+.2f").text
    ('−0.012', '∞', '–')
    """
    if value is None or math.isnan(value):
        return Cell(MISSING)
    text = _endless(value) if math.isinf(value) else typeset(format(value, form))
    return Cell(text, float(value))


def signed_interval(ends: Sequence[float] | None, form: str) -> Cell:
    """An interval in brackets with such numbers.

    >>> signed_interval((-math.inf, 0.25), "+.2f").text, signed_interval((math.nan, 1), "+.2f").text
    ('[−∞, +0.25]', '[–, +1.00]')
    """
    if ends is None or all(math.isnan(end) for end in ends):
        return Cell(MISSING)
    return Cell(f"[{', '.join(signed(end, form).text for end in ends)}]")


def _endless(value: float) -> str:
    return "∞" if value > 0 else "−∞"


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
) -> Table:
    """A table of cells; of too many rows the first, and the caption says so."""
    kept = list(rows)
    if len(kept) > most:
        caption = f"{caption} The first {most:,} of {len(kept):,} rows."
    return Table(
        id=id, caption=caption, header=header, rows=kept[:most], shown=shown, drilldown=drilldown
    )


def titled(rows: Iterable[Mapping[str, Cell]]) -> tuple[list[str], list[list[Cell]]]:
    """Header and rows of a table whose cells stand beside the titles of their columns.

    >>> titled([{"run": name("a"), "score": number(0.5)}])[0]
    ['run', 'score']
    """
    made = list(rows)
    return list(made[0]) if made else [], [list(row.values()) for row in made]


def most_columns(n_rows: int) -> int:
    """How many columns of numbers a page holds beside each other, where there are so many rows.

    >>> most_columns(50), most_columns(1000), most_columns(10_000)
    (1000, 50, 20)
    """
    return max(20, MOST_NUMBERS // max(1, n_rows))


def drilldown(names: Sequence[str], values: np.ndarray, title: str) -> tuple[Drilldown, int]:
    """The numbers behind rows [row, name], to four digits, and how many names are left out.

    Names come in the order in which they are to be kept.
    """
    kept = min(len(names), most_columns(len(values)))
    rows = tuple(
        tuple(None if math.isnan(value) else value for value in row)
        for row in np.round(values[:, :kept], DIGITS).tolist()
    )
    return Drilldown(names=tuple(names[:kept]), values=rows, title=title), len(names) - kept

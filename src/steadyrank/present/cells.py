"""Cells of tables, for commands and pages.

A cell shows a rounded number, and is sorted and copied with all digits. Long tables of a page are
cut and say so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from steadyrank.present.table import Cell, Table
from steadyrank.words import MISSING, typeset
from steadyrank.words import interval as interval_text
from steadyrank.words import pvalue as pvalue_text
from steadyrank.words import size as size_text

DIGITS = 4

MOST_ROWS = 1000
"""Number of rows of a table on a page."""

MOST_NUMBERS = 50_000
"""Number of scores by run and topic on a page, in the panel of pairs."""


def number(value: float | None, form: str = ".4f") -> Cell:
    """Return a number with a minus sign instead of a hyphen; infinity is "none".

    >>> number(0.123456).text, number(float("nan")).text, number(-0.02, "+.3f").text
    ('0.1235', '–', '−0.020')
    """
    return Cell("none") if value is not None and math.isinf(value) else signed(value, form)


def whole(value: float | None) -> Cell:
    """Return a count.

    >>> whole(1200).text, whole(None).text
    ('1,200', '–')
    """
    return number(value, ",.0f")


def size(value: float | None) -> Cell:
    """Return a required number, such as of topics.

    >>> size(1200).text, size(2e7).text, size(math.inf).text, size(None).text
    ('1,200', 'more than a million', 'none', '–')
    """
    if value is None or math.isnan(value) or math.isinf(value):
        return whole(value)
    return Cell(size_text(value), float(value))


def size_interval(ends: Sequence[float] | None) -> Cell:
    """Return an interval of required numbers.

    >>> size_interval((51, 8404)).text, size_interval((51, math.inf)).text
    ('[51, 8,404]', '[51, none]')
    """
    return Cell(MISSING) if ends is None else Cell(f"[{', '.join(size(end).text for end in ends)}]")


def percent(share: float) -> Cell:
    """Return a share in percent.

    >>> percent(0.1234).text
    '12.3%'
    """
    return number(share, ".1%")


def pvalue(value: float) -> Cell:
    """Return a p-value; a small one is less than a bound.

    >>> pvalue(0.0123).text, pvalue(1e-9).text
    ('0.0123', '< 0.0001')
    """
    return Cell(pvalue_text(value), None if math.isnan(value) else float(value))


def span(ends: Sequence[float] | None, form: str = ".4f") -> Cell:
    """Return an interval as a page shows it; an unknown limit is a dash.

    >>> span((0.1, 0.25), ".2f").text, span((0.1, math.inf), ".2f").text, span(None).text
    ('0.10 to 0.25', '0.10 to ∞', '–')
    >>> span((math.nan, 0.25), ".2f").text
    '– to 0.25'
    """
    if ends is None or all(end is None or math.isnan(end) for end in ends):
        return Cell(MISSING)
    low, high = (signed(end, form) for end in ends)
    unknown = (MISSING, "∞", "−∞")
    exact = [end.text if end.text in unknown else str(end.value) for end in (low, high)]
    return Cell(f"{low.text} to {high.text}", " to ".join(exact))


def interval(ends: Sequence[float] | None, form: str) -> Cell:
    """Return an interval in brackets, as commands print it.

    >>> interval((0.1, 0.25), ".2f").text
    '[0.10, 0.25]'
    """
    return Cell(interval_text(ends, form, endless="none"))


def signed(value: float | None, form: str) -> Cell:
    """Return a number with a minus sign instead of a hyphen; infinity is ∞.

    >>> signed(-0.0123, "+.3f").text, signed(math.inf, "+.2f").text, signed(None, "+.2f").text
    ('−0.012', '∞', '–')
    """
    if value is None or math.isnan(value):
        return Cell(MISSING)
    endless = "∞" if value > 0 else "−∞"
    return Cell(endless if math.isinf(value) else typeset(format(value, form)), float(value))


def signed_interval(ends: Sequence[float] | None, form: str) -> Cell:
    """Return an interval in brackets, with ∞ for infinity.

    >>> signed_interval((-math.inf, 0.25), "+.2f").text, signed_interval((math.nan, 1), "+.2f").text
    ('[−∞, +0.25]', '[–, +1.00]')
    """
    if ends is None or all(math.isnan(end) for end in ends):
        return Cell(MISSING)
    return Cell(f"[{', '.join(signed(end, form).text for end in ends)}]")


def name(text: str, hover: str = "") -> Cell:
    """Return a name, which is sorted by its text."""
    return Cell(text, text, hover)


def table(
    id: str,
    caption: str,
    header: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    *,
    shown: int = 25,
    most: int = MOST_ROWS,
) -> Table:
    """Return a table of at most `most` rows; the caption says so if it was cut."""
    kept = list(rows)
    if len(kept) > most:
        caption = f"{caption} The first {most:,} of {len(kept):,} rows."
    return Table(id=id, caption=caption, header=header, rows=kept[:most], shown=shown)


def most_columns(n_rows: int) -> int:
    """Return how many columns of numbers a page holds, given the number of rows.

    >>> most_columns(50), most_columns(1000), most_columns(10_000)
    (1000, 50, 20)
    """
    return max(20, MOST_NUMBERS // max(1, n_rows))

"""What a table is: typed cells under a header, which are best, what stands raised behind them.

`table` prints it, in whatever format; a study describes each of its tables once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table: what is shown, what it sorts and copies by, and what hovering tells.

    `link` is the id of something on the page. A `value` of None is a missing number, or a text
    that stands for itself.
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
class Table:
    """Rows of cells under a header."""

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    id: str = ""
    """Unique on its page."""
    best: frozenset[tuple[int, int]] = field(default_factory=frozenset)
    """(row, column) of the cells to set in bold."""
    second: frozenset[tuple[int, int]] = field(default_factory=frozenset)
    """(row, column) of the cells to underline."""
    marks: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """(row, column) to what stands raised behind the cell."""
    groups: Sequence[tuple[str, int]] = ()
    """What stands above several columns: a text and how many, from the first figure on."""
    label: str = ""
    """By which LaTeX refers to the table."""
    n_names: int = 1
    """How many columns, from the first, are names and stand to the left; the rest are figures."""
    wrapped: bool = False
    """Whether line breaks in cells are meant, for a terminal; elsewhere they are a name's own."""
    drilldown: Drilldown | None = None
    filter_by: tuple[int, ...] = ()
    """Columns by whose values a page filters rows; it can show the first row of each value of the
    first."""
    picks: int | None = None
    """Column with the names of runs that a page lets its reader pick for a comparison."""
    shown: int = 25
    """Rows that are open at first on a page; the others open on a click, and print."""


def emphasised(table: Table, row: int, column: int, text: str, bold: str, underlined: str) -> str:
    """The text of a cell, set apart where it is the best or the second of its column."""
    if (row, column) in table.second:
        text = underlined.format(text)
    return bold.format(text) if (row, column) in table.best else text


def widest_mark(table: Table, column: int) -> int:
    """Characters of the longest mark in a column."""
    return max((len(mark) for (_, j), mark in table.marks.items() if j == column), default=0)

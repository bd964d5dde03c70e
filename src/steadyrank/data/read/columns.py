"""The rows of a run or of judgments as columns, whatever file they come from, and their checks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from steadyrank.data.ids import Ids
from steadyrank.data.qrels import NOT_A_GRADE, are_grades
from steadyrank.errors import FormatError


@dataclass(frozen=True, slots=True)
class Columns:
    """Rows of a file: segment k holds topics[k] from row first_rows[k] on."""

    topics: list[str]
    first_rows: np.ndarray
    documents: Ids
    values: np.ndarray
    name: str = ""
    oddities: dict[str, int] = field(default_factory=dict)
    info: dict[str, str] = field(default_factory=dict)
    line_steps: tuple[int, int] = (0, 0)
    line_of: Callable[[int], int] = lambda row: row + 1
    """On which line of the file a row stands."""


def check_name(path: Path, what: str, name: Any, line: int | None) -> None:
    """Refuse what is no name: nothing, neither text nor a whole number, or half a letter."""
    if isinstance(name, bool) or not isinstance(name, (str, int)) or name == "":
        raise FormatError(path, f"expected a name as {what}, got {str(name)[:40]!r}", line)
    if isinstance(name, str) and not name.isascii():
        try:
            name.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise FormatError(path, f"the {what} {name[:40]!r} is not valid text", line) from None


def number_in(text: str, *, whole: bool = False) -> float | str:
    """Return the number in a text, or the text; `whole` takes NTCIR's grades, L0, L1, …

    >>> number_in("0.5"), number_in("L2", whole=True), number_in("L2"), number_in("1_0")
    (0.5, 2.0, 'L2', '1_0')
    """
    if whole and text[:1] == "L" and text[1:].isdecimal():
        return float(text[1:])
    try:
        return float(text) if "_" not in text else text
    except ValueError:
        return text


def _is_number(value: Any) -> bool:
    """Whether a cell holds a number that float64 can hold; NaN is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return not math.isnan(float(value))
    except OverflowError:
        return False


def value_problem(number: Any, value: str) -> str:
    """What is wrong with a score or a grade; nothing where all is well."""
    if not _is_number(number):
        return f"expected a number as {value}, got {str(number)[:40]}"
    if value == "relevance" and not are_grades(np.array(number, np.float64)):
        return f"{NOT_A_GRADE}, got {str(number)[:40]}: is this a run?"
    return ""

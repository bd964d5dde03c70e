"""The rows of a run or of judgments as columns, whatever file they come from, and their checks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from steadyrank.data.ids import Ids, make_ids
from steadyrank.data.interop.tables import RUN_NAMES, one_column, pick_all, spare_columns
from steadyrank.data.qrels import LARGEST_GRADE
from steadyrank.data.run import INFINITE_SCORES, OTHER_RUNS
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
    n_headers: int = 0
    line_steps: tuple[int, int] = (0, 0)


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
    """The number that a text stands for, or the text; `whole` takes NTCIR's grades, L0, L1, …

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
    if value == "relevance" and not (abs(number) <= LARGEST_GRADE and number == int(number)):
        message = f"expected a whole number as relevance, at most {LARGEST_GRADE}"
        return f"{message}, got {str(number)[:40]}"
    return ""


def check_cells(path: Path, topic: Any, document: Any, number: Any, value: str, line: int) -> None:
    """Refuse what is no name or no number, with its line."""
    check_name(path, "topic", topic, line)
    check_name(path, "document", document, line)
    if problem := value_problem(number, value):
        raise FormatError(path, problem, line)


def columns_of_rows(
    path: Path, rows: Iterable[tuple[int, Mapping[str, Any]]], value: str
) -> Columns:
    """Rows of names and cells, each with its line, as columns; `value` is score or relevance."""
    topics, documents, values, lines, labels = [], [], [], [], []
    wanted: list[str] = []
    name: str | None = None
    known: Set[str] | None = None
    for line, row in rows:
        if row.keys() != known:
            wanted = pick_all(path, row, value, line, row.get)
            name = one_column(path, row, RUN_NAMES, row.get, line)
            # Where two columns hold one thing, every row is asked whether they agree.
            known = None if spare_columns(row, value) else row.keys()
        topic, document, number = (row[column] for column in wanted)
        check_cells(path, topic, document, number, value, line)
        topics.append(str(topic))
        documents.append(str(document))
        values.append(number)
        lines.append(line)
        labels.append(row[name] if name else None)
    if not topics:
        raise FormatError(path, "empty: no rows")
    label, others = run_name(path, labels, lines)
    numbers = np.array(values, np.float64)
    odd = {OTHER_RUNS: others, INFINITE_SCORES: int(np.isinf(numbers).sum())}
    return Columns(
        topics,
        np.arange(len(topics)),
        make_ids(documents),
        numbers,
        label,
        odd if value == "score" else {},
    )


def run_name(
    path: Path, names: list[Any], lines: Iterable[int], before: str = ""
) -> tuple[str, int]:
    """A run's name as a table has it, and how many rows have another; `before` stood further up."""
    rows = (
        (name, line) for name, line in zip(names, lines, strict=False) if name not in (None, "")
    )
    if not before:
        first, line = next(rows, ("", 0))
        if first == "":
            return "", 0
        check_name(path, "run", first, line)
        before = str(first)
    return before, sum(str(name) != before for name, _ in rows)

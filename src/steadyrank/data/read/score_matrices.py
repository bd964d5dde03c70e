"""Wide score files: a matrix of one measure, with names on top and in the first column.

Some have no column of names, or no line of them. Taken as they stand, these would lose a system or
a topic without a word, its scores having become names: so whether the first column and the first
line hold names is asked, and what cannot be said is refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np

from steadyrank.data.read.csv_cells import armed, as_written
from steadyrank.data.read.table_rules import is_heading, names_in_front, names_rows, tell
from steadyrank.data.scores import Scores
from steadyrank.errors import FormatError, InputError, SteadyrankWarning

Numbered = list[tuple[int, list[str]]]
"""Rows of a file, each with the number of its line."""

_MISSING = {"", "nan", "na", "null", "none"}

Held = Literal["names", "scores", "either"]


def read_matrix(
    path: Path, header: list[str], rows: Numbered, *, measure: str, runs_in_rows: bool
) -> Scores:
    """A matrix of scores: topics down and runs across, or the other way round."""
    across = [name.strip() for name in header]
    _check_shape(path, across, rows, runs_in_rows)
    across, rows, runs_in_rows = _laid_out(path, across, rows, runs_in_rows)
    values = np.array([[number(path, text, line) for text in row[1:]] for line, row in rows])
    down = [fields[0].strip() for _, fields in rows]
    meta = come_from(path)
    if _is_line_of_scores(across, down, values):
        raise FormatError(path, _no_header(runs_in_rows), 1)
    held = _first_column(across, down, values, runs_in_rows)
    if held == "either":
        raise FormatError(path, _unclear(across[0], runs_in_rows), 1)
    if held == "scores":
        first = [number(path, text, line) for text, (line, _) in zip(down, rows, strict=True)]
        values = np.column_stack([first, values])
        down = [f"{'run' if runs_in_rows else ''}{k}" for k in range(1, len(rows) + 1)]
        what = "runs" if runs_in_rows else "topics"
        warnings.warn(_numbered(path, across[0], down, what), SteadyrankWarning, stacklevel=4)
        meta["numbered"] = what
    else:
        across = across[1:]
        if "" in down:
            line = rows[down.index("")][0]
            raise FormatError(path, "expected a name in the first column, got an empty cell", line)
    across, down = as_meant([across, down])
    runs, topics = (down, across) if runs_in_rows else (across, down)
    try:
        return Scores(
            measures=(measure,),
            runs=tuple(runs),
            topics=tuple(topics),
            values=(values if runs_in_rows else values.T)[np.newaxis],
            meta=meta,
        )
    except InputError as error:
        raise FormatError(path, str(error)) from None


def _laid_out(
    path: Path, header: list[str], rows: Numbered, runs_in_rows: bool
) -> tuple[list[str], Numbered, bool]:
    """The table with its column of names in front, and whether runs stand in rows."""
    fields = [row for _, row in rows]
    named = {
        kind: [k for k, text in enumerate(header) if names_rows(text) == kind]
        for kind in ("topics", "runs")
    }
    # A run may be called run, but then there are numbers below.
    texts = [
        k for k in named["runs"] if k == 0 or not any(plain_value(row[k].strip()) for row in fields)
    ]
    naming = texts if 0 in texts else named["topics"] or texts
    header, fields = names_in_front(path, header, fields, naming)
    rows = [(line, row) for (line, _), row in zip(rows, fields, strict=True)]
    held = names_rows(header[0])
    if held == "topics" and runs_in_rows:
        message = f"the first column, {header[0]!r}, names topics: omit runs_in_rows, or rename it"
        raise FormatError(path, message, 1)
    if held == "runs" and not runs_in_rows:
        tell(path, f"the first column, {header[0]!r}, names runs: read as with runs_in_rows")
    return header, rows, runs_in_rows or held == "runs"


def _check_shape(path: Path, header: list[str], rows: Numbered, runs_in_rows: bool) -> None:
    if len(header) < 2:
        what = "topics" if runs_in_rows else "runs"
        got = f"{', '.join(header)[:200]!r}"
        raise FormatError(path, f"expected a header of {what}, got {got}", 1)
    if not all(header[1:]):
        column = header.index("", 1) + 1
        raise FormatError(path, f"column {column} has no name: name or remove it", 1)
    for line, fields in rows:
        if len(fields) != len(header):
            raise FormatError(path, f"expected {len(header)} columns, got {len(fields)}", line)
    if not rows:
        raise FormatError(path, "empty: a header but no scores")


def _first_column(
    header: Sequence[str], cells: Sequence[str], others: np.ndarray, runs_in_rows: bool
) -> Held:
    """Whether the first column holds names, or scores as the other columns do.

    Names are whatever has a known heading, is not a number, or does not lie where the scores lie,
    as 301 does not among scores from 0 to 1. Where it does, fractions and repeated numbers are
    scores, and whole numbers in order, or among fractions, are names.
    """
    column = None if is_heading(header[0]) else _numbers(cells)
    if column is None or not _lie_among(column, others):
        return "names"
    is_whole, is_distinct = _is_whole(column), len(np.unique(column)) == len(column)
    if runs_in_rows and is_distinct and not is_whole:
        # Runs may be named by a parameter: 0.1, 0.2, 0.5 under a word, beside numbers of topics.
        if _numbers(header[:1]) is None and _numbers(header[1:]) is not None:
            return "names"
        return "either" if _rises(column) else "scores"
    if _in_unit(others):
        plain = all(text.strip().isdigit() for text in cells)
        return "names" if is_whole and is_distinct and plain else "scores"
    if is_whole and is_distinct:
        fractions = not _is_whole(_known(others))
        return "names" if fractions or _are_in_order(cells, column) else "either"
    if len(column) > 1 and np.ptp(column) == 0:
        return "scores"
    # Sorted, fractions may be names such as 31.1, 31.2, and whole numbers names with one twice.
    return "either" if (np.diff(column) >= 0).all() else "scores"


def _is_line_of_scores(header: Sequence[str], cells: Sequence[str], others: np.ndarray) -> bool:
    """Whether the first line is no header but scores.

    Names can be numbers too: whole ones of topics, and fractions of runs that are named by a
    parameter, which rise under a word that is not one of the names below it.
    """
    line = None if is_heading(header[0]) else _numbers(header[1:])
    if line is None or not _lie_among(line, others):
        return False
    corner = _numbers(header[:1])
    if _is_whole(line) and len(np.unique(line)) == len(line):
        counts = not _in_unit(others) and _is_whole(_known(others))
        return (
            corner is not None
            and counts
            and not _are_in_order(header, np.concatenate([corner, line]))
        )
    return corner is not None or (_numbers(cells) is None and not _rises(line))


def _are_in_order(texts: Sequence[str], values: np.ndarray) -> bool:
    """Whether whole numbers come as names do: upwards, sorted as text, or one after another."""
    as_text = all(a < b for a, b in pairwise(texts))
    return _rises(values) or as_text or np.ptp(values) + 1 == len(values)


def _numbers(cells: Sequence[str]) -> np.ndarray | None:
    """Those of the cells that are not missing, or None if some are no numbers or all missing."""
    texts = [cell.strip() for cell in cells if cell.strip().lower() not in _MISSING]
    values = [plain_value(text) for text in texts]
    if any(value is None for value in values):
        return None
    known = _known(np.array(values, np.float64))
    return known if len(known) else None


def _known(values: np.ndarray) -> np.ndarray:
    return np.asarray(values[~np.isnan(values)])


def _is_whole(values: np.ndarray) -> bool:
    return bool((values == np.round(values)).all())


def _rises(values: np.ndarray) -> bool:
    return bool((np.diff(values) > 0).all())


def _in_unit(scores: np.ndarray) -> bool:
    """Whether the scores are of a measure from 0 to 1, as nearly all are."""
    known = _known(scores)
    return bool(len(known) and known.min() >= 0 and known.max() <= 1)


def _lie_among(values: np.ndarray, scores: np.ndarray) -> bool:
    """Whether the values could be scores of the same measure."""
    known = _known(scores)
    if not len(known):
        return False
    low, high = (0.0, 1.0) if _in_unit(scores) else (known.min(), known.max())
    # One system may do better or worse than all others, but on no other scale.
    room = 0.0 if _in_unit(scores) else high - low
    return bool(values.min() >= low - room and values.max() <= high + room)


def _numbered(path: Path, heading: str, names: Sequence[str], what: str) -> str:
    one = what[:-1]
    return (
        f"{path}: the first column, {heading!r}, holds scores, so no column names the {what}: "
        f"they are numbered {names[0]} to {names[-1]}; if it holds {what}, name it {one!r}"
    )


def _unclear(heading: str, runs_in_rows: bool) -> str:
    one = "run" if runs_in_rows else "topic"
    return (
        f"the first column, {heading!r}, may hold {one}s or scores: name it {one!r} if it holds "
        f"{one}s, or put a column of {one}s before it"
    )


def _no_header(runs_in_rows: bool) -> str:
    down, across = ("run", "topics") if runs_in_rows else ("topic", "runs")
    return (
        f"the first line holds scores, not the names of {across}: add a header above it, or, "
        f"if these are names, name the first column {down!r}"
    )


def number(path: Path, text: str, line: int) -> float:
    """A score; NaN where it is missing, an error that names the line where it is none."""
    text = text.strip()
    value = np.nan if is_missing(text) else plain_value(text)
    if value is None:
        raise FormatError(path, f"expected a score, got {text[:40]!r}", line)
    return value


def is_missing(text: str) -> bool:
    """Whether a cell says that there is no score."""
    return text.lower() in _MISSING


def plain_value(text: str) -> float | None:
    """The number that a text stands for; Python reads 31_1 as 311, but it is a name."""
    try:
        value = float(text) if "_" not in text else np.inf
    except ValueError:
        return None
    return None if np.isinf(value) else value


def as_meant(columns: list[list[str]]) -> list[list[str]]:
    """Columns of names, without what keeps some from acting on spreadsheets and terminals."""
    distinct = set().union(*columns)
    meant = {name: armed(name) for name in distinct}
    if as_written([distinct]) or all(name == own for own, name in meant.items()):
        return columns
    return [[meant[name] for name in column] for column in columns]


def come_from(path: Path) -> dict[str, Any]:
    """What is known of scores that a file does not say more about."""
    return {"source": str(path)}

"""CSV that spreadsheets leave alone and that reads back as it was.

A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a formula, and names of runs
and topics come from anywhere. Such names are written behind an apostrophe, and characters that
would act on a terminal or are no text by their codes (`steadyrank.visible`), in every CSV file
alike; what reads CSV undoes both: a run `=x` stays `=x` on the way out and back.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from steadyrank.data.read.limits import LONGEST_LINE, check_blank, endless_line, inner_mark
from steadyrank.data.read.sources import open_bytes
from steadyrank.errors import FormatError
from steadyrank.visible import is_hidden, restored, reversible

if TYPE_CHECKING:
    import pandas as pd

# The wide forms stand for the same where a spreadsheet speaks Japanese or Chinese.
_STARTS = "[=+@\\t\\r\\n\uff1d\uff0b\uff0d\uff20-]"
_FORMULA = re.compile(_STARTS)
_DEFUSED = re.compile(f"'+{_STARTS}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-](?:inf|nan)?")
_QUOTED = re.compile('[",\\r\\n]|^[ \\t]|[ \\t]$')
_QUOTED_PART = re.compile('"[^"]*"?')
_DELIMITERS = ",\t;"


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would compute the cell; a plain number or a lone sign is no formula.

    >>> [is_formula(text) for text in ("=1+1", "-x", "-0.5", "'=1", "a=1")]
    [True, True, False, False, False]
    """
    return _FORMULA.match(text) is not None and _NUMBER.fullmatch(text) is None


def defused(text: str) -> str:
    """The text behind an apostrophe if it would be a formula, or look like one so written.

    >>> [defused(text) for text in ("=x", "'=x", "'x", "-0.5", "caf\\udce9")]
    ["'=x", "''=x", "'x", '-0.5', 'caf\\\\xe9']
    """
    text = reversible(text)
    return f"'{text}" if is_formula(text) or _DEFUSED.match(text) else text


def as_written(rows: Iterable[Iterable[str]]) -> bool:
    """Whether names must be taken as they are: steadyrank writes no formula, and no control."""
    return any(is_formula(name) or is_hidden(name) for row in rows for name in row)


def armed(text: str) -> str:
    """What `defused` made of a text, undone.

    >>> [armed(defused(text)) for text in ("=x", "'=x", "'x", "-0.5")]
    ['=x', "'=x", "'x", '-0.5']
    """
    return restored(text[1:] if _DEFUSED.match(text) else text)


def csv_cell(text: str) -> str:
    """One cell, defused, and quoted where need be."""
    text = defused(text)
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def csv_line(cells: Iterable[str]) -> str:
    """One line of a CSV file.

    >>> csv_line(["=x", "a,b", "-0.5", ""])
    '\\'=x,"a,b",-0.5,\\n'
    """
    return (",".join(map(csv_cell, cells)) or '""') + "\n"


def frame_csv(frame: pd.DataFrame, *, header: bool = True) -> str:
    """A frame as CSV, its texts and column names defused."""
    safe = frame.rename(columns=defused)
    for name, kind in safe.dtypes.items():
        if kind.kind not in "biufc":
            safe[name] = [defused(cell) if isinstance(cell, str) else cell for cell in safe[name]]
    return safe.to_csv(index=False, header=header, lineterminator="\n")


def read_csv(path: Path, *, delimiter: str | None = None) -> Iterator[tuple[int, list[str]]]:
    """The header, as it is, then the rows that are not blank, each with the number of its line.

    Without a delimiter, the first of comma, tab and semicolon that the header has.
    """
    with open_bytes(path) as stream:
        text = io.TextIOWrapper(stream, "utf-8-sig", "surrogateescape", newline="")
        first = text.readline(LONGEST_LINE)
        bare = _QUOTED_PART.sub("", first)
        chosen = delimiter or next((d for d in _DELIMITERS if d in bare), ",")
        lines = iter(lambda: text.readline(LONGEST_LINE), "")
        checked = _of_text(path, chain([first], lines), lambda: rows.line_num + 1)
        rows = csv.reader(checked, delimiter=chosen, strict=True)
        try:
            yield 1, next(rows, [])
            yield from ((rows.line_num, fields) for fields in rows if any(fields))
        except csv.Error as error:
            raise FormatError(path, f"not CSV: {error}", max(rows.line_num, 1)) from None


def _of_text(path: Path, lines: Iterable[str], number: Callable[[], int]) -> Iterator[str]:
    """The same lines; an error instead of a line that does not end, or of endless blank lines.

    `number` is that of the line that is asked for, of which a byte-order mark is refused: that of
    the first line was taken off.
    """
    blank = 0
    for line in lines:
        if len(line) >= LONGEST_LINE:
            raise endless_line(path)
        if line >= "\ufeff" and line[0] == "\ufeff":
            raise inner_mark(path, number())
        blank = blank + 1 if line.isspace() else 0
        if blank:
            check_blank(path, blank)
        yield line

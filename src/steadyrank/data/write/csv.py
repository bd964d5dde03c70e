"""CSV that spreadsheets leave alone and that reads back as it was.

A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a formula, and names of runs
and topics come from anywhere. Such names are written behind an apostrophe, and characters that
would act on a terminal or are no text by their codes (`steadyrank.visible`), in every CSV file
alike; what reads CSV undoes both: a run `=x` stays `=x` on the way out and back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from steadyrank.visible import is_hidden, restored, reversible

if TYPE_CHECKING:
    import pandas as pd

# Spreadsheets in Japanese or Chinese treat the wide forms alike.
_STARTS = "[=+@\\t\\r\\n\uff1d\uff0b\uff0d\uff20-]"
_FORMULA = re.compile(_STARTS)
_DEFUSED = re.compile(f"'+{_STARTS}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-](?:inf|nan)?")
_QUOTED = re.compile('[",\\r\\n]|^[ \\t]|[ \\t]$')


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

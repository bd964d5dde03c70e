"""How much is read of a file before it is taken for a bomb.

A packed file may unfold to a limited multiple of its size, and what is held in memory whole may
take a limited part of it. Both limits are far above any run, and `max_input` replaces them.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

from steadyrank.compute.memory import in_bytes, memory_limit
from steadyrank.errors import FormatError, arg, bad_value

LONGEST_LINE = 1 << 26
"""Bytes of the longest line: a file with a longer one is refused."""

MOST_BLANK = 100_000
"""Blank lines that may follow one another."""

SHARE = 8
"""A file that is read whole takes several times its size as Python's objects."""

ALWAYS_READ = 1 << 26
"""Bytes that may be read into memory however little there is."""

UNFOLDING = 100
"""Times its size that a packed file may unfold to; text unfolds to 5 to 30 times its size."""

ALWAYS_UNFOLDED = 1 << 28
"""Bytes that a packed file may unfold to whatever its size."""

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([KMGT]?)(I?)B?\s*", re.IGNORECASE)
_allowed: list[int] = []

_sent: ContextVar[int | None] = ContextVar("_sent", default=None)
"""The limit of the process that sent a task here, which holds for this task alone."""

BOM = b"\xef\xbb\xbf"
"""A byte-order mark, as some editors put it in front of a text."""


def max_input(size: int | str | None) -> None:
    """Set how large a file may be, unfolded, that this process reads into memory.

    Without it, that is an eighth of the memory, and a packed file may unfold to 100 times its
    size, or to 268 MB if that is more. Other processes that read runs for this one, as workers of a
    cluster do, keep to the same size.

    Parameters
    ----------
    size : int, str or None
        Bytes, or a number with a unit such as "20GB"; None for the limits above.

    Examples
    --------
    >>> import steadyrank as sr
    >>> sr.max_input("20GB")
    >>> sr.max_input(None)
    """
    _allowed[:] = [] if size is None else [_bytes_of(size)]


def given_limit() -> int | None:
    """The size that `max_input` was given, if any, for tasks that other processes do."""
    return _sent.get() or (_allowed[0] if _allowed else None)


@contextlib.contextmanager
def limited_by(sent: int | None) -> Iterator[None]:
    """Read by the limit of the process that sent the task, where it has one."""
    before = _sent.set(sent)
    try:
        yield
    finally:
        _sent.reset(before)


def _bytes_of(size: int | str) -> int:
    match = _SIZE.fullmatch(str(size))
    if match is None or float(match[1]) == 0:
        raise bad_value("max_input", "be a number of bytes such as 500MB or 20GB", size)
    unit = match[2].upper()
    scale = 2 ** (10 * list(_UNITS).index(unit)) if match[3] else _UNITS[unit]
    return int(float(match[1]) * scale)


def largest_input() -> int:
    """Bytes of a file that may be held in memory."""
    return given_limit() or max(ALWAYS_READ, memory_limit() // SHARE)


def largest_unfolded(packed: int) -> int:
    """Bytes that a packed file of that size may unfold to."""
    return given_limit() or max(ALWAYS_UNFOLDED, UNFOLDING * packed)


def check_taken(path: Path, taken: int) -> None:
    """Refuse a file that has more than `taken` bytes if these exceed the limit."""
    if (taken > ALWAYS_READ or given_limit()) and taken > (limit := largest_input()):
        raise FormatError(
            path,
            f"holds more than {in_bytes(limit)}, the limit of what is read into memory: split it, "
            f"or raise {arg('max_input')}",
        )


def endless_line(path: Path) -> FormatError:
    """The error for a line that is none of text."""
    message = f"a line of more than {LONGEST_LINE >> 20} MB: this is not a text of lines"
    return FormatError(path, message)


def inner_mark(path: Path, line: int) -> FormatError:
    """The error for a byte-order mark further down, which would become part of a name."""
    message = "a byte-order mark inside the file (were files joined?): remove it"
    return FormatError(path, message, line)


def check_blank(path: Path, blank: int) -> None:
    """Refuse a file with too many blank lines in a row."""
    if blank > MOST_BLANK:
        raise FormatError(
            path, f"more than {MOST_BLANK:,} blank lines in a row: this is not a table"
        )

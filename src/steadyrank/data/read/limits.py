"""How much is read of a file before it is taken for a bomb: nobody's memory is a reader's to fill.

A packed file may unfold to so many times its size, and what is held in memory whole may take so
large a part of it. Both limits are far above any run, and `max_input` replaces them.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any, BinaryIO

from steadyrank.compute.memory import in_bytes, memory_limit
from steadyrank.errors import FormatError, InputError

LONGEST_LINE = 1 << 26
"""Bytes of a line that are read before a file is taken for something else."""

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
        raise InputError(f"max_input must be a number of bytes such as 500MB or 20GB, got {size!r}")
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
    """Refuse a file of which so many bytes are in memory, and more are to come."""
    if (taken > ALWAYS_READ or given_limit()) and taken > (limit := largest_input()):
        raise FormatError(
            path,
            f"holds more than {in_bytes(limit)}, the limit of what is read into memory: split "
            "it, or raise max_input",
        )


def endless_line(path: Path) -> FormatError:
    """The error for a line that is none of text."""
    message = f"a line of more than {LONGEST_LINE >> 20} MB: this is not a text of lines"
    return FormatError(path, message)


BOM = b"\xef\xbb\xbf"
"""A byte-order mark, as some editors put it in front of a text."""


def inner_mark(path: Path, line: int) -> FormatError:
    """The error for a byte-order mark further down, which would become part of a name."""
    message = "a byte-order mark inside the file (were files joined?): remove it"
    return FormatError(path, message, line)


def check_blank(path: Path, blank: int) -> None:
    """Refuse a flood of blank lines, of which so many have come in a row."""
    if blank > MOST_BLANK:
        raise FormatError(
            path, f"more than {MOST_BLANK:,} blank lines in a row: this is not a table"
        )


class BoundedFile(io.BufferedReader):
    """An opened file whose lines, and what is read of it whole, are no larger than the limits.

    `kept` says that its lines become objects which stay in memory, so that all of them together
    count; what is read in pieces of a given size is the reader's own affair.
    """

    def __init__(self, raw: Any, path: Path, *, kept: bool = True):
        super().__init__(raw, 1 << 17)
        self.path = path
        self.kept = kept
        self.taken = 0
        self.blank = 0
        self.lines = 0

    def read(self, size: int | None = -1, /) -> bytes:
        """So many bytes, or all of them up to the limit."""
        if size is not None and size >= 0:
            return super().read(size)
        return b"".join(pieces_of(self.path, self))

    def read1(self, size: int = -1, /) -> bytes:
        """A piece of text, as `io.TextIOWrapper` takes it."""
        return self._counted(super().read1(size))

    def readline(self, size: int | None = -1, /) -> bytes:
        """A line, up to the limit of lines."""
        if size is not None and size >= 0:
            return super().readline(size)
        line = super().readline(LONGEST_LINE + 1)
        if len(line) > LONGEST_LINE:
            raise endless_line(self.path)
        self.blank = self.blank + 1 if line.isspace() else 0
        check_blank(self.path, self.blank)
        if self.lines and line.startswith(BOM):
            raise inner_mark(self.path, self.lines + 1)
        self.lines += 1
        return self._counted(line)

    def __next__(self) -> bytes:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def seek(self, target: int, whence: int = 0, /) -> int:
        """Go there; what is taken from there on counts from zero."""
        self.taken = self.lines = 0
        return super().seek(target, whence)

    def _counted(self, piece: bytes) -> bytes:
        self.taken += len(piece)
        if self.kept:
            check_taken(self.path, self.taken)
        return piece


def pieces_of(path: Path, stream: BinaryIO) -> Iterator[bytes]:
    """All that an opened file holds, as long as the memory can hold it."""
    taken = 0
    while piece := stream.read(1 << 20):
        taken += len(piece)
        check_taken(path, taken)
        yield piece


class Unfolding(io.RawIOBase):
    """What a packed file unfolds to, as far as it may."""

    def __init__(self, stream: Any, path: Path, packed: int):
        self.stream = stream
        self.path = path
        self.packed = packed
        self.largest = largest_unfolded(packed)
        self.unfolded = 0

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes: to its beginning, if no further."""
        return True

    def seek(self, target: int, whence: int = 0) -> int:
        """Go there, in the unfolded bytes."""
        self.unfolded = int(self.stream.seek(target, whence))
        return self.unfolded

    def tell(self) -> int:
        """Where it stands, in the unfolded bytes."""
        return int(self.stream.tell())

    def readinto(self, buffer: Any) -> int:
        """The next bytes; an error instead of more than there may be."""
        got = int(self.stream.readinto(buffer))
        self.unfolded += got
        if self.unfolded > self.largest:
            raise FormatError(
                self.path,
                f"unfolds to more than {in_bytes(self.largest)} from {in_bytes(self.packed)}: "
                "if you trust the file, raise max_input",
            )
        return got

    def close(self) -> None:
        """Close what was packed, too."""
        if not self.closed:
            self.stream.close()
        super().close()

"""The bytes of a file: unpacked, bounded, and once more where a stream gives them only once.

Readers open a file several times, for its kind, for its name, for the line of a defect. What
standard input, a pipe or `<(command)` gives is therefore read whole when it is first opened, and
kept as long as the process lasts. Packed files (gzip, xz, bzip2, zstd) are known by their first
bytes; Python has the first three, and zstd is Arrow's, which is there for Parquet anyway.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import io
import os
import re
import sys
import threading
import zlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from steadyrank.compute.memory import in_bytes, memory_limit
from steadyrank.errors import FormatError, MachineError, arg, bad_value

STANDARD_INPUT = ("-", "/dev/stdin")

RawFile = io.FileIO | io.BytesIO
"""The bytes of a file, or of a stream that was read whole."""


@dataclass(frozen=True, slots=True)
class Packing:
    """One way to pack files: its name, the first bytes, the suffix, and Python's module for it."""

    name: str
    magic: bytes
    suffix: str
    module: str

    def open(self, raw: RawFile) -> Any:
        """What was packed, from its beginning."""
        raw.seek(0)
        if self.module != "pyarrow":
            return importlib.import_module(self.module).open(raw)
        import pyarrow as pa

        # Arrow closes the handle that it is given: give it another one.
        if isinstance(raw, io.BytesIO):
            packed = pa.BufferReader(raw.getvalue())
        else:
            packed = pa.PythonFile(os.fdopen(os.dup(raw.fileno()), "rb"), "r")
        return pa.CompressedInputStream(packed, self.name)


PACKINGS = (
    Packing("gzip", b"\x1f\x8b", ".gz", "gzip"),
    Packing("xz", b"\xfd7zXZ\x00", ".xz", "lzma"),
    Packing("bzip2", b"BZh", ".bz2", "bz2"),
    Packing("zstd", b"\x28\xb5\x2f\xfd", ".zst", "pyarrow"),
)

_BINARY = (b"PAR1", b"PK\x03\x04", b"\xff\xfe", b"\xfe\xff", *(known.magic for known in PACKINGS))
"""How files begin that may hold NUL bytes: those that are read, zip and UTF-16."""

_contents: dict[Path, bytes] = {}
_reading = threading.Lock()


def is_stream(path: Path) -> bool:
    """Whether a path is there but cannot be read twice: neither a file nor a folder."""
    if is_file(path):
        return False
    return str(path) in STANDARD_INPUT or (path.exists() and not path.is_dir())


def is_file(path: Path) -> bool:
    """Whether there is a file at a path, which is no name of the standard input."""
    return path.is_file() and str(path) not in STANDARD_INPUT


def is_readable(path: Path) -> bool:
    """Whether there is a file or a stream at a path."""
    return is_file(path) or is_stream(path)


def open_again(path: Path) -> RawFile:
    """The bytes of a file or stream, as they are, from the beginning."""
    return io.BytesIO(content_of(path)) if is_stream(path) else io.FileIO(path)


def content_of(stream: Path) -> bytes:
    """All that a stream gives; the same when asked again."""
    with _reading:
        if stream not in _contents:
            if str(stream) in STANDARD_INPUT and sys.stdin is None:
                raise MachineError("stdin is closed: name a file")
            # Not by its name: another user's pipe cannot be opened again.
            with open(os.dup(0) if str(stream) in STANDARD_INPUT else stream, "rb") as opened:
                _contents[stream] = b"".join(_of_a_file(stream, pieces_of(stream, opened)))
        return _contents[stream]


def _of_a_file(stream: Path, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the pieces; an error before the second one if no file begins so, such as /dev/zero."""
    first = next(pieces, b"")
    yield first
    is_strange = b"\0" in first and not first.startswith(_BINARY)
    for piece in pieces:
        if is_strange:
            raise FormatError(stream, "NUL bytes: neither text nor Parquet nor a packed file")
        yield piece


def forget_streams() -> None:
    """Let go of what streams gave, as when a command has ended."""
    with _reading:
        _contents.clear()


def size_of(path: Path) -> int:
    """Bytes of a file or stream."""
    return len(content_of(path)) if is_stream(path) else path.stat().st_size


def digest_of(path: Path) -> str:
    """SHA-256 of a file or stream."""
    with open_again(path) as raw:
        return hashlib.file_digest(raw, "sha256").hexdigest()


def pieces_of(path: Path, stream: BinaryIO) -> Iterator[bytes]:
    """All that an opened file holds, as long as the memory can hold it."""
    taken = 0
    while piece := stream.read(1 << 20):
        taken += len(piece)
        check_taken(path, taken)
        yield piece


def is_broken(error: BaseException) -> bool:
    """Whether an error says that packed data are damaged, and not that the disk failed."""
    if isinstance(error, OSError):
        return error.errno is None
    # By its name: some Pythons are built without lzma.
    return isinstance(error, (EOFError, zlib.error)) or type(error).__name__ == "LZMAError"


class Unfolding(io.RawIOBase):
    """What a packed file unfolds to, as far as it may; it can be rewound, and no more."""

    def __init__(self, raw: RawFile, packing: Packing, path: Path):
        self.raw, self.packing, self.path = raw, packing, path
        self.packed = raw.seek(0, io.SEEK_END)
        self.largest = largest_unfolded(self.packed)
        self.stream, self.unfolded = packing.open(raw), 0

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """To its beginning."""
        return True

    def seek(self, target: int, whence: int = 0) -> int:
        """Go to the beginning."""
        if target or whence:
            raise io.UnsupportedOperation("a packed file can only be rewound to its beginning")
        self.stream, self.unfolded = self.packing.open(self.raw), 0
        return 0

    def tell(self) -> int:
        """How many bytes have unfolded."""
        return self.unfolded

    def readinto(self, buffer: Any) -> int:
        """The next bytes; an error instead of more than there may be."""
        got = int(self.stream.readinto(buffer))
        self.unfolded += got
        if self.unfolded > self.largest:
            raise FormatError(
                self.path,
                f"unfolds to more than {in_bytes(self.largest)} from {in_bytes(self.packed)}: if "
                f"you trust the file, raise {arg('max_input')}",
            )
        return got


class BoundedFile(io.BufferedReader):
    """An opened file whose lines, and what is read of it whole, are no larger than the limits."""

    def __init__(self, raw: Any, path: Path, *, kept: bool = True):
        super().__init__(raw, 1 << 17)
        self.path, self.kept = path, kept
        self.taken = self.blank = self.lines = 0

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

"""Files that can be read only once: standard input, pipes, `<(command)`.

Readers open a file several times, for its kind, for its name, for the line of a defect. What a
stream gives is therefore read whole when it is first opened, and kept as long as the process lasts.
"""

from __future__ import annotations

import hashlib
import io
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from steadyrank.data.read.limits import pieces_of
from steadyrank.data.read.packing import PACKINGS
from steadyrank.errors import FormatError, MachineError

STANDARD_INPUT = ("-", "/dev/stdin")

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


def open_again(path: Path) -> io.FileIO | io.BytesIO:
    """The bytes of a file or stream, as they are, from the beginning."""
    return io.BytesIO(content_of(path)) if is_stream(path) else io.FileIO(path)


def content_of(stream: Path) -> bytes:
    """All that a stream gives; the same when asked again."""
    with _reading:
        if stream not in _contents:
            with _opened_once(stream) as opened:
                _contents[stream] = b"".join(_of_a_file(stream, pieces_of(stream, opened)))
        return _contents[stream]


def _of_a_file(stream: Path, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The same pieces; an error before the second one where no file begins so, as of /dev/zero."""
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


def _opened_once(stream: Path) -> BinaryIO:
    if str(stream) not in STANDARD_INPUT:
        return open(stream, "rb")
    if sys.stdin is None:
        raise MachineError("stdin is closed: name a file")
    # Not by its name: another user's pipe cannot be opened again, and Windows has no such name.
    return open(os.dup(0), "rb")

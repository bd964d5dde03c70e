"""Packed files: gzip, xz, bzip2 and zstd, known by their first bytes, read as streams.

Python has the first three; zstd is Arrow's, which is there for Parquet anyway.
"""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from steadyrank.data.read.limits import Unfolding

RawFile = io.FileIO | io.BytesIO
"""The bytes of a file, or of a stream that was read whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Packing:
    """One way to pack files: its name, the first bytes, the suffix, and how to open it."""

    name: str
    magic: bytes
    suffix: str
    open: Callable[[RawFile], Any]


def _open_gzip(raw: RawFile) -> Any:
    import gzip

    return gzip.open(cast(IO[bytes], raw))


def _open_xz(raw: RawFile) -> Any:
    import lzma

    return lzma.open(cast(IO[bytes], raw))


def _open_bzip2(raw: RawFile) -> Any:
    import bz2

    return bz2.open(cast(IO[bytes], raw))


def _open_zstd(raw: RawFile) -> Any:
    return io.BufferedReader(_Zstd(raw), 1 << 16)


PACKINGS = (
    Packing(name="gzip", magic=b"\x1f\x8b", suffix=".gz", open=_open_gzip),
    Packing(name="xz", magic=b"\xfd7zXZ\x00", suffix=".xz", open=_open_xz),
    Packing(name="bzip2", magic=b"BZh", suffix=".bz2", open=_open_bzip2),
    Packing(name="zstd", magic=b"\x28\xb5\x2f\xfd", suffix=".zst", open=_open_zstd),
)


def unpacked(raw: RawFile, packing: Packing, path: Path) -> Unfolding:
    """An opened file as what was packed, as far as it may unfold."""
    size = raw.seek(0, io.SEEK_END)
    raw.seek(0)
    return Unfolding(packing.open(raw), path, size)


def is_broken(error: BaseException) -> bool:
    """Whether an error says that packed data are damaged, and not that the disk failed."""
    if isinstance(error, OSError):
        return error.errno is None
    # By its name: some Pythons are built without lzma.
    return isinstance(error, (EOFError, zlib.error)) or type(error).__name__ == "LZMAError"


class _Zstd(io.RawIOBase):
    """A zstd file as Python's streams are: Arrow's own cannot go back to the beginning."""

    def __init__(self, raw: RawFile):
        self.raw = raw
        self._begin()

    def _begin(self) -> None:
        import pyarrow as pa

        # Arrow closes what it was given, so it is given a handle of its own.
        if isinstance(self.raw, io.BytesIO):
            packed = pa.BufferReader(self.raw.getvalue())
        else:
            handle = os.fdopen(os.dup(self.raw.fileno()), "rb")
            handle.seek(0)
            packed = pa.PythonFile(handle, "r")
        self.source = pa.CompressedInputStream(packed, "zstd")
        self.position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence != io.SEEK_SET or offset not in (0, self.position):
            raise io.UnsupportedOperation("a zstd stream can only be rewound to its beginning")
        if offset != self.position:
            self._begin()
        return self.position

    def tell(self) -> int:
        return self.position

    def close(self) -> None:
        if not self.closed:
            self.source.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        piece = self.source.read(len(buffer))
        buffer[: len(piece)] = piece
        self.position += len(piece)
        return len(piece)

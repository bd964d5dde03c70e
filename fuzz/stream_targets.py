"""Pipes, FIFOs and standard input give the same result as files.

Run and refusal are equal, packed or not, the packing broken or not.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import os
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

import steadyrank as sr
from fuzz.format_targets import NESTED
from fuzz.line_targets import MORSELS
from fuzz.mutants import Target, disturb_bytes, unpacked
from fuzz.reader_targets import JSON_RUN, PARQUET_RUN
from steadyrank.data.read.streams import forget_streams

Opened = Callable[[bytes, Path], AbstractContextManager[Path]]
"""Returns the name of a stream with this content, made in this folder."""

RUN = b"".join(
    b"%d Q0 doc-%03d %d %d.5 tag\n" % (t, d, d, 9 - d) for t in (301, 302) for d in range(8)
)


def _write(pipe: int, content: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), open(pipe, "wb") as stream:
        stream.write(content)


def _rankings(path: Path) -> object:
    run = sr.read_run(path, name_from="file")
    return {topic: run.ranking(topic) for topic in run.topics}


def _answer(read: Callable[[Path], object], path: Path) -> object:
    """Return the result, or the error without the name of the file."""
    try:
        return read(path)
    except sr.InputError as error:
        return str(error).replace(f"{path}:", "FILE:")


@contextlib.contextmanager
def _pipe(content: bytes, _: Path) -> Iterator[Path]:
    end, into = os.pipe()
    writer = threading.Thread(target=_write, args=(into, content))
    writer.start()
    try:
        yield Path(f"/dev/fd/{end}")
    finally:
        os.close(end)
        writer.join()


@contextlib.contextmanager
def _fifo(content: bytes, place: Path) -> Iterator[Path]:
    path = place.with_name("fifo")
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: _write(os.open(path, os.O_WRONLY), content))
    writer.start()
    try:
        yield path
    finally:
        # Whoever refused the name without opening it leaves the writer waiting.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb"):
            writer.join()
        path.unlink()


@contextlib.contextmanager
def _stdin(content: bytes, place: Path) -> Iterator[Path]:
    before = os.dup(0)
    try:
        with _pipe(content, place) as end:
            os.dup2(int(end.name), 0)
            yield Path("-")
    finally:
        os.dup2(before, 0)
        os.close(before)


def check_stream(path: Path, opened: Opened) -> None:
    """Read a file by a stream and by its name, and compare."""
    try:
        with opened(path.read_bytes(), path) as stream:
            streamed = _answer(_rankings, stream)
    finally:
        forget_streams()
    assert streamed == _answer(_rankings, path)
    if isinstance(streamed, str):
        raise sr.InputError(streamed)


def _zstd(content: bytes) -> bytes:
    return pa.compress(content, "zstd", asbytes=True)


PACKINGS: tuple[Callable[[bytes], bytes], ...] = (
    gzip.compress,
    lzma.compress,
    bz2.compress,
    _zstd,
    lambda content: gzip.compress(content[:100]) + gzip.compress(content[100:]),
    lambda content: gzip.compress(content) + b"\0" * 20,
    lambda content: bz2.compress(gzip.compress(content)),
)


def check_packed(path: Path) -> None:
    """Compare a packed mutant, broken or not, in a pipe and in a file."""
    content = path.read_bytes()
    rng = np.random.default_rng(zlib.crc32(content))
    packed = bytearray(PACKINGS[rng.integers(len(PACKINGS))](content))
    if content not in SEEDS and rng.random() < 0.5:
        disturb_bytes(packed, rng, (b"\0", b"\xff" * 8, b"\x1f\x8b"))
    path.write_bytes(packed)
    check_stream(path, _pipe)
    if content.startswith(b"301 ") and bytes(packed[:2]) == b"\x1f\x8b":
        assert unpacked(path).startswith(b"301 ")


SEEDS = (RUN, RUN.replace(b"\n", b"\r\n"), JSON_RUN, PARQUET_RUN, NESTED)
STREAMED = {"seeds": SEEDS, "morsels": tuple(MORSELS), "separators": b"\n "}

TARGETS = {
    target.name: target
    for target in (
        Target(name="streams", check=partial(check_stream, opened=_pipe), **STREAMED),
        Target(name="fifos", check=partial(check_stream, opened=_fifo), **STREAMED),
        Target(name="standard-input", check=partial(check_stream, opened=_stdin), **STREAMED),
        Target(name="packed-streams", check=check_packed, **STREAMED),
    )
}

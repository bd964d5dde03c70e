"""Pipes in place of files: a pipe gives what the file gives, the same run or the same refusal."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from pathlib import Path

import steadyrank as sr
from fuzz.format_targets import NESTED
from fuzz.line_targets import MORSELS
from fuzz.mutants import Target
from fuzz.reader_targets import JSON_RUN, PARQUET_RUN
from steadyrank.data.read.streams import forget_streams

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
    """What is read, or the error without the name of the file."""
    try:
        return read(path)
    except sr.InputError as error:
        return str(error).replace(str(path), "FILE")


def check_pipe(path: Path) -> None:
    """Reads the file by a pipe and by its name; refuses what both refuse."""
    end, into = os.pipe()
    writer = threading.Thread(target=_write, args=(into, path.read_bytes()))
    writer.start()
    try:
        piped = _answer(_rankings, Path(f"/dev/fd/{end}"))
    finally:
        os.close(end)
        writer.join()
        forget_streams()
    assert piped == _answer(_rankings, path)
    if isinstance(piped, str):
        raise sr.InputError(piped)


TARGETS = {
    "streams": Target(
        name="streams",
        seeds=(RUN, RUN.replace(b"\n", b"\r\n"), JSON_RUN, PARQUET_RUN, NESTED),
        morsels=tuple(MORSELS),
        check=check_pipe,
        separators=b"\n ",
    )
}

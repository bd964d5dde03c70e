"""From names on the command line to bytes: which files, of which kind, in which chunks.

What a file is, its first bytes say, not its name. Text is handed out in chunks
of whole lines, so that memory follows the columns kept, not the file's size.
"""

from __future__ import annotations

import contextlib
import fnmatch
import glob
import hashlib
import itertools
import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Literal

from steadyrank.data import PathLike as PathLike
from steadyrank.data.ids import PADDING
from steadyrank.data.read.streams import (
    BOM,
    LONGEST_LINE,
    PACKINGS,
    BoundedFile,
    Unfolding,
    endless_line,
    is_broken,
    is_file,
    is_stream,
    open_again,
)
from steadyrank.errors import FormatError, InputError, warn
from steadyrank.words import counted, some

Kind = Literal["parquet", "json", "json lines", "text"]
"""`json` is one value for the whole file, `json lines` an object per line."""

CHUNK = 1 << 20

HEAD = 4096
"""Bytes at the beginning of a file that say what it is."""

_PARQUET = b"PAR1"

_UNREADABLE = {
    b"PK\x03\x04": "a zip archive: unpack it first",
    b"\xff\xfe": "UTF-16 text: save it as UTF-8",
    b"\xfe\xff": "UTF-16 text: save it as UTF-8",
}

# An object whose first member is an object or a list.
_WHOLE_JSON = re.compile(rb'\{\s*"(?:[^"\\]|\\.)*"\s*:\s*[{\[]')
_JSON_LIST = re.compile(rb"\[\s*[\[{]")

MANY_FILES = 1_000
"""Files that match one pattern, from which on their number is said."""


def find_files(patterns: PathLike | Iterable[PathLike]) -> list[Path]:
    """Return the files for names, globs and folders, in order, each once."""
    if isinstance(patterns, (str, os.PathLike)):
        patterns = [patterns]
    found: dict[Path, None] = {}
    for pattern in patterns:
        found.update(dict.fromkeys(_expand(Path(pattern))))
    if not found:
        raise InputError("no files were named")
    return list(found)


def _expand(path: Path) -> list[Path]:
    if is_file(path):
        return [path]
    if path.is_dir():
        there = sorted(p for p in path.iterdir() if not p.name.startswith("."))
        warn_of_links(path, there)
        if not (inside := [p for p in there if p.is_file()]):
            raise InputError(f"{path}: the folder holds no files")
        return inside
    if path.exists() or is_stream(path):
        return [path]
    if glob.has_magic(str(path)):
        if matches := matching_files(path):
            return matches
        raise InputError(f"{path}: no file matches")
    raise _not_there(path)


def _not_there(path: Path) -> InputError:
    if path.is_symlink():
        return InputError(f"{path}: a link to {path.readlink()}, which is not there: mend it")
    return InputError(f"{path}: no such file")


def base_name(path: Path) -> str:
    """The file's name without the suffix of its packing, such as `.gz`."""
    name = "stdin" if str(path) == "-" else path.name
    for packing in PACKINGS:
        if name.endswith(packing.suffix):
            return name.removesuffix(packing.suffix)
    return name


@contextlib.contextmanager
def open_bytes(path: Path, digest: Any = None, *, kept: bool = True) -> Iterator[BoundedFile]:
    """The file's bytes, unpacked if need be; problems of the file as errors that name it."""
    packing = None
    try:
        with open_again(path) as raw:
            head = raw.read(8)
            raw.seek(0)
            if digest is not None:
                hashlib.file_digest(raw, lambda: digest)
                raw.seek(0)
            for magic, what in _UNREADABLE.items():
                if head.startswith(magic):
                    raise FormatError(path, f"this is {what}")
            packing = next((p for p in PACKINGS if head.startswith(p.magic)), None)
            bare = raw if packing is None else Unfolding(raw, packing, path)
            with BoundedFile(bare, path, kept=kept) as stream:
                yield stream
    except IsADirectoryError:
        raise InputError(f"{path}: this is a folder, not a file") from None
    except FileNotFoundError:
        raise _not_there(path) from None
    except PermissionError:
        raise InputError(f"{path}: no permission to read it") from None
    except Exception as error:
        if packing is None or not is_broken(error):
            raise
        reason = " ".join(str(error).split())
        message = f"broken {packing.name} data ({reason}): download the file again"
        raise FormatError(path, message) from None


def head_of(stream: BinaryIO) -> bytes:
    """Return the first bytes of an opened file without byte-order mark, and rewind it."""
    head = stream.read(HEAD)
    stream.seek(0)
    return head.removeprefix(BOM)


def kind_of(stream: BinaryIO) -> Kind:
    """Return the kind of an opened file by its first bytes, and rewind it."""
    head = head_of(stream)
    if head.startswith(_PARQUET):
        return "parquet"
    content = head.lstrip()
    if _JSON_LIST.match(content):
        return "json"
    if not content.startswith(b"{"):
        return "text"
    return "json" if _is_one_value(content) else "json lines"


def _is_one_value(content: bytes) -> bool:
    """Whether what begins with a brace is one object rather than an object per line."""
    first, newline, _ = content.partition(b"\n")
    if newline:
        with contextlib.suppress(ValueError, RecursionError):
            # A line that is complete is a row, unless all of it is nested.
            row = json.loads(first)
            return bool(row) and all(isinstance(value, dict) for value in row.values())
        if content[1:].lstrip(b" \t\r").startswith(b"\n"):
            return True  # only what is laid out for reading has a brace alone on its line
    return _WHOLE_JSON.match(content) is not None


def line_chunks(stream: BoundedFile, buffer: bytearray) -> Iterator[tuple[bytearray, int]]:
    """(buffer, end): buffer[:end] holds whole lines, the last one ended if need be.

    The buffer reaches PADDING bytes past `end` and is used again for the next chunk; a
    line that does not fit gets a larger one.
    """
    kept = 0
    first = True
    while True:
        room = len(buffer) - PADDING - 1
        if kept >= room:  # a line longer than the buffer
            if kept > LONGEST_LINE:
                raise endless_line(stream.path)
            buffer = buffer + bytearray(len(buffer))
            continue
        got = stream.readinto(memoryview(buffer)[kept:room])
        filled = kept + got
        if first and got >= 3:
            if buffer.startswith(BOM):
                buffer[:3] = b"   "
            first = False
        if got == 0:
            if kept:
                buffer[kept : kept + 1] = b"\n"
                yield buffer, kept + 1
            return
        end = buffer.rfind(b"\n", kept, filled) + 1
        if end == 0:
            kept = filled
            continue
        yield buffer, end
        kept = filled - end
        buffer[:kept] = buffer[end:filled]


def line_of_byte(path: Path, offset: int) -> int:
    """The number (from 1) of the line that holds byte `offset` of the unpacked file."""
    line = 1
    with open_bytes(path) as stream:
        while offset > 0:
            piece = stream.read(min(offset, CHUNK))
            if not piece:
                break
            line += piece.count(b"\n")
            offset -= len(piece)
    return line


def data_lines(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The lines that hold data, each with its number (from 1): no blank ones, no comments."""
    for number, line in enumerate(stream, start=1):
        text = line.removeprefix(BOM) if number == 1 else line
        content = text.strip()
        if content and not content.startswith(b"#"):
            yield number, text


def line_of_row(path: Path, row: int) -> int:
    """The number of the line that holds data row `row` (from 0)."""
    with open_bytes(path) as stream:
        return next((number for number, _ in itertools.islice(data_lines(stream), row, None)), 0)


def matching_files(pattern: Path) -> list[Path]:
    """The files that match, sorted by name, hidden ones only where the pattern has their dot."""
    parts = list(pattern.parts)
    first = next(k for k, part in enumerate(parts) if glob.has_magic(part))
    folder, rest = Path(*parts[:first]), parts[first:]
    if rest[-1] == "**":  # which before Python 3.13 finds folders alone
        rest.append("*")
    dotted = [part for part in rest if part.startswith(".")]
    found = sorted(
        path
        for path in {*folder.glob("/".join(rest))}
        if all(
            any(fnmatch.fnmatchcase(name, part) for part in dotted)
            for name in path.relative_to(folder).parts
            if name.startswith(".")
        )
    )
    warn_of_links(pattern, found)
    matches = [path for path in found if path.is_file()]
    if len(matches) > MANY_FILES:
        warn(f"{pattern}: {counted(len(matches), 'file matches', 'files match')}")
    return matches


def warn_of_links(where: Path, paths: Iterable[Path]) -> None:
    """Warn of links that lead nowhere: a run would be missing without a word."""
    links = [path.name for path in paths if path.is_symlink() and not path.exists()]
    if links:
        number = counted(len(links), "link that leads", "links that lead")
        warn(f"{where}: {number} nowhere skipped ({some(links)}): mend or remove")

"""Files that are written whole or not at all.

A file is first written next to its place, hidden and private, under a name that `is_unfinished`
knows, and takes its place when it is on the disk. What a killed process leaves behind is ignored by
everything that reads folders, and swept away later.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import stat
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from steadyrank.errors import InputError, MachineError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

UNFINISHED = ".steadyrank"
"""What the names of unfinished files end in; they begin with a dot."""

STALE = 3600.0
"""Seconds after which an unfinished file that nobody writes to is taken for abandoned."""

_LONGEST = 40  # characters of a file's name in the name of its unfinished file
_UNFINISHED_NAME = re.compile(rf"\.(?s:.{{1,{_LONGEST}}})\.[a-z0-9_]{{8}}{re.escape(UNFINISHED)}")
_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
_asking = threading.Lock()


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str], *, new: bool = False) -> Iterator[Path]:
    """A temporary path in the folder of `path` that replaces it when the block succeeds.

    If the block fails, or the process dies, `path` is as it was before. `new`: a file that
    another process has put there meanwhile stays. Links are followed, and what is not a plain
    file, such as /dev/null, is written to as it is.
    """
    given = Path(path)
    if is_special(given):
        with _told_of(given):
            yield given
        return
    target = Path(os.path.realpath(given))
    if not target.parent.is_dir():
        raise InputError(f"{given}: the folder {given.parent} does not exist: create it first")
    check_writable(given)
    with _told_of(given):
        handle, name = tempfile.mkstemp(
            prefix=f".{target.name[:_LONGEST]}.", suffix=UNFINISHED, dir=target.parent
        )
        os.close(handle)
        temporary = Path(name)
        try:
            yield temporary
            with open(temporary, "r+b") as written:  # Windows flushes only what may be written.
                os.fsync(written.fileno())
            temporary.chmod(_mode_of(target))
            _put(temporary, target, new)
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink()


def write_whole(
    path: str | os.PathLike[str], content: bytes | str | Iterable[str], *, new: bool = False
) -> None:
    """Write `content`, or its pieces, to `path`, whole or not at all.

    If `new`, unless a file is there. What makes the pieces may fail: then the file is as it was.
    """
    pieces = [content] if isinstance(content, (bytes, str)) else content
    with whole_file(path, new=new) as temporary, open(temporary, "ab") as out:
        for piece in pieces:
            out.write(piece.encode("utf-8", "surrogateescape") if isinstance(piece, str) else piece)


@contextlib.contextmanager
def locked(path: str | os.PathLike[str]) -> Iterator[None]:
    """Wait until no other process or thread is in this block with the same file.

    The file stays, empty. The system frees the lock of a process that dies.
    """
    if Path(path).exists() and not Path(path).is_file():  # opening a pipe would wait for its reader
        raise InputError(f"{path}: this must be a plain file that holds a lock: remove it")
    with open(path, "ab") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield  # closing the file frees the lock
            return
        windows: Any = importlib.import_module("msvcrt")
        while True:
            with contextlib.suppress(OSError):  # gives up after ten seconds
                windows.locking(file.fileno(), windows.LK_LOCK, 1)
                break
        try:
            yield
        finally:
            windows.locking(file.fileno(), windows.LK_UNLCK, 1)


def check_writable(path: Path) -> None:
    """Refuse to replace a file that is read-only, be it for others alone: somebody meant it."""
    if path.is_file() and not (path.stat().st_mode & _WRITABLE and os.access(path, os.W_OK)):
        raise MachineError(f"{path}: the file is read-only: make it writable, or name another file")


def source_date() -> datetime | None:
    """Return the date that reproducible builds set, in UTC; None if there is none."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        return datetime.fromtimestamp(int(epoch), UTC) if epoch else None
    except (ValueError, OverflowError, OSError):
        raise InputError(
            f"SOURCE_DATE_EPOCH is {epoch!r}: give whole seconds since 1970, or unset it"
        ) from None


def check_still_there(folder: str | os.PathLike[str]) -> None:
    """Say that a folder that was there when the work began is gone: no mistake of the caller's."""
    if not Path(folder).is_dir():
        raise MachineError(f"{folder}: the folder has vanished since the work began")


def is_unfinished(name: str) -> bool:
    """Whether a file of that name is one that is being written, or was when a process died.

    >>> is_unfinished(".result.json.a1b2c3d4.steadyrank"), is_unfinished("result.json")
    (True, False)
    """
    return _UNFINISHED_NAME.fullmatch(name) is not None


def sweep(folder: str | os.PathLike[str]) -> None:
    """Remove what processes that died an hour ago or more left unfinished in a folder."""
    oldest = time.time() - STALE
    # Files that cannot be removed are no reason to stop.
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if is_unfinished(entry.name) and entry.stat(follow_symlinks=False).st_mtime < oldest:
                Path(entry.path).unlink()


def is_special(path: Path) -> bool:
    """Whether a path is there but neither a file nor a folder: a device, a pipe.

    What has a name in /dev is written to as well: /dev/stdout may be a file that grows.
    """
    if path.parent in (Path("/dev"), Path("/dev/fd")):
        return path.exists()
    return path.exists() and not path.is_file() and not path.is_dir()


@contextlib.contextmanager
def _told_of(path: Path) -> Iterator[None]:
    """Errors of the system about unfinished files, or about none, as errors about `path`."""
    try:
        yield
    except OSError as error:
        about = os.fsdecode(error.filename or "")
        if about and not is_unfinished(Path(about).name):
            raise
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def _put(temporary: Path, target: Path, new: bool) -> None:
    if new:
        try:
            os.link(temporary, target)
            return
        except FileExistsError:
            return
        except OSError:
            pass  # a file system without links
    temporary.replace(target)


def _mode_of(target: Path) -> int:
    """The mode of the file that is to be replaced, or that of a new one."""
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        # The umask can only be read by setting it, which two threads must not do at once.
        with _asking:
            mask = os.umask(0)
            os.umask(mask)
        return 0o666 & ~mask

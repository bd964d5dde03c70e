"""Where the machine code of kernels is kept, so that only the first command compiles.

Numba's own cache does the work. It takes a kernel's code as fresh while the kernel's own file is
unchanged, although parts and constants of other modules are compiled into it. So the code is in a
folder that is named by the version and by a digest of all sources with kernels or parts: changed
sources name another folder. The last folders are kept. A checksum of each kernel's files says
whether they are what was written: what is not, is removed and compiled again.

The folder is in the cache folder that Numba was given, else in the package, else in the user's
cache folder: the first that only this user and root can write to, as the code is loaded as it is.
`numba.config.CACHE_DIR` names it only while a kernel is declared, which is when Numba reads it:
other packages, and kernels of users, keep their code where they did.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
from numba.core import event as events

from steadyrank._version import __version__
from steadyrank.compute.files import locked
from steadyrank.errors import MachineError

PACKAGE = Path(__file__).parents[1]

LEAST_SPACE = 64 << 20
"""Bytes that must be free on the disk: where Numba cannot keep code, it fails."""

FOLDERS_KEPT = {"package": 2, "own": 8}
"""Folders of the package's kernels, so that going back and forth between two versions compiles
nothing; and of kernels that call functions of users."""

LONGEST_BELOW = 190
"""Characters of a path from the home of all kernels to a file; Windows allows 259 in all."""

LONGEST_HOME = 259 - LONGEST_BELOW if sys.platform == "win32" else 1 << 20

DEFINES = b"steadyrank.compute.kernel"
"""What sources with kernels or parts contain."""

_declaring = threading.Lock()
_config: Any = numba.config


def compiled(function: Callable[..., Any], **options: Any) -> Any:
    """A kernel that Numba compiles when it is first called, kept where there is a place for it."""
    if _config.DISABLE_JIT:
        raise MachineError(
            "the kernels require Numba's compiler, which NUMBA_DISABLE_JIT turns off: unset "
            "that variable"
        )
    # Another thread that declares a kernel has changed the folder that `kernel_home` asks for.
    with _declaring:
        home = kernel_home()
        kernel = None if home is None else _kept(function, home, options)
    return numba.njit(**options)(function) if kernel is None else kernel


def _kept(function: Callable[..., Any], home: Path, options: dict[str, Any]) -> Any:
    """Return the kernel whose code is kept below `home`; None if Numba cannot write there."""
    folder, given = _folder(home, _foreign(function)), _config.CACHE_DIR
    _config.CACHE_DIR = str(folder)
    try:
        kernel = numba.njit(cache=True, **options)(function)
    except RuntimeError as error:
        if "no locator available" not in str(error):
            raise
        return None
    finally:
        _config.CACHE_DIR = given
    # Where Numba cannot write there, it takes a folder that no digest names.
    if not Path(kernel.stats.cache_path).is_relative_to(folder):
        return None
    if not _has_its_sum(kernel):
        with contextlib.suppress(OSError), locked(home / "lock"):  # it may be written just now
            if not _has_its_sum(kernel):
                for path in _files(kernel)[0]:
                    path.unlink()
    return kernel


def is_kept(kernel: Any) -> bool:
    """Whether there is machine code of a kernel on disk, for whatever types of arguments."""
    return kernel.stats.cache_path is not None and len(_files(kernel)[0]) > 0


def _files(kernel: Any) -> tuple[list[Path], Path]:
    """Return the index and the machine codes of a kernel, and the file of their checksum."""
    name = f"{kernel.__module__.rpartition('.')[2]}.{kernel.__qualname__}"
    name = name.replace("<", "").replace(">", "")  # as Numba's names begin
    folder = Path(kernel.stats.cache_path)
    return sorted(folder.glob(f"{name}-*.nb[ic]")), folder / f"{name}.sum"


def _has_its_sum(kernel: Any) -> bool:
    """Whether the files of a kernel are those that were written: a flipped bit could crash."""
    paths, noted = _files(kernel)
    with contextlib.suppress(OSError):
        return not paths or noted.read_bytes() == _sum(paths)
    return False


def _sum(paths: list[Path]) -> bytes:
    return hashlib.sha256(b"".join(p.name.encode() + p.read_bytes() for p in paths)).digest()


def _note_sum(kernel: Any) -> None:
    """Write the checksum; without it, the files are not used."""
    paths, noted = _files(kernel)
    with contextlib.suppress(OSError):
        noted.write_bytes(_sum(paths))


def kernel_home() -> Path | None:
    """The folder in which kernels are kept, None where no place can be had."""
    return _home(_config.CACHE_DIR)


@functools.cache
def _home(given: str) -> Path | None:
    """The folder of all kernels' folders: the first that can be had and that is ours alone."""
    for place in [Path(given)] if given else _places():
        home = place / "steadyrank-kernels"
        if len(str(home)) > LONGEST_HOME:
            continue
        with contextlib.suppress(OSError):
            home.mkdir(parents=True, exist_ok=True)
            room = shutil.disk_usage(home).free >= LEAST_SPACE
            if room and os.access(home, os.W_OK | os.X_OK) and _is_ours(place) and _is_ours(home):
                saving = _Saving(home)
                for kind in ("numba:compile", "numba:compiler_lock"):
                    events.register(kind, saving)  # type: ignore[no-untyped-call]
                return home
    return None


def _places() -> Iterator[Path]:
    yield PACKAGE / "__pycache__"
    with contextlib.suppress(RuntimeError):  # there is no home
        yield Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _is_ours(folder: Path) -> bool:
    """Whether nobody but this user and root can have put machine code into a folder."""
    if not hasattr(os, "geteuid"):
        return True
    place = folder.stat()
    others_write = place.st_mode & stat.S_IWOTH or (
        place.st_mode & stat.S_IWGRP and not _is_private_group(place.st_gid)
    )
    return place.st_uid in (0, os.geteuid()) and not others_write


def _is_private_group(group: int) -> bool:
    """Whether a group is the one that many systems make for each user, with nobody else in it.

    There, folders can be written by the group from the start (umask 002).
    """
    import grp
    import pwd

    with contextlib.suppress(KeyError):
        found, user = grp.getgrgid(group), pwd.getpwuid(os.geteuid())
        is_own = (found.gr_gid, found.gr_name) == (user.pw_gid, user.pw_name)
        return is_own and set(found.gr_mem) <= {user.pw_name}
    return False


@functools.cache
def _folder(home: Path, foreign: frozenset[str]) -> Path:
    """Return the folder for kernels of these sources, and remove all but the last of its kind."""
    digest = hashlib.sha256(_sources())
    for module in sorted(foreign):
        path = Path(getattr(sys.modules.get(module), "__file__", None) or "")
        digest.update(module.encode() + (path.read_bytes() if path.is_file() else b""))
    kind = "own" if foreign else "package"
    folder = home / f"{kind}-{__version__}-{digest.hexdigest()[:16]}"
    with contextlib.suppress(OSError):
        if not folder.exists():
            folder.mkdir()
            others = [path for path in home.glob(f"{kind}-*") if path != folder]
            others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
            for former in others[FOLDERS_KEPT[kind] - 1 :]:
                # A process that still works with it makes it again.
                shutil.rmtree(former, ignore_errors=True)
    return folder


def _foreign(function: Any) -> frozenset[str]:
    """Return the modules of users that have a kernel or functions that it may call."""
    values = function.__globals__.values()
    functions = (value for value in values if isinstance(value, FunctionType))
    modules = {function.__module__, *(value.__module__ for value in functions)}
    known = {PACKAGE.name, f"{PACKAGE.name}_lab", "numba", "numpy", *sys.stdlib_module_names}
    return frozenset(name for name in modules if name.partition(".")[0] not in known)


@functools.cache
def _sources() -> bytes:
    """Return all sources of the package that define kernels or parts."""
    folders = (PACKAGE, PACKAGE.with_name(f"{PACKAGE.name}_lab"))
    paths = sorted(path for folder in folders for path in folder.rglob("*.py"))
    return b"".join(text for text in (path.read_bytes() for path in paths) if DEFINES in text)


class _Saving(events.Listener):
    """Let one process at a time write what it has compiled, and note the checksum of that.

    Numba numbers the codes of a kernel, one per types of arguments, by those that it finds: two
    processes at once could write two codes under one number, and a third would load the wrong one.
    It writes after the end of a compilation, and before it leaves the lock of the compiler.
    """

    def __init__(self, home: Path):
        self.home, self.thread = home, threading.local()

    def on_start(self, event: Any) -> None:
        """Do nothing: compiling requires no lock."""

    def on_end(self, event: Any) -> None:
        """Take the lock when there is code to write, and leave it when it is written."""
        with contextlib.suppress(OSError):
            if event.kind != "numba:compile":
                vars(self.thread).pop("written", contextlib.ExitStack()).close()
                return
            kernel = event.data["dispatcher"]
            if Path(kernel.stats.cache_path or "").is_relative_to(self.home):
                self.thread.written = contextlib.ExitStack()
                self.thread.written.enter_context(locked(self.home / "lock"))
                self.thread.written.callback(_note_sum, kernel)

"""Where the machine code of kernels is kept, so that only the first command compiles.

Numba's own cache does the work. It takes a kernel's code as fresh while the kernel's own file is
unchanged, although parts and constants of other modules are compiled into it. So each kernel has a
folder, named by a digest of every source that can be behind its code: of its module and of all that
this imports from the package. Sources are read, not dated: a checkout, an image or a copy of the
same sources needs no new code, and those behind a command are read in 7 ms. Changed sources name
another folder; of a kernel's folders the last two stay. A checksum beside the code says
whether it is what was written.

The folders lie in the cache folder that Numba was given, else beside the sources, else in the
user's cache folder. `numba.config.CACHE_DIR` names them only while a kernel is declared, which is
when Numba reads it: other packages, and kernels of the user's own, keep their code where they did.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
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

from steadyrank.compute.files import locked
from steadyrank.errors import MachineError

PACKAGE = Path(__file__).parents[1]

LEAST_SPACE = 64 << 20
"""Bytes that must be free on the disk: where Numba cannot keep code, it fails."""

FOLDERS_KEPT = 2
"""Of one kernel: going back and forth between two versions of a source compiles nothing."""

LONGEST_BELOW = 190
"""Characters of a path from the home of all kernels to a file; Windows allows 259 in all."""

LONGEST_HOME = 259 - LONGEST_BELOW if sys.platform == "win32" else 1 << 20

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
        kernel = _kept(function, kernel_home(), options)
    return numba.njit(**options)(function) if kernel is None else kernel


def _kept(function: Callable[..., Any], home: Path | None, options: dict[str, Any]) -> Any:
    """The kernel whose code has a folder below `home`; None where there is no place for it."""
    if home is None:
        return None
    with _cache_folder(_folder_of(function, home)) as folder:
        try:
            kernel = numba.njit(cache=True, **options)(function)
        except RuntimeError as error:
            if "no locator available" not in str(error):
                raise
            return None
    # Where Numba cannot write there, it takes a folder that no digest names.
    return kernel if Path(kernel.stats.cache_path).is_relative_to(folder) else None


def is_kept(kernel: Any) -> bool:
    """Whether there is machine code of a kernel on disk, for whatever types of arguments."""
    folder = kernel.stats.cache_path
    return folder is not None and any(Path(folder).glob(f"*.{kernel.__qualname__}-*.nbi"))


@contextlib.contextmanager
def _cache_folder(folder: Path) -> Iterator[Path]:
    given = _config.CACHE_DIR
    _config.CACHE_DIR = str(folder)
    try:
        yield folder
    finally:
        _config.CACHE_DIR = given


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


def _folder_of(function: Callable[..., Any], home: Path) -> Path:
    name = re.sub(r"[^\w.]", "", f"{function.__module__}.{function.__qualname__}")
    folder = home / f"{name}-{_digest(_modules_of(function))}"
    with contextlib.suppress(OSError):
        if folder.exists():
            _remove_if_damaged(folder)
            return folder
        folder.mkdir()
        others = [path for path in home.glob(f"{name}-*") if path != folder]
        others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        for former in others[FOLDERS_KEPT - 1 :]:
            # A process that still works with it makes it again.
            shutil.rmtree(former, ignore_errors=True)
    return folder


def _modules_of(function: Any) -> frozenset[str]:
    """Where a kernel stands, and where the functions do that it was made with (`specialised`)."""
    values = function.__globals__.values()
    functions = (value for value in values if isinstance(value, FunctionType))
    return frozenset([function.__module__, *(value.__module__ for value in functions)])


@functools.cache
def _digest(modules: frozenset[str]) -> str:
    """A digest of the sources of some modules and of all that they import, directly or not."""
    digest, reached, new = hashlib.sha256(), set[str](), set(modules)
    while new:
        reached |= new
        new = {name for module in new for name in _imports(_source(module))} - reached
    for name in sorted(reached):
        digest.update(name.encode() + b"\0" + _source(name))
    return digest.hexdigest()[:16]


@functools.cache
def _source(module: str) -> bytes:
    """The source of a module, nothing for a package or a name that is no module."""
    package, *place = module.split(".")
    path = PACKAGE.with_name(package).joinpath(*place).with_suffix(".py")
    if package not in (PACKAGE.name, f"{PACKAGE.name}_lab"):
        path = Path(getattr(sys.modules.get(module), "__file__", None) or "")
    return path.read_bytes() if path.is_file() else b""


@functools.cache
def _imports(source: bytes) -> frozenset[str]:
    """The modules of the package that a source may import; a name that is none does no harm."""
    return frozenset(
        module
        for home, names in _IMPORT.findall(source.decode("utf-8"))
        for module in (home, *(f"{home}.{word}" for word in re.findall(r"\w+", names)))
    )


_IMPORT = re.compile(r"^\s*from\s+(steadyrank[\w.]*)\s+import\s+(\([^)]*\)|.*)", re.MULTILINE)


class _Saving(events.Listener):
    """Lets one process at a time write what it has compiled, and notes the checksum of that.

    Numba numbers a kernel's codes, one per types of arguments, by what it finds: two processes at
    once could write two codes under one number. It writes after the end of a compilation, and
    before it leaves the lock of the compiler.
    """

    def __init__(self, home: Path):
        self.home, self.thread = home, threading.local()

    def on_start(self, event: Any) -> None:
        """Compiling needs no lock."""

    def on_end(self, event: Any) -> None:
        """Take the lock when code is there to be written, leave it when it has been."""
        with contextlib.suppress(OSError):
            if event.kind != "numba:compile":
                vars(self.thread).pop("written", contextlib.ExitStack()).close()
                return
            folder = Path(event.data["dispatcher"].stats.cache_path or "")
            if folder.is_relative_to(self.home):
                self.thread.written = contextlib.ExitStack()
                self.thread.written.enter_context(locked(self.home / "lock"))
                self.thread.written.callback(_note_sum, folder.parent)


def _note_sum(folder: Path) -> None:
    with contextlib.suppress(OSError):
        (folder / "sum").write_text(_sum(folder), "ascii")


def _remove_if_damaged(folder: Path) -> None:
    """Remove code that is not what was written: one flipped bit could crash the process."""
    if not _has_its_sum(folder):
        with locked(folder.parent / "lock"):  # another process may be writing just now
            if not _has_its_sum(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _has_its_sum(folder: Path) -> bool:
    path = folder / "sum"
    return _sum(folder) == (path.read_text("latin-1") if path.exists() else _sum(path))


def _sum(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*/*.nb[ic]")):
        digest.update(f"{path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()

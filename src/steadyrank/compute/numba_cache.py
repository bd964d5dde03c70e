"""All that steadyrank takes from Numba's internals: where machine code is kept, and some options.

Numba's own cache writes a kernel's index before its code, under a number that earlier code may
still have. A process that is killed in between, a full disk, or another process at the same time
would leave an index that names code of other sources. It also takes a kernel as fresh while the
kernel's own file is unchanged, although the kernels that it calls are compiled into it. Here code
comes first, under a name of its own, and every source behind a kernel counts.

This rests on private parts of Numba, as they are in the versions of `TESTED`. In any other version,
or where a part is missing, Numba's own cache does the work: kernels compile and run all the same.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import os
import pickle
import re
import stat
import sys
from collections.abc import Callable, Iterator, Set
from pathlib import Path
from typing import Any

import numba

from steadyrank.compute.ahead import glances
from steadyrank.errors import MachineError

try:
    from numba.core.caching import IndexDataCacheFile
except ImportError:
    IndexDataCacheFile = object  # type: ignore[assignment, misc]
try:
    from numba.core.cpu import CPUTargetOptions
except ImportError:
    CPUTargetOptions = None  # type: ignore[assignment, misc]

try:
    from numba.core.runtime.nrt import rtsys
except ImportError:
    rtsys = None  # type: ignore[assignment]

TESTED = (0, 61), (0, 68)
"""The first and the last version of Numba whose private parts were found as they are used here."""

_OF_CACHE = (
    "_cache_file",
    "_cache_path",
    "_impl",
    "_guard_against_spurious_io_errors",
    "_load_overload",
)
_OF_FILE = (
    "_cache_path",
    "_data_name_pattern",
    "_data_path",
    "_dump",
    "_index_path",
    "_save_index",
    "_load_index",
    "_load_data",
    "load",
    "_open_for_write",
    "_source_stamp",
    "_version",
)
_SUM = ".sum"
"""Ends the name of the file with an index's checksum."""

NO_CACHE_PLACE = "no locator available"


def _known(**options: Any) -> dict[str, Any]:
    """Those of the options that this Numba has; without them kernels are slower, not wrong."""
    return {name: value for name, value in options.items() if hasattr(CPUTargetOptions, name)}


# Without Numba's run time no reference is counted: an atomic operation for every
# array handed to a helper, which in the innermost loops costs more than the work.
UNCOUNTED = _known(_nrt=False)

# No kernel is handed to C, or to another kernel as a value.
NO_C_ENTRANCE = _known(no_cfunc_wrapper=True)

# Kernels that only kernels call need no entrance from Python either.
NO_ENTRANCE = _known(no_cpython_wrapper=True, no_cfunc_wrapper=True)


def compiled(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """A kernel that Numba compiles when it is first called, kept on disk where there is a place."""
    if getattr(numba.config, "DISABLE_JIT", 0):
        raise MachineError(
            "the kernels require Numba's compiler, which NUMBA_DISABLE_JIT turns off: unset "
            "that variable"
        )
    # Numba asks for it three times a kernel.
    function.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    compiling = _compiling()
    if compiling is not None:
        options = {**options, "pipeline_class": compiling.compiler_for(options)}
    try:
        dispatcher = numba.njit(cache=True, **options)(function)
    except RuntimeError as error:
        if NO_CACHE_PLACE not in str(error):
            raise
        return numba.njit(**options)(function)
    cache: Any = getattr(dispatcher, "_cache", None)
    if not _is_ours(getattr(cache, "_cache_path", None)):
        return numba.njit(**options)(function)
    if _as_tested(cache):
        cache._cache_file = KeptCode(
            cache_path=cache._cache_path, filename_base=cache._impl.filename_base, source_stamp=""
        )
        cache._cache_file.function = function
        cache._guard_against_spurious_io_errors = _harmless
        _load_without_compiler(dispatcher, counts_references="_nrt" not in options)
        _forget_constants(dispatcher)
    if compiling is not None:
        compiling.compile_quickly(dispatcher)
    return dispatcher


def _compiling() -> Any:
    """The module with Numba's shorter way, where this Numba's own way is known."""
    if not _version_is_tested():
        return None
    with contextlib.suppress(ImportError, AttributeError):
        from steadyrank.compute import compiling

        return compiling
    return None


def _load_without_compiler(dispatcher: Any, *, counts_references: bool) -> None:
    """Let code that is kept be loaded before the compiler is ready for anything else.

    Numba would first import all that it can compile (linear algebra, hence SciPy, random numbers,
    strings), and what other packages add to it: a third of a command's start. Compiling, should it
    come to that, imports it then.
    """
    cache = dispatcher._cache

    def load_overload(signature: Any, context: Any) -> Any:
        if counts_references:
            rtsys.initialize(context)
        with _harmless():
            return cache._load_overload(signature, context)

    cache.load_overload = load_overload
    dispatcher._compilation_chain_init_hook = _nothing


def _nothing() -> None:
    """Stands for what other packages add to Numba: no kernel uses it."""


def _forget_constants(dispatcher: Any) -> None:
    """Let kernels that call this one with a constant have the code for any integer.

    To Numba a constant has a type of its own: a loop that starts at 0 would have its parts compiled
    for 0, and then for what follows. LLVM sees the constant anyway where it inlines a part.
    """
    typed_call = getattr(dispatcher, "get_call_template", None)
    if typed_call is None:
        return

    def call_of_integers(args: Any, kws: Any) -> Any:
        plain = [getattr(kind, "literal_type", kind) for kind in args]
        return typed_call(plain, kws)

    dispatcher.get_call_template = call_of_integers


@functools.cache
def _is_ours(folder: str | None) -> bool:
    """Whether nobody but this user and root can have put machine code into a folder."""
    if folder is None or not hasattr(os, "geteuid"):
        return True
    try:
        place = Path(folder).stat()
    except FileNotFoundError:
        return True
    return place.st_uid in (0, os.geteuid()) and not place.st_mode & stat.S_IWOTH


def _version_is_tested() -> bool:
    version = re.match(r"(\d+)\.(\d+)", numba.__version__)
    first, last = TESTED
    return version is not None and first <= (int(version[1]), int(version[2])) <= last


def _as_tested(cache: Any) -> bool:
    """Whether this is a Numba whose private parts are known, and a cache that has them."""
    return (
        _version_is_tested()
        and issubclass(KeptCode, type(getattr(cache, "_cache_file", None)))
        and all(hasattr(cache, name) for name in _OF_CACHE)
        and all(hasattr(cache._cache_file, name) for name in _OF_FILE)
        and hasattr(cache._impl, "filename_base")
        and hasattr(IndexDataCacheFile, "load")
        and hasattr(rtsys, "initialize")
    )


class KeptCode(IndexDataCacheFile):
    """The machine code of one kernel, for all types of arguments that it was called with."""

    function: Callable[..., Any]
    """The function that the code was compiled from."""

    def load(self, key: Any) -> Any:
        """The code for some types, if need be when the process that compiles ahead has left it."""
        code = super().load(key)
        if code is None:
            for _ in glances(self.function.__module__):
                code = super().load(key)
                if code is not None:
                    break
        return code

    def save(self, key: Any, data: Any) -> None:
        """Keep code, then say where it is; code of other sources goes."""
        kept, code = self._load_index(), self._dump(data)
        name = self._data_name_pattern.replace("{number:d}", _checksum(code))
        self._save_data(name, code)
        self._save_index({**kept, key: name})
        if not kept:
            self._remove_all_but(name)

    def _load_index(self) -> dict[Any, str]:
        try:
            checksum = Path(self._index_path + _SUM).read_text("ascii")
            fresh = checksum == _checksum(Path(self._index_path).read_bytes())
        except (OSError, UnicodeError):
            return {}
        self._source_stamp = _sources_stamp(_modules_of(self.function))
        try:
            return dict(super()._load_index()) if fresh else {}
        except (AttributeError, ImportError):
            # An older version's index may name classes that have since been renamed or moved.
            return {}

    def _save_index(self, kept: dict[Any, str]) -> None:
        self._source_stamp = _sources_stamp(_modules_of(self.function))
        super()._save_index(kept)
        checksum = _checksum(Path(self._index_path).read_bytes())
        self._write(self._index_path + _SUM, checksum.encode("ascii"))

    def _save_data(self, name: str, code: bytes) -> None:
        self._write(self._data_path(name), code)

    def _load_data(self, name: str) -> Any:
        """Code whose name is its checksum: with a flipped bit it would crash the process."""
        if _checksum(Path(self._data_path(name)).read_bytes()) not in name:
            raise OSError(f"{name}: damaged")
        return super()._load_data(name)

    def _write(self, path: str, content: bytes) -> None:
        with self._open_for_write(path) as file:
            file.write(content)

    def _remove_all_but(self, name: str) -> None:
        folder = Path(self._cache_path)
        for path in folder.glob(self._data_name_pattern.replace("{number:d}", "*")):
            if path.name != name:
                path.unlink(missing_ok=True)


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


def load_compiler() -> None:
    """Import what Numba imports for its first kernel, before another process is to have it too."""
    with contextlib.suppress(ImportError, AttributeError):
        from numba.core.registry import cpu_target

        with _linear_algebra_later():
            cpu_target.target_context.refresh()


@contextlib.contextmanager
def _linear_algebra_later() -> Iterator[None]:
    """Let Numba believe that SciPy's is there, which it imports again for a kernel that has any."""
    from numba.np import linalg

    numbas_own = linalg.ensure_blas
    linalg.ensure_blas = lambda: None
    try:
        yield
    finally:
        linalg.ensure_blas = numbas_own


def can_be_kept(dispatcher: Any) -> bool:
    """Whether there is a place for a kernel's machine code."""
    return _file_of(dispatcher) is not None


def _file_of(dispatcher: Any) -> Any:
    return getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)


def is_kept(dispatcher: Any) -> bool:
    """Whether a kernel's machine code is on disk, so that it need not be compiled."""
    load_index = getattr(_file_of(dispatcher), "_load_index", dict)
    with _harmless():
        return bool(load_index())
    return False


def _harmless() -> contextlib.AbstractContextManager[None]:
    """Swallows what goes wrong when code cannot be kept, or was damaged: it is compiled again."""
    return contextlib.suppress(OSError, EOFError, pickle.UnpicklingError)


def _modules_of(function: Callable[..., Any]) -> frozenset[str]:
    """Where a kernel stands, and where the kernels do that it was made with (`specialised`)."""
    values = function.__globals__.values()
    kernels = (value for value in values if hasattr(value, "py_func"))
    return frozenset([function.__module__, *(kernel.__module__ for kernel in kernels)])


@functools.cache
def _sources_stamp(modules: frozenset[str]) -> str:
    """A hash over every source that can end up in the machine code of these modules' kernels."""
    digest = hashlib.sha256()
    for name, source in sorted(_behind(modules, _source).items()):
        digest.update(name.encode())
        digest.update(source)
    return digest.hexdigest()


def _behind(modules: Set[str], source_of: Callable[[str], bytes | None]) -> dict[str, bytes]:
    """The sources of some modules and of all that they import, directly or not."""
    reached: dict[str, bytes] = {}
    new = modules
    while new:
        sources = {name: source for name in new if (source := source_of(name)) is not None}
        reached.update(sources)
        new = {
            module
            for source in sources.values()
            for home, names in _IMPORT.findall(source.decode("utf-8"))
            for module in (home, *(f"{home}.{word}" for word in _WORDS(names)))
        } - reached.keys()
    return reached


@functools.cache
def _source(module: str) -> bytes | None:
    """The source of a module, None for a package or a name that is no module."""
    package, _, place = module.partition(".")
    path = Path(__file__).parents[1].joinpath(*place.split(".")).with_suffix(".py")
    if package != __name__.partition(".")[0]:
        path = Path(getattr(sys.modules.get(module), "__file__", None) or "")
    return path.read_bytes() if path.is_file() else None


_WORDS = re.compile(r"\w+").findall
_IMPORT = re.compile(r"^\s*from\s+(steadyrank[\w.]*)\s+import\s+(\([^)]*\)|.*)", re.MULTILINE)

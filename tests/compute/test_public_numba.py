"""The package uses nothing private of Numba and llvmlite: every name that it takes is on a list.

Looked at are all imports, all attributes of imported modules, names in `getattr` and the like,
options of the decorators, assignments to anything of theirs, and the names of the private parts of
their objects, wherever these come from.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import numba
import pytest
from numba.core import event
from numba.extending import register_jitable

import steadyrank

SOURCES = sorted(Path(steadyrank.__file__).parent.rglob("*.py"))

PUBLIC = {
    "numba",
    "numba.njit",
    "numba.types",
    "numba.config",
    "numba.config.CACHE_DIR",
    "numba.config.DISABLE_JIT",
    "numba.extending",
    "numba.extending.intrinsic",
    "numba.extending.register_jitable",
    "numba.core.cgutils",  # what Numba's own guide to intrinsics builds with
    "numba.core.event",  # the event API of Numba's documentation
    "numba.core.event.Listener",
    "numba.core.event.register",
    "llvmlite",
    "llvmlite.ir",
}
"""What the documentation of Numba and of llvmlite has; of `WHOLE`, all that has no underscore."""

WHOLE = ("numba.types", "numba.core.cgutils", "llvmlite.ir")

OPTIONS = {
    "njit": {"cache", "nogil", "error_model", "fastmath", "inline", "forceinline", "boundscheck"},
    "register_jitable": {"_nrt", "forceinline", "inline"},
}
"""Options of the decorators; the docstring of `register_jitable` is where `_nrt` is documented."""

SET = {"numba.config.CACHE_DIR"}
"""What may be assigned to: Numba's configuration."""

BY_NAME = {
    "getattr",
    "setattr",
    "hasattr",
    "delattr",
    "attrgetter",
    "methodcaller",
    "import_module",
}


def is_public(name: str) -> bool:
    inside = next((whole for whole in WHOLE if name.startswith(f"{whole}.")), None)
    if inside is None:
        return name in PUBLIC
    return not any(word.startswith("_") for word in name[len(inside) + 1 :].split("."))


def is_theirs(name: str) -> bool:
    return name.partition(".")[0] in ("numba", "llvmlite")


def is_inside(value: object) -> bool:
    """Whether a constant names a module of theirs, which `import_module` would import."""
    return isinstance(value, str) and re.fullmatch(r"(numba|llvmlite)(\.\w+)+", value) is not None


def imports_of(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """The local name of each import of theirs, and its full name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if is_theirs(alias.name):
                    local = alias.asname or alias.name.partition(".")[0]
                    yield local, alias.name if alias.asname else local
                    yield "", alias.name
        elif isinstance(node, ast.ImportFrom) and is_theirs(node.module or ""):
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def full_name(node: ast.AST, names: dict[str, str]) -> str | None:
    """The full name of a chain of attributes that begins with a name of theirs."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        before = full_name(node.value, names)
        return before and f"{before}.{node.attr}"
    return None


def aliases_of(tree: ast.AST, names: dict[str, str]) -> dict[str, str]:
    """Local names to which a name of theirs is assigned, and so on."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            name = full_name(node.value, names)
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if name is not None and isinstance(target, ast.Name):
                    found[target.id] = name
    new = {local: name for local, name in found.items() if names.get(local) != name}
    return found | aliases_of(tree, names | found) if new else found


def private_names() -> set[str]:
    """Single-underscored names of the objects that the package gets from Numba."""

    @numba.njit(cache=True)
    def made(x):
        return x

    objects = [made, made._cache, made._cache._impl, made._cache._cache_file, made.stats]
    objects += [made.targetctx, made.typingctx, made._compiler, event.Listener, numba.config]
    named = {name for each in objects for name in (*dir(each), *vars(type(each)))}
    ordinary = {"_asdict", "_fields", "_make", "_replace", "_field_defaults", "_name", "_register"}
    return {name for name in named if name.startswith("_") and not name.endswith("__")} - ordinary


PRIVATE = private_names()


def offences(source: str) -> list[str]:
    """What a source takes from Numba or llvmlite that is not public."""
    tree = ast.parse(source)
    found = [name for _, name in imports_of(tree) if not is_public(name)]
    names = {local: name for local, name in imports_of(tree) if local}
    names |= aliases_of(tree, names)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            name = full_name(node, names)
            if name is not None and not is_public(name):
                found.append(name)
            if name is not None and not isinstance(node.ctx, ast.Load) and name not in SET:
                found.append(f"{name} is changed")
            if node.attr in PRIVATE and ast.unparse(node.value) not in ("self", "cls"):
                found.append(f".{node.attr}")
        elif isinstance(node, ast.Call):
            found += offences_of_call(node, names)
        elif isinstance(node, ast.Constant) and (is_inside(node.value) or node.value in PRIVATE):
            found.append(f"the name {node.value!r}")
    return found


def offences_of_call(node: ast.Call, names: dict[str, str]) -> Iterator[str]:
    called = ast.unparse(node.func).rpartition(".")[2]
    target = full_name(node.func, names) or ""
    given = [full_name(argument, names) for argument in node.args[:1]]
    if called in (*BY_NAME, "vars") and any(given):
        yield f"{called} of {given[0]}"
    decorator = target.rpartition(".")[2]
    if decorator in OPTIONS:
        for option in node.keywords:
            # Options that are handed on in a dictionary are looked at where they are given.
            if option.arg is not None and option.arg not in OPTIONS[decorator]:
                yield f"{target}({option.arg}=...)"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_nothing_private_is_used(path):
    source = path.read_text("utf-8")
    if "numba" in source or "llvmlite" in source or "kernel" in source:
        assert offences(source) == []


def test_only_few_modules_know_numba():
    """Options reach a decorator through `compiled`, whose callers are looked at here."""
    callers = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "compiled":
                callers += [option.arg for option in node.keywords]
    assert set(callers) == {"nogil", "error_model"}


def test_options_are_those_that_numba_documents():
    assert "_nrt=False" in register_jitable.__doc__
    assert "numba:compile" in event.__doc__
    assert "numba:compiler_lock" in event.__doc__


@pytest.mark.parametrize(
    "source",
    [
        "from numba.core import caching",
        "import numba.core.caching",
        "import numba\nnumba.core.caching.IndexDataCacheFile",
        "import numba as nb\nnb.core.dispatcher",
        "from numba.core.caching import IndexDataCacheFile as Kept",
        "from numba import core",
        "from llvmlite import binding",
        "from llvmlite.binding import ffi",
        "import numba\nnumba.njit(_nrt=False)",
        "import numba\nnumba.njit(cache=True, pipeline_class=x)(f)",
        "import numba\nnumba.njit = 3",
        "import numba\nnumba.config.THREADING_LAYER = 'omp'",
        "import numba\nsetattr(numba.config, 'CACHE_DIR', '')",
        "import numba\ngetattr(numba, name)",
        "import importlib\nimportlib.import_module('numba.core.caching')",
        "def f(kernel):\n    kernel._cache.flush()",
        "def f(kernel):\n    return getattr(kernel, '_compiler')",
        "def f(kernel):\n    kernel._cache = None",
        "from numba import types\ntypes.Array._private",
        "import numba\nvars(numba)",
        "import numba\ninside: object = numba.config\ninside.THREADING_LAYER = 'omp'",
        "import numba\na = numba\nb = a\nb.core.caching",
    ],
)
def test_what_is_private_is_found(source):
    assert offences(source) != []


def test_what_is_public_is_allowed():
    allowed = (
        "import numba\nfrom numba import types\nfrom llvmlite import ir\n"
        "from numba.extending import register_jitable\nfrom numba.core import cgutils\n"
        "numba.config.CACHE_DIR = 'here'\nnumba.njit(cache=True, nogil=True)\n"
        "register_jitable(_nrt=False)(f)\ncgutils.for_range\nir.IntType(64)\ntypes.uint64"
    )
    assert offences(allowed) == []

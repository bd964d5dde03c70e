"""Docstrings of what has no source, and of what writes them when it is run: objects are asked.

Compiled functions and classes, such as numpy's ufuncs or `math.sqrt`, are imported for it.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import sysconfig
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

_HOOKS = {"breakpointhook", "displayhook", "excepthook", "unraisablehook"}


class Entry(NamedTuple):
    """Something documented: its public name, its signature, and its docstring as it stands."""

    name: str
    signature: str
    doc: str


def is_deprecated(doc: str) -> bool:
    """Whether a docstring says that the whole object is to be given up."""
    text = inspect.cleandoc(doc)
    return re.search(r"^\.\. deprecated::|\A\W*deprecated\b", text, re.I | re.M) is not None


def asked_names(module: str) -> list[str]:
    """What a compiled module offers to `import *`."""
    held = _imported(module)
    names = getattr(held, "__all__", None) or [n for n in dir(held) if not n.startswith("_")]
    return [name for name in names if isinstance(name, str)]


def asked_doc(name: str) -> str | None:
    """The docstring of an object, by its public name."""
    top, *attributes = name.split(".")
    held = _imported(top)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for attribute in attributes:
            held = getattr(held, attribute, None)
    doc = None if held is None else getattr(held, "__doc__", None)
    return doc if isinstance(doc, str) else None


def _imported(module: str) -> Any:
    """A compiled module, or None where this machine has none such."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(module)
    except Exception:  # whatever stops a module that is not ours, its names are just not there
        return None


def compiled_standard(wanted: dict[tuple[str, str], str], left_out: set[str]) -> Iterator[Entry]:
    """Compiled public modules of the standard library, such as math; their names into `wanted`."""
    folder = Path(sysconfig.get_path("stdlib"))
    for name in sorted(sys.stdlib_module_names - left_out):
        has_source = (folder / f"{name}.py").is_file() or (folder / name).is_dir()
        held = None if name.startswith("_") or has_source else _imported(name)
        if held is None:
            continue
        yield from _described(held, name)
        for attribute in asked_names(name):
            wanted.setdefault((name, attribute), f"{name}.{attribute}".removeprefix("builtins."))


def compiled_entries(wanted: dict[tuple[str, str], str]) -> Iterator[Entry]:
    """What objects say, {(module, name): public name}, and what members of classes say."""
    for (module, attribute), name in wanted.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            held = getattr(_imported(module), attribute, None)
        if not callable(held) or _is_changing(held, module, attribute):
            continue
        yield from _described(held, name)
        if isinstance(held, type):
            for member_name, member in _class_members(held).items():
                yield from _described(member, f"{name}.{member_name}")


def _is_changing(held: Any, module: str, name: str) -> bool:
    """What programs put in place of the interpreter's own, and the exceptions among the builtins,
    which say next to nothing.
    """
    if module == "sys" and name in _HOOKS:
        return True
    if module != "builtins":
        return False
    is_error = isinstance(held, type) and issubclass(held, BaseException)
    return is_error or not isinstance(held, (type, types.BuiltinFunctionType))


def _class_members(held: type) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for owner in held.__mro__:
        if owner is held or owner.__name__.startswith("_"):
            for name, member in vars(owner).items():
                if not name.startswith("_"):
                    members.setdefault(name, member)
    return members


def _described(held: Any, name: str) -> Iterator[Entry]:
    doc = getattr(held, "__doc__", None)
    # An object without a docstring of its own shows that of its class.
    if not isinstance(doc, str) or doc == getattr(type(held), "__doc__", None):
        return
    if not is_deprecated(doc):
        yield Entry(name, _asked_signature(held), doc)


def _asked_signature(held: Any) -> str:
    signature = getattr(held, "__text_signature__", None) or ""
    return re.sub(r"\(\$\w+(, /)?(, )?", "(", signature)

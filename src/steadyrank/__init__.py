"""steadyrank: how far can you trust this leaderboard?

Public names are those of `__init__.pyi`, which type checkers read, and figures of one paper those
of `steadyrank.papers`; each is imported when it is first used. Some live in `steadyrank_lab`, the
laboratory, which imports this package and is known to it by name alone.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_IMPORT = re.compile(r"^from (\S+) import (\w+) as", re.MULTILINE)
_STUB = Path(__file__).with_suffix(".pyi").read_text("utf-8")
_HOMES = {name: home for home, name in _IMPORT.findall(_STUB)}
"""Where each public name lives."""

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'steadyrank' has no attribute {name!r}{_meant(name)}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def _meant(name: str) -> str:
    if name.startswith("_"):  # Python's own questions, such as __path__
        return ""
    from steadyrank.guesses import name_meant

    return name_meant(name, __all__)


def __dir__() -> list[str]:
    return __all__

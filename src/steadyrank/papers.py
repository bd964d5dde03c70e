"""Experiments of single papers: the names of `steadyrank_lab.papers`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = "steadyrank_lab.papers"


def __getattr__(name: str) -> Any:
    if name.startswith("__") and name != "__all__":  # Python's own questions
        raise AttributeError(name)
    return getattr(import_module(_HOME), name)


def __dir__() -> list[str]:
    return sorted(import_module(_HOME).__all__)

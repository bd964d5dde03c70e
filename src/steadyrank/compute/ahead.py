"""Kernels compiled by other processes while the first one reads: a first command's wait, shared.

Numba compiles one kernel at a time in a process, and a first command waits for nothing else. A
rehearsal is a function that calls some modules' kernels on a tiny example. Other processes go
through rehearsals while the command begins with other kernels; all keep their code in the same
place. Whoever needs a kernel whose rehearsal is under way waits until its code is there; a
rehearsal that has not begun is left out, and its kernels are compiled by whoever needs them.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

PATIENCE = 60.0
"""Seconds after which a kernel is compiled here, although a rehearsal has promised it."""

GLANCE = 0.02
"""Seconds between two looks for the code of a kernel that is being compiled elsewhere."""

MOST_HELPERS = 3
"""Processes beside the first, each of which has all that was imported in memory."""

FREE, OVER, TAKEN = range(3)
"""States of a rehearsal; from TAKEN on they name the helper that goes through it."""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A function, as `module:function`, what it is called with, and the modules of its kernels."""

    function: str
    modules: frozenset[str]
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Programme:
    """The rehearsals, and in memory of all processes how far each has come."""

    rehearsals: tuple[Rehearsal, ...]
    states: Any

    def takes(self, place: int, state: int) -> bool:
        """Whether the rehearsal at this place was still free; it no longer is."""
        # Nothing locks: two processes that take one at the same moment compile it twice.
        was_free = bool(self.states[place] == FREE)
        if was_free:
            self.states[place] = state
        return was_free


_UNDER_WAY: list[tuple[_Programme, Sequence[Any]]] = []
"""What the helpers do, and their processes."""


def compile_ahead(rehearsals: Sequence[Rehearsal]) -> None:
    """Begin rehearsals, in their order, where there are other processors to run them on."""
    n_helpers = min(_processors() - 1, MOST_HELPERS, len(rehearsals))
    # A fork takes along what other threads have locked, and nobody to unlock it.
    if _UNDER_WAY or n_helpers < 1 or threading.active_count() > 1:
        return
    import multiprocessing

    try:
        context: Any = multiprocessing.get_context("fork" if _can_fork() else "spawn")
        programme = _Programme(tuple(rehearsals), context.RawArray("b", len(rehearsals)))
        helpers = [
            context.Process(target=_rehearse, args=(programme, number), daemon=True)
            for number in range(n_helpers)
        ]
        _UNDER_WAY.append((programme, helpers))
        for helper in helpers:
            helper.start()
    except OSError:
        _UNDER_WAY.clear()


def glances(module: str) -> Iterator[None]:
    """Moments to look again for the code of a module's kernel that a helper compiles.

    None where no helper compiles any of that module, or has begun to: then none will.
    """
    until = time.monotonic() + PATIENCE
    for programme, helpers in _UNDER_WAY:
        for place, rehearsal in enumerate(programme.rehearsals):
            if module not in rehearsal.modules or programme.takes(place, OVER):
                continue
            while (state := programme.states[place]) != OVER and helpers[state - TAKEN].is_alive():
                if time.monotonic() > until:
                    return
                time.sleep(GLANCE)
                yield
            yield


def _can_fork() -> bool:
    """Whether a process can have what this one has imported, without importing it again."""
    return hasattr(os, "fork") and sys.platform != "darwin"


def _rehearse(programme: _Programme, helper: int) -> None:
    """Go through the rehearsals that are still free, as long as the first process lives."""
    import multiprocessing

    _UNDER_WAY.clear()
    _be_silent()
    first = multiprocessing.parent_process()
    with contextlib.suppress(KeyboardInterrupt):
        for place, rehearsal in enumerate(programme.rehearsals):
            if first is not None and first.is_alive() and programme.takes(place, TAKEN + helper):
                module, function = rehearsal.function.split(":")
                getattr(importlib.import_module(module), function)(*rehearsal.arguments)
                programme.states[place] = OVER


def _be_silent() -> None:
    """Leave the terminal, and whoever reads what the command prints, to the first process."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

"""Kernels compiled by a second process while the first one reads: a first command's wait, shared.

Numba compiles one kernel at a time in a process, and a first command waits for nothing else. A
rehearsal is a function that calls some modules' kernels on a tiny example. A second process goes
through rehearsals while the command begins with other kernels; both keep their code in the same
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

FREE, TAKEN, OVER = range(3)


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A function without arguments, as `module:function`, and the modules of its kernels."""

    function: str
    modules: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Programme:
    """The rehearsals of the second process, and in memory of both how far each has come."""

    rehearsals: tuple[Rehearsal, ...]
    states: Any

    def takes(self, place: int) -> bool:
        """Whether the rehearsal at this place was still free; it no longer is."""
        # Nothing locks: two processes that take one at the same moment compile it twice.
        was_free = bool(self.states[place] == FREE)
        if was_free:
            self.states[place] = TAKEN
        return was_free


_UNDER_WAY: list[tuple[_Programme, Any]] = []
"""What the second process does, and that process."""


def compile_ahead(rehearsals: Sequence[Rehearsal]) -> None:
    """Begin rehearsals in a second process, where there is a second processor to run it on."""
    # A fork takes along what other threads have locked, and nobody to unlock it.
    if _UNDER_WAY or _processors() < 2 or threading.active_count() > 1:
        return
    import multiprocessing

    try:
        context: Any = multiprocessing.get_context("fork" if _can_fork() else "spawn")
        programme = _Programme(tuple(rehearsals), context.RawArray("b", len(rehearsals)))
        helper = context.Process(target=_rehearse, args=(programme,), daemon=True)
        helper.start()
    except OSError:
        return
    _UNDER_WAY.append((programme, helper))


def glances(module: str) -> Iterator[None]:
    """Moments to look again for the code of a module's kernel that the second process compiles.

    None where it compiles none of that module, or has not begun to: then it no longer will.
    """
    until = time.monotonic() + PATIENCE
    for programme, helper in _UNDER_WAY:
        for place, rehearsal in enumerate(programme.rehearsals):
            if module not in rehearsal.modules or programme.takes(place):
                continue
            while programme.states[place] != OVER and helper.is_alive():
                if time.monotonic() > until:
                    return
                time.sleep(GLANCE)
                yield
            yield


def _can_fork() -> bool:
    """Whether a process can have what this one has imported, without importing it again."""
    return hasattr(os, "fork") and sys.platform != "darwin"


def _rehearse(programme: _Programme) -> None:
    """Go through the rehearsals that are still free, as long as the first process lives."""
    import multiprocessing

    _be_silent()
    first = multiprocessing.parent_process()
    with contextlib.suppress(KeyboardInterrupt):
        for place, rehearsal in enumerate(programme.rehearsals):
            if first is not None and first.is_alive() and programme.takes(place):
                module, function = rehearsal.function.split(":")
                getattr(importlib.import_module(module), function)()
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

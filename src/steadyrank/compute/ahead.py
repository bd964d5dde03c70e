"""Kernels compiled by a second process while the first one reads: a first command's wait, shared.

Numba compiles one kernel at a time in a process, and a first command waits for nothing else. A
rehearsal is a function that calls some modules' kernels on a tiny example. A second process goes
through rehearsals while the command begins with other kernels; both keep their code in the same
place. Whoever needs a kernel whose rehearsal is under way waits for it, and compiles whatever the
rehearsal did not leave.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

PATIENCE = 60.0
"""Seconds after which a kernel is compiled here, although a rehearsal has promised it."""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A function without arguments, as `module:function`, and the modules of its kernels."""

    function: str
    modules: frozenset[str]
    is_over: threading.Event = field(default_factory=threading.Event, compare=False)


_UNDER_WAY: list[Rehearsal] = []


def compile_ahead(rehearsals: Sequence[Rehearsal]) -> None:
    """Begin rehearsals in a second process, where there is a second processor to run it on."""
    if _UNDER_WAY or _processors() < 2 or not sys.executable:
        return
    names = [rehearsal.function for rehearsal in rehearsals]
    try:
        # -P: the current folder may hold anything, also a module of a name that is imported here.
        helper = subprocess.Popen(
            [sys.executable, "-P", "-c", f"from {__name__} import main; main()", *names],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
    except OSError:
        return
    _UNDER_WAY.extend(rehearsals)
    atexit.register(_end, helper)
    threading.Thread(target=_listen, args=(helper, rehearsals), daemon=True).start()


def wait_for(module: str) -> bool:
    """Wait for the rehearsal of a module's kernels; whether there was one."""
    rehearsals = [rehearsal for rehearsal in _UNDER_WAY if module in rehearsal.modules]
    for rehearsal in rehearsals:
        rehearsal.is_over.wait(PATIENCE)
    return bool(rehearsals)


def main() -> None:
    """Go through the rehearsals that the command line names; say when each is over."""
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        for name in sys.argv[1:]:
            module, function = name.split(":")
            getattr(importlib.import_module(module), function)()
            print(name, flush=True)


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _listen(helper: subprocess.Popen[str], rehearsals: Sequence[Rehearsal]) -> None:
    """Note which rehearsals are over; when the process leaves, for whatever reason, all are."""
    by_name = {rehearsal.function: rehearsal for rehearsal in rehearsals}
    with helper:
        for line in helper.stdout or ():
            by_name[line.strip()].is_over.set()
    for rehearsal in rehearsals:
        rehearsal.is_over.set()


def _end(helper: subprocess.Popen[str]) -> None:
    helper.terminate()
    helper.wait()

"""How much memory this process may use, and what to refuse before the system does.

Linux grants more than there is and then kills; a check beforehand can say what it would take.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from steadyrank.compute.executors import default_jobs
from steadyrank.errors import InputError, MachineError

_CGROUP = Path("/sys/fs/cgroup")
LEAST_SPACE, SPACE_OF_PROCESSOR = 650_000_000, 100_000_000
"""Bytes of address space that Python's libraries take, and more of them for every processor."""

_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def memory_limit() -> int:
    """Bytes that this process may use: of the machine, its container and its own limits."""
    limits = [_physical(), *_of_cgroups(), *_of_process()]
    return min(limit for limit in limits if limit is not None)


def _physical() -> int:
    with contextlib.suppress(ValueError, OSError, AttributeError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return 8 << 30  # Windows does not say so; most machines have it.


def _of_cgroups() -> list[int]:
    """The limits of a container: cgroup v2 and v1, where "max" is no number."""
    limits = []
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):
            limits.append(int((_CGROUP / name).read_text("ascii")))
    return limits


def _of_process() -> list[int]:
    """What `ulimit -v` leaves."""
    try:
        import resource
    except ImportError:  # Windows
        return []
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return [] if soft == resource.RLIM_INFINITY else [soft]


def check_address_space() -> None:
    """Say beforehand that `ulimit -v` leaves too little: BLAS and LLVM would hang or abort.

    What is needed is hardly used: libraries reserve it, for every processor.
    """
    needed = LEAST_SPACE + SPACE_OF_PROCESSOR * default_jobs()
    for there in _of_process():
        if there < needed:
            raise MachineError(
                f"ulimit -v leaves {in_bytes(there)} of address space, but about "
                f"{in_bytes(needed)} are required: raise the limit"
            )


def in_bytes(number: float) -> str:
    """A number of bytes in words.

    >>> in_bytes(512), in_bytes(268_435_456), in_bytes(14.7e9)
    ('512 bytes', '268 MB', '15 GB')
    """
    power = 0
    while number >= 999.5 and power < len(_UNITS) - 1:
        number, power = number / 1000, power + 1
    digits = 1 if number < 9.95 and power else 0
    return f"{number:.{digits}f} {_UNITS[power]}"


def check_pairs(n_runs: int, each: float) -> None:
    """Refuse more runs than fit into memory, given the bytes of each pair."""
    pairs = n_runs * (n_runs - 1) // 2
    check_memory(each * pairs, f"{pairs:,} pairs of runs", "give fewer runs")


def check_memory(needed: float, what: str, instead: str) -> None:
    """Refuse beforehand what needs more than two thirds of the memory; the rest is in use.

    >>> check_memory(1e18, "9,173,646 pairs", "give a baseline")
    Traceback (most recent call last):
        ...
    steadyrank.errors.InputError: 9,173,646 pairs require about 1000000 TB of memory, ...
    """
    there = memory_limit()
    if needed > there * 2 / 3:
        raise InputError(
            f"{what} require about {in_bytes(needed)} of memory, but {in_bytes(there * 2 / 3)} "
            f"of {in_bytes(there)} may be used: {instead}"
        )

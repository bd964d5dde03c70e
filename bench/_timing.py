"""Clocks of the benchmarks: CPU time, or wall time on request, and ratios to peers."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np


def taken(
    work: Callable[[], Any], clock: Callable[[], float] = time.process_time
) -> tuple[float, Any]:
    """Return the seconds that the work takes, and its result."""
    started = clock()
    answer = work()
    return clock() - started, answer


def seconds(
    work: Callable[[], object],
    repeat: int = 3,
    *,
    clock: Callable[[], float] = time.process_time,
    of: Callable[[list[float]], Any] = np.median,
) -> float:
    """Return the median seconds over some turns, or `of` them."""
    return float(of([taken(work, clock)[0] for _ in range(repeat)]))


def report(what: str, ours: float, peers: dict[str, float]) -> None:
    print(f"{what}: steadyrank {ours:.3g} s")
    for name, theirs in peers.items():
        print(f"    {name:66} {theirs:10.3g} s  {theirs / ours:10.0f} x")

"""How much results change if nothing relevant has changed, for docs/invariances.md.

    python -m bench.invariances

Every study, in the small cases of its tests, with topics or runs in several other orders, on more
threads, cut into other blocks, and on other executors. Takes a minute.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest import mock

from bench.invariances.cases import (
    CASES,
    Case,
    Json,
    runs_shuffled,
    small_data,
    told_of,
    topics_shuffled,
)
from bench.invariances.differences import by_name, largest_difference

ORDERS = 3
WAYS = ("order of topics", "order of runs", "threads", "blocks", "executor")


def tellings(case: Case, options: dict[str, Any]) -> dict[str, Iterator[tuple[Json, Json]]]:
    """Return the results of a case for each variation."""
    data = small_data()
    seeds = range(1, ORDERS + 1)
    ways: dict[str, Iterator[tuple[Json, Json]]] = {
        "order of topics": (told_of(case, topics_shuffled(data, s), **options) for s in seeds),
        "order of runs": (told_of(case, runs_shuffled(data, s), **options) for s in seeds),
    }
    if case.jobs:
        ways["threads"] = (told_of(case, data, jobs=jobs) for jobs in (2, 3))
    if case.cuts:
        ways["blocks"] = (cut(case, place, options) for place in case.cuts)
    if case.executor:
        ways["executor"] = (spread(case) for _ in range(1))
    return ways


def cut(case: Case, place: str, options: dict[str, Any]) -> tuple[Json, Json]:
    module, _, constant = place.rpartition(".")
    home = importlib.import_module(f"steadyrank.{module}")
    with mock.patch.object(home, constant, case.cuts[place]):
        return told_of(case, small_data(), **options)


def spread(case: Case) -> tuple[Json, Json]:
    with ThreadPoolExecutor(3) as threads:
        return told_of(case, small_data(), executor=threads)


def moved(case: Case) -> dict[str, float]:
    """Return the largest change of a case's figures for each variation."""
    options = {"jobs": 1} if case.jobs else {}
    known, all_known = told_of(case, small_data(), **options)
    found = {}
    for way, several in tellings(case, options).items():
        if way == "order of runs" and case.listed:
            far = (largest_difference(by_name(one), by_name(known)) for one, _ in several)
        else:
            far = (largest_difference(every, all_known) for _, every in several)
        found[way] = max(far)
    return found


def main() -> None:
    by_study: dict[str, dict[str, float]] = {}
    for case in CASES.values():
        row = by_study.setdefault(case.study, {})
        for way, far in moved(case).items():
            row[way] = max(far, row.get(way, 0.0))
    print("| study | " + " | ".join(WAYS) + " |")
    print("|---|" + "---|" * len(WAYS))
    for study, row in by_study.items():
        cells = ("–" if way not in row else f"{row[way]:.0e}" if row[way] else "=" for way in WAYS)
        print(f"| `{study}` | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()

"""The type I error of every test: the tables of docs/levels.md.

    pip install -e . && python -m bench.levels [--trials 20000] [--only "Two runs"]

Each test sees data in which nothing differs, and what it finds nevertheless is counted. Slow tests
take a fixed share of the trials. In brackets the exact binomial 99.9 % interval: "exceeds" if it
lies above the level, "below" if under it, else "holds". One row in a thousand errs by chance.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from threadpoolctl import threadpool_limits

from bench.levels.trials import ALPHAS, SECTIONS, Row, Section, rows_of

HEADER = (
    "| test | data | topics | trials | at level .05 | at level .01 |\n|---|---|---:|---:|---|---|"
)


def cell(row: Row) -> str:
    low, high = row.interval
    return f"{row.rate:.4f} [{low:.4f}, {high:.4f}] {row.verdict}"


def line(rows: Sequence[Row]) -> str:
    """One test on one kind of data and so many topics, at all levels."""
    first = rows[0]
    name = f"{first.test.name} †" if first.test.paper else first.test.name
    cells = (name, first.data, first.topics, f"{first.trials:,}", *map(cell, rows))
    return "| " + " | ".join(str(each) for each in cells) + " |"


def print_section(section: Section, n_trials: int, seed: int) -> None:
    rows = list(rows_of(section, n_trials, seed=seed))
    print(f"### {section.title}\n\n{HEADER}")
    for test in section.tests:
        own = [row for row in rows if row.test is test]
        for first in range(0, len(own), len(ALPHAS)):
            print(line(own[first : first + len(ALPHAS)]))
    print(flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="Sections whose title holds this.")
    options = parser.parse_args()
    started = time.perf_counter()
    with threadpool_limits(1):
        for section in SECTIONS:
            if options.only not in section.title:
                continue
            print_section(section, options.trials, options.seed)
            taken = time.perf_counter() - started
            print(f"{section.title}: {taken:.0f} s so far", file=sys.stderr)


if __name__ == "__main__":
    main()

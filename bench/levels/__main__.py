"""The type I error of every test: docs/evidence/levels.csv, which docs/levels.md summarises.

    pip install -e . && python -m bench.levels [--trials 20000] [--only "Two runs"]

Each test sees data in which nothing differs, and what it finds nevertheless is counted. Slow tests
take a fixed share of the trials. The verdict compares the exact binomial 99.9 % interval with the
level: "exceeds", "below" or "not shown to exceed". One row in a thousand errs by chance.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time

from threadpoolctl import threadpool_limits

from bench.levels.trials import SECTIONS, Row, Section, rows_of

COLUMNS = "section test mode data topics trials level rate low high verdict"


def cells(section: Section, row: Row) -> list[object]:
    """Return a row of the file: a test on data of one kind and size, at one level."""
    low, high = (f"{limit:.4f}" for limit in row.interval)
    mode = "paper" if row.test.paper else "sound"
    verdict = row.verdict.replace("holds", "not shown to exceed")
    counted = [row.topics, row.trials, f"{row.level:g}", f"{row.rate:.4f}", low, high, verdict]
    return [section.title, row.test.name, mode, row.data, *counted]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="Sections whose title holds this.")
    options = parser.parse_args()
    started = time.perf_counter()
    file = csv.writer(sys.stdout, lineterminator="\n")
    file.writerow(COLUMNS.split())
    with threadpool_limits(1):
        for section in SECTIONS:
            if options.only not in section.title:
                continue
            rows = rows_of(section, options.trials, seed=options.seed)
            file.writerows(cells(section, row) for row in rows)
            sys.stdout.flush()
            taken = time.perf_counter() - started
            print(f"{section.title}: {taken:.0f} s so far", file=sys.stderr)


if __name__ == "__main__":
    main()

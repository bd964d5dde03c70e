"""How often intervals cover the truth: docs/evidence/coverage.csv, summarised in docs/coverage.md.

    python -m bench.coverage [--trials 2000] [--only stability]

Every interval that steadyrank prints or returns, on data from populations whose truth is known: the
simulated track, and normal or exponential effects of about the same variances. The limits are the
exact binomial 99.9 % interval of the coverage. The verdict is "short" if the nominal level is above
these, "wide" if below, otherwise "not shown to miss". Intervals that take long get a share of the
trials. Widths are medians. One core, some minutes.
"""

from __future__ import annotations

import argparse
import csv
import sys

from threadpoolctl import threadpool_limits

from bench.coverage.claims import Tally, measure
from bench.coverage.registry import EXPERIMENTS, claims

STUDIES = (
    "compare",
    "report",
    "simulate",
    "topics",
    "agree",
    "components",
    "instances",
    "plan",
    "holes",
    "pools",
    "stability",
    "judges",
    "datasets",
)

COLUMNS = "interval study setting nominal trials covered low high width verdict"


def cells(tally: Tally) -> list[object]:
    """Return a row of the file: an interval in one setting."""
    claim, rates = tally.claim, (tally.coverage, *tally.limits)
    verdict = tally.verdict.replace("holds", "not shown to miss")
    counted = [claim.nominal, tally.trials, *(f"{rate:.3f}" for rate in rates)]
    return [claim.interval, claim.study, tally.setting, *counted, f"{tally.width:.3g}", verdict]


def place(tally: Tally) -> tuple[int, int]:
    """Return the rows by study, then by interval; settings keep their order."""
    return STUDIES.index(tally.claim.study.split(",")[0]), claims().index(tally.claim)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--only", choices=STUDIES, help="the intervals of one study")
    parser.add_argument("--claims", action="store_true", help="what each interval should cover")
    asked = parser.parse_args()
    file = csv.writer(sys.stdout, lineterminator="\n")
    if asked.claims:
        file.writerow(["interval", "study", "claim"])
        file.writerows([each.interval, each.study, each.truth] for each in claims())
        return
    found: list[Tally] = []
    with threadpool_limits(1):
        for name, experiment in EXPERIMENTS.items():
            if asked.only and all(
                asked.only not in claim.study for claim in experiment.claims.values()
            ):
                continue
            for setting in experiment.settings:
                tallies = measure(name, experiment, setting, trials=asked.trials, full=True)
                csv.writer(sys.stderr).writerows(map(cells, tallies))
                found += tallies
    found.sort(key=place)
    file.writerow(COLUMNS.split())
    file.writerows(map(cells, found))


if __name__ == "__main__":
    main()

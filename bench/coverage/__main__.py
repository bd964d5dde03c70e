"""How often intervals hold what they claim to: the tables of docs/coverage.md.

    python -m bench.coverage [--trials 2000] [--only stability]

Every interval that steadyrank prints or returns, on data from populations whose truth is known: the
simulated track, and normal or exponential effects of about the same variances. In brackets the
exact binomial 99.9 % interval of the coverage. An interval "holds" if its level lies within these,
is "short" if the level lies above, "wide" if below. Intervals that take long get a share of the
trials. Widths are medians. One core, some minutes.
"""

from __future__ import annotations

import argparse
import sys

from threadpoolctl import threadpool_limits

from bench.coverage.claims import Tally, measure
from bench.coverage.registry import EXPERIMENTS, NO_CLAIM, claims

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

HEADER = (
    "| interval | study | setting | nominal | trials | covered [99.9 %] | width | verdict |\n"
    "|---|---|---|---:|---:|---|---:|---|"
)


def row(tally: Tally) -> str:
    low, high = tally.limits
    mark = "" if tally.verdict == "holds" else "**"
    return (
        f"| {tally.claim.interval} | {tally.claim.study} | {tally.setting} "
        f"| {decimals(tally.claim.nominal, 2)} | {tally.trials} "
        f"| {decimals(tally.coverage)} [{decimals(low)}, {decimals(high)}] "
        f"| {tally.width:.3g} | {mark}{tally.verdict}{mark} |"
    )


def decimals(share: float, digits: int = 3) -> str:
    """A share without the leading zero."""
    text = f"{share:.{digits}f}"
    return text.removeprefix("0") if share < 1.0 else text


def place(tally: Tally) -> tuple[int, int]:
    """By study, then by interval; settings stay in order."""
    return STUDIES.index(tally.claim.study.split(",")[0]), claims().index(tally.claim)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--only", choices=STUDIES, help="the intervals of one study")
    asked = parser.parse_args()
    found: list[Tally] = []
    with threadpool_limits(1):
        for name, experiment in EXPERIMENTS.items():
            if asked.only and all(
                asked.only not in claim.study for claim in experiment.claims.values()
            ):
                continue
            for setting in experiment.settings:
                tallies = measure(name, experiment, setting, trials=asked.trials, full=True)
                print(*map(row, tallies), sep="\n", file=sys.stderr, flush=True)
                found += tallies
    found.sort(key=place)
    print(HEADER, *map(row, found), sep="\n")
    print("\n| interval | study | is to hold |\n|---|---|---|")
    for claim in dict.fromkeys(tally.claim for tally in found):
        print(f"| {claim.interval} | {claim.study} | {claim.truth} |")
    print("\n| in the JSON of | field | is |\n|---|---|---|")
    for field, reason in NO_CLAIM.items():
        study, _, keys = field.partition(" ")
        print(f"| {study} | `{keys}` | {reason} |")


if __name__ == "__main__":
    main()

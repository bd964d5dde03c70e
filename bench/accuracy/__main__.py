"""How many digits are right: NIST's certified sets, and what the reference figures are.

    pip install -e '.[test]' && python -m bench.accuracy
    apt-get install r-base-core                       # the peer in R, optional

Correct digits (log relative error) of F. The limit is exact arithmetic on the stored numbers.
The last column is the worst of the two sums of squares and F, and its limit. Exits with 1 where
steadyrank stays a tenth of a digit below a limit that is not rounding itself (15 digits).
"""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from bench.accuracy.nist_sets import (
    NAMES,
    OneWay,
    certified,
    exact_of_stored,
    log_relative_error,
    stored,
)
from steadyrank.stats.anova.balanced import anova

TESTS = Path(__file__).parents[2] / "tests"
R_SCRIPT = """
d <- read.csv(commandArgs(TRUE)[1]); d$group <- factor(d$group)
table <- summary(aov(y ~ group, d))[[1]]
cat(format(table[1, 4], digits = 17))
"""


def ours(values: np.ndarray) -> OneWay:
    table = anova(values, factors=["group", None])
    group, error = table.source("group"), table.source("error")
    return OneWay(between=group.ss, within=error.ss, statistic=group.statistic)


def rows(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.repeat(np.arange(len(values)), values.shape[1]), values.ravel()


def of_statsmodels(values: np.ndarray) -> float:
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    group, y = rows(values)
    table = anova_lm(ols("y ~ C(group)", pd.DataFrame({"group": group, "y": y})).fit())
    return float(table["F"].iloc[0])


def of_r(values: np.ndarray) -> float | None:
    if not shutil.which("Rscript"):
        return None
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.csv"
        with data.open("w", newline="") as stream:
            csv.writer(stream).writerows([("group", "y"), *zip(*rows(values), strict=True)])
        words = ["Rscript", "-e", R_SCRIPT, str(data)]
        made = subprocess.run(words, capture_output=True, text=True, check=True)
    return float(made.stdout)


def nist() -> bool:
    """Return the table of the eleven sets, and whether steadyrank reaches the limit on each."""
    print("| set | limit | steadyrank | scipy | statsmodels | R | steadyrank, worst of SS and F |")
    print("|---|---:|---:|---:|---:|---:|---|")
    reached = True
    for name in NAMES:
        values, truth = stored(name), certified(name)
        limit, found = exact_of_stored(name), ours(values)
        others = [float(stats.f_oneway(*values).statistic), of_statsmodels(values), of_r(values)]
        digits = [
            f"{log_relative_error(each, truth.statistic):.1f}" if each is not None else ""
            for each in (limit.statistic, found.statistic, *others)
        ]
        worst, at_best = found.digits(truth), limit.digits(truth)
        reached = reached and worst >= min(at_best, 15.0) - 0.1
        print(f"| {name} | {' | '.join(digits)} | {worst:.1f} of {at_best:.1f} |", flush=True)
    return reached


def figures(part: object) -> int:
    """Return the number of numbers in a JSON value."""
    if isinstance(part, dict):
        return sum(map(figures, part.values()))
    if isinstance(part, list):
        return sum(map(figures, part))
    return isinstance(part, int | float) and not isinstance(part, bool)


def references() -> None:
    """Return each set of reference figures with its source and the tests that read it."""
    print("\n| figures of | from | how many | tolerance | read in |\n|---|---|---:|---:|---|")
    tests = {path: path.read_text("utf-8") for path in sorted(TESTS.rglob("test_*.py"))}
    for path in sorted((TESTS / "golden").glob("*.json")):
        case = json.loads(path.read_text("utf-8"))
        if path.stem.startswith("nist_") or "expected" not in case:
            continue
        tolerance = f"{case['tolerance']:g}" if "tolerance" in case else "equal"
        readers = [
            test.name for test, text in tests.items() if re.search(rf"\b{path.stem}\b", text)
        ]
        print(
            f"| `{path.stem}` | {case['source']} | {figures(case['expected'])} "
            f"| {tolerance} | {', '.join(f'`{name}`' for name in readers)} |"
        )


if __name__ == "__main__":
    reached = nist()
    references()
    sys.exit(not reached)

"""The eleven one-way data sets of NIST's StRD, and the truth about them without rounding.

Nine of them follow a rule (Simon and Lesage's): groups of 21, 201 or 2,001 values around 0.3, 0.4
and 0.5, on top of 1, 1,000,000 or 1,000,000,000,000, so that 1, 7 or 13 leading digits never
change. Their decimals are no float64 numbers: what storing them costs, no program gets back.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

GOLDEN = Path(__file__).parents[2] / "tests" / "golden"
OBSERVED = ("SiRstv", "AtmWtAg")
RULED = {
    f"SmLs{3 * step + size + 1:02d}": (base, repeats)
    for step, base in enumerate(("1", "1000000", "1000000000000"))
    for size, repeats in enumerate((10, 100, 1000))
}
"""The constant below the varying digits, and the count of each outer value per group."""
CENTRES = (4, 3, 5, 3, 5, 3, 5, 3, 5)
"""Centre of each group, in tenths."""
NAMES = ("SiRstv", "SmLs01", "SmLs02", "SmLs03", "AtmWtAg", *sorted(RULED)[3:])
"""The sets in NIST's order: lower, average and higher difficulty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneWay:
    """The certified sums of squares between and within groups, and F."""

    between: float
    within: float
    statistic: float

    def digits(self, certified: OneWay) -> float:
        """Return the number of correct digits of the worst of the three."""
        return min(
            log_relative_error(self.between, certified.between),
            log_relative_error(self.within, certified.within),
            log_relative_error(self.statistic, certified.statistic),
        )


def log_relative_error(found: float, certified: float) -> float:
    """Return the number of correct digits, -log10 of the relative error, at most 16."""
    return min(16.0, -math.log10(max(abs(found - certified) / abs(certified), 1e-16)))


def decimals(name: str) -> list[list[str]]:
    """Return the set as NIST prints it, one list per group."""
    if name in OBSERVED:
        case = json.loads((GOLDEN / f"nist_anova_{name}.json").read_text("utf-8"))
        return [[repr(value) for value in group] for group in case["inputs"]["groups"]]
    base, repeats = RULED[name]
    return [[f"{base}.{tenths}" for tenths in (c, *[c - 1, c + 1] * repeats)] for c in CENTRES]


def stored(name: str) -> np.ndarray:
    """Return the set as float64, one row per group."""
    return np.array([[float(value) for value in group] for group in decimals(name)])


def without_rounding(groups: list[list[Fraction]]) -> OneWay:
    """Return the three figures in exact arithmetic, rounded once at the end."""
    k, n = len(groups), len(groups[0])
    means = [sum(group, Fraction()) / n for group in groups]
    grand = sum(means, Fraction()) / k
    between = n * sum((mean - grand) ** 2 for mean in means)
    within = sum((v - mean) ** 2 for group, mean in zip(groups, means, strict=True) for v in group)
    return OneWay(
        between=float(between),
        within=float(within),
        statistic=float(between / (k - 1) / (within / (k * (n - 1)))),
    )


def certified(name: str) -> OneWay:
    """Return the exact result for the printed decimals."""
    return without_rounding([[Fraction(value) for value in group] for group in decimals(name)])


def exact_of_stored(name: str) -> OneWay:
    """Return the exact result for the float64 numbers, the best that a program can reach."""
    return without_rounding([[Fraction(value) for value in row] for row in stored(name).tolist()])

"""Tables 1 and 2 of Ferro (IIR 2018) as printed, and what follows from their columns.

For `steadyrank.papers.ferro2018.exhibits`: degrees of freedom follow from the design; mean
squares, F, p and omega² from sums of squares, up to their rounding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from steadyrank.papers.model import Claim
from steadyrank.papers.parts import cell, claim, page_table, share_claim
from steadyrank.present.anova import source_words
from steadyrank.present.table import Cell, Table
from steadyrank.stats.anova.balanced import Power, observed_power
from steadyrank.studies.agree.correlations import SYSTEM_SIZES, TOPIC_SIZES, Coefficient
from steadyrank.words import listed, pvalue

MEASURES, SAMPLES = 8, 100
CONVENTIONS: tuple[Power, ...] = ("observed", "omega")
"""Of observed power."""

N = 28 * len(TOPIC_SIZES) * len(SYSTEM_SIZES) * SAMPLES
"""Observations behind the printed tables: pairs of measures × sizes × samples."""

HALF = 0.00005
"""Half of the last printed digit."""

SYMBOLS: dict[Coefficient, str] = {"tau": "tau", "tau_ap": "tau_AP"}


class Printed(NamedTuple):
    """A line of Table 1 or 2 as printed; None where it prints nothing."""

    source: str
    ss: float
    df: int
    ms: float | None = None
    f: float | None = None
    pvalue: float | None = None
    omega_squared: float | None = None
    power: float | None = None


TABLES: dict[Coefficient, tuple[Printed, ...]] = {
    "tau": (
        Printed("subject", 55.8432, 99, 0.5641, 99.6711, 0.0),
        Printed("measure_pair", 1666.5150, 27, 61.7228, 10906.3664, 0.0, 0.6004, 1.0),
        Printed("topic_size", 418.7689, 6, 69.7948, 12332.6910, 0.0, 0.2740, 1.0),
        Printed("system_size", 2.3875, 9, 0.2653, 46.8753, 3.64e-85, 0.0021, 0.9999),
        Printed("measure_pair:topic_size", 33.1886, 162, 0.2049, 36.2001, 0.0, 0.0283, 1.0),
        Printed("measure_pair:system_size", 0.9346, 243, 0.0038, 0.6796, 1.0, 0.0, 0.8043),
        Printed("topic_size:system_size", 0.6136, 54, 0.0114, 2.0079, 1.69e-05, 0.0002, 0.5137),
        Printed("error", 1105.8283, 195399, 0.0057),
        Printed("total", 3284.0798, 195999),
    ),
    "tau_ap": (
        Printed("subject", 71.0670, 99, 0.7178, 86.7603, 0.0),
        Printed("measure_pair", 2536.3318, 27, 93.9382, 11353.5200, 0.0, 0.6100, 1.0),
        Printed("topic_size", 612.0528, 6, 102.0088, 12328.9432, 0.0, 0.2740, 1.0),
        Printed("system_size", 12.0979, 9, 1.3442, 162.4638, 4.20e-308, 0.0074, 1.0),
        Printed("measure_pair:topic_size", 26.9371, 162, 0.1662, 20.0967, 0.0, 0.0155, 1.0),
        Printed("measure_pair:system_size", 1.2495, 243, 0.0051, 0.6214, 1.0, 0.0, 0.7467),
        Printed("topic_size:system_size", 0.8735, 54, 0.0162, 1.9550, 3.44e-05, 0.0002, 0.4966),
        Printed("error", 1616.7174, 195399, 0.0083),
        Printed("total", 4877.3271, 195999),
    ),
}
"""Tables 1 (tau) and 2 (tau_AP)."""

PRINT_NOTES: dict[Coefficient, str] = {
    "tau": "Two of the printed figures would follow if they were cut off instead of rounded: the "
    "omega² of topic size × system size is .00028 and the p of system size 3.648e-85. The p of "
    "topic size × system size computes to 1.62e-05 where 1.69e-05 is printed.",
    "tau_ap": "Two of the printed figures would follow if they were cut off instead of rounded: "
    "the omega² of topic size × system size is .00026 and the MS of measure pair × topic size "
    ".16628.",
}

POWER_NOTE = (
    "The printed power is not observed power: neither of its two usual definitions gives it, nor "
    "does any other that was tried. As observed power only restates p, nothing is lost."
)

STRATA_NOTE = (
    "The pairs of measures of a sample share its data and all sizes share draws, so errors are not "
    "independent (hence F < 1 of measure pair × system size). The last two columns use each "
    "effect's interaction with the subject as its error. Neither p is about other topics and "
    "systems: all samples are of the same ones, and more samples make both smaller. Read effect "
    "sizes, and take mode sound of agree for their intervals."
)


def pvalue_cell(value: float | None) -> Cell:
    """A p-value as ANOVA tables show it."""
    if value is None or np.isnan(value):
        return cell(None)
    small = 0.0 < value < 1e-300  # where the printed tables still give digits
    return Cell(f"{value:.2e}" if small else pvalue(value, orders=True, missing=""), value)


def printed_table(number: int, coefficient: Coefficient) -> Table:
    """The printed columns beside those that follow from its sums of squares."""
    error = TABLES[coefficient][-2]
    rows: list[tuple[Any, ...]] = []
    for line in TABLES[coefficient]:
        if line.f is None:
            rows.append((source_words(line.source), line.ss, line.df, *[None] * 9))
            continue
        f = recomputed_f(line, error)[1]
        powers = [
            observed_power(f, line.df, error.df, convention=convention)
            if line.power is not None
            else None
            for convention in CONVENTIONS
        ]
        rows.append(
            (
                source_words(line.source),
                line.ss,
                line.df,
                line.f,
                f,
                pvalue_cell(line.pvalue) if line.pvalue else Cell("0.0000", 0.0),
                pvalue_cell(_tail(f, line.df, error.df)),
                line.omega_squared,
                omega_squared(line) if line.omega_squared is not None else None,
                line.power,
                *powers,
            )
        )
    return page_table(
        f"table-{number}-printed",
        "The printed table, and what follows from its sums of squares",
        (
            "source",
            "SS",
            "DF",
            "F printed",
            "F",
            "p printed",
            "p",
            "omega² printed",
            "omega²",
            "power printed",
            "by df F",
            "by df (F − 1)",
        ),
        rows,
    )


def recomputed_f(line: Printed, error: Printed) -> tuple[float, float, float]:
    """F from sums of squares: the lowest that rounding allows, the nearest, the highest."""
    low, middle, high = (
        (line.ss + sign * HALF) / line.df / ((error.ss - sign * HALF) / error.df)
        for sign in (-1, 0, 1)
    )
    return low, middle, high


def omega_squared(line: Printed) -> float:
    """df (F - 1) / (df (F - 1) + N) from the printed F, at least 0."""
    surplus = line.df * ((line.f or 0.0) - 1.0)
    return max(0.0, surplus / (surplus + N))


def printed_claims(coefficient: Coefficient) -> list[Claim]:
    """What must agree within the printed table itself."""
    lines = TABLES[coefficient]
    error, total, effects = lines[-2], lines[-1], lines[:-2]
    tested = [line for line in effects if line.omega_squared is not None]
    with_ms = [line for line in lines if line.ms is not None]
    parts = abs(sum(line.ss for line in lines[:-1]) - total.ss)
    gaps = [_nearest_power(line, error) for line in tested]
    return [
        _lines_claim("Printed DF are those of the design", lines, _df_agree(lines)),
        claim("Printed SS add up to their total", parts <= 9 * HALF, f"off by {parts:.4f}"),
        _lines_claim(
            "Printed MS follow from SS and DF",
            with_ms,
            (abs(e.ss / e.df - (e.ms or 0.0)) <= HALF * (1.0 + 1.0 / e.df) for e in with_ms),
        ),
        _lines_claim(
            "Printed F follow from SS and DF", effects, (_f_agrees(line, error) for line in effects)
        ),
        _lines_claim(
            "Printed p follow from F", effects, (_p_agrees(line, error) for line in effects)
        ),
        _lines_claim(
            "Printed omega² follow from F",
            tested,
            (abs(omega_squared(line) - (line.omega_squared or 0.0)) <= HALF for line in tested),
        ),
        _lines_claim(
            "The printed power is an observed power", tested, (gap <= HALF for gap in gaps)
        ),
    ]


def _lines_claim(text: str, lines: Sequence[Printed], agree: Iterable[bool]) -> Claim:
    """A claim about lines of a table, which names those that do not agree."""
    agreeing = list(agree)
    off = [source_words(line.source) for line, ok in zip(lines, agreeing, strict=True) if not ok]
    return share_claim(text, agreeing, f"not {listed(off)}" if off else "", of="lines")


def _df_agree(lines: Sequence[Printed]) -> list[bool]:
    one = {
        "subject": SAMPLES - 1,
        "measure_pair": MEASURES * (MEASURES - 1) // 2 - 1,
        "topic_size": len(TOPIC_SIZES) - 1,
        "system_size": len(SYSTEM_SIZES) - 1,
    }
    expected = [int(np.prod([one[name] for name in line.source.split(":")])) for line in lines[:-2]]
    expected += [N - 1 - sum(expected), N - 1]
    return [line.df == df for line, df in zip(lines, expected, strict=True)]


def _f_agrees(line: Printed, error: Printed) -> bool:
    low, _, high = recomputed_f(line, error)
    return low - HALF <= (line.f or 0.0) <= high + HALF


def _p_agrees(line: Printed, error: Printed) -> bool:
    """Within what the rounding of sums of squares allows; printed as 0 is below all others."""
    printed = line.pvalue or 0.0
    low, _, high = recomputed_f(line, error)
    most, least = (_tail(f, line.df, error.df) for f in (low, high))
    if printed == 0.0:
        return least < 1e-300
    half = HALF if printed > 1e-3 else 0.005 * 10.0 ** np.floor(np.log10(printed))
    return bool(least - half <= printed <= most + half)


def _tail(f: float, df: int, df_error: int) -> float:
    return float(special.fdtrc(df, df_error, f))


def _nearest_power(line: Printed, error: Printed) -> float:
    """How far the printed power is from the nearer of two definitions."""
    powers = [
        observed_power(line.f or 0.0, line.df, error.df, convention=convention)
        for convention in CONVENTIONS
    ]
    return min(abs(power - (line.power or 0.0)) for power in powers)

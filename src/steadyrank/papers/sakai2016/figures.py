"""Figures 1 and 2 of Sakai & Shang (EVIA 2016) made again: variances with teams left out.

For `steadyrank.papers.sakai2016.exhibits`. Also what the paper prints of variances: Table 3 and
the text on Figure 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from steadyrank.papers.model import (
    Claim,
    Exhibit,
    claim,
    increases,
    page_table,
    result_figure,
    share_claim,
)
from steadyrank.present.table import Table
from steadyrank.studies.pools.result import PoolsResult
from steadyrank.words import listed

MEASURES = ("nG@1", "P+", "nERR@10", "nDCG@10", "Q@10")
ONE_ANSWER, MANY_ANSWERS = MEASURES[:3], MEASURES[3:]
"""Official measures, which look for one good document, and those added for comparison."""

PILOTS = (100, 75, 50, 25, 10)

PRINTED_PLANS: dict[str, tuple[tuple[float, int], ...]] = {
    "nG@1": ((0.114, 159), (0.114, 159), (0.118, 164), (0.121, 168), (0.113, 157)),
    "P+": ((0.094, 131), (0.094, 131), (0.095, 132), (0.097, 135), (0.095, 132)),
    "nERR@10": ((0.087, 121), (0.086, 120), (0.089, 124), (0.090, 125), (0.091, 127)),
    "nDCG@10": ((0.034, 48), (0.032, 45), (0.034, 48), (0.035, 49), (0.043, 60)),
    "Q@10": ((0.029, 41), (0.028, 40), (0.030, 42), (0.029, 41), (0.041, 58)),
}
"""Table 3: variance and topics by measure, a pair for each number of pilot topics."""

PRINTED_MISSES = {"nG@1": 9, "P+": 14, "nERR@10": 14, "nDCG@10": 10, "Q@10": 11}
"""Section 5.1, on Figure 1: the first k whose interval misses the variance by all teams."""

NEAR, ROUGHLY = 0.10, 0.25
"""How far, relatively, variances may be apart that a pilot should tell alike."""


def pool_figure(pools: PoolsResult | None, number: int, size: int) -> Exhibit:
    """Variances against the number of teams left out: Figure 1 or 2."""
    title = f"Variances with k teams left out, {size} topics"
    if pools is None:
        return Exhibit(
            id=f"figure-{number}",
            title=title,
            explanation=(
                "To leave teams out takes runs, judgments and the teams of the runs: give QRELS "
                "RUN... with --run-info FILE or --team-from REGEX."
            ),
        )
    claims = _pool_claims(pools, size) if number == 1 else _few_topics_claims(pools, size)
    return Exhibit(
        id=f"figure-{number}",
        title=title,
        tables=(_misses_table(pools, number, size), _cells_table(pools, number, size)),
        figures=(
            result_figure(
                f"figure-{number}",
                f"Variance by the remaining teams, mean and 95% interval over {pools.n_trials} "
                "trials; dashed, by all teams and topics",
                replace(pools, pilot_topics=(size,)),
                "variance",
            ),
        ),
        claims=tuple(claims),
        explanation=(
            "Documents that only the teams left out had within pool depth lose their judgments, "
            "and topics on which no remaining run scores are dropped. The interval is that of the "
            "mean over trials: more trials narrow it, so the first k whose interval misses says "
            "more about their number than about teams."
        ),
        results={"pools": pools},
    )


def _misses_table(pools: PoolsResult, number: int, size: int) -> Table:
    rows = []
    for row in pools.references:
        printed = PRINTED_PLANS.get(row.measure, ((math.nan, 0),))[0][0]
        miss = PRINTED_MISSES.get(row.measure) if number == 1 else None
        rows.append((row.measure, row.variance, printed, row.first_miss.get(size), miss))
    return page_table(
        f"figure-{number}-first-miss",
        f"Variance by all {len(pools.teams)} teams, and the first k whose interval misses it "
        "(printed: 16 teams)",
        ("measure", "variance", "variance printed", "first k", "first k printed"),
        rows,
    )


def _cells_table(pools: PoolsResult, number: int, size: int) -> Table:
    rows = [
        (cell.measure, cell.k, cell.mean, cell.interval, len(cell.variances), min(cell.topics_left))
        for cell in pools.leave_out
        if cell.pilot_topics == size
    ]
    return page_table(
        f"figure-{number}-data",
        "Variance with k teams left out: mean over trials and its 95% interval",
        ("measure", "k", "mean variance", "interval", "trials", "fewest topics"),
        rows,
    )


def _widths(pools: PoolsResult, size: int) -> dict[str, list[float]]:
    """Of the intervals by measure, a figure for each k."""
    widths: dict[str, list[float]] = {name: [] for name in pools.measures}
    for cell in pools.leave_out:
        if cell.pilot_topics == size and cell.k > 0:
            low, high = cell.interval or (math.nan, math.nan)
            widths[cell.measure].append(high - low)
    return widths


def _pool_claims(pools: PoolsResult, size: int) -> list[Claim]:
    widths = _widths(pools, size)
    variance = {row.measure: row.variance for row in pools.references}
    half = len(pools.teams) // 2
    means = {name: pools.cell(name, half, size).mean / variance[name] for name in pools.measures}
    last = max(pools.ks)
    alone = {name: pools.cell(name, last, size).mean / variance[name] for name in pools.measures}
    widest = [w[-1] == np.nanmax(w) for w in widths.values()]
    return [
        share_claim(
            "Intervals widen as teams leave",
            [bool(increases(w)) for w in widths.values()],
            of="measures",
        ),
        share_claim("The interval is widest with the fewest teams", widest, of="measures"),
        _half_claim(pools, "variances are nearly the same", means, NEAR),
        share_claim(
            f"With {len(pools.teams) - last} team{'s' * (len(pools.teams) - last > 1)} left, "
            "variances are overestimated",
            [ratio > 1.0 for ratio in alone.values()],
            _ratios(alone),
            of="measures",
        ),
        *_kind_claims(variance, widths),
    ]


def _kind_claims(
    variance: Mapping[str, float], widths: Mapping[str, Sequence[float]]
) -> list[Claim]:
    """Measures of one document against measures of many."""
    known = set(MEASURES) <= set(variance)
    width = {name: float(np.nanmean(w)) for name, w in widths.items()}
    order = listed(sorted(variance, key=lambda name: -variance[name]))
    tight = listed(sorted(width, key=lambda name: width[name]))

    def below(some: Sequence[str], others: Sequence[str], of: Mapping[str, float]) -> bool | None:
        return max(of[a] for a in some) < min(of[b] for b in others) if known else None

    return [
        claim(
            "nDCG@10 and Q@10 vary less than the measures for one good answer",
            below(MANY_ANSWERS, ONE_ANSWER, variance),
            f"from the largest variance: {order}",
        ),
        claim(
            "nDCG@10 and Q@10 have tighter intervals than the measures for one good answer",
            below(MANY_ANSWERS, ONE_ANSWER, width),
            f"from the tightest: {tight}",
        ),
        claim(
            "P+ and nERR@10 have tighter intervals than nG@1",
            below(("P+", "nERR@10"), ("nG@1",), width),
            f"from the tightest: {tight}",
        ),
    ]


def _few_topics_claims(pools: PoolsResult, size: int) -> list[Claim]:
    most = max(pools.pilot_topics)
    if size == most:
        return [claim("With few topics variances are less stable", None, "there are no fewer")]
    many, few = _widths(pools, most), _widths(pools, size)
    wider = {name: float(np.nanmean(few[name]) / np.nanmean(many[name])) for name in few}
    half = len(pools.teams) // 2
    means = {
        name: pools.cell(name, half, size).mean / pools.cell(name, 0, size).mean
        for name in pools.measures
    }
    return [
        share_claim(
            f"With {size} topics variances are less stable: wider intervals",
            [ratio > 1.0 for ratio in wider.values()],
            "; ".join(f"{name} × {ratio:.1f}" for name, ratio in wider.items()),
            of="measures",
        ),
        _half_claim(pools, "they are still roughly the same", means, ROUGHLY),
    ]


def _half_claim(
    pools: PoolsResult, text: str, ratios: Mapping[str, float], tolerance: float
) -> Claim:
    return share_claim(
        f"Without {len(pools.teams) // 2} of {len(pools.teams)} teams, {text} "
        f"(within {tolerance:.0%})",
        [abs(ratio - 1.0) <= tolerance for ratio in ratios.values()],
        _ratios(ratios),
        of="measures",
    )


def _ratios(ratios: Mapping[str, float]) -> str:
    return "; ".join(f"{name} {ratio - 1.0:+.1%}" for name, ratio in ratios.items())

"""What every number of topics buys, over a whole grid of assumptions: the planner's own numbers.

For a page on which readers move topics, differences and variances themselves: power, the minimum
detectable difference, reversals and the topics needed are tabulated here, so that the page shows
them and computes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from steadyrank.stats.planning.demands import Demands
from steadyrank.stats.planning.reversal import error_rate
from steadyrank.studies.plan.study import PlanResult
from steadyrank.words import counted

SYSTEMS = (2, 3, 5, 10, 20, 50, 100)
"""Numbers of systems that organisers plan for."""
USUAL_SYSTEMS = 10
USUAL_TOPICS = 50
DIFFERENCES = (0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.1, 0.12, 0.15, 0.2)
STANDARD_DEVIATIONS = tuple(round(0.05 * step, 2) for step in range(1, 11))
FACTORS = (0.2, 0.4, 0.5, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0, 3.0)
"""By which a difference that was requested is varied."""
STEPS = ((5, 100, 1), (100, 250, 5), (250, 1000, 25))
"""Numbers of topics: from, to, in steps of."""
COARSE_STEPS = ((5, 50, 5), (50, 250, 10), (250, 1000, 50))


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """An assumption about how much scores vary over topics."""

    label: str
    words: str
    """In a sentence, after "if"."""
    variance: float
    """As `Demands` takes it: half the variance of differences in a paired design."""
    difference_variance: float
    """Of the differences of two systems by topic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Systems or comparisons that are tested together."""

    label: str
    demands: Demands


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """All that a reader can choose from, and what stands there at first."""

    families: tuple[Family, ...]
    spreads: tuple[Spread, ...]
    differences: tuple[float, ...]
    topics: tuple[int, ...]
    first: tuple[int, int, int, int]
    """Places of family, spread, difference and topics."""
    is_assumed: bool = False
    """Whether spreads are standard deviations to choose from, not those of a plan."""

    @property
    def demands(self) -> Demands:
        """Of any family: method, alpha and beta are the same in all."""
        return self.families[0].demands


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Certainty:
    """Exact numbers over a grid; [family, spread, difference, topics] as far as they depend."""

    power: np.ndarray
    """[family, spread, difference, topics]"""
    smallest_difference: np.ndarray
    """[family, spread, topics]"""
    expected_width: np.ndarray
    """[family, spread, topics]; NaN for ANOVA."""
    reversal: np.ndarray
    """[spread, difference, topics]: `error_rate` of a true difference."""
    needed: np.ndarray
    """[family, spread, difference]: topics for power 1 - beta; infinite beyond the grid."""


def tabulate(grid: Grid) -> Certainty:
    """Fill the tables of a grid."""
    topics = np.array(grid.topics)
    differences = np.array(grid.differences)
    variances = np.array([spread.variance for spread in grid.spreads])
    of_differences = np.array([spread.difference_variance for spread in grid.spreads])
    ratios = differences**2 / variances[:, None]
    power = np.stack([_powers(family.demands, ratios, topics) for family in grid.families])
    return Certainty(
        power=power,
        smallest_difference=np.stack(
            [
                np.sqrt(variances)[:, None]
                * [family.demands.smallest_difference(1.0, n) for n in grid.topics]
                for family in grid.families
            ]
        ),
        expected_width=np.stack(
            [
                np.sqrt(variances)[:, None]
                * [family.demands.expected_width(1.0, n) for n in grid.topics]
                for family in grid.families
            ]
        ),
        reversal=error_rate(
            differences[:, None], of_differences[:, None, None], topics.astype(float)
        ),
        needed=np.array(
            [
                [
                    [
                        _needed(family.demands, spread.variance, difference, row, grid.topics)
                        for difference, row in zip(grid.differences, rows, strict=True)
                    ]
                    for spread, rows in zip(grid.spreads, by_spread, strict=True)
                ]
                for family, by_spread in zip(grid.families, power, strict=True)
            ]
        ),
    )


def _powers(demands: Demands, ratios: np.ndarray, topics: np.ndarray) -> np.ndarray:
    """[spread, difference, topics]; many pairs of a spread and a difference have one ratio."""
    alike = np.array([float(f"{ratio:.12g}") for ratio in ratios.ravel()])
    distinct, place = np.unique(alike, return_inverse=True)
    by_ratio = np.stack([demands.powers(distinct, float(n)) for n in topics], axis=-1)
    return np.asarray(by_ratio[place.reshape(ratios.shape)])


def _needed(
    demands: Demands, variance: float, difference: float, power: np.ndarray, topics: Sequence[int]
) -> float:
    """Topics for power 1 - beta: exact between two numbers of the grid, infinite beyond it."""
    asked = replace(demands, minimum_difference=difference)
    if demands.formula == "nagata" and demands.method != "interval":
        n_topics = asked.topics(variance)
        return n_topics if n_topics <= topics[-1] else math.inf
    enough = power >= 1.0 - demands.beta
    if not enough[-1]:
        return math.inf
    above = int(enough.argmax())
    low, high = (1 if above == 0 else topics[above - 1]), topics[above]
    while high - low > 1:
        middle = (low + high) // 2
        reaches = asked.power(variance, middle) >= 1.0 - demands.beta
        low, high = (low, middle) if reaches else (middle, high)
    return high


# What readers can choose from


def standard_grid(
    demands: Demands, *, systems: int | None = None, n_topics: int | None = None
) -> Grid:
    """The usual assumptions, for organisers without data; so many systems and topics come first."""
    opened = systems or USUAL_SYSTEMS
    families = tuple(_families(demands, {*SYSTEMS, opened}))
    spreads = tuple(_assumed(demands, deviation) for deviation in STANDARD_DEVIATIONS)
    asked = demands.minimum_difference or 0.05
    differences = tuple(sorted({*DIFFERENCES, asked}))
    opened_at = n_topics or USUAL_TOPICS
    topics = topic_numbers(STEPS, [opened_at])
    return Grid(
        families=families,
        spreads=spreads,
        differences=differences,
        topics=topics,
        first=(
            sorted({*SYSTEMS, opened}).index(opened),
            STANDARD_DEVIATIONS.index(0.2),
            differences.index(asked),
            topics.index(opened_at),
        ),
        is_assumed=True,
    )


def plan_grid(
    result: PlanResult, *, steps: Sequence[tuple[int, int, int]] = STEPS, alone: bool = False
) -> Grid:
    """What a plan rests on, and around it.

    `alone`: the plan's own family and one comparison, and of further measures no more than their
    variance: a page has room for little.
    """
    demands = result.demands
    families = tuple(_families(demands, () if alone else SYSTEMS))
    spreads = tuple(
        spread
        for place, row in enumerate(result.plans)
        for spread in _planned(result, row.measure, with_ends=place == 0 or not alone)
    )
    differences = tuple(_around(result))
    at_hand = [row.pilot.n_topics for row in result.plans if row.pilot]
    topics = topic_numbers(steps, [*at_hand, *(row.topics for row in result.plans)])
    opened_at = at_hand[0] if at_hand and result.given_topics is None else result.plans[0].topics
    own = next(place for place, family in enumerate(families) if family.demands == demands)
    asked = demands.minimum_difference
    return Grid(
        families=families,
        spreads=spreads,
        differences=differences,
        topics=topics,
        first=(
            own,
            0,
            FACTORS.index(1.0) if asked is None else differences.index(asked),
            topics.index(opened_at),
        ),
    )


def topic_numbers(
    steps: Sequence[tuple[int, int, int]], others: Iterable[int] = ()
) -> tuple[int, ...]:
    """Numbers of topics for a slider: the steps, larger ones to twice the largest other number.

    >>> topic_numbers([(5, 20, 5), (20, 40, 10)], [17, 60])
    (5, 10, 15, 17, 20, 30, 40, 60, 140)
    """
    known = sorted(n for n in others if n >= 2)
    numbers = {n for low, high, step in steps for n in range(low, high + 1, step)} | set(known)
    _, last, step = steps[-1]
    most = 2 * max(known, default=0)
    while last < most:
        # Steps ten times as large for numbers that are: a slider stays one, however far it goes.
        step *= 10
        numbers |= set(range(last, min(10 * last, most) + step, step))
        last *= 10
    return tuple(sorted(numbers))


def _families(demands: Demands, systems: Iterable[int]) -> list[Family]:
    """The plan's own, one comparison, and those of the numbers of systems; smallest first."""
    if demands.method == "anova":
        numbers = sorted({*systems, demands.systems})
        return [Family(label=f"{m}", demands=replace(demands, systems=m)) for m in numbers]
    pairs = {math.comb(m, 2): m for m in systems}
    counts = sorted({1, *pairs, demands.comparisons})
    return [Family(label=_pairs_label(k, pairs.get(k)), demands=_over(demands, k)) for k in counts]


def _over(demands: Demands, comparisons: int) -> Demands:
    """The same over so many comparisons; the level of a known family is that family's alone."""
    level = demands.level if comparisons == demands.comparisons else None
    return replace(demands, comparisons=comparisons, level=level)


def _pairs_label(comparisons: int, systems: int | None) -> str:
    if comparisons == 1:
        return "2 systems, one comparison"
    if systems is None:
        return counted(comparisons, "comparison")
    return f"{systems} systems, all {comparisons:,} pairs"


def _assumed(demands: Demands, deviation: float) -> Spread:
    square = deviation * deviation
    what = "differences per topic" if demands.paired else "the scores of a system over topics"
    return Spread(
        label=f"{deviation:.2f}",
        words=f"{what} have a standard deviation of {deviation:.2f}",
        variance=square / 2.0 if demands.paired else square,
        difference_variance=square if demands.paired else 2.0 * square,
    )


def _planned(result: PlanResult, measure: str, *, with_ends: bool) -> list[Spread]:
    """The variance of a measure, and where pilot data give them the ends of its interval."""
    row = next(row for row in result.plans if row.measure == measure)
    paired = result.demands.paired
    variance = row.difference_variance if paired else row.variance
    source = "in the pilot" if row.pilot else "as assumed"
    what = "differences per topic" if paired else "scores over topics"

    def spread(variance: float, label: str, where: str) -> Spread:
        of_differences = variance if paired else 2.0 * variance
        if row.pilot is not None and not paired and result.demands.method == "anova":
            of_differences = row.pilot.difference_variance or of_differences
        return Spread(
            label=label,
            words=f"{what} have the variance of {measure} {where} ({variance:.4g})",
            variance=variance / 2.0 if paired else variance,
            difference_variance=of_differences,
        )

    spreads = [spread(variance, measure, source)]
    ends = row.pilot_interval
    if not with_ends or ends is None or not all(0.0 < end < math.inf for end in ends):
        return spreads
    confidence = f"{result.confidence:.0%}"
    for end, name in zip(ends, ("lower", "upper"), strict=True):
        where = f"at the {name} end of its {confidence} interval"
        spreads.append(spread(end, f"{measure}, variance {where}", where))
    return spreads


def _around(result: PlanResult) -> list[float]:
    """Differences around the one that was requested, or that the topics show."""
    known = result.demands.minimum_difference
    if known is None:
        known = float(f"{max(row.smallest_difference for row in result.plans):.1g}")
    return [known if factor == 1.0 else float(f"{known * factor:.12g}") for factor in FACTORS]

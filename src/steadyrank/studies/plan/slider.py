"""From topics to certainty: what every number of topics buys, and a slider that shows it.

For a page on which readers move topics, differences and variances themselves: power, the minimum
detectable difference, reversals and the topics needed are tabulated here over a whole grid of
assumptions, so that the page shows the planner's own numbers and computes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from steadyrank.present.slider import (
    Chart,
    Choice,
    PageSlider,
    Product,
    Quantity,
    Readout,
    distinct_rows,
    share_rows,
)
from steadyrank.stats.planning.demands import Demands
from steadyrank.stats.planning.reversal import error_rate
from steadyrank.studies.plan.result import MeasurePlan, PlanResult
from steadyrank.words import counted, level_words

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
    topics, differences = np.array(grid.topics), np.array(grid.differences)
    variances = np.array([spread.variance for spread in grid.spreads])
    of_differences = np.array([spread.difference_variance for spread in grid.spreads])
    ratios, deviations = differences**2 / variances[:, None], np.sqrt(variances)[:, None]
    families = [family.demands for family in grid.families]
    return Certainty(
        power=np.array(
            [[each.powers(ratios.ravel(), float(n)) for n in topics] for each in families]
        )
        .swapaxes(1, 2)
        .reshape(len(families), *ratios.shape, -1),
        smallest_difference=np.stack(
            [
                deviations * [each.smallest_difference(1.0, n) for n in grid.topics]
                for each in families
            ]
        ),
        expected_width=np.stack(
            [deviations * [each.expected_width(1.0, n) for n in grid.topics] for each in families]
        ),
        reversal=error_rate(
            differences[:, None], of_differences[:, None, None], topics.astype(float)
        ),
        needed=np.array(
            [
                [[_needed(each, v, d, topics[-1]) for d in grid.differences] for v in variances]
                for each in families
            ]
        ),
    )


def _needed(demands: Demands, variance: float, difference: float, most: int) -> float:
    """Topics with which a test has power 1 - beta; infinite beyond the grid."""
    if demands.method == "interval":  # its own topics are for a width, whatever the difference
        demands = replace(demands, method="ttest", formula="exact")
    n_topics = replace(demands, minimum_difference=difference).topics(variance)
    return n_topics if n_topics <= most else math.inf


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
        for spread in _planned(result, row, with_ends=place == 0 or not alone)
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


def _spread(
    demands: Demands, label: str, words: str, variance: float, of_differences: float = 0.0
) -> Spread:
    """Of the variance of differences in a paired design, else of that of scores."""
    if demands.paired:
        variance, of_differences = variance / 2.0, variance
    return Spread(
        label=label,
        words=words,
        variance=variance,
        difference_variance=of_differences or 2.0 * variance,
    )


def _assumed(demands: Demands, deviation: float) -> Spread:
    what = "differences per topic" if demands.paired else "the scores of a system over topics"
    words = f"{what} have a standard deviation of {deviation:.2f}"
    return _spread(demands, f"{deviation:.2f}", words, deviation * deviation)


def _planned(result: PlanResult, row: MeasurePlan, *, with_ends: bool) -> list[Spread]:
    """The variance of a measure, and where pilot data give them the ends of its interval."""
    demands, pilot, ends = result.demands, row.pilot, row.pilot_interval
    cases = {
        row.measure: (
            row.difference_variance if demands.paired else row.variance,
            "in the pilot" if pilot else "as assumed",
        )
    }
    if with_ends and ends is not None and all(0.0 < end < math.inf for end in ends):
        for end, name in zip(ends, ("lower", "upper"), strict=True):
            where = f"at the {name} end of its {result.confidence:.0%} interval"
            cases[f"{row.measure}, variance {where}"] = end, where
    what = "differences per topic" if demands.paired else "scores over topics"
    known = pilot.difference_variance if pilot and demands.method == "anova" else 0.0
    return [
        _spread(
            demands,
            label,
            f"{what} have the variance of {row.measure} {where} ({variance:.4g})",
            variance,
            known,
        )
        for label, (variance, where) in cases.items()
    ]


def _around(result: PlanResult) -> list[float]:
    """Differences around the one that was requested, or that the topics show."""
    known = result.demands.minimum_difference
    if known is None:
        known = float(f"{max(row.smallest_difference for row in result.plans):.1g}")
    return [known if factor == 1.0 else float(f"{known * factor:.12g}") for factor in FACTORS]


DIGITS = 4
"""Decimals of differences and widths."""
DOCUMENTS_PER_TOPIC = 50.0
MINUTES_PER_DOCUMENT = 1.0


def plan_slider(
    grid: Grid,
    certainty: Certainty,
    *,
    id: str = "plan-slider",
    documents_per_topic: float | None = None,
    minutes_per_document: float | None = None,
) -> PageSlider:
    """The slider of a grid, with what judging costs."""
    demands, is_anova = grid.demands, grid.demands.method == "anova"
    between = (
        "Difference between best and worst" if is_anova else "True difference between two systems"
    )
    family, spread, difference, topics = grid.first
    return PageSlider(
        id=id,
        caption=_caption(grid),
        label="Topics" if demands.paired else "Topics per system",
        axis="topics (logarithmic scale)",
        values=grid.topics,
        first=topics,
        choices=(
            Choice(
                key="difference",
                label=between,
                options=tuple(f"{value:g}" for value in grid.differences),
                first=difference,
                numbers=grid.differences,
            ),
            Choice(
                key="spread",
                label=_spread_label(grid),
                options=tuple(one.label for one in grid.spreads),
                phrases=tuple(one.words for one in grid.spreads),
                first=spread,
            ),
            Choice(
                key="family",
                label="Systems" if is_anova else "Compared together",
                options=tuple(one.label for one in grid.families),
                phrases=tuple(test_words(one.demands) for one in grid.families),
                first=family,
            ),
        ),
        readouts=_readouts(grid, certainty),
        charts=(
            Chart(
                y="chance",
                readouts=("power", "reversal"),
                goal=100.0 * (1.0 - demands.beta),
                top=100.0,
            ),
            Chart(y="difference of means", readouts=("smallest",), goal_choice="difference"),
        ),
        sentence=_sentence(demands),
        product=_judging(demands, documents_per_topic, minutes_per_document),
    )


def test_words(demands: Demands) -> str:
    """The test of a family and its level, as in a sentence."""
    level = level_words(demands.alpha, demands.comparisons)
    if demands.method == "anova":
        return f"one-way ANOVA of {demands.systems} systems at {level}"
    return f"{'a paired' if demands.paired else 'an unpaired'} t test of two systems at {level}"


def _spread_label(grid: Grid) -> str:
    if grid.is_assumed:
        of = "differences per topic" if grid.demands.paired else "scores over topics"
        return f"Standard deviation of {of}"
    return "Variance of differences of" if grid.demands.paired else "Variance of scores of"


def _caption(grid: Grid) -> str:
    low, high = grid.topics[0], grid.topics[-1]
    return (
        f"From topics to certainty: exact numbers for {low} to {high:,} topics and for every "
        "choice below, computed by steadyrank and tabulated in this page."
    )


def _sentence(demands: Demands) -> str:
    topics = "{value} topics" if demands.paired else "{value} topics for each system"
    effect = (
        "detects that systems differ, where best and worst truly differ by {difference},"
        if demands.method == "anova"
        else "detects a true difference of {difference}"
    )
    return (
        f"With {topics}, {{family}} {effect} with probability {{power}}, if {{spread}}. "
        f"Power {1 - demands.beta:g} requires {{needed}} topics."
    )


def _readouts(grid: Grid, certainty: Certainty) -> tuple[Readout, ...]:
    demands = grid.demands
    power = _share(
        "power", "Power", "probability that the test detects the difference", certainty.power
    )
    smallest = _in_scores(
        "smallest",
        "Minimum detectable difference",
        f"detected with power {1 - demands.beta:g}",
        certainty.smallest_difference,
    )
    width = _in_scores(
        "width",
        "Width of intervals",
        f"expected, of intervals that are all correct with probability {1 - demands.alpha:g}",
        certainty.expected_width,
    )
    reversal = _share(
        "reversal",
        "Reversals",
        "probability that two such experiments disagree about the order of two systems that truly "
        "differ by this much",
        certainty.reversal,
    )
    widths = () if demands.method == "anova" else (width,)
    return power, smallest, *widths, reversal, _topics_readout(grid, certainty)


CHOICES = ("family", "spread", "difference")
"""What numbers depend on, beside the topics."""


def _share(key: str, label: str, note: str, values: np.ndarray) -> Readout:
    """A probability, [..., topics], of the last of the choices."""
    places, rows = share_rows(values)
    by = CHOICES[-(values.ndim - 1) :]
    return Readout(
        key=key, label=label, note=note, by=by, places=places, rows=rows, digits=1, unit="%"
    )


def _in_scores(key: str, label: str, note: str, values: np.ndarray) -> Readout:
    """What is measured as scores are, [family, spread, topics], whatever the difference."""
    places, rows = distinct_rows(values, digits=DIGITS)
    by = CHOICES[:2]
    return Readout(key=key, label=label, note=note, by=by, places=places, rows=rows, digits=DIGITS)


def _topics_readout(grid: Grid, certainty: Certainty) -> Readout:
    needed = certainty.needed.ravel()
    return Readout(
        key="needed",
        label="Topics needed",
        note=f"for power {1 - grid.demands.beta:g}",
        by=CHOICES,
        places=tuple(range(len(needed))),
        rows=tuple((None if math.isinf(n) else float(n),) for n in needed.tolist()),
        beyond=f"more than {grid.topics[-1]:,}",
    )


def _judging(demands: Demands, documents: float | None, minutes: float | None) -> Product:
    return Product(
        label="Judging",
        divisor=60.0,
        unit=" hours",
        quantities=(
            Quantity(
                key="documents",
                label="Documents to judge per topic",
                first=_plain(DOCUMENTS_PER_TOPIC if documents is None else documents),
                step=1,
            ),
            Quantity(
                key="minutes",
                label="Minutes per document",
                first=_plain(MINUTES_PER_DOCUMENT if minutes is None else minutes),
                step=0.1,
            ),
        ),
        counted="judgments" if demands.paired else "to judge each system's topics",
    )


def _plain(value: float) -> float:
    return int(value) if float(value).is_integer() else float(np.round(value, 6))

"""The slider from topics to certainty: a grid of assumptions and its exact numbers, for a page."""

from __future__ import annotations

import math

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
from steadyrank.studies.plan.certainty import Certainty, Grid
from steadyrank.words import level_words

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
    demands = grid.demands
    family, spread, difference, topics = grid.first
    return PageSlider(
        id=id,
        caption=_caption(grid),
        label="Topics" if _shares_topics(demands) else "Topics per system",
        axis="topics (logarithmic scale)",
        values=grid.topics,
        first=topics,
        choices=(
            Choice(
                key="difference",
                label=_difference_label(demands),
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
                label="Systems" if demands.method == "anova" else "Compared together",
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


def _shares_topics(demands: Demands) -> bool:
    return demands.paired


def _difference_label(demands: Demands) -> str:
    if demands.method == "anova":
        return "Difference between best and worst"
    return "True difference between two systems"


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
    topics = "{value} topics" if _shares_topics(demands) else "{value} topics for each system"
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
    readouts = [
        _power(certainty),
        _smallest(demands, certainty),
        _reversal(certainty),
        _needed(grid, certainty),
    ]
    if demands.method != "anova":
        readouts.insert(2, _width(demands, certainty))
    return tuple(readouts)


def _power(certainty: Certainty) -> Readout:
    places, rows = share_rows(certainty.power)
    return Readout(
        key="power",
        label="Power",
        note="probability that the test detects the difference",
        by=("family", "spread", "difference"),
        places=places,
        rows=rows,
        digits=1,
        unit="%",
    )


def _smallest(demands: Demands, certainty: Certainty) -> Readout:
    note = f"detected with power {1 - demands.beta:g}"
    values = certainty.smallest_difference
    return _in_scores("smallest", "Minimum detectable difference", note, values)


def _width(demands: Demands, certainty: Certainty) -> Readout:
    note = f"expected, of intervals that are all correct with probability {1 - demands.alpha:g}"
    return _in_scores("width", "Width of intervals", note, certainty.expected_width)


def _in_scores(key: str, label: str, note: str, values: np.ndarray) -> Readout:
    """What is measured as scores are, [family, spread, topics], whatever the difference."""
    places, rows = distinct_rows(values, digits=DIGITS)
    return Readout(
        key=key,
        label=label,
        note=note,
        by=("family", "spread"),
        places=places,
        rows=rows,
        digits=DIGITS,
    )


def _reversal(certainty: Certainty) -> Readout:
    places, rows = share_rows(certainty.reversal)
    return Readout(
        key="reversal",
        label="Reversals",
        note="probability that two such experiments disagree about the order of two systems "
        "that truly differ by this much",
        by=("spread", "difference"),
        places=places,
        rows=rows,
        digits=1,
        unit="%",
    )


def _needed(grid: Grid, certainty: Certainty) -> Readout:
    needed = certainty.needed.ravel()
    return Readout(
        key="needed",
        label="Topics needed",
        note=f"for power {1 - grid.demands.beta:g}",
        by=("family", "spread", "difference"),
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
        counted="judgments" if _shares_topics(demands) else "to judge each system's topics",
    )


def _plain(value: float) -> float:
    """Whole numbers without a decimal point."""
    return int(value) if float(value).is_integer() else float(np.round(value, 6))

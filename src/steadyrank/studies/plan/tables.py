"""Topic set sizes, as tables that paste into a proposal or a paper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from steadyrank.present.cells import interval, name, number, size, size_interval
from steadyrank.present.json import picked, to_json
from steadyrank.present.table import Cell, Table, exact_table, render, with_words
from steadyrank.stats.planning.pilot import STEADY_PILOT, Pilot
from steadyrank.studies.plan.measures import MeasurePlan
from steadyrank.studies.plan.study import PlanResult
from steadyrank.words import MISSING, counted

Column = tuple[str, list[Cell]]


def plan_json(result: PlanResult) -> dict[str, Any]:
    """The promised keys, and what else there is."""
    demands = result.demands
    return {
        **picked(demands, "method formula alpha comparisons beta systems minimum_difference"),
        "plans": result.rows(),
        "paired": None if demands.method == "anova" else demands.paired,
        "width": demands.width,
        **picked(result, "given_topics confidence minutes_per_document documents_are_bounds"),
    }


def plan_text(result: PlanResult, form: str, *, digits: int = 4, **looks: Any) -> str:
    """The result in one of the output formats; CSV holds every key of a plan."""
    if form == "json":
        return to_json(plan_json(result))
    if form == "csv":
        return render(exact_table(result.rows()), "csv")
    table, notes = _plan_table(result, digits), plan_notes(result, digits)
    return with_words([], [table], notes, form, **looks)


def _plan_table(result: PlanResult, digits: int) -> Table:
    """A row a measure; columns without an answer are left out."""
    plans, sure = result.plans, f"{result.confidence:.0%} interval of"
    by_interval, asked = result.demands.method == "interval", result.given_topics is not None

    def figures(of: str, key: str, form: str) -> Column:
        return of, [number(getattr(plan, key), form) for plan in plans]

    def spans(of: str, ends: Sequence[tuple[float, float] | None], form: str) -> Column:
        return f"{sure} {of}", [interval(pair, form) for pair in ends]

    form = f".{digits}f"
    of_differences = [plan.pilot_interval if plan.is_by_differences else None for plan in plans]
    of_scores = [None if plan.is_by_differences else plan.pilot_interval for plan in plans]
    columns: list[Column] = [
        ("measure", [name(plan.measure) for plan in plans]),
        figures("variance", "variance", form),
        spans("variance", of_scores, form),
        figures("variance of differences", "difference_variance", form),
        spans("that", of_differences, form),
        ("topics", [size(plan.topics) for plan in plans]),
        (f"{sure} topics", [size_interval(plan.topics_interval) for plan in plans]),
        ("two-way topics", [size(plan.topics_two_way) for plan in plans]),
        figures("design effect", "design_effect", ".2f"),
        ("clustered topics", [size(plan.topics_clustered) for plan in plans]),
        ("clusters", [size(plan.clusters) for plan in plans]),
        figures("power", "power", ".3f"),
        spans("power", [plan.power_interval for plan in plans], ".3f"),
        *([figures("smallest difference", "smallest_difference", form)] if asked else []),
        *([figures("expected width", "expected_width", form)] if by_interval else []),
        figures("documents", "documents_per_topic", "g"),
        figures("hours", "hours", ",.0f"),
    ]
    kept = [column for column in columns if any(cell.text != MISSING for cell in column[1])]
    header = [title for title, _ in kept]
    best = frozenset(
        (i, header.index("hours"))
        for i, plan in enumerate(plans)
        if plan.cheapest and len(plans) > 1
    )
    rows = list(zip(*(cells for _, cells in kept), strict=True))
    return Table(header=header, rows=rows, best=best, caption=result.caption())


def plan_notes(result: PlanResult, digits: int = 4) -> list[str]:
    """What the figures assume, what the pilot leaves open, and what is cheapest."""
    demands, notes = result.demands, []
    if demands.method != "anova" and not demands.paired:
        notes.append("The number of topics is per system: the two systems share none.")
    if demands.formula == "nagata":
        notes.append(
            "The approximation may differ from the exact number by a few topics; the power or "
            "the expected width beside it is exact."
        )
    pilots = [(plan, plan.pilot) for plan in result.plans if plan.pilot]
    if pilots:
        notes += _pilot_notes(pilots, digits)
    if any(plan.design_effect is not None for plan in result.plans):
        notes.append(
            "Topics and power are for independent topics. The design effect is the factor by "
            "which the pilot's clusters raise the variance of a mean (of differences, in a "
            "paired design): topics that come in such clusters must be that many times as "
            "numerous."
        )
    notes += _weight_notes(result)
    if demands.paired and result.plans[0].difference_variance == 2.0 * result.plans[0].variance:
        notes.append(
            "The variance of differences is taken to be twice the variance, as if the scores "
            "of two systems were uncorrelated over topics: conservative where they find the "
            "same topics hard."
        )
    return notes + _budget_notes(result)


def _weight_notes(result: PlanResult) -> list[str]:
    plan = result.plans[0]
    if plan.pilot is None or plan.effective_topics is None:
        return []
    factor = plan.pilot.n_topics / plan.effective_topics
    return [
        "Topics and power are for topics of equal weight. The pilot's "
        f"{counted(plan.pilot.n_topics, 'topic')} are worth {plan.effective_topics:,.1f} of these: "
        f"means weighted in the same way require {factor:,.1f} times as many topics, if scores "
        "vary alike on topics of any weight."
    ]


def _pilot_notes(pilots: Sequence[tuple[MeasurePlan, Pilot]], digits: int) -> list[str]:
    plan, pilot = pilots[0]
    missing = f", {pilot.n_missing} cells missing" if pilot.n_missing else ""
    notes = [
        f"Pilot: {counted(pilot.n_runs, 'run')} × {counted(pilot.n_topics, 'topic')}{missing}. "
        "The variance (V_E) pools each run's variance over topics, so it includes the topics' "
        "differences in difficulty."
    ]
    if not math.isnan(pilot.residual_variance):
        text = (
            f"For {plan.measure} the two-way layout attributes "
            f"{pilot.topic_variance:.{digits}f} to topics and "
            f"{pilot.residual_variance:.{digits}f} to the residual"
        )
        if plan.topics_two_way is not None:
            text += (
                "; an analysis that removes topic effects, as paired tests do, requires only "
                "the two-way topics for the same difference"
            )
        notes.append(text + ".")
    notes.append(_interval_note(plan, pilot))
    if any(own.n_topics < STEADY_PILOT for _, own in pilots):
        notes.append(f"A pilot of fewer than {STEADY_PILOT} topics estimates its variance poorly.")
    return notes


def _interval_note(plan: MeasurePlan, pilot: Pilot) -> str:
    """The law of the interval that the topics rest on, with the degrees of freedom it used."""
    of = "the variance of differences" if plan.is_by_differences else "the variance"
    nominal = "" if plan.is_by_differences else f" (not {pilot.df:,}, as runs share their topics)"
    return (
        f"Intervals: chi-square with {plan.pilot_df:,.0f} effective degrees of freedom of {of} "
        f"of {plan.measure}{nominal}; they treat topics as independent draws and say nothing "
        "about other runs."
    )


def _budget_notes(result: PlanResult) -> list[str]:
    if result.minutes_per_document is None:
        return []
    bound = (
        ": at most systems × pool depth, as if no two systems returned the same document"
        if result.documents_are_bounds
        else ""
    )
    notes = [
        f"Assessors' hours: topics × documents × {result.minutes_per_document:g} minutes; "
        f"documents per topic{bound or ' as given'}."
    ]
    cheapest = [plan.measure for plan in result.plans if plan.cheapest]
    if cheapest and len(result.plans) > 1:
        notes.append(
            f"Cheapest: {', '.join(cheapest)}. The same difference does not mean the same on "
            "every measure."
        )
    return notes

"""How `plan` is shown: findings, tables and figures, for every output."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from steadyrank.present import cells
from steadyrank.present.json import picked
from steadyrank.present.view import Col, FigureSpec, Finding, Row, TableSpec, View, Words
from steadyrank.stats.planning.demands import Demands
from steadyrank.stats.planning.design import FEWEST_CORRECTED
from steadyrank.stats.planning.variance import ASSURANCE
from steadyrank.studies.part import Job, part_of
from steadyrank.studies.plan.study import MeasurePlan, PlanResult, plan
from steadyrank.words import counted, level_words, size


def findings(result: PlanResult) -> list[Finding]:
    """Return the topics of the first measure, or what the given ones detect; then cautions."""
    plan, demands = result.plans[0], result.demands
    said = [_topics(result, plan) if result.given_topics is None else _detected(result, plan)]
    said = [*_first_two(result), *said]
    if plan.topics_clustered is not None and plan.clusters is not None:
        text = (
            f"Topics in clusters like the pilot's: {size(plan.topics_clustered)} in "
            f"{counted(plan.clusters, 'cluster')} (design effect {plan.design_effect:.2f})."
        )
        values = picked(plan, "measure topics_clustered clusters design_effect")
        said.append(Finding("plan.clustered", text, values))
    if plan.pilot is not None and plan.effective_topics is not None:
        factor = plan.pilot.n_topics / plan.effective_topics
        text = (
            f"The pilot's {counted(plan.pilot.n_topics, 'weighted topic')} are worth "
            f"{plan.effective_topics:,.1f}: weighted means require {factor:,.1f} times the topics."
        )
        values = {"effective_topics": plan.effective_topics, "factor": factor}
        said.append(Finding("plan.weights", text, values))
    if demands.method != "anova" and not demands.paired:
        text = "The number of topics is per system: the two systems share none."
        said.append(Finding("plan.per_system", text, {"topics": plan.topics}))
    if demands.paired and plan.difference_variance == 2.0 * plan.variance:
        text = "The variance of differences is taken as twice the variance: systems uncorrelated."
        values = picked(plan, "measure variance difference_variance")
        said.append(Finding("plan.twice_variance", text, values))
    return said


def describe(result: PlanResult) -> str:
    """Return the paragraph for a paper: the topics per measure, and the design."""
    found = _topics if result.given_topics is None else _detected
    said = " ".join(found(result, plan).text for plan in result.plans)
    return f"{said} The design: {result.caption()}"


def _topics(result: PlanResult, plan: MeasurePlan) -> Finding:
    demands = result.demands
    aim = f"intervals of {plan.measure} differences {demands.width} wide"
    if demands.method != "interval":
        gap = f"{demands.minimum_difference:g} in {plan.measure}"
        # With a family of comparisons the sentence would be too long.
        gap = gap if demands.comparisons > 1 else f"a difference of {gap}"
        aim = f"{_rates(demands)} for {gap}"
    text = f"{size(plan.topics)} topics are required: {aim}."
    if plan.topics_assured is not None:
        text = (
            f"{size(plan.topics_assured)} topics will do with {ASSURANCE:.0%} assurance "
            f"({size(plan.topics)} if the pilot's variance is exact): {aim}."
        )
    keys = "measure topics topics_assured assurance topics_interval power"
    return Finding("plan.topics", text, picked(plan, keys))


def _first_two(result: PlanResult) -> list[Finding]:
    if not result.differences or result.differences[0].runs is None:
        return []
    first = result.differences[0]
    better, worse = result.differences[0].runs
    needed = size(first.topics if first.topics_assured is None else first.topics_assured)
    text = (
        f"{better} leads {worse} by {first.difference:.3g} in {first.measure}. If that is true, "
        f"{needed} topics will do with {ASSURANCE:.0%} assurance ({_rates(result.demands)})."
    )
    values = first.row() | {"topics_assured": first.topics_assured}
    return [Finding("plan.first_two", text, values)]


def _detected(result: PlanResult, plan: MeasurePlan) -> Finding:
    demands, topics, of = result.demands, counted(plan.topics, "topic"), plan.measure
    smallest = f"{plan.smallest_difference:.3g}"
    text = f"{topics} make intervals of {of} differences {plan.expected_width:.3g} wide."
    if demands.method != "interval":
        text = f"{topics} detect a difference of {smallest} in {of} with {_rates(demands)}."
    if math.isinf(plan.smallest_difference):
        text = f"{topics} detect nothing: below {FEWEST_CORRECTED} topics no difference is claimed."
    elif not math.isnan(plan.power):
        gap = f"a difference of {demands.minimum_difference:g} in {of} with power {plan.power:.2f}"
        text = f"{topics} detect {gap}, and one of {smallest} with {1 - demands.beta:g}."
    keys = "measure topics power power_interval smallest_difference expected_width"
    return Finding("plan.detectable", text, picked(plan, keys))


def _rates(demands: Demands) -> str:
    """Return power and level as text, without the usual level of .05."""
    level = f" at {level_words(demands.alpha, demands.comparisons)}"
    return f"power {1 - demands.beta:g}{level.removeprefix(' at alpha 0.05')}"


def _with_intervals(result: PlanResult, rows: Sequence[Row]) -> list[Row]:
    """Name the interval of the plan's variance by the kind of variance."""
    return [
        {
            **row,
            "topics_assured": plan.topics_assured,
            "variance_interval": None if plan.is_by_differences else plan.pilot_interval,
            "difference_interval": plan.pilot_interval if plan.is_by_differences else None,
        }
        for plan, row in zip(result.plans, rows, strict=True)
    ]


_TOPICS = (
    Col(
        "topics_assured",
        f"topics ({ASSURANCE:.0%} assurance)",
        "size",
        "known",
        "this share of pilots plans enough topics for the given power",
    ),
    Col("topics", form="size", about="if the variance is exactly the pilot's"),
)


def _differences_caption(result: PlanResult) -> str:
    test = "t test of two systems, " + _rates(result.demands)
    if not result.demands.paired:
        return f"Topics by difference: unpaired {test}; topics are per system."
    by_pilot = all(plan.is_by_differences for plan in result.plans)
    whose = "the mean over pairs" if by_pilot else "the given variance"
    return (
        f"Topics by difference: paired {test}; the first two runs by their variance, any two by "
        f"{whose} (docs/plan.md)."
    )


DIFFERENCES = TableSpec(
    id="plan-differences",
    rows=lambda result: [each.row() for each in result.differences],
    shown=lambda result, rows: [
        {**row, "topics_assured": each.topics_assured}
        for each, row in zip(result.differences, rows, strict=True)
    ],
    columns=(
        Col("measure", form="name", when="varies"),
        Col(
            "runs",
            form=lambda row: cells.name(f"{row['a']}, {row['b']}" if row["a"] else "any two"),
        ),
        Col("difference"),
        Col("variance", "variance of differences", when=lambda result: result.demands.paired),
        Col("variance", when=lambda result: not result.demands.paired),
        *_TOPICS,
        Col("topics_interval", "{sure} interval (topics)", "size", "known"),
    ),
    caption=_differences_caption,
)
MEASURES = TableSpec(
    id="plan-measures",
    rows=lambda result: [plan.row() for plan in result.plans],
    shown=_with_intervals,
    columns=(
        Col("measure", form="name"),
        Col("variance", about="of a system's scores over topics, whose difficulty it includes"),
        Col("variance_interval", "{sure} interval (variance)", when="known"),
        Col(
            "difference_variance",
            "variance of differences",
            when="known",
            about="between two runs: averaged over pairs, unless given",
        ),
        Col("difference_interval", "{sure} interval (variance of differences)", when="known"),
        *_TOPICS,
        Col("topics_interval", "{sure} interval (topics)", "size", "known"),
        Col(
            "design_effect",
            form=".2f",
            when="known",
            about="by which the pilot's clusters raise the variance; topics and power are for "
            "independent topics",
        ),
        Col("topics_clustered", "clustered topics", "size", "known"),
        Col("clusters", form="size", when="known"),
        Col("power", form=".3f", when="known"),
        Col("power_interval", "{sure} interval (power)", ".3f", "known"),
        Col("smallest_difference", when=lambda result: result.given_topics is not None),
        Col("expected_width", when=lambda result: result.demands.method == "interval"),
    ),
    caption=PlanResult.caption,
)


def fields(result: PlanResult) -> dict[str, Any]:
    """Return the fields of the JSON output."""
    demands = result.demands
    return {
        **picked(demands, "method formula alpha comparisons beta systems minimum_difference"),
        "plans": [plan.row() | picked(plan, "topics_assured assurance") for plan in result.plans],
        "differences": [each.row() | picked(each, "topics_assured") for each in result.differences],
        "paired": None if demands.method == "anova" else demands.paired,
        "width": demands.width,
        **picked(result, "given_topics confidence"),
    }


VIEW = View(
    words=Words(
        title="Topics to build",
        question="How many topics would settle it?",
        means=(
            "The number of topics with which a paired t test of two runs detects the given "
            "difference with probability 0.8, if differences vary as they do here."
        ),
        means_not=(
            "This is a forecast: if the true differences are smaller than the observed ones, as "
            "is usual for the best runs, more topics are required. The same difference does not "
            "mean the same on every measure."
        ),
    ),
    findings=findings,
    describe=describe,
    tables=(DIFFERENCES, MEASURES),
    csv=lambda result: "plan-differences" if result.differences else "plan-measures",
    fields=fields,
    figure=FigureSpec(
        id="plan-curves", caption="What the number of topics depends on.", kind="curves"
    ),
)


def _run(job: Job) -> PlanResult:
    settings = job.material.settings
    return plan(
        job.material.scores,
        minimum_difference=settings.minimum_difference,
        method="ttest",
        alpha=settings.alpha,
        decided=job.decided,
    )


PART = part_of(VIEW, run=_run, why_not=lambda material: material.more_than_topics)

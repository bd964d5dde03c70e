"""The section of a report about topics to build: how many would settle it?"""

from __future__ import annotations

from steadyrank.present.cells import name, number, span, table, titled, whole
from steadyrank.present.slider import PageSlider
from steadyrank.present.table import Table
from steadyrank.studies.part import Body, Cost, Drawing, Findings, Job, Part
from steadyrank.studies.plan.certainty import COARSE_STEPS, plan_grid, tabulate
from steadyrank.studies.plan.slider import plan_slider
from steadyrank.studies.plan.study import PlanResult, plan
from steadyrank.studies.plan.tables import plan_notes
from steadyrank.words import counted, level_words


def _run(job: Job) -> PlanResult:
    settings = job.material.settings
    return plan(
        job.material.scores,
        minimum_difference=settings.minimum_difference,
        method="ttest",
        alpha=settings.alpha,
        comparisons=job.n_comparisons,
        decided=job.decided,
    )


def _body(result: PlanResult, findings: Findings) -> Body:
    caption = "What the number of topics depends on."
    return Body(
        answer=(_plan_words(result),),
        figures=(Drawing("plan-curves", caption, result, "curves"),),
        tables=(_plan_table(result),),
        sliders=(_slider(result, findings),),
        notes=tuple(plan_notes(result)),
    )


def _slider(result: PlanResult, findings: Findings) -> PageSlider:
    """From topics to certainty, with the variances and the judgments per topic at hand."""
    grid = plan_grid(result, steps=COARSE_STEPS, alone=True)
    qrels = findings.material.qrels
    documents = None if qrels is None else round(len(qrels) / max(1, len(qrels.topics)))
    return plan_slider(grid, tabulate(grid), documents_per_topic=documents)


def _plan_words(result: PlanResult) -> str:
    demands, first = result.demands, result.plans[0]
    level = level_words(demands.alpha, demands.comparisons)
    low, high = first.topics_interval or (first.topics, first.topics)
    return (
        f"Detecting a difference of {demands.minimum_difference:g} in mean {first.measure} "
        f"between two runs with power {1 - demands.beta:g} at {level} requires "
        f"{counted(first.topics, 'topic', form=',')} ({result.confidence:.0%} interval {low:,} "
        f"to {high:,})."
    )


def _plan_table(result: PlanResult) -> Table:
    rows = []
    for row in result.plans:
        n = row.pilot.n_topics if row.pilot else 0
        rows.append(
            {
                "measure": name(row.measure),
                "variance of differences": number(row.difference_variance),
                "topics": whole(row.topics),
                f"{result.confidence:.0%} interval": span(row.topics_interval, ",.0f"),
                "power": number(row.power, ".3f"),
                "topics at hand": whole(n or None),
            }
        )
    caption = (
        f"{result.caption()} Variance: that of the differences between two runs, averaged over "
        "pairs."
    )
    return table("plan-measures", caption, *titled(rows))


PART = Part(
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
    body=_body,
    run=_run,
    cost=lambda shape: Cost(fixed=shape.n_measures * (0.05 + 8e-8 * shape.n_runs**2), is_free=True),
)

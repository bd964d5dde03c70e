"""How a report runs `plan`."""

from __future__ import annotations

from steadyrank.present.slider import PageSlider
from steadyrank.studies.part import Findings, Job, part_of
from steadyrank.studies.plan.result import PlanResult
from steadyrank.studies.plan.slider import COARSE_STEPS, plan_grid, plan_slider, tabulate
from steadyrank.studies.plan.study import plan
from steadyrank.studies.plan.view import VIEW


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


def _sliders(result: PlanResult, findings: Findings) -> list[PageSlider]:
    """From topics to certainty, with the variances and the judgments per topic at hand."""
    grid = plan_grid(result, steps=COARSE_STEPS, alone=True)
    qrels = findings.material.qrels
    documents = None if qrels is None else round(len(qrels) / max(1, len(qrels.topics)))
    return [plan_slider(grid, tabulate(grid), documents_per_topic=documents)]


PART = part_of(VIEW, run=_run, sliders=_sliders, why_not=lambda material: material.more_than_topics)

"""How a report runs `plan`."""

from __future__ import annotations

from steadyrank.studies.part import Job, part_of
from steadyrank.studies.plan.result import PlanResult
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


PART = part_of(VIEW, run=_run, why_not=lambda material: material.more_than_topics)

"""How a report runs `topics`."""

from __future__ import annotations

from steadyrank.studies.part import Cost, Job, Shape, part_of
from steadyrank.studies.topics.result import TopicsResult
from steadyrank.studies.topics.study import default_sizes, topics
from steadyrank.studies.topics.view import VIEW


def _cost(shape: Shape) -> Cost:
    n_sizes = len(default_sizes(shape.n_topics))
    return Cost(
        fixed=0.05 + 2e-7 * shape.n_pairs * shape.n_topics,
        per_sample=2e-5 + 1e-9 * shape.n_pairs * n_sizes,
        least=100,
        most=10_000,
        noun="splits",
        is_free=True,
    )


def _run(job: Job) -> TopicsResult:
    return topics(
        job.material.compared,
        measure=job.material.measure,
        n_trials=job.n_samples,
        alpha=job.material.settings.alpha,
        comparisons=job.n_comparisons,
        decided=job.decided,
        progress=job.machine.progress("splits of topics"),
        **job.common,
    )


PART = part_of(VIEW, run=_run, cost=_cost)

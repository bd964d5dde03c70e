"""How a report runs `stability`."""

from __future__ import annotations

from dataclasses import replace

from steadyrank.measures.names import parse_measure
from steadyrank.measures.tie_orders import has_expectation
from steadyrank.studies.part import Cost, Job, part_of
from steadyrank.studies.stability.separation import AssessorRank, assessor_ranks
from steadyrank.studies.stability.study import StabilityResult, stability
from steadyrank.studies.stability.view import VIEW


def _run(job: Job) -> tuple[StabilityResult, ...]:
    scores, settings = job.material.scores, job.material.settings
    n = len(scores.topics)
    sizes = sorted({max(1, n // 4), max(1, n // 2), 2 * n, 4 * n} - {n})
    # The decisions on the page are about the measure that ranks the runs, and so is the rest.
    ranking, *others = (
        stability(
            scores,
            measure=name,
            n_topics=sizes,
            alpha=settings.alpha if name == job.material.measure and job.decided else None,
            decided=job.decided,
            rng=settings.seed,
        )
        for name in scores.measures
    )
    return replace(ranking, assessors=_assessors(job)), *others


def _assessors(job: Job) -> tuple[AssessorRank, ...]:
    """Of judges whose judgments are known, by a measure that has a mean over orders of ties."""
    material, judges = job.material, job.material.judge_qrels
    if not judges or not has_expectation(parse_measure(material.measure)):
        return ()
    alpha = material.settings.alpha
    return assessor_ranks(material.scores, material.measure, material.qrels, judges, alpha)


PART = part_of(VIEW, run=_run, cost=lambda shape: Cost(fixed=0.02 * shape.n_measures, is_free=True))

"""How a report runs `stability`."""

from __future__ import annotations

from typing import Any

from steadyrank.measures.names import parse_measure
from steadyrank.measures.tie_orders import has_expectation
from steadyrank.studies.part import Job, part_of
from steadyrank.studies.stability.study import StabilityResult, stability
from steadyrank.studies.stability.view import VIEW


def _run(job: Job) -> tuple[StabilityResult, ...]:
    material, settings = job.material, job.material.settings
    n = len(material.scores.topics)
    sizes = sorted({max(1, n // 4), max(1, n // 2), 2 * n, 4 * n} - {n})
    # The decisions on the page are about the measure that ranks the runs, and so are assessors.
    best: dict[str, Any] = {"alpha": settings.alpha if job.decided else None}
    if material.judge_qrels and has_expectation(parse_measure(material.measure)):
        best |= {"qrels": material.qrels, "judges": material.judge_qrels}
    found = (
        stability(
            material.scores,
            measure=name,
            n_topics=sizes,
            decided=job.decided,
            rng=settings.seed,
            **(best if name == material.measure else {"alpha": None}),
        )
        for name in material.scores.measures
    )
    return tuple(one for one in found if isinstance(one, StabilityResult))


PART = part_of(VIEW, run=_run, why_not=lambda material: material.more_than_topics)

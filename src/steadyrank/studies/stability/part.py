"""How a report runs `stability`."""

from __future__ import annotations

from steadyrank.studies.part import Cost, Job, part_of
from steadyrank.studies.stability.study import StabilityResult, stability
from steadyrank.studies.stability.view import VIEW


def _run(job: Job) -> tuple[StabilityResult, ...]:
    scores = job.material.scores
    n = len(scores.topics)
    sizes = sorted({max(1, n // 4), max(1, n // 2), 2 * n, 4 * n} - {n})
    seed = job.material.settings.seed
    found = (stability(scores, measure=name, n_topics=sizes, rng=seed) for name in scores.measures)
    return tuple(one for one in found if isinstance(one, StabilityResult))


PART = part_of(VIEW, run=_run, cost=lambda shape: Cost(fixed=0.02 * shape.n_measures, is_free=True))

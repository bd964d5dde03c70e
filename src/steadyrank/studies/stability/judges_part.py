"""How a report runs `stability` of graded answers: what other judges would change."""

from __future__ import annotations

from typing import Any

from steadyrank.data.facets import facets_of
from steadyrank.present.view import Finding
from steadyrank.studies.material import Material
from steadyrank.studies.part import Cost, Findings, Front, Job, Shape, part_of
from steadyrank.studies.stability.facets import FacetsResult, study_facets
from steadyrank.studies.stability.facets_view import VIEW
from steadyrank.words import swap_words


def _why_not(material: Material) -> str:
    several = material.n_levels("judge") > 1
    return "" if several else "the scores have one judge: a long table may have a column judge"


def run_facets(job: Job) -> tuple[FacetsResult, ...]:
    """All facets of the measure that ranks the runs, of the systems that are compared."""
    scores, settings = job.material.compared_graded, job.material.settings
    several = [name for name in facets_of(scores) if job.material.n_levels(name) > 1]
    how: Any = {"confidence": 1 - settings.alpha, "seed": settings.seed, "jobs": job.machine.jobs}
    return (study_facets(scores, job.material.measure, several, **how),)


def cost(shape: Shape) -> Cost:
    """A fit of all scores, and tests of all pairs by each judge."""
    return Cost(fixed=0.5 + 1e-6 * shape.n_pairs * shape.n_topics, is_free=True)


def swap_front(results: tuple[FacetsResult, ...], name: str, words: str) -> Front:
    """The bar of what varies, judges or answers."""
    share = results[0].swaps.get(name)
    if share is None:
        return Front()
    text = f"{words} {swap_words(share, len(results[0].systems), 'systems')}."
    return Front(swap=Finding(f"stability.swap_{name}", text, {"share": share}))


def _front(results: tuple[FacetsResult, ...], findings: Findings) -> Front:
    return swap_front(results, "judges", "With as many other judges")


PART = part_of(
    VIEW, run=run_facets, why_not=_why_not, cost=cost, front=_front, varies="Other judges"
)

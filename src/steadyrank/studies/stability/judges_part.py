"""How a report runs `stability` of graded answers: what other judges would change."""

from __future__ import annotations

from typing import Any

from steadyrank.data.facets import facets_of
from steadyrank.present.view import Finding
from steadyrank.studies.part import Front, Job, part_of
from steadyrank.studies.stability.facets import study_facets
from steadyrank.studies.stability.facets_view import VIEW, Results
from steadyrank.words import swap_words


def _run(job: Job) -> Results:
    """All facets of the measure that ranks the runs, of the systems that are compared."""
    scores, settings = job.material.compared_graded, job.material.settings
    several = [name for name in facets_of(scores) if job.material.n_levels(name) > 1]
    how: Any = {"confidence": 1 - settings.alpha, "seed": settings.seed, "jobs": job.machine.jobs}
    return (study_facets(scores, job.material.measure, several, **how),)


def how_of(facet: str) -> dict[str, Any]:
    """How a part about other judges, or answers, is run, and its bar on the first screen."""

    def front(results: Results, findings: Any) -> Front:
        share = results[0].swaps.get(f"{facet}s")
        if share is None:
            return Front()
        swaps = swap_words(share, len(results[0].systems), "systems")
        text = f"With as many other {facet}s {swaps}."
        return Front(swap=Finding(f"stability.swap_{facet}s", text, {"share": share}))

    lacking = f"the scores have one {facet}: a long table may have a column {facet}"
    return {
        "run": _run,
        "why_not": lambda material: "" if material.n_levels(facet) > 1 else lacking,
        "front": front,
        "varies": f"Other {facet}s",
    }


PART = part_of(VIEW, **how_of("judge"))

"""How a report runs `compare`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from steadyrank.compute.random import seed_from
from steadyrank.studies.compare.audit import audited
from steadyrank.studies.compare.correcting import CompareSettings
from steadyrank.studies.compare.result import CompareResult, Correction, Test
from steadyrank.studies.compare.study import compare_each
from steadyrank.studies.compare.view import RUNS, VIEW
from steadyrank.studies.part import Cost, Job, Shape, part_of


def _run(job: Job) -> tuple[CompareResult, ...]:
    """One result per measure, the measure that ranks the runs first."""
    scores, progress = job.material.compared, job.machine.progress("measures compared")
    given = job.material.settings
    settings = CompareSettings(
        test=cast(Test, given.test),
        correction=cast("Correction | None", given.correction),
        baseline=given.baseline,
        alpha=given.alpha,
        jobs=job.machine.jobs,
        seed=seed_from(given.seed),
    )
    results: list[CompareResult] = []
    for measure in scores.measures:
        # Segments are those of the measure that ranks the runs.
        by = given.by if given.by is not None and not results else "run"
        results += compare_each(scores.select(measures=measure), settings, by=by)
        if len(results) == 1:
            results = [audited(results[0], settings)]
        if progress is not None:
            progress(len(results), len(scores.measures))
    return tuple(results)


def _cost(shape: Shape) -> Cost:
    compared = shape.n_pairs * (4e-5 + 1.6e-7 * shape.n_topics)
    return Cost(fixed=shape.n_measures * compared, is_free=True)


def _on_the_card(results: Sequence[CompareResult]) -> set[str]:
    """With a baseline, how many differ from it is the verdict itself."""
    said = {"compare.first", "compare.gaps", "compare.audit", "compare.detectable"}
    return said if results[0].baseline is None else {*said, "compare.significant"}


PART = part_of(
    VIEW,
    run=_run,
    cost=_cost,
    # The runs stand in the leaderboard, with more.
    tables=[spec.id for spec in VIEW.tables if spec is not RUNS],
    on_the_card=_on_the_card,
)

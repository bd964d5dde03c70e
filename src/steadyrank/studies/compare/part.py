"""How a report runs `compare`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from steadyrank.compute.random import seed_from
from steadyrank.present.view import Finding
from steadyrank.studies.compare.assumptions import assumption
from steadyrank.studies.compare.audit import audited
from steadyrank.studies.compare.correcting import CompareSettings
from steadyrank.studies.compare.front import beside_systems, front
from steadyrank.studies.compare.result import CompareResult, Correction, Test
from steadyrank.studies.compare.study import compare_each
from steadyrank.studies.compare.two_runs import two_runs
from steadyrank.studies.compare.view import RUNS, VIEW, Results
from steadyrank.studies.part import Findings, Front, Job, part_of


def _run(job: Job) -> tuple[CompareResult, ...]:
    """One result per measure, the measure that ranks the runs first."""
    scores, progress = job.material.compared_graded, job.machine.progress("measures compared")
    given, has_judges = job.material.settings, job.material.n_levels("judge") > 1
    settings = CompareSettings(
        test=cast(Test, given.test),
        correction=cast("Correction | None", given.correction),
        baseline=given.baseline,
        alpha=given.alpha,
        # The model with judges random has no clusters of topics.
        fixed=("judge",) if has_judges and "cluster" in scores.topic_info else (),
        jobs=job.machine.jobs,
        seed=seed_from(given.seed),
    )
    results: list[CompareResult] = []
    for measure in scores.measures:
        # Segments are those of the measure that ranks the runs.
        by = given.by if given.by is not None and not results else "run"
        rows = by if job.material.graded is None or by != "run" else None
        results += compare_each(scores.select(measures=measure), settings, by=rows)
        if len(results) == 1:
            results = [audited(results[0], settings)]
        if progress is not None:
            progress(len(results), len(scores.measures))
    return tuple(results)


def _front(results: Results, findings: Findings) -> Front:
    scores = findings.material.scores
    if "systems" in findings.results:  # the verdict is theirs
        return beside_systems(results[0])
    made = front(results[0], n_runs=len(scores.runs), study="compare", link="evaluate")
    return replace(made, assumption=assumption(results))


def _tests(results: Results, findings: Findings) -> list[Finding]:
    result = results[0]
    text = f"{result.tested_words()}; alpha {result.alpha:g}."
    text = f"{text[0].upper()}{text[1:]}"
    values = {"test": result.test, "correction": result.correction, "alpha": result.alpha}
    return [Finding("compare.tests", text, values)]


def _said(findings: Sequence[Finding], found: Findings) -> list[Finding]:
    """Without the verdict and the lead of runs, where the page's verdict is about systems."""
    left = {"compare.verdict", "compare.lead"} if "systems" in found.results else set()
    return [one for one in findings if one.id not in left]


PART = part_of(
    VIEW,
    run=_run,
    said=_said,
    # The runs stand in the leaderboard, with more.
    tables=[spec.id for spec in VIEW.tables if spec is not RUNS],
    beside=_tests,
    is_required=True,
    front=_front,
    decides=lambda results: results[0],
    two_runs=two_runs,
)

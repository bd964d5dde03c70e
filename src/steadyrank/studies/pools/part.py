"""How a report runs `pools`."""

from __future__ import annotations

from steadyrank.studies.material import NO_RUNS, Material, named_teams
from steadyrank.studies.part import Job, Samples, part_of
from steadyrank.studies.pools.result import PoolsResult
from steadyrank.studies.pools.study import pools
from steadyrank.studies.pools.view import VIEW
from steadyrank.words import counted

LEAST_TEAMS = 3


def _why_not(material: Material) -> str:
    if material.runs is None:
        return NO_RUNS
    teams = named_teams(material.scores)
    if not teams:
        return (
            "it is not known which runs are of the same team: give --run-info with a column "
            "team, or --team-from"
        )
    if len(teams) < LEAST_TEAMS:
        few = counted(len(teams), "team")
        return f"{few} only: leaving teams out requires at least {LEAST_TEAMS}"
    return ""


def _run(job: Job) -> PoolsResult:
    material, machine, settings = job.material, job.machine, job.material.settings
    return pools(
        material.runs,
        material.qrels,
        measures=material.scores.measures,
        n_trials=job.n_samples,
        pool_depth=settings.pool_depth,
        missing=settings.missing,
        no_relevant=settings.no_relevant,
        scheduler=machine.scheduler,
        reading=machine.progress("runs read"),
        progress=machine.progress("trials without teams"),
        **job.common,
    )


PART = part_of(VIEW, run=_run, samples=Samples(noun="trials", fast=5, full=50), why_not=_why_not)

"""The studies of a report, one after the other, each with the samples that were planned for it.

A study that finds out that the data do not do says so in its error, which becomes the page's
reason for leaving it out; what a study warns about goes to its section.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from steadyrank.data.read.runs import RunOptions
from steadyrank.errors import InputError, SteadyrankWarning
from steadyrank.reporting.budget import ReportPlan
from steadyrank.reporting.headline import some
from steadyrank.reporting.inputs import Machine, Material, kept_warnings
from steadyrank.reporting.needs import (
    compared_systems,
    disguised_runs,
    grid_factors,
    simulated_measure,
    simulated_runs,
)
from steadyrank.studies.agree.samples import SYSTEM_SIZES, TOPIC_SIZES
from steadyrank.studies.agree.study import AgreeResult, agree
from steadyrank.studies.compare.result import CompareResult
from steadyrank.studies.compare.study import compare
from steadyrank.studies.components.study import ComponentsResult, components
from steadyrank.studies.instances.study import InstancesTable, instances
from steadyrank.studies.plan.study import PlanResult, plan
from steadyrank.studies.pools.result import PoolsResult
from steadyrank.studies.pools.study import pools
from steadyrank.studies.simulate.study import SimulateResult, simulate
from steadyrank.studies.stability.study import StabilityResult, stability
from steadyrank.studies.topics.study import TopicsResult, topics
from steadyrank.words import counted


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Findings:
    """What the studies of a report found, by the names of the studies."""

    results: Mapping[str, Any]
    why_not: Mapping[str, str]
    """Studies that are left out, and why."""
    warnings: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Job:
    material: Material
    plan: ReportPlan
    machine: Machine

    @property
    def common(self) -> dict[str, Any]:
        """What most studies take."""
        return {"jobs": self.machine.jobs, "rng": self.material.settings.seed}


def run_studies(
    material: Material, planned: ReportPlan, why_not: Mapping[str, str], machine: Machine
) -> Findings:
    """Run what was planned; keep results, reasons and warnings apart."""
    job = _Job(material=material, plan=planned, machine=machine)
    results: dict[str, Any] = {"evaluate": material.scores}
    reasons = dict(why_not) | {
        name: study.why_not for name, study in planned.studies.items() if study.why_not
    }
    warned: dict[str, tuple[str, ...]] = {"evaluate": material.warnings}
    if material.check is not None:
        results["check"] = material.check
    known = set(material.warnings)
    for name, study in STUDIES.items():
        if not planned.runs(name):
            continue
        machine.progress(name)
        with kept_warnings() as odd:
            try:
                results[name] = study(job)
            except InputError as error:
                if name == "compare" or _is_of_the_user(error, machine):
                    raise
                reasons[name] = str(error)
        warned[name] = tuple(each for each in odd if each not in known)
    return Findings(results=results, why_not=reasons, warnings=warned)


def _is_of_the_user(error: InputError, machine: Machine) -> bool:
    """Whether it is about where to work, not about the data."""
    places = [str(place) for place in (machine.store, machine.scheduler) if place is not None]
    return any(place in str(error) for place in places)


def _compare(job: _Job) -> tuple[CompareResult, ...]:
    """One result a measure, the measure that ranks the runs first."""
    scores, tell = job.material.compared, job.machine.progress("measures compared")
    found = []
    for name in scores.measures:
        found.append(compare(scores, measure=name, alpha=job.material.settings.alpha, **job.common))
        if tell is not None:
            tell(len(found), len(scores.measures))
    return tuple(found)


def _stability(job: _Job) -> tuple[StabilityResult, ...]:
    scores = job.material.scores
    n = len(scores.topics)
    sizes = sorted({max(1, n // 4), max(1, n // 2), 2 * n, 4 * n} - {n})
    seed = job.material.settings.seed
    return tuple(
        stability(scores, measure=name, n_topics=sizes, rng=seed) for name in scores.measures
    )


def _plan(job: _Job) -> PlanResult:
    settings = job.material.settings
    return plan(
        job.material.scores,
        minimum_difference=settings.minimum_difference,
        method="ttest",
        alpha=settings.alpha,
        comparisons=_comparisons(job),
    )


def _comparisons(job: _Job) -> int:
    """Those that `compare` corrects for: every number of topics is for tests at its level."""
    return math.comb(len(job.material.compared.runs), 2)


def _topics(job: _Job) -> TopicsResult:
    return topics(
        job.material.compared,
        measure=job.material.measure,
        n_trials=job.plan.samples("topics"),
        alpha=job.material.settings.alpha,
        comparisons=_comparisons(job),
        progress=job.machine.progress("splits of topics"),
        **job.common,
    )


def _simulate(job: _Job) -> SimulateResult:
    material, machine, settings = job.material, job.machine, job.material.settings
    store: Path | None = None if machine.store is None else machine.store / "simulate"
    _warn_of_disguised(disguised_runs(material))
    return simulate(
        simulated_runs(material),
        material.qrels,
        measure=simulated_measure(material) or "AP",
        n_samples=job.plan.samples("simulate"),
        alpha=settings.alpha,
        no_relevant=settings.no_relevant,
        options=RunOptions(name_from=settings.name_from, duplicates=settings.duplicates),
        store=store,
        scheduler=machine.scheduler,
        reading=machine.progress("runs read"),
        progress=machine.progress("simulated collections"),
        **job.common,
    )


def _warn_of_disguised(names: list[str]) -> None:
    if names:
        warnings.warn(
            f"{counted(len(names), 'run is', 'runs are')} left out of the simulation: the scores "
            f"of {some(names)} are ranks in disguise, which say in what order documents stand and "
            "nothing else; steadyrank simulate --score-source rank takes ranks for scores",
            SteadyrankWarning,
            stacklevel=2,
        )


def _agree(job: _Job) -> AgreeResult:
    scores = job.material.scores
    complete = int((~np.isnan(scores.values).any(axis=(0, 1))).sum())
    return agree(
        scores,
        n_samples=job.plan.samples("agree"),
        topic_sizes=_sizes(TOPIC_SIZES, complete, 1),
        system_sizes=_sizes(SYSTEM_SIZES, len(scores.runs), 2),
        progress=job.machine.progress("samples of topics and runs"),
        scheduler=job.machine.scheduler,
        **job.common,
    )


def _sizes(usual: tuple[int, ...], n: int, least: int) -> list[int]:
    """The usual sizes that leave something to draw from, or halves of what there is."""
    fitting = [size for size in usual if size < n]
    return fitting if len(fitting) > 1 else sorted({max(least, n // 2), max(least, 3 * n // 4)})


def _instances(job: _Job) -> InstancesTable:
    material, settings = job.material, job.material.settings
    systems = compared_systems(material.scores)
    of_run = [
        system or run
        for run, system in zip(
            material.scores.runs, material.scores.run_info["system"], strict=True
        )
    ]
    runs = [
        run
        for name in systems
        for run, own in zip(material.scores.runs, of_run, strict=True)
        if own == name
    ]
    scores = material.scores.select(runs=runs)
    found = instances(
        scores,
        measure=material.measure,
        delta=settings.delta,
        alpha=settings.alpha,
        instance_factors=settings.instance_factors,
        n_samples=job.plan.samples("instances"),
        samples_per_instance=min(1000, job.plan.samples("instances")),
        # With gaps in the data the posterior has no closed form, and takes seconds a pair.
        posterior=not np.isnan(scores.matrix(material.measure)).any(),
        progress=job.machine.progress("pairs of systems"),
        **job.common,
    )
    if not isinstance(found, InstancesTable):
        raise InputError("a comparison of systems needs two of them")
    return found


def _components(job: _Job) -> ComponentsResult:
    material = job.material
    factors = material.settings.factors or grid_factors(material.scores)
    return components(material.scores, factors=factors, measure=material.measure)


def _pools(job: _Job) -> PoolsResult:
    material, machine, settings = job.material, job.machine, job.material.settings
    return pools(
        list(material.runs),
        material.qrels,
        measures=material.scores.measures,
        n_trials=job.plan.samples("pools"),
        pool_depth=settings.pool_depth,
        missing=settings.missing,
        no_relevant=settings.no_relevant,
        name_from=settings.name_from,
        duplicates=settings.duplicates,
        run_info=settings.run_info,
        team_from=settings.team_from,
        scheduler=machine.scheduler,
        reading=machine.progress("runs read"),
        progress=machine.progress("trials without teams"),
        **job.common,
    )


STUDIES: Mapping[str, Callable[[_Job], Any]] = {
    "compare": _compare,
    "stability": _stability,
    "plan": _plan,
    "topics": _topics,
    "simulate": _simulate,
    "instances": _instances,
    "components": _components,
    "agree": _agree,
    "pools": _pools,
}
"""In the order in which they run."""

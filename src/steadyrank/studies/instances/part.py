"""How a report runs `instances`."""

from __future__ import annotations

import math

import numpy as np

from steadyrank.data.scores import Scores, mean_of_present
from steadyrank.errors import InputError
from steadyrank.stats.instances.systems import systems_of
from steadyrank.studies.instances.study import InstancesTable, instances
from steadyrank.studies.instances.view import VIEW
from steadyrank.studies.material import Material, named_systems
from steadyrank.studies.part import Cost, Job, Shape, part_of

MOST_SYSTEMS = 5
"""Systems with instances that are compared pair by pair: the best."""


def _why_not(material: Material) -> str:
    scores = material.scores
    systems = named_systems(scores)
    if not systems:
        return (
            "it is not known which runs are instances of the same system, such as seeds of a "
            "reranker: give --run-info with a column system, or --system-from"
        )
    if all(len(places) == 1 for places in systems.values()):
        return "every system has one run: instances are several runs of one system"
    if len(compared_systems(scores)) < 2:
        return "all runs are instances of one system: a comparison requires two systems"
    return ""


def compared_systems(scores: Scores) -> list[str]:
    """The best systems by the mean of their runs, best first."""
    means, systems = scores.mean()[0], systems_of(scores)
    by_mean = {name: float(mean_of_present(means[places])) for name, places in systems.items()}
    known = [name for name in systems if not math.isnan(by_mean[name])]
    return sorted(known, key=lambda name: -by_mean[name])[:MOST_SYSTEMS]


def n_pairs_of_systems(material: Material) -> int:
    """Comparisons that the study makes of these data."""
    if _why_not(material):
        return 0
    return math.comb(len(compared_systems(material.scores)), 2)


def _cost(shape: Shape) -> Cost:
    return Cost(
        fixed=0.5 * shape.n_pairs_of_systems,
        per_sample=1e-5 + 5e-5 * shape.n_pairs_of_systems,
        least=200,
        most=10_000,
        noun="resamples",
    )


def _run(job: Job) -> InstancesTable:
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
    result = instances(
        scores,
        measure=material.measure,
        delta=settings.delta,
        alpha=settings.alpha,
        instance_factors=settings.instance_factors,
        n_samples=job.n_samples,
        samples_per_instance=min(1000, job.n_samples),
        # With gaps in the data the posterior has no closed form, and takes seconds a pair.
        posterior=not np.isnan(scores.matrix(material.measure)).any(),
        progress=job.machine.progress("pairs of systems"),
        **job.common,
    )
    if not isinstance(result, InstancesTable):
        raise InputError("a comparison of systems requires two of them")
    return result


PART = part_of(VIEW, run=_run, cost=_cost, why_not=_why_not)

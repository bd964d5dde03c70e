"""How a report runs `instances`."""

from __future__ import annotations

import itertools
import math

import numpy as np

from steadyrank.data.scores import Scores, mean_of_present
from steadyrank.errors import InputError
from steadyrank.present.view import Finding
from steadyrank.stats.instances.systems import systems_of
from steadyrank.stats.run_means import adjusted_means, signs_of
from steadyrank.studies.instances.study import InstancesTable, instances
from steadyrank.studies.instances.view import VIEW, difference_words
from steadyrank.studies.material import Material, named_systems
from steadyrank.studies.part import Findings, Front, Job, Samples, part_of
from steadyrank.studies.two_runs import TwoRuns
from steadyrank.words import MISSING, swap_words

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


def _front(result: InstancesTable, findings: Findings) -> Front:
    share = reversed_by_instances(findings.material.scores)
    if math.isnan(share):
        return Front()
    n = len(named_systems(findings.material.scores))
    text = f"With another instance of each, {swap_words(share, n, 'systems')}."
    return Front(swap=Finding("instances.swap", text, {"share": share}))


def reversed_by_instances(scores: Scores) -> float:
    """How often two systems, an instance of each, are ordered otherwise by two other instances.

    Mean over the pairs of systems of which one has several instances.
    """
    means = adjusted_means(scores.matrix(scores.measures[0]))
    groups = [means[list(places)] for places in named_systems(scores).values()]
    shares = [
        _contradicted(a, b) for a, b in itertools.combinations(groups, 2) if max(len(a), len(b)) > 1
    ]
    return float(mean_of_present(np.array(shares, float)))


def _contradicted(a: np.ndarray, b: np.ndarray) -> float:
    """Over all draws of an instance of each and of another of each: are they ordered otherwise?

    A system with one instance has the same one again. With signs s[i, j] of the differences, it is
    the mean of (1 - s[i, j] s[k, l]) / 2 over i other than k and j other than l.
    """
    signs = signs_of(a[:, None] - b[None, :])
    if not signs.any():
        return math.nan
    again, n = signs.sum() ** 2, 1
    for axis, size in enumerate(signs.shape):
        if size > 1:
            n *= size * (size - 1)
            again -= (signs.sum(axis=1 - axis) ** 2).sum()
    if min(signs.shape) > 1:
        again += (signs**2).sum()  # taken off twice
    return float(0.5 - 0.5 * again / n)


def _of_two(panel: TwoRuns, result: InstancesTable, findings: Findings) -> None:
    """What is known of the systems that the two are instances of."""
    scores = findings.material.scores
    system = dict(zip(scores.runs, scores.run_info.get("system", scores.runs), strict=True))
    words = {
        frozenset((found.a, found.b)): difference_words(found).replace("{", "(").replace("}", ")")
        for found in result.comparisons
    }
    panel.add(
        "Systems",
        "{systems}",
        systems=[
            "both are instances of one system"
            if system[a] == system[b] != ""
            else words.get(frozenset((system[a], system[b])), MISSING)
            for a, b in panel.names
        ],
    )


PART = part_of(
    VIEW,
    run=_run,
    samples=Samples(noun="resamples", fast=200, full=5000),
    why_not=_why_not,
    front=_front,
    varies="Other instances",
    examine=lambda material: "--system-from",
    of_two=_of_two,
)

"""The section of a report about other instances of the systems: would they change it?"""

from __future__ import annotations

import math

import numpy as np

from steadyrank.data.scores import Scores, mean_of_present
from steadyrank.errors import InputError
from steadyrank.present.cells import name, number, percent, pvalue, span, table
from steadyrank.present.table import Cell, Table
from steadyrank.stats.instances.systems import systems_of
from steadyrank.studies.instances.study import InstancesTable, instances
from steadyrank.studies.instances.tables import margin
from steadyrank.studies.material import Material, named_systems
from steadyrank.studies.part import Body, Cost, Drawing, Findings, Job, Part, Shape
from steadyrank.words import number_word

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


def _body(result: InstancesTable, findings: Findings) -> Body:
    """The best systems pair by pair, over topics and instances."""
    best = (
        result.comparisons[int(np.nanargmin(result.pvalue_adjusted))]
        if not np.isnan(result.pvalue_adjusted).all()
        else result.comparisons[0]
    )
    answer = [systems_words(result), *result.words(), *best.words()[:1]]
    return Body(
        answer=tuple(dict.fromkeys(answer)),
        figures=(
            Drawing("instance-margin", "Differences of systems and the margin.", result, "margin"),
            Drawing("instance-means", "Means of the instances.", result, "means"),
        ),
        tables=(_instances_table(result), _variance_table(result)),
    )


def systems_words(table: InstancesTable, *, tested: bool = True) -> str:
    """The best system by the mean of its instances, and whether it was shown to be better.

    With `tested`, also by which test.
    """
    means: dict[str, float] = {}
    for comparison in table.comparisons:
        means |= {comparison.a: comparison.pair.a.mean, comparison.b: comparison.pair.b.mean}
    best = max(means, key=lambda name: means[name])
    with_best = [
        (comparison, bool(decided))
        for comparison, decided in zip(table.comparisons, table.significant, strict=True)
        if best in (comparison.a, comparison.b)
    ]
    beaten = sum(decided for _, decided in with_best)
    others = len(with_best)
    lead = f"Of the systems, {best} has the best mean {table.measure} over its instances"
    by = " by a mixed model of topics and instances" if tested else ""
    if others == 1:
        other = next(name for name in means if name != best)
        told = f"shown to be better than {other}" if beaten else f"not shown to differ from {other}"
        return f"{lead}; it is {told}{by}."
    if beaten == others:
        return f"{lead}; it is shown to be better than all {number_word(others)} others{by}."
    shown = "none" if not beaten else number_word(beaten)
    among = f"{shown} of the {number_word(others)} others"
    return f"{lead}; it is shown to be better than {among}{by}."


def _instances_table(result: InstancesTable) -> Table:
    rows = []
    for comparison in result.comparisons:
        gap, sizes = number(comparison.difference, "+.4f"), comparison.n_instances
        rows.append(
            [
                name(comparison.a),
                name(comparison.b),
                Cell(f"{sizes['a']}/{sizes['b']}"),
                Cell(f"{gap.text} *", gap.value) if comparison.significant else gap,
                span(comparison.interval, "+.4f"),
                pvalue(comparison.headline_pvalue),
                pvalue(comparison.pvalue_adjusted),
                pvalue(comparison.pvalue["two_way_bootstrap"]),
                span(comparison.hpd, "+.4f"),
                name(margin(comparison)),
            ]
        )
    level = f"{1 - result.alpha:.0%}"
    header = [
        "a",
        "b",
        "instances",
        "difference",
        f"{level} interval",
        "p",
        "p corrected",
        "p, two-way bootstrap",
        f"{level} HPD",
        f"margin {result.delta:g}",
    ]
    caption = (
        f"{result.caption()} * significant after correction. p, two-way bootstrap and HPD are "
        "for each comparison on its own."
    )
    return table("instance-pairs", caption, header, rows)


def _variance_table(result: InstancesTable) -> Table:
    parts = ("system_topic", "instance", "residual")
    rows = [
        [
            name(f"{comparison.a} − {comparison.b}"),
            *(percent(comparison.variance_share.get(part, math.nan)) for part in parts),
        ]
        for comparison in result.comparisons
    ]
    caption = "What makes the differences vary: shares of the variance."
    header = ["systems", "system × topic", "instances", "residual"]
    return table("instance-variances", caption, header, rows)


PART = Part(
    title="Other instances",
    question="Would other random instances of the systems change it?",
    means=(
        "Runs of one system are instances of it, such as seeds. The mixed model treats topics "
        "and instances as random, so its p-values are about other topics and instances. "
        "Within the margin means that the difference was shown to be smaller than the margin."
    ),
    means_not=(
        "That no difference was shown does not show that there is none: see the margin. This "
        "section says nothing about other documents or judgments."
    ),
    body=_body,
    run=_run,
    why_not=_why_not,
    cost=_cost,
)

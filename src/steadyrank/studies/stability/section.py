"""The section of a report about stability: how well do these topics rank and measure systems?"""

from __future__ import annotations

import math
from collections.abc import Sequence

from steadyrank.present.cells import name, number, percent, span, table, whole
from steadyrank.present.table import Table
from steadyrank.studies.part import Body, Cost, Drawing, Findings, Job, Part, Shape
from steadyrank.studies.stability.study import StabilityResult, stability
from steadyrank.studies.stability.tables import stability_notes


def _cost(shape: Shape) -> Cost:
    return Cost(fixed=0.02 * shape.n_measures, is_free=True)


def _run(job: Job) -> tuple[StabilityResult, ...]:
    scores = job.material.scores
    n = len(scores.topics)
    sizes = sorted({max(1, n // 4), max(1, n // 2), 2 * n, 4 * n} - {n})
    seed = job.material.settings.seed
    return tuple(
        stability(scores, measure=name, n_topics=sizes, rng=seed) for name in scores.measures
    )


def _body(results: Sequence[StabilityResult], findings: Findings) -> Body:
    """How well these topics, and other numbers of them, rank and measure systems."""
    main, caption = results[0], "E rho² and Phi against the number of topics."
    return Body(
        answer=tuple(stability_notes(main)),
        figures=(Drawing("stability-curves", caption, main, "coefficients"),),
        tables=(_stability_table(results), _influence_table(results), _d_study_table(main)),
    )


def _stability_table(results: Sequence[StabilityResult]) -> Table:
    highest = max(needed.level for needed in results[0].topics_needed)
    parts = list(results[0].variance_share)
    rows = []
    for result in results:
        found = result.coefficients[0]
        needed = next(each for each in result.topics_needed if each.level == highest)
        rows.append(
            [
                name(result.measure),
                *(percent(result.variance_share.get(part, math.nan)) for part in parts),
                number(found.e_rho2, ".3f"),
                span(found.e_rho2_interval, ".3f"),
                number(found.phi, ".3f"),
                span(found.phi_interval, ".3f"),
                whole(needed.e_rho2),
                whole(needed.phi),
            ]
        )
    sure = f"{results[0].confidence:.0%} interval"
    of_parts = [f"variance: {part.replace('_', ' × ')}" for part in parts]
    header = [
        "measure",
        *of_parts,
        "E rho²",
        sure,
        "Phi",
        sure,
        f"topics for E rho² {highest:g}",
        f"for Phi {highest:g}",
    ]
    return table("stability-measures", results[0].caption(), header, rows)


def _influence_table(results: Sequence[StabilityResult]) -> Table:
    """How far the coefficients rest on single systems, and those of the leading group."""
    rows = []
    for result in results:
        left, group = result.leave_one_out, result.leading_group
        rows.append(
            [
                name(result.measure),
                number(result.e_rho2, ".3f"),
                span(left.e_rho2 if left else None, ".3f"),
                name(left.system if left else "–"),
                number(left.e_rho2_without if left else math.nan, ".3f"),
                whole(len(group.systems) if group else None),
                number(group.e_rho2 if group else math.nan, ".3f"),
                number(group.phi if group else math.nan, ".3f"),
            ]
        )
    caption = (
        "Does one system carry the coefficient? E rho² without each system in turn, and without "
        "the one whose absence changes it most; and E rho² and Phi of the leading group, the "
        "better half of the systems by mean, at most 20."
    )
    header = [
        "measure",
        "E rho²",
        "without each",
        "most by",
        "E rho² without it",
        "leading group",
        "its E rho²",
        "its Phi",
    ]
    return table("stability-influence", caption, header, rows)


def _d_study_table(result: StabilityResult) -> Table:
    with_instances = any(found.instances is not None for found in result.coefficients)
    rows = [
        [
            whole(found.topics),
            *([number(found.instances or math.nan, "g")] if with_instances else []),
            number(found.e_rho2, ".3f"),
            span(found.e_rho2_interval, ".3f"),
            number(found.phi, ".3f"),
            span(found.phi_interval, ".3f"),
        ]
        for found in result.coefficients
    ]
    sure = f"{result.confidence:.0%} interval"
    header = ["topics", *(["instances"] if with_instances else []), "E rho²", sure, "Phi", sure]
    caption = f"D-study of {result.measure}: other numbers of topics."
    return table("d-study", caption, header, rows)


PART = Part(
    title="Stability of the collection",
    question="How well do these topics rank and measure systems like these?",
    means=(
        "E rho² is how well the order of systems would be kept by other topics, Phi how well "
        "their scores would be: 1 is perfect. Below: how many topics reach a level."
    ),
    means_not=(
        "Systems count as a sample too: with systems that are close to each other the "
        "coefficients are low although every score is known well."
    ),
    body=_body,
    run=_run,
    cost=_cost,
)

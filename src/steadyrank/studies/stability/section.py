"""The section of a report about stability: how well do these topics rank and measure systems?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from steadyrank.present.cells import name, number, percent, size, span, table, titled, whole
from steadyrank.present.table import Table
from steadyrank.studies.part import Body, Cost, Drawing, Findings, Job, Part
from steadyrank.studies.stability.study import StabilityResult, stability
from steadyrank.studies.stability.tables import both_figures, by_size, stability_notes

FIGURES = (partial(number, form=".3f"), partial(span, form=".3f"))


def _run(job: Job) -> tuple[StabilityResult, ...]:
    scores = job.material.scores
    n = len(scores.topics)
    sizes = sorted({max(1, n // 4), max(1, n // 2), 2 * n, 4 * n} - {n})
    seed = job.material.settings.seed
    return tuple(
        stability(scores, measure=name, n_topics=sizes, rng=seed) for name in scores.measures
    )


def _body(results: Sequence[StabilityResult], findings: Findings) -> Body:
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
        needed = next(topics for topics in result.topics_needed if topics.level == highest)
        rows.append(
            [
                name(result.measure),
                *(percent(result.variance_share.get(part, math.nan)) for part in parts),
                *both_figures(result.coefficients[0], *FIGURES),
                size(needed.e_rho2),
                size(needed.phi),
            ]
        )
    of_parts = [f"variance: {part.replace('_', ' × ')}" for part in parts]
    topics = [f"topics for E rho² {highest:g}", f"for Phi {highest:g}"]
    header = ["measure", *of_parts, *_both_titles(results[0]), *topics]
    return table("stability-measures", results[0].caption(), header, rows)


def _influence_table(results: Sequence[StabilityResult]) -> Table:
    rows = []
    for result in results:
        left, group = result.leave_one_out, result.leading_group
        rows.append(
            {
                "measure": name(result.measure),
                "E rho²": number(result.e_rho2, ".3f"),
                "without each": span(left.e_rho2 if left else None, ".3f"),
                "most by": name(left.system if left else "–"),
                "E rho² without it": number(left.e_rho2_without if left else math.nan, ".3f"),
                "leading group": whole(len(group.systems) if group else None),
                "its E rho²": number(group.e_rho2 if group else math.nan, ".3f"),
                "its Phi": number(group.phi if group else math.nan, ".3f"),
            }
        )
    caption = (
        "Does the coefficient rest on one system? E rho² without each system in turn, and without "
        "the one whose absence changes it most; and E rho² and Phi of the leading group, the "
        "better half of the systems by mean, at most 20."
    )
    return table("stability-influence", caption, *titled(rows))


def _d_study_table(result: StabilityResult) -> Table:
    with_instances = bool(result.instances)
    rows = [
        [
            whole(own.topics),
            *([number(own.instances, "g")] if with_instances else []),
            *both_figures(own, *FIGURES),
        ]
        for own in by_size(result)
    ]
    header = ["topics", *(["instances"] if with_instances else []), *_both_titles(result)]
    caption = f"D-study of {result.measure}: other numbers of topics."
    return table("d-study", caption, header, rows)


def _both_titles(result: StabilityResult) -> list[str]:
    sure = f"{result.confidence:.0%} interval"
    return ["E rho²", sure, "Phi", sure]


PART = Part(
    title="Stability of the collection",
    question="How well do these topics rank and measure systems like these?",
    means=(
        "E rho² says how reliably other topics would reproduce the order of the systems, Phi "
        "how reliably they would reproduce the scores: 1 is perfect. The table shows how many "
        "topics reach a given level."
    ),
    means_not=(
        "Systems count as a sample, too: for systems that are close to each other the "
        "coefficients are low even if every score is precise."
    ),
    body=_body,
    run=_run,
    cost=lambda shape: Cost(fixed=0.02 * shape.n_measures, is_free=True),
)

"""Sentences, tables and the section of `stability`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from steadyrank.measures.names import parse_measure
from steadyrank.measures.ties import has_expectation
from steadyrank.present.json import picked
from steadyrank.present.view import Col, FigureSpec, Finding, TableSpec, View, Words
from steadyrank.studies.part import Job, part_of
from steadyrank.studies.stability.separation import POWER
from steadyrank.studies.stability.study import StabilityResult, facet_words, stability
from steadyrank.words import counted, interval

MOST = 1e6
"""Larger numbers of topics are not stated."""

Results = Sequence[StabilityResult]
"""One result per measure; the first measure ranks the runs."""


def findings(results: Results) -> list[Finding]:
    """Return findings about the measure that ranks the runs."""
    result = results[0]
    own, g, said = result.coefficients[0], result.components, []
    e_rho2, phi = (interval(ends, ".2f") for ends in (own.e_rho2_interval, own.phi_interval))
    with_instances = ""
    if own.instances is not None and g.facet:
        with_instances = f" × {facet_words(own.instances, g.facet)}"
    said.append(
        Finding(
            "stability.coefficients",
            f"With {counted(own.topics, 'topic')}{with_instances}, E rho² = {own.e_rho2:.2f} "
            f"{e_rho2} and Phi = {own.phi:.2f} {phi}.",
            own.row() | {"measure": result.measure},
        )
    )
    if g.variance["system"] == 0.0:
        text = "No number of topics separates systems that do not differ."
        said.append(Finding("stability.no_systems", text))
    elif g.facet:
        most = {k: g.e_rho2(math.inf, k) for k in dict.fromkeys((1, g.n_instances))}
        reached = " and ".join(f"{most[k]:.2f} with {facet_words(k, g.facet)}" for k in most)
        text = f"Infinitely many topics would reach E rho² {reached}."
        said.append(Finding("stability.limit", text, {"e_rho2": list(most.values())}))
    left = result.leave_one_out
    if left is not None and left.carried:
        text = (
            f"E rho² depends on one system: without {left.system} it is {left.e_rho2_without:.2f} "
            f"instead of {result.e_rho2:.2f}."
        )
        said.append(Finding("stability.carried", text, asdict(left)))
    below = {part: value for part, value in g.raw.items() if value < 0.0}
    for part, value in below.items():
        text = f"The estimate of {part} is negative ({value:.3g}) and counts as 0."
        said.append(Finding(f"stability.negative.{part}", text, {"variance": value}))
    return [*said, *_separation(result), *_assessors(result)]


def _separation(result: StabilityResult) -> list[Finding]:
    found = result.separation
    if found is None:
        return []
    text = f"Only {found.runs[0]} could be first, by each run's comparisons with the others."
    if found.n_pairs:
        topics = counted(result.components.n_topics, "topic")
        text = (
            f"{topics} could separate {found.n_separable or 'none'} of the "
            f"{counted(found.n_pairs, 'pair', form=',')} of {len(found.runs):,} runs that could be "
            "first"
        )
        is_stated = found.n_separable < found.n_pairs / 2 and found.topics_needed < MOST
        text += f"; half require {found.topics_needed:,.0f} topics." if is_stated else "."
    return [Finding("stability.separation", text, asdict(found))]


def _assessors(result: StabilityResult) -> list[Finding]:
    if not result.assessors:
        return []
    best = min(result.assessors, key=lambda own: own.rank)
    if best.significantly_above:
        runs = f"{len(best.significantly_above):,} of {counted(best.n_runs, 'run', form=',')}"
        text = (
            f"If {best.judge} judges as well as people do, these judgments cannot separate {runs}: "
            f"documents in the order of its grades rank {best.rank:,}."
        )
        return [Finding("stability.expired", text, asdict(best))]
    text = (
        f"Documents in the order of {best.judge}'s grades would rank {best.rank:,} among "
        f"{counted(best.n_runs, 'run', form=',')}; no run is significantly above that."
    )
    return [Finding("stability.assessor", text, asdict(best))]


def _component_rows(results: Results) -> list[dict[str, Any]]:
    return [
        {
            "measure": result.measure,
            "component": part.replace("_", " × "),
            "variance": variance,
            "share": result.variance_share[part],
            "mean_square": result.components.mean_squares[part],
        }
        for result in results
        for part, variance in result.components.variance.items()
    ]


def _by_size(results: Results, rows: Sequence[Any]) -> list[Any]:
    """Sort rows by measure, then by topics."""
    order = {result.measure: place for place, result in enumerate(results)}
    return sorted(
        rows, key=lambda row: (order[row["measure"]], row["topics"], row.get("instances") or 0)
    )


def _influence_rows(results: Results) -> list[dict[str, Any]]:
    rows = []
    for result in results:
        left, group = result.leave_one_out, result.leading_group
        row: dict[str, Any] = {"measure": result.measure, "e_rho2": result.e_rho2}
        if left is not None:
            row |= {"without_each": left.e_rho2, "system": left.system}
            row |= {"without": left.e_rho2_without}
        if group is not None:
            row |= {"group": len(group.systems), "group_e_rho2": group.e_rho2}
            row |= {"group_phi": group.phi}
        rows.append(row)
    return rows


MEASURE = Col("measure", form="name", when=lambda results: len(results) > 1)
BOTH = (
    Col("e_rho2", "E rho²", ".3f"),
    Col("e_rho2_interval", "{sure} interval", ".3f"),
    Col("phi", "Phi", ".3f"),
    Col("phi_interval", "{sure} interval", ".3f"),
)

COMPONENTS = TableSpec(
    id="stability-components",
    rows=_component_rows,
    columns=(
        MEASURE,
        Col("component", form="name"),
        Col("variance", form=".5f"),
        Col("share", form="percent"),
        Col("mean_square", form=".5f"),
    ),
    caption=lambda results: f"G-study: {results[0].caption()}",
)
COEFFICIENTS = TableSpec(
    id="d-study",
    rows=lambda results: [row for result in results for row in result.rows()],
    shown=_by_size,
    columns=(MEASURE, Col("topics", form="count"), Col("instances", form="g", when="known"), *BOTH),
    caption="D-study: E rho² of the order of systems, Phi of their scores (docs/stability.md).",
)
NEEDED = TableSpec(
    id="stability-topics",
    rows=lambda results: [
        {"measure": one.measure, **needed.row()} for one in results for needed in one.topics_needed
    ],
    columns=(
        MEASURE,
        Col("level", form="g"),
        Col("instances", form="g", when="known"),
        Col("e_rho2", "topics for E rho²", "size"),
        Col("e_rho2_interval", "{sure} interval", "size"),
        Col("phi", "topics for Phi", "size"),
        Col("phi_interval", "{sure} interval", "size"),
    ),
    caption="Topics for levels of E rho² and Phi.",
)
INFLUENCE = TableSpec(
    id="stability-influence",
    rows=_influence_rows,
    when=lambda results: any(one.leave_one_out or one.leading_group for one in results),
    columns=(
        Col("measure", form="name"),
        Col("e_rho2", "E rho²", ".3f"),
        Col("without_each", "without each system", ".3f"),
        Col("system", "most by", "name", "known"),
        Col("without", "E rho² without it", ".3f", "known"),
        Col("group", "leading group", "count", "known"),
        Col("group_e_rho2", "its E rho²", ".3f", "known"),
        Col("group_phi", "its Phi", ".3f", "known"),
    ),
    caption="Do the coefficients depend on single systems? The leading group is the better half, "
    "at most 20.",
)


def fields(results: Results) -> dict[str, Any]:
    """Return the keys of the JSON output; for several measures, a list of such objects."""
    if len(results) > 1:
        return {"studies": [VIEW.json([result]) for result in results]}
    result = results[0]
    g, found = result.components, result.separation
    facets = "facet design n_instances n_runs df" if g.facet else ""
    return {
        "variance": g.variance,
        **picked(result, "e_rho2 phi"),
        "topics_needed": [needed.row() for needed in result.topics_needed],
        "measure": result.measure,
        "variance_raw": g.raw,
        "variance_share": result.variance_share,
        **picked(g, "mean_squares n_systems n_topics n_dropped"),
        "confidence": result.confidence,
        "d_study": [own.row() for own in result.coefficients],
        "leave_one_out": result.leave_one_out and asdict(result.leave_one_out),
        "leading_group": result.leading_group and asdict(result.leading_group),
        "separation": found and asdict(found) | {"share": found.share, "power": POWER},
        "assessors": [asdict(own) for own in result.assessors],
        **picked(g, facets),
    }


VIEW = View(
    words=Words(
        title="Stability of the collection",
        question="How well do these topics rank and measure systems like these?",
        means=(
            "E rho² says how reliably other topics would reproduce the order of the systems, Phi "
            "how reliably they would reproduce the scores: 1 is perfect."
        ),
        means_not=(
            "Systems also count as a sample: for systems that are close to each other the "
            "coefficients are low even if every score is precise."
        ),
    ),
    findings=findings,
    tables=(COMPONENTS, COEFFICIENTS, NEEDED, INFLUENCE),
    csv="d-study",
    fields=fields,
    figure=FigureSpec(
        id="stability-curves",
        caption="E rho² and Phi against the number of topics.",
        kind="coefficients",
        of=lambda results: results[0],
    ),
)


def _run(job: Job) -> tuple[StabilityResult, ...]:
    material, settings = job.material, job.material.settings
    n = len(material.scores.topics)
    sizes = sorted({max(1, n // 4), max(1, n // 2), 2 * n, 4 * n} - {n})
    # Decisions and assessors apply to the measure that ranks the runs.
    best: dict[str, Any] = {"alpha": settings.alpha if job.decided else None}
    if material.judge_qrels and has_expectation(parse_measure(material.measure)):
        best |= {"qrels": material.qrels, "judges": material.judge_qrels}
    found = (
        stability(
            material.scores,
            measure=name,
            n_topics=sizes,
            decided=job.decided,
            rng=settings.seed,
            **(best if name == material.measure else {"alpha": None}),
        )
        for name in material.scores.measures
    )
    return tuple(one for one in found if isinstance(one, StabilityResult))


PART = part_of(VIEW, run=_run, why_not=lambda material: material.more_than_topics)

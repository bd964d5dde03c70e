"""Sentences, tables and the section of `stability`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from steadyrank.present.json import picked
from steadyrank.present.view import Col, FigureSpec, Finding, TableSpec, View, Words
from steadyrank.studies.part import Job, part_of
from steadyrank.studies.stability.study import StabilityResult, stability
from steadyrank.words import counted, interval

Results = Sequence[StabilityResult]
"""One result per measure; the first measure ranks the runs."""


def findings(results: Results) -> list[Finding]:
    """Return findings about the measure that ranks the runs."""
    result = results[0]
    own, g, said = result.coefficients[0], result.components, []
    e_rho2, phi = (interval(ends, ".2f") for ends in (own.e_rho2_interval, own.phi_interval))
    with_instances = ""
    if own.instances is not None:
        with_instances = f" × {_instances(own.instances)}"
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
    elif g.design == "nested":
        most = {k: g.e_rho2(math.inf, k) for k in dict.fromkeys((1, g.n_instances))}
        reached = " and ".join(f"{most[k]:.2f} with {_instances(k)}" for k in most)
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
    return said


def _instances(k: float) -> str:
    return counted(k, "instance", form=".3g")


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
    return [
        {
            "measure": result.measure,
            "e_rho2": result.e_rho2,
            "without_each": left.e_rho2,
            "system": left.system,
            "without": left.e_rho2_without,
        }
        for result in results
        if (left := result.leave_one_out)
    ]


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
    when=lambda results: any(one.leave_one_out for one in results),
    columns=(
        Col("measure", form="name"),
        Col("e_rho2", "E rho²", ".3f"),
        Col("without_each", "without each system", ".3f"),
        Col("system", "most by", "name"),
        Col("without", "E rho² without it", ".3f"),
    ),
    caption="Do the coefficients depend on single systems?",
)


def fields(results: Results) -> dict[str, Any]:
    """Return the keys of the JSON output; for several measures, a list of such objects."""
    if len(results) > 1:
        return {"studies": [VIEW.json([result]) for result in results]}
    result = results[0]
    g = result.components
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
        **picked(g, "design n_instances n_runs df" if g.design == "nested" else ""),
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
    found = (
        stability(material.scores, measure=name, n_topics=sizes, rng=settings.seed)
        for name in material.scores.measures
    )
    return tuple(one for one in found if isinstance(one, StabilityResult))


PART = part_of(VIEW, run=_run, why_not=lambda material: material.more_than_topics)

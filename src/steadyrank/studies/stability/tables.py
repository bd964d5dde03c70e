"""Stability, as tables that paste into a proposal or a paper."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from steadyrank.present.cells import interval, name, number, percent, size, size_interval, titled
from steadyrank.present.json import picked, to_json
from steadyrank.present.table import Cell, Table, exact_table, render, text_rows, with_words
from steadyrank.stats.interval import Interval
from steadyrank.stats.planning.variance_facets import FacetComponents
from steadyrank.studies.stability.study import (
    Coefficients,
    StabilityResult,
    TopicsNeeded,
    facet_words,
)
from steadyrank.words import counted


def stability_json(results: Sequence[StabilityResult]) -> dict[str, Any]:
    """The promised keys of one measure; of several, a list of such objects."""
    if len(results) > 1:
        return {"studies": [stability_json([result]) for result in results]}
    result = results[0]
    g = result.components
    facets = "facet design n_instances n_runs df" if isinstance(g, FacetComponents) else ""
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
        "leave_one_out": result.leave_one_out and result.leave_one_out.row(),
        "leading_group": result.leading_group and result.leading_group.row(),
        **picked(g, facets),
    }


def stability_text(
    results: Sequence[StabilityResult], form: str, *, digits: int = 4, **looks: Any
) -> str:
    """The results in one of the output formats; CSV holds the D-study."""
    if form == "json":
        return to_json(stability_json(results))
    if form == "csv":
        return render(exact_table([row for result in results for row in result.rows()]), "csv")
    parts = []
    for result in results:
        tables = [
            _components_table(result, digits),
            *_decision_tables(result, digits),
            *_influence_tables(result),
        ]
        parts.append(with_words([], tables, stability_notes(result), form, **looks))
    return "\n".join(parts)


def stability_notes(result: StabilityResult) -> list[str]:
    """The answer in words, and what was odd."""
    g, own = result.components, result.coefficients[0]
    ends = own.e_rho2_interval, own.phi_interval
    e_rho2, phi = (interval(pair, ".3f").text for pair in ends)
    notes = [
        f"{counted(own.topics, 'topic')}{_facet(result, ' × ', own.instances)} order systems like "
        f"these with E rho² {own.e_rho2:.3f} {e_rho2} and measure them "
        f"with Phi {own.phi:.3f} {phi} (1 is perfect)."
    ]
    notes += _influence_notes(result)
    if isinstance(g, FacetComponents) and g.variance["system"] > 0.0:
        notes += _facet_notes(g)
    notes += [
        f"The {part} component came out as {value:.3g} and counts as 0: it is too small to be "
        "estimated here."
        for part, value in g.raw.items()
        if value < 0.0
    ]
    if g.variance["system"] == 0.0:
        notes.append("No number of topics separates systems that do not differ.")
    return notes


def _influence_notes(result: StabilityResult) -> list[str]:
    """That one system carries E rho², and what the leading group has."""
    left, group, notes = result.leave_one_out, result.leading_group, []
    if left is not None and left.is_carried:
        notes.append(
            f"E rho² rests on one system: without {left.system} it is {left.e_rho2_without:.3f}, "
            f"not {result.e_rho2:.3f}."
        )
    if group is not None:
        notes.append(
            f"The best {len(group.systems)} of {result.components.n_systems} systems by mean are "
            f"ordered with E rho² {group.e_rho2:.3f} and measured with Phi {group.phi:.3f}."
        )
    return notes


def _influence_tables(result: StabilityResult) -> list[Table]:
    left, group = result.leave_one_out, result.leading_group
    rows = [["all systems", f"{result.e_rho2:.3f}", f"{result.phi:.3f}"]]
    if left is not None:
        without = f"{left.e_rho2_without:.3f}", f"{left.phi_without:.3f}"
        spans = (f"{low:.3f} to {high:.3f}" for low, high in (left.e_rho2, left.phi))
        rows += [[f"without {left.system}", *without], ["without each in turn", *spans]]
    if group is not None:
        best = f"the best {len(group.systems)} by mean"
        rows.append([best, f"{group.e_rho2:.3f}", f"{group.phi:.3f}"])
    caption = (
        "Do the coefficients rest on single systems? Without the one whose absence changes E rho² "
        "most; the range without each in turn; and the better half by mean, at most 20."
    )
    header = [result.measure, "E rho²", "Phi"]
    return [Table(header=header, rows=text_rows(rows), caption=caption)] if rows[1:] else []


def _facet_notes(g: FacetComponents) -> list[str]:
    """How far topics alone could lead, and what unequal numbers of runs mean."""
    most = {k: g.e_rho2(math.inf, k) for k in dict.fromkeys((1, g.n_instances))}
    reached = " and ".join(f"{most[k]:.3f} with {facet_words(k, g.facet)}" for k in most)
    notes = [f"Infinitely many topics would reach E rho² {reached}."]
    if g.n_instances * g.n_systems != g.n_runs:
        notes.append(
            f"Systems have different numbers of runs ({g.n_runs} in all): each system counts once, "
            f"and {g.n_instances:.3g} is the harmonic mean of these numbers."
        )
    return notes


def _facet(result: StabilityResult, before: str, k: float | None) -> str:
    """A number of instances in words, behind what stands before it; nothing without a facet."""
    g = result.components
    if k is None or not isinstance(g, FacetComponents):
        return ""
    return before + facet_words(k, g.facet)


def _components_table(result: StabilityResult, digits: int) -> Table:
    """The G-study."""
    g, shares, form = result.components, result.variance_share, f".{digits + 1}f"
    header, rows = titled(
        {
            "component": name(part),
            "variance": number(g.variance[part], form),
            "share": percent(shares[part]),
            "mean square": number(g.mean_squares[part], form),
        }
        for part in g.variance
    )
    return Table(header=header, rows=rows, caption=f"G-study: {result.caption()}")


def _decision_tables(result: StabilityResult, digits: int) -> list[Table]:
    """The D-study: coefficients, then topics of levels, in a table of its own if it is long."""
    coefficient = f".{min(digits, 3)}f"
    rows = [
        [
            name(f"{counted(own.topics, 'topic')}{_facet(result, ' × ', own.instances)}"),
            *both_figures(
                own, partial(number, form=coefficient), partial(interval, form=coefficient)
            ),
        ]
        for own in by_size(result)
    ]
    needed = [
        [
            name(f"topics for {topics.level:g}{_facet(result, ', ', topics.instances)}"),
            *both_figures(topics, size, size_interval),
        ]
        for topics in result.topics_needed
    ]
    sure = f"{result.confidence:.0%} interval"
    header = [result.measure, "E rho²", sure, "Phi", sure]
    caption = "D-study: E rho² of the order of systems, Phi of their scores"
    if not result.instances:
        caption += "; topics for levels of both."
        return [Table(header=header, rows=rows + needed, caption=caption)]
    return [
        Table(header=header, rows=rows, caption=f"{caption}."),
        Table(header=header, rows=needed, caption="D-study: topics for levels of both."),
    ]


def by_size(result: StabilityResult) -> list[Coefficients]:
    """The coefficients of the D-study, the fewest topics first."""
    return sorted(result.coefficients, key=lambda own: (own.topics, own.instances or 0))


def both_figures(
    figures: Coefficients | TopicsNeeded,
    cell: Callable[[float], Cell],
    ends: Callable[[Interval], Cell],
) -> list[Cell]:
    """E rho² and Phi as `cell` writes them, each with its interval as `ends` does."""
    return [
        cell(figures.e_rho2),
        ends(figures.e_rho2_interval),
        cell(figures.phi),
        ends(figures.phi_interval),
    ]

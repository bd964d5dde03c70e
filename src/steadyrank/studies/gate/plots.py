"""Figures of `gate`: differences with their margins, and totals over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steadyrank.present.figures import Plot, tell
from steadyrank.present.plot_style import QUIET, label, legend, look, name_rows, panels, rows_height
from steadyrank.studies.gate.view import VIEW

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.gate.result import GateHistory, GateResult

COLOURS = {
    "pass": look(2)["color"],
    "fail": look(1)["color"],
    "cannot tell": QUIET,
    "holes": look(3)["color"],
}


def draw_gate(result: GateResult, ax: Axes) -> None:
    """Draw the difference of each measure and segment with its limits and a tick at its margin."""
    rows = (*result.measures, *result.segments)
    for place, row in enumerate(rows):
        colour = COLOURS[row.verdict]
        if np.isfinite(row.interval).all():
            ax.plot(row.interval, (place, place), color=colour, linewidth=1.6)
        (dot,) = ax.plot(row.difference, place, "o", color=colour, markersize=5)
        tell(dot, [f"{row.name}: {row.difference:+.4f}, margin {row.margin:g}, {row.verdict}"])
        margin = row.margin if row.lower_is_better else -row.margin
        ends = row.interval if result.is_rebuild else (margin,)
        for end in ends:
            ax.plot([end] * 2, (place - 0.35, place + 0.35), color="black", linewidth=1.4)
    ax.axvline(0.0, color=QUIET, linewidth=0.8)
    name_rows(ax, [f"{row.name}: {row.verdict}" for row in rows])
    sure = f"{100.0 * (1.0 - result.alpha):g}%"
    limits = f"candidate − baseline, with one-sided {sure} limits;\nbars: −margin"
    builds = "candidate − mean of the builds; bars: prediction interval of a further build"
    label(ax, x=builds if result.is_rebuild else limits)


def draw_history(result: GateHistory, ax: Axes) -> None:
    """Draw the difference from the first baseline after each gate, one panel per measure."""
    rows = [row for gate in result.gates for row in gate["measures"]]
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    made = panels(ax, len(measures), across=1) if len(measures) > 1 else [ax]
    for panel, measure in zip(made, measures, strict=True):
        _draw_measure(result, panel, measure)


def _draw_measure(result: GateHistory, ax: Axes, measure: str) -> None:
    gates = [
        (place, row.get("verdict", gate["verdict"]), row)
        for place, gate in enumerate(result.gates, start=1)
        for row in gate["measures"]
        if row["measure"] == measure and row["total"] is not None
    ]
    places = [place for place, _, _ in gates]
    if gates:
        low, high = zip(*(row["total_interval"] for *_, row in gates), strict=True)
        ax.fill_between(places, low, high, color=look(0)["color"], alpha=0.18, linewidth=0)
        totals = [row["total"] for *_, row in gates]
        ax.plot(places, totals, color=look(0)["color"], linewidth=1.2)
        margins = [
            row["margin"] if row.get("lower_is_better") else -row["margin"] for *_, row in gates
        ]
        ax.plot(places, margins, color="black", linestyle="--", linewidth=0.8, label="−margin")
    for verdict, colour in COLOURS.items():
        dots = [(place, row["total"]) for place, own, row in gates if own == verdict]
        if dots:
            look_of = {"color": colour, "markersize": 5, "label": verdict}
            (drawn,) = ax.plot(*zip(*dots, strict=True), "o", **look_of)
            tell(drawn, [f"gate {place}: {total:+.4f}, {verdict}" for place, total in dots])
    ax.axhline(0.0, color=QUIET, linewidth=0.8)
    ax.locator_params(axis="x", integer=True)
    label(ax, x="gate", y=f"{measure} − first baseline")
    legend(ax)


def _history_words(result: GateHistory) -> str:
    drifted = [row["measure"] for row in result.drifted()]
    which = f"significantly below it: {', '.join(drifted)}" if drifted else "none beyond its margin"
    return (
        f"Difference from the first baseline after each of {len(result.gates)} gates, with limits; "
        f"{which}."
    )


PLOTS = {
    "GateResult": {
        "gate": Plot(
            draw_gate,
            lambda result: (6.4, rows_height(len(result.measures) + len(result.segments))),
            lambda result: VIEW.findings(result)[0].text,
        )
    },
    "GateHistory": {
        "history": Plot(
            draw_history,
            lambda result: (6.4, 2.8 * max(1, len(result.gates[-1]["measures"]))),
            _history_words,
        )
    },
}
"""Class of a result to its kinds of plot, the default first."""

"""The figure of `gate`: differences with their margins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steadyrank.present.figures import Plot, tell
from steadyrank.present.plot_style import QUIET, label, look, name_rows, rows_height
from steadyrank.studies.gate.view import VIEW

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.gate.result import GateResult

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


PLOTS = {
    "GateResult": {
        "gate": Plot(
            draw_gate,
            lambda result: (6.4, rows_height(len(result.measures) + len(result.segments))),
            lambda result: VIEW.findings(result)[0].text,
        )
    }
}
"""Class of a result to its kinds of plot, the default first."""

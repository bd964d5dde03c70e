"""Figure of `plan`: topics against the minimum difference and the number of systems, and power
against topics (Sakai & Shang, EVIA 2016).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steadyrank.present.figures import Plot
from steadyrank.present.plot_style import QUIET, label, legend, look, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.plan.study import Against, PlanResult


_AXES = {
    "minimum_difference": "minimum difference",
    "systems": "number of systems",
    "topics": "number of topics",
    "width": "expected width of the interval",
}


def draw_plan_curves(result: PlanResult, ax: Axes) -> None:
    """Draw topics against difference, systems or width, and power against topics, in panels."""
    kinds = result.curves
    several = len(kinds) > 1
    axes = panels(ax, len(kinds), across=3, sharey=False) if several else [ax]
    for panel, against in zip(axes, kinds, strict=True):
        _draw_curve(result, panel, against)


def _draw_curve(result: PlanResult, ax: Axes, against: Against) -> None:
    """Draw one curve, with the plan marked on it."""
    curve = result.curve(against)
    is_power = curve.against == "topics"
    for place, row in enumerate(result.plans):
        values = (curve.power if is_power else curve.topics)[place]
        colour = look(place)["color"]
        ax.plot(curve.values, values, color=colour, linewidth=1.2, label=row.measure)
        if is_power:
            ax.plot(row.topics, row.power, markersize=5, **look(place))
        elif result.given_topics is None:
            asked = getattr(result.demands, curve.against)
            ax.plot(asked, row.topics, markersize=5, **look(place))
    label(ax, x=_AXES[curve.against], y="power" if is_power else "topics")
    if not is_power and curve.topics.max() > 20 * max(1, np.median(curve.topics)):
        ax.set_yscale("log")  # otherwise small differences flatten the rest of the curve
    else:
        ax.set_ylim(bottom=0, auto=True)
    if is_power:
        ax.axhline(1.0 - result.demands.beta, color=QUIET, linestyle="--", linewidth=0.8)
    if len(result.plans) > 1:
        legend(ax)


PLOTS = {
    "PlanResult": {
        "curves": Plot(
            draw_plan_curves,
            lambda result: (3.6 * len(result.curves) + 1, 3.6),
            "Topics that {n_plans} measures require, and their power, with the plan marked on "
            "each curve.",
        )
    }
}

"""Plans, drawn: what more topics or systems would buy.

Topics against the minimum difference and against the number of systems (Sakai & Shang, EVIA 2016),
power against topics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steadyrank.present.figures import Plot
from steadyrank.present.plot_style import QUIET, fixed, label, legend, look, panels
from steadyrank.present.svg import tell

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.plan.result import Against, PlanCurve, PlanResult


_AXES = {
    "minimum_difference": "minimum difference",
    "systems": "number of systems",
    "topics": "number of topics",
    "width": "expected width of the interval",
}


def draw_plan_curves(result: PlanResult, ax: Axes) -> None:
    """What the plan's topics depend on, a panel each: difference, systems or width, and power."""
    kinds = result.curves
    if len(kinds) == 1:
        draw_plan_curve(result, ax, against=kinds[0])
        return
    for panel, against in zip(panels(ax, len(kinds), across=3, sharey=False), kinds, strict=True):
        draw_plan_curve(result, panel, against=against)


def draw_plan_curve(result: PlanResult, ax: Axes, *, against: Against | None = None) -> None:
    """One curve of the plan, and where on it the plan stands."""
    curve = result.curve(against or result.curves[0])
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
        ax.set_yscale("log")  # small differences would press all others onto the axis
    else:
        ax.set_ylim(bottom=0, auto=True)
    if is_power:
        ax.axhline(1.0 - result.demands.beta, color=QUIET, linestyle="--", linewidth=0.8)
    if len(result.plans) > 1:
        legend(ax)


def draw_curve(result: PlanCurve, ax: Axes) -> None:
    """Topics, or with given topics the power, against what the curve varies."""
    power = result.against == "topics"
    for place, measure in enumerate(result.measures):
        values = (result.power if power else result.topics)[place]
        (line,) = ax.plot(
            result.values, values, markersize=4, linewidth=1.2, label=measure, **look(place)
        )
        line.set_markevery(max(1, len(values) // 15))
        tell(line, [measure])
    ax.set_ylim(bottom=0)
    label(ax, x=result.against.replace("_", " "), y="power" if power else "topics")
    if len(result.measures) > 1:
        legend(ax)


PLOTS = {
    "PlanResult": {
        "curves": Plot(
            draw_plan_curves,
            lambda result: (3.6 * len(result.curves) + 1, 3.6),
            "Topics that {n_plans} measures require, and their power, with the plan marked on "
            "each curve.",
        ),
        "curve": Plot(
            draw_plan_curve,
            fixed(5.6, 4.0),
            "One curve for each of {n_plans} measures, with the plan marked on it.",
        ),
    },
    "PlanCurve": {
        "curve": Plot(
            draw_curve,
            fixed(5.6, 4.0),
            lambda result: (
                f"{'Power' if result.against == 'topics' else 'Number of topics'} against "
                f"{result.against.replace('_', ' ')}, one curve per measure."
            ),
        )
    },
}

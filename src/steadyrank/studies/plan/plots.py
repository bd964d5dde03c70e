"""Plans and stability, drawn: what more topics, systems or instances would buy.

Topics against the minimum difference and against the number of systems (Sakai & Shang, EVIA 2016),
power against topics; E rho² and Phi against topics, a line for each number of instances.
`steadyrank.studies.plotting` lists the drawings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steadyrank.present.figures import Plot
from steadyrank.present.plot_style import QUIET, Drawing, fixed, label, legend, look, panels
from steadyrank.stats.planning.variance_facets import FacetComponents

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.plan.measures import Against
    from steadyrank.studies.plan.study import PlanResult
    from steadyrank.studies.stability.study import StabilityResult, StabilityTable

N_POINTS = 40
"""Numbers of topics at which intervals are drawn."""

MOST_TOPICS = 1000
"""Where curves end if a level needs more topics than that."""

_AXES = {
    "minimum_difference": "minimum difference",
    "systems": "number of systems",
    "topics": "number of topics",
    "width": "expected width of the interval",
}


def draw_plan_curves(result: PlanResult, ax: Axes) -> None:
    """What the plan's topics depend on, a panel each: difference, systems or width, and power."""
    kinds = plan_curves(result)
    if len(kinds) == 1:
        draw_plan_curve(result, ax, against=kinds[0])
        return
    for panel, against in zip(panels(ax, len(kinds), across=3, sharey=False), kinds, strict=True):
        draw_plan_curve(result, panel, against=against)


def draw_plan_curve(result: PlanResult, ax: Axes, *, against: Against | None = None) -> None:
    """One curve of the plan, and where on it the plan stands."""
    curve = result.curve(against or plan_curves(result)[0])
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


def plan_curves(result: PlanResult) -> tuple[Against, ...]:
    """What this plan has curves against, topics last."""
    demands = result.demands
    if demands.method == "interval":
        return ("width",)
    if demands.minimum_difference is None:
        return ("minimum_difference",)
    if demands.method == "ttest":
        return ("minimum_difference", "topics")
    return ("minimum_difference", "systems", "topics")


def draw_e_rho2(result: StabilityResult, ax: Axes) -> None:
    """E rho² against the number of topics, a line for each number of instances."""
    _draw_coefficient(result, ax, "e_rho2")


def draw_phi(result: StabilityResult, ax: Axes) -> None:
    """Phi against the number of topics, a line for each number of instances."""
    _draw_coefficient(result, ax, "phi")


def draw_stability(result: StabilityResult, ax: Axes) -> None:
    """E rho² and Phi against the number of topics, side by side, with the levels asked for."""
    for panel, kind in zip(panels(ax, 2, across=2), ("e_rho2", "phi"), strict=True):
        _draw_coefficient(result, panel, kind)


def draw_stability_table(result: StabilityTable, ax: Axes) -> None:
    """E rho² and Phi against the number of topics, a row of panels for each measure."""
    made = panels(ax, 2 * len(result.results), across=2)
    for row, study in enumerate(result.results):
        for panel, kind in zip(made[2 * row : 2 * row + 2], ("e_rho2", "phi"), strict=True):
            _draw_coefficient(study, panel, kind)


def _draw_coefficient(result: StabilityResult, ax: Axes, kind: str) -> None:
    g, sizes = result.components, _topics_shown(result)
    smooth = np.linspace(1, sizes[-1], 200)
    # From the fewest instances to the most, as the lines stand from the bottom to the top.
    numbers: list[Any] = sorted(result.instances) or [None]
    for place, k in enumerate(numbers):
        with_instances = () if k is None else (k,)
        values = [getattr(g, kind)(n, *with_instances) for n in smooth]
        style = {"color": look(place)["color"]}
        ax.plot(smooth, values, linewidth=1.4, label=_instances(result, k), **style)
        if k is None or k == result.instances[0]:
            found = result.d_study(sizes.tolist(), with_instances)
            low, high = zip(*(getattr(each, f"{kind}_interval") for each in found), strict=True)
            ax.fill_between(sizes, low, high, alpha=0.18, linewidth=0, **style)
            own = getattr(result.coefficients[0], kind)
            ax.plot(g.n_topics, own, markersize=5, **look(place))
    for level in dict.fromkeys(needed.level for needed in result.topics_needed):
        ax.axhline(level, color=QUIET, linestyle="--", linewidth=0.8)
    ax.set_xlim(0, sizes[-1])
    ax.set_ylim(0, 1.0)
    name = "E rho²" if kind == "e_rho2" else "Phi"
    label(ax, x="number of topics", y=f"{name} of {result.measure}")
    if numbers != [None]:
        legend(ax, loc="best")


def _instances(result: StabilityResult, k: float | None) -> str:
    if k is None or not isinstance(result.components, FacetComponents):
        return ""
    from steadyrank.studies.stability.study import facet_words

    return facet_words(k, result.components.facet)


def _topics_shown(result: StabilityResult) -> np.ndarray:
    """From 1 topic to twice the collection's, to those asked for and to those that levels need."""
    asked = [each.topics for each in result.coefficients]
    own = result.topics_needed[: len({each.level for each in result.topics_needed})]
    needed = [n for each in own for n in (each.e_rho2, each.phi) if n <= MOST_TOPICS]
    last = max([2 * result.components.n_topics, *asked, *needed])
    return np.union1d(np.round(np.geomspace(1, last, N_POINTS)).astype(int), asked)


PLAN_DRAWINGS: dict[str, dict[str, Drawing]] = {
    "PlanResult": {
        "curves": (draw_plan_curves, lambda result: (3.6 * len(plan_curves(result)) + 1, 3.6)),
        "curve": (draw_plan_curve, fixed(5.6, 4.0)),
    },
    "StabilityResult": {
        "coefficients": (draw_stability, fixed(8.4, 3.8)),
        "e_rho2": (draw_e_rho2, fixed(5.6, 4.0)),
        "phi": (draw_phi, fixed(5.6, 4.0)),
    },
    "StabilityTable": {
        "coefficients": (draw_stability_table, lambda table: (8.4, 3.4 * len(table.results) + 0.4))
    },
}
"""Class of a result to its kinds of plot, the default first."""


PLOTS = {
    name: {kind: Plot(*drawing) for kind, drawing in kinds.items()}
    for name, kinds in PLAN_DRAWINGS.items()
}
"""Class of a result to its kinds of plot, the default first."""

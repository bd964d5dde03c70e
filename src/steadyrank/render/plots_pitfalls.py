"""What can go wrong with non-deterministic systems, drawn; and the curves of a plan.

Figures 2, 3, 4, 7, 9 and 10 of Jayasinghe et al. (IP&M 2015) on their simulation or on the
user's data. `steadyrank.render.plots` lists the drawings.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.instance_agreement import MethodPvalues, PoolPvalues
    from steadyrank.studies.instance_pitfalls import (
        Contradictions,
        EquivalenceIntervals,
        SingleInstanceShares,
    )
    from steadyrank.studies.plan import PlanCurve

Drawings = dict[str, tuple[Callable[..., None], Callable[[Any], tuple[float, float]]]]


def draw_shares(result: SingleInstanceShares, ax: Axes) -> None:
    """Share of significant instances over mean and spread of the instance effect: Figure 2."""
    grid = ax.pcolormesh(
        result.spreads,
        result.means,
        result.share,
        cmap="cividis",
        vmin=0,
        vmax=1,
        shading="nearest",
    )
    ax.figure.colorbar(grid, ax=ax, label=f"instances significant at {result.alpha:g}")
    ax.set_xlabel("standard deviation of the instance effect")
    ax.set_ylabel("mean of the instance effect")


def draw_intervals(result: EquivalenceIntervals, ax: Axes) -> None:
    """Intervals of a difference that is 0 against topics, with the margin: Figure 3."""
    from steadyrank.render.plots import COLOURS, QUIET

    ax.fill_between(result.sizes, result.low, result.high, color=COLOURS[0], alpha=0.3, lw=0)
    for margin in (-result.delta, result.delta):
        ax.axhline(margin, color=COLOURS[1], linestyle="--", lw=1)
    ax.axhline(0, color=QUIET, lw=0.8)
    ax.set_xlabel("topics")
    ax.set_ylabel(f"{100 * result.level:g}% interval of the difference")


def draw_agreement(
    result: MethodPvalues, ax: Axes, *, first: str | None = None, second: str | None = None
) -> None:
    """p-values of two tests against each other: Figures 4 and 11."""
    from steadyrank.render.plots import COLOURS, QUIET

    x, y = first or result.methods[0], second or result.methods[1]
    ax.plot([0, 1], [0, 1], color=QUIET, lw=0.8)
    ax.plot(result.of(x), result.of(y), ".", markersize=3, color=COLOURS[0], alpha=0.5)
    ax.set_xlabel(f"p, {x.replace('_', ' ')}")
    ax.set_ylabel(f"p, {y.replace('_', ' ')}")


def draw_descending(result: MethodPvalues, ax: Axes) -> None:
    """Each test's p-values from the largest down: Figure 10."""
    from steadyrank.render.plots import COLOURS

    for place, (method, values) in enumerate(zip(result.methods, result.descending(), strict=True)):
        colour = COLOURS[place % len(COLOURS)]
        ax.plot(np.arange(1, len(values) + 1), values, color=colour, label=method.replace("_", " "))
    ax.set_xlabel("comparisons, by p")
    ax.set_ylabel("p")
    ax.legend(frameon=False, fontsize="small")


def draw_contradictions(result: Contradictions, ax: Axes, *, level: float | None = None) -> None:
    """Instances significantly better and worse than the baseline, by system: Figure 7."""
    from steadyrank.render.plots import COLOURS, QUIET

    place = 0 if level is None else result.levels.index(level)
    rows = np.arange(len(result.systems))
    ax.barh(rows, result.better[:, place], color=COLOURS[0], label="better")
    ax.barh(rows, -result.worse[:, place], color=COLOURS[1], label="worse")
    ax.axvline(0, color=QUIET, lw=0.8)
    ax.set_yticks(rows, list(result.systems), parse_math=False)
    ax.invert_yaxis()
    ax.set_xlabel(f"instances significant at {result.levels[place]:g}, worse and better")
    ax.legend(frameon=False, fontsize="small")


def draw_pools(result: PoolPvalues, ax: Axes, *, method: str | None = None) -> None:
    """p-values of resampled pools against their number of instances: Figure 9."""
    from steadyrank.render.plots import COLOURS

    place = 0 if method is None else result.methods.index(method)
    values = [pool[~np.isnan(pool)] for pool in result.pvalues[place]]
    ax.boxplot(
        values, tick_labels=[str(size) for size in result.sizes], flierprops={"markersize": 3}
    )
    if not np.isnan(result.whole[place]):
        ax.axhline(result.whole[place], color=COLOURS[1], linestyle="--", lw=1)
    ax.set_ylim(0, 1)
    ax.set_xlabel("instances in a pool")
    ax.set_ylabel(f"p, {result.methods[place].replace('_', ' ')}")


def draw_plan(result: PlanCurve, ax: Axes) -> None:
    """Topics, or with given topics the power, against what the curve was asked for."""
    from steadyrank.render.plots import COLOURS, MARKERS

    power = result.against == "topics"
    for place, measure in enumerate(result.measures):
        values = (result.power if power else result.topics)[place]
        ax.plot(result.values, values, color=COLOURS[place % len(COLOURS)],
                marker=MARKERS[place % len(MARKERS)], markersize=4, label=measure)  # fmt: skip
    ax.set_xlabel(result.against.replace("_", " "))
    ax.set_ylabel("power" if power else "topics")
    if len(result.measures) > 1:
        for text in ax.legend(frameon=False, fontsize="small").get_texts():
            text.set_parse_math(False)


def _size(width: float, height: float) -> Callable[[Any], tuple[float, float]]:
    return lambda result: (width, height)


PITFALL_DRAWINGS: dict[str, Drawings] = {
    "SingleInstanceShares": {"shares": (draw_shares, _size(5.6, 4.4))},
    "EquivalenceIntervals": {"intervals": (draw_intervals, _size(5.6, 3.6))},
    "MethodPvalues": {
        "agreement": (draw_agreement, _size(4.6, 4.4)),
        "descending": (draw_descending, _size(5.6, 4.0)),
    },
    "Contradictions": {"directions": (draw_contradictions, _size(6.0, 3.6))},
    "PoolPvalues": {"pools": (draw_pools, _size(5.6, 4.0))},
    "PlanCurve": {"curve": (draw_plan, _size(5.6, 4.0))},
}
"""Class of a result to its kinds of plot, the default first."""

"""What `pools` found, drawn: the variance against the teams left out, with intervals.

Figures 1 and 2 of Sakai & Shang (EVIA 2016): a panel for each measure, a line for each number of
pilot topics. `steadyrank.render.plots` lists the drawings.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from steadyrank.errors import unknown_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.pool_results import PoolsResult

ACROSS = 3
"""Panels beside each other."""

APART = 0.12
"""How far lines with different numbers of pilot topics stand apart, in teams."""


def draw_variances(result: PoolsResult, ax: Axes, *, measure: str | None = None) -> None:
    """Mean variance over trials and its interval against k; dashed, the one by all data.

    One measure, or a panel for each.
    """
    if measure is not None and measure not in result.measures:
        raise unknown_name("measure", measure, result.measures)
    measures = result.measures if measure is None else (measure,)
    # Axes outside a grid have room for one panel.
    for name, panel in zip(measures, _panels(ax, len(measures)), strict=False):
        _draw_one(result, panel, name)


def _panels(ax: Axes, count: int) -> list[Axes]:
    """The axes, and others beside and below, in the room that the axes had."""
    from steadyrank.render.plots import _tidy

    cell, figure = ax.get_subplotspec(), ax.get_figure()
    if count == 1 or cell is None or figure is None:
        return [ax]
    grid = cell.subgridspec(math.ceil(count / ACROSS), min(count, ACROSS))
    ax.set_subplotspec(grid[0, 0])
    panels = [ax, *(figure.add_subplot(grid[divmod(i, ACROSS)]) for i in range(1, count))]
    for panel in panels[1:]:
        _tidy(panel)
    return panels


def _draw_one(result: PoolsResult, ax: Axes, measure: str) -> None:
    from matplotlib.ticker import MaxNLocator

    from steadyrank.render.plots import COLOURS, MARKERS, QUIET

    (reference,) = (row for row in result.references if row.measure == measure)
    ax.axhline(reference.variance, color=QUIET, linewidth=0.8, linestyle="--")
    places = np.array([0, *result.ks])
    for s, size in enumerate(result.pilot_topics):
        cells = [result.cell(measure, k, size) for k in places.tolist()]
        arms = [0.0 if cell.interval is None else cell.interval[1] - cell.mean for cell in cells]
        shift = APART * (s - (len(result.pilot_topics) - 1) / 2)
        ax.errorbar(
            places + shift, [cell.mean for cell in cells], yerr=arms, label=f"{size} topics",
            color=COLOURS[s % len(COLOURS)], marker=MARKERS[s % len(MARKERS)], markersize=4,
            linewidth=1.2, elinewidth=1.0, capsize=2,
        )  # fmt: skip
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel(f"teams left out, of {len(result.teams)}")
    ax.set_ylabel(f"variance of {measure}", parse_math=False)
    if len(result.pilot_topics) > 1:
        ax.legend(frameon=False)


def _size(result: PoolsResult) -> tuple[float, float]:
    count = len(result.measures)
    return 0.8 + 4.4 * min(count, ACROSS), 0.4 + 3.4 * math.ceil(count / ACROSS)


POOL_DRAWINGS: dict[str, tuple[Callable[..., None], Callable[[Any], tuple[float, float]]]] = {
    "variance": (draw_variances, _size),
}
"""Kind of plot to what draws it and the inches that it needs, the default first."""

"""The figure of `pools`: the variance by the number of teams left out.

Figures 1 and 2 of Sakai & Shang (EVIA 2016), with a panel for each measure and a line for each
number of pilot topics.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from steadyrank.errors import check_choice
from steadyrank.present import plot_style as style
from steadyrank.present.figures import Plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.pools.study import PoolsResult

ACROSS = 3
"""Number of panels in a row."""

APART = 0.12
"""Horizontal distance of lines with different numbers of pilot topics, in teams."""


def draw_variances(result: PoolsResult, ax: Axes, *, measure: str | None = None) -> None:
    """Draw the mean variance over trials and their range by k, and the variance of all data.

    It has one measure, or a panel for each. In paper mode the interval of the mean is drawn.
    """
    ks = np.array([0, *result.ks])
    by_all = {reference.measure: reference.variance for reference in result.references}
    for name, panel in _panels_of(result, ax, measure):
        panel.axhline(by_all[name], color=style.QUIET, linewidth=0.8, linestyle="--")
        for s, size in enumerate(result.pilot_topics):
            cells = [result.cell(name, k, size) for k in ks.tolist()]
            means = np.array([cell.mean for cell in cells])
            ends = [cell.interval or cell.extent or (cell.mean, cell.mean) for cell in cells]
            texts = [
                f"{k} teams left out, {size} pilot topics: variance {mean:.4g}"
                for k, mean in zip(ks, means, strict=True)
            ]
            arms = np.nan_to_num(np.abs(np.array(ends).T - means))
            x = ks + APART * (s - (len(result.pilot_topics) - 1) / 2)
            looks = {"label": f"{size} topics", "linewidth": 1.2, "capsize": 2, **style.look(s)}
            style.error_bars(panel, x, means, texts, yerr=arms, **looks)
        style.whole_numbers(panel)
        style.label(panel, x=f"teams left out, of {len(result.teams)}", y=f"variance of {name}")
        if len(result.pilot_topics) > 1:
            style.legend(panel)


def _panels_of(result: PoolsResult, ax: Axes, measure: str | None) -> list[tuple[str, Axes]]:
    if measure is not None:
        check_choice("measure", measure, result.measures)
    measures = result.measures if measure is None else (measure,)
    if len(measures) == 1 or ax.get_subplotspec() is None:
        return [(measures[0], ax)]  # axes outside a grid have room for one panel
    made = style.panels(ax, len(measures), across=ACROSS, sharey=False)
    return list(zip(measures, made, strict=True))


def _size(result: PoolsResult) -> tuple[float, float]:
    count = len(result.measures)
    return 0.8 + 4.4 * min(count, ACROSS), 0.4 + 3.4 * math.ceil(count / ACROSS)


PLOTS = {
    "PoolsResult": {
        "variance": Plot(
            draw_variances,
            _size,
            "Variance of {n_measures} measures with intervals by the number of {n_teams} teams "
            "left out, and that of all data.",
        )
    }
}

"""The figure of `evaluate`: means over topics with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steadyrank.present import plot_style as style
from steadyrank.present.figures import Plot
from steadyrank.stats.run_means import adjusted_means, best_first, intervals_as_picked

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.data.scores import Scores


def draw_means(
    result: Scores, ax: Axes, *, measure: str | None = None, level: float = 0.95
) -> None:
    """Draw each run's mean over topics with its interval, the best first.

    All runs have the same topics, so that runs with overlapping intervals may differ significantly.
    """
    name = measure or result.measures[0]
    matrix, sign = result.matrix(name), -1.0 if result.lower_is_better(name) else 1.0
    low, high = np.sort(sign * intervals_as_picked(sign * matrix, level), axis=1).T
    mean = adjusted_means(matrix)
    arms = np.nan_to_num(np.stack([mean - low, high - mean]))
    n = (~np.isnan(matrix)).sum(axis=1)
    order = best_first(sign * mean)
    texts = [
        f"{result.runs[r]}: {mean[r]:.4f} [{low[r]:.4f}, {high[r]:.4f}] on {n[r]} topics"
        for r in order
    ]
    rows, place = np.arange(len(order)), len(ax.containers)
    style.row_bars(ax, mean[order], rows, arms[:, order], texts, place=place)
    style.name_rows(ax, [result.runs[r] for r in order])
    kind = "least-squares mean" if np.isnan(matrix).any() else "mean"
    style.label(
        ax,
        x=f"{kind} {name} with {level:.0%} interval over topics,\nfor one run at a time, "
        "corrected for selection",
    )


PLOTS = {
    "Scores": {
        "means": Plot(
            draw_means,
            style.with_rows("runs", least=1.5),
            "Means of {n_runs} runs over {n_topics} topics with intervals, best first.",
        )
    }
}
"""Class of a result to its kinds of plot, the default first."""

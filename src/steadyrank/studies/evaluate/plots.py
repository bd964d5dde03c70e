"""Scores of runs on topics, drawn: means with intervals, and every run on every topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steadyrank.data.scores import mean_of_present
from steadyrank.present import plot_style as style
from steadyrank.present.figures import Plot
from steadyrank.stats.run_means import adjusted_means, best_first, intervals_as_picked

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.data.scores import Scores


def draw_means(
    result: Scores, ax: Axes, *, measure: str | None = None, level: float = 0.95
) -> None:
    """Each run's mean over topics with its interval, the best first.

    Topics vary together for all runs, so that overlapping intervals do not mean equal runs.
    """
    name = measure or result.measures[0]
    matrix = result.matrix(name)
    low, high = intervals_as_picked(matrix, level).T
    mean = adjusted_means(matrix)
    arms = np.nan_to_num(np.stack([mean - low, high - mean]))
    n = (~np.isnan(matrix)).sum(axis=1)
    order = best_first(mean)
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


def draw_scores(result: Scores, ax: Axes, *, measure: str | None = None) -> None:
    """Scores of every run on every topic: best runs on top, easiest topics on the left."""
    name = measure or result.measures[0]
    matrix = result.matrix(name)
    runs, topics = best_first(adjusted_means(matrix)), best_first(mean_of_present(matrix.T))
    cells = matrix[np.ix_(runs, topics)]
    texts = [
        f"{result.runs[r]} on topic {result.topics[t]}: {matrix[r, t]:.4f}"
        for r in runs
        for t in topics
    ]
    low = min(0.0, float(np.nanmin(cells, initial=0.0)))
    high = max(1.0, float(np.nanmax(cells, initial=0.0)))
    style.heat(ax, cells, low=low, high=high, bar=name, texts=texts)
    style.name_rows(ax, [result.runs[r] for r in runs])
    style.name_columns(ax, [result.topics[t] for t in topics])
    style.label(ax, x="topics, highest mean first")


def _scores_size(result: Scores) -> tuple[float, float]:
    n_runs, n_topics = (min(len(names), style.MOST_NAMES) for names in (result.runs, result.topics))
    return 3.4 + 0.16 * n_topics, max(2.6, 1.6 + 0.17 * n_runs)


PLOTS = {
    "Scores": {
        "means": Plot(
            draw_means,
            style.with_rows("runs", least=1.5),
            "Means of {n_runs} runs over {n_topics} topics with intervals, best first.",
        ),
        "heatmap": Plot(
            draw_scores,
            _scores_size,
            "Heat map of the scores of {n_runs} runs on {n_topics} topics, best runs on top and "
            "easiest topics on the left.",
        ),
    }
}
"""Class of a result to its kinds of plot, the default first."""

"""Figures 2 and 3 of Jayasinghe et al. (IP&M 2015), drawn from frames.

Figures 4, 7 and 9 to 11 are drawn as those of `instances` are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd

from steadyrank.present import plot_style as style
from steadyrank.present.svg import tell
from steadyrank_lab.papers.model import blank_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_shares(shares: pd.DataFrame) -> Figure:
    """Share of significant instances over mean and spread of the instance effect: Figure 2."""
    import matplotlib as mpl

    figure, ax = blank_figure(5.6, 4.4)
    shades = mpl.colormaps["cividis"].resampled(style.SHADES)
    looks: dict[str, Any] = {"cmap": shades, "vmin": 0, "vmax": 1, "shading": "nearest"}
    grid = shares.pivot(index="mean", columns="spread", values="share")
    heat = ax.pcolormesh(grid.columns, grid.index, grid, **looks)
    words = "mean {:g}, sd {:g}: {:.1%} ± {:.1%} of the instances"
    rows = shares.sort_values(["mean", "spread"])
    tell(heat, [words.format(*row) for row in rows.itertuples(index=False)])
    ax.grid(visible=False)
    figure.colorbar(heat, ax=ax, label=f"instances significant at {shares.attrs['alpha']:g}")
    style.label(ax, x="standard deviation of the instance effect", y="mean of the instance effect")
    return figure


def draw_intervals(intervals: pd.DataFrame) -> Figure:
    """Intervals of a difference that is 0 against topics, with the margin: Figure 3."""
    figure, ax = blank_figure(5.6, 3.6)
    delta, confidence = intervals.attrs["delta"], intervals.attrs["confidence"]
    low, high = intervals["low"], intervals["high"]
    ax.fill_between(intervals["topics"], low, high, color=style.COLOURS[0], alpha=0.3, lw=0)
    for margin in (-delta, delta):
        words = f"margin ±{delta:g}" if margin > 0 else None
        ax.axhline(margin, color=style.COLOURS[1], linestyle="--", lw=1, label=words)
    ax.axhline(0, color=style.QUIET, lw=0.8)
    style.label(ax, x="topics", y=f"{100 * confidence:g}% interval of the difference")
    style.legend(ax)
    return figure


def drawn_by(
    draw: Callable[..., None],
    frame: pd.DataFrame,
    size: tuple[float, float] = (5.6, 4.0),
    **options: Any,
) -> Figure:
    """A frame on a figure of its own, by a function that draws on axes."""
    figure, ax = blank_figure(*size)
    draw(ax, frame, **options)
    return figure

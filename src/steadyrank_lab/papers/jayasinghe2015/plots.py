"""Figures 2 to 4, 7 and 9 to 11 of Jayasinghe et al. (IP&M 2015), drawn from frames.

Figures 6, 8, 12 and 13 are those of `instances`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from steadyrank.present import plot_style as style
from steadyrank.present.figures import tell

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def shares_on(ax: Axes, shares: pd.DataFrame) -> None:
    """Share of significant instances over mean and spread of the instance effect: Figure 2."""
    import matplotlib as mpl

    shades = mpl.colormaps["cividis"].resampled(style.SHADES)
    looks: dict[str, Any] = {"cmap": shades, "vmin": 0, "vmax": 1, "shading": "nearest"}
    grid = shares.pivot(index="mean", columns="spread", values="share")
    heat = ax.pcolormesh(grid.columns, grid.index, grid, **looks)
    words = "mean {:g}, sd {:g}: {:.1%} ± {:.1%} of the instances"
    rows = shares.sort_values(["mean", "spread"])
    tell(heat, [words.format(*row) for row in rows.itertuples(index=False)])
    ax.grid(visible=False)
    ax.figure.colorbar(heat, ax=ax, label="instances significant at 0.05")
    style.label(ax, x="standard deviation of the instance effect", y="mean of the instance effect")


def intervals_on(ax: Axes, intervals: pd.DataFrame, *, delta: float) -> None:
    """Intervals of a difference that is 0 against topics, with the margin: Figure 3."""
    low, high = intervals["low"], intervals["high"]
    ax.fill_between(intervals["topics"], low, high, color=style.COLOURS[0], alpha=0.3, lw=0)
    for margin in (-delta, delta):
        words = f"margin ±{delta:g}" if margin > 0 else None
        ax.axhline(margin, color=style.COLOURS[1], linestyle="--", lw=1, label=words)
    ax.axhline(0, color=style.QUIET, lw=0.8)
    style.label(ax, x="topics", y="95% interval of the difference")
    style.legend(ax)


def agreement_on(
    ax: Axes, pvalues: pd.DataFrame, *, first: str = "mixed_paper", second: str = "bootstrap"
) -> None:
    """p-values of two tests against each other: Figures 4 and 11."""
    x, y = (test.replace("_", " ") for test in (first, second))
    ax.plot([0, 1], [0, 1], color=style.QUIET, lw=0.8)
    looks: dict[str, Any] = {"marker": ".", "markersize": 3, "color": style.COLOURS[0]}
    texts = [
        f"comparison {i}: {x} {p:.4f}, {y} {q:.4f}"
        for i, (p, q) in enumerate(zip(pvalues[first], pvalues[second], strict=True), 1)
    ]
    style.dots(ax, pvalues[first], pvalues[second], texts, alpha=0.5, **looks)
    style.label(ax, x=f"p, {x}", y=f"p, {y}")


def descending_on(ax: Axes, pvalues: pd.DataFrame) -> None:
    """Each test's p-values from the largest down: Figure 10.

    The lower the curve, the more a test finds; tests that exceed their level have low curves too.
    """
    styles = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
    for test, colour, dashes in zip(pvalues, style.COLOURS, styles, strict=False):
        words = str(test).replace("_", " ")
        values = -np.sort(-pvalues[test].to_numpy())
        looks: Any = {"color": colour, "linestyle": dashes}
        (line,) = ax.plot(range(1, len(values) + 1), values, label=words, linewidth=1.3, **looks)
        tell(line, [words])
    ax.set_ylim(0, 1)
    style.label(ax, x="comparisons, by p", y="p")
    style.legend(ax)


def contradictions_on(ax: Axes, counts: pd.DataFrame) -> None:
    """Instances significantly better and worse than the baseline at one level: Figure 7."""
    at, rows = counts["alpha"].iloc[0], np.arange(len(counts))
    for place, (sign, words, hatch) in enumerate(((1, "better", ""), (-1, "worse", "//"))):
        looks: dict[str, Any] = {"color": style.COLOURS[place], "alpha": 1.0, "height": 0.7}
        looks |= {"hatch": hatch, "edgecolor": "white", "label": f"{words}, p < {at:g}"}
        bars = ax.barh(rows, sign * counts[words], **looks)
        found = zip(counts["system"], counts[words], counts["instances"], strict=True)
        tell(bars, [f"{name}: {i} of {n} instances {words} at {at:g}" for name, i, n in found])
    ax.axvline(0, color=style.QUIET, lw=0.8)
    if not counts[["better", "worse"]].to_numpy().any():  # nothing to take the axis from
        ax.set_xlim(-counts["instances"].max(), counts["instances"].max())
    style.name_rows(ax, counts["system"].tolist())
    ax.xaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
    style.label(ax, x="instances significantly worse (left) and better (right)")
    style.legend_above(ax, loc="lower center")


def pools_on(ax: Axes, pools: pd.DataFrame, *, test: str) -> None:
    """p-values of resampled pools against their number of instances: Figure 9."""
    boxes = {str(size): pool[test].dropna() for size, pool in pools.groupby("instances")}
    looks: Any = {"flierprops": {"markersize": 3}, "medianprops": {"color": style.COLOURS[0]}}
    drawn = ax.boxplot(list(boxes.values()), tick_labels=list(boxes), **looks)
    for line, (size, values) in zip(drawn["medians"], boxes.items(), strict=True):
        ends = f"from {values.min():.4f} to {values.max():.4f}"
        tell(line, [f"{size} instances: median p {values.median():.4f}, {ends}"])
    whole = pools.attrs["all_instances"][test]
    ax.axhline(whole, color=style.COLOURS[1], linestyle="--", lw=1, label="all instances")
    style.legend(ax)
    ax.set_ylim(0, 1)
    style.label(ax, x="instances in a pool", y=f"p, {test.replace('_', ' ')}")

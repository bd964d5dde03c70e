"""What `agree` and `components` found, drawn.

Correlations against the number of systems, a panel a number of topics (Figure 1 of Ferro 2018);
measure pairs by both coefficients (Figure 2); measures by likeness, with their dendrogram and
discriminative power; the levels of a factor with Tukey's intervals.
`steadyrank.render.plots` lists the drawings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from steadyrank.errors import InputError, unknown_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.gridspec import GridSpecFromSubplotSpec

    from steadyrank.studies.agree import AgreeResult
    from steadyrank.studies.components import ComponentsResult

SYMBOLS = {"tau": "tau", "tau_ap": "tau_AP"}
ACROSS = 4
"""Panels side by side, at most."""


def draw_sizes(result: AgreeResult, ax: Axes, *, pair: Sequence[str] | None = None) -> None:
    """Mean correlation of one pair of measures with intervals: Figure 1.

    A panel a number of topics, systems across, both coefficients; `pair` names two measures (the
    first two unless given).
    """
    from steadyrank.render.plots import COLOURS, MARKERS

    chosen = 0 if pair is None else result.pair(*pair)
    panels = _panels(ax, len(result.topic_sizes))
    order = np.argsort(result.system_sizes)
    low = 0.0
    for k, name in enumerate(("tau", "tau_ap")):
        means, ends = (each[chosen] for each in result.means_and_intervals(name))  # type: ignore[arg-type]
        low = min(low, float(np.nanmin(ends, initial=0.0)))
        for panel, mean, limits in zip(panels, means[:, order], ends[:, order], strict=True):
            panel.errorbar(
                np.array(result.system_sizes)[order], mean, yerr=np.abs(limits - mean[:, None]).T,
                label=SYMBOLS[name], color=COLOURS[k], marker=MARKERS[k], markersize=3,
                linewidth=1.0, elinewidth=0.8, capsize=1.5,
            )  # fmt: skip
    for t, panel in enumerate(panels):
        panel.set_title(f"{result.topic_sizes[t]} topics", fontsize="medium")
        panel.set_ylim(low, 1.0)
        panel.set_xlim(left=0)
        if t + ACROSS >= len(panels):
            panel.set_xlabel("systems")
        if t % ACROSS == 0:
            panel.set_ylabel(_text(result.pair_name(chosen)), parse_math=False)
    panels[0].legend(frameon=False, fontsize="small")


def draw_pairs(result: AgreeResult, ax: Axes) -> None:
    """Marginal means of the measure pairs by both coefficients, each centred: Figure 2."""
    from steadyrank.render.plots import COLOURS, MARKERS, QUIET

    rows = result.ranking()
    place = np.arange(len(rows))
    for k, key in enumerate(("tau", "tau_ap")):
        means = np.array([row[key] for row in rows])
        label = f"{SYMBOLS[key]}, mean {means.mean():.3f}"
        ax.plot(means - means.mean(), place, color=COLOURS[k], marker=MARKERS[k], markersize=4,
                linewidth=1.0, label=label)  # fmt: skip
    ax.axvline(0.0, color=QUIET, linewidth=0.8)
    labels = [_ranked(row) for row in rows]
    _rows_of_names(ax, labels)
    ax.set_xlabel(f"mean correlation over all sizes, centred; RMSE {result.rmse:.4f}")
    ax.legend(frameon=False, fontsize="small")


def _ranked(row: dict[str, Any]) -> str:
    """A pair of measures with its ranks by both coefficients."""
    ranks = f"{row['rank_tau']} / {row['rank_tau_ap']}"
    return f"{row['measure_a']} – {row['measure_b']}  ({ranks})"


def draw_measures(result: AgreeResult, ax: Axes) -> None:
    """Measures by tau on all the data: heat map, dendrogram above, discriminative power beside."""
    from steadyrank.render.plots import COLOURS

    like, order = result.likeness, result.likeness.order
    names = [_text(result.measures[i]) for i in order]
    grid = _inside(ax, 2, 2, height_ratios=[1, 4], width_ratios=[4, 1])
    figure: Any = ax.get_figure()
    tree, heat, bars = (figure.add_subplot(cell) for cell in (grid[0, 0], grid[1, 0], grid[1, 1]))
    _draw_tree(tree, like.linkage, len(names))
    tau = like.tau[np.ix_(order, order)]
    heat.imshow(tau, cmap="viridis", vmin=min(0.0, float(np.nanmin(tau))), vmax=1.0, aspect="auto")
    for (i, j), value in np.ndenumerate(tau):
        shade = "black" if value > 0.6 else "white"
        heat.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize="x-small", color=shade)
    ticks = np.arange(len(names))
    heat.set_xticks(ticks, labels=names, rotation=90, parse_math=False)
    heat.set_yticks(ticks, labels=names, parse_math=False)
    heat.set_xlabel(f"tau on {result.n_systems} systems, {result.n_topics} topics")
    bars.barh(ticks, 100.0 * np.nan_to_num(like.discriminative_power[order]), color=COLOURS[0])
    bars.set_yticks([])
    bars.set_ylim(len(names) - 0.5, -0.5)
    bars.set_xlabel("pairs of systems\ntold apart, %")
    bars.spines[["top", "right"]].set_visible(False)


def _draw_tree(ax: Axes, linkage: np.ndarray, n: int) -> None:
    """The dendrogram above its leaves; heights are 1 - tau."""
    from scipy.cluster.hierarchy import dendrogram

    from steadyrank.render.plots import QUIET

    found = dendrogram(linkage, no_plot=True)
    for x, y in zip(found["icoord"], found["dcoord"], strict=True):
        # SciPy puts leaf i at 10 i + 5.
        ax.plot((np.array(x) - 5.0) / 10.0, y, color=QUIET, linewidth=1.0)
    ax.set_xlim(-0.5, n - 0.5)
    ax.set_ylim(bottom=0.0)
    ax.set_xticks([])
    ax.set_ylabel("1 − tau", fontsize="small")
    ax.spines[["top", "right", "bottom"]].set_visible(False)


def draw_levels(result: ComponentsResult, ax: Axes, *, factor: str | None = None) -> None:
    """Means of the levels with Tukey's intervals, which do not overlap where two levels differ.

    A panel a factor; `factor` draws one only.
    """
    from steadyrank.render.plots import COLOURS

    if factor is not None and factor not in result.factors:
        raise unknown_name("factor", factor, result.factors)
    chosen = result.factors if factor is None else (factor,)
    panels = _panels(ax, len(chosen), across=len(chosen), sharey=False)
    for panel, name in zip(panels, chosen, strict=True):
        rows, half = result.ordered_levels(name), result.main_effects[name].half_width
        means = np.array([mean for _, mean in rows])
        panel.errorbar(means, np.arange(len(rows)), xerr=half, linestyle="none", marker="o",
                       markersize=4, capsize=2, elinewidth=1.2, color=COLOURS[0])  # fmt: skip
        # What does not reach this band differs from the best.
        panel.axvspan(means[0] - half, means[0] + half, color=COLOURS[0], alpha=0.12, linewidth=0)
        _rows_of_names(panel, [level for level, _ in rows])
        panel.set_title(_text(name), fontsize="medium", parse_math=False)
        shown = f"mean {result.measure} and {result.level:.0%} HSD interval"
        panel.set_xlabel(_text(shown), parse_math=False)


def _inside(ax: Axes, rows: int, columns: int, **options: Any) -> GridSpecFromSubplotSpec:
    """A grid of places for panels where the axes are, which themselves become invisible."""
    place = ax.get_subplotspec()
    if place is None:
        raise InputError("this plot has several panels: leave ax out, or give one of a grid")
    ax.set_axis_off()
    return place.subgridspec(rows, columns, **options)


def _panels(ax: Axes, n: int, *, across: int = ACROSS, sharey: bool = True) -> list[Axes]:
    columns = min(n, across)
    grid = _inside(ax, math.ceil(n / columns), columns)
    figure: Any = ax.get_figure()
    panels: list[Axes] = []
    for k in range(n):
        shared = panels[0] if sharey and panels else None
        panel = figure.add_subplot(grid[k // columns, k % columns], sharey=shared)
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(color="#dddddd", linewidth=0.6)
        panel.set_axisbelow(True)
        if sharey and k % columns:
            panel.tick_params(labelleft=False)
        panels.append(panel)
    return panels


def _rows_of_names(ax: Axes, names: Sequence[str]) -> None:
    """Names from the top down, not all of them if they are many."""
    from steadyrank.render.plots import MOST_NAMES

    place = np.arange(len(names))[:: math.ceil(len(names) / MOST_NAMES)]
    ax.set_yticks(place, labels=[_text(names[i]) for i in place], parse_math=False)
    ax.set_ylim(len(names) - 0.5, -0.5)


def _text(name: str) -> str:
    """A name as a font can draw it: it may hold bytes that are no text."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name)


def _sizes_size(result: AgreeResult) -> tuple[float, float]:
    n = len(result.topic_sizes)
    return 1.2 + 2.4 * min(n, ACROSS), 0.9 + 2.2 * math.ceil(n / ACROSS)


def _rows_size(result: AgreeResult) -> tuple[float, float]:
    return 6.8, 1.2 + 0.2 * min(len(result.pairs), 150)


def _measures_size(result: AgreeResult) -> tuple[float, float]:
    return 3.4 + 0.45 * len(result.measures), 2.6 + 0.42 * len(result.measures)


def _levels_size(result: ComponentsResult) -> tuple[float, float]:
    longest = max(len(levels) for levels in result.levels.values())
    return 1.0 + 3.0 * len(result.factors), 1.4 + 0.2 * min(longest, 150)


Drawing = tuple[Callable[..., None], Callable[[Any], tuple[float, float]]]

AGREE_DRAWINGS: dict[str, Drawing] = {
    "sizes": (draw_sizes, _sizes_size),
    "pairs": (draw_pairs, _rows_size),
    "measures": (draw_measures, _measures_size),
}
COMPONENT_DRAWINGS: dict[str, Drawing] = {"levels": (draw_levels, _levels_size)}
"""Kind of plot to what draws it and the inches that it needs, the default first."""

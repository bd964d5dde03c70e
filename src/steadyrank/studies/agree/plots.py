"""What `agree` found, drawn.

Correlations against the number of systems, a panel a number of topics (Figure 1 of Ferro 2018);
measure pairs by both coefficients (Figure 2); measures by likeness, with their dendrogram and
discriminative power.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from steadyrank.present import plot_style as style
from steadyrank.present.figures import Plot
from steadyrank.present.svg import tell

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.agree.result import AgreeResult

SYMBOLS = {"tau": "tau", "tau_ap": "tau_AP"}
ACROSS = 4
"""Panels side by side, at most."""


def draw_sizes(result: AgreeResult, ax: Axes, *, pair: Sequence[str] | None = None) -> None:
    """Mean correlation of one pair of measures with intervals: Figure 1.

    A panel a number of topics, systems across, both coefficients; bands hold 95 % of the samples.
    `pair` names two measures (the first two unless given).
    """
    chosen = 0 if pair is None else result.pair(*pair)
    made = style.panels(ax, len(result.topic_sizes), across=ACROSS)
    order = np.argsort(result.system_sizes)
    x = np.array(result.system_sizes)[order]
    low = 0.0
    for k, name in enumerate(("tau", "tau_ap")):
        samples = result.tau if name == "tau" else result.tau_ap
        arrays = [a[chosen] for a in (*result.means_and_intervals(name), samples)]  # type: ignore[arg-type]
        low = min(low, float(np.nanmin(arrays[1], initial=0.0)))
        for panel, *curve in zip(made, *arrays, strict=True):
            mean, limits, drawn = (array[order] for array in curve)
            _draw_curve(panel, x, mean, limits, drawn, k, SYMBOLS[name])
    pair_name = result.pair_name(chosen)
    for t, panel in enumerate(made):
        panel.set_title(f"{result.topic_sizes[t]} topics", fontsize="medium")
        panel.set_ylim(low, 1.0)
        panel.set_xlim(0, 1.05 * x[-1])
        style.whole_numbers(panel, 4)
        if t + ACROSS >= len(made):
            style.label(panel, x="systems")
        if t % ACROSS == 0:
            style.label(panel, y=pair_name)
    style.legend(made[0])


def _draw_curve(
    ax: Axes,
    x: np.ndarray,
    mean: np.ndarray,
    limits: np.ndarray,
    samples: np.ndarray,
    place: int,
    name: str,
) -> None:
    """Means with intervals, and the band of the middle 95 % of the samples."""
    whole = ~np.isnan(samples).any(axis=1)
    band = np.quantile(samples[whole], [0.025, 0.975], axis=1)
    ax.fill_between(x[whole], *band, color=style.COLOURS[place], alpha=0.15, linewidth=0)
    texts = [
        f"{name}, {size} systems: {value:.4f} [{first:.4f}, {last:.4f}]"
        for size, value, (first, last) in zip(x, mean, limits, strict=True)
    ]
    looks = {
        "markersize": 3,
        "linewidth": 1.0,
        "elinewidth": 0.8,
        "capsize": 1.5,
        **style.look(place),
    }
    style.error_bars(ax, x, mean, texts, yerr=np.abs(limits - mean[:, None]).T, label=name, **looks)


def draw_pairs(result: AgreeResult, ax: Axes) -> None:
    """Marginal means of the measure pairs by both coefficients, each centred: Figure 2."""
    rows = result.ranking()
    place = np.arange(len(rows))
    for k, key in enumerate(("tau", "tau_ap")):
        means = np.array([row[key] for row in rows])
        words = f"{SYMBOLS[key]}, mean {means.mean():.3f}"
        texts = [
            f"{_pair(row)}: {SYMBOLS[key]} {row[key]:.4f}, rank {row[f'rank_{key}']}"
            for row in rows
        ]
        looks = {"linestyle": "-", "linewidth": 1.0, "label": words, **style.look(k)}
        style.dots(ax, means - means.mean(), place, texts, **looks)
    ax.axvline(0.0, color=style.QUIET, linewidth=0.8)
    style.name_rows(
        ax, [f"{_pair(row)}  ({row['rank_tau']} / {row['rank_tau_ap']})" for row in rows]
    )
    style.label(ax, x=f"mean correlation over all sizes, centred; RMSE {result.rmse:.4f}")
    style.legend(ax)


def _pair(row: Mapping[str, Any]) -> str:
    return f"{row['measure_a']} – {row['measure_b']}"


def draw_measures(result: AgreeResult, ax: Axes) -> None:
    """Measures by tau on all the data: heat map, dendrogram above, discriminative power beside."""
    like, order = result.likeness, result.likeness.order
    names = [result.measures[i] for i in order]
    grid = style.inside(ax, 2, 2, height_ratios=[1, 4], width_ratios=[4, 1])
    figure: Any = ax.get_figure()
    tree, cells, bars = (figure.add_subplot(cell) for cell in (grid[0, 0], grid[1, 0], grid[1, 1]))
    _draw_tree(tree, like.linkage, len(names))
    tau = like.tau[np.ix_(order, order)]
    pairs = [(a, b) for a in range(len(names)) for b in range(len(names))]
    low = min(0.0, float(np.nanmin(tau, initial=0.0)))
    texts = [f"{names[a]} – {names[b]}: tau {tau[a, b]:.4f}" for a, b in pairs]
    style.heat(cells, tau, low=low, high=1.0, texts=texts)  # NaN stays blank
    style.write_in_cells(cells, tau, [f"{value:.2f}" for value in tau.flat], low=low)
    style.name_columns(cells, names)
    style.name_rows(cells, names)
    style.label(cells, x=f"tau on {result.n_systems} systems, {result.n_topics} topics")
    power = 100.0 * np.nan_to_num(like.discriminative_power[order])
    shapes = bars.barh(np.arange(len(names)), power, color=style.COLOURS[0])
    tell(shapes, [f"{name}: {share:.1f}%" for name, share in zip(names, power, strict=True)])
    bars.set_yticks([])
    bars.set_ylim(len(names) - 0.5, -0.5)
    bars.set_xlabel("pairs of\nsystems that\ndiffer, %", fontsize="small")
    bars.spines[["top", "right"]].set_visible(False)


def _draw_tree(ax: Axes, linkage: np.ndarray, n: int) -> None:
    from scipy.cluster.hierarchy import dendrogram

    tree = dendrogram(linkage, no_plot=True)
    for x, y in zip(tree["icoord"], tree["dcoord"], strict=True):
        # SciPy puts leaf i at 10 i + 5.
        ax.plot((np.array(x) - 5.0) / 10.0, y, color=style.QUIET, linewidth=1.0)
    ax.set_xlim(-0.5, n - 0.5)
    ax.set_ylim(bottom=0.0)
    ax.set_xticks([])
    ax.set_ylabel("1 − tau", fontsize="small")
    ax.spines[["top", "right", "bottom"]].set_visible(False)


def _panels_size(result: AgreeResult) -> tuple[float, float]:
    n = len(result.topic_sizes)
    return 1.2 + 2.4 * min(n, ACROSS), 0.9 + 2.2 * math.ceil(n / ACROSS)


PLOTS = {
    "AgreeResult": {
        "sizes": Plot(
            draw_sizes,
            _panels_size,
            "Mean tau and tau_AP of two measures with intervals and bands against the number of "
            "systems, in {n_topic_sizes} panels by the number of topics.",
        ),
        "pairs": Plot(
            draw_pairs,
            style.with_rows("pairs", width=6.8, least=1.4),
            "Mean tau and tau_AP of {n_pairs} pairs of measures, each centred: the two curves "
            "differ by {rmse:.4f} (root mean square).",
        ),
        "measures": Plot(
            draw_measures,
            lambda r: (3.4 + 0.45 * len(r.measures), 2.6 + 0.42 * len(r.measures)),
            "Heat map of tau between {n_measures} measures with a dendrogram and bars of how many "
            "pairs of systems differ significantly by each.",
        ),
    }
}

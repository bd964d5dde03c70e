"""What `agree` found, drawn.

Correlations against the number of systems, a panel a number of topics (Figure 1 of Ferro 2018), and
the other way round; measure pairs by both coefficients (Figure 2); what drives the correlation
(Tables 1 and 2); measures by likeness, with their dendrogram and discriminative power.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from steadyrank.errors import InputError
from steadyrank.present import plot_style as style
from steadyrank.present.figures import Plot
from steadyrank.present.shared_plots import draw_omegas, draw_taus
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
    _draw_sizes(result, ax, pair, swapped=False)


def draw_topic_sizes(result: AgreeResult, ax: Axes, *, pair: Sequence[str] | None = None) -> None:
    """The same against the number of topics, a panel a number of systems."""
    _draw_sizes(result, ax, pair, swapped=True)


def _draw_sizes(
    result: AgreeResult, ax: Axes, pair: Sequence[str] | None, *, swapped: bool
) -> None:
    chosen = 0 if pair is None else result.pair(*pair)
    sizes = {"topics": result.topic_sizes, "systems": result.system_sizes}
    over, along = ("systems", "topics") if swapped else ("topics", "systems")
    made = style.panels(ax, len(sizes[over]), across=ACROSS)
    order = np.argsort(sizes[along])
    x = np.array(sizes[along])[order]
    low = 0.0
    for k, name in enumerate(("tau", "tau_ap")):
        samples = result.tau if name == "tau" else result.tau_ap
        arrays = [a[chosen] for a in (*result.means_and_intervals(name), samples)]  # type: ignore[arg-type]
        if swapped:
            arrays = [array.swapaxes(0, 1) for array in arrays]
        low = min(low, float(np.nanmin(arrays[1], initial=0.0)))
        for panel, *curve in zip(made, *arrays, strict=True):
            mean, limits, drawn = (array[order] for array in curve)
            _draw_curve(panel, x, mean, limits, drawn, k, SYMBOLS[name], along)
    pair_name = result.pair_name(chosen)
    for t, panel in enumerate(made):
        panel.set_title(f"{sizes[over][t]} {over}", fontsize="medium")
        panel.set_ylim(low, 1.0)
        panel.set_xlim(0, 1.05 * x[-1])
        style.whole_numbers(panel, 4)
        if t + ACROSS >= len(made):
            style.label(panel, x=along)
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
    along: str,
) -> None:
    """Means with intervals, and the band of the middle 95 % of the samples."""
    whole = ~np.isnan(samples).any(axis=1)
    band = np.quantile(samples[whole], [0.025, 0.975], axis=1)
    ax.fill_between(x[whole], *band, color=style.COLOURS[place], alpha=0.15, linewidth=0)
    texts = [
        f"{name}, {size} {along}: {value:.4f} [{first:.4f}, {last:.4f}]"
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


def draw_ranks(result: AgreeResult, ax: Axes) -> None:
    """Ranks of the measure pairs by both coefficients, side by side; crossing lines are swaps."""
    rows = result.ranking()
    swapped = {int(pair) for swap in result.swaps for pair in swap}
    for row in rows:
        crossing = result.pair(row["measure_a"], row["measure_b"]) in swapped
        texts = [
            f"{_pair(row)}: rank {row['rank_tau']} by tau ({row['tau']:.4f})",
            f"{_pair(row)}: rank {row['rank_tau_ap']} by tau_AP ({row['tau_ap']:.4f})",
        ]
        looks = {"color": style.COLOURS[int(crossing)], "linewidth": 1.6 if crossing else 1.0}
        ranks = row["rank_tau"], row["rank_tau_ap"]
        style.dots(ax, [0, 1], ranks, texts, linestyle="-", marker="o", **looks)
    n = len(rows)
    names = [style.shown(f"{_pair(row)}  {row['rank_tau']}") for row in rows]
    ax.set_yticks(range(1, n + 1), labels=names, parse_math=False)
    other = ax.secondary_yaxis("right")
    by_other = sorted(rows, key=lambda row: row["rank_tau_ap"])
    names = [style.shown(f"{row['rank_tau_ap']}  {_pair(row)}") for row in by_other]
    other.set_yticks(range(1, n + 1), labels=names, parse_math=False)
    for axis in (ax.spines, other.spines):
        axis[:].set_visible(False)
    ax.tick_params(length=0)
    other.tick_params(length=0)
    ax.grid(visible=False)
    ax.set_ylim(n + 0.5, 0.5)
    ax.set_xlim(-0.05, 1.05)
    ax.set_xticks([0, 1], labels=["tau", "tau_AP"])
    style.label(ax, x=f"rank by mean correlation; {len(result.swaps)} swaps in colour")


def draw_effects(result: AgreeResult, ax: Axes) -> None:
    """How much of the correlations' variance each source explains: Tables 1 and 2, drawn."""
    tables = {SYMBOLS[key]: table for key, table in result.anovas.items() if table is not None}
    if not tables:
        raise InputError(
            "there is no analysis of variance to draw: some correlation does not exist, or "
            "there is only one pair of measures and one combination of sizes"
        )
    limits = {SYMBOLS[key]: ends for key, ends in result.omega_squared_intervals.items()}
    draw_omegas(ax, tables, limits)


def draw_measures(result: AgreeResult, ax: Axes) -> None:
    """Measures by tau on all the data: heat map, dendrogram above, discriminative power beside."""
    like, order = result.likeness, result.likeness.order
    names = [result.measures[i] for i in order]
    grid = style.inside(ax, 2, 2, height_ratios=[1, 4], width_ratios=[4, 1])
    figure: Any = ax.get_figure()
    tree, cells, bars = (figure.add_subplot(cell) for cell in (grid[0, 0], grid[1, 0], grid[1, 1]))
    _draw_tree(tree, like.linkage, len(names))
    draw_taus(cells, like.tau[np.ix_(order, order)], names)
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


def _panels_size(n: int) -> tuple[float, float]:
    return 1.2 + 2.4 * min(n, ACROSS), 0.9 + 2.2 * math.ceil(n / ACROSS)


_rows_size = style.with_rows("pairs", width=6.8, least=1.4)

PLOTS = {
    "AgreeResult": {
        "sizes": Plot(
            draw_sizes,
            lambda result: _panels_size(len(result.topic_sizes)),
            "Mean tau and tau_AP of two measures with intervals and bands against the number of "
            "systems, in {n_topic_sizes} panels by the number of topics.",
        ),
        "pairs": Plot(
            draw_pairs,
            _rows_size,
            "Mean tau and tau_AP of {n_pairs} pairs of measures, each centred: the two curves "
            "differ by {rmse:.4f} (root mean square).",
        ),
        "measures": Plot(
            draw_measures,
            lambda r: (3.4 + 0.45 * len(r.measures), 2.6 + 0.42 * len(r.measures)),
            "Heat map of tau between {n_measures} measures with a dendrogram and bars of how many "
            "pairs of systems differ significantly by each.",
        ),
        "topics": Plot(
            draw_topic_sizes,
            lambda result: _panels_size(len(result.system_sizes)),
            "Mean tau and tau_AP of two measures with intervals and bands against the number of "
            "topics, in {n_system_sizes} panels by the number of systems.",
        ),
        "ranks": Plot(
            draw_ranks,
            _rows_size,
            "Ranks of {n_pairs} pairs of measures by tau on the left and by tau_AP on the right, "
            "joined by lines, of which {n_swaps} pairs cross.",
        ),
        "effects": Plot(
            draw_effects,
            style.fixed(6.4, style.rows_height(7, each=0.34)),
            "Bars of the share of variance in tau and tau_AP that measure pair, topic size, "
            "system size and their interplay explain.",
        ),
    }
}

"""Figures of `agree`.

Correlations against the number of systems, a panel per number of topics (Figure 1 of Ferro 2018);
measure pairs by both coefficients (Figure 2); and a heat map of the measures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from steadyrank.present import plot_style as style
from steadyrank.present.figures import Plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.agree.result import AgreeResult

SYMBOLS = {"tau": "tau", "tau_ap": "tau_AP"}
ACROSS = 4


def draw_sizes(result: AgreeResult, ax: Axes, *, pair: Sequence[str] | None = None) -> None:
    """Draw the mean correlation of one pair of measures with intervals (Figure 1).

    One panel per number of topics, systems on the x axis; bands hold 95 % of the samples. `pair`
    names two measures (by default the first two).
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
    """Draw the marginal means of measure pairs by both coefficients, centred (Figure 2)."""
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
    """Draw tau between all measures on all data as a heat map, similar measures adjacent."""
    order = result.likeness.order
    names = [result.measures[i] for i in order]
    tau = result.likeness.tau[np.ix_(order, order)]
    low = min(0.0, float(np.nanmin(tau, initial=0.0)))
    pairs = [f"{a} – {b}" for a in names for b in names]
    texts = [f"{pair}: tau {value:.4f}" for pair, value in zip(pairs, tau.flat, strict=True)]
    style.heat(ax, tau, low=low, high=1.0, texts=texts)  # NaN stays blank
    style.write_in_cells(ax, tau, [f"{value:.2f}" for value in tau.flat], low=low)
    style.name_columns(ax, names)
    style.name_rows(ax, names)
    style.label(ax, x=f"tau on {result.n_systems} systems, {result.n_topics} topics")


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
            lambda r: (2.4 + 0.45 * len(r.measures), 1.6 + 0.42 * len(r.measures)),
            "Heat map of tau between {n_measures} measures.",
        ),
    }
}

"""The figure of `topics`: error rates by the number of topics and the difference.

It combines the figures of Voorhees & Buckley (SIGIR 2002) with equation (8) of Lin & Hauptmann
(SIGIR 2005): points are rates of disjoint sets of topics, lines the curve through them and theory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steadyrank.present import plot_style as style
from steadyrank.present.figures import Plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.topics.levels import TopicLevel
    from steadyrank.studies.topics.study import TopicsResult

SHOWN = (1, 2, 4, 8)
"""Levels that are drawn: differences of .01, .02, .04 and .08."""


def draw_error_rates(result: TopicsResult, ax: Axes) -> None:
    """Draw empirical rates ± Monte Carlo errors, their fit, and both theories, by level."""
    from matplotlib.lines import Line2D

    chosen = _chosen(result)
    for place, level in enumerate(chosen):
        looks: dict[str, Any] = {"color": style.COLOURS[place % len(style.COLOURS)]}
        _draw_level(result, level, ax, looks, style.MARKERS[place % len(style.MARKERS)])
    handles: list[Any] = [
        Line2D([], [], markersize=4, label=level.name, **style.look(place))
        for place, level in enumerate(chosen)
    ]
    kinds: dict[str, Any] = {"fit": "-", "eq. 8, paired": "--", "predictive": ":"}
    handles += [
        Line2D([], [], color=style.QUIET, linestyle=look, label=name)
        for name, look in kinds.items()
    ]
    ax.set_ylim(0, 0.52)
    ax.set_xlim(left=0)
    style.label(ax, x="topics in each of two sets", y=f"reversals by mean {result.measure}")
    style.legend(ax, handles=handles)


def _draw_level(
    result: TopicsResult, level: TopicLevel, ax: Axes, looks: dict[str, Any], marker: str
) -> None:
    sizes = np.array(result.sizes)
    error = np.nan_to_num(level.empirical_error)
    below = np.minimum(error, np.nan_to_num(level.empirical))
    columns = sizes, level.reversed, level.count, level.empirical, error
    texts = [
        f"difference {level.name}, {size} topics: {swapped:,} of {count:,} reversed, "
        f"rate {rate:.4f} ± {off:.4f}"
        for size, swapped, count, rate, off in zip(*columns, strict=True)
    ]
    spread = np.stack([below, error])
    markers = {"linestyle": "none", "marker": marker, "capsize": 2, **looks}
    style.error_bars(ax, sizes, level.empirical, texts, yerr=spread, **markers)
    if level.fit is not None:
        span = np.linspace(sizes[0], max(sizes[-1], result.n_complete), 200)
        ax.plot(span, level.fit.b1 * np.exp(-level.fit.b2 * span), linewidth=1.2, **looks)
    ax.plot(sizes, level.error_rate, linewidth=1.0, linestyle="--", **looks)
    ax.plot(sizes, level.predictive, linewidth=1.0, linestyle=":", **looks)


def _chosen(result: TopicsResult) -> list[TopicLevel]:
    usual = [result.levels[place] for place in SHOWN]
    full = [level for level in result.levels if level.count.any() or level.pairs]
    return [level for level in usual if level in full] or full[: len(SHOWN)]


PLOTS = {
    "TopicsResult": {
        "error_rate": Plot(
            draw_error_rates,
            style.fixed(6.4, 4.4),
            "Rate at which two sets of topics contradict each other by their size, a colour for "
            "each level of the difference: observed, fitted and by theory.",
        )
    }
}

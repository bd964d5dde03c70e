"""What `topics` found, drawn: error rates against the number of topics, by the difference.

Points are rates of disjoint sets of topics, lines the curve through them and the theory: the
figures of Voorhees & Buckley (SIGIR 2002). Theory alone, equations (8) and (13) of Lin & Hauptmann
(SIGIR 2005), and the variances of their Table 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from steadyrank.errors import InputError
from steadyrank.present import plot_style as style
from steadyrank.present.figures import Plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.topics.levels import TopicLevel
    from steadyrank.studies.topics.result import TopicsResult

SHOWN = (1, 2, 4, 8)
"""Levels that are drawn unless others are named: of differences of .01, .02, .04 and .08."""


def draw_error_rates(
    result: TopicsResult, ax: Axes, *, levels: Sequence[float] | None = None
) -> None:
    """Empirical rates ± Monte Carlo errors, their fit, and both theories; a colour a level.

    `levels` are differences, such as .02 for the level from .02 to .03.
    """
    chosen = _chosen(result) if levels is None else [_level_of(result, low) for low in levels]
    for place, level in enumerate(chosen):
        looks: dict[str, Any] = {"color": style.COLOURS[place % len(style.COLOURS)]}
        _draw_level(result, level, ax, looks, style.MARKERS[place % len(style.MARKERS)])
    _finish(result, ax, chosen, (("fit", "-"), ("eq. 8, paired", "--"), ("predictive", ":")))


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


def _finish(
    result: TopicsResult, ax: Axes, chosen: Sequence[TopicLevel], kinds: Sequence[tuple[str, Any]]
) -> None:
    from matplotlib.lines import Line2D

    handles: list[Any] = [
        Line2D([], [], markersize=4, label=level.name, **style.look(place))
        for place, level in enumerate(chosen)
    ]
    handles += [
        Line2D([], [], color=style.QUIET, linestyle=looks, label=name) for name, looks in kinds
    ]
    ax.set_ylim(0, 0.52)
    ax.set_xlim(left=0)
    style.label(ax, x="topics in each of two sets", y=f"reversals by mean {result.measure}")
    style.legend(ax, handles=handles)


def draw_theory(result: TopicsResult, ax: Axes, *, levels: Sequence[float] | None = None) -> None:
    """Error rates by theory: equation (8), its approximation (13), and the predictive rate."""
    chosen = _chosen(result) if levels is None else [_level_of(result, low) for low in levels]
    chosen = [level for level in chosen if level.pairs]
    sizes = np.array(result.sizes)
    for place, level in enumerate(chosen):
        looks = style.look(place)
        columns = sizes, level.error_rate, level.approximation, level.predictive
        texts = [
            f"difference {level.name}, {size} topics: eq. 8 {exact:.4f}, eq. 13 {near:.4f}, "
            f"predictive {ahead:.4f}"
            for size, exact, near, ahead in zip(*columns, strict=True)
        ]
        style.dots(ax, sizes, level.error_rate, texts, linestyle="-", linewidth=1.2, **looks)
        for rates, line_style in ((level.approximation, "--"), (level.predictive, ":")):
            ax.plot(sizes, rates, linewidth=1.0, linestyle=line_style, color=looks["color"])
    _finish(result, ax, chosen, (("eq. 8", "-"), ("eq. 13", "--"), ("predictive", ":")))


def draw_variances(result: TopicsResult, ax: Axes) -> None:
    """Variance of mean differences by their size, paired and as if topics were others: Table 1."""
    levels = [level for level in result.levels if level.pairs]
    place = np.arange(len(levels))
    kinds = (("variance", "same topics (paired)"), ("variance_independent", "eq. 3: independent"))
    for k, (key, words) in enumerate(kinds):
        values = [getattr(level, key) for level in levels]
        texts = [
            f"difference {level.name}, {level.pairs:,} pairs: {words} {value:.3g}"
            for level, value in zip(levels, values, strict=True)
        ]
        looks = {
            "linestyle": "-",
            "linewidth": 1.0,
            "markersize": 5,
            "label": words,
            **style.look(k),
        }
        style.dots(ax, place, values, texts, **looks)
    ax.set_xticks(place, labels=[level.name for level in levels], rotation=90)
    ax.set_ylim(bottom=0)
    style.label(ax, x=f"difference of mean {result.measure} on {result.n_topics} topics")
    style.label(ax, y="variance of the difference")
    style.legend(ax)


def draw_pairs(result: TopicsResult, ax: Axes) -> None:
    """Each pair's difference, and how likely as many other topics reverse it."""
    from steadyrank.studies.topics.result import needed_figure

    rows = result.told()
    size = np.abs([row["difference"] for row in rows])
    for k, (key, words) in enumerate(
        (("expected_reversal", "expected"), ("error_rate", "eq. 8, difference taken as true"))
    ):
        texts = [
            f"{row['a']} – {row['b']}: difference {row['difference']:+.4f}, reversed with "
            f"probability {row[key]:.3f}"
            for row in rows
        ]
        if k == 0:  # Once per pair: a page holds thousands of these texts.
            needs = [f"; topics needed: {needed_figure(row)}" for row in rows]
            texts = [text + need for text, need in zip(texts, needs, strict=True)]
        looks = {"markersize": 3.5, "alpha": 0.7, "label": words, **style.look(k)}
        style.dots(ax, size, [row[key] for row in rows], texts, **looks)
    ax.axhline(result.target, **style.DASHED, label=f"target {result.target:g}")
    ax.set_xlim(left=0)
    ax.set_ylim(-0.01, 0.52)
    style.label(ax, x=f"difference of mean {result.measure} on {result.n_topics} topics")
    style.label(ax, y="reversed by as many other topics")
    style.legend(ax)


def _chosen(result: TopicsResult) -> list[TopicLevel]:
    usual = [result.levels[place] for place in SHOWN]
    full = [level for level in result.levels if level.count.any() or level.pairs]
    return [level for level in usual if level in full] or full[: len(SHOWN)]


def _level_of(result: TopicsResult, difference: float) -> TopicLevel:
    for level in result.levels:
        if level.low <= difference + 1e-9 < level.high:
            return level
    raise InputError(f"a level is named by a difference of at least 0, got {difference!r}")


PLOTS = {
    "TopicsResult": {
        "error_rate": Plot(
            draw_error_rates,
            style.fixed(6.4, 4.4),
            "Rate at which two sets of topics contradict each other against their size, falling, "
            "a colour for each size of the difference: observed, fitted and by theory.",
        ),
        "theory": Plot(
            draw_theory,
            style.fixed(6.4, 4.4),
            "Error rate by theory against the number of topics, a colour for each size of the "
            "difference: exact, by its exponential approximation, and predictive.",
        ),
        "pairs": Plot(
            draw_pairs,
            style.fixed(6.0, 4.2),
            "Probability that as many other topics reverse each of {n_pairs:,} pairs of runs "
            "against their difference in mean {measure}, with the target {target:g}.",
        ),
        "variances": Plot(
            draw_variances,
            style.fixed(6.4, 4.4),
            "Variance of the difference in mean {measure} by its size, on shared topics and as if "
            "each run had its own.",
        ),
    }
}

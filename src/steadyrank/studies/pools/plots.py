"""What `pools` found, drawn: how far pilot data of fewer teams and topics lead astray.

Figures 1 and 2 of Sakai & Shang (EVIA 2016), the variance against the teams left out, a panel for
each measure, a line for each number of pilot topics; the topics that follow (their Table 3), how
far measures rank alike (Table 2), and what runs owe to their own team's documents.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from steadyrank.errors import InputError, check_choice
from steadyrank.present import plot_style as style
from steadyrank.present.figures import Plot
from steadyrank.present.shared_plots import draw_taus

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.pools.result import LeaveOut, PoolsResult, Reference

ACROSS = 3
"""Panels beside each other."""

APART = 0.12
"""How far lines with different numbers of pilot topics stand apart, in teams."""


def draw_variances(result: PoolsResult, ax: Axes, *, measure: str | None = None) -> None:
    """Mean variance over trials and their range against k; dashed, the one by all data.

    One measure, or a panel for each. In paper mode the interval of the mean stands for the range.
    """
    _draw_lines(
        result,
        ax,
        measure,
        ("variance", "variance of"),
        lambda cell: (cell.mean, *(cell.interval or cell.extent or (cell.mean, cell.mean))),
        lambda reference: reference.variance,
    )


def draw_topics(result: PoolsResult, ax: Axes, *, measure: str | None = None) -> None:
    """Topics needed by the mean variance and by single trials (range); dashed, by all data."""
    if result.demands is None:
        raise InputError(
            "no topics were planned: give pools a minimum difference or a width to plan for"
        )
    none = (None, None)
    _draw_lines(
        result,
        ax,
        measure,
        ("topics needed", "topics needed by"),
        lambda cell: (cell.topics_needed, *(cell.topics_interval or cell.topics_extent or none)),
        lambda reference: reference.topics_needed,
    )


def _draw_lines(
    result: PoolsResult,
    ax: Axes,
    measure: str | None,
    words: tuple[str, str],
    figures: Callable[[LeaveOut], tuple[float | None, ...]],
    by_all: Callable[[Reference], float | None],
) -> None:
    """A figure of each cell with its two ends against k: a panel per measure."""
    ks = np.array([0, *result.ks])
    for name, panel in _panels_of(result, ax, measure):
        level = by_all(next(row for row in result.references if row.measure == name))
        if level is not None:
            panel.axhline(level, color=style.QUIET, linewidth=0.8, linestyle="--")
        for s, size in enumerate(result.pilot_topics):
            cells = [figures(result.cell(name, k, size)) for k in ks.tolist()]
            values, low, high = np.array(cells, np.float64).T
            texts = [
                f"{k} teams left out, {size} pilot topics: {words[0]} {value:.4g}"
                for k, value in zip(ks, values, strict=True)
            ]
            arms = np.nan_to_num(np.abs([low - values, high - values]))
            # Lines of different numbers of pilot topics stand a little beside each other.
            x = ks + APART * (s - (len(result.pilot_topics) - 1) / 2)
            looks = {"label": f"{size} topics", "linewidth": 1.2, "capsize": 2, **style.look(s)}
            style.error_bars(panel, x, values, texts, yerr=arms, **looks)
        style.whole_numbers(panel)
        style.label(panel, x=f"teams left out, of {len(result.teams)}", y=f"{words[1]} {name}")
        if len(result.pilot_topics) > 1:
            style.legend(panel)


def _panels_of(result: PoolsResult, ax: Axes, measure: str | None) -> list[tuple[str, Axes]]:
    if measure is not None:
        check_choice("measure", measure, result.measures)
    measures = result.measures if measure is None else (measure,)
    if len(measures) == 1 or ax.get_subplotspec() is None:
        return [(measures[0], ax)]  # axes outside a grid have room for one panel
    made = style.panels(ax, len(measures), across=ACROSS, sharey=False)
    return list(zip(measures, made, strict=True))


def draw_bias(result: PoolsResult, ax: Axes, *, measure: str | None = None) -> None:
    """What each run's mean loses without the documents that only its team found."""
    name = measure or result.measures[0]
    check_choice("measure", name, result.measures)
    rows = sorted((row for row in result.bias if row.measure == name), key=lambda r: -r.score)
    place = np.arange(len(rows))
    ax.hlines(
        place,
        [r.score_without for r in rows],
        [r.score for r in rows],
        color=style.QUIET,
        linewidth=1.5,
    )
    kinds = (("score", "all judgments"), ("score_without", "without its team's own documents"))
    texts = [
        f"{row.run} ({row.team}): {row.score:.4f}, without {row.score_without:.4f} "
        f"({row.unique:,} own documents, {row.unique_relevant:,} relevant)"
        for row in rows
    ]
    for k, (key, words) in enumerate(kinds):
        scores = [getattr(row, key) for row in rows]
        style.dots(ax, scores, place, texts, markersize=4.5, label=words, **style.look(k))
    style.name_rows(ax, [row.run for row in rows])
    style.label(ax, x=f"mean {name}")
    style.legend_above(ax)


def draw_similarity(result: PoolsResult, ax: Axes) -> None:
    """Kendall's tau between the runs' rankings by two measures: Table 2 as a heat map."""
    places = {name: i for i, name in enumerate(result.measures)}
    tau = np.eye(len(places))
    for row in result.similarity:
        i, j = places[row.measure_a], places[row.measure_b]
        tau[i, j] = tau[j, i] = row.tau
    draw_taus(ax, tau, result.measures)
    style.label(ax, x=f"tau of two rankings of {len(result.runs)} runs")


def _size(result: PoolsResult) -> tuple[float, float]:
    count = len(result.measures)
    return 0.8 + 4.4 * min(count, ACROSS), 0.4 + 3.4 * math.ceil(count / ACROSS)


PLOTS = {
    "PoolsResult": {
        "variance": Plot(
            draw_variances,
            _size,
            "Variance of {n_measures} measures with intervals against how many of {n_teams} teams "
            "are left out, beside the one by all data.",
        ),
        "topics": Plot(
            draw_topics,
            _size,
            "Topics needed by the variances of pilot data against how many of {n_teams} teams are "
            "left out, beside those by all data.",
        ),
        "bias": Plot(
            draw_bias,
            style.with_rows("runs", least=1.5),
            "Mean scores of {n_runs} runs by all judgments and without the documents that only "
            "their own team found.",
        ),
        "similarity": Plot(
            draw_similarity,
            lambda r: (2.2 + 0.5 * len(r.measures), 1.8 + 0.45 * len(r.measures)),
            "Heat map of tau between the rankings of {n_runs} runs by {n_measures} measures.",
        ),
    }
}

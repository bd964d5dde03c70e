"""All runs against one, drawn: differences with their intervals, and differences topic by topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steadyrank.data.scores import position
from steadyrank.errors import InputError
from steadyrank.present import plot_style as style
from steadyrank.present.svg import tell
from steadyrank.stats.run_means import best_first

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.compare.result import CompareResult

SPREAD = 0.7
"""Of the dots of a row: the share of its height."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Against:
    """The comparisons of all runs with one, the best run first."""

    reference: int
    others: list[int]
    pairs: np.ndarray
    sign: np.ndarray
    """1 where the other run is the first of its pair, so that differences are to the reference."""


def _against(result: CompareResult, run: str | None, order: Sequence[int] | None) -> _Against:
    """With `run`, or the baseline, or else the best run; in the `order` of runs, if it is given."""
    order = [int(place) for place in (best_first(result.mean) if order is None else order)]
    reference = run or result.baseline or result.runs[best_first(result.mean)[0]]
    one = position(reference, result.runs, "run")
    if result.baseline not in (None, reference):
        raise InputError(f"all runs were compared with {result.baseline}, not with {reference}")
    places = {
        int(r): p for p, pair in enumerate(result.pairs) for r in pair if one in pair and r != one
    }
    others = [place for place in order if place in places]
    pairs = np.array([places[place] for place in others])
    sign = np.where(result.pairs[pairs, 1] == one, 1.0, -1.0)
    return _Against(reference=one, others=others, pairs=pairs, sign=sign)


def draw_intervals(
    result: CompareResult, ax: Axes, *, run: str | None = None, order: Sequence[int] | None = None
) -> None:
    """Differences of all runs to one, with their intervals, the best run first.

    To the baseline or, without one, to the best run; or to `run`.
    """
    against = _against(result, run, order)
    pairs, others = against.pairs, against.others
    reference = result.runs[against.reference]
    difference = against.sign * result.difference[pairs]
    ends = np.sort(against.sign[:, None] * result.interval[pairs], axis=1)
    for k, (decided, words) in enumerate(((False, "not significant"), (True, "significant"))):
        rows = np.flatnonzero(result.significant[pairs] == decided)
        if not len(rows):
            continue
        arms = np.stack([difference[rows] - ends[rows, 0], ends[rows, 1] - difference[rows]])
        arms = np.maximum(np.where(np.isfinite(arms), arms, 0.0), 0.0)
        texts = [
            f"{result.runs[others[i]]} − {reference}: {difference[i]:+.4f} "
            f"[{ends[i, 0]:+.4f}, {ends[i, 1]:+.4f}], p {result.pvalue_adjusted[pairs[i]]:.3g}"
            for i in rows
        ]
        style.row_bars(ax, difference[rows], rows, arms, texts, place=k, label=words)
    ax.axvline(0.0, color=style.QUIET, linewidth=0.8)
    style.name_rows(ax, [result.runs[r] for r in others])
    name = style.shortened(reference, style.longest_name(ax))
    style.label(
        ax,
        x=f"mean {result.measure} less that of {name},\n"
        f"{1 - result.alpha:.0%} intervals ({result.interval_kind})",
    )
    style.legend_above(ax)


def draw_topics(
    result: CompareResult, ax: Axes, *, run: str | None = None, order: Sequence[int] | None = None
) -> None:
    """Differences by topic of all runs to one: a dot per topic, a line at the mean.

    Of a single pair, a bar per topic, from the largest gain to the largest loss.
    """
    against = _against(result, run, order)
    if len(against.others) == 1:
        _draw_bars(result, against, ax)
        return
    reference = result.runs[against.reference]
    means = against.sign * result.difference[against.pairs]
    for row, other in enumerate(against.others):
        gaps = result.scores[other] - result.scores[against.reference]
        shared = np.flatnonzero(~np.isnan(gaps))
        # Spread by the golden ratio: neighbours lie apart, and the same figure is the same bytes.
        heights = row + SPREAD * ((0.618034 * np.arange(len(shared))) % 1.0 - 0.5)
        ax.plot(
            gaps[shared],
            heights,
            linestyle="none",
            marker="o",
            markersize=2.2,
            markeredgewidth=0.0,
            alpha=0.55,
            color=style.COLOURS[int(result.significant[against.pairs[row]])],
        )
    significant = result.significant[against.pairs]
    for k, (decided, words) in enumerate(((False, "not significant"), (True, "significant"))):
        rows = np.flatnonzero(significant == decided)
        if len(rows):
            texts = [_mean_text(result, against, int(row)) for row in rows]
            looks = {"marker": "|", "markersize": 9, "markeredgewidth": 1.8}
            looks |= {"color": style.COLOURS[k], "label": f"mean, {words}"}
            style.dots(ax, means[rows], rows, texts, **looks)
    ax.axvline(0.0, color=style.QUIET, linewidth=0.8)
    style.name_rows(ax, [result.runs[r] for r in against.others])
    than = style.shortened(reference, style.longest_name(ax))
    style.label(ax, x=f"{result.measure} less that of {than},\ntopic by topic")
    style.legend_above(ax)


def _mean_text(result: CompareResult, against: _Against, row: int) -> str:
    pair = against.pairs[row]
    return (
        f"{result.runs[against.others[row]]} − {result.runs[against.reference]}: "
        f"{against.sign[row] * result.difference[pair]:+.4f} on {result.n[pair]} topics, "
        f"p {result.pvalue_adjusted[pair]:.3g}"
    )


def _draw_bars(result: CompareResult, against: _Against, ax: Axes) -> None:
    """Topics of one pair from the largest gain to the largest loss."""
    gaps = result.scores[against.others[0]] - result.scores[against.reference]
    shared = np.flatnonzero(~np.isnan(gaps))
    order = shared[np.argsort(-gaps[shared], kind="stable")]
    colours = [style.COLOURS[0] if gaps[topic] >= 0 else style.COLOURS[1] for topic in order]
    bars = ax.bar(np.arange(len(order)), gaps[order], width=0.9, color=colours)
    tell(bars, [f"topic {result.topics[topic]}: {gaps[topic]:+.4f}" for topic in order])
    mean = float(against.sign[0] * result.difference[against.pairs[0]])
    ax.axhline(mean, **style.DASHED, label=f"mean {mean:+.4f}")
    ax.axhline(0.0, color=style.QUIET, linewidth=0.8)
    other, reference = (
        style.shortened(result.runs[place], style.longest_name(ax))
        for place in (against.others[0], against.reference)
    )
    style.label(
        ax, x="topics, largest gain first", y=f"{result.measure}: {other}\nless {reference}"
    )
    style.legend(ax)

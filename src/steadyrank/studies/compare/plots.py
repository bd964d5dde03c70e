"""Figures of `compare`: all runs against one, two runs topic by topic, and possible ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steadyrank.data.scores import position
from steadyrank.errors import InputError
from steadyrank.present import plot_style as style
from steadyrank.present.cells import signed_interval
from steadyrank.present.figures import Plot, tell
from steadyrank.stats.pairs.decisions import turned
from steadyrank.studies.compare.wording import rank_words
from steadyrank.words import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.compare.result import CompareResult

DECISIONS = ((False, "not significant"), (True, "significant"))
"""Decisions and their words in a legend; each has a colour and a shape."""


def _against(
    result: CompareResult, run: str | None
) -> tuple[int, list[int], np.ndarray, np.ndarray]:
    """Return `run` (by default the baseline or the best), the others, their pairs and signs."""
    reference = run or result.baseline or result.runs[result.order[0]]
    one = position(reference, result.runs, "run")
    if result.baseline not in (None, reference):
        raise InputError(f"all runs were compared with {result.baseline}, not with {reference}")
    places = {
        int(r): p for p, pair in enumerate(result.pairs) for r in pair if one in pair and r != one
    }
    others = [place for place in result.order if place in places]
    pairs = np.array([places[place] for place in others])
    return one, others, pairs, np.where(result.pairs[pairs, 1] == one, 1.0, -1.0)


def draw_intervals(result: CompareResult, ax: Axes, *, run: str | None = None) -> None:
    """Draw the differences of all runs to `run`, with their intervals, the best run first.

    By default they are to the baseline or, without one, to the best run.
    """
    one, others, pairs, sign = _against(result, run)
    reference, middle = result.runs[one], sign * result.difference[pairs]
    ends = turned(result.interval[pairs], sign)
    texts = [
        f"{result.runs[other]} − {reference}: {middle[i]:+.4f} "
        f"{signed_interval(ends[i], '+.4f').text}, p {result.pvalue_adjusted[pairs[i]]:.3g}"
        for i, other in enumerate(others)
    ]
    for k, (decided, words) in enumerate(DECISIONS):
        rows = np.flatnonzero(result.significant[pairs] == decided)
        if len(rows):
            arms = ((ends - middle[:, None])[rows] * [-1.0, 1.0]).T
            arms = np.maximum(np.where(np.isfinite(arms), arms, 0.0), 0.0)
            told = [texts[row] for row in rows.tolist()]
            style.row_bars(ax, middle[rows], rows, arms, told, place=k, label=words)
    ax.axvline(0.0, color=style.QUIET, linewidth=0.8)
    style.name_rows(ax, [result.runs[r] for r in others])
    name = style.shortened(reference, style.longest_name(ax))
    style.label(
        ax,
        x=f"mean {result.measure} less that of {name},\n"
        f"{1 - result.alpha:.0%} intervals ({result.interval_kind})",
    )
    style.legend_above(ax)


def draw_topics(result: CompareResult, ax: Axes, *, run: str | None = None) -> None:
    """Draw the difference of the best other run to `run` on each topic, the largest gain first.

    By default it is to the baseline or, without one, to the best run.
    """
    one, others, pairs, sign = _against(result, run)
    gaps = result.scores[others[0]] - result.scores[one]
    shared = np.flatnonzero(~np.isnan(gaps))
    order = shared[np.argsort(-gaps[shared], kind="stable")]
    colours = [style.COLOURS[0] if gaps[topic] >= 0 else style.COLOURS[1] for topic in order]
    bars = ax.bar(np.arange(len(order)), gaps[order], width=0.9, color=colours)
    tell(bars, [f"topic {result.topics[topic]}: {gaps[topic]:+.4f}" for topic in order])
    mean = float(sign[0] * result.difference[pairs[0]])
    ax.axhline(mean, **style.DASHED, label=f"mean {mean:+.4f}")
    ax.axhline(0.0, color=style.QUIET, linewidth=0.8)
    names = [style.shortened(result.runs[i], style.longest_name(ax)) for i in (others[0], one)]
    style.label(
        ax, x="topics, largest gain first", y=f"{result.measure}: {names[0]}\nless {names[1]}"
    )
    style.legend(ax)


def draw_ranks(result: CompareResult, ax: Axes, *, top: int | None = None) -> None:
    """Draw each run's rank by its mean and its possible ranks, for the best `top` runs if given."""
    order = result.order[:top]
    letters = [f"  ({text})" for text in result.letters] or [""] * len(result.runs)
    names = [result.runs[r] + letters[r] for r in order]
    low, high = result.rank_set[order].T
    # One clause per line: a label wider than its axes would be cut off.
    clauses = [
        f"rank by mean {result.measure} (dot),",
        "and possible ranks (line),",
        rank_words(result),
        *(["runs that share a letter are indistinguishable"] if result.letters else []),
    ]
    style.draw_rank_rows(
        ax, names, result.rank[order], low, high, place=len(ax.containers), what="\n".join(clauses)
    )


_rows_size = style.with_rows("runs", least=1.5)


def _reference(result: CompareResult) -> str:
    return result.baseline or result.runs[result.order[0]]


PLOTS = {
    "CompareResult": {
        "intervals": Plot(
            draw_intervals,
            _rows_size,
            lambda result: (
                f"Differences in mean {result.measure} of "
                f"{counted(len(result.runs) - 1, 'run')} to {_reference(result)} with intervals, "
                "significant ones in another colour and shape."
            ),
            style.height_of_rows(_rows_size),
        ),
        "topics": Plot(
            draw_topics,
            style.fixed(6.4, 3.6),
            lambda result: (
                f"Differences in {result.measure} on each of "
                f"{counted(len(result.topics), 'topic')} between the best other run and "
                f"{_reference(result)}, with their mean."
            ),
        ),
        "ranks": Plot(
            draw_ranks,
            _rows_size,
            lambda result: (
                f"Ranks of {len(result.runs)} runs by mean {result.measure}, and the ranks that "
                f"the tests leave to each; {result.runs[result.order[0]]} is first."
            ),
            style.height_of_rows(_rows_size),
        ),
    }
}
"""Class of a result to its kinds of plot, the default first."""

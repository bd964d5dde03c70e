"""Segments of the topics, drawn: differences with their intervals in each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steadyrank.present import plot_style as style
from steadyrank.present.svg import tell
from steadyrank.studies.compare.pair_rows import better_first
from steadyrank.studies.compare.segment_tables import interaction_sentence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.compare.result import CompareResult

MOST_ROWS = 40
"""Rows of a figure; of more, only the first pair of the leaderboard is drawn."""


def draw_segments(result: CompareResult, ax: Axes) -> None:
    """Differences in each segment with their intervals, below those on all topics.

    Of the best run to the others, or of all runs to the baseline; of the first such pair alone
    where these are too many.
    """
    rows = _rows(result)
    for k, (decided, words) in enumerate(((False, "not significant"), (True, "significant"))):
        places = [place for place, row in enumerate(rows) if row["significant"] == decided]
        if not places:
            continue
        ends = np.array([rows[place]["interval"] for place in places], float)
        middle = np.array([rows[place]["difference"] for place in places])
        arms = np.abs(ends - middle[:, None]).T
        bars = ax.errorbar(
            middle,
            places,
            xerr=np.where(np.isfinite(arms), arms, 0.0),
            linestyle="none",
            markersize=4,
            elinewidth=1.5,
            label=words,
            **style.look(k),
        )
        tell(bars, [_text(rows[place]) for place in places])
    ax.axvline(0.0, color=style.QUIET, linewidth=0.8)
    style.name_rows(ax, _names(rows, style.longest_name(ax)))
    style.label(ax, x=_axis(result, rows, style.longest_name(ax)))
    style.legend(ax, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderaxespad=0.2)


def segments_size(result: CompareResult) -> tuple[float, float]:
    """Inches."""
    return 6.4, style.rows_height(len(_rows(result)), least=1.5)


def segments_words(result: CompareResult) -> str:
    """What the figure shows."""
    if result.segments is None:
        return f"Differences in mean {result.measure} on all topics, with intervals."
    return (
        f"Differences in mean {result.measure} on all topics and in each of "
        f"{len(result.segments.names)} segments by {result.segments.by}, with intervals. "
        f"{interaction_sentence(result)}"
    )


def _rows(result: CompareResult) -> list[dict[str, Any]]:
    """What is drawn, row by row: all topics, then each segment."""
    best = result.runs[result.order[0]]
    parts = [("all topics", result)]
    if result.segments is not None:
        parts += [(own.segment or "", own) for own in result.segments.results]
    rows = [
        row | {"segment": segment}
        for segment, own in parts
        for row in better_first(own, result)
        if result.baseline is not None or row["a"] == best
    ]
    if len(rows) > MOST_ROWS:
        pair = (rows[0]["a"], rows[0]["b"])
        rows = [row for row in rows if (row["a"], row["b"]) == pair]
    return rows


def _names(rows: list[dict[str, Any]], longest: int) -> list[str]:
    """The segments, and which pair where there are several."""
    if len({(row["a"], row["b"]) for row in rows}) == 1:
        return [row["segment"] for row in rows]
    half = max(6, longest // 2 - 1)
    other = "b" if len({row["a"] for row in rows}) == 1 else "a"
    return [
        f"{style.shortened(row['segment'], half)}: {style.shortened(row[other], half)}"
        for row in rows
    ]


def _axis(result: CompareResult, rows: list[dict[str, Any]], longest: int) -> str:
    names = {side: {row[side] for row in rows} for side in ("a", "b")}
    a, b = (
        style.shortened(next(iter(names[side])), longest) if len(names[side]) == 1 else "the run"
        for side in ("a", "b")
    )
    return (
        f"mean {result.measure} of {a}\nless that of {b},\n{1 - result.alpha:.0%} intervals (all "
        "segments are one family)"
    )


def _text(row: dict[str, Any]) -> str:
    low, high = row["interval"]
    return (
        f"{row['segment']}: {row['a']} − {row['b']} {row['difference']:+.4f} "
        f"[{low:+.4f}, {high:+.4f}], p {row['pvalue_adjusted']:.3g}"
    )

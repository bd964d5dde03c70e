"""Panels beside one another: the segments of the topics with their intervals, or several measures.

What holds for all panels is said once.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from steadyrank.present import plot_style as style
from steadyrank.present.cells import signed_interval
from steadyrank.present.figures import Plot
from steadyrank.studies.compare.result import better_first
from steadyrank.studies.compare.view import segments as segments_finding

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.compare.result import CompareResult, CompareTable

MOST_ROWS = 40
"""Rows of a figure; of more, only the first pair of the leaderboard is drawn."""

DECISIONS = ((False, "not significant"), (True, "significant"))
"""Each has a colour and a shape, and its words in a legend."""


def draw_rows(
    ax: Axes, middle: np.ndarray, ends: np.ndarray, significant: np.ndarray, texts: Sequence[str]
) -> None:
    """Differences with their intervals [row, 2], about a line at 0."""
    for k, (decided, words) in enumerate(DECISIONS):
        rows = np.flatnonzero(significant == decided)
        if len(rows):
            arms = ((ends - middle[:, None])[rows] * [-1.0, 1.0]).T
            arms = np.maximum(np.where(np.isfinite(arms), arms, 0.0), 0.0)
            told = [texts[row] for row in rows.tolist()]
            style.row_bars(ax, middle[rows], rows, arms, told, place=k, label=words)
    ax.axvline(0.0, color=style.QUIET, linewidth=0.8)


def draw_segments(result: CompareResult, ax: Axes) -> None:
    """Differences in each segment with their intervals, below those on all topics.

    Of the best run to the others, or of all runs to the baseline; of the first such pair alone
    where these are too many.
    """
    rows = _rows(result)
    middle = np.array([row["difference"] for row in rows])
    ends = np.array([row["interval"] for row in rows], float)
    significant = np.array([row["significant"] for row in rows])
    draw_rows(ax, middle, ends, significant, [_text(row) for row in rows])
    style.name_rows(ax, _names(rows, style.longest_name(ax)))
    style.label(ax, x=_axis(result, rows, style.longest_name(ax)))
    style.legend_above(ax)


def segments_size(result: CompareResult) -> tuple[float, float]:
    """Inches."""
    return 6.4, style.rows_height(len(_rows(result)), least=1.5)


def segments_words(result: CompareResult) -> str:
    """What the figure shows."""
    segments = segments_finding(result)
    if result.segments is None or segments is None:
        return f"Differences in mean {result.measure} on all topics, with intervals."
    return (
        f"Differences in mean {result.measure} on all topics and in each of "
        f"{len(result.segments.names)} segments by {result.segments.by}, with intervals. "
        f"{segments.text}"
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
    return (
        f"{row['segment']}: {row['a']} − {row['b']} {row['difference']:+.4f} "
        f"{signed_interval(row['interval'], '+.4f').text}, p {row['pvalue_adjusted']:.3g}"
    )


NAMES_WIDTH, PANEL_WIDTH, NARROW_PANEL = 1.2, 1.35, 2.6
"""Inches that names need beside panels, that a panel with rows needs, and that any other does."""

LOWEST_PANEL = 0.65
"""Share of its height that a panel keeps when it is narrow."""

LETTERS_PER_INCH = 11.0
"""Of the words below all panels."""

PAD = 14
"""Points between a panel's title and its axes, where a legend may stand."""


def _draw_panels(table: CompareTable, ax: Axes, draw: Callable[..., None], **options: Any) -> None:
    """One panel per measure, with the runs in the same rows: by the first measure.

    Words that hold for all panels stand once, below and above them.
    """
    order = table.results[0].order
    reference = options.pop("run", None) or _reference(table)
    figure: Any = ax.get_figure()
    n, across = len(table.results), _across(len(table.results), figure.get_figwidth())
    several = style.panels(ax, n, across=across)
    for panel, result in zip(several, table.results, strict=True):
        draw(result, panel, run=reference, order=order, **options)
        panel.locator_params(axis="x", nbins=5)
        explained = panel.get_legend()
        if explained is not None:
            explained.remove()
    words = several[0].get_xlabel().replace(table.results[0].measure, "score")
    words = textwrap.fill(words, int(LETTERS_PER_INCH * figure.get_figwidth()))
    for panel, result in zip(several, table.results, strict=True):
        style.label(panel, x=result.measure)
    figure.supxlabel(words, fontsize="medium", parse_math=False)
    _figure_legend(figure, several)


def _figure_legend(figure: Any, several: Sequence[Axes]) -> None:
    """What colours mean, once for all panels, whichever has them."""
    known: dict[str, Any] = {}
    for panel in several:
        handles, labels = panel.get_legend_handles_labels()
        known |= dict(zip(labels, handles, strict=True))
    figure.legend(
        known.values(),
        known.keys(),
        loc="outside upper right",
        ncols=2,
        frameon=False,
        fontsize="small",
    )


def _across(n: int, width: float) -> int:
    """How many panels stand beside each other: in a column of a paper, below each other."""
    return min(n, max(1, int((width - NAMES_WIDTH) / PANEL_WIDTH)))


def _reference(table: CompareTable) -> str:
    first = table.results[0]
    return first.baseline or first.runs[first.order[0]]


def _draw_beside(table: CompareTable, ax: Axes, draw: Callable[..., None], **options: Any) -> None:
    figure: Any = ax.get_figure()
    across = 2 if figure.get_figwidth() >= 2 * NARROW_PANEL else 1
    several = style.panels(ax, len(table.results), across=across, sharey=False)
    for panel, result in zip(several, table.results, strict=True):
        draw(result, panel, **options)
        panel.set_title(result.measure, fontsize="medium", parse_math=False, pad=PAD)


def table_plot(one: Plot, name: str) -> Plot:
    """A kind of plot of one measure, for several."""
    in_rows = name in ("intervals", "topics")
    draw = _draw_panels if in_rows else _draw_beside

    def size(table: CompareTable) -> tuple[float, float]:
        width, height = one.size(table.results[0])
        n = len(table.results)
        if in_rows:
            return 1.6 + 2.3 * n, height + 0.5
        return width * min(n, 2), (height + 0.3) * math.ceil(n / 2)

    def height(table: CompareTable, width: float) -> float:
        first, n = table.results[0], len(table.results)
        if in_rows:
            rows = one.height(first, width) if one.height is not None else one.size(first)[1]
            return rows * math.ceil(n / _across(n, width))
        wide, high = one.size(first)
        across = 2 if width >= 2 * NARROW_PANEL else 1
        one_width = width / across
        scaled = high * max(one_width / wide, LOWEST_PANEL)
        rows = one.height(first, one_width) if one.height else scaled
        return (rows + 0.3) * math.ceil(n / across)

    return Plot(
        lambda table, ax, **options: draw(table, ax, one.draw, **options),
        size,
        lambda table: " ".join(one.alt(result) for result in table.results),
        height,
    )

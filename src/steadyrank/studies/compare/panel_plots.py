"""Several measures in one figure: a panel for each, with what holds for all of them said once."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from steadyrank.present.figures import Plot
from steadyrank.present.plot_style import label, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.compare.result import CompareTable

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
    several = panels(ax, n, across=across)
    for panel, result in zip(several, table.results, strict=True):
        draw(result, panel, run=reference, order=order, **options)
        panel.locator_params(axis="x", nbins=5)
        _drop_legend(panel)
    words = several[0].get_xlabel().replace(table.results[0].measure, "score")
    words = textwrap.fill(words, int(LETTERS_PER_INCH * figure.get_figwidth()))
    for panel, result in zip(several, table.results, strict=True):
        label(panel, x=result.measure)
    figure.supxlabel(words, fontsize="medium", parse_math=False)
    _figure_legend(figure, several)


def _drop_legend(panel: Axes) -> None:
    explained = panel.get_legend()
    if explained is not None:
        explained.remove()


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
    """One panel per measure, each with its own axes."""
    figure: Any = ax.get_figure()
    across = 2 if figure.get_figwidth() >= 2 * NARROW_PANEL else 1
    several = panels(ax, len(table.results), across=across, sharey=False)
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
        lambda table: " ".join(one.words(result) for result in table.results),
        height,
    )

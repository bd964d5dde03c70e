"""The figure of `holes`: scores with their bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steadyrank.present.figures import Plot, tell
from steadyrank.present.plot_style import (
    COLOURS,
    QUIET,
    label,
    legend_above,
    look,
    name_rows,
    with_rows,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.holes.study import HolesResult, HolesRun


def draw_bars(result: HolesResult, ax: Axes) -> None:
    """Draw a bar from the lowest to the highest score of each run, with three estimates."""
    rows = sorted(result.runs, key=lambda row: -row.score)
    place = np.arange(len(rows))
    bars = ax.barh(
        place,
        [row.highest - row.lowest for row in rows],
        left=[row.lowest for row in rows],
        height=0.6,
        color=QUIET,
        alpha=0.35,
        label="lowest to highest",
    )
    ax.use_sticky_edges = False  # keeps the dot of the lowest score whole
    tell(bars, [_words(row) for row in rows])
    estimates = (
        ("unjudged as not relevant", [row.score for row in rows]),
        ("judged only", [row.judged_only for row in rows]),
        ("imputed", [np.nan if row.imputed is None else row.imputed for row in rows]),
    )
    for k, (words, values) in enumerate(estimates):
        if np.isnan(values).all():
            continue
        ax.plot(values, place, linestyle="none", markersize=4.5, label=words, **look(k))
    spans = [(i, row.imputed_interval) for i, row in enumerate(rows) if row.imputed_interval]
    if spans:
        ax.hlines(
            [i for i, _ in spans],
            [span.low for _, span in spans],
            [span.high for _, span in spans],
            color=COLOURS[2],
            linewidth=1.6,
        )
    name_rows(ax, [row.run for row in rows])
    label(ax, x=f"mean {result.measure}")
    legend_above(ax)


def _words(row: HolesRun) -> str:
    said = (
        f"{row.run}: {row.score:.4f}, {row.unjudged_share:.1%} unjudged, between {row.lowest:.4f} "
        f"and {row.highest:.4f}; judged only {row.judged_only:.4f}"
    )
    if row.imputed is None or row.imputed_interval is None:
        return said
    low, high = row.imputed_interval
    return f"{said}; imputed {row.imputed:.4f} [{low:.4f}, {high:.4f}]"


def _bars_alt(result: HolesResult) -> str:
    imputed = " and imputed" if any(row.imputed is not None for row in result.runs) else ""
    return (
        f"Mean {result.measure} of {len(result.runs)} runs: bars from the lowest to the highest "
        "score over all completions of the judgments, with the score that counts unjudged "
        f"documents as not relevant, that over judged documents only{imputed}."
    )


PLOTS = {"HolesResult": {"bounds": Plot(draw_bars, with_rows("runs", width=7.0), _bars_alt)}}
"""Class of a result to its kinds of plot, the default first."""

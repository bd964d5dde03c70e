"""The figure of `judges`: three rankings side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steadyrank.present import plot_style as style
from steadyrank.present.figures import Plot
from steadyrank.words import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.judges.result import JudgesResult


def draw_ranks(result: JudgesResult, ax: Axes, *, judge: str | None = None) -> None:
    """Draw each run's possible ranks by people alone, after correction, and by the judge alone."""
    one = result.of(judge)
    order = one.corrected.order
    rankings = {
        f"people alone, {counted(len(result.topics), 'topic')}": result.human,
        f"{style.shortened(one.judge)}, corrected by people": one.corrected,
        f"{style.shortened(one.judge)} alone, as if by people": one.alone,
    }
    for place, (words, ranking) in enumerate(rankings.items()):
        low, high = ranking.rank_set[order].T
        ranks = ranking.rank[order]
        texts = [
            f"{result.runs[run]}, {words}: rank {rank}, {first} to {last}"
            for run, rank, first, last in zip(order, ranks, low, high, strict=True)
        ]
        rows, arms = (
            np.arange(len(order)) + 0.26 * (place - 1),
            np.stack([ranks - low, high - ranks]),
        )
        looks = {"markersize": 3, "elinewidth": 1.6, "label": words}
        style.row_bars(ax, ranks, rows, arms, texts, place=place, **looks)
    style.name_rows(ax, [result.runs[i] for i in order])
    style.whole_numbers(ax)
    ax.set_xlim(0.5, len(order) + 0.5)
    style.label(
        ax,
        # One clause per line: a label wider than its axes would be cut off.
        x=f"rank by mean {result.measure} (dot),\nand possible ranks (line),\nwith "
        f"{1 - result.alpha:.0%} confidence for each; of the judge\nalone only if it judges as "
        "people do",
    )
    style.legend_above(ax, ncols=1)


PLOTS = {
    "JudgesResult": {
        "ranks": Plot(
            draw_ranks,
            style.with_rows("runs", least=2.2, each=0.26),
            "Possible ranks of {n_runs} runs by people alone, by a judge corrected by people, and "
            "by the judge alone.",
        )
    }
}
"""Class of a result to its kinds of plot, the default first."""

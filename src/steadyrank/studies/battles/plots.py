"""What `battles` found, drawn: possible ranks, and shares of wins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steadyrank.errors import InputError
from steadyrank.present import plot_style as style
from steadyrank.present.figures import Plot
from steadyrank.studies.battles.study import BattlesResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TOP, WRITTEN = 25, 12
"""Models that a figure shows, and up to which the cells of the matrix hold their numbers."""


def draw_ranks(result: BattlesResult, ax: Axes, *, top: int = TOP) -> None:
    """Each model's rank by strength, and the ranks that it may have; of many models the best."""
    if result.own is None:
        raise InputError("models compared with a baseline have no possible ranks")
    rows = result.order[:top]
    what = (
        f"rank by strength (dot),\nand possible ranks (line), of {len(result.runs):,} models,\n"
        f"{1 - result.alpha:.0%} confidence for each{result.by_judges}"
    )
    names = [result.runs[i] for i in rows]
    style.draw_rank_rows(ax, names, result.rank[rows], *result.rank_set[rows].T, what=what)


def draw_matrix(result: BattlesResult, ax: Axes, *, top: int = TOP) -> None:
    """Expected share of wins of the row's model over the column's, with numbers of battles."""
    rows, m, (a, b) = result.order[:top], len(result.runs), result.pairs.T
    shares, n = np.full((m, m), np.nan), np.zeros((m, m), int)
    shares[a, b], shares[b, a] = result.win_probability, 1.0 - result.win_probability
    n[a, b] = n[b, a] = result.n
    shown, counts = shares[np.ix_(rows, rows)], n[np.ix_(rows, rows)]
    names, cells = [result.runs[i] for i in rows], list(np.ndenumerate(shown))
    texts = [
        f"{names[i]} beats {names[j]} in {share:.0%}, {counts[i, j]:,} battles"
        for (i, j), share in cells
    ]
    style.heat(ax, shown, low=0.0, high=1.0, bar="share of wins", texts=texts)
    if len(rows) <= WRITTEN:
        written = [f"{share:.0%}\n{counts[place]:,}" for place, share in cells]
        style.write_in_cells(ax, shown, written)
    style.name_columns(ax, names)
    ax.set_yticks(np.arange(len(names)), [style.shortened(name) for name in names])
    style.label(ax, x="opponent; below each share the number of battles", y="model")


def _rows_size(result: BattlesResult) -> tuple[float, float]:
    return 6.4, style.rows_height(min(len(result.runs), TOP), least=1.8, each=0.25)


def _square(result: BattlesResult) -> tuple[float, float]:
    side = 2.4 + 0.5 * min(len(result.runs), WRITTEN)
    return max(5.0, side + 1.4), max(3.6, side)


def _words(result: BattlesResult) -> str:
    leader = result.runs[result.order[0]]
    return f"{len(result.runs):,} models, {result.n_battles:,} battles; {leader} is the strongest."


PLOTS = {
    "BattlesResult": {
        "ranks": Plot(draw_ranks, _rows_size, lambda r: f"Possible ranks of {_words(r)}"),
        "matrix": Plot(draw_matrix, _square, lambda r: f"Shares of wins of pairs of {_words(r)}"),
    }
}
"""Class of a result to its kinds of plot, the default first."""

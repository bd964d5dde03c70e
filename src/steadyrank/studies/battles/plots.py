"""What `battles` found, drawn: possible ranks, shares of wins, and strengths by judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steadyrank.errors import InputError
from steadyrank.present import plot_style as style
from steadyrank.present.figures import Plot
from steadyrank.studies.battles.result import BattlesResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TOP = 25
"""Models that a figure shows; of more, the strongest."""

WRITTEN = 12
"""Models up to which the cells of the matrix hold their numbers."""


def draw_ranks(result: BattlesResult, ax: Axes, *, top: int = TOP) -> None:
    """Each model's rank by strength, and the ranks that it may have; of many models the best."""
    if result.own is None:
        raise InputError("models compared with a baseline have no possible ranks")
    rows = result.order[:top]
    low, high = result.rank_set[rows].T
    what = "\n".join(
        [
            "rank by strength (dot),",
            f"and possible ranks (line), of {len(result.runs):,} models,",
            f"{1 - result.alpha:.0%} confidence for each{result.by_judges}",
        ]
    )
    names = [result.runs[i] for i in rows]
    style.draw_rank_rows(ax, names, result.rank[rows], low, high, what=what)


def draw_matrix(result: BattlesResult, ax: Axes, *, top: int = TOP) -> None:
    """Expected share of wins of the row's model over the column's, with numbers of battles."""
    rows = result.order[:top]
    m = len(result.runs)
    shares, n = np.full((m, m), np.nan), np.zeros((m, m), int)
    a, b = result.pairs.T
    shares[a, b], shares[b, a] = result.win_probability, 1.0 - result.win_probability
    n[a, b] = n[b, a] = result.n
    shown, counts = shares[np.ix_(rows, rows)], n[np.ix_(rows, rows)]
    names = [result.runs[i] for i in rows]
    texts = [
        f"{names[i]} beats {names[j]} in {share:.0%}, {counts[i, j]:,} battles"
        for (i, j), share in np.ndenumerate(shown)
    ]
    style.heat(ax, shown, low=0.0, high=1.0, bar="share of wins", texts=texts)
    if len(rows) <= WRITTEN:
        cells = [f"{share:.0%}\n{counts[i, j]:,}" for (i, j), share in np.ndenumerate(shown)]
        style.write_in_cells(ax, shown, cells)
    style.name_columns(ax, names)
    ax.set_yticks(np.arange(len(names)), [style.shortened(name) for name in names])
    style.label(ax, x="opponent; below each share the number of battles", y="model")


def draw_judges(result: BattlesResult, ax: Axes, *, top: int = TOP) -> None:
    """Strengths of each model by each judge alone, and by all of them together."""
    if len(result.by_judge) < 2:
        raise InputError("strengths by judge require battles of at least two named judges")
    rows = result.order[:top]
    names = [result.runs[i] for i in rows]
    for k, one in enumerate(result.by_judge[: len(style.COLOURS) - 1]):
        texts = [
            f"{run} by {one.judge}: {one.strength[i]:+.3f}"
            for i, run in zip(rows, names, strict=True)
        ]
        looks = {**style.look(k), "label": style.shortened(one.judge)}
        style.dots(ax, one.strength[rows], np.arange(len(rows)), texts, **looks)
    texts = [f"{run}: {result.strength[i]:+.3f}" for i, run in zip(rows, names, strict=True)]
    looks = {"marker": "|", "markersize": 14, "markeredgewidth": 2.0, "color": style.QUIET}
    style.dots(ax, result.strength[rows], np.arange(len(rows)), texts, label="all", **looks)
    style.name_rows(ax, names)
    style.label(ax, x="strength (log odds) by judge")
    style.legend_above(ax)


def _n_shown(result: BattlesResult) -> int:
    return min(len(result.runs), TOP)


def _square(result: BattlesResult) -> tuple[float, float]:
    side = 2.4 + 0.5 * min(_n_shown(result), WRITTEN) + 0.2 * max(0, _n_shown(result) - WRITTEN)
    return max(5.0, side + 1.4), max(3.6, side)


def _words(result: BattlesResult) -> str:
    leader = result.runs[result.order[0]]
    return f"{len(result.runs):,} models, {result.n_battles:,} battles; {leader} is the strongest."


PLOTS = {
    "BattlesResult": {
        "ranks": Plot(
            draw_ranks,
            lambda result: (6.4, style.rows_height(_n_shown(result), least=1.8)),
            lambda result: f"Possible ranks of {_words(result)}",
        ),
        "matrix": Plot(
            draw_matrix, _square, lambda result: f"Shares of wins of pairs of {_words(result)}"
        ),
        "judges": Plot(
            draw_judges,
            lambda result: (6.4, style.rows_height(_n_shown(result), least=1.8, each=0.3)),
            lambda result: f"Strengths by judge of {_words(result)}",
        ),
    }
}
"""Class of a result to its kinds of plot, the default first."""

"""Figures of `datasets`: rank sets, and two runs dataset by dataset."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

from steadyrank.errors import InputError, arg
from steadyrank.present import plot_style as style
from steadyrank.present.figures import Plot
from steadyrank.studies.datasets.result import AGGREGATES, DatasetPair, DatasetsResult
from steadyrank.words import filled

if TYPE_CHECKING:
    from matplotlib.axes import Axes


TOP = 30
"""Largest number of runs that a figure names."""


def draw_ranks(result: DatasetsResult, ax: Axes, *, top: int = TOP) -> None:
    """Draw the rank and the possible ranks of each run, or of the best `top` of many runs."""
    rows = result.order[:top]
    low, high = result.rank_set[rows].T
    clauses = [
        f"rank by {AGGREGATES[result.aggregate]} (dot),",
        f"and possible ranks (line), of {len(result.runs):,},",
        f"with {1 - result.alpha:.0%} confidence for each",
    ]
    rest = result.order[len(rows) :]
    if rest:
        firsts = int(result.could_be_first[rest].sum()) or "none"
        clauses.append(f"{len(rest):,} more runs below; {firsts} of them could be first")
    names = [result.runs[i] for i in rows]
    style.draw_rank_rows(ax, names, result.rank[rows], low, high, what="\n".join(clauses))
    ax.set_xlim(0.0, max(float(high.max()), len(rows)) + 1.0)
    ax.axvline(1.0, color=style.QUIET, linewidth=0.8, linestyle=":")


def _pair_of(result: DatasetsResult) -> DatasetPair:
    """Return the pair in depth; raise an error where there is none."""
    if result.pair is None:
        raise InputError(
            f"the two best runs share too few datasets: name two runs with {arg('a=')} and "
            f"{arg('b=')}"
        )
    return result.pair


def draw_forest(result: DatasetsResult, ax: Axes) -> None:
    """Draw the difference of two runs on each dataset, the mean, and that of the next dataset."""
    pair = _pair_of(result)
    order = np.argsort(-pair.per_dataset, kind="stable")
    gap, names = pair.per_dataset[order], [pair.datasets[k] for k in order]
    half = stdtrit(np.inf, 1 - pair.alpha / 2) * np.nan_to_num(pair.error[order])
    rows = np.arange(len(gap))
    texts = [f"{name}: {d:+.4f} ± {h:.4f}" for name, d, h in zip(names, gap, half, strict=True)]
    style.row_bars(ax, gap, rows, half, texts, elinewidth=1.2)
    for k, (words, ends) in enumerate(
        (("mean over datasets", pair.interval), ("next dataset", pair.prediction_interval)), start=1
    ):
        place = len(gap) + k - 1
        low, high = ends
        arms = np.nan_to_num([[pair.difference - low], [high - pair.difference]])
        texts = [f"{words}: {pair.difference:+.4f} [{low:+.4f}, {high:+.4f}]"]
        looks = {"markersize": 6, "elinewidth": 3.0}
        style.row_bars(ax, [pair.difference], [place], arms, texts, place=k, **looks)
        names.append(words)
    ax.axvline(0.0, color=style.QUIET, linewidth=0.8)
    ax.axhline(len(gap) - 0.5, color=style.QUIET, linewidth=0.8)
    style.name_rows(ax, names)
    known = "lines on datasets: over topics; " if pair.effects is not None else ""
    style.label(
        ax,
        x=f"{style.shortened(pair.a)}\nless {style.shortened(pair.b)}\n"
        f"({known}{1 - pair.alpha:.0%} intervals, for this pair alone)",
    )


def _rows_size(n: Callable[[DatasetsResult], int], least: float = 1.5) -> style.Size:
    return lambda result: (6.8, style.rows_height(n(result), least=least))


_runs_size = _rows_size(lambda result: len(result.order[:TOP]), 1.8)

PLOTS = {
    "DatasetsResult": {
        "ranks": Plot(
            draw_ranks,
            _runs_size,
            lambda result: (
                f"Possible ranks of {len(result.runs):,} runs by {AGGREGATES[result.aggregate]} "
                f"over {len(result.datasets)} datasets; {int(result.could_be_first.sum()):,} could "
                f"be first, {result.runs[result.order[0]]} leads."
            ),
        ),
        "forest": Plot(
            draw_forest,
            _rows_size(lambda result: 2 + (len(result.pair.datasets) if result.pair else 0)),
            lambda result: filled(
                "Differences of {a} to {b} on {n_datasets} datasets, with their mean of "
                "{difference:+.4f} and an interval for the next dataset.",
                _pair_of(result),
            ),
        ),
    }
}
"""Class of a result to its kinds of plot, the default first."""

"""Scores as a notebook shows them: a table whose cells are shaded by column."""

from __future__ import annotations

from html import escape

import numpy as np

from steadyrank.data.scores import Scores

MOST_RUNS = 60
MOST_TOPICS = 60


def heatmap(scores: Scores) -> str:
    """An HTML table: topics as columns for one measure, means by measure for several."""
    if len(scores.measures) == 1 and len(scores.topics) <= MOST_TOPICS:
        values = np.column_stack([scores.mean()[0], scores.values[0]])
        columns = ("mean", *scores.topics)
    else:
        values, columns = scores.mean().T, scores.measures
    shown = values[:MOST_RUNS]
    low, high = _column_bounds(values)
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(run)}</th>"
        + "".join(_shaded(value, lo, hi) for value, lo, hi in zip(row, low, high, strict=True))
        + "</tr>"
        for run, row in zip(scores.runs, shown, strict=False)
    )
    hidden = len(scores.runs) - len(shown)
    more = f"<p>{hidden} more runs not shown</p>" if hidden > 0 else ""
    caption = escape(repr(scores).strip("<>"))
    return (
        f"<table><caption>{caption}</caption><thead><tr><th>run</th>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table>{more}"
    )


def _column_bounds(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    present = ~np.isnan(values)
    low = np.where(present, values, np.inf).min(axis=0, initial=np.inf)
    high = np.where(present, values, -np.inf).max(axis=0, initial=-np.inf)
    return low, high


def _shaded(value: float, low: float, high: float) -> str:
    if np.isnan(value):
        return "<td title='missing'>–</td>"
    share = (value - low) / (high - low) if high > low else 0.0
    # Alpha rather than a colour of its own, so that dark themes keep their text readable.
    return f"<td style='background:rgba(70,130,220,{0.55 * share:.2f})'>{value:.4f}</td>"

"""Scores as tables: means by run, every score by topic, and what ties could move."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import Any

import numpy as np

from steadyrank.data.scores import Scores, topic_weights
from steadyrank.present.cells import name, number
from steadyrank.present.table import Cell, Table, render
from steadyrank.words import counted, weighted_words

MOST_RUNS = 60
MOST_TOPICS = 60
"""Of the heat map that a notebook shows."""


def means_table(scores: Scores, *, digits: int = 4) -> Table:
    """Mean scores: one row per run, best first by the first measure, one column per measure."""
    means = scores.mean().T
    order = np.lexsort((np.arange(len(means)), -np.nan_to_num(means[:, 0], nan=-np.inf)))
    means = means[order]
    return Table(
        header=["system" if "n_instances" in scores.meta else "run", *scores.measures],
        rows=[
            [
                name(_named(scores, i)),
                *(
                    _mean_cell(scores, measure, i, value, digits)
                    for measure, value in zip(scores.measures, row, strict=True)
                ),
            ]
            for i, row in zip(order, means, strict=True)
        ],
        best=_best(means),
        caption=f"{_means_words(scores)}{_instances(scores)}.",
    )


def _means_words(scores: Scores) -> str:
    words, weights = f"Means over {counted(len(scores.topics), 'topic')}", topic_weights(scores)
    if weights is None:
        return words
    from steadyrank.stats.pairs.clustered import effective_topics  # SciPy: only where used

    return words + weighted_words(effective_topics(weights))


def _mean_cell(scores: Scores, measure: str, place: int, value: float, digits: int) -> Cell:
    """A mean; of a system with several runs, ± the standard deviation of theirs."""
    cell = number(value, f".{digits}f")
    spread = scores.meta.get("instance_sd", {}).get(measure, {}).get(scores.runs[place], np.nan)
    if np.isnan(spread):
        return cell
    return Cell(f"{cell.text} ± {spread:.{digits}f}", cell.value)


def _named(scores: Scores, place: int) -> str:
    """A run; or a system, with the number of its runs where systems differ in it."""
    sizes = scores.meta.get("n_instances", {})
    run = scores.runs[place]
    return f"{run} ({counted(sizes[run], 'run')})" if len(set(sizes.values())) > 1 else run


def _instances(scores: Scores) -> str:
    sizes = sorted(set(scores.meta.get("n_instances", {}).values()))
    if not sizes:
        return ""
    words = (
        counted(sizes[0], "instance") if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]} instances"
    )
    return f" and {words} per system, ± standard deviation of the instances' means"


def topics_table(scores: Scores, *, digits: int = 4) -> Table:
    """Every score: one row per topic, one column per run and measure, and the means at the end."""
    several = len(scores.measures) > 1
    header = [
        f"{run} {measure}" if several else run for measure in scores.measures for run in scores.runs
    ]
    columns = scores.values.reshape(-1, len(scores.topics))
    figures = np.column_stack([columns, scores.mean().ravel()]).T
    rows = [
        [name(topic), *(number(value, f".{digits}f") for value in row)]
        for topic, row in zip([*scores.topics, "mean"], figures, strict=True)
    ]
    measure = "Scores" if several else scores.measures[0]
    weighted = " The mean is weighted." if "weight" in scores.topic_info else ""
    caption = f"{measure} by topic.{weighted}"
    return Table(header=["topic", *header], rows=rows, caption=caption)


def scores_text(
    scores: Scores, form: str, *, per_topic: bool = False, digits: int = 4, **looks: Any
) -> str:
    """Means, or with `per_topic` every score, and how far ties could move them."""
    table = (topics_table if per_topic else means_table)(scores, digits=digits)
    caption = f"{table.caption} {ties_sentence(scores, digits=digits)}".strip()
    return render(replace(table, caption=caption), form, **looks)


def ties_sentence(scores: Scores, *, digits: int = 4) -> str:
    """How far the order of tied documents could move a mean, where `evaluate` found out."""
    spans = [
        (high - low, measure, run, low, high)
        for measure, runs in scores.meta.get("tie_bounds", {}).items()
        for run, (low, high) in runs.items()
        if high > low
    ]
    if not spans:
        return ""
    _, measure, run, low, high = max(spans)
    if round(high - low, digits) == 0:
        return f"Ties could change no mean by {10.0**-digits:.{digits}f}."
    return (
        f"The order of tied documents could change means, most of all {measure} of {run}: "
        f"{low:.{digits}f} to {high:.{digits}f}."
    )


def _best(means: np.ndarray) -> frozenset[tuple[int, int]]:
    """The largest mean of every column, unless there is nothing to choose from."""
    if len(means) < 2:
        return frozenset()
    return frozenset(
        (int(row), column + 1)
        for column in range(means.shape[1])
        for row in np.flatnonzero(means[:, column] == np.nanmax(means[:, column], initial=-np.inf))
    )


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
    """Smallest and largest value of each column, missing cells left out."""
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

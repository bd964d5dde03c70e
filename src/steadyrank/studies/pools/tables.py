"""What `pools` found, as tables: Tables 2 and 3 of Sakai & Shang (EVIA 2016), their figures as
rows, and what runs owe to documents of their own, with the words that belong to them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from steadyrank.present.cells import name, number, titled
from steadyrank.present.json import picked, to_json
from steadyrank.present.table import Cell, Table, exact_table, render, with_words
from steadyrank.stats.ranks.intervals import TauInterval
from steadyrank.studies.pools.result import LeaveOut, PoolBias, PoolsResult, Reference
from steadyrank.studies.pools.study import misses
from steadyrank.words import counted, figure, interval
from steadyrank.words import size as size_text

MOST_RUNS = 10
"""Runs in the table of pool bias; JSON has all."""

RANGES = (
    "Ranges go from the smallest to the largest trial of a k. They are not confidence intervals: "
    "trials are sets of the same teams, which overlap."
)
INTERVALS = (
    "Intervals are the paper's, Student's for the mean over the trials of a k, as if trials were "
    "independent; more trials make them narrower, not the trials more alike (their ranges and "
    "quantiles are in CSV and JSON). One in twenty 95% intervals misses by chance."
)

TAU = (
    "The published interval takes its standard error from unrelated rankings, so it may "
    "exceed 1, and reaching 1 does not make two rankings equivalent; the other interval is "
    "about other topics."
)


def pools_json(result: PoolsResult) -> dict[str, Any]:
    """The promised keys, and what else there is."""
    return {
        "n_teams": len(result.teams),
        "measures": result.measures,
        "leave_out": result.rows(),
        "teams": result.teams,
        "runs": result.runs,
        "n_topics": len(result.topics),
        "pool_depth": result.pool_depth,
        "trials": result.n_trials,
        **picked(result, "confidence seed mode"),
        "demands": result.demands
        and picked(result.demands, "method formula alpha beta systems minimum_difference width"),
        "judgments": {
            "total": result.n_judgments,
            "by_nobody": result.n_orphans,
            "by_one_team": result.n_unique,
        },
        "references": [_reference_row(reference) for reference in result.references],
        "teams_left_out": [
            {"k": trial.k, "teams": [result.teams[team] for team in trial.left_out]}
            for trial in result.drawn
            if trial.k
        ],
        "pool_bias": [bias_row(row) for row in result.bias],
        "rank_similarity": [
            {
                **picked(pair, "measure_a measure_b tau"),
                "interval": _ends(pair.published),
                "bootstrap_interval": _ends(pair.bootstrap),
            }
            for pair in result.similarity
        ],
    }


def _reference_row(reference: Reference) -> dict[str, Any]:
    return {
        **picked(reference, "measure variance variance_interval"),
        "topics": reference.n_topics,
        "topics_needed": reference.topics_needed,
        "topics_needed_interval": reference.topics_interval,
        "difference_variance": reference.difference_variance,
        "difference_topics_needed": reference.difference_topics,
        "first_miss": [{"pilot_topics": size, "k": k} for size, k in reference.first_miss.items()],
    }


def bias_row(row: PoolBias) -> dict[str, Any]:
    """The keys of the JSON output."""
    return picked(row, "measure run team score score_without change unique unique_relevant")


def pools_text(result: PoolsResult, form: str, *, digits: int = 4, **looks: Any) -> str:
    """The result in one of the output formats; CSV holds one row per measure, k and pilot size."""
    if form == "json":
        return to_json(pools_json(result))
    if form == "csv":
        return render(_csv_table(result), "csv")
    tables = [
        _reference_table(result, digits),
        *(_leave_out_table(result, size, digits) for size in result.pilot_topics),
        *([_similarity_table(result)] if result.similarity else []),
        _bias_table(result, digits),
    ]
    answer, notes = answer_sentences(result, digits), pools_notes(result)
    return with_words(answer, tables, notes, form, **looks)


def answer_sentences(result: PoolsResult, digits: int = 4) -> list[str]:
    """For each measure, the variance by all teams and what fewer teams would have said."""
    size = max(result.pilot_topics)
    with_topics = "" if size == len(result.topics) else f" with {size} pilot topics"
    answer = []
    for reference in result.references:
        needed, ends = reference.topics_needed, reference.topics_interval
        requires = (
            ""
            if needed is None or ends is None
            else f" and requires {size_text(needed)} topics ({result.confidence:.0%} interval "
            f"{size_text(ends[0])} to {size_text(ends[1])})"
        )
        words = _miss_words if result.mode == "paper" else _range_words
        answer.append(
            f"{reference.measure}: with all {len(result.teams)} teams the variance is "
            f"{reference.variance:.{digits}f}{requires}; {words(result, reference, digits)}"
            f"{with_topics}."
        )
    return answer


def _miss_words(result: PoolsResult, reference: Reference, digits: int) -> str:
    """The paper's reading of its intervals."""
    k = reference.first_miss.get(max(result.pilot_topics))
    if k is None:
        return f"no interval misses it with up to {max(result.ks)} teams left out"
    return f"the first interval to miss it has {k} left out, so {len(result.teams) - k} teams"


def _range_words(result: PoolsResult, reference: Reference, digits: int) -> str:
    """The ranges of the trials with the fewest and with the most teams left out."""
    parts = []
    for k in dict.fromkeys((min(result.ks), max(result.ks))):
        extent = result.cell(reference.measure, k).extent
        if extent is not None:
            low, high = (f"{end:.{digits}f}" for end in extent)
            parts.append(f"with {counted(k, 'team')} left out, trials range from {low} to {high}")
    return ", ".join(parts) or "no two trials can be compared"


def pools_notes(result: PoolsResult) -> list[str]:
    """What a reader of the figures must know."""
    share = result.n_unique / result.n_judgments
    orphans = f"; {result.n_orphans:,} are of no team and always stay" if result.n_orphans else ""
    notes = [
        f"Of {result.n_judgments:,} judged documents, {result.n_unique:,} ({share:.0%}) are within "
        f"the top {result.pool_depth} of one team alone{orphans}."
    ]
    if any(row.interval for row in result.leave_out):
        notes.insert(0, INTERVALS)
    elif any(row.extent for row in result.leave_out):
        notes.insert(0, RANGES)
    if any(min(row.topics_left) < row.pilot_topics for row in result.leave_out):
        notes.append(
            "Some trials have fewer topics: those on which all their runs score 0 are dropped."
        )
    if result.similarity:
        notes.append(TAU)
    return notes


def _reference_table(result: PoolsResult, digits: int) -> Table:
    """All teams: variances by numbers of pilot topics, Table 3 of the paper."""
    cut = [size for size in result.pilot_topics if size < len(result.topics)]
    rows = []
    for reference in result.references:
        cells = {size: result.cell(reference.measure, 0, size) for size in cut}
        differences = reference.difference_variance, reference.difference_topics
        rows.append(
            {
                "all teams": name(reference.measure),
                f"{len(result.topics)} topics": _variance(
                    reference.variance, reference.topics_needed, digits
                ),
                f"{result.confidence:.0%} interval": Cell(
                    _span(reference.variance_interval, digits)
                ),
                **{
                    f"{size} topics": _variance(cell.mean, cell.topics_needed, digits)
                    for size, cell in cells.items()
                },
                "differences": _variance(*differences, digits),
            }
        )
    in_brackets = "" if result.demands is None else "; in parentheses, the topics to build"
    caption = (
        f"Variance (V_E) with all teams{in_brackets}; differences: 95th percentile over pairs of "
        f"runs of the variance of their differences. {result.caption()}"
    )
    header, cells_in_rows = titled(rows)
    return Table(header=header, rows=cells_in_rows, caption=caption)


def _leave_out_table(result: PoolsResult, size: int, digits: int) -> Table:
    """One row per k, one column per measure; starred where an interval misses the reference."""
    rows, stars = [], {}
    for i, k in enumerate(result.ks):
        cells = [result.cell(measure, k, size) for measure in result.measures]
        rows.append([number(k, "d"), *(_estimate(cell, digits) for cell in cells)])
        for j, (cell, reference) in enumerate(zip(cells, result.references, strict=True)):
            if misses(cell.interval, reference.variance):
                stars[i, j + 1] = "*"
    beside = (
        f"its {result.confidence:.0%} interval; * where it misses the variance by all teams and "
        "topics"
        if result.mode == "paper"
        else "the range of the trials, smallest to largest"
    )
    caption = (
        f"Variances with k teams left out and {size} pilot topics: mean over trials with {beside}."
    )
    return Table(header=["k", *result.measures], rows=rows, marks=stars, caption=caption)


def _similarity_table(result: PoolsResult) -> Table:
    """Table 2 of the paper."""
    header, rows = titled(
        {
            "measures": name(f"{pair.measure_a}, {pair.measure_b}"),
            "tau": number(pair.tau, ".3f"),
            "published": Cell(_span(_ends(pair.published), 3)),
            "over topics": Cell(_span(_ends(pair.bootstrap), 3)),
        }
        for pair in result.similarity
    )
    caption = (
        f"Kendall's tau between rankings of the {len(result.runs)} runs, with "
        f"{result.confidence:.0%} intervals."
    )
    return Table(header=header, rows=rows, caption=caption)


def _bias_table(result: PoolsResult, digits: int) -> Table:
    """Runs whose scores owe most to documents of their own, by the first measure."""
    by_run: dict[str, list[PoolBias]] = {}
    for row in result.bias:
        by_run.setdefault(row.run, []).append(row)
    order = sorted(by_run.values(), key=lambda rows: -abs(np.nan_to_num(rows[0].change)))
    rows = [
        [
            name(biases[0].run),
            name(biases[0].team),
            number(biases[0].unique, "d"),
            number(biases[0].unique_relevant, "d"),
            *(_score_and_change(bias, digits) for bias in biases),
        ]
        for biases in order[:MOST_RUNS]
    ]
    which = "" if len(order) <= MOST_RUNS else f" (the {MOST_RUNS} of {len(order)} runs with most)"
    caption = (
        "Pool bias: mean scores, and their change without the documents that only the run's team "
        f"brought into the pool{which}."
    )
    header = ["run", "team", "unique", "relevant", *result.measures]
    return Table(header=header, rows=rows, caption=caption, n_names=2)


def _csv_table(result: PoolsResult) -> Table:
    levels = dict.fromkeys(key for row in result.leave_out for key in row.quantiles)
    return exact_table(
        [
            {
                **picked(row, "measure k pilot_topics"),
                "trials": len(row.variances),
                "mean": row.mean,
                **_ends_of("range", row.extent),
                "interval": row.interval,
                **{f"quantile_{level}": row.quantiles.get(level) for level in levels},
                "topics_needed": row.topics_needed,
                **_ends_of("topics_needed_range", row.topics_extent),
                **_ends_of("topics_needed", row.topics_interval),
                "difference_mean": row.difference_mean,
                "difference_topics_needed": row.difference_topics,
            }
            for row in result.leave_out
        ]
    )


def _ends_of(key: str, ends: Sequence[float | None] | None) -> dict[str, float | None]:
    low, high = ends or (None, None)
    return {f"{key}_low": low, f"{key}_high": high}


def _estimate(cell: LeaveOut, digits: int) -> Cell:
    parts = [figure(cell.mean, f".{digits}f")]
    if cell.interval is not None:
        parts.append(_span(cell.interval, digits))
    elif cell.extent is not None:
        parts.append("{:.{digits}f} to {:.{digits}f}".format(*cell.extent, digits=digits))
    if cell.topics_needed is not None:
        parts.append(f"({cell.topics_needed})")
    return Cell(" ".join(parts), cell.mean)


def _variance(value: float, topics: int | None, digits: int) -> Cell:
    needed = "" if topics is None else f" ({topics})"
    return Cell(figure(value, f".{digits}f") + needed, value)


def _score_and_change(bias: PoolBias, digits: int) -> Cell:
    change = figure(bias.change, f"+.{digits}f").replace("-", "−")
    return Cell(f"{figure(bias.score, f'.{digits}f')} {change}", bias.score)


def _span(ends: Sequence[float] | None, digits: int) -> str:
    known = ends is not None and not any(map(math.isnan, ends))
    return interval(ends if known else None, f".{digits}f")


def _ends(interval: TauInterval | None) -> tuple[float, float] | None:
    return None if interval is None else (interval.low, interval.high)

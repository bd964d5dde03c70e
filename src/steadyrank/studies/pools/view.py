"""Sentences, tables and the section of `pools`.

Table 3 of Sakai & Shang (EVIA 2016), the values of their figures, and pool bias.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

from steadyrank.present.json import picked
from steadyrank.present.view import Col, FigureSpec, Finding, Row, TableSpec, View, Words
from steadyrank.studies.material import NO_RUNS, Material, named_teams
from steadyrank.studies.part import Job, Samples, part_of
from steadyrank.studies.pools.study import PoolsResult, Reference, misses, pools
from steadyrank.words import by_number, counted, size

MOST_RUNS = 10
"""Number of runs that a command prints in the table of pool bias; JSON has all."""


def findings(result: PoolsResult) -> list[Finding]:
    """Return findings about the first measure; tables have all measures."""
    reference = result.references[0]
    spread = _first_miss if result.mode == "paper" else _range
    return [
        *_owed(result),
        _unique(result),
        _variance(result, reference),
        *spread(result, reference),
    ]


def _owed(result: PoolsResult) -> list[Finding]:
    """Return the largest loss of a run without the documents that only its team contributed."""
    measure = result.measures[0]
    rows = [row for row in result.bias if row.measure == measure and not math.isnan(row.change)]
    if not rows:
        return []
    worst = min(rows, key=lambda row: row.change)
    median = statistics.median(row.change for row in rows)
    values = {**picked(worst, "run team measure change"), "median_change": median}
    only = "without the judgments that only its team contributed"
    text = f"No run loses {measure} {only}"
    if worst.change < 0.0:
        text = (
            f"{only.capitalize()}, a run loses at most {-worst.change:.4f} {measure} "
            f"({worst.run}; median {0.0 - median:.4f})"
        )
    return [Finding("pools.owed", f"{text}.", values)]


def _variance(result: PoolsResult, reference: Reference) -> Finding:
    needed, ends, requires = reference.topics_needed, reference.topics_interval, ""
    if needed is not None and ends is not None:
        requires = (
            f", which requires {size(needed)} topics ({result.confidence:.0%} interval "
            f"{size(ends[0])} to {size(ends[1])})"
        )
    text = (
        f"{reference.measure}: with all {len(result.teams)} teams the variance is "
        f"{reference.variance:.4f}{requires}."
    )
    return Finding("pools.variance", text, _reference_row(reference))


def _first_miss(result: PoolsResult, reference: Reference) -> list[Finding]:
    """Return the smallest k whose interval misses the variance, as in the paper."""
    k = reference.first_miss.get(max(result.pilot_topics))
    text = (
        f"No interval misses it with up to {counted(max(result.ks), 'team')} left out"
        if k is None
        else f"The first interval to miss it has {counted(k, 'team')} left out, of "
        f"{len(result.teams)}"
    )
    values = {"measure": reference.measure, "k": k, "n_teams": len(result.teams)}
    return [Finding("pools.first_miss", f"{text}.", values)]


def _range(result: PoolsResult, reference: Reference) -> list[Finding]:
    """Return the ranges of the trials with the fewest and with the most teams left out."""
    cells = {k: result.cell(reference.measure, k) for k in (min(result.ks), max(result.ks))}
    ranges = {k: cell.extent for k, cell in cells.items() if cell.extent is not None}
    if not ranges:
        return []
    parts = [
        f"from {low:.4f} to {high:.4f} without {counted(k, 'team')}"
        for k, (low, high) in ranges.items()
    ]
    text = f"Variances of trials range {' and '.join(parts)}."
    values = {"measure": reference.measure, "k": list(ranges), "ranges": list(ranges.values())}
    return [Finding("pools.range", text, values)]


def _unique(result: PoolsResult) -> Finding:
    share = result.n_unique / result.n_judgments
    orphans = f"; {result.n_orphans:,} are of no team and are kept" if result.n_orphans else ""
    text = (
        f"Of {result.n_judgments:,} judged documents, {result.n_unique:,} ({share:.0%}) are in the "
        f"top {result.pool_depth} of only one team{orphans}."
    )
    return Finding("pools.unique", text, _judgments(result))


def _judgments(result: PoolsResult) -> dict[str, int]:
    return picked(result, "total=n_judgments by_nobody=n_orphans by_one_team=n_unique")


def _reference_row(reference: Reference) -> dict[str, Any]:
    keys = (
        "measure variance variance_interval topics=n_topics topics_needed "
        "topics_needed_interval=topics_interval"
    )
    first = [{"pilot_topics": n, "k": k} for n, k in reference.first_miss.items()]
    return picked(reference, keys) | {"first_miss": first}


def _leave_out_rows(result: PoolsResult) -> list[dict[str, Any]]:
    levels = dict.fromkeys(key for row in result.leave_out for key in row.quantiles)
    return [
        {
            **picked(row, "measure k pilot_topics"),
            "trials": len(row.variances),
            "mean": row.mean,
            **_ends_of("range", row.extent),
            **_ends_of("interval", row.interval),
            **{f"quantile_{level}": row.quantiles.get(level) for level in levels},
            "topics_needed": row.topics_needed,
            **_ends_of("topics_needed_range", row.topics_extent),
            **_ends_of("topics_needed", row.topics_interval),
        }
        for row in result.leave_out
    ]


def _ends_of(key: str, ends: Sequence[float | None] | None) -> dict[str, float | None]:
    low, high = ends or (None, None)
    return {f"{key}_low": low, f"{key}_high": high}


def _star(result: PoolsResult, row: Row) -> str:
    variance = result.references[result.measures.index(row["measure"])].variance
    cell = result.cell(row["measure"], row["k"], row["pilot_topics"])
    return "*" if misses(cell.interval, variance) else ""


def _has_ranges(result: PoolsResult) -> bool:
    """Whether ranges are shown; with `mode="paper"`, intervals are."""
    return result.mode == "sound" and any(row.extent for row in result.leave_out)


def _bias_rows(result: PoolsResult) -> list[dict[str, Any]]:
    keys = "measure run team score score_without change unique unique_relevant"
    return [picked(row, keys) for row in result.bias]


def _most_biased_first(result: PoolsResult, rows: Sequence[Row]) -> list[Row]:
    """Sort runs by their bias by the first measure, with all measures of a run together."""
    bias = {row["run"]: abs(row["change"]) for row in rows if row["measure"] == result.measures[0]}
    # NaN, an unknown bias, counts as 0.
    return sorted(rows, key=lambda row: -bias[row["run"]] if bias[row["run"]] > 0 else 0.0)


MEASURE = Col("measure", form="name", when=lambda result: len(result.measures) > 1)

LEAVE_OUT = TableSpec(
    id="leave-teams-out",
    rows=_leave_out_rows,
    columns=(
        MEASURE,
        Col("k", "teams left out", "count"),
        Col(
            "pilot_topics",
            form="count",
            when=lambda result: result.pilot_topics != (len(result.topics),),
        ),
        Col("trials", form="count"),
        Col("mean", "variance"),
        Col(("range_low", "range_high"), "range", when=_has_ranges),
        Col(("interval_low", "interval_high"), "{sure} interval", when="known"),
        Col("topics_needed", form="size", when="known"),
        Col(
            ("topics_needed_range_low", "topics_needed_range_high"),
            "range of topics",
            "size",
            lambda result: _has_ranges(result) and result.demands is not None,
        ),
        Col(("topics_needed_low", "topics_needed_high"), "interval of topics", "size", "known"),
    ),
    n_names=0,
    marked="interval_low",
    marks=_star,
    caption=lambda result: (
        "Variance (V_E) with teams left out: mean over trials, and "
        + (
            "its interval, * if it misses the variance of all teams"
            if result.mode == "paper"
            else "range, which is not a confidence interval"
        )
        + " (docs/pools.md)."
    ),
    opened=16,
)
BIAS = TableSpec(
    id="pool-bias-runs",
    n_names=3,
    rows=_bias_rows,
    shown=_most_biased_first,
    printed=lambda result: MOST_RUNS * len(result.measures),
    columns=(
        Col("run", form="name"),
        Col("team", form="name"),
        MEASURE,
        Col("score"),
        Col("change", form="change"),
        Col("unique", "unique documents", "count"),
        Col("unique_relevant", "relevant", "count"),
    ),
    caption=lambda result: (
        "Pool bias: scores, and their change without what only the team contributed. "
        f"{result.caption()}"
    ),
)


def fields(result: PoolsResult) -> dict[str, Any]:
    """Return the keys of the JSON output."""
    return {
        "n_teams": len(result.teams),
        "measures": result.measures,
        "leave_out": result.rows(),
        **picked(result, "teams runs"),
        "n_topics": len(result.topics),
        **picked(result, "pool_depth trials=n_trials confidence seed mode"),
        "demands": result.demands
        and picked(result.demands, "method formula alpha beta systems minimum_difference width"),
        "judgments": _judgments(result),
        "references": [_reference_row(reference) for reference in result.references],
        "teams_left_out": [
            {"k": trial.k, "teams": [result.teams[team] for team in trial.left_out]}
            for trial in result.drawn
            if trial.k
        ],
        "pool_bias": _bias_rows(result),
    }


def figure(result: PoolsResult) -> FigureSpec:
    """Return the figure for the first measure."""
    return FigureSpec(
        id="pool-variance",
        caption="Variance with teams left out.",
        kind="variance",
        options={"measure": result.measures[0]},
    )


VIEW = View(
    words=Words(
        title="Other teams",
        question="Would the judgments and the plan be the same without some teams?",
        means=(
            "Teams are left out together with the judged documents that only they contributed, and "
            "the variance on which plans are based is estimated again. Pool bias is the part of a "
            "run's score that is due to documents of its team."
        ),
        means_not=(
            "All runs are assumed to have been pooled to the given depth, which may not be how "
            "the judgments were made. The section does not apply to teams unlike these."
        ),
    ),
    findings=findings,
    tables=(BIAS, LEAVE_OUT),
    csv="leave-teams-out",
    fields=fields,
    figure=figure,
)


LEAST_TEAMS = 3


def _why_not(material: Material) -> str:
    if material.runs is None:
        return NO_RUNS
    teams = named_teams(material.scores)
    if not teams:
        return (
            "the teams of the runs are unknown: give --run-info with a column team, or --team-from"
        )
    if len(teams) < LEAST_TEAMS:
        known = by_number(len(teams), "is", "are")
        return f"leaving out teams requires at least {LEAST_TEAMS}; there {known} {len(teams)}"
    return ""


def _run(job: Job) -> PoolsResult:
    material, machine, settings = job.material, job.machine, job.material.settings
    return pools(
        material.runs,
        material.qrels,
        measures=material.scores.measures,
        n_trials=job.n_samples,
        pool_depth=settings.pool_depth,
        missing=settings.missing,
        no_relevant=settings.no_relevant,
        scheduler=machine.scheduler,
        reading=machine.progress("runs read"),
        progress=machine.progress("trials without teams"),
        **job.common,
    )


PART = part_of(VIEW, run=_run, samples=Samples(noun="trials", fast=5, full=50), why_not=_why_not)

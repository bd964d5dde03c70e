"""The section of a report about pairs of runs: who beats whom, how surely, by how much."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from steadyrank.compute.random import seed_from
from steadyrank.present.cells import MOST_CELLS, name, number, percent, pvalue, span, table, whole
from steadyrank.present.table import Cell, Table
from steadyrank.stats.run_means import best_first
from steadyrank.studies.compare.audit import audited
from steadyrank.studies.compare.result import CompareResult, Correction, Test
from steadyrank.studies.compare.segment_tables import interaction_sentence, segment_tables
from steadyrank.studies.compare.study import compare_each
from steadyrank.studies.compare.tested import Settings
from steadyrank.studies.part import MOST_DOTS, Body, Cost, Drawing, Findings, Job, Part, Shape
from steadyrank.words import counted

MOST_PAIRS = 500
"""Pairs of runs that a table lists."""


TOP = 10
"""Runs whose pairs are all listed."""


def _run(job: Job) -> tuple[CompareResult, ...]:
    """One result per measure, the measure that ranks the runs first."""
    scores, progress = job.material.compared, job.machine.progress("measures compared")
    given = job.material.settings
    settings = Settings(
        test=cast(Test, given.test),
        correction=cast("Correction | None", given.correction),
        baseline=given.baseline,
        alpha=given.alpha,
        jobs=job.machine.jobs,
        seed=seed_from(given.seed),
    )
    results: list[CompareResult] = []
    for measure in scores.measures:
        # Segments are those of the measure that ranks the runs.
        by = given.by if given.by is not None and not results else "run"
        results += compare_each(scores.select(measures=measure), settings, by=by)
        if len(results) == 1:
            results = [audited(results[0], settings)]
        if progress is not None:
            progress(len(results), len(scores.measures))
    return tuple(results)


def _body(results: Sequence[CompareResult], findings: Findings) -> Body:
    """The pairs that matter most, and how many each measure tells apart."""
    main = results[0]
    return Body(
        answer=tuple(_answer(main)),
        figures=tuple(_figures(main)),
        tables=(_pairs_table(main), *_segments(main), _power_table(results)),
    )


def _figures(result: CompareResult) -> list[Drawing]:
    segments = []
    if result.segments is not None:
        words = f"The best run against the others, by {result.segments.by}."
        segments.append(Drawing("segments", words, result, "segments"))
    if len(result.runs) < 3:
        return segments
    figures = [
        Drawing("against-best", "Every run against the best.", result, "intervals"),
        *segments,
        Drawing("p-values", "p-values of all pairs, largest first.", result, "asl"),
    ]
    if len(result.runs) ** 2 <= MOST_CELLS:
        figures.append(Drawing("pairs-map", "p-values of all pairs of runs.", result, "heatmap"))
    elif len(result.pairs) <= MOST_DOTS:
        figures.append(
            Drawing("differences", "Which differences are significant.", result, "differences")
        )
    return figures


def _answer(result: CompareResult) -> list[str]:
    n_significant = int(result.significant.sum())
    total = len(result.pairs)
    by = f"significantly by mean {result.measure}"
    if total == 1:
        said = [f"The two runs {'differ' if n_significant else 'do not differ'} {by}."]
    elif not n_significant:
        said = [f"None of the {total:,} pairs differs {by}."]
    else:
        share = f"{n_significant:,} of {total:,} pairs ({result.significant_share:.0%})"
        said = [f"{share} {'differs' if n_significant == 1 else 'differ'} {by}."]
    more = [result.audit_words(), resolution_words(result), interaction_sentence(result)]
    return [*said, *filter(None, more)]


def detectable(result: CompareResult) -> float:
    """The difference that the median pair's test detects; NaN where none is known."""
    known = result.smallest_difference[~np.isnan(result.smallest_difference)]
    return float(np.median(known)) if len(known) else math.nan


def resolution_words(result: CompareResult) -> str:
    """The difference that these topics can show; nothing where none is known."""
    total, smallest = len(result.pairs), detectable(result)
    if not 0.0 < smallest < math.inf:  # 0 of runs whose difference never varies
        return ""
    return (
        f"With these {counted(result.n_topics, 'topic', form=',')} and "
        f"{counted(total, 'comparison', form=',')} a t test detects a difference of "
        f"{smallest:.3f} with power 0.8 (median over pairs)."
    )


def _segments(result: CompareResult) -> list[Table]:
    return [replace(made, id="segment-pairs") for made in segment_tables(result, 4)]


def _pairs_table(result: CompareResult) -> Table:
    """All pairs of the best runs, and the best run's with all others."""
    rank = np.argsort(best_first(result.mean))
    low, high = np.sort(rank[result.pairs], axis=1).T
    listed = (
        np.flatnonzero((high < TOP) | (low == 0)) if len(low) > MOST_PAIRS else np.arange(len(low))
    )
    listed = listed[np.lexsort((high[listed], low[listed]))]
    listed = listed[:MOST_PAIRS]
    rows = [_pair_row(result, int(p), rank) for p in listed]
    marks = {(i, 2): "*" for i in np.flatnonzero(result.significant[listed]).tolist()}
    left = len(low) - len(rows)
    cut = (
        f" Listed are the pairs among the best {TOP} runs and those of the best run with all "
        f"others; steadyrank compare lists the {left:,} pairs omitted here."
        if left
        else ""
    )
    caption = (
        f"{result.caption()}{' * significant.' if marks else ''} Intervals: "
        f"{result.interval_kind}. d: mean difference over the standard deviation of the topics' "
        f"differences. Wins, ties and losses are topics.{cut}"
    )
    header = [
        "better",
        "other",
        "difference",
        f"{1 - result.alpha:.0%} interval",
        "p",
        "p corrected",
        "d",
        "wins",
        "ties",
        "losses",
    ]
    return replace(table("pairs", caption, header, rows), marks=marks)


def _pair_row(result: CompareResult, p: int, rank: np.ndarray) -> list[Cell]:
    """A pair with the better run first."""
    a, b = result.pairs[p].tolist()
    sign = 1.0 if rank[a] < rank[b] else -1.0
    if sign < 0:
        a, b = b, a
    ends = sorted((sign * result.interval[p]).tolist())
    wins, losses = int(result.effects.wins[p]), int(result.effects.losses[p])
    if sign < 0:
        wins, losses = losses, wins
    return [
        name(result.runs[a]),
        name(result.runs[b]),
        number(sign * float(result.difference[p]), "+.4f"),
        span(ends, "+.4f"),
        pvalue(float(result.pvalue[p])),
        pvalue(float(result.pvalue_adjusted[p])),
        number(sign * float(result.effects.paired_d[p]), "+.2f"),
        whole(wins),
        whole(int(result.effects.ties[p])),
        whole(losses),
    ]


def _power_table(results: Sequence[CompareResult]) -> Table:
    rows = []
    for result in sorted(results, key=lambda result: -result.significant_share):
        alone = np.nan_to_num(result.pvalue, nan=1.0) <= result.alpha
        missed = np.abs(result.difference[~result.significant])
        rows.append(
            [
                name(result.measure),
                percent(result.significant_share),
                percent(float(alone.mean())),
                number(float(np.nanmax(missed, initial=0.0))),
                number(detectable(result)),
            ]
        )
    caption = (
        "Discriminative power: share of the pairs that differ significantly by each measure, "
        "corrected for multiple comparisons (one family per measure) and uncorrected, the "
        "largest mean difference that was not significant, and the one that the median pair's test "
        "detects with power 0.8."
    )
    header = [
        "measure",
        "significant pairs",
        "uncorrected",
        "largest difference missed",
        "detectable difference",
    ]
    return table("discriminative-power", caption, header, rows)


def _cost(shape: Shape) -> Cost:
    compared = shape.n_pairs * (4e-5 + 1.6e-7 * shape.n_topics)
    return Cost(fixed=shape.n_measures * compared, is_free=True)


PART = Part(
    title="Pairs of runs",
    question="Who beats whom, how surely, by how much?",
    means=(
        "A significant difference would be unusual if two runs were equally good on topics "
        "like these. The corrected p-value accounts for the number of pairs compared. The "
        "effect size is the mean difference in standard deviations of the topics' "
        "differences."
    ),
    means_not=(
        "It says nothing about other documents, other judgments or other random instances of "
        "the runs, and a small p-value does not make a difference large. A measure by which "
        "more pairs differ significantly is more sensitive, not more valid."
    ),
    body=_body,
    run=_run,
    cost=_cost,
)

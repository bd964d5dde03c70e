"""Segments of the topics in tables: the pairs in each, and whether the segment matters."""

from __future__ import annotations

import math
from typing import Any

from steadyrank.present.cells import name, number, percent, pvalue, signed, signed_interval, whole
from steadyrank.present.json import picked
from steadyrank.present.table import Cell, Table
from steadyrank.stats.pairs.result import TOO_FEW
from steadyrank.stats.segments import FEWEST
from steadyrank.studies.compare.pair_rows import better_first
from steadyrank.studies.compare.result import CompareResult
from steadyrank.studies.compare.segments import Segments
from steadyrank.words import by_number, counted, listed, pvalue_words, some

MOST_ROWS = 45
"""Pairs in segments that a table lists; of more it has one row per segment."""


MOST_NAMED = 3
"""Runs and segments that a sentence names."""

LONGEST_HEADER = 40
"""Characters of a difference that stands above its column."""


def segments_json(result: CompareResult) -> dict[str, Any]:
    """The segments and their test; none where no column was named."""
    segments = result.segments
    if segments is None:
        return {"by": None, "segments": [], "interaction": None}
    test = segments.interaction
    return {
        "by": segments.by,
        "segments": [
            {
                **picked(
                    own,
                    "segment n_topics n_clusters correction family interval_kind significant_share",
                ),
                "pairs": own.rows(),
                "runs": own.run_rows(),
            }
            for own in segments.results
        ],
        "interaction": {
            "pvalue": test.pvalue_of_any,
            "segments": segments.tested,
            "n_topics": test.n_topics,
            "n_samples": test.n_patterns,
            "exact": test.exact,
            "runs": segments.interaction_rows(),
        },
    }


def segment_tables(result: CompareResult, digits: int) -> list[Table]:
    """One table about all segments; none where no column was named."""
    segments = result.segments
    if segments is None:
        return []
    n_rows = sum(len(own.pairs) for own in segments.results)
    if n_rows <= MOST_ROWS:
        return [_pairs_table(result, segments, digits)]
    return [_overview(result, segments, digits)]


def _pairs_table(result: CompareResult, segments: Segments, digits: int) -> Table:
    """Every pair in every segment, in one direction: the better run of all topics first."""
    first = better_first(result)[0]
    difference = f"{first['a']} − {first['b']}"
    # A single pair of short names stands in the header, any other in columns.
    has_columns = len(result.pairs) > 1 or len(difference) > LONGEST_HEADER
    pairs = [(own, row) for own in segments.results for row in better_first(own, result)]
    rows = [
        [
            name(own.segment or ""),
            *([name(row["a"]), name(row["b"])] if has_columns else []),
            whole(own.n_topics),
            *_figures(row, digits),
        ]
        for own, row in pairs
    ]
    names = [segments.by, "a", "b"] if has_columns else [segments.by]
    level = f"{1 - result.alpha:.0%} interval"
    shown = "a − b" if has_columns else difference
    return Table(
        header=[*names, "topics", shown, level, "p", "p adjusted"],
        rows=rows,
        marks={(i, len(names) + 1): "*" for i, (_, row) in enumerate(pairs) if row["significant"]},
        n_names=len(names),
        caption=segments_caption(result, segments, _pair_words(segments)),
        label="tab:segments",
    )


def _figures(row: dict[str, Any], digits: int) -> list[Cell]:
    known = row["flag"] != TOO_FEW
    return [
        signed(row["difference"], f"+z.{digits}f"),
        signed_interval(row["interval"] if known else None, f"+z.{digits}f"),
        pvalue(row["pvalue"]),
        pvalue(row["pvalue_adjusted"]),
    ]


def _overview(result: CompareResult, segments: Segments, digits: int) -> Table:
    rows = [
        [
            name(own.segment or ""),
            whole(own.n_topics),
            name(own.runs[own.order[0]]),
            number(float(own.mean[own.order[0]]), f".{digits}f"),
            whole(int(own.could_be_first.sum())),
            percent(own.significant_share),
        ]
        for own in segments.results
    ]
    total = sum(len(own.pairs) for own in segments.results)
    header = [segments.by, "topics", "highest mean", result.measure]
    header += ["could be first", "significant pairs"]
    caption = (
        f"{segments_caption(result, segments)} Could be first: runs than which none is "
        f"significantly better. CSV and JSON list all {total:,} comparisons."
    )
    return Table(header=header, rows=rows, caption=caption, label="tab:segments")


def _largest(segments: Segments) -> CompareResult:
    """The segment with most comparisons, which all share one family."""
    return max(segments.results, key=lambda own: own.n_comparisons)


def _pair_words(segments: Segments) -> str:
    """What stands beside pairs that are listed one by one."""
    mark = " * significant." if any(own.significant.any() for own in segments.results) else ""
    return f"{mark} Intervals: {_largest(segments).interval_kind}."


def segments_caption(result: CompareResult, segments: Segments, of_pairs: str = "") -> str:
    """What was tested in each segment, corrected over which family, and the test across them."""
    first = _largest(segments)
    few = [own.segment or "" for own in segments.results if (own.flag == TOO_FEW).all()]
    lacking = (
        f" Not tested, as {by_number(len(few), 'it has', 'they have')} fewer than two "
        f"{_units(result)}: {some(few)}."
        if few
        else ""
    )
    return (
        f"{result.measure} by {segments.by}: {first.test_words()}, {first.correction_words()}; "
        f"alpha {result.alpha:g}.{of_pairs}{lacking} "
        f"{interaction_sentence(result)}"
    )


def interaction_sentence(result: CompareResult) -> str:
    """Whether the runs' leads depend on the segment, and which do most."""
    segments = result.segments
    if segments is None:
        return ""
    test, by = segments.interaction, segments.by
    if math.isnan(test.pvalue_of_any):
        return (
            f"Whether differences depend on {by} cannot be tested: fewer than two segments have "
            f"{FEWEST} {_units(result)} with a score of every run."
        )
    left = len(segments.names) - len(segments.tested)
    which = (
        f"{counted(len(segments.tested), 'segment')} with at least {FEWEST} {_units(result)}"
        if left
        else f"{counted(len(segments.tested), 'segment')}"
    )
    how = (
        f"(test of segment × run over {counted(len(result.runs), 'run')} and {which}, sign flips, "
        f"{pvalue_words(test.pvalue_of_any)})"
    )
    if test.pvalue_of_any > result.alpha:
        return f"No dependence of the differences on {by} is shown {how}."
    return f"The differences depend on {by} {how}: {_strongest(result, segments)}."


def _strongest(result: CompareResult, segments: Segments) -> str:
    """The runs and segments that stand out most, in words."""
    # The other run of two, and the other of two segments, say the same with opposite signs.
    runs = result.runs if len(result.runs) > 2 else result.runs[:1]
    tested = segments.tested if len(segments.tested) > 2 else segments.tested[:1]
    rows = [
        row
        for row in segments.interaction_rows()
        if row["pvalue_adjusted"] <= result.alpha
        and row["run"] in runs
        and row["segment"] in tested
    ]
    rows.sort(key=lambda row: (row["pvalue_adjusted"], -abs(row["statistic"])))
    parts = [
        f"the lead of {row['run']} over the mean of all runs is "
        f"{signed(row['deviation'], '+z.4f').text} in {row['segment']} compared with the other "
        "topics"
        for row in rows[:MOST_NAMED]
    ]
    more = len(rows) - len(parts)
    return listed(parts) + (f" ({more} more in JSON)" if more else "")


def _units(result: CompareResult) -> str:
    return "topics" if result.n_clusters is None else "clusters"

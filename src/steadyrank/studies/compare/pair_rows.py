"""The pairs of a comparison in the order of a leaderboard, for tables and figures."""

from __future__ import annotations

from typing import Any

from steadyrank.studies.compare.result import CompareResult


def better_first(result: CompareResult, leaderboard: CompareResult | None = None) -> list[Any]:
    """The rows of the pairs in the order of the leaderboard, each with the higher mean as a.

    The leaderboard is the result's own or, for a segment, that of all topics. Against a baseline
    every row stays the way round that it is.
    """
    whole = leaderboard or result
    place = {whole.runs[run]: i for i, run in enumerate(whole.order)}
    rows = [
        _turned(row) if whole.baseline is None and place[row["a"]] > place[row["b"]] else row
        for row in result.rows()
    ]
    return sorted(rows, key=lambda row: (place[row["a"]], place[row["b"]]))


def _turned(row: dict[str, Any]) -> dict[str, Any]:
    """The row of the same pair the other way round: difference = a - b in both."""
    low, high = row["interval"]
    return row | {
        "a": row["b"],
        "b": row["a"],
        "mean_a": row["mean_b"],
        "mean_b": row["mean_a"],
        "difference": -row["difference"],
        "interval": [-high, -low],
        "effect_size": -row["effect_size"],
        "wins": row["losses"],
        "losses": row["wins"],
    }

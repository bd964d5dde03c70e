"""What studies that rank by one family of decisions show alike: the board of a page, and pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from steadyrank.present.page import Board, BoardRow

ROWS = 10
"""Rows of the board."""


class Ranked(Protocol):
    """A result with a rank, a rank set and a tier for each row."""

    @property
    def alpha(self) -> float:
        """Error rate of the decisions."""

    @property
    def runs(self) -> Sequence[str]:
        """Names of the rows."""

    @property
    def order(self) -> list[int]:
        """Places of the rows, the best first."""

    @property
    def rank(self) -> np.ndarray:
        """One per row."""

    @property
    def rank_set(self) -> np.ndarray:
        """[row, 2]."""

    @property
    def tier(self) -> np.ndarray:
        """One per row."""


def board_of(
    result: Ranked, score: Callable[[int], str], *, measure: str, link: str, rows: str = "runs"
) -> Board:
    """Return the best rows of a result; `score` shows the value of the row at a place."""
    sure = f"{1 - result.alpha:.0%} confidence for each {rows.removesuffix('s')}"
    return Board(
        title="Leaderboard",
        note=f"dot: rank; bar: possible ranks, {sure}",
        measure=measure,
        rows=tuple(
            BoardRow(
                rank=int(result.rank[run]),
                name=result.runs[run],
                score=score(run),
                low=int(result.rank_set[run, 0]),
                high=int(result.rank_set[run, 1]),
                group=str(result.tier[run]),
            )
            for run in result.order[:ROWS]
        ),
        n_ranks=len(result.runs),
        group="tier",
        link=link,
        more=f"All {len(result.runs):,} {rows}",
    )


def better_first(
    result: Ranked, rows: Iterable[dict[str, Any]], signed: Sequence[str], shares: Sequence[str]
) -> list[dict[str, Any]]:
    """Return rows of pairs in the order of the ranking, each with the better row as a.

    Values of the keys `signed` change their sign with the order, an interval also its ends, and
    those of `shares` become the rest to 1.
    """
    place = {result.runs[i]: k for k, i in enumerate(result.order)}
    made = []
    for row in rows:
        if place[row["a"]] > place[row["b"]]:
            low, high = row["interval"]
            turned = {key: -row[key] for key in signed} | {key: 1.0 - row[key] for key in shares}
            row = row | turned | {"a": row["b"], "b": row["a"], "interval": [-high, -low]}
        made.append(row)
    return sorted(made, key=lambda row: (place[row["a"]], place[row["b"]]))

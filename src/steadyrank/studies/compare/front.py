"""What `compare` has for the first screen of a page: who leads, by how much, and the best rows.

Rows are runs, or systems with several runs each. With a baseline the verdict is about it.
"""

from __future__ import annotations

import math

import numpy as np

from steadyrank.present.page import Board, BoardRow, Tile
from steadyrank.present.view import Finding
from steadyrank.studies.compare.result import CompareResult
from steadyrank.studies.compare.verdict import lead, ranked, significant, verdict
from steadyrank.studies.compare.view import cautions, detectable
from steadyrank.studies.part import Front
from steadyrank.words import by_number, count_or_share, counted, enough_digits

ROWS = 10
"""Rows of the board."""

BASELINE = {0: "not different", 1: "better", -1: "worse"}
"""What a test with the baseline decided."""


def front(result: CompareResult, *, n_runs: int, study: str, link: str) -> Front:
    """All of it; ids begin with `study`, and `link` is the section with all rows.

    `n_runs`: how many there are, where only the best were compared.
    """
    return Front(
        verdict=verdict(result, n_runs, study),
        line=lead(result, study),
        board=_board(result, link, n_runs),
        cautions=_cautions(result, "gaps", "audit"),
        tiles=tuple(_tiles(result, study)),
    )


def beside_systems(result: CompareResult) -> Front:
    """Where the verdict is about systems, what runs still have to say."""
    tiles = [tile for tile in _tiles(result, "compare") if tile.id == "compare.detectable"]
    return Front(cautions=_cautions(result, "gaps"), tiles=tuple(tiles))


def _cautions(result: CompareResult, *names: str) -> tuple[Finding, ...]:
    ids = {f"compare.{name}" for name in names}
    return tuple(caution for caution in cautions(result) if caution.id in ids)


def _board(result: CompareResult, link: str, n_rows: int) -> Board:
    order = ranked(result)
    shown = order[:ROWS]
    if result.baseline is not None and (own := result.runs.index(result.baseline)) not in shown:
        shown = [*shown[: ROWS - 1], own]
    decided = {} if result.baseline is None else against_baseline(result)
    ranks = f"ranks that it may have, {result.rank_words()}"
    rows = f"{result.row_word}s"
    digits = enough_digits(result.mean[shown], 3)
    return Board(
        title="Leaderboard",
        note="" if decided else f"dot: rank; bar: {ranks}",
        measure=result.measure,
        rows=tuple(
            BoardRow(
                rank=int(result.rank[run]),
                name=result.runs[run],
                score=f"{result.mean[run]:.{digits}f}",
                low=int(result.rank_set[run, 0] or result.rank[run]),
                high=int(result.rank_set[run, 1] or result.rank[run]),
                group=decided.get(run, str(result.tier[run])),
            )
            for run in shown
        ),
        n_ranks=len(result.runs),
        group="against the baseline" if decided else "tier",
        link=link,
        more=f"All {n_rows:,} {rows}",
    )


def against_baseline(result: CompareResult) -> dict[int, str]:
    """Of each run, what its test with the baseline, the second of each pair, decided."""
    signs = np.where(result.significant, np.sign(result.difference), 0).astype(int)
    decided = {int(a): BASELINE[sign] for a, sign in zip(result.pairs[:, 0], signs, strict=True)}
    return decided | {result.runs.index(str(result.baseline)): "baseline"}


def _tiles(result: CompareResult, study: str) -> list[Tile]:
    found, made = significant(result), []
    if result.baseline is None and len(result.pairs) > 1:
        made.append(
            Tile(
                id=f"{study}.significant",
                figure=count_or_share(found.values["n_significant"], len(result.pairs)),
                text=f"of {len(result.pairs):,} pairs differ significantly",
                values=found.values,
            )
        )
    carried = result.leader_fragility()
    if carried is not None:
        noun = "topics" if result.n_clusters is None else "clusters"
        made.append(
            Tile(
                id=f"{study}.fragility",
                figure=counted(carried.n, noun[:-1], noun, form=","),
                text=f"{by_number(carried.n, 'carries', 'carry')} the first place: without "
                f"{by_number(carried.n, 'it', 'them')} {carried.rival} catches up",
                values=carried._asdict(),
            )
        )
    smallest = detectable(result)
    if 0.0 < smallest < math.inf:
        pair = ", mean pair" if len(result.pairs) > 1 else ""
        made.append(
            Tile(
                id=f"{study}.detectable",
                figure=f"{smallest:.3f}",
                text=f"smallest difference of two runs these topics can show (power 0.8{pair})",
                values={"difference": smallest, "power": 0.8},
            )
        )
    return made

"""How a report runs `datasets`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import numpy as np

from steadyrank.errors import InputError
from steadyrank.present.page import Board, BoardRow, Tile
from steadyrank.present.view import Finding
from steadyrank.stats.datasets.aggregates import Aggregate, columns_of, dataset_units
from steadyrank.stats.planning.needed_topics import MOST_SHOWN
from steadyrank.stats.planning.swaps import unit_swap_share
from steadyrank.stats.run_means import share_turned
from steadyrank.studies.datasets.assumptions import BY, assumption
from steadyrank.studies.datasets.result import DatasetsResult, Drawn
from steadyrank.studies.datasets.study import datasets
from steadyrank.studies.datasets.view import VIEW, findings, lead, verdict
from steadyrank.studies.material import Material
from steadyrank.studies.part import Findings, Front, Job, part_of
from steadyrank.words import (
    by_number,
    count_or_share,
    counted,
    enough_digits,
    roughly,
    size,
    swap_words,
)


def _run(job: Job) -> DatasetsResult:
    leaderboard = job.material.leaderboard
    if leaderboard is None:
        raise InputError(_why_not(job.material))
    progress = job.machine.progress("blocks of sign patterns")
    given = job.material.settings
    return datasets(
        leaderboard,
        aggregate=cast(Aggregate, given.aggregate),
        drawn=cast(Drawn, given.drawn),
        alpha=given.alpha,
        progress=progress,
        **job.common,
    )


def _why_not(material: Material) -> str:
    if material.leaderboard is None:
        return "scores on one collection: give a table of scores on several with --datasets"
    return ""


ROWS = 10
"""Rows of the board."""


def _front(result: DatasetsResult, others: Findings) -> Front:
    said = [f for f in findings(result) if f.id in ("datasets.gaps", "datasets.too_few")]
    return Front(
        verdict=verdict(result),
        line=lead(result),
        assumption=assumption(result),
        board=_board(result),
        cautions=tuple(said),
        swap=_swap(result),
        more_swaps=tuple(_more_swaps(result)),
        tiles=tuple(_tiles(result)),
    )


def _board(result: DatasetsResult) -> Board:
    digits = enough_digits(result.value[result.order[:ROWS]], 3)
    return Board(
        title="Leaderboard",
        note=f"dot: rank; bar: ranks that it may have, {1 - result.alpha:.0%} confidence for each",
        measure=result.aggregate_words,
        rows=tuple(
            BoardRow(
                rank=int(result.rank[run]),
                name=result.runs[run],
                score=f"{result.value[run]:.{digits}f}",
                low=int(result.rank_set[run, 0]),
                high=int(result.rank_set[run, 1]),
                group=str(result.tier[run]),
            )
            for run in result.order[:ROWS]
        ),
        n_ranks=len(result.runs),
        group="tier",
        link="datasets",
        more=f"All {len(result.runs):,} runs",
    )


def _swap(result: DatasetsResult) -> Finding | None:
    """The share of pairs that as many other datasets would put the other way round."""
    if np.isnan(result.scores).any() or len(result.datasets) < 2:
        return None
    columns = columns_of(result.scores, result.aggregate, result.types)
    share = unit_swap_share(dataset_units(columns))
    n = counted(len(result.datasets), "other dataset")
    text = f"On {n} {swap_words(share, len(result.runs), said=roughly)}."
    return Finding("datasets.swap", text, {"share": share})


def _more_swaps(result: DatasetsResult) -> Iterator[tuple[str, Finding]]:
    """The same for other types of datasets, another aggregate, and without any one dataset."""
    if np.isnan(result.scores).any() or len(result.datasets) < 3:
        return
    scores, m = result.scores, len(result.runs)
    columns = columns_of(scores, result.aggregate, result.types)
    value = columns.values @ columns.weight
    if len(set(result.types)) > 1:
        share = unit_swap_share(dataset_units(columns, result.types))
        n = counted(len(set(result.types)), "other type")
        text = f"On {n} of datasets {swap_words(share, m, said=roughly)}."
        yield "Other types of datasets", Finding("datasets.swap_types", text, {"share": share})
    other: Aggregate = "mean" if result.aggregate == "borda" else "borda"
    others = columns_of(scores, other, result.types)
    share = _turned(result.pairs, value, others.values @ others.weight)
    text = f"By {BY[other]} {swap_words(share, m)}."
    changed = Finding("datasets.swap_aggregate", text, {"share": share, "aggregate": other})
    yield "Another aggregate", changed
    left = 1.0 - columns.weight
    without = (value[:, None] - columns.values * columns.weight) / left
    shares = [_turned(result.pairs, value, each) for each in without.T]
    worst = int(np.argmax(shares))
    text = f"Without {result.datasets[worst]} {swap_words(shares[worst], m)}, the most of any."
    values = {"share": shares[worst], "dataset": result.datasets[worst]}
    yield "Without any one dataset", Finding("datasets.swap_without", text, values)


def _turned(pairs: np.ndarray, here: np.ndarray, there: np.ndarray) -> float:
    return share_turned(*(each[pairs[:, 0]] - each[pairs[:, 1]] for each in (here, there)))


def _tiles(result: DatasetsResult) -> list[Tile]:
    made = []
    if len(result.runs) > 2:
        made.append(
            Tile(
                id="datasets.pairs",
                figure=count_or_share(int(result.significant.sum()), len(result.pairs)),
                text=f"of {len(result.pairs):,} pairs differ significantly",
                values={"told_apart_share": result.told_apart_share, "n_pairs": len(result.pairs)},
            )
        )
    if result.fragility is not None:
        carried = result.fragility
        made.append(
            Tile(
                id="datasets.fragility",
                figure=counted(carried.n, "dataset"),
                text=f"{by_number(carried.n, 'carries', 'carry')} the first place: without "
                f"{by_number(carried.n, 'it', 'them')} {carried.rival} catches up",
                values=carried._asdict(),
            )
        )
    pair = result.pair
    if pair is not None and not pair.significant and pair.datasets_assured < MOST_SHOWN:
        made.append(
            Tile(
                id="datasets.needed",
                figure=size(pair.datasets_assured),
                text="datasets to separate first from second (80% assurance); there are "
                f"{len(result.datasets)}",
                values={"datasets_assured": pair.datasets_assured},
            )
        )
    return made


PART = part_of(
    VIEW,
    run=_run,
    why_not=_why_not,
    works_on="datasets",
    is_required=True,
    is_open=True,
    front=_front,
    varies="Other datasets",
    examine=lambda material: "report --datasets TABLE",
)

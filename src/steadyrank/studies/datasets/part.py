"""How a report runs `datasets`."""

from __future__ import annotations

import numpy as np

from steadyrank.data.scores import mean_of_present
from steadyrank.errors import InputError
from steadyrank.present.page import Board, BoardRow, Tile
from steadyrank.present.view import Finding
from steadyrank.stats.pairs.max_t import USUAL, patterns_of
from steadyrank.stats.run_means import expected_means, kept_order, signs_of
from steadyrank.studies.datasets.result import DatasetsResult
from steadyrank.studies.datasets.study import datasets
from steadyrank.studies.datasets.view import VIEW, findings
from steadyrank.studies.material import Material
from steadyrank.studies.part import Cost, Findings, Front, Job, Shape, part_of
from steadyrank.words import (
    by_number,
    count_or_share,
    counted,
    enough_digits,
    interval,
    size,
    swap_words,
    typeset,
)


def _run(job: Job) -> DatasetsResult:
    leaderboard = job.material.leaderboard
    if leaderboard is None:
        raise InputError(_why_not(job.material))
    progress = job.machine.progress("blocks of sign patterns")
    return datasets(leaderboard, alpha=job.material.settings.alpha, progress=progress, **job.common)


def _why_not(material: Material) -> str:
    if material.leaderboard is None:
        return "scores on one collection: give a table of scores on several with --datasets"
    return ""


def _cost(shape: Shape) -> Cost:
    pairs = shape.n_runs * (shape.n_runs - 1) / 2
    _, n_patterns = patterns_of(shape.n_topics, USUAL, int(pairs))
    return Cost(fixed=1e-9 * n_patterns * 2.0 * pairs + 2e-6 * pairs, is_free=True)


ROWS = 10
"""Rows of the board."""


def _front(result: DatasetsResult, others: Findings) -> Front:
    said = [f for f in findings(result) if f.id in ("datasets.gaps", "datasets.too_few")]
    return Front(
        verdict=verdict(result),
        line=_lead(result),
        board=_board(result),
        cautions=tuple(said),
        swap=_swap(result),
        tiles=tuple(_tiles(result)),
    )


def verdict(result: DatasetsResult) -> Finding:
    """Who leads, and how many could be first."""
    leader, n, total = result.runs[result.order[0]], len(result.first_names()), len(result.runs)
    first = f"leads, but {n:,} of {total:,} runs could be first"
    if n == 1:
        sure = f"{1 - result.alpha:.0%}"
        first = f"leads; with {sure} confidence no other of the {total:,} runs could be first"
    elif n == total:
        first = f"leads, but any of the {total:,} runs could be first"
    values = {"leaders": [leader], "could_be_first": n, "n_rows": total}
    return Finding("datasets.verdict", f"{leader} {first}.", values)


def _lead(result: DatasetsResult) -> Finding | None:
    pair = result.pair
    if pair is None:
        return None
    decided = "significant" if pair.significant else "not significant"
    value = dict(zip(result.runs, result.value.tolist(), strict=True))
    gap, ends = typeset(f"{pair.difference:+.3f}"), typeset(interval(pair.interval, "+.3f"))
    text = (
        f"{result.aggregate_words.capitalize()} {value[pair.a]:.3f} against {value[pair.b]:.3f} "
        f"for {pair.b}: {gap} {ends} alone, {decided} among {len(result.pairs):,} comparisons."
    )
    values = {"a": pair.a, "b": pair.b, "difference": pair.difference, "interval": pair.interval}
    return Finding("datasets.lead", text, values | {"significant": pair.significant})


def _board(result: DatasetsResult) -> Board:
    digits = enough_digits(result.value[result.order[:ROWS]], 3)
    return Board(
        title="Leaderboard",
        note=f"dot: rank; bar: ranks that it may have, {1 - result.alpha:.0%} simultaneous",
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
    if result.aggregate != "mean" or np.isnan(result.scores).any() or len(result.datasets) < 2:
        return None
    above = kept_order(result.scores, result.pairs, expected_means(result.scores))
    means = result.scores.mean(axis=1)
    signs = signs_of(means[result.pairs[:, 0]] - means[result.pairs[:, 1]])
    turned = np.where(signs > 0, 1.0 - above, above)[signs != 0.0]
    share = float(mean_of_present(turned))
    n = counted(len(result.datasets), "other dataset")
    text = f"On {n} {swap_words(share, len(result.runs))}."
    return Finding("datasets.swap", text, {"share": share})


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
    if pair is not None and not pair.significant and np.isfinite(pair.datasets_needed_interval[0]):
        low, high = pair.datasets_needed_interval
        needed = size(pair.datasets_needed) if np.isfinite(high) else f"≥ {size(low)}"
        made.append(
            Tile(
                id="datasets.needed",
                figure=needed,
                text=f"datasets to separate first from second; there are {len(result.datasets)}",
                values={"datasets_needed_interval": [low, high]},
            )
        )
    return made


PART = part_of(
    VIEW,
    run=_run,
    cost=_cost,
    why_not=_why_not,
    works_on="datasets",
    is_required=True,
    is_open=True,
    front=_front,
    varies="Other datasets",
    examine=lambda material: "report --datasets TABLE",
)

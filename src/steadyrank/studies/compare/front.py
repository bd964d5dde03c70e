"""The first screen of a page, and the panel that compares any two runs.

The first screen says who leads and by how much, and lists the best rows: runs, or systems with
several runs each. With a baseline the verdict is about it.
"""

from __future__ import annotations

import math

import numpy as np

from steadyrank.present.cells import most_columns
from steadyrank.present.page import Board, BoardRow, Tile
from steadyrank.present.pair_panel import (
    PairPanel,
    count_texts,
    decided,
    pvalue_texts,
    signed_texts,
    values_at,
)
from steadyrank.present.table import escape_latex
from steadyrank.present.view import Finding
from steadyrank.stats.pairs.decisions import turned
from steadyrank.stats.pairs.result import TOO_FEW
from steadyrank.stats.run_means import SAME_MEAN
from steadyrank.studies.compare.findings import (
    Results,
    cautions,
    detectable,
    lead,
    ranked,
    significant,
    verdict,
)
from steadyrank.studies.compare.result import CompareResult
from steadyrank.studies.compare.wording import rank_words, tested_words
from steadyrank.studies.part import Findings, Front, fragility_tile, significance_tile
from steadyrank.words import enough_digits

ROWS = 10
"""Rows of the board."""

BASELINE = {0: "not different", 1: "better", -1: "worse"}
"""Sign of a significant difference to the baseline, in words."""


def front(result: CompareResult, *, n_runs: int, study: str, link: str) -> Front:
    """Return the first screen; `link` is the id of the section with all rows.

    `study` begins the ids of the findings. `n_runs` is the number of runs, of which `result` may
    compare the best only.
    """
    return Front(
        verdict=verdict(result, n_runs, study),
        line=lead(result, study),
        board=_board(result, link, n_runs),
        cautions=_cautions(result, "gaps", "audit"),
        tiles=tuple(_tiles(result, study)),
    )


def beside_systems(result: CompareResult) -> Front:
    """Return what the comparison of runs adds where the verdict is about systems."""
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
    ranks = f"possible ranks, {rank_words(result)}"
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
    """Return for each run how it compares with the baseline, the second run of each pair."""
    signs = np.where(result.significant, np.sign(result.difference), 0).astype(int)
    decided = {int(a): BASELINE[sign] for a, sign in zip(result.pairs[:, 0], signs, strict=True)}
    return decided | {result.runs.index(str(result.baseline)): "baseline"}


def _tiles(result: CompareResult, study: str) -> list[Tile]:
    found, made = significant(result), []
    if result.baseline is None and len(result.pairs) > 1:
        made.append(significance_tile(f"{study}.significant", result.significant, **found.values))
    carried = result.leader_fragility()
    if carried is not None:
        made.append(fragility_tile(study, carried, result.units[:-1]))
    smallest = detectable(result)
    if 0.0 < smallest < math.inf:
        pair = ", mean pair" if len(result.pairs) > 1 else ""
        made.append(
            Tile(
                id=f"{study}.detectable",
                figure=f"{smallest:.3f}",
                text=f"smallest difference that these topics can show (power 0.8{pair})",
                values={"difference": smallest, "power": 0.8},
            )
        )
    return made


MOST_PICKED = 150
"""Largest number of runs from which two can be picked."""

DECISIONS = {
    "better": "{a} is significantly better than {b} by mean {measure}",
    "worse": "{b} is significantly better than {a} by mean {measure}",
    "open": "{a} is not significantly different from {b} by mean {measure}",
    "equal": "{a} and {b} have the same mean {measure}",
    "unknown": "{a} and {b} share too few topics to be compared by mean {measure}",
    "untested": "{a} and {b} were not compared with each other, only with the baseline",
}


def two_runs(results: Results, findings: Findings) -> PairPanel:
    """Return the panel with the tests of any two runs, on all measures."""
    main, n_runs = results[0], len(findings.material.scores.runs)
    order, omitted = _picked(main, n_runs)
    sure, tested, clusters = f"{1 - main.alpha:.0%}", tested_words(main), main.design.clusters
    panel = PairPanel(
        names=tuple(order),
        omitted=omitted,
        measure=main.measure,
        topics=main.topics,
        scores=main.scores[[main.runs.index(run) for run in order]],
        units=() if clusters is None else clusters.tolist(),
        sentence=(
            "{decision}: difference {difference}, "
            f"{sure} interval {{low}} to {{high}}, {{corrected}} ({tested}, {{n}} topics)."
        ),
        latex=(
            "{decision}: difference ${difference}$, "
            f"{escape_latex(sure)} interval $[{{low}}, {{high}}]$, "
            f"${{corrected}}$ ({tested}, {{n}} topics)."
        ),
    )
    _add_comparison(panel, main)
    for i, result in enumerate(results[1:], start=2):
        place, sign = panel.aligned(result.runs, result.pairs)
        panel.add(
            f"By {result.measure}",
            f"{{difference{i}}}, {{decided{i}}}",
            **{
                f"difference{i}": signed_texts(sign * values_at(result.difference, place), "+.3f"),
                f"decided{i}": decided(result.significant, result.pvalue_adjusted, place),
            },
        )
    return panel


def _picked(result: CompareResult, n_runs: int) -> tuple[list[str], str]:
    """Return the runs that can be picked, best first, and a sentence about those omitted."""
    order = [result.runs[run] for run in result.order]
    n_best = min(MOST_PICKED, most_columns(len(result.topics)))
    rest = [run for run in order[n_best:] if run == result.baseline]
    picked = order[:n_best] + rest
    if len(picked) == n_runs:
        return picked, ""
    best = f"the best {n_best:,}{' and the baseline' if rest else ''}"
    return picked, f"Of {n_runs:,} runs, {best} can be picked."


def _add_comparison(panel: PairPanel, result: CompareResult) -> None:
    place, sign = panel.aligned(result.runs, result.pairs)
    ends = turned(values_at(result.interval, place), sign)
    wins, losses = (
        values_at(counts, place) for counts in (result.effects.wins, result.effects.losses)
    )
    decisions = [_decision(result, p, s) for p, s in zip(place, sign, strict=True)]
    panel.fields["measure"] = [result.measure] * len(place)
    panel.fields["decision"] = [DECISIONS[decision] for decision in decisions]
    sure = f"{1 - result.alpha:.0%} interval"
    panel.add(
        f"Difference in mean {result.measure}",
        f"{{difference}} ({sure} {{low}} to {{high}}: {result.interval_kind})",
        difference=signed_texts(sign * values_at(result.difference, place)),
        low=signed_texts(ends[:, 0]),
        high=signed_texts(ends[:, 1]),
    )
    panel.add(
        "Test",
        f"{{corrected}} ({tested_words(result)}, alpha {result.alpha:g}); "
        "{uncorrected} for this pair alone",
        corrected=pvalue_texts(values_at(result.pvalue_adjusted, place)),
        uncorrected=pvalue_texts(values_at(result.pvalue, place)),
    )
    panel.add(
        "Effect size",
        "d = {effect}: the mean difference in standard deviations of the topics’ differences",
        effect=signed_texts(sign * values_at(result.effects.paired_d, place), "+.2f"),
    )
    panel.add(
        "By topic",
        "{a} is better on {wins}, {b} on {losses}, equal on {ties} of {n} topics",
        wins=count_texts(np.where(sign > 0, wins, losses)),
        losses=count_texts(np.where(sign > 0, losses, wins)),
        ties=count_texts(values_at(result.effects.ties, place)),
        n=count_texts(values_at(result.n, place)),
    )
    carried = values_at(np.where(result.fragility > 0, result.fragility, np.nan), place)
    panel.add(
        "Carried by",
        f"{{carry}} {result.units}: without them the lead is gone",
        carry=count_texts(carried),
    )


def _decision(result: CompareResult, place: int, sign: float) -> str:
    if place < 0:
        return "untested"
    ahead = sign * result.gain[place]
    if result.flag[place] == TOO_FEW:
        return "unknown"
    if result.significant[place]:
        return "better" if ahead > 0 else "worse"
    return "equal" if abs(ahead) <= SAME_MEAN else "open"

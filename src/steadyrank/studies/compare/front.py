"""What `compare` has for the first screen of a page: who leads, by how much, and the best rows.

Rows are runs, or systems with several runs each. With a baseline the verdict is about it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from steadyrank.present.cells import signed_interval
from steadyrank.present.page import Board, BoardRow, Tile
from steadyrank.present.view import Finding
from steadyrank.stats.pairs.result import TOO_FEW
from steadyrank.stats.run_means import SAME_MEAN
from steadyrank.studies.compare.result import CompareResult
from steadyrank.studies.compare.view import cautions, detectable, significant
from steadyrank.studies.part import Front
from steadyrank.words import (
    by_number,
    count_or_share,
    counted,
    enough_digits,
    listed,
    number_word,
    typeset,
)

ROWS = 10
"""Rows of the board."""

MOST_NAMES = 2
"""Runs that a verdict names."""

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


def ranked(result: CompareResult) -> list[int]:
    """Places of the rows that have a mean, best first."""
    return [run for run in result.order if not math.isnan(result.mean[run])]


def verdict(result: CompareResult, n_runs: int = 0, study: str = "compare") -> Finding:
    """Who leads, and how many could be first; with a baseline, how many differ from it."""
    if result.baseline is not None:
        values = significant(result).values
        return Finding(f"{study}.significant", f"{_against_words(result)}.", values)
    order = ranked(result)
    best = [run for run in order if result.mean[order[0]] - result.mean[run] <= SAME_MEAN]
    could = [run for run in order if result.could_be_first[run]]
    values = {
        "leaders": [result.runs[run] for run in best],
        "could_be_first": len(could),
        "n_rows": len(order),
        "measure": result.measure,
    }
    text = _verdict_words(result, order, best, len(could), n_runs)
    return Finding(f"{study}.verdict", f"{text}.", values)


def _against_words(result: CompareResult) -> str:
    """How many rows are better than the baseline, and how many worse."""
    n, found = len(result.pairs), significant(result)
    better, worse = found.values["n_better"], found.values["n_worse"]
    if n == 1:
        return found.text.removesuffix(f" by mean {result.measure}.")
    others = f"of {n:,} other {result.row_word}s"
    if not better + worse:
        return f"None {others} is significantly different from {result.baseline}"
    ahead = f"{better:,}" if better else "None"
    are = "are" if better > 1 else "is"
    behind = f"{worse:,} significantly worse" if worse else "none is significantly worse"
    return f"{ahead} {others} {are} significantly better than {result.baseline}, {behind}"


def _verdict_words(
    result: CompareResult, order: Sequence[int], best: Sequence[int], n_first: int, n_runs: int
) -> str:
    names = [result.runs[run] for run in best]
    n, rows = len(order), f"{result.row_word}s"
    many = f"{n:,} {rows}"
    if n_runs > len(result.runs):
        many = f"best {len(result.runs):,} of {n_runs:,} {rows}"
    if len(best) == n:
        who = listed(names) if n <= MOST_NAMES else f"All {number_word(n)} {rows}"
        return f"{who} have the same mean {result.measure}"
    sure = f"with {1 - result.alpha:.0%} confidence" if result.is_familywise else "by these tests"
    of = "of the" if n_runs > len(result.runs) else "of"
    first = f"{n_first:,} {of} {many} could be first"
    if len(best) > 1:
        some = listed(names) if len(best) <= MOST_NAMES else number_word(len(best)).capitalize()
        some = some if len(best) <= MOST_NAMES else f"{some} {rows}"
        only = f"{sure} no other could be first"
        return f"{some} share the best mean; {first if n_first > len(best) else only}"
    if n == 2:
        rival = result.runs[order[1]]
        if result.significant[_pair(result, order[0], order[1])]:
            return f"{names[0]} is significantly better than {rival}"
        return f"{names[0]} leads, but is not significantly better than {rival}"
    if n_first == 1:
        return f"{names[0]} leads; {sure} no other of the {many} could be first"
    any_of = f"any of the {many} could be first"
    return f"{names[0]} leads, but {any_of if n_first == n else first}"


def _pair(result: CompareResult, a: int, b: int) -> int:
    return int(np.flatnonzero((np.sort(result.pairs, axis=1) == sorted((a, b))).all(axis=1))[0])


def lead(result: CompareResult, study: str = "compare") -> Finding | None:
    """The first two, or the baseline and the best other: means, difference, interval, decision."""
    order = ranked(result)
    if len(order) < 2:
        return None
    pivot = order[0] if result.baseline is None else result.runs.index(result.baseline)
    others = [run for run in order if run != pivot]
    # Of several that share the first place, the next below says more.
    below = [run for run in others if result.mean[pivot] - result.mean[run] > SAME_MEAN]
    nearest = below[0] if result.baseline is None and below else others[0]
    a, b = sorted((pivot, nearest), key=order.index)
    place = _pair(result, a, b)
    sign = 1.0 if int(result.pairs[place, 0]) == a else -1.0
    gap = sign * float(result.difference[place])
    form = f".{enough_digits(result.mean[[a, b]], 3)}f"
    means = f"Mean {result.measure} {result.mean[a]:{form}} against {result.mean[b]:{form}}"
    means += f" for {result.runs[b]}"
    values = {"a": result.runs[a], "b": result.runs[b], "difference": gap}
    if result.flag[place] == TOO_FEW:
        return Finding(f"{study}.lead", f"{means}; they share too few topics to compare.", values)
    ends = sorted(sign * float(end) for end in result.interval[place])
    is_significant = bool(result.significant[place])
    decided = "significant" if is_significant else "not significant"
    family = result.n_comparisons
    among = f" among {counted(family, 'comparison', form=',')}" if result.is_corrected else ""
    # The tested difference is on the topics that both have; means may be of more.
    is_shared = abs(gap - (result.mean[a] - result.mean[b])) > SAME_MEAN
    on = "; shared topics" if is_shared else ":"
    text = (
        f"{means}{on} {typeset(f'{gap:+.3f}')} {signed_interval(ends, '+.3f').text}, "
        f"{decided}{among}."
    )
    values |= {
        "interval": ends,
        "pvalue_adjusted": float(result.pvalue_adjusted[place]),
        "significant": is_significant,
    }
    return Finding(f"{study}.lead", text, values)


def _board(result: CompareResult, link: str, n_rows: int) -> Board:
    order = ranked(result)
    shown = order[:ROWS]
    if result.baseline is not None and (own := result.runs.index(result.baseline)) not in shown:
        shown = [*shown[: ROWS - 1], own]
    decided = {} if result.baseline is None else against_baseline(result)
    ranks = "ranks that it may have"
    sure = f"{1 - result.alpha:.0%} simultaneous" if result.is_familywise else result.rank_words()
    rows = f"{result.row_word}s"
    digits = enough_digits(result.mean[shown], 3)
    return Board(
        title="Leaderboard",
        note=f"dot: rank; bar: {ranks}, {sure}",
        measure=result.measure,
        rows=tuple(
            BoardRow(
                rank=int(result.rank[run]),
                name=result.runs[run],
                score=f"{result.mean[run]:.{digits}f}",
                low=int(result.rank_set[run, 0]),
                high=int(result.rank_set[run, 1]),
                group=decided.get(run, _place_of(result, run)),
            )
            for run in shown
        ),
        n_ranks=len(result.runs),
        group="against the baseline" if decided else "group" if result.letters else "tier",
        link=link,
        more=f"All {n_rows:,} {rows}",
    )


def _place_of(result: CompareResult, run: int) -> str:
    """Letters, where there are few enough; else the tier."""
    return result.letters[run] if result.letters else str(result.tier[run])


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
        pair = ", median pair" if len(result.pairs) > 1 else ""
        made.append(
            Tile(
                id=f"{study}.detectable",
                figure=f"{smallest:.3f}",
                text=f"smallest difference of two runs these topics can show (power 0.8{pair})",
                values={"difference": smallest, "power": 0.8},
            )
        )
    return made

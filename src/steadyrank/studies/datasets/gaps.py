"""What a leaderboard lacks: which runs cost how many datasets, and what is done about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from steadyrank.data.leaderboard import Leaderboard
from steadyrank.errors import InputError
from steadyrank.words import MOST_NAMES, by_number, counted, some

Gaps = Literal["complete", "pairwise", "zero"]

FEWEST = 2
"""Datasets without which nothing can be resampled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GapRow:
    """A run that lacks datasets."""

    run: str
    missing: int
    """Datasets that it lacks."""
    kept_without: int
    """Datasets that all other runs have once this run and those that lack more are left out."""


def gap_rows(table: Leaderboard) -> tuple[GapRow, ...]:
    """Runs that lack datasets, those that lack most first."""
    absent = np.isnan(table.values)
    missing = absent.sum(axis=1)
    order = [int(i) for i in np.lexsort((np.arange(len(missing)), -missing)) if missing[i]]
    rows, left = [], np.ones(len(missing), bool)
    for i in order:
        left[i] = False
        kept = int((~absent[left].any(axis=0)).sum()) if left.any() else absent.shape[1]
        rows.append(GapRow(run=table.runs[i], missing=int(missing[i]), kept_without=kept))
    return tuple(rows)


def lacking_words(
    rows: Sequence[GapRow], n_runs: int, n_datasets: int, *, most: int = MOST_NAMES
) -> str:
    """Who lacks datasets, and how many, without an end of the sentence."""
    first, *others = rows
    who = [f"{first.run} ({first.missing} of {n_datasets})"]
    who += [f"{row.run} ({row.missing})" for row in others]
    lack = by_number(len(rows), "lacks", "lack")
    return f"{len(rows):,} of {n_runs:,} runs {lack} datasets: {some(who, most)}"


def complete_datasets(table: Leaderboard) -> Leaderboard:
    """The datasets that every run has; refused where these are too few."""
    whole = ~np.isnan(table.values).any(axis=0)
    if whole.sum() < FEWEST:
        rows = gap_rows(table)
        best = next((row for row in rows if row.kept_without >= FEWEST), rows[-1])
        names = [row.run for row in rows[: rows.index(best) + 1]]
        raise InputError(
            f"{counted(int(whole.sum()), 'dataset has', 'datasets have')} a score of every run, of "
            f'{len(table.datasets)}: give gaps="pairwise" or gaps="zero", or omit '
            f"{some(names)}, without which {best.kept_without} would remain"
        )
    return table.take(datasets=np.flatnonzero(whole).tolist())

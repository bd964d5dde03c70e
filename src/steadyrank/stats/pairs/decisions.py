"""Decisions about runs at two levels: all pairs together, and the comparisons of each run.

Corrected p-values, marks, letters and intervals show the decisions about all pairs. Rank sets,
tiers and the runs that could be first show those of a run's *own* family, which consists of its
comparisons with all others. All are derived here, so that no two of them contradict each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steadyrank.errors import InputError, check_choice
from steadyrank.stats.pairs.result import PairTests


def comparison_alpha(pvalues: np.ndarray, correction: str, alpha: float) -> float:
    """Return the level of each comparison's interval at which intervals match the decisions.

    alpha / m of m comparisons; of Benjamini and Hochberg's R rejected ones R alpha / m (Benjamini &
    Yekutieli 2005, doi:10.1198/016214504000001907).
    """
    family = pvalues[~np.isnan(pvalues)]
    if correction == "none" or not family.size:
        return alpha
    if correction == "bh":
        ranked = np.sort(family) <= alpha * np.arange(1, family.size + 1) / family.size
        rejected = int(np.flatnonzero(ranked)[-1]) + 1 if ranked.any() else 1
        return float(alpha * rejected / family.size)
    return float(alpha / family.size)


def step_levels(pvalues: np.ndarray, correction: str, alpha: float) -> np.ndarray:
    """Return the level that decides each hypothesis; it varies only for Holm's correction."""
    levels = np.full(len(pvalues), comparison_alpha(pvalues, correction, alpha))
    if correction == "holm" and not np.isnan(pvalues).all():
        order = np.argsort(pvalues, kind="stable")[: np.count_nonzero(~np.isnan(pvalues))]
        steps = alpha / np.arange(len(order), 0, -1)
        kept = np.logical_and.accumulate(pvalues[order] <= steps)
        last = min(int(kept.sum()), len(steps) - 1)
        levels[order] = np.where(kept, steps, steps[last])
    return levels


def claims(
    tests: PairTests, pairs: np.ndarray, adjusted: np.ndarray, means: np.ndarray, alpha: float
) -> np.ndarray:
    """Return 1 or -1 if the first or the second run of a pair is significantly better, else 0.

    Nothing is claimed where a test favours the run with the lower mean.
    """
    direction = np.sign(tests.difference) if tests.direction is None else tests.direction
    return claims_of(direction, pairs, adjusted, means, alpha)


def claims_of(
    direction: np.ndarray, pairs: np.ndarray, adjusted: np.ndarray, means: np.ndarray, alpha: float
) -> np.ndarray:
    """Return claims as `claims`, given the sign of the run that each test favours."""
    lead = np.sign(np.nan_to_num(means[pairs[:, 0]] - means[pairs[:, 1]]))
    rejected = np.nan_to_num(adjusted, nan=1.0) <= alpha
    return np.where(rejected & (direction == lead), np.nan_to_num(direction), 0.0).astype(int)


def own_claims(
    direction: np.ndarray, pairs: np.ndarray, own: np.ndarray, means: np.ndarray, alpha: float
) -> np.ndarray:
    """Return claims [pair, 2] by p-values [pair, 2] of the families of both runs."""
    sides = [claims_of(direction, pairs, own[:, side], means, alpha) for side in (0, 1)]
    return np.stack(sides, axis=1)


Decided = Any
"""Decisions about pairs of runs: a result of `compare`, or what has the same `runs`, `pairs`,
`significant`, `comparison_alpha`, `could_be_first`, `mean`, `difference`, `smallest_difference`."""


def agreeing_intervals(limits: np.ndarray, claimed: np.ndarray, most: float) -> np.ndarray:
    """Return limits [pair, 2] that exclude 0 exactly if a difference is claimed.

    If nothing is claimed although the limits exclude 0 (ties, Monte Carlo error, a test that
    contradicts the means), the nearer limit becomes 0. A limit is NaN if the tests do not bound it,
    or if it exceeds `most`, the largest difference that the measure allows.
    """
    low, high = limits.T.copy()
    low = np.where((claimed <= 0) & (low > 0.0), 0.0, low)
    high = np.where((claimed >= 0) & (high < 0.0), 0.0, high)
    low[((claimed > 0) & ~(low > 0.0)) | (low < -most) | np.isinf(low)] = np.nan
    high[((claimed < 0) & ~(high < 0.0)) | (high > most) | np.isinf(high)] = np.nan
    return np.stack([low, high], axis=1)


def turned(limits: np.ndarray, sign: np.ndarray) -> np.ndarray:
    """Return the limits [pair, 2] of differences times `sign`.

    >>> turned(np.array([[-0.1, np.nan]]), np.array([-1.0])).tolist()
    [[nan, 0.1]]
    """
    return np.where(sign[:, None] < 0.0, -limits[:, ::-1], limits)


def beaten(n_runs: int, pairs: np.ndarray, claimed: np.ndarray) -> np.ndarray:
    """Return [run, run]: whether the run of the row is significantly better than the column's."""
    wins = np.zeros((n_runs, n_runs), bool)
    for sign in (1, -1):
        first, second = pairs[claimed == sign, ::sign].T
        wins[first, second] = True
    return wins


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OwnDecisions:
    """Decisions about each run by the run's own family of comparisons."""

    rank_set: np.ndarray
    """[run, 2]: 1 + number of better runs, to m - number of worse runs. For each single run, it
    contains the true rank with confidence 1 - alpha."""
    tier: np.ndarray
    """[run]: number from 1, which never decreases down the ranking; 0 for runs without a mean."""

    @property
    def could_be_first(self) -> np.ndarray:
        """[run]: whether the rank set begins at 1."""
        return np.asarray(self.rank_set[:, 0] == 1)


class Placed:
    """Base of results with decisions by run."""

    __slots__ = ()
    runs: tuple[str, ...]
    rank: np.ndarray
    own: OwnDecisions | None
    """None with a baseline, whose rivals are not compared with each other."""
    rank_set_simultaneous: np.ndarray
    letters: tuple[str, ...]
    pairs: np.ndarray
    significant: np.ndarray

    @property
    def rank_set(self) -> np.ndarray:
        """[run, 2]: lowest and highest possible rank by its own comparisons; 0 with a baseline."""
        return np.zeros((len(self.runs), 2), int) if self.own is None else self.own.rank_set

    @property
    def could_be_first(self) -> np.ndarray:
        """[run]: whether the rank set begins at 1."""
        return np.asarray(self.rank_set[:, 0] == 1)

    @property
    def tier(self) -> np.ndarray:
        """[run]: 1 for the best run and those down to the last that it does not beat, and so on."""
        return np.zeros(len(self.runs), int) if self.own is None else self.own.tier

    @property
    def n_different(self) -> np.ndarray:
        """[run]: number of runs that it differs from significantly."""
        return np.bincount(self.pairs[self.significant].ravel(), minlength=len(self.runs))

    def place_row(self, row: int) -> dict[str, Any]:
        """Return where a row may stand, with the keys of JSON; None with a baseline."""
        known, sets = self.own is not None, (self.rank_set, self.rank_set_simultaneous)
        own, together = (ends[row].tolist() if known else None for ends in sets)
        return {
            "rank": int(self.rank[row]),
            "rank_set": own,
            "rank_set_simultaneous": together,
            "could_be_first": bool(self.rank_set[row, 0] == 1) if known else None,
            "tier": int(self.tier[row]) or None,
            "group": self.letters[row] if self.letters else None,
        }


def own_decisions(
    pairs: np.ndarray, claimed: np.ndarray, means: np.ndarray, order: Sequence[int]
) -> OwnDecisions:
    """Return rank sets and tiers from the claims of own families.

    `claimed` [pair, 2] is 1 or -1 if the first or the second run of a pair is significantly better
    in the own family of the pair's first run, and of its second; `order` lists the runs from the
    best down. A tier extends down to the last run that its first run does not beat in the lower
    run's own family; the next run begins the next tier.
    """
    sides = [beaten(len(means), pairs, claimed[:, side]) for side in (0, 1)]
    first_of = np.zeros_like(sides[0])
    first_of[pairs[:, 0], pairs[:, 1]] = True
    # [run, run] by the family of the column's run, which may be worse; then by the row's run.
    lost = np.where(first_of, sides[1], sides[0])
    won = np.where(first_of, sides[0], sides[1])
    tier, left = np.zeros(len(means), int), [run for run in order if not np.isnan(means[run])]
    while left:
        level = 1 + max(np.flatnonzero(~lost[left[0], left]))
        tier[left[:level]] = tier.max() + 1
        left = left[level:]
    return OwnDecisions(rank_set=rank_sets(lost, won), tier=tier)


def rank_sets(lost: np.ndarray, won: np.ndarray | None = None) -> np.ndarray:
    """Return [run, 2]: the best and the worst rank of each run that agree with the claims.

    `lost` [run, run] says whether the row's run beats the column's; `won`, if not the same, by the
    families of the rows (Mogstad, Romano, Shaikh & Wilhelm 2024, doi:10.1093/restud/rdad006).
    """
    won = lost if won is None else won
    return np.stack([1 + lost.sum(axis=0), len(lost) - won.sum(axis=1)], axis=1)


def own_pvalues(pvalues: np.ndarray, pairs: np.ndarray, n_runs: int, method: str) -> np.ndarray:
    """Return [pair, 2]: p-values adjusted in the own families of each pair's first and second run.

    Other corrections than Bonferroni's and Holm's have one family.
    """
    if method not in ("holm", "bonferroni"):
        return np.repeat(adjust(pvalues, method)[:, None], 2, axis=1)
    run = pairs.ravel()
    order, own = np.argsort(run, kind="stable"), np.empty(run.size)
    for members in np.split(order, np.cumsum(np.bincount(run, minlength=n_runs))[:-1]):
        own[members] = adjust(pvalues[members // 2], method)
    return own.reshape(-1, 2)


def adjust(pvalues: ArrayLike, method: str = "holm") -> np.ndarray:
    """Return adjusted p-values in the given shape and order; NaN stays NaN and is not counted.

    With m p-values sorted upwards, p_(1) to p_(m), `bonferroni` is min(1, m p), `holm` the maximum
    over j <= i of min(1, (m - j + 1) p_(j)) (Holm 1979, https://www.jstor.org/stable/4615733), and
    `bh` the minimum over j >= i of min(1, m p_(j) / j) (Benjamini and Hochberg 1995,
    doi:10.1111/j.2517-6161.1995.tb02031.x).
    """
    check_choice("correction", method, METHODS)
    values = np.array(pvalues, dtype=np.float64)
    present = ~np.isnan(values)
    family = values[present]
    if np.any((family < 0.0) | (family > 1.0)):
        wrong = family[(family < 0.0) | (family > 1.0)][0]
        raise InputError(f"a p-value must lie between 0 and 1, got {wrong}")
    if family.size:
        values[present] = METHODS[method](family)
    return values


def _holm(p: np.ndarray) -> np.ndarray:
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    return _unsorted(np.minimum(1.0, stepped), order)


def _bh(p: np.ndarray) -> np.ndarray:
    order = np.argsort(-p, kind="stable")
    # m / rank is computed first: it is never below 1, so rounding cannot lower a p-value.
    stepped = np.minimum.accumulate(p[order] * (p.size / np.arange(p.size, 0, -1)))
    return _unsorted(np.minimum(1.0, stepped), order)


def _unsorted(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    back = np.empty_like(values)
    back[order] = values
    return back


METHODS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "none": lambda p: p,
    "bonferroni": lambda p: np.minimum(1.0, p * p.size),
    "holm": _holm,
    "bh": _bh,
}
"""Name of a correction to its function of a family without missing values."""


MOST_GROUPS = 500
"""Largest number of intermediate groups; some patterns would create too many."""

ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def compact_letters(different: np.ndarray, order: np.ndarray) -> list[str] | None:
    """Return letters such that runs share one exactly if they are not significantly different.

    None if that requires more groups than there are letters. `different` is a symmetric boolean
    matrix of runs, `order` the runs from the best down. By insert and absorb (Piepho 2004,
    doi:10.1198/1061860043515): start with one group of all runs; every significant pair splits each
    group that contains both; groups inside others are dropped.
    """
    n_runs = len(different)
    groups = [(1 << n_runs) - 1]
    # Sorted by rank, groups are nearly intervals, so that there are few; the result is the same.
    ranked = different[np.ix_(order, order)]
    for i, j in np.argwhere(np.triu(ranked)).tolist():
        pair = 1 << i | 1 << j
        split = {g ^ 1 << member for g in groups if g & pair == pair for member in (i, j)}
        groups = _absorbed([g for g in groups if g & pair != pair], split)
        if len(groups) > MOST_GROUPS:
            return None
    if len(groups) > len(ALPHABET):
        return None
    letters = [""] * n_runs
    members = sorted([place for place in range(n_runs) if group >> place & 1] for group in groups)
    for letter, group in zip(ALPHABET, members, strict=False):
        for place in group:
            letters[int(order[place])] += letter
    return letters


def _absorbed(kept: list[int], new: set[int]) -> list[int]:
    """Return the groups (bit sets) that no other group contains; only new ones can be contained."""
    result = list(kept)
    for group in sorted(new, key=int.bit_count, reverse=True):
        for other in result:
            if group & other == group:
                break
        else:
            result.append(group)
    return result

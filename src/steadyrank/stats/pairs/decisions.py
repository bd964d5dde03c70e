"""Who beats whom: one family of decisions, and all that a table says by it.

Corrected p-values, marks, letters, rank sets and intervals are five ways to tell the same
decisions. They are made here, once, so that no two of them can contradict each other.

For anyone who tests more than one pair of runs, p-values are adjusted for the size of the family:
Bonferroni and Holm bound the chance of any false claim (Holm is never worse); Benjamini-Hochberg
bounds the expected share of false claims.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from steadyrank.errors import InputError, check_choice
from steadyrank.stats.pairs.result import PairTests

OPEN_END = float(np.finfo(np.float64).tiny)
"""Stands for "anything above 0" where a stepdown decides what its first step does not."""


def comparison_alpha(pvalues: np.ndarray, correction: str, alpha: float) -> float:
    """The level of each comparison's own interval, such that the intervals suit the decisions.

    Bonferroni's and Holm's intervals hold together with confidence 1 - alpha: they are taken at
    alpha / m. Benjamini and Hochberg's R rejected hypotheses have intervals at R alpha / m, of
    which a share of alpha misses on average (Benjamini & Yekutieli 2005,
    doi:10.1198/016214504000001907).

    >>> comparison_alpha(np.array([0.001, 0.02, 0.9]), "bh", 0.06)
    0.04
    """
    family = pvalues[~np.isnan(pvalues)]
    if correction == "none" or not family.size:
        return alpha
    if correction == "bh":
        ranked = np.sort(family) <= alpha * np.arange(1, family.size + 1) / family.size
        rejected = int(np.flatnonzero(ranked)[-1]) + 1 if ranked.any() else 1
        return float(alpha * rejected / family.size)
    return float(alpha / family.size)


def claims(
    tests: PairTests, pairs: np.ndarray, adjusted: np.ndarray, means: np.ndarray, alpha: float
) -> np.ndarray:
    """1 or -1 where the first or the second run of a pair is shown to be better, else 0.

    A test may speak for the run with the lower mean: rank tests do with skewed differences, and
    every test does where runs lack topics. Then nothing is claimed, which errs on the safe side.
    """
    direction = np.sign(tests.difference) if tests.direction is None else tests.direction
    return claims_of(direction, pairs, adjusted, means, alpha)


def claims_of(
    direction: np.ndarray, pairs: np.ndarray, adjusted: np.ndarray, means: np.ndarray, alpha: float
) -> np.ndarray:
    """The same of the sign that each test speaks for."""
    lead = np.sign(np.nan_to_num(means[pairs[:, 0]] - means[pairs[:, 1]]))
    rejected = np.nan_to_num(adjusted, nan=1.0) <= alpha
    return np.where(rejected & (direction == lead), np.nan_to_num(direction), 0.0).astype(int)


class Decided(Protocol):
    """Decisions about pairs of runs, as `compare` makes them."""

    @property
    def runs(self) -> Sequence[str]:
        """Their names."""

    @property
    def pairs(self) -> np.ndarray:
        """[pair, 2]: positions of the two runs."""

    @property
    def significant(self) -> np.ndarray:
        """One per pair."""

    @property
    def comparison_alpha(self) -> float:
        """The level of a single comparison that the correction's first step amounts to."""

    @property
    def could_be_first(self) -> np.ndarray:
        """Which runs could be the best."""

    @property
    def mean(self) -> np.ndarray:
        """One per run."""

    @property
    def difference(self) -> np.ndarray:
        """One per pair, first less second."""

    @property
    def smallest_difference(self) -> np.ndarray:
        """What a test of each pair at that level detects with a power of 0.8."""


def agreeing_intervals(limits: np.ndarray, claimed: np.ndarray) -> np.ndarray:
    """The limits [pair, 2], such that 0 lies outside exactly where a difference is claimed.

    A stepdown claims more than its first step, whose limits hold for all pairs together: all it
    adds is that the difference is above 0. Where nothing is claimed although the limits exclude
    0 (ties, Monte Carlo error, a test against the means), they are drawn to it.
    """
    low, high = limits.T.copy()
    low = np.where((claimed > 0) & ~(low > 0.0), OPEN_END, low)
    high = np.where((claimed < 0) & ~(high < 0.0), -OPEN_END, high)
    low = np.where((claimed <= 0) & (low > 0.0), 0.0, low)
    high = np.where((claimed >= 0) & (high < 0.0), 0.0, high)
    return np.stack([low, high], axis=1)


def beaten(n_runs: int, pairs: np.ndarray, claimed: np.ndarray) -> np.ndarray:
    """[run, run]: whether the run of the row is shown to be better than that of the column."""
    wins = np.zeros((n_runs, n_runs), bool)
    for sign in (1, -1):
        first, second = pairs[claimed == sign, ::sign].T
        wins[first, second] = True
    return wins


def tiers(wins: np.ndarray, means: np.ndarray) -> np.ndarray:
    """A number per run: 1 for all that are not shown to be worse than the best, and so on.

    Each further tier begins with the best run outside those before, and holds what is not shown to
    be worse than that one. Runs of one tier may differ significantly from one another. 0 for runs
    without a mean.

    >>> tiers(np.array([[0, 0, 1], [0, 0, 0], [0, 0, 0]], bool), np.array([0.5, 0.4, 0.3])).tolist()
    [1, 1, 2]
    """
    tier = np.zeros(len(means), int)
    left = np.argsort(-np.nan_to_num(means, nan=-np.inf), kind="stable")
    left = left[~np.isnan(means[left])]
    while len(left):
        worse = wins[left[0], left]
        tier[left[~worse]] = tier.max() + 1
        left = left[worse]
    return tier


def rank_sets(wins: np.ndarray) -> np.ndarray:
    """[run, 2]: the best and the worst rank that the claims leave to each run.

    1 + the runs that beat it, to m - the runs that it beats. If all claims are right, which a
    correction for the family ensures with confidence 1 - alpha, every run's true rank lies in its
    set, all at once; equal runs share their ranks, and the set holds all of these (Mogstad,
    Romano, Shaikh & Wilhelm 2024, doi:10.1093/restud/rdad006).

    >>> rank_sets(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], bool)).tolist()
    [[1, 2], [1, 2], [3, 3]]
    """
    return np.stack([1 + wins.sum(axis=0), len(wins) - wins.sum(axis=1)], axis=1)


def adjust(pvalues: ArrayLike, method: str = "holm") -> np.ndarray:
    """Adjusted p-values, in the shape and order given; NaN stays NaN and is not counted.

    With m p-values sorted upwards, p_(1) to p_(m):

    - `none`: p
    - `bonferroni`: min(1, m p)
    - `holm`: max over j <= i of min(1, (m - j + 1) p_(j))
    - `bh`: min over j >= i of min(1, m p_(j) / j)

    Reject where the adjusted value is below the error rate. Bonferroni and Holm hold under any
    dependence; BH under independence or positive regression dependence, which all pairs of
    the same runs satisfy only roughly. Do not use `bh` where one false claim is one too many, nor
    any of them on p-values that are already simultaneous (Tukey's). The whole array is one family.

    References: Holm, Scandinavian Journal of Statistics 6(2), 1979,
    https://www.jstor.org/stable/4615733; Benjamini and Hochberg 1995,
    doi:10.1111/j.2517-6161.1995.tb02031.x.

    >>> adjust([0.01, 0.04, float("nan"), 0.03], "holm").tolist()
    [0.03, 0.06, nan, 0.06]
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
    # The factor first: m / rank is never below 1, so that rounding cannot lower a p-value.
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
"""Name of each correction and what it does to a family without missing values."""


MOST_GROUPS = 500
"""Groups on the way to the answer; some patterns make them grow without end."""

ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def compact_letters(different: np.ndarray, order: np.ndarray) -> list[str] | None:
    """Letters such that runs share one exactly if they are not significantly different.

    None where that takes more groups than there are letters, as with many runs.

    `different` is a symmetric boolean matrix of runs, `order` the runs from the best down.
    Insert-absorb: start with one group of all; every significant pair splits each group
    that holds both; groups inside others are dropped. Piepho, "An algorithm for a
    letter-based representation of all-pairwise comparisons", Journal of Computational and
    Graphical Statistics 13(2), 2004, doi:10.1198/1061860043515.

    >>> different = np.zeros((3, 3), bool)
    >>> different[0, 2] = different[2, 0] = True
    >>> compact_letters(different, np.arange(3))
    ['a', 'ab', 'b']
    """
    n_runs = len(different)
    groups = [(1 << n_runs) - 1]
    # By rank, groups are nearly intervals and stay few on the way; the answer is the same.
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
    """The groups that no other group contains; only new ones can be contained.

    A group is the bits of its runs, which makes containing one operation.
    """
    result = list(kept)
    for group in sorted(new, key=int.bit_count, reverse=True):
        for other in result:
            if group & other == group:
                break
        else:
            result.append(group)
    return result

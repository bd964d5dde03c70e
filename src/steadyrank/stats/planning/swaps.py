"""How often do pairs of runs stand the other way round on as many other topics (or datasets)?

For anyone who reads a ranking. A single pair's t says too little: on other topics the best regress
towards the rest, and how far depends on all runs. One constant per table, learned from the mean
p-value of its pairs, puts that right: random halves of the topics disagree about a pair with a
probability near its two-sided p, which makes the correlation of two halves' orders known, and the
formula of Spearman and Brown carries that to two whole sets of topics. Forecasts are compared with
what happened in `docs/forecasts.md`.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from steadyrank.stats.pairs.max_t import unit_errors
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tests import moments
from steadyrank.stats.pairs.topic_design import Units
from steadyrank.stats.run_means import SAME_MEAN

USUAL, USUAL_WEIGHT = 0.65, 3.0
"""The constant of a typical table, and the pairs of runs that it counts for: two runs tell nothing
about how far runs lie apart, many tell all."""

LEAST = 0.02
"""Constants lie between this and 1."""

SAMPLED = 8192
"""Pairs that a constant is found from: of more, every k-th by the size of t."""

HALVINGS = 40


def swap_chances(scores: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Chance that as many new topics order each pair of rows of scores [run, topic] otherwise.

    T(-c |t|), T Student's distribution function on n - 1 degrees of freedom, t that of the paired
    test, c the constant of all pairs of the runs (`swap_constant`). Pairs are compared on the
    topics that both have. 1/2 for equal means; NaN for fewer than two common topics. Of runs picked
    *because* they came out on top the chance is understated by .02 to .05.

    >>> scores = np.random.default_rng(1).normal(size=(4, 20)) + [[0.9], [0.6], [0.3], [0.0]]
    >>> swap_chances(scores, np.array([[0, 1], [0, 3]])).round(2).tolist()
    [0.23, 0.0]
    """
    t, df = _paired_t(scores, all_pairs(len(scores)))
    constant = swap_constant(t, df, len(scores))
    t, df = _paired_t(scores, pairs)
    return np.asarray(special.stdtr(df, -constant * np.abs(t)))


def swap_share(scores: np.ndarray) -> float:
    """The share of all pairs with an order that as many new topics are expected to turn.

    One forecast has an error of about two points; print no decimals.
    """
    pairs = all_pairs(len(scores))
    return share_of(swap_chances(scores, pairs), moments(scores, pairs).mean)


def unit_swap_share(units: Units) -> float:
    """The same of units that may differ in weight, such as whole types of datasets."""
    value, pairs = units.value, all_pairs(len(units.sums))
    difference = value[pairs[:, 0]] - value[pairs[:, 1]]
    df = np.full(len(pairs), float(len(units.share) - len(units.sizes)))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(np.abs(difference) <= SAME_MEAN, 0.0, difference / unit_errors(units, pairs))
    constant = swap_constant(t, df, len(units.sums))
    return share_of(special.stdtr(df, -constant * np.abs(t)), difference)


def share_of(chances: np.ndarray, differences: np.ndarray) -> float:
    """The mean chance of the pairs that have an order; NaN where none has."""
    known = (np.abs(differences) > SAME_MEAN) & ~np.isnan(chances)
    return float(chances[known].mean()) if known.any() else float("nan")


def swap_constant(t: np.ndarray, df: np.ndarray, n_runs: int) -> float:
    """What all pairs' t is multiplied by, for the chance of a swap to come true on average.

    p, the mean two-sided p-value, is the share of pairs that random halves order differently. Were
    the differences of both halves normal with correlation rho, that share would be
    arccos(rho) / pi; two whole sets correlate by 2 rho / (1 + rho). The constant makes the mean
    chance their share, and is drawn towards `USUAL` where few runs inform it.
    """
    size = np.abs(t)
    known = (size > 0.0) & ~np.isnan(size + df)
    step = -(-int(known.sum()) // SAMPLED) or 1
    order = np.argsort(size[known], kind="stable")[step // 2 :: step]
    size, df = size[known][order], df[known][order]
    if not len(size):
        return USUAL
    rho = float(np.cos(np.pi * 2.0 * special.stdtr(df, -size).mean()))
    share = float(np.arccos(2.0 * rho / (1.0 + rho)) / np.pi) if rho > 0.0 else 0.5
    low, high = LEAST, 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        is_less = special.stdtr(df, -middle * size).mean() < share
        low, high = (low, middle) if is_less else (middle, high)
    own = (n_runs - 2.0) / (n_runs - 2.0 + USUAL_WEIGHT)
    return float((0.5 * (low + high)) ** own * USUAL ** (1.0 - own))


def _paired_t(scores: np.ndarray, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each pair's t, without a variance floor, and its degrees of freedom; NaN where unknown."""
    found = moments(scores, pairs)
    mean = np.where(np.abs(found.mean) > SAME_MEAN, found.mean, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(mean == 0.0, 0.0, mean / found.standard_error)
    few = found.n < 2
    return np.where(few, np.nan, t), np.where(few, np.nan, found.df)

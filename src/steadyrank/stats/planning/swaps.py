"""How often are pairs of runs reversed on the same number of other topics (or datasets)?

The t of a pair is not sufficient: on other topics the best runs regress towards the others, by an
amount that depends on all runs. One constant per table, learned from the mean p-value of its pairs,
corrects for that: random halves of the topics disagree about a pair with a probability close to its
two-sided p, which gives the correlation of two halves, and the Spearman-Brown formula that of two
whole sets of topics. `docs/forecasts.md` compares forecasts with outcomes.
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
"""The constant of a typical table, and its weight in runs; two runs give no information on it."""

LEAST = 0.02
"""Smallest constant; the largest is 1."""

SAMPLED = 8192
"""Number of pairs from which a constant is computed; of more, every k-th by the size of t."""

HALVINGS = 40


def swap_chances(scores: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return the probability that the same number of new topics reverses each pair of runs.

    T(-c |t|), T Student's distribution function with n - 1 degrees of freedom, t that of the paired
    test, c the constant of all pairs of the runs (`swap_constant`). Pairs of scores [run, topic]
    are compared on the topics that both have. 1/2 for equal means; NaN for fewer than two common
    topics. For runs selected as the best, the probability is too low by .02 to .05.

    >>> scores = np.random.default_rng(1).normal(size=(4, 20)) + [[0.9], [0.6], [0.3], [0.0]]
    >>> swap_chances(scores, np.array([[0, 1], [0, 3]])).round(2).tolist()
    [0.23, 0.0]
    """
    t, df = _paired_t(scores, all_pairs(len(scores)))
    constant = swap_constant(t, df, len(scores))
    t, df = _paired_t(scores, pairs)
    return np.asarray(special.stdtr(df, -constant * np.abs(t)))


def swap_share(scores: np.ndarray) -> float:
    """Return the expected share of ordered pairs that the same number of new topics reverses.

    One forecast has an error of about two percentage points; print no decimals.
    """
    pairs = all_pairs(len(scores))
    return share_of(swap_chances(scores, pairs), moments(scores, pairs).mean)


def unit_swap_share(units: Units) -> float:
    """Return the swap share of units that may differ in weight, such as types of datasets."""
    value, pairs = units.value, all_pairs(len(units.sums))
    difference = value[pairs[:, 0]] - value[pairs[:, 1]]
    df = np.full(len(pairs), float(len(units.share) - len(units.sizes)))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(np.abs(difference) <= SAME_MEAN, 0.0, difference / unit_errors(units, pairs))
    constant = swap_constant(t, df, len(units.sums))
    return share_of(special.stdtr(df, -constant * np.abs(t)), difference)


def share_of(chances: np.ndarray, differences: np.ndarray) -> float:
    """Return the mean probability of the pairs with different means; NaN without any."""
    known = (np.abs(differences) > SAME_MEAN) & ~np.isnan(chances)
    return float(chances[known].mean()) if known.any() else float("nan")


def swap_constant(t: np.ndarray, df: np.ndarray, n_runs: int) -> float:
    """Return the factor of all pairs' t that makes the mean probability of a swap correct.

    p, the mean two-sided p-value, is the share of pairs that random halves order differently. If
    the differences of both halves are normal with correlation rho, that share is arccos(rho) / pi;
    two whole sets have the correlation 2 rho / (1 + rho). The constant makes the mean probability
    equal to their share, and is shrunk towards `USUAL` if there are few runs.
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
    """Return t of each pair, without a variance floor, and its df; NaN if unknown."""
    found = moments(scores, pairs)
    mean = np.where(np.abs(found.mean) > SAME_MEAN, found.mean, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(mean == 0.0, 0.0, mean / found.standard_error)
    few = found.n < 2
    return np.where(few, np.nan, t), np.where(few, np.nan, found.df)

"""The result of a test of many pairs of runs, lists of pairs, and flags of degenerate pairs.

Scores are a matrix [run, topic], NaN where missing, and pairs of runs an integer array [pair, 2];
the difference of a pair is always first minus second.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

NO_DIFFERENCE, ZERO_VARIANCE, TOO_FEW = "no_difference", "zero_variance", "too_few_topics"
"""Flags of degenerate pairs: identical runs (p = 1), a constant difference (p = 0), n < 2."""

CONSTANT = 1e-12
"""A spread counts as 0 if it is at most this times the largest absolute difference or 1."""


def tiny_of(values: np.ndarray) -> float:
    """Return the largest rounding error among such values: `CONSTANT` of the largest, or of 1."""
    return CONSTANT * max(1.0, float(np.nanmax(np.abs(values), initial=0.0)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairTests:
    """One test of many pairs of runs: arrays with one entry per pair."""

    n: np.ndarray
    """Number of topics that both runs of the pair have."""
    difference: np.ndarray
    """Mean difference over these topics."""
    statistic: np.ndarray
    pvalue: np.ndarray
    flag: np.ndarray
    """"" or one of the flags."""
    method: str
    """Description: exact or approximate, treatment of zeros and ties, number of samples."""
    n_samples: int | None = None
    pvalue_error: np.ndarray | None = None
    """Monte Carlo standard error of each sampled p-value."""
    half_width: np.ndarray | None = None
    """Half width of simultaneous intervals of the differences, if the test defines them."""
    standard_error: np.ndarray | None = None
    df: np.ndarray | None = None
    """Degrees of freedom of each standard error."""
    own_error: np.ndarray | None = None
    """Standard error from the pair's data only, for tests whose error is learned from all rows; by
    `own_pvalue` a claim must be significant as well."""
    own_df: np.ndarray | None = None
    own_pvalue: np.ndarray | None = None
    direction: np.ndarray | None = None
    """1 if the test favours the first run, -1 for the second; None for the sign of `difference`."""


def model_tests(rows: Iterable[tuple[Any, ...]], method: str, **more: Any) -> PairTests:
    """Return tests from one row per pair: topics, difference, error, df, t, p and flag."""
    n, difference, error, df, statistic, pvalue, flag = map(np.array, zip(*rows, strict=True))
    return PairTests(
        n=n,
        difference=difference,
        statistic=statistic,
        pvalue=pvalue,
        flag=flag.astype(object),
        method=method,
        standard_error=error,
        df=df,
        **more,
    )


def all_pairs(n_runs: int) -> np.ndarray:
    """Return every unordered pair of runs, [pair, 2], in the order (0, 1), (0, 2), …, (1, 2), …

    >>> all_pairs(3).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    return np.stack(np.triu_indices(n_runs, 1), axis=1)


def pairs_with(n_runs: int, baseline: int) -> np.ndarray:
    """Return the pairs of every other run (first) with the baseline (second), [pair, 2]."""
    return np.array([(run, baseline) for run in range(n_runs) if run != baseline])


def degenerate_flags(
    n: np.ndarray, mean: np.ndarray, sd: np.ndarray, largest: np.ndarray
) -> np.ndarray:
    """Return the flag of each pair from its number, mean, sd and largest size of differences."""
    flags = np.full(np.shape(n), "", dtype=object)
    constant = sd <= CONSTANT * np.maximum(1.0, largest)
    nothing = np.abs(mean) <= CONSTANT * np.maximum(1.0, largest)
    flags[constant & nothing] = NO_DIFFERENCE
    flags[constant & ~nothing] = ZERO_VARIANCE
    flags[np.asarray(n) < 2] = TOO_FEW
    return flags

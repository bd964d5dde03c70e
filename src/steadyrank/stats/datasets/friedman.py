"""Friedman's test and Nemenyi's critical difference: average ranks over datasets (Demšar 2006).

What papers on machine learning draw. Offered beside the rank sets because readers expect it; an
average rank of one run depends on which other runs are in the table, and so does the verdict on two
of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from scipy import special

from steadyrank.errors import InputError
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.ranks.tied import average_ranks


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Friedman:
    """Average ranks, whether they differ at all, and by how much two have to."""

    average_rank: np.ndarray
    """One per run, 1 being the best."""
    statistic: float
    """Friedman's chi-square, corrected for ties."""
    pvalue: float
    critical_difference: float
    """Nemenyi's, at the level alpha of all pairs together."""


def friedman(scores: np.ndarray, *, alpha: float = 0.05) -> Friedman:
    """Friedman's test of complete scores [run, dataset], higher being better.

    Parameters
    ----------
    scores : [run, dataset]
    alpha : float
        Level of the critical difference.

    Notes
    -----
    Reference: Demšar, JMLR 7, 2006, https://jmlr.org/papers/v7/demsar06a.html.

    >>> round(friedman(np.random.default_rng(0).random((5, 30))).critical_difference, 3)
    1.114
    """
    check_open_unit("alpha", alpha)
    if scores.ndim != 2 or len(scores) < 2 or scores.shape[1] < 1 or np.isnan(scores).any():
        raise InputError("Friedman's test requires complete scores of two runs or more")
    n_runs, n_datasets = scores.shape
    ranks = average_ranks(-scores.T).T
    average = ranks.mean(axis=1)
    spread = np.square(ranks - 0.5 * (n_runs + 1.0)).sum() / (n_runs - 1.0)
    between = n_datasets**2 * np.square(average - 0.5 * (n_runs + 1.0)).sum()
    statistic = float(between / spread) if spread > 0.0 else 0.0
    return Friedman(
        average_rank=average,
        statistic=statistic,
        pvalue=float(special.chdtrc(n_runs - 1.0, statistic)),
        critical_difference=critical_difference(n_runs, n_datasets, alpha),
    )


def critical_difference(n_runs: int, n_datasets: int, alpha: float) -> float:
    """Nemenyi's: q sqrt(m(m + 1) / (6 n)), q the studentized range of m over sqrt(2)."""
    q = float(scipy.stats.studentized_range.ppf(1.0 - alpha, n_runs, np.inf)) / math.sqrt(2.0)
    return q * math.sqrt(n_runs * (n_runs + 1.0) / (6.0 * n_datasets))

"""Do datasets of one type resemble each other? Then they are fewer than they seem."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


def type_correlation(scores: np.ndarray, types: Sequence[str]) -> float:
    """Intraclass correlation, within types, of how runs do beyond their and the datasets' means.

    0 where datasets of a type tell no more alike than those of different types; 1 where a type is
    one dataset many times over. From the mean squares between and within types of the residuals
    of run + dataset, pooled over runs (one-way analysis of variance, Fisher 1925; with types of
    unequal sizes n0 for their size); NaN where every type, or no more than one, has datasets.

    Parameters
    ----------
    scores : [run, dataset], complete
    types : sequence of str
        One per dataset.

    >>> twice = np.repeat(np.random.default_rng(0).normal(size=(9, 8)), 2, axis=1)
    >>> round(type_correlation(twice, list("aabbccddeeffgghh")), 2)
    1.0
    """
    names, code, size = np.unique(list(types), return_inverse=True, return_counts=True)
    n_runs, n = scores.shape
    if not 1 < len(names) < n or n_runs < 2:
        return math.nan
    off = scores - scores.mean(axis=1, keepdims=True) - scores.mean(axis=0) + scores.mean()
    member = (code == np.arange(len(names))[:, None]).astype(np.float64)
    means = off @ (member / size[:, None]).T
    between = (size * np.square(means)).sum() / (len(names) - 1.0)
    within = np.square(off - means[:, code]).sum() / (n - len(names))
    n0 = (n - np.square(size).sum() / n) / (len(names) - 1.0)
    total = between + (n0 - 1.0) * within
    return float((between - within) / total) if total > 0.0 else math.nan

"""What every routine on pairs of runs checks before it computes, and the pairs' differences.

Wrong shapes, unknown runs and levels outside (0, 1) are the caller's to mend, hence errors;
odd but possible data (missing topics, identical runs) are not, and become flags.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from steadyrank.errors import InputError, check_count, check_number
from steadyrank.stats.pairs.result import degenerate_flags

PAIR_BLOCK = 256
"""Pairs handled at a time: bounds memory, and never depends on the number of threads."""


def check_scores(scores: ArrayLike) -> np.ndarray:
    """The scores as a float64 matrix [run, topic] without infinities."""
    matrix = np.asarray(scores, dtype=np.float64)
    if matrix.ndim != 2:
        raise InputError(f"scores must be a matrix [run, topic], got {matrix.ndim} dimensions")
    if np.isinf(matrix).any():
        raise InputError("scores hold an infinite value: mark missing scores as NaN")
    return matrix


def check_pairs(pairs: ArrayLike, n_runs: int) -> np.ndarray:
    """The pairs as an integer array [pair, 2] of rows of the scores."""
    array = np.asarray(pairs)
    if array.size == 0:
        return np.zeros((0, 2), np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise InputError(
            f"pairs must be integers [pair, 2], got {array.dtype} of shape {array.shape}"
        )
    if array.min() < 0 or array.max() >= n_runs:
        outside = array.min() if array.min() < 0 else array.max()
        raise InputError(f"a pair names run {outside}, but there are runs 0 to {n_runs - 1}")
    return array.astype(np.int64)


def checked(scores: ArrayLike, pairs: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Both arrays in the types that the kernels take, or an error that says what is wrong."""
    matrix = np.ascontiguousarray(check_scores(scores))
    return matrix, np.ascontiguousarray(check_pairs(pairs, len(matrix)))


def check_open_unit(name: str, value: float) -> float:
    """A level, an error rate or a power: strictly between 0 and 1."""
    if not 0.0 < check_number(name, value) < 1.0:
        raise InputError(f"{name} must lie strictly between 0 and 1, got {value}")
    return float(value)


def check_samples(n_samples: int) -> int:
    """A number of samples: at least 1."""
    return check_count("n_samples", n_samples)


def named_quantiles(values: np.ndarray, levels: Sequence[float]) -> dict[str, float]:
    """Quantiles of values by the names of their levels; none of no values.

    >>> named_quantiles(np.arange(5.0), (0.25, 0.5))
    {'0.25': 1.0, '0.5': 2.0}
    """
    if not len(values):
        return {}
    quantiles = np.quantile(values, levels).tolist()
    return {f"{level:g}": value for level, value in zip(levels, quantiles, strict=True)}


def pair_differences(scores: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """First minus second, [pair, topic]; NaN where either run misses the topic."""
    return np.asarray(scores[pairs[:, 0]] - scores[pairs[:, 1]])


def pair_moments(z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of each row: topics present, mean, standard deviation (ddof 1), largest absolute value.

    NaN where too few topics define a figure (mean: 1, standard deviation: 2).
    """
    present = ~np.isnan(z)
    n = present.sum(axis=1)
    filled = np.where(present, z, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(n > 0, filled.sum(axis=1) / n, np.nan)
        centred = np.where(present, z - mean[:, None], 0.0)
        # The second pass takes out the rounding of the first mean.
        rest = np.where(n > 0, centred.sum(axis=1) / n, np.nan)
        square = (centred**2).sum(axis=1) - n * rest**2
        sd = np.where(n > 1, np.sqrt(np.maximum(square, 0.0) / (n - 1)), np.nan)
    largest = np.abs(filled).max(axis=1, initial=0.0)
    return n, mean, sd, largest


def flagged_moments(
    scores: np.ndarray, pairs: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Topics, mean difference, standard deviation and flag of each pair, a block at a time."""
    n = np.zeros(len(pairs), np.int64)
    mean, sd, largest = np.empty((3, len(pairs)))
    for start in range(0, len(pairs), PAIR_BLOCK):
        block = slice(start, start + PAIR_BLOCK)
        z = pair_differences(scores, pairs[block])
        n[block], mean[block], sd[block], largest[block] = pair_moments(z)
    return n, mean, sd, degenerate_flags(n, mean, sd, largest)

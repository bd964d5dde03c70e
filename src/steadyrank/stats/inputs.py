"""Checks of arguments that all statistics share.

Wrong shapes, unknown runs and levels outside (0, 1) are errors; unusual but possible data (missing
topics, identical runs) are not, and become flags of the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steadyrank.errors import InputError, arg, bad_value, check_count, check_number


def check_scores(scores: ArrayLike) -> np.ndarray:
    """Return the scores as a float64 matrix [run, topic] without infinities."""
    matrix = np.asarray(scores, dtype=np.float64)
    if matrix.ndim != 2:
        raise InputError(
            f"{arg('scores')} must be a matrix [run, topic], got {matrix.ndim} dimensions"
        )
    if np.isinf(matrix).any():
        raise InputError("scores hold an infinite value: mark missing scores as NaN")
    return matrix


def complete_topics(matrix: np.ndarray) -> tuple[np.ndarray, int]:
    """Return scores [run, topic] on the topics that all runs have, and the number of others."""
    complete = ~np.isnan(matrix).any(axis=0)
    return matrix[:, complete], int((~complete).sum())


def check_pairs(pairs: ArrayLike, n_runs: int) -> np.ndarray:
    """Return the pairs as an integer array [pair, 2] of rows of the scores."""
    array = np.asarray(pairs)
    if array.size == 0:
        return np.zeros((0, 2), np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise InputError(
            f"{arg('pairs')} must be integers [pair, 2], got {array.dtype} of shape {array.shape}"
        )
    if array.min() < 0 or array.max() >= n_runs:
        outside = array.min() if array.min() < 0 else array.max()
        raise InputError(f"a pair names run {outside}, but there are runs 0 to {n_runs - 1}")
    return array.astype(np.int64)


def checked(scores: ArrayLike, pairs: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return scores and pairs in the types that kernels take, or raise an error."""
    matrix = np.ascontiguousarray(check_scores(scores))
    return matrix, np.ascontiguousarray(check_pairs(pairs, len(matrix)))


def check_open_unit(name: str, value: float) -> float:
    """Return a level, an error rate or a power, which must lie strictly between 0 and 1."""
    if not 0.0 < check_number(name, value) < 1.0:
        raise bad_value(name, "lie strictly between 0 and 1", value)
    return float(value)


def check_samples(n_samples: int) -> int:
    """Return a number of samples, which must be at least 1."""
    return check_count("n_samples", n_samples)


def named_quantiles(values: np.ndarray, levels: Sequence[float]) -> dict[str, float]:
    """Return quantiles of values, with their levels as keys; {} without values.

    >>> named_quantiles(np.arange(5.0), (0.25, 0.5))
    {'0.25': 1.0, '0.5': 2.0}
    """
    if not len(values):
        return {}
    quantiles = np.quantile(values, levels).tolist()
    return {f"{level:g}": value for level, value in zip(levels, quantiles, strict=True)}


def check_counts(name: str, values: Any, *, lowest: int) -> tuple[int, ...]:
    """Return one or several different whole numbers, each at least `lowest`."""
    counts = list(values) if isinstance(values, Iterable) else [values]
    for count in counts:
        whole = isinstance(count, (int, np.integer)) and not isinstance(count, bool)
        if not whole or count < lowest:
            raise bad_value(name, f"be whole numbers of at least {lowest}", count)
    if not counts or len(set(counts)) < len(counts):
        raise InputError(f"{arg(name)}: name at least one, and none twice", code="value")
    return tuple(int(count) for count in counts)

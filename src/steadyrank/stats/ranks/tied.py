"""Ranks of numbers along the last axis, from 1 for the least, where equal numbers share one.

SciPy's `rankdata` gives the same, after an import that takes longer than most commands.
"""

from __future__ import annotations

import numpy as np


def first_ranks(values: np.ndarray) -> np.ndarray:
    """Equal numbers share the best of their ranks.

    >>> first_ranks(np.array([[3.0, 1.0, 1.0], [2.0, 2.0, 5.0]])).tolist()
    [[3, 1, 1], [1, 1, 3]]
    """
    order, ordered = _ordered(values)
    return _in_place(order, _starts(ordered) + 1)


def average_ranks(values: np.ndarray) -> np.ndarray:
    """Equal numbers share the average of their ranks; all are NaN where any number is.

    >>> average_ranks(np.array([3.0, 1.0, 1.0, 7.0])).tolist()
    [3.0, 1.5, 1.5, 4.0]
    """
    order, ordered = _ordered(values)
    from_behind = _starts(ordered[..., ::-1])[..., ::-1]
    ranks = _in_place(order, 0.5 * (_starts(ordered) + values.shape[-1] - from_behind + 1))
    ranks[np.isnan(values).any(axis=-1)] = np.nan
    return ranks


def _ordered(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(values, axis=-1, kind="stable")
    return order, np.take_along_axis(values, order, axis=-1)


def _starts(ordered: np.ndarray) -> np.ndarray:
    """For each of some ordered numbers, the place of the first that equals it."""
    places = np.zeros(ordered.shape, np.int64)
    is_new = ordered[..., 1:] != ordered[..., :-1]
    places[..., 1:] = np.where(is_new, np.arange(1, ordered.shape[-1]), 0)
    return np.maximum.accumulate(places, axis=-1)


def _in_place(order: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Ranks of ordered numbers, brought back into the numbers' own order."""
    out = np.empty_like(ranks)
    np.put_along_axis(out, order, ranks, axis=-1)
    return out

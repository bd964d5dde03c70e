"""What skewed differences do to t, and a t that they cannot make too large.

For anyone who claims a difference on real scores. Sign flips and Student's law take differences of
two runs for symmetric. Real ones are not: where a few topics lose much, samples without them
have a high mean and a small variance at once, and t is too large. Hall's transformation (Journal of
the Royal Statistical Society B 54(1), 1992) undoes that for a known skewness; the careful t takes
the skewness for 1.5 standard errors worse than it seems, since a sample without the values of a
long tail does not show the tail either.

Skewness here is that of a *mean*: of n equal draws, that of a draw over sqrt(n).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

WORSE = 1.5
"""Standard errors by which the skewness may be worse than the sample's."""

SYMMETRIC = 1e-9
"""Skewness of a mean below which Hall's transformation is nothing but rounding."""


def hall(t: ArrayLike, skewness: ArrayLike) -> np.ndarray:
    """Hall's transformation of t >= 0, which is close to Student's law whatever the skewness.

    Increasing in t, so that comparing the transformed t with a limit can be inverted.
    """
    size, g = np.asarray(t, float), np.asarray(skewness, float)
    return np.asarray(size + g * (size * size / 3.0 + 1.0 / 6.0) + g * g * size**3 / 27.0)


def hall_reach(reach: ArrayLike, skewness: ArrayLike) -> np.ndarray:
    """The t whose transformation is `reach`, or `reach` itself where that is more.

    >>> [round(float(hall_reach(1.7, skewness)), 3) for skewness in (0.0, -0.4, 0.4)]
    [1.7, 2.517, 1.7]
    """
    own, g = np.asarray(reach, float), np.asarray(skewness, float)
    symmetric = (np.abs(g) < SYMMETRIC) | np.isinf(own)
    g = np.where(symmetric, 1.0, g)
    inner = 1.0 + g * (np.where(symmetric, 0.0, own) - g / 6.0)
    return np.where(symmetric, own, np.maximum(own, 3.0 / g * (np.cbrt(inner) - 1.0)))


def _worse(skewness: np.ndarray, n: np.ndarray) -> np.ndarray:
    """The skewness of a mean of n draws, 1.5 standard errors (sqrt(6) / n each) lower."""
    return np.asarray(skewness - WORSE * np.sqrt(6.0) / np.maximum(n, 1.0))


def careful_t(t: np.ndarray, skewness: np.ndarray, n: np.ndarray) -> np.ndarray:
    """min(|t|, h(|t|, g), h(|t|, g - 1.5 standard errors)), at least 0; h is `hall`.

    `skewness` is that of the mean difference; it counts in the direction of t. `n` are the draws
    behind it, where they differ in weight the degrees of freedom plus 1.

    >>> careful_t(np.array([3.0, -3.0]), np.array([-0.2, -0.2]), np.array(50)).round(3).tolist()
    [2.209, 3.0]
    """
    size = np.where(np.isfinite(t), np.abs(t), 0.0)
    towards = np.sign(t) * skewness
    lowered = np.minimum(hall(size, towards), hall(size, _worse(towards, n)))
    careful = np.maximum(0.0, np.minimum(size, lowered))
    return np.asarray(np.where(np.isfinite(t), careful, np.abs(t)))


def careful_reach(critical: np.ndarray, skewness: np.ndarray | None, n: np.ndarray) -> np.ndarray:
    """[pair, 2]: standard errors from a mean down to its lower limit, and up to its upper one.

    A value lies outside exactly where the careful t of the mean's distance from it exceeds
    `critical`; or t itself, where no skewness is given.
    """
    if skewness is None:
        return np.stack([critical, critical], axis=1)
    sides = [
        np.maximum(hall_reach(critical, towards), hall_reach(critical, _worse(towards, n)))
        for towards in (np.asarray(skewness), -np.asarray(skewness))
    ]
    return np.stack(sides, axis=-1)


def limits_of(difference: np.ndarray, error: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """Limits [pair, 2] that lie `reach` [pair, 2] standard errors off; none where there is none."""
    width = np.where(error[:, None] == 0.0, 0.0, reach) * error[:, None]
    return np.asarray(difference[:, None] + width * [-1.0, 1.0])


def skewness_of_mean(parts: np.ndarray, axis: int = -1) -> np.ndarray:
    """From what each draw adds to the deviation of a mean from itself; 0 without any spread.

    >>> round(float(skewness_of_mean(np.array([-0.1, -0.1, 0.2]))), 4)
    0.4082
    """
    largest = np.abs(parts).max(axis=axis, keepdims=True, initial=0.0)
    unit = parts / np.where(largest > 0.0, largest, 1.0)
    squares = np.square(unit).sum(axis=axis)
    return np.asarray((unit**3).sum(axis=axis) / np.where(squares > 0.0, squares, 1.0) ** 1.5)

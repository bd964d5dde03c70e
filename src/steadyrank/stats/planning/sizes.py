"""The smallest whole number that suffices: by rounding up, or by search."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike


def whole_size(size: ArrayLike, least: float = 1.0) -> np.ndarray:
    """Return sizes rounded up, at least `least`, ignoring rounding errors above a whole number.

    >>> whole_size([0.2, 4.0000000000000009, 4.1]).tolist()
    [1.0, 4.0, 5.0]
    """
    return np.asarray(np.maximum(least, np.ceil(np.asarray(size) * (1.0 - 1e-12))))


def fewest(is_enough: Callable[[int], bool], *, guess: float, least: int, most: int) -> int | None:
    """Return the smallest number from `least` to `most` that is enough, if every larger one is.

    By exponential search from a guess, then bisection; None if not even `most` is enough.

    >>> fewest(lambda n: n * n > 50, guess=100, least=2, most=1000)
    8
    """
    high = int(min(max(guess, least), most))
    step = max(1, high // 64)
    low = high
    while not is_enough(high):
        if high >= most:
            return None
        low, high, step = high, min(high + step, most), 2 * step
    while low >= high:
        low = max(high - step, least - 1)
        if low >= least and is_enough(low):
            low, high, step = low, low, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high

"""An interval: the two limits of a figure, as every result holds them."""

from __future__ import annotations

from typing import NamedTuple


class Interval(NamedTuple):
    """The lower and the upper limit of a figure; unpacks, and is `[low, high]` in JSON.

    Examples
    --------
    >>> interval = Interval(0.1, 0.3)
    >>> low, high = interval
    >>> interval.high == high
    True
    """

    low: float
    high: float

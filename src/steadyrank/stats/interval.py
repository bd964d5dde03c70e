"""Intervals, and Student's law: limits, tests and pooled degrees of freedom."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy import special


class Interval(NamedTuple):
    """Lower and upper limit of a figure; unpacks, and is `[low, high]` in JSON.

    Examples
    --------
    >>> interval = Interval(0.1, 0.3)
    >>> low, high = interval
    >>> interval.high == high
    True
    """

    low: float
    high: float


def t_half_width(error: Any, df: Any, confidence: float) -> Any:
    """Return half the width of two-sided intervals: a quantile of t(df) times a standard error."""
    return special.stdtrit(df, 0.5 + 0.5 * confidence) * error


def t_intervals(estimate: Any, error: Any, df: Any, confidence: float) -> np.ndarray:
    """Return limits [..., 2]: estimate ± t(df) standard errors; the estimate itself if error is 0.

    >>> t_intervals(0.5, np.array([0.1, 0.0]), 9.0, 0.95).round(4).tolist()
    [[0.2738, 0.7262], [0.5, 0.5]]
    """
    half = np.where(error == 0.0, 0.0, t_half_width(error, df, confidence))
    return np.stack([estimate - half, estimate + half], axis=-1)


def t_limits(estimate: float, error: float, df: float, confidence: float) -> Interval:
    """Return the interval of one estimate, as `t_intervals`."""
    return Interval(*t_intervals(estimate, error, df, confidence).tolist())


def t_test(difference: Any, error: Any, df: Any, tiny: Any = 0.0) -> tuple[Any, Any]:
    """Return Student's t = difference / error, and its two-sided p-value.

    If the error is 0, t is ±inf and p is 0, or NaN and 1 for a difference of at most `tiny`.
    """
    is_none = np.abs(difference) <= tiny
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where((error == 0.0) & is_none, np.nan, difference / error)
    pvalue = np.minimum(1.0, 2.0 * special.stdtr(df, -np.abs(t)))
    return t, np.where(error == 0.0, is_none.astype(float), pvalue)


def satterthwaite(parts: Iterable[Any], df: Iterable[Any], *, without: Any = np.nan) -> Any:
    """Return degrees of freedom of a sum of independent variances: sum² / sum of (part² / df).

    `without` is the value for a sum of 0.

    >>> round(float(satterthwaite([1.0, 3.0], [4, 9])), 4)
    12.8
    """
    parts = list(parts)
    total = sum(parts)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = sum(np.square(part) / free for part, free in zip(parts, df, strict=True))
        return np.where(total > 0.0, np.square(total) / spread, without)

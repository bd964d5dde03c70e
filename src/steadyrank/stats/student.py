"""Student's law, as intervals take it: half widths, limits, pooled degrees of freedom."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import special


def t_half_width(error: Any, df: Any, confidence: float) -> Any:
    """Half the width of two-sided intervals: a quantile of t with `df` times a standard error."""
    return special.stdtrit(df, 0.5 + 0.5 * confidence) * error


def t_intervals(estimate: Any, error: Any, df: Any, confidence: float) -> np.ndarray:
    """Limits [..., 2]: estimate ± t(df) standard errors; the estimate itself without spread.

    >>> t_intervals(0.5, np.array([0.1, 0.0]), 9.0, 0.95).round(4).tolist()
    [[0.2738, 0.7262], [0.5, 0.5]]
    """
    half = np.where(error == 0.0, 0.0, t_half_width(error, df, confidence))
    return np.stack([estimate - half, estimate + half], axis=-1)


def satterthwaite(parts: Iterable[Any], df: Iterable[Any], *, without: Any = np.nan) -> Any:
    """Degrees of freedom of a sum of independent variances, (sum)² / sum of squares over df.

    `without` where the sum is 0.

    >>> round(float(satterthwaite([1.0, 3.0], [4, 9])), 4)
    12.8
    """
    parts = list(parts)
    total = sum(parts)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = sum(np.square(part) / own for part, own in zip(parts, df, strict=True))
        return np.where(total > 0.0, np.square(total) / spread, without)

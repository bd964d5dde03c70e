"""Between which limits does the score of one more build of the same index lie?"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, stdev
from typing import NamedTuple

from scipy.stats import t as student


class Limits(NamedTuple):
    """Limits of a score; `score in limits` says whether it lies between them."""

    low: float
    high: float

    def __contains__(self, score: object) -> bool:
        return isinstance(score, (int, float)) and self.low <= score <= self.high


def tolerance(builds: Sequence[float], *, confidence: float = 0.99, n_checks: int = 1) -> Limits:
    """Prediction limits for one more build, from the scores of builds that were good.

    `n_checks` limits are made alike: together they hold with the given confidence.
    """
    k = len(builds)
    if k < 2:
        raise ValueError(f"a tolerance requires the scores of at least two builds, got {k}")
    error = (1.0 - confidence) / n_checks
    half = student.ppf(1.0 - error / 2.0, k - 1) * stdev(builds) * (1.0 + 1.0 / k) ** 0.5
    return Limits(float(fmean(builds) - half), float(fmean(builds) + half))

"""Scores that are 0 or 1, as Success@k gives them: McNemar's test, Wilson's and Tango's intervals.

A t test takes such scores for continuous ones. Here they are counts: topics on which one run alone
succeeds decide between two runs, and intervals of shares and of their differences stay in range.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from steadyrank.stats.inputs import check_open_unit, checked
from steadyrank.stats.pairs.corrections import adjust
from steadyrank.stats.pairs.tests import differences, sign_test

_HALVINGS = 60
"""Steps of a bisection of [-1, 1], to the last bit."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BinaryPairs:
    """Pairs of runs whose scores are all 0 or 1: arrays with one entry per pair, and per run."""

    only_first: np.ndarray
    """Topics on which the first run alone scores 1."""
    only_second: np.ndarray
    pvalue: np.ndarray
    """McNemar's exact test, two-sided."""
    pvalue_adjusted: np.ndarray
    correction: str
    score_interval: np.ndarray
    """[pair, 2]: Tango's score interval of the difference, for one pair at a time."""
    run_interval: np.ndarray
    """[run, 2]: Wilson's interval of the mean, for one run at a time."""

    def pair_columns(self) -> dict[str, np.ndarray]:
        """What it adds to the rows of pairs in JSON."""
        return {
            "only_a": self.only_first,
            "only_b": self.only_second,
            "mcnemar_pvalue": self.pvalue,
            "mcnemar_pvalue_adjusted": self.pvalue_adjusted,
            "score_interval": self.score_interval,
        }

    def run_row(self, run: int) -> dict[str, Any]:
        """What it adds to the row of a run in JSON."""
        return {"wilson_interval": [float(limit) for limit in self.run_interval[run]]}


def is_binary(scores: np.ndarray) -> bool:
    """Whether every score that is present is 0 or 1.

    >>> is_binary(np.array([[0.0, 1.0], [1.0, np.nan]])), is_binary(np.array([[0.5, 1.0]]))
    (True, False)
    """
    present = scores[~np.isnan(scores)]
    return len(present) > 0 and bool(((present == 0.0) | (present == 1.0)).all())


def binary_pairs(
    scores: np.ndarray, pairs: np.ndarray, *, alpha: float, correction: str
) -> BinaryPairs | None:
    """McNemar's tests and the intervals at level 1 - alpha; None where a score is not 0 or 1.

    McNemar's exact test is the sign test of the topics on which the runs differ; its p-values are
    corrected by `correction`, by Holm's where that is of another test.
    """
    scores, pairs = checked(scores, pairs)
    if not is_binary(scores):
        return None
    only_first, only_second, n = np.zeros((3, len(pairs)))
    for part, z, _ in differences(scores, pairs):
        only_first[part] = (z > 0.5).sum(axis=1)
        only_second[part] = (z < -0.5).sum(axis=1)
        n[part] = (~np.isnan(z)).sum(axis=1)
    pvalue = sign_test(scores, pairs).pvalue
    own = correction if correction in ("none", "bh", "bonferroni") else "holm"
    return BinaryPairs(
        only_first=only_first.astype(np.int64),
        only_second=only_second.astype(np.int64),
        pvalue=pvalue,
        pvalue_adjusted=adjust(pvalue, own),
        correction=own,
        score_interval=tango_limits(only_first, only_second, n, confidence=1 - alpha),
        run_interval=wilson_limits(
            np.nansum(scores, axis=1), (~np.isnan(scores)).sum(axis=1), confidence=1 - alpha
        ),
    )


def wilson_limits(successes: np.ndarray, n: np.ndarray, *, confidence: float) -> np.ndarray:
    """Wilson's score interval [share, 2] of a share; NaN where n is 0.

    Wilson, JASA 22(158), 1927, doi:10.1080/01621459.1927.10502953.

    >>> wilson_limits(np.array([8.0]), np.array([10.0]), confidence=0.95).round(4).tolist()
    [[0.4902, 0.9433]]
    """
    z = float(ndtri(0.5 + 0.5 * check_open_unit("confidence", confidence)))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = successes / n
        centre = (share + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
    limits = np.stack([centre - half, centre + half], axis=1)
    # At the ends rounding would leave a speck.
    limits[successes == 0, 0] = 0.0
    limits[successes == n, 1] = 1.0
    limits[n == 0] = np.nan
    return limits


def tango_limits(
    only_first: np.ndarray, only_second: np.ndarray, n: np.ndarray, *, confidence: float
) -> np.ndarray:
    """Tango's score interval [pair, 2] of the difference of two paired shares; NaN where n is 0.

    It holds the differences that the score test at level 1 - `confidence` does not reject.
    Tango, Statistics in Medicine 17(8), 1998,
    doi:10.1002/(SICI)1097-0258(19980430)17:8<891::AID-SIM780>3.0.CO;2-B.

    >>> ten = np.array([10.0])
    >>> tango_limits(np.array([5.0]), np.array([1.0]), ten, confidence=0.95).round(4).tolist()
    [[-0.0873, 0.7201]]
    """
    z = float(ndtri(0.5 + 0.5 * check_open_unit("confidence", confidence)))
    b, c, n = (np.asarray(counts, np.float64) for counts in (only_first, only_second, n))
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = (b - c) / n
        high = _root(b, c, n, observed, z)
        low = -_root(c, b, n, -observed, z)
    return np.stack([low, high], axis=1)


def _root(b: np.ndarray, c: np.ndarray, n: np.ndarray, start: np.ndarray, z: float) -> np.ndarray:
    """The largest difference, from the observed one up to 1, whose score is above -z."""
    inside, outside = start.copy(), np.ones_like(start)
    for _ in range(_HALVINGS):
        middle = 0.5 * (inside + outside)
        accepted = _score(b, c, n, middle) > -z
        inside = np.where(accepted, middle, inside)
        outside = np.where(accepted, outside, middle)
    return np.where(b == n, 1.0, inside) + np.where(n > 0, 0.0, np.nan)


def _score(b: np.ndarray, c: np.ndarray, n: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """Tango's equation (8): the score of a difference `delta`, with the other share maximal."""
    linear = (2.0 * n - b + c) * delta - b - c
    constant = -c * delta * (1.0 - delta)
    share = (np.sqrt(linear**2 - 8.0 * n * constant) - linear) / (4.0 * n)
    return np.asarray((b - c - n * delta) / np.sqrt(n * (2.0 * share + delta * (1.0 - delta))))

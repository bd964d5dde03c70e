"""How far a judge agrees with people, document by document: kappas with intervals over topics.

Documents of one topic are no independent sample: topics are, so intervals come from leaving out
one topic at a time (the jackknife).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import stdtrit

from steadyrank.stats.interval import Interval
from steadyrank.stats.ranks.kappa import ac1_of_counts, kappa_of_counts

Coefficient = Callable[[np.ndarray], np.ndarray]
"""From counts [..., grade, grade] to a number for each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """A coefficient of agreement and its interval over topics."""

    value: float
    interval: Interval


COEFFICIENTS: dict[str, Coefficient] = {
    "kappa": kappa_of_counts,
    "kappa_weighted": partial(kappa_of_counts, weights="quadratic"),
    "ac1": ac1_of_counts,
}


def agreement_over_topics(
    counts: np.ndarray, coefficient: Coefficient, *, confidence: float = 0.95
) -> Agreement:
    """A coefficient of the grades of all topics together, from counts [topic, grade, grade].

    Jackknife over topics with Student's law, cut at ±1. NaN limits below two topics, or where a
    topic is all that makes the coefficient defined.

    >>> counts = np.array([[[8, 1], [0, 2]], [[7, 0], [1, 3]], [[9, 1], [1, 1]]], float)
    >>> found = agreement_over_topics(counts, kappa_of_counts)
    >>> round(found.value, 3), [round(end, 3) for end in found.interval]
    (0.673, [0.204, 1.0])
    """
    total = counts.sum(axis=0)
    value = float(coefficient(total))
    n = len(counts)
    if n < 2:
        return Agreement(value=value, interval=Interval(np.nan, np.nan))
    left = coefficient(total - counts)
    error = np.sqrt((n - 1.0) / n * ((left - left.mean()) ** 2).sum())
    half = float(stdtrit(n - 1.0, 0.5 + 0.5 * confidence) * error)
    low, high = (float(np.clip(end, -1.0, 1.0)) for end in (value - half, value + half))
    return Agreement(value=value, interval=Interval(low, high))

"""Gates beyond one pair of runs: sparse judgments, segments, every look, a year of nights.

Differences are those from the margin (for passing) or from 0 (for failing): nothing should pass,
nothing fail. All draw [trial, …, topic].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from bench.levels import null_data
from bench.levels.null_data import Stream
from bench.levels.pvalues import Rejects, one_by_one
from steadyrank.stats.pairs.betting import sequential_difference
from steadyrank.stats.pairs.decisions import adjust
from steadyrank.stats.pairs.topic_design import MeanDifference, mean_difference
from steadyrank.studies.gate.history import spent_level

CHANGED = 0.2
"""Share of topics with a change, if one document per query is judged."""

RANKS = 1.0 / np.arange(1, 11)
SEGMENTS = (0.7, 0.15, 0.1, 0.05)
NIGHTS, CARRIED_OVER = 365, 0.98
"""Correlation of the differences of consecutive nights from the first baseline."""

PValue = Callable[[MeanDifference], float]


def passes(fit: MeanDifference) -> float:
    return fit.pvalue_above(0.0)


def fails(fit: MeanDifference) -> float:
    return fit.pvalue_below(0.0)


def sparse(stream: Stream, n_trials: int, n_topics: int, *, kind: str) -> np.ndarray:
    """Return differences in reciprocal rank with mean 0, mostly 0.

    "symmetric": from one of ten ranks to another. "losses": from the first rank to another, or all
    topics gain a little; the mean of losses is (1 - the mean of 1/2 … 1/10).
    """
    changed = stream.random((n_trials, n_topics)) < CHANGED
    if kind == "symmetric":
        first, second = RANKS[stream.integers(0, 10, (2, n_trials, n_topics))]
        return np.where(changed, second - first, 0.0)
    lost = 1.0 - RANKS[stream.integers(1, 10, (n_trials, n_topics))]
    return CHANGED * float((1.0 - RANKS[1:]).mean()) - np.where(changed, lost, 0.0)


def bounded(stream: Stream, n_trials: int, n_topics: int, *, kind: str) -> np.ndarray:
    """Return differences between -1 and 1 with mean 0."""
    if kind in ("symmetric", "losses"):
        return sparse(stream, n_trials, n_topics, kind=kind)
    if kind == "broken":  # 2% of the topics lose .5, all others gain .01 in turn
        return 0.01 - np.where(stream.random((n_trials, n_topics)) < 0.02, 0.5, 0.0)
    return np.clip(null_data.noise(stream, (n_trials, n_topics), kind), -1.0, 1.0)


def nights(stream: Stream, n_trials: int, n_topics: int, *, kind: str) -> np.ndarray:
    """Return differences [trial, night, topic] from the first baseline, with mean 0."""
    out = np.empty((n_trials, NIGHTS, n_topics))
    out[:, 0] = null_data.noise(stream, (n_trials, n_topics), kind)
    fresh = math.sqrt(1.0 - CARRIED_OVER**2)
    for night in range(1, NIGHTS):
        step = null_data.noise(stream, (n_trials, n_topics), kind)
        out[:, night] = CARRIED_OVER * out[:, night - 1] + fresh * step
    return out


def plain(pvalue: PValue) -> Rejects:
    """Return the p-values of a gate."""
    return one_by_one(lambda d, seed: pvalue(mean_difference(d)))


def any_segment(pvalue: PValue) -> Rejects:
    """Return whether anything is claimed about four segments of unequal size, by Holm."""

    def smallest(d: np.ndarray, seed: int) -> float:
        ends = np.cumsum(np.array(SEGMENTS) * len(d)).round().astype(int)[:-1]
        found = [pvalue(mean_difference(part)) for part in np.split(d, ends)]
        return float(np.nanmin(adjust(found, "holm")))

    return one_by_one(smallest)


def every_look(pvalue: PValue) -> Rejects:
    """Return the decision of a gate that looks after every topic."""
    return one_by_one(
        lambda d, seed: pvalue(sequential_difference(mean_difference(d), d, alpha=0.05))
    )


def year_pvalue(d: np.ndarray) -> float:
    """Return the smallest alpha with an alarm in some night, without a margin."""
    n = d.shape[1]
    t = d.mean(axis=1) / (d.std(axis=1, ddof=1) / math.sqrt(n))
    likely = np.flatnonzero(t < -1.5)  # p above .05 on all others
    found = [fails(mean_difference(d[k])) / spent_level(1.0, k + 1) for k in likely.tolist()]
    return min(1.0, *found) if found else 1.0


any_night = one_by_one(lambda d, seed: year_pvalue(d))

SPARSE = {f"sparse, {kind}": partial(sparse, kind=kind) for kind in ("symmetric", "losses")}
SEGMENTED = {
    kind: lambda stream, n_trials, n_topics, kind=kind: null_data.noise(
        stream, (n_trials, n_topics), kind
    )
    for kind in ("normal", "AP", "losses")
}
BOUNDED = {
    kind if kind in ("normal", "AP") else f"sparse, {kind}": partial(bounded, kind=kind)
    for kind in ("normal", "AP", "symmetric", "losses", "broken")
}
YEARS = {kind: partial(nights, kind=kind) for kind in ("normal", "losses", "gains")}

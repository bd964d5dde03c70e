"""Clustered topics and segments: how often do their tests find a difference where there is none?

Sizes of the first section are numbers of clusters, not of topics: five, ten, twenty and forty.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bench.levels import null_data
from bench.levels.pvalues import SAMPLES, Rejects, one_by_one
from steadyrank.stats.pairs.max_t import unit_max_t
from steadyrank.stats.pairs.resampled import randomization, studentized_bootstrap
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tests import paired_t
from steadyrank.stats.pairs.topic_design import TopicDesign, cluster_sums
from steadyrank.stats.segments import segment_interaction

EQUAL, UNEQUAL = (3,), (1, 3, 11)
"""Sizes of the clusters, in turn."""

SHARES, SPREADS = (0.6, 0.25, 0.15), (0.5, 1.0, 3.0)
"""Shares of topics in three segments, and the spread of scores in each."""

PAIR = np.array([[0, 1]])


def runs(
    stream: np.random.Generator,
    n_trials: int,
    n_topics: int,
    *,
    sizes: tuple[int, ...],
    kind: str,
    n_runs: int = 5,
) -> tuple[np.ndarray, np.ndarray]:
    """Return equal runs [trial, run, topic] on clusters with half of the variance."""
    clusters = np.repeat(np.arange(n_topics), np.resize(sizes, n_topics))
    shape = (n_trials, n_runs)
    own = null_data.noise(stream, (*shape, len(clusters)), kind)
    scores = own + null_data.noise(stream, (*shape, n_topics), kind)[:, :, clusters]
    return scores, np.broadcast_to(clusters, (n_trials, len(clusters)))


def segments(
    stream: np.random.Generator, n_trials: int, n_topics: int, *, kind: str, unequal: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return five runs [trial, run, topic] with equal leads in three segments."""
    ends = np.round(np.cumsum(SHARES) * n_topics).astype(int)
    place = np.searchsorted(ends, np.arange(n_topics), side="right")
    scores = null_data.noise(stream, (n_trials, 5, n_topics), kind)
    if unequal:
        scores *= np.array(SPREADS)[place]
    return scores, np.broadcast_to(place, (n_trials, n_topics))


def of_a_pair(test: Callable[..., Any] | None) -> Rejects:
    """Return the p-values of a test of two runs on clusters, or of the t test."""

    def one(data: tuple[np.ndarray, np.ndarray], seed: int) -> float:
        scores, design = data[0], TopicDesign(clusters=data[1])
        if test is None:
            return float(paired_t(scores, PAIR, design).pvalue[0])
        how = {"design": design, "n_samples": SAMPLES, "seed": seed, "jobs": 1}
        return float(test(scores, PAIR, **how).pvalue[0])

    return one_by_one(one)


def as_if_independent(data: tuple[np.ndarray, np.ndarray], seed: int) -> float:
    """Return the p-values of a t test that ignores clusters."""
    return float(paired_t(data[0], PAIR).pvalue[0])


def of_all_pairs(data: tuple[np.ndarray, np.ndarray], seed: int) -> float:
    """Return the smallest adjusted p-value of max-t with flips of clusters."""
    scores, design = data[0], TopicDesign(clusters=data[1])
    pairs = all_pairs(len(scores))
    units, flips = cluster_sums(scores, design), {"n_samples": SAMPLES, "seed": seed, "jobs": 1}
    together = unit_max_t(units, pairs, is_centred=False, **flips)
    return float(together.pvalue.min())


def of_segments(data: tuple[np.ndarray, np.ndarray], seed: int) -> float:
    """Return the p-value of segment × run."""
    test = segment_interaction(data[0], data[1], n_samples=SAMPLES, seed=seed, jobs=1)
    return test.pvalue_of_any


CLUSTERED = {
    f"{words} clusters, {kind}": partial(runs, sizes=sizes, kind=kind)
    for words, sizes in (("equal", EQUAL), ("unequal", UNEQUAL))
    for kind in ("normal", "gains")
}
SEGMENTED = {
    "normal": partial(segments, kind="normal", unequal=False),
    "unequal spread": partial(segments, kind="normal", unequal=True),
    "gains": partial(segments, kind="gains", unequal=False),
}
TESTS_OF_A_PAIR: dict[str, Rejects] = {
    "t, clusters": of_a_pair(None),
    "randomization, clusters": of_a_pair(randomization),
    "bootstrap, clusters": of_a_pair(studentized_bootstrap),
}

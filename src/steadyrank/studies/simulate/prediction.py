"""What would a second document collection show? The prediction of `simulate`.

For anyone who asks whether the table would come out alike on other documents. Simulated collections
S [sample, run] scatter around the collection at hand, which is itself a draw, so a second one is
off by two errors: that of the collection at hand and its own. With Xb the mean of S over samples,
E = 1.05 (S - Xb), and e1, e2 two rows of E drawn independently,

    Z = M + A (Xb - M) + sqrt(A) e1 + e2

is what a second collection may show. M is the mean of Xb over runs, and A the share of the spread
of Xb between runs that is not error (the James-Stein estimate): where runs are close, they lie
apart mostly by chance, and a second collection shows less of it. Whole rows are drawn, so that
documents stay shared by all runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from steadyrank.compute.random import block_stream, blocks_of
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tests import slices
from steadyrank.stats.ranks.correlation import taus_against
from steadyrank.stats.run_means import SAME_MEAN
from steadyrank.studies.simulate.statistics import (
    CollectionCorrelation,
    correlation_from,
    rank_counts,
    rank_intervals_of,
)

SPREAD = 1.05
"""By which errors are widened: shared documents vary 2 to 7 % less than fresh collections do."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prediction:
    """A second collection of documents, held against the observed one.

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=20, depth=50, pool_depth=25)
    >>> found = sr.simulate(track.runs, track.complete, n_samples=500).prediction
    >>> found.rank_share.shape, found.swap.shape, bool(0 <= found.swap_share <= 1)
    ((3, 3), (3,), True)
    """

    tau: CollectionCorrelation
    """Between the observed ranking and that of a second collection."""
    rank_share: np.ndarray
    """[run, rank]: probability of each rank."""
    swap: np.ndarray
    """[pair]: probability of the opposite order, ties counted half; NaN where there is no order."""

    @property
    def first(self) -> np.ndarray:
        """[run]: probability of the first place, which equal runs share."""
        return np.asarray(self.rank_share[:, 0])

    @property
    def rank_interval(self) -> np.ndarray:
        """[run, 2]: 95 % prediction intervals of the ranks."""
        return rank_intervals_of(self.rank_share)

    @property
    def swap_share(self) -> float:
        """Expected share of the pairs of runs that change their order."""
        known = self.swap[~np.isnan(self.swap)]
        return float(known.mean()) if len(known) else math.nan


def predict(
    raw: np.ndarray, simulated: np.ndarray, *, seed: int, jobs: int | None = None
) -> Prediction:
    """Tau, ranks and swaps in a second collection, from raw means [run] and simulated ones."""
    n_samples, n_runs = simulated.shape
    taus, ranks = np.empty(n_samples), np.zeros((n_runs, n_runs), np.int64)
    wins = np.zeros(n_runs * (n_runs - 1) // 2)  # of a pair's first run, less those of its second
    done = 0
    for drawn in second_collections(simulated, seed=seed):
        part = slice(done, done + len(drawn))
        taus[part] = taus_against(raw, drawn, jobs=jobs)
        ranks += rank_counts(drawn)
        for run, pairs in enumerate(_pairs_by_first(n_runs)):
            wins[pairs] += np.sign(drawn[:, [run]] - drawn[:, run + 1 :]).sum(axis=0)
        done = part.stop
    first, second = all_pairs(n_runs).T
    ahead = raw[first] - raw[second]
    swap = 0.5 - np.sign(ahead) * wins / (2 * n_samples)
    return Prediction(
        tau=correlation_from(taus),
        rank_share=ranks / n_samples,
        swap=np.where(np.abs(ahead) > SAME_MEAN, swap, np.nan),
    )


def second_collections(simulated: np.ndarray, *, seed: int) -> Iterator[np.ndarray]:
    """Z [sample, run], as many as there are simulated collections, block by block."""
    centre = simulated.mean(axis=0)
    kept, level = kept_share(simulated), centre.mean()
    start = level + kept * (centre - level)
    for block, first, stop in blocks_of(len(simulated)):
        stream = block_stream(seed, "second collection", block)
        here, there = stream.integers(len(simulated), size=(2, stop - first))
        errors = np.sqrt(kept) * (simulated[here] - centre) + (simulated[there] - centre)
        yield start + SPREAD * errors


def kept_share(simulated: np.ndarray) -> float:
    """A: how much of the distances between runs is not error; all of it for up to three runs.

    >>> kept_share(np.array([[1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 1.0]]))
    0.0
    """
    n_samples, n_runs = simulated.shape
    if n_runs <= 3:
        return 1.0
    centre = simulated.mean(axis=0)
    between = float(centre.var(ddof=1))
    if not between > 0.0:
        return 0.0
    within = sum(
        float((simulated[part] - centre).var(axis=1, ddof=1).sum())
        for part in slices(n_samples, 1024)
    )
    error = SPREAD**2 * within / n_samples
    return max(0.0, 1.0 - float((n_runs - 3) / (n_runs - 1) * error / between))


def _pairs_by_first(n_runs: int) -> Iterator[slice]:
    """Where the pairs of each first run stand among `all_pairs`."""
    start = 0
    for left in range(n_runs - 1, 0, -1):
        yield slice(start, start + left)
        start += left

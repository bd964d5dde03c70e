"""Levels of the difference of two means: how often other topics reverse such a difference.

The theory of Lin & Hauptmann (SIGIR 2005), averaged over the pairs of a level, and the experiment
of Voorhees & Buckley (SIGIR 2002, doi:10.1145/564376.564432), which compares disjoint sets of
topics, with a curve through its rates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from steadyrank.compute.executors import Progress, map_in_order, workers
from steadyrank.compute.kernels import kernel, part
from steadyrank.compute.memory import check_memory
from steadyrank.compute.random import block_stream, blocks_of
from steadyrank.present.json import picked
from steadyrank.stats.pairs.difference_bins import N_BINS, ROUNDED, WIDTH, bin_starts
from steadyrank.stats.pairs.result import CONSTANT, TOO_FEW
from steadyrank.stats.planning.reversal import (
    PairVariances,
    approximate_error_rate,
    error_rate,
    fit_decays,
    predictive_rate,
)
from steadyrank.words import decimals_for

Binning = Literal["first", "both"]

TRIALS_A_BLOCK = 32
"""Number of trials that share a stream of random numbers."""

COPIES = 3
"""Number of copies of the counts in memory while they are joined."""

AGREE, REVERSED, TIED = 0, 1, 2
"""Order of a pair in the second set relative to the first; tied if either set has no order."""

N_KINDS = 3
SLOTS = 32
"""Places of a table for each kind: the bins, rounded up to a power of two."""

N_TABLES = 4
"""Neighbouring pairs use different tables, so that no sum waits for another."""

_LAST = N_BINS - 1.0
_ONE = np.uint32(1)


@kernel
def count_reversals(scores, orders, sizes, tiny, both, counts, sums, keys, tables):
    """Count the pairs of each size of difference that agree, are reversed or tied.

    scores [topic, run] are complete; orders [trial, topic] are permutations, whose first n topics
    are one set and last n the other; sizes ascend, to half the topics at most. counts is [trial,
    size, kind, bin]. A pair's bin is that of its difference in the first set; with `both`, it
    counts a second time with the sets exchanged.
    sums [4, run], keys [run] (int32) and tables [N_TABLES, N_KINDS + 1, SLOTS] (uint32) are
    scratch. Differences are in units of the bins' width; those up to `tiny` are ties.
    """
    n_trials, n_topics = orders.shape
    n_runs = scores.shape[1]
    for b in range(n_trials):
        sums[:] = 0.0
        done = 0
        for s in range(len(sizes)):
            for t in range(done, sizes[s]):
                one, other = orders[b, t], orders[b, n_topics - 1 - t]
                for i in range(n_runs):
                    sums[0, i] += scores[one, i]
                    sums[1, i] += scores[other, i]
            done = sizes[s]
            scale = 1.0 / (WIDTH * done)
            for i in range(n_runs):
                sums[2, i] = sums[0, i] * scale
                sums[3, i] = sums[1, i] * scale
            tables[:] = 0
            _count_pairs(sums[2], sums[3], tiny, keys, tables.reshape(N_TABLES, -1))
            if both:
                _count_pairs(sums[3], sums[2], tiny, keys, tables.reshape(N_TABLES, -1))
            _add(tables, counts[b, s])


@part
def _count_pairs(first, second, tiny, keys, tables):
    """Count each pair in the table, at its kind times SLOTS plus its bin.

    Kind TIED + REVERSED holds ties whose differences have opposite signs.
    """
    n_runs = len(first)
    for i in range(n_runs - 1):
        here, there = first[i], second[i]
        n = n_runs - 1 - i
        firsts, seconds = first[i + 1 :], second[i + 1 :]
        for j in range(n):  # without branches, so that it compiles to vector instructions
            d, e = here - firsts[j], there - seconds[j]
            place = min(abs(d) + ROUNDED, _LAST)
            place += REVERSED * SLOTS if d * e < 0.0 else 0.0
            place += TIED * SLOTS if min(abs(d), abs(e)) <= tiny else 0.0
            keys[j] = np.int32(place)
        whole = n - n % N_TABLES
        for j in range(0, whole, N_TABLES):
            tables[0, np.uint32(keys[j])] += _ONE
            tables[1, np.uint32(keys[j + 1])] += _ONE
            tables[2, np.uint32(keys[j + 2])] += _ONE
            tables[3, np.uint32(keys[j + 3])] += _ONE
        for j in range(whole, n):
            tables[0, np.uint32(keys[j])] += _ONE


@part
def _add(tables, counts):
    """Sum the tables, [kind, bin]; ties of opposite signs count as ties."""
    for table in range(N_TABLES):
        for place in range(N_BINS):
            for kind in range(N_KINDS):
                counts[kind, place] += tables[table, kind, place]
            counts[TIED, place] += tables[table, N_KINDS, place]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LevelFit:
    """The curve b1 exp(-b2 n) through a level's empirical rates, and its extrapolation."""

    b1: float
    b2: float
    method: str
    residuals: np.ndarray
    """Empirical minus fitted rate at each size; NaN without an empirical rate."""
    rate: np.ndarray
    """Fitted rate at each of the further sizes; it has no known interval, see `fit_decays`."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TopicLevel:
    """Pairs whose mean scores differ by `low` to `high`: theory and experiment.

    The theory is about pairs whose difference over all topics is in the level, the experiment about
    pairs whose difference in the first of two disjoint sets is.
    """

    low: float
    high: float
    pairs: int
    variance: float
    """Variance of the mean difference: mean over the pairs of var(z) / n."""
    variance_independent: float
    """Its value if the runs of a pair had different topics: (var(a) + var(b)) / n."""
    error_rate: np.ndarray
    """[size]: mean rate over the pairs if the observed differences are the true ones."""
    approximation: np.ndarray
    """[size]: closed approximation of the error rate."""
    predictive: np.ndarray
    """[size]: mean rate over the pairs if the differences are observed on this many topics."""
    empirical: np.ndarray
    """[size]: NaN if no split has a pair in the level, or the size has no splits."""
    empirical_error: np.ndarray
    """Monte Carlo standard error, which allows for the dependence of pairs in one split."""
    count: np.ndarray
    reversed: np.ndarray
    ties: np.ndarray
    """Pairs without a difference in one of the sets: counted, never reversed."""
    fit: LevelFit | None

    @property
    def curves(self) -> dict[str, np.ndarray]:
        """All rates and counts by name, each at every size."""
        rates = "error_rate approximation predictive empirical empirical_error"
        return picked(self, f"{rates} count reversed ties")

    @property
    def name(self) -> str:
        """The range of differences in words."""
        form = decimals_for(self.low, self.high)
        end = f"–{self.high:{form}}" if self.high < math.inf else " and above"
        return f"{self.low:{form}}{end}"


def unit_of(scores: np.ndarray) -> float:
    """Return 1 for scores up to 1, else the next power of ten: levels are a hundredth of it wide.

    >>> unit_of(np.array([0.2, 1.0])), unit_of(np.array([12.5, 100.0])), unit_of(np.array([101.0]))
    (1.0, 100.0, 1000.0)
    """
    largest = float(np.nanmax(np.abs(scores), initial=1.0))
    return 10.0 ** math.ceil(math.log10(largest) - 1e-12)


def count_splits(
    complete: np.ndarray,
    sizes: Sequence[int],
    *,
    n_trials: int,
    clusters: np.ndarray | None = None,
    binning: Binning = "first",
    jobs: int | None = None,
    progress: Progress | None = None,
    seed: int = 0,
) -> np.ndarray:
    """Count the pairs that agree, are reversed or tied, by bin: [trial, size, kind, bin].

    Clusters are kept whole. Sizes for which some order of complete [run, topic] has no two disjoint
    sets have no splits and are 0.
    """
    scores = np.ascontiguousarray(complete.T)
    n_topics, n_runs = scores.shape
    largest = 0 if clusters is None else int(np.unique(clusters, return_counts=True)[1].max())
    most = (n_topics - largest) // 2
    possible = np.array([size for size in sizes if size <= most], np.int64)
    tiny = CONSTANT * max(1.0, np.abs(scores).max(initial=0.0)) / WIDTH
    check_memory(
        COPIES * n_trials * len(sizes) * N_KINDS * N_BINS * 4,
        f"{n_trials:,} splits at {len(sizes):,} sizes",
        "give fewer sizes or trials",
    )

    def count(block: tuple[int, int, int]) -> np.ndarray:
        number, first, stop = block
        stream = block_stream(seed, "topic splits", number)
        orders = _orders(stream, stop - first, n_topics, clusters)
        counts = np.zeros((stop - first, len(possible), N_KINDS, N_BINS), np.int32)
        count_reversals(
            scores,
            orders,
            possible,
            tiny,
            binning == "both",
            counts,
            np.empty((4, n_runs)),
            np.empty(n_runs, np.int32),
            np.empty((N_TABLES, N_KINDS + 1, SLOTS), np.uint32),
        )
        return counts

    with workers(jobs=jobs) as threads:
        blocks = blocks_of(n_trials, TRIALS_A_BLOCK)
        splits = np.concatenate(map_in_order(count, blocks, threads, progress=progress))
    return np.pad(splits, [(0, 0), (0, len(sizes) - len(possible)), (0, 0), (0, 0)])


def _orders(
    stream: np.random.Generator, n_trials: int, n_topics: int, clusters: np.ndarray | None
) -> np.ndarray:
    """Return random orders [trial, topic], in which the topics of a cluster are adjacent."""
    if clusters is None:
        # int32, since permuting takes most of the time if there are many topics.
        return stream.permuted(np.tile(np.arange(n_topics, dtype=np.int32), (n_trials, 1)), axis=1)
    groups = np.unique(clusters, return_inverse=True)[1]
    turn = np.tile(np.arange(int(groups.max()) + 1), (n_trials, 1))
    by_cluster = np.argsort(stream.permuted(turn, axis=1)[:, groups], axis=1, kind="stable")
    return by_cluster.astype(np.int32)


def topic_levels(
    moments: PairVariances,
    splits: np.ndarray,
    sizes: tuple[int, ...],
    further: tuple[int, ...],
    *,
    width: float = WIDTH,
) -> tuple[TopicLevel, ...]:
    """Return theory and experiment for each of 21 bins of the difference."""
    known = moments.flag != TOO_FEW
    place = np.full(len(known), -1)
    place[known] = np.minimum(N_BINS - 1, np.abs(moments.difference[known]) / width + ROUNDED)
    counts, swaps = splits.sum(axis=2), splits[:, :, REVERSED]
    total, wrong, ties = (part.sum(axis=0).T for part in (counts, swaps, splits[:, :, TIED]))
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = wrong / total
        off = swaps - np.nan_to_num(rates.T) * counts
        errors = np.sqrt((off**2).sum(axis=0)).T / np.where(total > 0, total, np.nan)
    if len(splits) < 2:
        errors = np.full_like(errors, np.nan)
    fits = _fits(rates, total, sizes, further)
    starts = [*bin_starts(N_BINS, width).tolist(), math.inf]
    return tuple(
        TopicLevel(
            low=starts[level],
            high=starts[level + 1],
            **_theory(moments, np.flatnonzero(place == level), sizes),
            empirical=rates[level],
            empirical_error=errors[level],
            count=total[level],
            reversed=wrong[level],
            ties=ties[level],
            fit=fits[level],
        )
        for level in range(N_BINS)
    )


def _theory(moments: PairVariances, members: np.ndarray, sizes: tuple[int, ...]) -> dict[str, Any]:
    """Return means over the pairs of a level; NaN without pairs."""
    difference, variance, n = (
        part[members, None] for part in (moments.difference, moments.variance, moments.n)
    )
    independent = (moments.variance_a + moments.variance_b)[members]
    at = np.array(sizes, np.float64)
    rates = {
        "error_rate": error_rate(difference, variance, at),
        "approximation": approximate_error_rate(difference, variance, at),
        "predictive": predictive_rate(difference, variance, at),
    }
    if not len(members):
        nothing = {key: np.full(len(sizes), np.nan) for key in rates}
        return {"pairs": 0, "variance": math.nan, "variance_independent": math.nan, **nothing}
    return {
        "pairs": len(members),
        "variance": float((variance / n).mean()),
        "variance_independent": float((independent / n[:, 0]).mean()),
        **{key: rate.mean(axis=0) for key, rate in rates.items()},
    }


def _fits(
    rates: np.ndarray, total: np.ndarray, sizes: tuple[int, ...], further: tuple[int, ...]
) -> list[LevelFit | None]:
    fits = fit_decays(sizes, rates, weights=total)
    residuals, ahead = rates - fits.at(sizes), fits.at(further)
    return [
        LevelFit(
            b1=float(fits.b1[level]),
            b2=float(fits.b2[level]),
            method=str(method),
            residuals=residuals[level],
            rate=ahead[level],
        )
        if method
        else None
        for level, method in enumerate(fits.method)
    ]

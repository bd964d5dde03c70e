"""Splits of the topics for all pairs of runs: steadyrank against NumPy.

    python -m bench.topics

110 runs × 249 topics, the size of TREC 2004 Robust: 5,995 pairs, sizes 5, 10, …, 120, 1,000 splits.
Peers do the same counts, on the same splits, and are held against ours on a sample of their work,
then timed on it and scaled up; the table says so. One core (BLAS too), CPU time, in turns, medians.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

import steadyrank as sr
from bench._timing import seconds
from steadyrank.compute.random import block_stream
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.studies.topics.levels import TRIALS_A_BLOCK, count_splits

N_RUNS, N_TOPICS, N_BINS = 110, 249, 21
SIZES = np.arange(5, N_TOPICS // 2 + 1, 5)
PAIRS = all_pairs(N_RUNS)
CELLS = len(SIZES) * N_BINS


def make_scores() -> np.ndarray:
    rng = np.random.default_rng(0)
    topics = rng.beta(1, 3, N_TOPICS)
    noise = rng.normal(0, 0.1, (N_RUNS, N_TOPICS))
    return np.clip(topics + 0.1 * rng.random((N_RUNS, 1)) + noise, 0, 1)


def make_orders(trials: int) -> np.ndarray:
    """Return the random orders that steadyrank draws with seed 0."""
    blocks = -(-trials // TRIALS_A_BLOCK)
    rows = np.tile(np.arange(N_TOPICS), (TRIALS_A_BLOCK, 1))
    drawn = [block_stream(0, "topic splits", b).permuted(rows, axis=1) for b in range(blocks)]
    return np.concatenate(drawn)[:trials]


def counted(d1: np.ndarray, d2: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return pairs and reversals [2, cell] by size and bin, of differences [..., size]."""
    place = np.minimum(N_BINS - 1, (np.abs(d1) / 0.01 + 0.5e-9).astype(np.int64))
    cell = (place + N_BINS * sizes).ravel()
    wrong = (d1 * d2 < 0.0).ravel()
    return np.stack([np.bincount(cell, minlength=CELLS), np.bincount(cell[wrong], minlength=CELLS)])


def by_pair_and_size(scores: np.ndarray, orders: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return the counts by a loop over pairs and sizes."""
    found = np.zeros((2, CELLS), np.int64)
    for a, b in pairs:
        z = scores[a] - scores[b]
        for s, size in enumerate(SIZES):
            d1, d2 = z[orders[:, :size]].mean(axis=1), z[orders[:, -size:]].mean(axis=1)
            found += counted(d1, d2, np.full(len(d1), s))
    return found


def by_pair(scores: np.ndarray, orders: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return the counts by a loop over pairs, with running sums over sizes."""
    found = np.zeros((2, CELLS), np.int64)
    first, last = orders[:, : SIZES[-1]], orders[:, ::-1][:, : SIZES[-1]]
    for a, b in pairs:
        z = scores[a] - scores[b]
        d1, d2 = (np.cumsum(z[side], axis=1)[:, SIZES - 1] / SIZES for side in (first, last))
        found += counted(d1, d2, np.arange(len(SIZES)))
    return found


def by_everything(scores: np.ndarray, orders: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return the counts by a loop over pairs, splits and sizes."""
    found = np.zeros((2, CELLS), np.int64)
    for a, b in pairs:
        z = scores[a] - scores[b]
        for order in orders:
            for s, size in enumerate(SIZES):
                d1, d2 = z[order[:size]].mean(), z[order[-size:]].mean()
                cell = min(N_BINS - 1, int(abs(d1) / 0.01 + 0.5e-9)) + N_BINS * s
                found[:, cell] += 1, d1 * d2 < 0
    return found


def by_split(scores: np.ndarray, orders: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return the counts by a loop over splits and sizes, from the means of all runs."""
    found = np.zeros((2, CELLS), np.int64)
    a, b = pairs.T
    for order in orders:
        one, other = np.cumsum(scores[:, order], axis=1), np.cumsum(scores[:, order[::-1]], axis=1)
        for s, size in enumerate(SIZES):
            m1, m2 = one[:, size - 1] / size, other[:, size - 1] / size
            found += counted(m1[a] - m1[b], m2[a] - m2[b], np.full(len(a), s))
    return found


Peer = tuple[str, Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray], int, int]
PEERS: tuple[Peer, ...] = (
    ("loop over pairs and sizes", by_pair_and_size, 1000, 6),
    ("loop over pairs, running sums for all sizes", by_pair, 1000, 20),
    ("loop over pairs, splits and sizes", by_everything, 20, 2),
    ("loop over splits and sizes, all pairs at once", by_split, 10, len(PAIRS)),
)


def ours(scores: np.ndarray, trials: int, runs: np.ndarray | None = None) -> np.ndarray:
    found = count_splits(
        scores if runs is None else scores[runs], SIZES.tolist(), n_trials=trials, jobs=1
    ).sum(axis=0)
    return np.stack([found.sum(axis=1).ravel(), found[:, 1].ravel()])


def check(scores: np.ndarray) -> None:
    """Check that peers and steadyrank count the same on a part of the work."""
    few = np.arange(4)
    expected = ours(scores, 8, few)
    for name, peer, _, _ in PEERS:
        if not np.array_equal(peer(scores, make_orders(8), all_pairs(4)), expected):
            raise SystemExit(f"{name}: other counts than ours")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=5)
    turns = parser.parse_args().turns
    with threadpool_limits(1):
        scores, orders = make_scores(), make_orders(1000)
        check(scores)
        own, theirs = [], {name: [] for name, *_ in PEERS}
        for _ in range(turns):
            own.append(seconds(lambda: ours(scores, 1000), 1))
            for name, peer, splits, pairs in PEERS:
                part = seconds(
                    lambda f=peer, s=splits, p=pairs: f(scores, orders[:s], PAIRS[:p]), 1
                )
                theirs[name].append(part * 1000 / splits * len(PAIRS) / pairs)
        unit = float(np.median(own))
        print(f"1000 splits, {len(SIZES)} sizes, {len(PAIRS)} pairs: steadyrank {unit:.3g} s")
        for name, _, splits, pairs in PEERS:
            spent = float(np.median(theirs[name]))
            scaled = f"NumPy, {name} (from {splits} splits × {pairs} pairs)"
            print(f"    {scaled:80} {spent:9.3g} s {spent / unit:9.0f} x")
        labels = {"runs": [f"run{i}" for i in range(N_RUNS)], "topics": map(str, range(N_TOPICS))}
        whole = sr.Scores(
            measures=("AP",),
            values=scores[None],
            **{key: tuple(names) for key, names in labels.items()},
        )
        study = seconds(lambda: sr.topics(whole, jobs=1), 1)
        print(
            f"    the whole study, theory, fits and bands included: {study / unit:.1f} times the "
            "splits"
        )


if __name__ == "__main__":
    main()

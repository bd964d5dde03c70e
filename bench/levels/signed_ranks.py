"""Wilcoxon's test with Benjamini and Hochberg's correction: three tables of docs/levels.md.

    python -m bench.levels.signed_ranks [--experiments 400] [--scores NAME=FILE.csv …]

All pairs of 25 runs, none of which differ (*any claim*), where some differ (*share of false claims*
and *power*), and two runs on up to thousands of topics. Score matrices of your own, runs in rows,
are made null in two ways: *equal means* centres each run, *exchangeable* deals the scores of each
topic to the runs at random. Wilcoxon's test is about the second.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from bench.levels.families import ALPHA, GAIN, N_RUNS, RARE, SAMPLES, read
from steadyrank.stats.pairs.decisions import adjust
from steadyrank.stats.pairs.max_t import max_t
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tests import paired_t, sign_test, wilcoxon

SIZES = (25, 50, 250)
LARGE = (25, 50, 250, 2000, 10_000)
PROCEDURES = ("t, bh", "wilcoxon, bh", "t, holm", "wilcoxon, holm", "maxt")
TWO_RUNS = {"t": paired_t, "wilcoxon": wilcoxon, "sign": sign_test}
EQUAL_SHARE = 0.5
"""Number of runs with equal means in the mixed truth."""

Draw = Callable[[np.random.Generator, int], np.ndarray]
Stream = np.random.Generator


def drawn(matrix: np.ndarray, stream: Stream, n_topics: int, n_runs: int = N_RUNS) -> np.ndarray:
    """Return some runs on topics drawn with replacement."""
    runs = stream.choice(len(matrix), min(n_runs, len(matrix)), replace=False)
    return matrix[runs][:, stream.integers(0, matrix.shape[1], n_topics)]


def centred(matrix: np.ndarray) -> np.ndarray:
    return matrix - matrix.mean(axis=1, keepdims=True)


def equal_means(matrix: np.ndarray, n_runs: int = N_RUNS) -> Draw:
    return lambda stream, n_topics: drawn(centred(matrix), stream, n_topics, n_runs)


def exchangeable(matrix: np.ndarray, n_runs: int = N_RUNS) -> Draw:
    """Return scores of runs in random order on each topic."""
    return lambda stream, n_topics: stream.permuted(drawn(matrix, stream, n_topics, n_runs), axis=0)


def mixed_truth(matrix: np.ndarray) -> Callable[[Stream, int], tuple[np.ndarray, np.ndarray]]:
    """Return runs of which half have equal means, with scores and true means."""
    means = matrix.mean(axis=1)

    def draw(stream: Stream, n_topics: int) -> tuple[np.ndarray, np.ndarray]:
        runs = stream.choice(len(matrix), min(N_RUNS, len(matrix)), replace=False)
        truth = means[runs].copy()
        truth[: round(EQUAL_SHARE * len(runs))] = np.median(means)
        topics = stream.integers(0, matrix.shape[1], n_topics)
        return centred(matrix)[runs][:, topics] + truth[:, None], truth

    return draw


def adjusted(scores: np.ndarray, seed: int) -> np.ndarray:
    """Return corrected p-values [procedure, pair]."""
    pairs = all_pairs(len(scores))
    raw = [test(scores, pairs).pvalue for test in (paired_t, wilcoxon)]
    flips = max_t(scores, pairs, n_samples=SAMPLES, seed=seed, jobs=1, careful=True).pvalue
    return np.array([*(adjust(p, how) for how in ("bh", "holm") for p in raw), flips])


def any_claim(draw: Draw, n_topics: int, n_experiments: int, seed: int = 0) -> np.ndarray:
    """Return shares of the experiments with any claim, by procedure."""
    stream = np.random.default_rng([seed, n_topics])
    found = [
        (adjusted(draw(stream, n_topics), k) <= ALPHA).any(axis=1) for k in range(n_experiments)
    ]
    return np.mean(found, axis=0)


def false_share_and_power(
    matrix: np.ndarray, n_topics: int, n_experiments: int, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean share of false claims, of wrong signs, and power, by procedure."""
    stream = np.random.default_rng([seed, n_topics])
    draw, found = mixed_truth(matrix), []
    for k in range(n_experiments):
        scores, truth = draw(stream, n_topics)
        first, second = all_pairs(len(scores)).T
        claimed = adjusted(scores, k) <= ALPHA
        true = truth[first] - truth[second]
        right = claimed & (
            np.sign(scores.mean(axis=1)[first] - scores.mean(axis=1)[second]) == np.sign(true)
        )
        false = (claimed & ~right).sum(axis=1) / np.maximum(claimed.sum(axis=1), 1)
        found.append((false, right.sum(axis=1) / (true != 0.0).sum()))
    shares, powers = np.mean(found, axis=0)
    return shares, powers


def exponential(stream: Stream, n_topics: int) -> np.ndarray:
    return np.stack([stream.standard_exponential(n_topics) - 1.0, np.zeros(n_topics)])


def rare_gains(stream: Stream, n_topics: int) -> np.ndarray:
    """Return a run that gains much on one topic in twenty and loses it on the others."""
    gains = GAIN * ((stream.random(n_topics) < RARE) - RARE)
    return stream.normal(0.0, 0.1, (2, n_topics)) + np.stack([gains, np.zeros(n_topics)])


def normal(stream: Stream, n_topics: int) -> np.ndarray:
    return stream.normal(size=(2, n_topics))


def rejections(draw: Draw, n_topics: int, n_experiments: int, seed: int = 0) -> np.ndarray:
    """Return shares of the experiments in which each test of two runs rejects."""
    stream, pair = np.random.default_rng([seed, n_topics]), all_pairs(2)
    found = [
        [test(scores, pair).pvalue[0] <= ALPHA for test in TWO_RUNS.values()]
        for scores in (draw(stream, n_topics) for _ in range(n_experiments))
    ]
    return np.mean(found, axis=0)


def _shown(rate: float) -> str:
    return f"{rate:.3f}".removeprefix("0")


def _print_table(columns: Sequence[str], rows: Iterable[tuple[str, int, Sequence[str]]]) -> None:
    print(f"\n| scores | topics | {' | '.join(columns)} |\n|---|---:|{'---:|' * len(columns)}")
    for name, n_topics, cells in rows:
        print(f"| {name} | {n_topics:,} | {' | '.join(cells)} |", flush=True)


def families(matrices: Mapping[str, np.ndarray], n: int) -> Iterator[tuple[str, int, list[str]]]:
    """Print rates of any claim if nothing differs."""
    for name, matrix in matrices.items():
        for what, null in (("equal means", equal_means), ("exchangeable", exchangeable)):
            for size in SIZES:
                rates = any_claim(null(matrix), size, n)
                yield f"{name}, {what}", size, [_shown(rate) for rate in rates]


def mixed(matrices: Mapping[str, np.ndarray], n: int) -> Iterator[tuple[str, int, list[str]]]:
    """Print the share of false claims and the power if some runs differ."""
    for name, matrix in matrices.items():
        for size in SIZES:
            shares, powers = false_share_and_power(matrix, size, n)
            cells = [f"{_shown(f)}, {_shown(p)}" for f, p in zip(shares, powers, strict=True)]
            yield name, size, cells


def two_runs(matrices: Mapping[str, np.ndarray], n: int) -> Iterator[tuple[str, int, list[str]]]:
    """Print rejections of one true hypothesis about means."""
    worlds: dict[str, Draw] = {
        "normal": normal,
        "exponential": exponential,
        "rare large gains": rare_gains,
        **{f"{name}, equal means": equal_means(m, 2) for name, m in matrices.items()},
        **{f"{name}, exchangeable": exchangeable(m, 2) for name, m in matrices.items()},
    }
    for name, draw in worlds.items():
        for size in LARGE:
            yield name, size, [_shown(rate) for rate in rejections(draw, size, n)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--experiments", type=int, default=400)
    parser.add_argument("--scores", action="append", default=[], metavar="NAME=FILE")
    options = parser.parse_args()
    given = (each.partition("=") for each in options.scores)
    matrices = {name: read(path) for name, _, path in given}
    _print_table(PROCEDURES, families(matrices, options.experiments))
    _print_table(PROCEDURES, mixed(matrices, options.experiments))
    _print_table([*TWO_RUNS], two_runs(matrices, 5 * options.experiments))


if __name__ == "__main__":
    main()

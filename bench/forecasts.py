"""Compare forecasts of `topics` and `plan` with tables of real scores.

    python -m bench.forecasts trec8=adhoc1999_ap.csv robust=robust2004_ap.csv mteb=mteb.csv

Prints the tables of docs/forecasts.md. Tables of scores are wide (topics down where the first
column is called topic, else runs), or long: columns run or model, topic or task, value or score,
and perhaps measure.

- Pairs that swap: forecast from one half of the topics, counted on the other half.
- Assurance: pilots of 15 and 25 topics, drawn with replacement from a table that is the truth; the
  share of pilots whose number of topics is no smaller than the one that the truth requires.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from scipy import stats

from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.planning.reversal import swap_chances
from steadyrank.stats.planning.variance import assured, pair_df, pooled_variance

N_SPLITS, N_PILOTS = 200, 400
SIZES = (0, 20, 6, 3)
"""Numbers of runs of a table; 0 is all."""
PILOTS = (15, 25)
BINS = np.array([0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5001])
SKEWED = 1.5
Sample = Callable[[np.ndarray, np.random.Generator], np.ndarray]
MOST_RUNS = 200
"""Largest number of runs; larger tables are sampled."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="+", metavar="NAME=FILE")
    given = dict(one.split("=", 1) for one in parser.parse_args().tables)
    tables = {label: x for name, path in given.items() for label, x in read(name, path)}
    swaps(tables)
    assurance(tables)


def read(name: str, path: str) -> Iterator[tuple[str, np.ndarray]]:
    """Return scores [run, topic] of each measure of a file."""
    frame = pd.read_csv(path)
    kinds = [("run", "model"), ("topic", "task"), ("value", "score")]
    run, topic, value = (next((c for c in kind if c in frame.columns), None) for kind in kinds)
    if run and topic and value:
        measures = frame.groupby("measure") if "measure" in frame.columns else [("", frame)]
        for measure, part in measures:
            matrix = part.pivot(index=run, columns=topic, values=value).to_numpy()
            yield f"{name} {measure}".strip(), some_runs(matrix)
        return
    matrix = frame.iloc[:, 1:].to_numpy(np.float64)
    yield name, some_runs(matrix.T if frame.columns[0] == "topic" else matrix)


def some_runs(matrix: np.ndarray) -> np.ndarray:
    if len(matrix) <= MOST_RUNS:
        return matrix
    return matrix[np.random.default_rng(0).choice(len(matrix), MOST_RUNS, replace=False)]


def orders(matrix: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return the sign of each pair's difference of means."""
    gaps = np.subtract(*matrix.mean(axis=1)[pairs].T)
    return np.where(np.abs(gaps) > 1e-12, np.sign(gaps), 0.0)


def halves(matrix: np.ndarray, n_runs: int) -> Iterator[tuple[np.ndarray, ...]]:
    """Return forecasts from one half of random splits, and reversals in the other."""
    rng = np.random.default_rng([7, n_runs])
    n = matrix.shape[1] // 2
    for _ in range(N_SPLITS):
        chosen = rng.choice(len(matrix), n_runs, replace=False) if n_runs else slice(None)
        order = rng.permutation(matrix.shape[1])
        here, there = (matrix[chosen][:, part] for part in (order[:n], order[n : 2 * n]))
        pairs = all_pairs(len(here))
        first = orders(here, pairs)
        turned = 0.5 - 0.5 * first * orders(there, pairs)
        best = np.argsort(-here.mean(axis=1), kind="stable")[:2]
        leads = (np.sort(pairs, axis=1) == np.sort(best)).all(axis=1)
        kept = first != 0.0
        yield swap_chances(here, pairs)[kept], turned[kept], leads[kept]


def swaps(tables: dict[str, np.ndarray]) -> None:
    print("| table | runs × topics of a half | all runs | 20 | 6 | 3 | first two of 20 |")
    print("|---|---|---:|---:|---:|---:|---:|")
    binned = np.zeros((2, len(BINS) - 1))
    counts = np.zeros(len(BINS) - 1)
    ratios = []
    for name, matrix in tables.items():
        cells, leaders = [], ""
        for n_runs in SIZES:
            found = list(halves(matrix, n_runs))
            said, happened = (np.mean([f[k].mean() for f in found]) for k in (0, 1))
            ratios.append(said / happened)
            cells.append(f"{100 * said:.1f} / {100 * happened:.1f}")
            if n_runs == 20:
                first = [np.concatenate([f[k][f[2]] for f in found]).mean() for k in (0, 1)]
                leaders = f"{100 * first[0]:.0f} / {100 * first[1]:.0f}"
            if n_runs == 0:
                chances, turned = (np.concatenate([f[k] for f in found]) for k in (0, 1))
                place = np.digitize(chances, BINS) - 1
                for row, values in enumerate((chances, turned)):
                    # Every table counts alike, however many pairs it has.
                    binned[row] += np.bincount(place, values, len(BINS) - 1) / len(chances)
                counts += np.bincount(place, minlength=len(BINS) - 1) / len(chances)
        size = f"{len(matrix)} × {matrix.shape[1] // 2}"
        print(f"| {name} | {size} | {' | '.join(cells)} | {leaders} |", flush=True)
    print(
        f"\nforecast over actual: mean {np.mean(ratios):.2f}, {min(ratios):.2f}-{max(ratios):.2f}\n"
    )
    for words, values in zip(("forecast", "happened"), binned / counts, strict=True):
        print(f"| {words} | " + " | ".join(f"{value:.3f}" for value in values) + " |")
    print()


def pair_variance(matrix: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return differences [1, topic] of a random pair that differs."""
    while True:
        a, b = rng.choice(len(matrix), 2, replace=False)
        z = matrix[a] - matrix[b]
        if z.std() > 1e-6:
            return z[None]


def residuals(matrix: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return ten random runs less each topic's mean."""
    chosen = matrix[rng.choice(len(matrix), min(10, len(matrix)), replace=False)]
    return chosen - chosen.mean(axis=0)


def known(values: np.ndarray) -> tuple[float, float]:
    """Return a variance and its degrees of freedom, as in `plan`."""
    found = pooled_variance(values)
    return found.value, pair_df(values)[0] if len(values) == 1 else found.effective_df


def assurance(tables: dict[str, np.ndarray]) -> None:
    """Number of pilots whose plan suffices, and of pairs with |skewness| above 1.5."""
    print("| pilots | a pair: exact | assured | factor | skewed | ten: exact | assured | factor |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for n in PILOTS:
        for name, matrix in tables.items():
            if matrix.shape[1] <= n:
                continue
            row = [*counted(matrix, n, pair_variance), *counted(matrix, n, residuals)[:3]]
            print(
                f"| {name}, {n} topics | " + " | ".join(f"{x:.2f}" for x in row) + " |", flush=True
            )


def counted(matrix: np.ndarray, n: int, of: Sample) -> tuple[float, ...]:
    """Return shares of pilots that suffice, without and with assurance, and the factor."""
    rng = np.random.default_rng([11, n])
    made = []
    for _ in range(N_PILOTS):
        values = of(matrix, rng)
        size = values.shape[1]
        truth = pooled_variance(values).value * (size - 1) / size
        pilot = values[:, rng.integers(0, size, n)]
        variance, df = known(pilot) if np.ptp(pilot) > 0 else (0.0, 1.0)
        upper = float(assured(variance, df))
        is_skewed = abs(stats.skew(values[0])) > SKEWED
        made.append((variance >= truth, upper >= truth, upper / max(variance, 1e-12), is_skewed))
    exact, enough, factor, skewed = np.array(made, float).T
    return exact.mean(), enough.mean(), float(np.median(factor)), enough[skewed == 1.0].mean()


if __name__ == "__main__":
    main()

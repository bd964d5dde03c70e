"""`battles` against statsmodels and a bootstrap over prompts in the same run; large sizes.

    python -m bench.battles [--million]

Strengths with cluster-robust errors are those of statsmodels' GLM with dummies, to 1e-6; a
bootstrap over prompts, as leaderboards make it, refits the strengths 100 times by a plain loop.
`--million` also ranks 100 models from a CSV of a million battles, and says how much memory it took.
"""

from __future__ import annotations

import argparse
import csv
import resource
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import statsmodels.api as sm

import steadyrank as sr
from bench._timing import report, seconds, taken
from steadyrank.stats.battles.estimate import estimated


def dummies(battles: sr.Battles) -> np.ndarray:
    """Return the design with a column per model but the first, and one of the position."""
    rows, x = np.arange(len(battles)), np.zeros((len(battles), len(battles.models)))
    x[rows, battles.a] += 1.0
    x[rows, battles.b] -= 1.0
    x[:, 0] = 1.0
    return x


def by_glm(battles: sr.Battles) -> np.ndarray:
    """Return strengths less the first model's, with errors by prompt, by statsmodels."""
    groups = {"groups": battles.codes("prompt")[0]}
    model = sm.GLM(battles.outcome, dummies(battles), family=sm.families.Binomial())
    return np.asarray(model.fit(cov_type="cluster", cov_kwds=groups).params[1:])


def bootstrap(battles: sr.Battles, n_samples: int = 100) -> np.ndarray:
    """Return strengths of resampled prompts, refitted one by one."""
    codes, names = battles.codes("prompt")
    by_prompt = [np.flatnonzero(codes == k) for k in range(len(names))]
    rng, drawn = np.random.default_rng(0), []
    for _ in range(n_samples):
        rows = np.concatenate([by_prompt[k] for k in rng.integers(0, len(names), len(names))])
        drawn.append(estimated(battles.take(rows)).fit.strength)
    return np.array(drawn)


def write_million(path: Path) -> None:
    """Write a million battles of 100 models on 5,000 prompts by 20,000 voters."""
    rng, n, m = np.random.default_rng(0), 1_000_000, 100
    a = rng.integers(0, m, n)
    b = (a + rng.integers(1, m, n)) % m
    prompt, voter = rng.integers(0, 5_000, n), rng.integers(0, 20_000, n)
    odds = (a - b) / 30.0 + rng.normal(0.0, 0.5, 5_000)[prompt]
    won = rng.random(n) < 1.0 / (1.0 + np.exp(-odds))
    with path.open("w", newline="") as stream:
        file = csv.writer(stream)
        file.writerow(["model_a", "model_b", "winner", "prompt", "judge"])
        names = [f"model-{k}" for k in range(m)]
        file.writerows(
            (names[i], names[j], "model_a" if w else "model_b", f"p{p}", f"v{v}")
            for i, j, w, p, v in zip(a, b, won, prompt, voter, strict=True)
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--million", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore", sr.SteadyrankWarning)
    found = sr.simulated_battles(20, 100, position=0.3, rng=1)
    sr.battles(found)  # compiles
    ours = sr.battles(found)
    off = np.abs(ours.strength[1:] - ours.strength[0] - by_glm(found)).max()
    peers = {
        f"statsmodels GLM, clustered (differs by {off:.0e})": seconds(lambda: by_glm(found), 1),
        "bootstrap over prompts, 100 times": seconds(lambda: bootstrap(found), 1),
    }
    n = f"{len(found):,} battles of 20 models"
    report(f"strengths with errors, {n}", seconds(lambda: estimated(found)), peers)
    report(f"all decisions about 190 pairs, {n}", seconds(lambda: sr.battles(found)), peers)
    sparse = sr.simulated_battles(50, 500, design="sparse", rng=2)
    wall = seconds(lambda: sr.battles(sparse), clock=time.perf_counter)
    print(f"50 models, 500 prompts, {len(sparse):,} battles: {wall:.2f} s of wall time")
    if options.million:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "million.csv"
            write_million(path)
            cpu = taken(lambda: sr.battles(path))[0]
            wall = taken(lambda: sr.battles(path), time.perf_counter)[0]
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(
            f"a million battles of 100 models, from CSV: {wall:.1f} s of wall time, {cpu:.1f} s of"
        )
        print(f"processor time, {memory:.2f} GB at most")


if __name__ == "__main__":
    main()

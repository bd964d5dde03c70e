"""Error rates of score models and of fresh collections of the simulated track.

    python -m bench.score_models                       # the table of docs/simulate.md
    python -m bench.score_models --tracks close --trials 4

A track is drawn, then fresh collections for the same systems and topics, as by `bench.documents`.
Each model simulates collections from the first one alone; the prediction of a second one is made
from shared documents. Error rates, in bins of the difference in mean AP, are held against those of
the fresh collections: the mean distance over the bins, weighted by how many fresh comparisons each
has, and the rate over all bins.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import steadyrank as sr
from bench.coverage.worlds import fresh_collection, quiet
from bench.documents import TRACKS, drawn_track
from steadyrank.studies.simulate.statistics import error_rate, second_collections

APART = {"documents": "independent"}
MODELS: dict[str, dict[str, Any]] = {
    "shared documents": {},
    "bootstrap": APART,
    **{
        f"kde, {kernel}": {"model": "kde", "kernel": kernel}
        for kernel in ("gaussian", "epanechnikov", "triangular", "uniform")
    },
}
N_RUNS, N_FRESH, N_SAMPLES = 20, 100, 1000


def trial(track: str, rng: np.random.Generator) -> dict[str, tuple[float, float]]:
    """Return for one track the distance from fresh error rates and the overall rate, by model."""
    drawn = drawn_track(track, N_RUNS, rng)
    fresh = np.stack([fresh_collection(drawn.truth, rng).mean(axis=1) for _ in range(N_FRESH)])
    seed = int(rng.integers(2**31))
    results = {
        name: sr.simulate(
            drawn.runs, drawn.complete, n_samples=N_SAMPLES, jobs=1, rng=seed, **options
        )
        for name, options in MODELS.items()
    }
    shared = results["shared documents"]
    truth = error_rate(shared.raw_mean, fresh)
    second = np.concatenate(list(second_collections(shared.simulated, seed=seed)))
    rates = {"second collection": error_rate(shared.raw_mean, second)}
    rates |= {name: result.error_rate for name, result in results.items()}
    found = {"fresh collections": (0.0, truth.overall)}
    for name, bins in rates.items():
        both = (bins.count > 0) & (truth.count > 0)
        distance = np.abs(bins.rate - truth.rate)[both]
        found[name] = float(np.average(distance, weights=truth.count[both])), bins.overall
    return found


def table(
    track: str = "spread", *, n_trials: int = 24, seed: int = 1
) -> dict[str, dict[str, tuple[float, float]]]:
    """Return mean and standard error over tracks of distance and overall rate, by model."""
    with quiet():
        trials = [trial(track, stream) for stream in np.random.default_rng(seed).spawn(n_trials)]
    figures = {}
    for name in trials[0]:
        values = np.array([one[name] for one in trials])
        errors = values.std(axis=0, ddof=1) / n_trials**0.5
        figures[name] = {
            what: (float(values[:, k].mean()), float(errors[k]))
            for k, what in enumerate(("distance", "overall"))
        }
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=24)
    parser.add_argument("--tracks", nargs="*", default=list(TRACKS), choices=list(TRACKS))
    options = parser.parse_args()
    for track in options.tracks:
        print(f"\n{track}, {N_RUNS} runs, AP, {options.trials} tracks")
        for name, figures in table(track, n_trials=options.trials).items():
            shown = "   ".join(f"{what} {x:.4f} ± {e:.4f}" for what, (x, e) in figures.items())
            print(f"  {name:32s} {shown}", flush=True)


if __name__ == "__main__":
    main()

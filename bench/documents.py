"""Which model of other documents is nearer to the truth? Fresh collections of the simulated track.

    python -m bench.documents                     # the table of docs/forecasts.md
    python -m bench.documents --trials 4          # fewer tracks

A track is drawn, then fresh collections for the same systems and topics: other documents, a
Poisson number of relevant ones. What `simulate` says from the first collection alone, with shared
documents and with independent runs, is held against them. Neighbours are runs next to each other
in the ranking of the first collection. "Expected" is the mean over fresh collections, which the
first one estimates; a single fresh collection differs from the first by the errors of both.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

import steadyrank as sr
from bench.coverage.worlds import fresh_collection, quiet
from steadyrank.stats.ranks.correlation import kendall_tau

MODELS = ("shared", "independent")
N_TOPICS, DEPTH = 25, 50
N_FRESH, N_SAMPLES = 30, 500
SIZES = (10, 50, 129)


class Differences(NamedTuple):
    """Neighbours' and all pairs' differences in collections [collection, pair]."""

    neighbours: np.ndarray
    others: np.ndarray


def differences(means: np.ndarray, order: np.ndarray) -> Differences:
    """Of means [collection, run], better less worse by the first collection's `order`."""
    ranked = means[:, order]
    first, second = np.triu_indices(len(order), 1)
    return Differences(ranked[:, :-1] - ranked[:, 1:], ranked[:, first] - ranked[:, second])


def held(samples: np.ndarray, truth: np.ndarray) -> float:
    """How often the middle 95 % of samples [sample, ...] hold truths [..., or [truth, ...]]."""
    low, high = np.quantile(samples, [0.025, 0.975], axis=0)
    return float(np.mean((low - 1e-12 <= truth) & (truth <= high + 1e-12)))


def trial(n_runs: int, rng: np.random.Generator) -> dict[str, dict[str, float]]:
    """One track: what each model says of it, and what is true."""
    track = sr.simulated_track(
        n_teams=n_runs, runs_per_team=1, n_topics=N_TOPICS, depth=DEPTH, pool_depth=DEPTH, rng=rng
    )
    seed = int(rng.integers(2**31))
    fresh = np.stack([fresh_collection(track.truth, rng).mean(axis=1) for _ in range(N_FRESH)])
    found = {
        model: sr.simulate(
            track.runs, track.complete, documents=model, n_samples=N_SAMPLES, jobs=1, rng=seed
        )
        for model in MODELS
    }
    raw = found["shared"].raw_mean
    order = np.argsort(-raw, kind="stable")
    true = differences(fresh, order)
    answers = {"truth": _of_truth(raw, fresh, true)}
    for model, result in found.items():
        drawn = differences(result.simulated, order)
        answers[model] = _of_model(result, drawn, fresh, true)
    return answers


def _of_truth(raw: np.ndarray, fresh: np.ndarray, true: Differences) -> dict[str, float]:
    return {
        "bias": 0.0,
        "spread of means": 1.0,
        "spread of differences": 1.0,
        "spread of neighbours": 1.0,
        "order kept": float((true.neighbours.mean(axis=0) > 0).mean()),
        "order kept, fresh": float((true.neighbours > 0).mean()),
        "tau": kendall_tau(raw, fresh.mean(axis=0)).value,
        "tau, fresh": float(np.mean([kendall_tau(raw, each).value for each in fresh])),
    }


def _of_model(
    result: sr.SimulateResult, drawn: Differences, fresh: np.ndarray, true: Differences
) -> dict[str, float]:
    def ratio(of_model: np.ndarray, of_truth: np.ndarray) -> float:
        variances = (values.var(axis=0, ddof=1).mean() for values in (of_model, of_truth))
        return float(np.sqrt(next(variances) / next(variances)))

    taus = np.array([kendall_tau(result.raw_mean, each).value for each in fresh])
    expected_tau = kendall_tau(result.raw_mean, fresh.mean(axis=0)).value
    ranks = rankdata(-fresh, method="min", axis=1)
    expected_rank = rankdata(-fresh.mean(axis=0), method="min")
    low, high = result.rank_interval.T
    tau = result.rank_correlation.interval
    return {
        "bias": float((result.simulated_mean - result.raw_mean).mean()),
        "spread of means": ratio(result.simulated, fresh),
        "spread of differences": ratio(drawn.others, true.others),
        "spread of neighbours": ratio(drawn.neighbours, true.neighbours),
        "order kept": float((drawn.neighbours > 0).mean()),
        "tau": result.rank_correlation.mean,
        "difference holds expected": held(drawn.others, true.others.mean(axis=0)),
        "difference holds fresh": held(drawn.others, true.others),
        "neighbours holds expected": held(drawn.neighbours, true.neighbours.mean(axis=0)),
        "neighbours holds fresh": held(drawn.neighbours, true.neighbours),
        "rank holds expected": float(((low <= expected_rank) & (expected_rank <= high)).mean()),
        "rank holds fresh": float(((low <= ranks) & (ranks <= high)).mean()),
        "tau holds expected": float(tau.low <= expected_tau <= tau.high),
        "tau holds fresh": float(((tau.low <= taus) & (taus <= tau.high)).mean()),
    }


def table(n_runs: int, n_trials: int, seed: int = 1) -> dict[str, dict[str, tuple[float, float]]]:
    """Mean and standard error over tracks of all figures, by model."""
    streams = np.random.default_rng([seed, n_runs]).spawn(n_trials)
    with quiet():
        trials = [trial(n_runs, stream) for stream in streams]
    figures: dict[str, dict[str, tuple[float, float]]] = {}
    for model in ("truth", *MODELS):
        figures[model] = {}
        for name in trials[0][model]:
            values = np.array([answers[model][name] for answers in trials])
            error = float(values.std(ddof=1) / len(values) ** 0.5) if len(values) > 1 else np.nan
            figures[model][name] = (float(values.mean()), error)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    options = parser.parse_args()
    for n_runs in options.sizes:
        figures = table(n_runs, options.trials)
        print(f"\n{n_runs} runs, {options.trials} tracks")
        for name in figures["truth"] | figures["shared"]:
            shown = [
                f"{model} {figures[model][name][0]:+.4f} ± {figures[model][name][1]:.4f}"
                for model in ("truth", *MODELS)
                if name in figures[model]
            ]
            print(f"  {name:24s} " + "   ".join(shown), flush=True)


if __name__ == "__main__":
    main()

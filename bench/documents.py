"""Compare `simulate` with fresh collections of the simulated track.

    python -m bench.documents                          # the tables of docs/forecasts.md
    python -m bench.documents --tracks close --sizes 20 --trials 4

A track is drawn, then fresh collections for the same systems and topics: other documents, a
Poisson number of relevant ones. What `simulate` says from the first collection alone is held
against them: simulated collections of shared documents and of independent runs, and the prediction
of a second collection. Systems are spread as on TREC's ad hoc tracks, or close. Neighbours are runs
next to each other in the ranking of the first collection. "Expected" is the mean over fresh
collections.
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

import steadyrank as sr
from bench.coverage.worlds import average_precision, fresh_rankings, ndcg_at_10, quiet
from steadyrank.stats.ranks.correlation import taus_against
from steadyrank.studies.simulate.statistics import (
    rank_intervals_of,
    rank_shares,
    second_collections,
)

TRACKS = {
    "spread": sr.TrackModel(),
    "close": sr.TrackModel(team=0, system=0.005, team_topic=0.02, system_topic=0.02),
}
MEASURES = {"AP": average_precision, "nDCG@10": ndcg_at_10}
N_TOPICS, DEPTH = 25, 50
N_FRESH, N_SAMPLES = 30, 500
SIZES = (20, 50, 129)

Figures = dict[str, dict[str, float]]


class Differences(NamedTuple):
    """Return differences [collection, pair] of neighbours and of all pairs."""

    neighbours: np.ndarray
    others: np.ndarray


def differences(means: np.ndarray, order: np.ndarray) -> Differences:
    """Return differences of means [collection, run], better less worse by `order`."""
    ranked = means[:, order]
    first, second = np.triu_indices(len(order), 1)
    return Differences(ranked[:, :-1] - ranked[:, 1:], ranked[:, first] - ranked[:, second])


def held(samples: np.ndarray, truth: np.ndarray) -> float:
    """Return how often the middle 95 % of samples contain the truths."""
    low, high = np.quantile(samples, [0.025, 0.975], axis=0)
    return float(np.mean((low - 1e-12 <= truth) & (truth <= high + 1e-12)))


def drawn_track(track: str, n_runs: int, rng: np.random.Generator) -> sr.SimulatedTrack:
    """Return a track with one run per team."""
    return sr.simulated_track(
        n_teams=n_runs,
        runs_per_team=1,
        n_topics=N_TOPICS,
        depth=DEPTH,
        pool_depth=DEPTH,
        model=TRACKS[track],
        rng=rng,
    )


def trial(track: str, n_runs: int, rng: np.random.Generator) -> dict[str, Figures]:
    """Return for one track, by measure, the results of each model and the truth."""
    drawn = drawn_track(track, n_runs, rng)
    seed = int(rng.integers(2**31))
    fresh = np.zeros((len(MEASURES), N_FRESH, n_runs))
    for collection in range(N_FRESH):
        for rankings in fresh_rankings(drawn.truth, rng):
            fresh[:, collection] += [score(*rankings) for score in MEASURES.values()]
    found = {}
    for measure, true in zip(MEASURES, fresh / N_TOPICS, strict=True):
        common = {"measure": measure, "n_samples": N_SAMPLES, "jobs": 1, "rng": seed}
        shared = sr.simulate(drawn.runs, drawn.complete, **common)
        models = {
            "shared": shared.simulated,
            "second": np.concatenate(list(second_collections(shared.simulated, seed=seed))),
        }
        if measure == "AP":  # independent runs have no grades
            apart = sr.simulate(drawn.runs, drawn.complete, documents="independent", **common)
            models["independent"] = apart.simulated
        found[measure] = _figures(shared.raw_mean, models, true)
    return found


def _figures(raw: np.ndarray, models: dict[str, np.ndarray], fresh: np.ndarray) -> Figures:
    """Return the comparison of means [collection, run] with fresh ones, by model."""
    true = differences(fresh, np.argsort(-raw, kind="stable"))
    figures = {
        model: _said(raw, means) | _against(raw, means, fresh, true)
        for model, means in models.items()
    }
    expected = {
        "order kept, expected": float((true.neighbours.mean(axis=0) > 0).mean()),
        "tau, expected": float(taus_against(raw, fresh.mean(axis=0, keepdims=True))[0]),
    }
    return {"truth": _said(raw, fresh) | expected} | figures


def _said(raw: np.ndarray, means: np.ndarray) -> dict[str, float]:
    """Return error of the means, order, tau, and whether the leader stays first."""
    kept = differences(means, np.argsort(-raw, kind="stable")).neighbours > 0
    leads = means[:, np.argmax(raw)] >= means.max(axis=1)
    return {
        "bias": float((means.mean(axis=0) - raw).mean()),
        "order kept": float(kept.mean()),
        "tau": float(np.nanmean(taus_against(raw, means))),
        "leader first": float(leads.mean()),
    }


def _against(
    raw: np.ndarray, means: np.ndarray, fresh: np.ndarray, true: Differences
) -> dict[str, float]:
    """Return ratios of spreads, and coverage of expected and fresh values."""

    def ratio(of_model: np.ndarray, of_truth: np.ndarray) -> float:
        variances = (values.var(axis=0, ddof=1).mean() for values in (of_model, of_truth))
        return float(np.sqrt(next(variances) / next(variances)))

    said = differences(means, np.argsort(-raw, kind="stable"))
    taus, expected = taus_against(raw, means), fresh.mean(axis=0)
    low, high = rank_intervals_of(rank_shares(means)).T
    figures = {
        "spread of means": ratio(means, fresh),
        "spread of differences": ratio(said.others, true.others),
        "spread of neighbours": ratio(said.neighbours, true.neighbours),
    }
    for what, values in (("expected", expected[None]), ("fresh", fresh)):
        known = differences(values, np.argsort(-raw, kind="stable"))
        ranks = rankdata(-values, method="min", axis=1)
        figures |= {
            f"difference holds {what}": held(said.others, known.others),
            f"neighbours holds {what}": held(said.neighbours, known.neighbours),
            f"rank holds {what}": float(((low <= ranks) & (ranks <= high)).mean()),
            f"tau holds {what}": held(taus, taus_against(raw, values)),
        }
    return figures


def table(
    n_runs: int, n_trials: int, *, track: str = "spread", seed: int = 1
) -> dict[str, dict[str, dict[str, tuple[float, float]]]]:
    """Return mean and standard error over tracks, by measure and model."""
    streams = np.random.default_rng([seed, n_runs]).spawn(n_trials)
    with quiet():
        trials = [trial(track, n_runs, stream) for stream in streams]
    return {
        measure: {
            model: {name: _mean([t[measure][model][name] for t in trials]) for name in of_model}
            for model, of_model in figures.items()
        }
        for measure, figures in trials[0].items()
    }


def _mean(values: list[float]) -> tuple[float, float]:
    error = float(np.std(values, ddof=1) / len(values) ** 0.5) if len(values) > 1 else np.nan
    return float(np.mean(values)), error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=24)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--tracks", nargs="*", default=list(TRACKS), choices=list(TRACKS))
    options = parser.parse_args()
    for track, n_runs in product(options.tracks, options.sizes):
        for measure, figures in table(n_runs, options.trials, track=track).items():
            print(f"\n{track}, {n_runs} runs, {measure}, {options.trials} tracks")
            for name in dict.fromkeys(name for of_model in figures.values() for name in of_model):
                shown = [
                    f"{model} {of_model[name][0]:+.4f} ± {of_model[name][1]:.4f}"
                    for model, of_model in figures.items()
                    if name in of_model
                ]
                print(f"  {name:24s} " + "   ".join(shown), flush=True)


if __name__ == "__main__":
    main()

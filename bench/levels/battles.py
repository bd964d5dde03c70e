"""The level and the coverage of `battles`: docs/evidence/battles.csv.

    python -m bench.levels.battles [--trials 300] > docs/evidence/battles.csv

`any_claim` is the share of experiments with equal models in which any pair differs significantly,
by the rule of `battles` and by independent battles with Holm's correction. `all_held` is the share
of experiments with unequal models in which all simultaneous intervals hold the true differences,
and `pair_held` the share of the intervals difference ± t s.e. of single pairs that do. The truth
is the fit of 20,000 prompts (of 4,000 where all pairs of 20 models fought).
"""

from __future__ import annotations

import argparse
import csv
import sys
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from threadpoolctl import threadpool_limits

import steadyrank as sr
from steadyrank.stats.battles.estimate import estimated
from steadyrank.stats.pairs.decisions import adjust

N_SAMPLES, MANY = 299, 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The battles of an experiment."""

    design: str
    models: int
    prompts: int
    prompt_sd: float = 1.0
    ties: float = 0.0
    voters: int = 0
    """Number of voters with different opinions; 0 for none."""

    def drawn(self, seed: int, spread: float, prompts: int = 0) -> sr.Battles:
        """Return the battles of one experiment."""
        found = sr.simulated_battles(
            self.models,
            prompts or self.prompts,
            spread=spread,
            design=self.design,
            prompt_sd=self.prompt_sd,
            position=0.3,
            tie_share=self.ties,
            rng=seed,
        )
        n_voters = self.voters * max(1, prompts // self.prompts)
        return self.voted(found, n_voters, seed) if self.voters else found

    def voted(self, found: sr.Battles, n_voters: int, seed: int) -> sr.Battles:
        """Return the battles with winners as voters see them, who vote at random."""
        rng = np.random.default_rng(seed + 1_000_000)
        voter = rng.integers(0, n_voters, len(found))
        taste = rng.normal(0.0, 1.0, (n_voters, self.models))
        odds = taste[voter, found.a] - taste[voter, found.b]
        # A vote is the voter's own with probability one half, else the one that was drawn.
        own = (rng.random(len(found)) < 1.0 / (1.0 + np.exp(-odds))).astype(float)
        outcome = np.where(rng.random(len(found)) < 0.5, own, found.outcome)
        names = found.models
        return sr.Battles.from_rows(
            [names[i] for i in found.a],
            [names[i] for i in found.b],
            outcome,
            prompt=found.prompt,
            judge=[f"v{k}" for k in voter.tolist()],
        )


SETTINGS = (
    *(Setting(design="full", models=m, prompts=n) for m in (3, 6) for n in (20, 40, 80, 200)),
    *(
        Setting(design=d, models=6, prompts=n)
        for d in ("star", "sparse")
        for n in (20, 40, 80, 200)
    ),
    Setting(design="full", models=6, prompts=40, ties=0.3),
    Setting(design="full", models=6, prompts=40, prompt_sd=0.0),
    Setting(design="full", models=2, prompts=40),
    Setting(design="star", models=20, prompts=80),
    Setting(design="sparse", models=20, prompts=200),
    Setting(design="full", models=20, prompts=40),
    Setting(design="sparse", models=50, prompts=500),
    Setting(design="full", models=6, prompts=40, voters=40),
    Setting(design="sparse", models=6, prompts=200, voters=100),
)


def experiment(setting: Setting, seed: int, truth: np.ndarray) -> tuple[float, ...]:
    """Return whether anything was claimed, twice, and what the intervals hold."""
    equal = sr.battles(setting.drawn(seed, 0.0), n_samples=N_SAMPLES, rng=seed)
    z = equal.difference / equal.difference_error_independent
    naive = (adjust(2.0 * stats.norm.sf(np.abs(z)), "holm") <= 0.05).any()
    found = sr.battles(setting.drawn(seed + 500_000, 1.0), n_samples=N_SAMPLES, rng=seed)
    off = truth[found.pairs[:, 0]] - truth[found.pairs[:, 1]]
    low, high = found.interval.T
    held = ~((off < low) | (off > high))  # a limit that is not bounded holds everything
    reach = stats.t.ppf(0.975, found.values.shape[1] - 1) * found.difference_error
    single = np.abs(found.difference - off) <= reach
    return float(equal.significant.any()), float(naive), float(held.all()), float(single.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=300)
    options = parser.parse_args()
    file = csv.writer(sys.stdout, lineterminator="\n")
    sizes = ["design", "models", "prompts", "prompt_sd", "ties", "voters", "trials"]
    file.writerow([*sizes, "any_claim", "low", "high", "independent", "all_held", "pair_held"])
    warnings.simplefilter("ignore", sr.SteadyrankWarning)
    with threadpool_limits(1):
        for setting in SETTINGS:
            trials = options.trials if setting.models < 20 else options.trials // 3
            # Of all pairs of 20 models a fifth: still a hundred times the prompts of a setting.
            is_large = setting.models >= 20 and setting.design == "full"
            many = MANY // 5 if is_large else MANY
            truth = estimated(setting.drawn(10**6, 1.0, many)).fit.strength
            found = np.array([experiment(setting, seed, truth) for seed in range(trials)])
            claim, naive, held, single = found.mean(axis=0)
            interval: Any = stats.binomtest(int(found[:, 0].sum()), trials).proportion_ci(0.99)
            row = [getattr(setting, name) for name in sizes[:-1]]
            shares = [claim, interval.low, interval.high, naive, held, single]
            file.writerow([*row, trials, *(f"{share:.3f}" for share in shares)])
            sys.stdout.flush()


if __name__ == "__main__":
    main()

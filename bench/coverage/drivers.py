"""Trials of the intervals of effect sizes: what drives the correlation of measures (`agree`).

A trial draws systems and topics from a population of four measures. The truth is that of the
population: correlations of samples are averaged over very many such data sets, so that what is due
to the topics and systems of one of them averages out.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import steadyrank as sr
from bench.coverage.claims import Claim, Ends, Experiment, Setting, Trial, seed_of, settings
from bench.coverage.worlds import measure_bank

SAMPLES = 100
RESAMPLES = 100
"""Default sizes of `agree`."""

EFFECTS = {"measure_pair": (1, 2), "topic_size": (0, 2), "system_size": (0, 1)}
"""Main effects on correlations, and the axes that are averaged."""

WORDS = {
    "measure_pair": "pairs of measures",
    "topic_size": "numbers of topics",
    "system_size": "numbers of systems",
}

FIELDS = tuple(
    f"agree {table} omega_squared_interval" for table in ("anova", "anovas tau", "anovas tau_ap")
)

Study = Callable[[np.random.Generator, int, int], "sr.AgreeResult"]


def drivers(setting: Setting, full: bool) -> Trial:
    study = _study(setting, full)
    truth = _effect_sizes(study, 800 if full else 300)

    def trial(rng: np.random.Generator) -> Ends:
        limits = study(rng, SAMPLES, RESAMPLES).limits
        none = (np.nan, np.nan)
        return {name: (*limits.get(name, none), truth[name]) for name in EFFECTS}

    return trial


def _study(setting: Setting, full: bool) -> Study:
    bank = measure_bank(setting.world, full)
    n_systems, n_topics = setting.systems, setting.topics

    def study(rng: np.random.Generator, n_samples: int, n_interval_samples: int) -> sr.AgreeResult:
        runs = rng.integers(bank.shape[1], size=n_systems)
        topics = rng.integers(bank.shape[2], size=n_topics)
        scores = sr.Scores(
            measures=[f"measure {i}" for i in range(len(bank))],
            runs=range(n_systems),
            topics=range(n_topics),
            values=bank[:, runs][:, :, topics],
        )
        return sr.agree(
            scores,
            topic_sizes=[n_topics // 5, n_topics // 2, 4 * n_topics // 5],
            system_sizes=[n_systems // 4, n_systems // 2, 3 * n_systems // 4],
            n_samples=n_samples,
            n_interval_samples=n_interval_samples,
            jobs=1,
            rng=seed_of(rng),
        )

    return study


def _effect_sizes(study: Study, n_sets: int) -> dict[str, float]:
    """Return omega squared of cells' means over many data sets."""
    rng = np.random.default_rng(7)
    found = [study(rng, 20, 0) for _ in range(n_sets)]
    cells = np.mean([each.mean for each in found], axis=0)
    error = np.mean([each.anova.source("error").ms for each in found if each.anova is not None])
    squares = {name: float(np.var(cells.mean(axis=axes))) for name, axes in EFFECTS.items()}
    return {name: square / (square + error) for name, square in squares.items()}


EXPERIMENTS = {
    "drivers": Experiment(
        prepare=drivers,
        settings=(*settings("20x25 60x50"), *settings("20x25", world="alike")),
        share=0.15,
        claims={
            name: Claim(
                interval=f"omega² of {words}",
                study="agree",
                truth="omega² of correlations averaged over all such sets of topics and systems",
                fields=FIELDS if name == "measure_pair" else (),
            )
            for name, words in WORDS.items()
        },
    )
}

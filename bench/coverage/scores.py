"""Trials of the intervals of scores, ranks and correlations: compare to components.

One interval a trial, of runs and topics drawn afresh, unless the interval is about the routine's
own sampling: then the data stay and only the seed changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import stdtrit
from scipy.stats import rankdata

import steadyrank as sr
from bench.coverage.claims import Claim, Ends, Experiment, Setting, Trial, seed_of, settings
from bench.coverage.worlds import TEAM_RUNS, flat_bank, fresh_collection, scores_of
from steadyrank.stats.anova.balanced import Anova, anova, crossed_strata, tukey_main_effect
from steadyrank.stats.pairs.corrected_t import corrected_widths
from steadyrank.stats.pairs.resampled import bootstrap_t_limits
from steadyrank.stats.pairs.tests import moments
from steadyrank.stats.pairs.tukey import tukey_hsd
from steadyrank.stats.planning.needed_topics import needed_topics
from steadyrank.stats.ranks.correlation import (
    bootstrap_tau_interval,
    kendall_interval,
    kendall_tau,
    pairwise_tau_and_tau_ap,
)
from steadyrank.stats.run_means import mean_intervals

PAIRS_A_TRIAL = 50
"""Number of pairs that share the weights of a bootstrap, with different runs and topics."""

AGREE_SAMPLES = 100
CELLS_A_TRIAL = 100
LEVELS = 3
"""Number of levels of the compared component."""

FAMILY_LEVEL = 0.05 / 153
"""Level of one comparison among all pairs of eighteen runs."""


def differences(setting: Setting, full: bool) -> Trial:
    bank = flat_bank(setting.world, full)[0]
    n_systems, n_topics = bank.shape
    pairs = np.arange(2 * PAIRS_A_TRIAL).reshape(-1, 2)

    def trial(rng: np.random.Generator) -> Ends:
        first = rng.integers(n_systems, size=PAIRS_A_TRIAL)
        second = (first + rng.integers(1, n_systems, PAIRS_A_TRIAL)) % n_systems
        systems = np.stack([first, second], axis=1)
        topics = rng.integers(n_topics, size=(PAIRS_A_TRIAL, 1, setting.topics))
        scores = bank[systems[:, :, None], topics].reshape(-1, setting.topics)
        mean = bank.mean(axis=1)[systems]
        one = moments(scores, pairs)
        quantile = stdtrit(one.n - 1.0, 0.975)
        widths = {
            name: corrected_widths(quantile, one.standard_error, skewness, one.n)
            for name, skewness in (("t", None), ("corrected", one.skewness))
        }
        drawn = {"alpha": 0.05, "n_samples": 2000, "seed": seed_of(rng), "jobs": 1}
        found = {name: one.mean[:, None] + width * [-1.0, 1.0] for name, width in widths.items()}
        found["studentized"] = bootstrap_t_limits(scores, pairs, **drawn)
        ends = {kind: (*limits.T, mean[:, 0] - mean[:, 1]) for kind, limits in found.items()}
        return ends | {"mean": (*mean_intervals(scores[::2], 0.95).T, mean[:, 0])}

    return trial


def _some_runs(
    bank: np.ndarray, setting: Setting, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return scores of different runs on drawn topics, and on all topics.

    In the population "teams", those of `LEVELS` teams, one team after the other.
    """
    runs = rng.choice(len(bank), setting.systems, replace=False)
    if setting.world == "teams":
        teams = rng.choice(len(bank) // TEAM_RUNS, LEVELS, replace=False)
        runs = (TEAM_RUNS * teams[:, None] + np.arange(setting.systems // LEVELS)).ravel()
    return bank[runs][:, rng.integers(bank.shape[1], size=setting.topics)], bank[runs]


def _residual(scores: np.ndarray) -> float:
    """Return the residual mean square of the model run + topic."""
    two_way = anova(scores, factors=("run", "topic"), effects=("run",), block="topic")
    return two_way.source("error").ms


def simultaneous(setting: Setting, full: bool) -> Trial:
    bank = flat_bank(setting.world, full)[0]
    first = _some_runs(bank, setting, np.random.default_rng(6))[0]
    # The quantile is the slow part, and the same for all data of one size.
    width = tukey_hsd(first, [[0, 1]]).half_width[0] / np.sqrt(_residual(first))

    def trial(rng: np.random.Generator) -> Ends:
        scores, all_topics = _some_runs(bank, setting, rng)
        half = width * np.sqrt(_residual(scores))
        # All pairs have one width: all hold if the two runs that are furthest off are held.
        worst = np.ptp(scores.mean(axis=1) - all_topics.mean(axis=1))
        return {"tukey": (-half, half, worst)}

    return trial


DOCUMENT_MODELS: dict[str, dict[str, Any]] = {
    "shared": {},
    "poisson": {"documents": "independent", "denominator": "poisson"},
    "judged": {"documents": "independent", "denominator": "judged"},
}


def other_documents(setting: Setting, full: bool) -> Trial:
    def trial(rng: np.random.Generator) -> Ends:
        track = sr.simulated_track(
            n_teams=setting.systems,
            runs_per_team=1,
            n_topics=setting.topics,
            depth=50,
            pool_depth=50,
            rng=rng,
        )
        seed = seed_of(rng)
        fresh = fresh_collection(track.truth, rng).mean(axis=1)
        place = rng.integers(setting.systems)
        rank = rankdata(-fresh, method="min")[place]
        ends = {}
        for model, options in DOCUMENT_MODELS.items():
            found = sr.simulate(
                track.runs, track.complete, n_samples=200, jobs=1, rng=seed, **options
            )
            tau = kendall_tau(found.raw_mean, fresh).value
            ends[f"tau {model}"] = (*found.tau.interval, tau)
            ends[f"rank {model}"] = (*found.rank_interval[place], rank)
        return ends

    return trial


def topics_to_show(setting: Setting, full: bool) -> Trial:
    bank = flat_bank(setting.world, full)[0]
    n_systems, n_topics = bank.shape

    def trial(rng: np.random.Generator) -> Ends:
        first = rng.integers(n_systems, size=PAIRS_A_TRIAL)
        second = (first + rng.integers(1, n_systems, PAIRS_A_TRIAL)) % n_systems
        gaps = bank[first] - bank[second]
        topics = rng.integers(n_topics, size=(PAIRS_A_TRIAL, setting.topics))
        seen = np.take_along_axis(gaps, topics, axis=1)
        found = needed_topics(
            seen.mean(axis=1), seen.var(axis=1, ddof=1), setting.topics, alpha=FAMILY_LEVEL
        )
        truth = needed_topics(gaps.mean(axis=1), gaps.var(axis=1), n_topics, alpha=FAMILY_LEVEL)
        return {"topics": (found.low, found.high, truth.topics)}

    return trial


def _fixed_scores(setting: Setting, full: bool, topics: int = 50) -> sr.Scores:
    rng = np.random.default_rng(5)
    bank = flat_bank(setting.world, full)
    runs = rng.choice(bank.shape[1], setting.systems, replace=False)
    drawn = rng.choice(bank.shape[2], topics, replace=False)
    return scores_of(bank[:, runs][:, :, drawn])


def agreement(setting: Setting, full: bool) -> Trial:
    scores = _fixed_scores(setting, full)

    def found(n_samples: int, seed: int) -> sr.AgreeResult:
        return sr.agree(
            scores,
            topic_sizes=[setting.topics],
            system_sizes=[setting.systems // 2],
            n_samples=n_samples,
            jobs=1,
            rng=seed,
        )

    truth = float(found(40_000 if full else 5000, 1).mean[0, 0, 0])

    def trial(rng: np.random.Generator) -> Ends:
        many = found(AGREE_SAMPLES * CELLS_A_TRIAL, seed_of(rng))
        parts = many.tau.reshape(*many.tau.shape[:3], CELLS_A_TRIAL, AGREE_SAMPLES)
        low, high = replace(many, tau=parts).interval[0, 0, 0].T
        return {"mean": (low, high, np.full(CELLS_A_TRIAL, truth))}

    return trial


def levels(setting: Setting, full: bool) -> Trial:
    bank = flat_bank(setting.world, full)[0]
    strata = {"none": (), "topic": crossed_strata("topic", ("a", "b"))}

    def table_of(scores: np.ndarray, errors: Sequence[str]) -> tuple[Anova, float]:
        """Return the table, and the standard deviation of the error of tests of a's levels."""
        table = anova(
            scores.reshape(LEVELS, -1, setting.topics),
            factors=["a", "b", "topic"],
            effects=["a", "b", "a:b"],
            block="topic",
            strata=errors,
        )
        return table, np.sqrt(table.source(table.source("a").tested_against).ms)

    widths = {}
    for kind, errors in strata.items():
        table, error = table_of(_some_runs(bank, setting, np.random.default_rng(6))[0], errors)
        # The quantile is the slow part, and the same for all data of one size.
        widths[kind] = tukey_main_effect(table, "a").half_width * 2 / error

    def trial(rng: np.random.Generator) -> Ends:
        scores, all_topics = _some_runs(bank, setting, rng)
        found, truth = (each.reshape(LEVELS, -1).mean(axis=1) for each in (scores, all_topics))
        worst = np.ptp(found - truth)
        halves = {kind: widths[kind] * table_of(scores, strata[kind])[1] for kind in strata}
        return {kind: (-half, half, worst) for kind, half in halves.items()}

    return trial


def taus_of_topic_sets(setting: Setting, full: bool) -> Trial:
    bank = flat_bank(setting.world, full)
    runs = np.random.default_rng(7).choice(bank.shape[1], setting.systems, replace=False)
    own = bank[:, runs]

    def drawn(rng: np.random.Generator) -> np.ndarray:
        return own[:, :, rng.integers(bank.shape[2], size=setting.topics)]

    many = np.random.default_rng(8)
    means = np.stack([drawn(many).mean(axis=2) for _ in range(20_000 if full else 4000)])
    truth = float(pairwise_tau_and_tau_ap(means).tau.mean())

    def trial(rng: np.random.Generator) -> Ends:
        found = bootstrap_tau_interval(*drawn(rng), n_samples=300, seed=seed_of(rng), jobs=1)
        return {"bootstrap": (found.low, found.high, truth)}

    return trial


def taus_of_systems(setting: Setting, full: bool) -> Trial:
    bank = flat_bank(setting.world, full)
    topics = np.random.default_rng(9).integers(bank.shape[2], size=setting.topics)
    means = bank[:, :, topics].mean(axis=2)
    truth = kendall_tau(*means, variant="a").value

    def trial(rng: np.random.Generator) -> Ends:
        some = means[:, rng.integers(means.shape[1], size=setting.systems)]
        found = kendall_interval(kendall_tau(*some).value, setting.systems)
        return {"published": (found.low, found.high, truth)}

    return trial


def _difference(kind: str, fields: tuple[str, ...] = ()) -> Claim:
    return Claim(
        interval=f"difference, {kind}",
        study="compare",
        truth="two runs' difference over all topics",
        fields=fields,
    )


def _documents(model: str, words: str) -> dict[str, Claim]:
    """Return claims about a fresh collection: other documents, same systems and topics."""
    by_default = not DOCUMENT_MODELS[model]
    return {
        f"tau {model}": Claim(
            interval=f"tau with other documents{words}",
            study="simulate",
            truth="tau of the ranking with that in fresh documents, same systems and topics",
            fields=("simulate prediction tau interval",) if by_default else (),
        ),
        f"rank {model}": Claim(
            interval=f"a run's rank in other documents{words}",
            study="simulate",
            truth="its rank in fresh documents, same systems and topics",
            fields=("simulate prediction rank_interval", "simulate rank_interval")
            if by_default
            else (),
        ),
    }


_FROM_10_TO_50 = (*settings("10 25 50"), *settings("25", world="normal"))

EXPERIMENTS: dict[str, Experiment] = {
    "differences": Experiment(
        prepare=differences,
        settings=_FROM_10_TO_50,
        batch=PAIRS_A_TRIAL,
        claims={
            "t": _difference("Student's t"),
            "corrected": _difference("corrected t"),
            "studentized": _difference("studentized bootstrap"),
            "mean": Claim(
                interval="a run's mean",
                study="compare",
                truth="the run's mean over all topics, of a run that nobody picked",
            ),
        },
    ),
    "simultaneous": Experiment(
        prepare=simultaneous,
        settings=(*settings("5x25 20x10 20x25 20x50"), *settings("20x25", world="normal")),
        claims={
            "tukey": Claim(
                interval="all differences at once, Tukey",
                study="compare",
                truth="the differences of all pairs over all topics",
            )
        },
    ),
    "other documents": Experiment(
        prepare=other_documents,
        settings=settings("10x10 10x25"),
        share=0.2,
        claims=_documents("shared", "")
        | _documents("poisson", ", independent runs")
        | _documents("judged", ", independent runs, denominator judged"),
    ),
    "topics to show": Experiment(
        prepare=topics_to_show,
        settings=_FROM_10_TO_50,
        batch=PAIRS_A_TRIAL,
        claims={
            "topics": Claim(
                interval="topics that show a pair's difference",
                study="topics",
                truth="topics by the pair's difference and variance over all topics",
                fields=("topics pairs topics_needed_interval",),
            )
        },
    ),
    "agreement": Experiment(
        prepare=agreement,
        settings=settings("20x10 20x25", more="out of 50; half of the systems"),
        batch=CELLS_A_TRIAL,
        share=0.5,
        claims={
            "mean": Claim(
                interval="mean tau of two measures",
                study="agree",
                truth="the mean over all samples of these scores",
                fields=("agree cells interval",),
            )
        },
    ),
    "levels": Experiment(
        prepare=levels,
        settings=(
            *settings("6x10 6x25 6x50"),
            *settings("6x25", world="normal"),
            *settings("6x25 9x25", world="teams"),
        ),
        claims={
            "none": Claim(
                interval="all levels' differences, one residual",
                study="components",
                truth="the levels' differences over all topics, all pairs at once",
                fields=("components main_effects pairs interval",),
            ),
            "topic": Claim(
                interval="all levels' differences, topic strata",
                study="components",
                truth="the levels' differences over all topics, all pairs at once",
            ),
        },
    ),
    "taus of topic sets": Experiment(
        prepare=taus_of_topic_sets,
        settings=settings("10x25 20x10 20x25 20x50"),
        share=0.25,
        claims={
            "bootstrap": Claim(
                interval="tau of two measures, bootstrap",
                study="pools",
                truth="the mean tau of topic sets of this size, these systems",
            )
        },
    ),
    "taus of systems": Experiment(
        prepare=taus_of_systems,
        settings=settings("10x25 20x25 40x25"),
        claims={
            "published": Claim(
                interval="tau of two measures, as published",
                study="pools",
                truth="tau over all systems, these topics",
            )
        },
    ),
}

"""Trials of the intervals of variances and of what follows from them: plan, pools, stability.

Systems are drawn too where the claim is about other systems, and stay what they are where it is
about other topics alone.
"""

from __future__ import annotations

import numpy as np

import steadyrank as sr
from bench.coverage.claims import Claim, Ends, Experiment, Setting, Trial, seed_of, settings
from bench.coverage.worlds import (
    TEAM_RUNS,
    components_of,
    deep_bank,
    flat_bank,
    nested_components_of,
    scores_of,
)
from steadyrank.stats.anova.gstudy import GStudy, nested_components, pivotal_draws, topics_for
from steadyrank.stats.planning.variance import pilot_variance
from steadyrank.studies.pools.trials import mean_and_interval

DEMANDS = {"minimum_difference": 0.1, "systems": 10}
GIVEN_TOPICS = 50
STABLE = 0.9
"""Level of stability that the topics should reach."""

TRIALS_OF_TEAMS = 10


def pilots(setting: Setting, full: bool) -> Trial:
    bank = flat_bank(setting.world, full)[0]

    def trial(rng: np.random.Generator) -> Ends:
        scores, within, residual = _pilot(bank, setting, rng)
        found = pilot_variance(scores, "AP")
        return {
            "variance": (*found.variance_interval, within),
            "residual": (*found.residual_interval, residual),
        }

    return trial


def _pilot(
    bank: np.ndarray, setting: Setting, rng: np.random.Generator
) -> tuple[np.ndarray, float, float]:
    """Return scores of runs on drawn topics, and V_E and residual variance over all topics."""
    runs = rng.choice(len(bank), setting.systems, replace=False)
    own = bank[runs]
    scores = own[:, rng.integers(bank.shape[1], size=setting.topics)]
    factor = setting.systems / (setting.systems - 1)
    return scores, float(own.var(axis=1).mean()), factor * components_of(own)["system_topic"]


def plans(setting: Setting, full: bool) -> Trial:
    bank = flat_bank(setting.world, full)[0]

    def trial(rng: np.random.Generator) -> Ends:
        matrix, within, _ = _pilot(bank, setting, rng)
        scores = scores_of(matrix)
        needed = sr.plan(scores, **DEMANDS).plans[0].topics_interval
        power = sr.plan(scores, n_topics=GIVEN_TOPICS, **DEMANDS).plans[0].power_interval
        known = sr.plan(variance=within, **DEMANDS).plans[0].topics
        bought = sr.plan(variance=within, n_topics=GIVEN_TOPICS, **DEMANDS).plans[0].power
        return {"topics": (*needed, known), "power": (*power, bought)}

    return trial


def stability(setting: Setting, full: bool) -> Trial:
    bank = flat_bank(setting.world, full)[0]
    truth = components_of(bank)
    relative = truth["system"] / truth["system_topic"]
    absolute = truth["system"] / (truth["topic"] + truth["system_topic"])

    def trial(rng: np.random.Generator) -> Ends:
        runs = _some_systems(bank, setting, rng)
        topics = rng.integers(bank.shape[1], size=setting.topics)
        found = sr.stability(scores_of(bank[runs][:, topics]), levels=[STABLE])
        now, needed = found.coefficients[0], found.topics_needed[0]
        n = setting.topics
        return {
            "e_rho2": (*now.e_rho2_interval, n * relative / (1 + n * relative)),
            "phi": (*now.phi_interval, n * absolute / (1 + n * absolute)),
            "e_rho2 topics": (*needed.e_rho2_interval, topics_for(relative, STABLE)),
            "phi topics": (*needed.phi_interval, topics_for(absolute, STABLE)),
        }

    return trial


def _some_systems(bank: np.ndarray, setting: Setting, rng: np.random.Generator) -> np.ndarray:
    """Return independent systems; in the population "teams", whole teams."""
    if setting.world != "teams":
        return rng.integers(len(bank), size=setting.systems)
    teams = rng.integers(len(bank) // TEAM_RUNS, size=setting.systems // TEAM_RUNS)
    return np.concatenate([TEAM_RUNS * team + np.arange(TEAM_RUNS) for team in teams])


def nested_stability(setting: Setting, full: bool) -> Trial:
    bank = deep_bank(setting.world, full)
    truth = _facet_truth(nested_components_of(bank), setting)
    systems = np.repeat(np.arange(setting.systems), setting.instances)

    def trial(rng: np.random.Generator) -> Ends:
        chosen = rng.integers(len(bank), size=setting.systems)
        own = rng.integers(bank.shape[2], size=(setting.systems, setting.instances))
        topics = rng.integers(bank.shape[1], size=setting.topics)
        scores = bank[chosen[:, None, None], topics[:, None], own[:, None]].transpose(0, 2, 1)
        found = nested_components(scores.reshape(-1, setting.topics), systems)
        return _facet_ends(found, setting, truth, rng)

    return trial


def _facet_truth(parts: dict[str, float], setting: Setting) -> dict[str, float]:
    """Return the coefficients of a population, and the topics that they require."""
    own, both, system = parts["instance"], parts["residual"], parts["system"]
    n, k = setting.topics, setting.instances
    by_topic = {"e_rho2": parts["system_topic"], "phi": parts["system_topic"] + parts["topic"]}
    truth = {}
    for name, t in by_topic.items():
        truth[name] = system / (system + t / n + own / k + both / (n * k))
        room = system * (1 - STABLE) / STABLE - own / k
        truth[f"{name} topics"] = np.ceil((t + both / k) / room) if room > 0 else np.inf
    return truth


def _facet_ends(
    found: GStudy, setting: Setting, truth: dict[str, float], rng: np.random.Generator
) -> Ends:
    draws = pivotal_draws(found, n_draws=2000, rng=seed_of(rng))
    n, k = setting.topics, setting.instances
    limits = {
        "e_rho2": draws.interval("e_rho2", n, k),
        "phi": draws.interval("phi", n, k),
        "e_rho2 topics": draws.interval("topics_for_e_rho2", STABLE, k),
        "phi topics": draws.interval("topics_for_phi", STABLE, k),
    }
    return {name: (*ends, truth[name]) for name, ends in limits.items()}


def left_out_teams(setting: Setting, full: bool) -> Trial:
    n_teams = setting.systems // 2
    track = sr.simulated_track(
        n_teams=n_teams, runs_per_team=2, n_topics=setting.topics, depth=50, pool_depth=10, rng=3
    )
    every = sr.pools(
        track.runs, track.qrels, pool_depth=10, ks=[3], n_trials=1000, jobs=1, **DEMANDS
    ).cell("AP", 3)
    truth = float(np.mean(every.variances))
    topics = _topics_of(truth)

    def trial(rng: np.random.Generator) -> Ends:
        drawn = rng.choice(len(every.variances), TRIALS_OF_TEAMS, replace=False)
        low, high = mean_and_interval([every.variances[i] for i in drawn])[1] or (np.nan, np.nan)
        return {"mean": (low, high, truth), "topics": (_topics_of(low), _topics_of(high), topics)}

    return trial


def _topics_of(variance: float) -> int:
    return sr.plan(variance=variance, **DEMANDS).plans[0].topics


def _stable(name: str, topics: bool, facet: str = "") -> Claim:
    where = "topics_needed" if topics else "d_study"
    key = f"{name}_interval"
    words = {"e_rho2": "E rho²", "phi": "Phi"}[name]
    return Claim(
        interval=(f"topics for {words} = {STABLE}" if topics else words) + facet,
        study="stability",
        truth="over all systems, topics and instances" if facet else "over all systems and topics",
        fields=(f"stability {where} {key}",),
    )


def _stability_claims(facet: str = "") -> dict[str, Claim]:
    return {
        f"{name} topics" if topics else name: _stable(name, topics, facet)
        for topics in (False, True)
        for name in ("e_rho2", "phi")
    }


_PILOTS = (*settings("5x25 20x10 20x25 20x50"), *settings("20x25", world="normal"))

EXPERIMENTS: dict[str, Experiment] = {
    "pilots": Experiment(
        prepare=pilots,
        settings=_PILOTS,
        claims={
            "variance": Claim(
                interval="variance of scores, V_E",
                study="plan, pools",
                truth="the runs' variance over all topics",
                fields=("plan plans variance_interval", "pools references variance_interval"),
            ),
            "residual": Claim(
                interval="residual variance",
                study="plan",
                truth="that of these runs over all topics",
                fields=("plan plans residual_interval",),
            ),
        },
    ),
    "plans": Experiment(
        prepare=plans,
        settings=(*settings("20x10 20x25"), *settings("20x25", world="normal")),
        share=0.1,
        claims={
            "topics": Claim(
                interval="topics needed",
                study="plan, pools",
                truth="topics by the runs' variance over all topics",
                fields=("plan plans topics_interval", "pools references topics_needed_interval"),
            ),
            "power": Claim(
                interval="power of 50 topics",
                study="plan",
                truth="power by the runs' variance over all topics",
                fields=("plan plans power_interval",),
            ),
        },
    ),
    "stability": Experiment(
        prepare=stability,
        settings=(
            *settings("5x25 20x10 20x25 20x50"),
            *settings("20x25", world="normal"),
            *settings("21x25", world="teams"),
            *settings("20x25", world="exponential"),
        ),
        claims=_stability_claims(),
    ),
    "stability with instances": Experiment(
        prepare=nested_stability,
        settings=(
            *settings("10x25 20x50", instances=3),
            *settings("10x25", instances=3, world="normal"),
            *settings("10x25", instances=3, world="exponential"),
        ),
        share=0.5,
        claims=_stability_claims(", own instances"),
    ),
    "left out teams": Experiment(
        prepare=left_out_teams,
        settings=settings("20x25", more="3 of 10 teams left out 10 times"),
        share=0.25,
        claims={
            "mean": Claim(
                interval="mean variance without k teams, as published",
                study="pools",
                truth="the mean over all sets of k teams, these topics",
                fields=("pools leave_out interval",),
            ),
            "topics": Claim(
                interval="topics needed without k teams, as published",
                study="pools",
                truth="topics by that mean",
                fields=("pools leave_out topics_needed_interval",),
            ),
        },
    ),
}

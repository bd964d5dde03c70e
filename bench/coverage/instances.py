"""Trials of intervals of `instances`: a difference of two systems, and its variances.

Topics and instances are both drawn; the second system is a single run unless both vary.
"""

from __future__ import annotations

import numpy as np

import steadyrank as sr
from bench.coverage.claims import Claim, Ends, Experiment, Setting, Trial, seed_of, settings
from bench.coverage.worlds import nested_components_of, pair_bank, scores_of
from steadyrank.stats.instances.bootstrap import two_way_bootstrap
from steadyrank.stats.instances.equivalence import equivalence_test
from steadyrank.stats.interval import t_limits
from steadyrank.stats.mixed.two_way import nested_difference, two_way_difference

NESTED = "both vary"


def varying_systems(setting: Setting, full: bool) -> Trial:
    bank = pair_bank(setting.world, full)

    def trial(rng: np.random.Generator) -> Ends:
        a, b, truth = _two_systems(bank, setting, rng)
        test = nested_difference(a, b) if len(b) > 1 else two_way_difference(a - b)
        t = test.estimate, test.standard_error
        both = two_way_bootstrap(a, b, n_samples=300, seed=seed_of(rng), jobs=1)
        return {
            "mixed": (*t_limits(*t, test.df, 0.95), truth),
            "equivalence": (*equivalence_test(*t, df=test.df, delta=0.01).interval, truth),
            "two_way": (*both.interval, truth),
        }

    return trial


def _two_systems(
    bank: np.ndarray, setting: Setting, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return scores [instance, topic] of both systems; the second has one run unless nested."""
    topics = rng.integers(bank.shape[1], size=setting.topics)
    drawn = rng.integers(bank.shape[2], size=(2, setting.instances))
    a = bank[0][np.ix_(topics, drawn[0])].T
    if setting.more == NESTED:
        return a, bank[1][np.ix_(topics, drawn[1])].T, float(bank[0].mean() - bank[1].mean())
    return a, bank[1][topics, :1].T, float(bank[0].mean() - bank[1][:, 0].mean())


def varying_components(setting: Setting, full: bool) -> Trial:
    bank = pair_bank(setting.world, full)
    truth = _pair_components(bank, setting)
    n, m = setting.topics, setting.instances
    rest = m * truth["system_topic"] + truth["residual"]

    def trial(rng: np.random.Generator) -> Ends:
        a, b, difference = _two_systems(bank, setting, rng)
        names = ["a"] * len(a) + ["b"] * len(b)
        scores = scores_of(np.concatenate([a, b]), {"system": names})
        found = sr.instances(
            scores,
            a="a",
            b="b",
            n_samples=100,
            samples_per_instance=10,
            n_draws=1000,
            jobs=1,
            rng=seed_of(rng),
        )
        inflation = 1 + n * truth["instance"] / rest
        limits = found.variance_interval
        return {
            **{name: (*limits[name], truth[name]) for name in truth if name in limits},
            "inflation": (*found.inflation.interval, inflation),
            "hpd": (*found.hpd, difference),
        }

    return trial


def _pair_components(bank: np.ndarray, setting: Setting) -> dict[str, float]:
    """Return the mixed model's variances in the population."""
    if setting.more != NESTED:
        gap = bank[0] - bank[1][:, :1]
        by_topic, by_instance = gap.mean(axis=1), gap.mean(axis=0)
        rest = gap - by_topic[:, None] - by_instance + gap.mean()
        return {
            "instance": float(by_instance.var()),
            "system_topic": float(by_topic.var()),
            "residual": float((rest**2).mean()),
        }
    parts = nested_components_of(bank)
    # Two systems are all there are: their interaction with topics has one degree of freedom.
    return parts | {
        "system_topic": 2 * parts["system_topic"],
        "topic": parts["topic"] - parts["system_topic"],
    }


def _varying(interval: str, *fields: str, nominal: float = 0.95) -> Claim:
    return Claim(
        interval=interval,
        study="instances",
        truth="the systems' difference over all topics and instances",
        fields=fields,
        nominal=nominal,
    )


def _spread(interval: str, *fields: str) -> Claim:
    return Claim(
        interval=interval, study="instances", truth="over all topics and instances", fields=fields
    )


EXPERIMENTS: dict[str, Experiment] = {
    "varying systems": Experiment(
        prepare=varying_systems,
        settings=(
            *settings("10 25 50", instances=5),
            *settings("25", instances=3),
            *settings("25", instances=5, world="normal"),
            *settings("25", instances=5, more=NESTED),
        ),
        share=0.5,
        claims={
            "mixed": _varying("difference, mixed model", "instances interval"),
            "equivalence": _varying(
                "difference, for equivalence", "instances equivalence interval", nominal=0.9
            ),
            "two_way": _varying("difference, two-way bootstrap"),
        },
    ),
    "varying components": Experiment(
        prepare=varying_components,
        settings=(
            *settings("25", instances=5),
            *settings("25", instances=5, world="normal"),
            *settings("25", instances=5, more=NESTED),
        ),
        share=0.075,
        claims={
            "hpd": _varying("difference, shortest of the posterior", "instances posterior hpd"),
            "instance": _spread("variance of instances", "instances variance_interval instance"),
            "system_topic": _spread(
                "variance of systems by topics", "instances variance_interval system_topic"
            ),
            "residual": _spread("residual variance", "instances variance_interval residual"),
            "topic": _spread("variance of topics", "instances variance_interval topic"),
            "inflation": _spread("inflation", "instances inflation interval"),
        },
    ),
}

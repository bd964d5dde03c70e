"""Trials of what is said of graded answers: pairs with judges as a sample, components, their sums.

Normal effects of known variances, about those of five language models that graded summaries; some
worlds have none of a component, or gaps.
"""

from __future__ import annotations

import math
import re

import numpy as np
from scipy.special import stdtrit

import steadyrank as sr
from bench.coverage.claims import Claim, Ends, Experiment, Setting, Trial, seed_of
from steadyrank.data.facets import FacetCube, facet_cube
from steadyrank.data.scores import mean_of_present
from steadyrank.data.track.facets import COMPONENTS
from steadyrank.stats.facets import design
from steadyrank.stats.facets.components import graded_components
from steadyrank.stats.facets.pairs import random_judges
from steadyrank.stats.mixed.two_way import means_and_errors

WORLDS = {
    "graded": {},
    "graded, no system:judge": {"system:judge": 0.0},
    "graded, no system:topic": {"system:topic": 0.0, "answer": 0.0},
}

NAMES = ("system", "topic", "judge", "system:topic", "system:judge", "topic:judge", "residual")


def _cube(setting: Setting, rng: np.random.Generator, means: list[float] | None) -> FacetCube:
    """The scores of a trial."""
    judges, answers, gaps = map(int, re.findall(r"\d+", setting.more))
    scores = sr.simulated_facets(
        n_systems=setting.systems,
        n_topics=setting.topics,
        n_judges=judges,
        n_answers=answers,
        components=WORLDS[setting.world],
        means=means,
        missing=gaps / 100.0,
        rng=seed_of(rng),
    )
    return facet_cube(scores, "grade")


def pairs(setting: Setting, full: bool) -> Trial:
    def trial(rng: np.random.Generator) -> Ends:
        cells = _cube(setting, rng, [3.0, 3.0]).cells
        d = cells[0] - cells[1]
        test = random_judges(d)
        assert test is not None
        means = mean_of_present(d)
        middle, error = (float(each) for each in means_and_errors(means[~np.isnan(means)]))
        ends = {}
        for name, (centre, wide, df) in {
            "random": (test.estimate, test.standard_error, test.df),
            "topics": (middle, error, len(d) - 1.0),
        }.items():
            half = float(stdtrit(df, 0.975)) * wide
            ends[name] = (centre - half, centre + half, 0.0)
        return ends

    return trial


def components(setting: Setting, full: bool) -> Trial:
    truth = {name: own[0] for name, own in COMPONENTS.items()} | WORLDS[setting.world]

    def trial(rng: np.random.Generator) -> Ends:
        found = graded_components(_cube(setting, rng, None).values, rng=seed_of(rng))
        true = {
            name: sum(truth[part] for part in found.confounded.get(name, (name,)))
            for name in found.variance
        }
        ends = {name: (*found.intervals[name], true[name]) for name in NAMES}
        weights = found.difference_weights(found.sizes)
        error = math.sqrt(sum(weights.get(name, 0.0) * value for name, value in true.items()))
        ends["error"] = (*design.standard_error_interval(found, found.sizes), error)
        return ends

    return trial


def _settings(systems: int, *sizes: tuple[str, int, str]) -> tuple[Setting, ...]:
    return tuple(
        Setting(world=world, topics=topics, systems=systems, more=more)
        for world, topics, more in sizes
    )


PLAIN, NO_JUDGE, NO_TOPIC = WORLDS

EXPERIMENTS = {
    "graded pairs": Experiment(
        prepare=pairs,
        settings=_settings(
            2,
            *(
                (PLAIN, topics, f"{judges} judges, answers {answers}, 0 % missing")
                for judges in (2, 3, 5, 10)
                for topics, answers in ((20, 1), (100, 1), (200, 1))
            ),
            (PLAIN, 100, "5 judges, answers 5, 0 % missing"),
            (PLAIN, 100, "5 judges, answers 1, 5 % missing"),
            (PLAIN, 20, "3 judges, answers 3, 10 % missing"),
            (NO_JUDGE, 100, "3 judges, answers 1, 0 % missing"),
            (NO_JUDGE, 100, "5 judges, answers 1, 0 % missing"),
            (NO_TOPIC, 100, "5 judges, answers 1, 0 % missing"),
        ),
        claims={
            "random": Claim(
                interval="difference, judges random",
                study="compare",
                truth="two systems' difference over all topics, answers and judges",
            ),
            "topics": Claim(
                interval="difference, over topics alone",
                study="compare",
                truth="the same, which it does not promise: it is about these judges",
            ),
        },
    ),
    "graded components": Experiment(
        prepare=components,
        settings=_settings(
            8,
            *(
                (PLAIN, topics, f"{judges} judges, answers 1, 0 % missing")
                for judges, topics in ((3, 50), (5, 20), (5, 100), (10, 50))
            ),
            (PLAIN, 50, "5 judges, answers 3, 0 % missing"),
            (PLAIN, 50, "5 judges, answers 1, 5 % missing"),
            (NO_JUDGE, 50, "5 judges, answers 1, 0 % missing"),
        ),
        share=0.25,
        claims={
            name: Claim(
                interval=f"component {name}",
                study="stability",
                truth="the variance that the scores were made with",
                fields=(f"stability component_intervals {name}",),
            )
            for name in NAMES
        }
        | {
            "error": Claim(
                interval="standard error of a difference",
                study="stability",
                truth="that of the variances that the scores were made with",
                fields=(
                    "stability standard_error_interval",
                    "stability d_study standard_error_interval",
                ),
            )
        },
    ),
}

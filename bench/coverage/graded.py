"""Trials of graded answers: pairs with judges as a sample, components, their sums.

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
from steadyrank.data.levels import levels_of
from steadyrank.data.track.simulated import COMPONENTS
from steadyrank.stats.facets.components import graded_components
from steadyrank.stats.facets.pairs import judge_tests
from steadyrank.stats.pairs.decisions import adjust
from steadyrank.stats.pairs.result import all_pairs

WORLDS = {
    "graded": {},
    "graded, no system:judge": {"system:judge": 0.0},
    "graded, no system:topic": {"system:topic": 0.0, "answer": 0.0},
}

UNEQUAL = {"judged": 1.0, "judged, unequal": 2.0, "judged, fixed": 1.0}
"""Ratio of the standard deviations over judges of the two halves of the systems."""

NAMES = ("system", "topic", "judge", "system:topic", "system:judge", "topic:judge", "residual")


def _cube(setting: Setting, rng: np.random.Generator, means: list[float] | None) -> FacetCube:
    """Return the scores of a trial."""
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
        tests = judge_tests(_cube(setting, rng, [3.0, 3.0]).levels, all_pairs(2))
        middle, ends = float(tests.difference[0]), {}
        for name, wide, df in (
            ("random", tests.standard_error_own, tests.df_own),
            ("topics", tests.standard_error_fixed, tests.df_fixed),
        ):
            half = float(stdtrit(df[0], 0.975)) * float(wide[0])
            ends[name] = (middle - half, middle + half, 0.0)
        return ends

    return trial


LAYOUT = re.compile(r"(\d+) judges, (\d+) % missing, (\d+) % confounded")


def families(setting: Setting, full: bool) -> Trial:
    """Return one pair's interval among equal systems, and whether anything is claimed.

    Confounded topics are graded by one judge for each system, mostly the same one; in the worlds
    with unequal judges half of the systems have four times the others' variance over judges.
    """
    k, missing, confounded = map(int, LAYOUT.match(setting.more).groups())
    m, n = setting.systems, setting.topics
    spread = np.where(np.arange(m) < m // 2, UNEQUAL[setting.world], 1.0)
    is_fixed = setting.world.endswith("fixed")

    def trial(rng: np.random.Generator) -> Ends:
        parts = {
            name: math.sqrt(COMPONENTS[name][0]) * rng.normal(size=size) * np.asarray(factor)
            for name, size, factor in (
                ("topic", (1, n, 1), 1.0),
                ("judge", (1, 1, k), 1.0),
                ("system:topic", (m, n, 1), 1.0),
                ("system:judge", (m, 1, k), spread[:, None, None]),
                ("topic:judge", (1, n, k), 1.0),
                ("system:topic:judge", (m, n, k), 1.5),
            )
        }
        if is_fixed:  # equally good by these judges
            parts["system:judge"] -= parts["system:judge"].mean(axis=2, keepdims=True)
        cells = np.asarray(sum(parts.values()))
        there = rng.random(cells.shape) >= missing / 100.0
        own = np.arange(m)[:, None] % k
        grader = np.where(rng.random((m, n)) < 0.8, own, rng.integers(0, k, (m, n)))
        one = rng.random(n) < confounded / 100.0
        there &= ~one[None, :, None] | (np.arange(k) == grader[:, :, None])
        levels = levels_of(np.where(there, cells, np.nan))
        tests = judge_tests(levels, all_pairs(m), is_fixed=is_fixed)
        adjusted = np.fmax(adjust(tests.pvalue, "holm"), tests.pvalue_own)
        half = stdtrit(tests.df, 0.975) * tests.standard_error
        some = int(rng.integers(len(half)))
        middle, least = float(tests.difference[some]), float(np.nanmin(adjusted))
        return {
            "pair": (middle - half[some], middle + half[some], 0.0),
            "family": (0.0, 1.0, 0.5 if least > 0.05 else 2.0),
        }

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
        ends["error"] = (*np.sqrt(found.interval_of(found.difference_weights(found.sizes))), error)
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
    "judged families": Experiment(
        prepare=families,
        settings=_settings(
            6,
            *(
                (world, 100, f"{judges} judges, {missing} % missing, {confounded} % confounded")
                for world in UNEQUAL
                for judges in ((2, 3, 5) if world.endswith("fixed") else (3, 5, 10))
                for missing, confounded in ((0, 0), (30, 0), (60, 0), (0, 50), (0, 90), (30, 60))
            ),
        ),
        share=0.3,
        claims={
            "pair": Claim(
                interval="difference, judges moderated over systems",
                study="compare",
                truth="two systems' difference over all topics and judges",
                fields=("compare pairs interval",),
            ),
            "family": Claim(
                interval="all differences at once, judges moderated over systems",
                study="compare",
                truth="all systems' differences: what is not covered is any false claim",
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

"""Populations whose truth is known: scores of systems on topics, with and without instances.

A bank holds the scores of many systems on many topics of a simulated track, or drawn from normal
or exponential effects of about the same variances. It *is* the population: trials draw from it with
replacement, so the truth is its own mean or variance, without error, whatever its size.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

import steadyrank as sr
from steadyrank.data.track.simulated import (
    HIGHLY_RELEVANT,
    Topic,
    TrackTruth,
    draw_grades,
    draw_latents,
    threshold,
)

DEPTH = 50
TEAM_RUNS = 3
"""Runs per team in the population "teams"; 1 elsewhere."""

FLAT = {"system": 0.004, "topic": 0.029, "system_topic": 0.011}
DEEP = FLAT | {"instance": 0.0001, "residual": 0.0015}
"""Variances of the normal and exponential populations: about those of the simulated track."""

AXES = {"system": "s", "topic": "t", "instance": "i", "system_topic": "st"}
AXES |= {"system_instance": "si", "topic_instance": "ti", "residual": "sti"}


@cache
def flat_bank(world: str, full: bool) -> np.ndarray:
    """Return [measure, system, topic]: AP and P@10 of a track, or one artificial measure."""
    n_systems, n_topics = (240, 1000) if full else (60, 200)
    if world in ("normal", "exponential"):
        return _made_up(FLAT, world, (n_systems, n_topics, 1))[None, :, :, 0]
    runs_per_team = TEAM_RUNS if world == "teams" else 1
    return _scored(n_systems // runs_per_team, runs_per_team, n_topics, 1)


@cache
def measure_bank(world: str, full: bool) -> np.ndarray:
    """Return [measure, system, topic] of four measures: a track's, or artificial ones.

    Measures that are alike see the same scores, each with an independent error, of one variance:
    no pair of them agrees more than another.
    """
    n_systems, n_topics = (240, 1000) if full else (60, 200)
    if world == "alike":
        rng = np.random.default_rng(21)
        quality = flat_bank("normal", full)[0]
        return quality + np.sqrt(FLAT["system_topic"]) * rng.standard_normal((4, *quality.shape))
    return _scored(n_systems, 1, n_topics, 1, ("AP", "nDCG", "nDCG@10", "P@10"))


@cache
def deep_bank(world: str, full: bool) -> np.ndarray:
    """Return [system, topic, instance] with nested instances."""
    sizes = (60, 300, 12) if full else (20, 80, 6)
    if world in ("normal", "exponential"):
        return _made_up({**DEEP, "nested": DEEP["instance"]}, world, sizes)
    return _instances_last(_scored(sizes[0], 1, sizes[1], sizes[2])[0], sizes)


@cache
def pair_bank(world: str, full: bool) -> np.ndarray:
    """Return [system, topic, instance] of two systems with many instances."""
    sizes = (2, 600, 100) if full else (2, 120, 40)
    if world in ("normal", "exponential"):
        return _made_up({**DEEP, "nested": DEEP["instance"]}, world, sizes)
    return _instances_last(_scored(2, 1, sizes[1], sizes[2])[0], sizes)


def _scored(
    n_teams: int,
    runs_per_team: int,
    n_topics: int,
    instances: int,
    measures: Sequence[str] = ("AP", "P@10"),
) -> np.ndarray:
    """Return [measure, run, topic] of a simulated track by complete judgments."""
    track = sr.simulated_track(
        n_teams=n_teams,
        runs_per_team=runs_per_team,
        n_topics=n_topics,
        n_instances=instances,
        depth=DEPTH,
        pool_depth=DEPTH,
        rng=20,
    )
    return sr.evaluate(track.runs, track.complete, measures).values


def _instances_last(scores: np.ndarray, sizes: tuple[int, int, int]) -> np.ndarray:
    n_systems, n_topics, n_instances = sizes
    return scores.reshape(n_systems, n_instances, n_topics).transpose(0, 2, 1)


def _made_up(variances: dict[str, float], world: str, sizes: tuple[int, int, int]) -> np.ndarray:
    """Return the sum of independent effects with mean 0; "nested" adds instances' effects."""
    rng = np.random.default_rng(20)
    axes = AXES | ({"instance": "si"} if "nested" in variances else {})
    total = np.full(sizes, 0.25)
    for name, indices in axes.items():
        if name in variances:
            shape = [
                size if axis in indices else 1 for axis, size in zip("sti", sizes, strict=True)
            ]
            effect = (
                rng.standard_normal(shape)
                if world == "normal"
                else rng.standard_exponential(shape) - 1
            )
            total = total + np.sqrt(variances[name]) * effect
    return total


def swept(bank: np.ndarray, indices: str) -> np.ndarray:
    """Return the effects of some axes of a bank, centred, with other axes averaged."""
    effects = bank
    for axis, index in enumerate("sti"[: bank.ndim]):
        mean = effects.mean(axis=axis, keepdims=True)
        effects = effects - mean if index in indices else mean
    return effects


def components_of(bank: np.ndarray) -> dict[str, float]:
    """Return the variance of each kind of effect of a crossed population."""
    return {
        name: float((swept(bank, indices) ** 2).mean())
        for name, indices in AXES.items()
        if all(index in "sti"[: bank.ndim] for index in indices)
    }


def nested_components_of(bank: np.ndarray) -> dict[str, float]:
    """Return the variances of effects of a population with nested instances."""
    all_of = components_of(bank)
    return {name: all_of[name] for name in ("system", "topic", "system_topic")} | {
        "instance": all_of["instance"] + all_of["system_instance"],
        "residual": all_of["topic_instance"] + all_of["residual"],
    }


def fresh_collection(truth: TrackTruth, rng: np.random.Generator) -> np.ndarray:
    """Return AP [run, topic] of these systems and topics in other documents."""
    return np.stack([average_precision(*of) for of in fresh_rankings(truth, rng)], axis=1)


def fresh_rankings(
    truth: TrackTruth, rng: np.random.Generator
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Return per topic the grades [run, rank] in other documents, and those of all documents.

    As many relevant documents as a Poisson law about the topic's own number gives, at least one,
    and new noise for all; how well each run does on a topic stays as it is.
    """
    design = truth.design
    for t, n_relevant in enumerate(truth.n_relevant.tolist()):
        drawn = int(np.clip(rng.poisson(n_relevant), 1, design.n_candidates // 8))
        high = int(rng.binomial(drawn, HIGHLY_RELEVANT))
        topic = Topic(difficulty=0.0, n_relevant=drawn, n_highly_relevant=high)
        grades = draw_grades(topic, design.n_candidates, rng)
        # Signals count from a threshold that goes with the number; it is the topic's that holds.
        moved = threshold(n_relevant, design.n_candidates) - threshold(drawn, design.n_candidates)
        signals = truth.signals[:, t].reshape(design.shape) + moved
        latents = draw_latents(design, grades, signals, rng).reshape(design.n_runs, -1)
        yield grades[np.argsort(-latents, axis=1)[:, : design.depth]], grades


def average_precision(ranked: np.ndarray, grades: np.ndarray) -> np.ndarray:
    """Return AP of rankings with grades [run, rank], given the grades of all documents."""
    hits = ranked > 0
    precision = np.cumsum(hits, axis=1) / np.arange(1, ranked.shape[1] + 1)
    return np.asarray((precision * hits).sum(axis=1) / (grades > 0).sum())


def ndcg_at_10(ranked: np.ndarray, grades: np.ndarray) -> np.ndarray:
    """Return nDCG@10 of rankings with grades [run, rank]; gains are grades."""
    discount = 1.0 / np.log2(np.arange(2, 12))
    return np.asarray(ranked[:, :10] @ discount / (np.sort(grades)[:-11:-1] @ discount))


def scores_of(
    matrix: np.ndarray, run_info: dict[str, list[str]] | None = None, measure: str = "AP"
) -> sr.Scores:
    """Return scores [run, topic], or a cube of several measures, as `Scores`."""
    cube = matrix if matrix.ndim == 3 else matrix[None]
    scores = sr.Scores(
        measures=(measure,) if len(cube) == 1 else ("AP", "P@10"),
        runs=[f"run{r}" for r in range(cube.shape[1])],
        topics=[f"t{t}" for t in range(cube.shape[2])],
        values=np.ascontiguousarray(cube),
    )
    return replace(scores, run_info=run_info) if run_info else scores


def quiet() -> warnings.catch_warnings:  # type: ignore[type-arg]
    """Ignore the studies' warnings about small data."""
    return warnings.catch_warnings(action="ignore", category=sr.SteadyrankWarning)

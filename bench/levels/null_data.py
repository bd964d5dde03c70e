"""Scores without differences, in which a test should find nothing.

For the measured levels of tests (`trials`). Normal scores; average precision and P@5 of a
simulated track whose systems are equally good, dealt to runs at random topic by topic, so that runs
are exchangeable; and worlds in which only means are equal, not shapes. All draw [trial, …, topic].
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

import numpy as np

from steadyrank.data.scores import Scores
from steadyrank.data.track.simulated import TrackModel, simulated_track
from steadyrank.measures.evaluate import evaluate

Stream = np.random.Generator

N_BANK_TOPICS, N_BANK_RUNS, N_BANK_INSTANCES = 1000, 10, 60
NOISE = 0.1
"""Standard deviation of normal scores within a topic."""

INSTANCE, SYSTEM_TOPIC, RESIDUAL = 0.02, 0.08, 0.06
"""Standard deviations of the differences of systems that vary; those of docs/levels.md."""

MARGIN = 0.2
"""Margin of equivalence tests: many standard errors, so that one limit matters."""


@functools.cache
def _bank(equal: bool) -> Scores:
    """Return scores of a simulated track of equal or unequal systems."""
    model = TrackModel(team=0.0, system=0.0) if equal else TrackModel()
    track = simulated_track(
        n_teams=N_BANK_RUNS,
        runs_per_team=1,
        n_topics=N_BANK_TOPICS,
        depth=100,
        pool_depth=100,
        model=model,
        rng=1,
    )
    return evaluate(track.runs, track.complete, ["AP", "P@5"])


@functools.cache
def _instance_bank() -> np.ndarray:
    """Return AP [system, instance, topic] of two equal systems that vary."""
    track = simulated_track(
        n_teams=2,
        runs_per_team=1,
        n_instances=N_BANK_INSTANCES,
        n_topics=300,
        depth=100,
        pool_depth=100,
        model=TrackModel(team=0.0, system=0.0, instance=0.02),
        rng=1,
    )
    return evaluate(track.runs, track.complete, "AP").matrix().reshape(2, N_BANK_INSTANCES, -1)


def normal(stream: Stream, n_trials: int, n_runs: int, n_topics: int) -> np.ndarray:
    topics = stream.normal(0.4, 0.2, (n_trials, 1, n_topics))
    return topics + stream.normal(0.0, NOISE, (n_trials, n_runs, n_topics))


def dealt(stream: Stream, n_trials: int, n_runs: int, n_topics: int, *, measure: str) -> np.ndarray:
    """Return topics of the bank with scores assigned to runs at random."""
    bank = _bank(True).matrix(measure)
    topics = stream.integers(0, bank.shape[1], (n_trials, 1, n_topics))
    runs = stream.random((n_trials, len(bank), n_topics)).argsort(axis=1)[:, :n_runs]
    return bank[runs, topics]


def centred(stream: Stream, n_trials: int, n_runs: int, n_topics: int) -> np.ndarray:
    """Return runs of unequal systems with equal means over the bank and unequal shapes."""
    bank = _bank(False).matrix("AP")
    bank = bank - bank.mean(axis=1, keepdims=True)
    runs = stream.random((n_trials, len(bank))).argsort(axis=1)[:, :n_runs, None]
    return bank[runs, stream.integers(0, bank.shape[1], (n_trials, 1, n_topics))]


def exponential(stream: Stream, n_trials: int, n_runs: int, n_topics: int) -> np.ndarray:
    """Return equal runs, of which the first has an exponential difference with mean 0."""
    scores = np.zeros((n_trials, n_runs, n_topics))
    scores[:, 0] = NOISE * (stream.standard_exponential((n_trials, n_topics)) - 1.0)
    return scores


def unequal_spread(stream: Stream, n_trials: int, n_runs: int, n_topics: int) -> np.ndarray:
    """Return normal scores; the first run has four times the spread of the others."""
    scores = normal(stream, n_trials, n_runs, n_topics)
    scores[:, 0] += stream.normal(0.0, NOISE * np.sqrt(15.0), (n_trials, n_topics))
    return scores


RUNS: Mapping[str, Callable[[Stream, int, int, int], np.ndarray]] = {
    "normal": normal,
    "AP": functools.partial(dealt, measure="AP"),
    "P@5": functools.partial(dealt, measure="P@5"),
    "AP, equal means": centred,
    "exponential": exponential,
    "unequal spread": unequal_spread,
}
"""Return runs with equal means [trial, run, topic]; three kinds are exchangeable."""


def apart(stream: Stream, n_trials: int, n_topics: int, *, kind: str) -> np.ndarray:
    """Return two runs with equal means on different topics, as many for each."""
    scores = RUNS[kind](stream, n_trials, n_runs=2, n_topics=2 * n_topics).copy()
    scores[:, 0, n_topics:] = scores[:, 1, :n_topics] = np.nan
    return scores


EXCHANGEABLE = ("normal", "AP", "P@5")


CLUSTER_SIZES = (1, 3, 11)
"""Sizes of the clusters, in turn."""


def clusters_of(n_topics: int) -> np.ndarray:
    """Return the cluster of each topic, small and large ones in turn."""
    sizes = np.resize(CLUSTER_SIZES, n_topics)
    return np.repeat(np.arange(n_topics), sizes)[:n_topics]


def differences(
    stream: Stream, n_trials: int, n_topics: int, *, kind: str, clustered: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return differences [trial, topic] of two runs with mean 0, and the topics' clusters.

    Of clustered ones half the variance is the cluster's.
    """
    clusters = clusters_of(n_topics) if clustered else np.arange(n_topics)
    own = noise(stream, (n_trials, n_topics), kind)
    if clustered:
        own = own + noise(stream, (n_trials, n_topics), kind)[:, clusters]
    return own, np.broadcast_to(clusters, own.shape)


def noise(stream: Stream, size: tuple[int, ...], kind: str) -> np.ndarray:
    """Return differences: normal, AP of two equal systems, or with a long tail."""
    if kind == "normal":
        return stream.normal(0.0, NOISE, size)
    if kind == "AP":
        first, second = dealt(stream, size[0], 2, size[1], measure="AP").transpose(1, 0, 2)
        return first - second
    tail = NOISE * (stream.standard_exponential(size) - 1.0)
    return -tail if kind == "losses" else tail


def some_better(stream: Stream, n_trials: int, n_runs: int, n_topics: int) -> np.ndarray:
    """Return equal runs with two better ones at the end."""
    scores = normal(stream, n_trials, n_runs, n_topics)
    scores[:, -2:] += NOISE * np.array([[1.0], [2.0]])
    return scores


def grid(
    stream: Stream, n_trials: int, shape: tuple[int, ...], n_topics: int, *, kind: str
) -> np.ndarray:
    """Return scores [trial, *shape, topic] of a grid whose components have no mean effect.

    With topics that "interact", each level of each component suits some topics better.
    """
    if kind != "interacting":
        runs = RUNS[kind](stream, n_trials, int(np.prod(shape)), n_topics)
        return runs.reshape(n_trials, *shape, n_topics)
    scores = normal(stream, n_trials, int(np.prod(shape)), n_topics)
    scores = scores.reshape(n_trials, *shape, n_topics)
    for axis, size in enumerate(shape):
        by_level = [n_trials, *([1] * len(shape)), n_topics]
        by_level[axis + 1] = size
        scores += stream.normal(0.0, NOISE, by_level)
    return scores


def judged(
    stream: Stream, n_trials: int, n_runs: int, n_topics: int, *, kind: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return scores of equal runs by people and a judge, and by the judge on more topics.

    The judge follows people, with an error that grows with the score.
    """
    human = RUNS[kind](stream, n_trials, n_runs, 5 * n_topics)
    error = stream.normal(0.0, NOISE, human.shape)
    judge = 0.1 + 0.8 * human + error * (0.5 + np.abs(human))
    return human[..., :n_topics], judge[..., :n_topics], judge[..., n_topics:]


def measures(stream: Stream, n_trials: int, n_topics: int, *, related: bool) -> np.ndarray:
    """Return [trial, measure, system, topic]: 20 systems by three exchangeable measures.

    Related measures see the same quality of a system on a topic, each with an independent error:
    no pair agrees more than another. Unrelated ones agree by chance alone, on any number of topics
    and systems.
    """
    shape = (n_trials, 3, 20, n_topics)
    scores = stream.normal(0.0, 1.0, shape)
    if related:
        by_system = stream.normal(0.0, 1.0, (n_trials, 1, 20, 1))
        scores += by_system + stream.normal(0.0, 1.0, (n_trials, 1, 20, n_topics))
    return scores


def instances(
    stream: Stream, n_trials: int, n_instances: int, n_topics: int, *, kind: str, nested: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return two systems with equal means [trial, instance, topic]; one run unless nested."""
    if kind == "AP":
        return _drawn_instances(stream, n_trials, n_instances, n_topics, nested)
    first = _effects(stream, (n_trials, n_instances, n_topics), kind, nested)
    if nested:
        return first, _effects(stream, first.shape, kind, nested)
    return first, np.zeros((n_trials, 1, n_topics))


def _effects(stream: Stream, size: tuple[int, int, int], kind: str, nested: bool) -> np.ndarray:
    draw = {
        "normal": stream.standard_normal,
        "exponential": lambda shape: stream.standard_exponential(shape) - 1.0,
    }[kind]
    by_topic = SYSTEM_TOPIC / (np.sqrt(2.0) if nested else 1.0)
    n_trials, n_instances, n_topics = size
    scores = INSTANCE * draw((n_trials, n_instances, 1)) + RESIDUAL * draw(size)
    return scores + by_topic * draw((n_trials, 1, n_topics))


def _drawn_instances(
    stream: Stream, n_trials: int, n_instances: int, n_topics: int, nested: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the bank's two systems, exchanged at random on each topic."""
    bank = _instance_bank()
    topics = stream.integers(0, bank.shape[-1], (n_trials, 1, n_topics))
    swap = stream.integers(0, 2, (n_trials, 1, n_topics))
    drawn = stream.integers(0, bank.shape[1], (2, n_trials, n_instances, 1))
    first = bank[swap, drawn[0], topics]
    if nested:
        return first, bank[1 - swap, drawn[1], topics]
    return first, bank.mean(axis=1)[1 - swap, topics]

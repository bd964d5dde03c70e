"""Scores in which nothing differs, from a known truth: what a test must not find anything in.

For the measured levels of tests (`trials`). Normal scores; average precision and P@5 of a
simulated track whose systems are equally good, dealt to runs at random topic by topic, so that runs
are exchangeable; and worlds in which only means are equal, not shapes. All draw [trial, …, topic].
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

import numpy as np

from steadyrank.data.scores import Scores
from steadyrank.data.track.model import TrackModel
from steadyrank.data.track.simulated import simulated_track
from steadyrank.measures.evaluate import evaluate

Stream = np.random.Generator

N_BANK_TOPICS, N_BANK_RUNS, N_BANK_INSTANCES = 1000, 10, 60
NOISE = 0.1
"""Standard deviation of normal scores about their topic."""

INSTANCE, SYSTEM_TOPIC, RESIDUAL = 0.02, 0.08, 0.06
"""Standard deviations of the differences of systems that vary; those of docs/levels.md."""

MARGIN = 0.2
"""Of equivalence tests: many standard errors, so that only the nearer limit matters."""


@functools.cache
def _bank(equal: bool) -> Scores:
    """Scores of a simulated track, of systems that are equally good or are not."""
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
    """Average precision [system, instance, topic] of two equally good systems that vary."""
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
    """Topics of the bank; on each of them every run takes the scores of a run drawn at random."""
    bank = _bank(True).matrix(measure)
    topics = stream.integers(0, bank.shape[1], (n_trials, 1, n_topics))
    runs = stream.random((n_trials, len(bank), n_topics)).argsort(axis=1)[:, :n_runs]
    return bank[runs, topics]


def centred(stream: Stream, n_trials: int, n_runs: int, n_topics: int) -> np.ndarray:
    """Runs of unequal systems whose means over the whole bank were made equal, shapes not."""
    bank = _bank(False).matrix("AP")
    bank = bank - bank.mean(axis=1, keepdims=True)
    runs = stream.random((n_trials, len(bank))).argsort(axis=1)[:, :n_runs, None]
    return bank[runs, stream.integers(0, bank.shape[1], (n_trials, 1, n_topics))]


def exponential(stream: Stream, n_trials: int, n_runs: int, n_topics: int) -> np.ndarray:
    """The first run differs from the others by an exponential about its mean; these are alike."""
    scores = np.zeros((n_trials, n_runs, n_topics))
    scores[:, 0] = NOISE * (stream.standard_exponential((n_trials, n_topics)) - 1.0)
    return scores


def unequal_spread(stream: Stream, n_trials: int, n_runs: int, n_topics: int) -> np.ndarray:
    """Normal scores; the first run's are four times as wide about their topic as the others'."""
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
"""Runs of equal mean [trial, run, topic]; in the first three kinds runs are exchangeable."""


def apart(stream: Stream, n_trials: int, n_topics: int, *, kind: str) -> np.ndarray:
    """Two runs of equal mean that share no topic, each with as many of its own."""
    scores = RUNS[kind](stream, n_trials, n_runs=2, n_topics=2 * n_topics).copy()
    scores[:, 0, n_topics:] = scores[:, 1, :n_topics] = np.nan
    return scores


EXCHANGEABLE = ("normal", "AP", "P@5")


CLUSTER_SIZES = (1, 3, 11)
"""Topics of a cluster, in turn."""


def clusters_of(n_topics: int) -> np.ndarray:
    """The cluster of each topic, small and large ones in turn."""
    sizes = np.resize(CLUSTER_SIZES, n_topics)
    return np.repeat(np.arange(n_topics), sizes)[:n_topics]


def differences(
    stream: Stream, n_trials: int, n_topics: int, *, kind: str, clustered: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Differences of two runs with a mean of 0, [trial, topic], and the clusters of the topics.

    Of clustered ones half the variance is the cluster's.
    """
    clusters = clusters_of(n_topics) if clustered else np.arange(n_topics)
    own = noise(stream, (n_trials, n_topics), kind)
    if clustered:
        own = own + noise(stream, (n_trials, n_topics), kind)[:, clusters]
    return own, np.broadcast_to(clusters, own.shape)


def noise(stream: Stream, size: tuple[int, ...], kind: str) -> np.ndarray:
    """Normal, AP of two equally good systems, or with a long tail on one side."""
    if kind == "normal":
        return stream.normal(0.0, NOISE, size)
    if kind == "AP":
        first, second = dealt(stream, size[0], 2, size[1], measure="AP").transpose(1, 0, 2)
        return first - second
    tail = NOISE * (stream.standard_exponential(size) - 1.0)
    return -tail if kind == "losses" else tail


def some_better(stream: Stream, n_trials: int, n_runs: int, n_topics: int) -> np.ndarray:
    """The last two of the runs are better than the others, which are alike."""
    scores = normal(stream, n_trials, n_runs, n_topics)
    scores[:, -2:] += NOISE * np.array([[1.0], [2.0]])
    return scores


def grid(
    stream: Stream, n_trials: int, shape: tuple[int, ...], n_topics: int, *, kind: str
) -> np.ndarray:
    """Scores of a grid of components [trial, *shape, topic], of which none matters on average.

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
    """Scores of equal runs by people and by a judge on the same topics, and on four times as many.

    The judge follows people, with an error of its own that grows with the score.
    """
    human = RUNS[kind](stream, n_trials, n_runs, 5 * n_topics)
    error = stream.normal(0.0, NOISE, human.shape)
    judge = 0.1 + 0.8 * human + error * (0.5 + np.abs(human))
    return human[..., :n_topics], judge[..., :n_topics], judge[..., n_topics:]


def measures(stream: Stream, n_trials: int, n_topics: int, *, related: bool) -> np.ndarray:
    """[trial, measure, system, topic]: 20 systems by three measures, none of them special.

    Related measures see the same quality of a system on a topic, each with an error of its own:
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
    """Two systems of equal mean, [trial, instance, topic]; the second has one run unless nested."""
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
    """Which of the bank's two systems is the first is tossed anew for every topic."""
    bank = _instance_bank()
    topics = stream.integers(0, bank.shape[-1], (n_trials, 1, n_topics))
    swap = stream.integers(0, 2, (n_trials, 1, n_topics))
    drawn = stream.integers(0, bank.shape[1], (2, n_trials, n_instances, 1))
    first = bank[swap, drawn[0], topics]
    if nested:
        return first, bank[1 - swap, drawn[1], topics]
    return first, bank.mean(axis=1)[1 - swap, topics]

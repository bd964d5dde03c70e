"""Correlations among measures on samples of topics and systems (Ferro 2018, section 2).

For `studies.agree.study`. The h-th draw of topics belongs to (topic size, h), the h-th draw of
systems to (system size, h), both without replacement and the same for all pairs of measures.
Neither depends on which other sizes or how many samples are asked for. How far the results would
move with other topics and systems is seen on data sets resampled from these with replacement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from steadyrank.compute.executors import Machine, map_shared
from steadyrank.compute.random import block_stream, blocks_of
from steadyrank.errors import InputError, check_choice, warn
from steadyrank.stats.pairs.result import CONSTANT
from steadyrank.stats.ranks.correlation import AP_TIES
from steadyrank.stats.ranks.kernels import pair_correlations

TOPIC_SIZES = (10, 20, 30, 40, 50, 60, 70)
SYSTEM_SIZES = (10, 20, 50, 75, 100, 125, 150, 200, 250, 500)
"""The paper's sizes."""

SAMPLES = 25
"""Samples of one topic size that a task takes: their means are one product of matrices."""


DRAWS = 4
"""Samples of every size from each resampled data set. Two would show how far samples of one data
set differ; two pairs also show how far their variances do."""

RESAMPLES = 100
"""Resampled data sets unless more are asked for: with `DRAWS` samples of each they cost as much as
400 samples, some three seconds for nine measures of 4,284 systems."""

Task = tuple[int, int, int]
"""Position of a topic size, first sample, and the one after the last."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasureSamples:
    """Correlations of all pairs of measures, [pair, topic size, system size, sample]."""

    tau: np.ndarray
    tau_ap_first: np.ndarray
    """The pair's first measure is the estimate, its second the reference."""
    tau_ap_second: np.ndarray
    resampled: MeasureSamples | None = None
    """The same on resampled topics and systems, [pair, topic size, system size, resample, draw]."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Study:
    """All that a task needs but its number."""

    values: np.ndarray
    """[measure, system, topic], complete."""
    topic_draws: tuple[np.ndarray, ...]
    """For each size [sample, topic]."""
    system_draws: tuple[np.ndarray, ...]
    ties: str
    resolution: np.ndarray
    """[measure]: mean scores that differ by less tie."""


def resolutions(values: np.ndarray) -> np.ndarray:
    """1e-12 of each measure's largest absolute score, [measure]; 1 where there is none."""
    largest = np.abs(values).max(axis=(1, 2), initial=0.0)
    return np.where(largest > 0.0, CONSTANT * largest, 1.0)


def draws(kind: str, n: int, size: int, n_samples: int, seed: int) -> np.ndarray:
    """[sample, size]: which of n topics or systems each sample holds, in ascending order.

    >>> draws("topics", 5, 2, 3, 0).shape, draws("topics", 5, 5, 1, 0).tolist()
    ((3, 2), [[0, 1, 2, 3, 4]])
    """
    streams = (block_stream(seed, f"agree, {size} {kind}", h) for h in range(n_samples))
    return np.sort([stream.permutation(n)[:size] for stream in streams], axis=1)


def resampled_draws(kind: str, n: int, size: int, n_resamples: int, seed: int) -> np.ndarray:
    """[resample × draw, size]: what each sample of a resampled data set holds.

    Resample b draws as many topics or systems as there are, with replacement, the same for all
    sizes. Its samples are drawn without replacement; what it has twice may be there twice.

    >>> resampled_draws("topics", 5, 2, 3, 0).shape
    (12, 2)
    """
    streams = (block_stream(seed, f"agree, resampled {kind}", b) for b in range(n_resamples))
    members = np.array([stream.integers(n, size=n) for stream in streams])
    places = draws(f"places of resampled {kind}", n, size, n_resamples * DRAWS, seed)
    return np.sort(np.take_along_axis(np.repeat(members, DRAWS, axis=0), places, axis=1), axis=1)


def sample_correlations(
    values: np.ndarray,
    *,
    topic_sizes: Sequence[int],
    system_sizes: Sequence[int],
    n_samples: int,
    n_resamples: int = 0,
    ties: str = "a",
    seed: int = 0,
    **machine: Unpack[Machine],
) -> MeasureSamples:
    """Draw topics and systems, and correlate the rankings by mean score of all pairs of measures.

    `values` is [measure, system, topic] without missing scores. Means that agree to 1e-12 of the
    measure's largest score tie. The result does not depend on who computes which part.

    `n_resamples` data sets of as many topics and systems are drawn with replacement besides, and
    `DRAWS` samples of every size from each. A system that is there twice ties with itself, which
    tau-b leaves out of account.
    """
    check_choice("treatment of ties", ties, AP_TIES)
    n_measures, n_systems, n_topics = values.shape

    def all_draws(kind: str, n: int, sizes: Sequence[int]) -> tuple[np.ndarray, ...]:
        drawn = [draws(kind, n, size, n_samples, seed) for size in sizes]
        if n_resamples:
            more = [resampled_draws(kind, n, size, n_resamples, seed) for size in sizes]
            drawn = [np.concatenate(both) for both in zip(drawn, more, strict=True)]
        return tuple(drawn)

    study = _Study(
        values=values,
        topic_draws=all_draws("topics", n_topics, topic_sizes),
        system_draws=all_draws("systems", n_systems, system_sizes),
        ties=ties,
        resolution=resolutions(values),
    )
    n_drawn = n_samples + DRAWS * n_resamples
    # Blocks of samples are cut as they would be without resamples.
    parts = [(first, stop) for _, first, stop in blocks_of(n_samples, SAMPLES)]
    parts += [
        (n_samples + first, n_samples + stop)
        for _, first, stop in blocks_of(DRAWS * n_resamples, SAMPLES)
    ]
    tasks = [(t, first, stop) for t in range(len(topic_sizes)) for first, stop in parts]
    blocks = map_shared(_one, study, tasks, **machine)
    n_pairs = n_measures * (n_measures - 1) // 2
    gathered = np.empty((3, n_pairs, len(topic_sizes), len(system_sizes), n_drawn))
    for (t, first, stop), block in zip(tasks, blocks, strict=True):
        gathered[:, :, t, :, first:stop] = block.transpose(0, 3, 1, 2)
    own, rest = np.split(gathered, [n_samples], axis=-1)
    more = rest.reshape(*rest.shape[:-1], n_resamples, DRAWS)
    return _named(own, _named(more) if n_resamples else None)


def _named(arrays: np.ndarray, resampled: MeasureSamples | None = None) -> MeasureSamples:
    tau, first, second = np.ascontiguousarray(arrays)
    return MeasureSamples(tau=tau, tau_ap_first=first, tau_ap_second=second, resampled=resampled)


def _one(study: _Study, task: Task) -> np.ndarray:
    """tau and tau_AP in both directions, [3, system size, sample, pair], of some samples."""
    size, first, stop = task
    n_measures = len(study.values)
    scores = _negated_totals(study, study.topic_draws[size][first:stop])
    n_pairs = n_measures * (n_measures - 1) // 2
    taus = np.empty((3, len(study.system_draws), stop - first, n_pairs))
    for s, drawn in enumerate(study.system_draws):
        subset = np.empty((stop - first, n_measures, drawn.shape[1]))
        for matrix, systems, out in zip(scores, drawn[first:stop], subset, strict=True):
            # Without "clip" NumPy takes into a buffer first.
            matrix.take(systems, axis=1, out=out, mode="clip")
        pair_correlations(subset, subset.argsort(axis=-1), int(study.ties == "a"), *taus[:, s])
    return taus


def _negated_totals(study: _Study, drawn: np.ndarray) -> np.ndarray:
    """Minus the sums over the topics drawn, [sample, measure, system], so that they sort from
    the best down; in steps too fine to matter."""
    n_measures, n_systems, n_topics = study.values.shape
    weights = np.zeros((len(drawn), n_topics))
    # Of resampled topics, one that was drawn twice counts twice.
    np.subtract.at(weights, (np.arange(len(drawn))[:, None], drawn), 1.0)
    totals = weights @ study.values.reshape(-1, n_topics).T
    scaled = totals.reshape(-1, n_measures, n_systems)
    # Equal means must tie although their sums were rounded differently.
    scaled *= 1.0 / (study.resolution[:, None] * drawn.shape[1])
    return np.asarray(np.round(scaled, out=scaled))


def fitting_sizes(
    what: str, sizes: Sequence[int] | None, default: tuple[int, ...], n: int, least: int
) -> tuple[int, ...]:
    """The sizes asked for, checked; or those of the paper that leave something to draw from."""
    if sizes is not None:
        return _check_sizes(what, list(sizes), n, least)
    fitting = tuple(size for size in default if size < n) or (n,)
    if fitting != default:
        usual, few = (", ".join(map(str, some)) for some in (default, fitting))
        warn(
            f"there are {n} {what}s: of the usual {what} sizes {usual} only {few} fit"
            if fitting != (n,)
            else f"there are only {n} {what}s: every sample takes them all"
        )
    return fitting


def _check_sizes(what: str, sizes: Sequence[int], n: int, least: int) -> tuple[int, ...]:
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < least:
            raise InputError(
                f"{what} sizes must be whole numbers of at least {least}, got {size!r}"
            )
        if size > n:
            raise InputError(
                f"{what} size {size} exceeds the {n} {what}s of the data: choose sizes up to {n}"
            )
    if not sizes or len(set(sizes)) < len(sizes):
        given = ", ".join(map(str, sizes)) or "none"
        raise InputError(f"give at least one {what} size, each once, got {given}")
    return tuple(int(size) for size in sizes)

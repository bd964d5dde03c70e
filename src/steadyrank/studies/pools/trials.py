"""Teams and topics left out by chance, and the variances that the rest would have given.

One trial is one set of teams left out and one order of the topics; nested numbers of pilot topics
are the first so many topics of that order (Sakai & Shang, EVIA 2016, section 5).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from scipy import special

from steadyrank.compute.executors import Machine, map_shared
from steadyrank.compute.random import block_stream
from steadyrank.data.scores import mean_of_present
from steadyrank.errors import InputError
from steadyrank.stats.interval import Interval
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tests import means_and_errors, moments
from steadyrank.stats.planning.variance import pooled_variance, variance_components
from steadyrank.studies.pools.judgments import Pool, kept_judgments, score_runs

BLOCK = 8
"""Trials that are handed to a worker at a time."""

DIFFERENCE_QUANTILE = 0.95
"""Of the variances of differences, as Webber, Moffat and Zobel took it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trial:
    """Which teams are left out, and in which order topics are taken."""

    k: int
    left_out: tuple[int, ...]
    topic_order: np.ndarray
    is_exhaustive: bool
    """Whether the trials of this k are all sets of k teams that there are."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Estimates:
    """What every trial gave: arrays [trial, measure, number of pilot topics]."""

    variance: np.ndarray
    paired_variance: np.ndarray
    """Half the variance of differences, mean over the pairs of runs: the two-way residual."""
    difference_variance: np.ndarray
    """The 95th percentile over the pairs of runs."""
    n_topics: np.ndarray
    """Topics that were left: at most the number of pilot topics."""


def team_subsets(n_teams: int, k: int, n_trials: int, *, seed: int) -> list[tuple[int, ...]]:
    """Different sets of k teams, drawn by chance; all that there are, if `trials` or fewer.

    More trials leave the first ones as they are.

    >>> team_subsets(3, 2, 10, seed=0)
    [(0, 1), (0, 2), (1, 2)]
    >>> len(set(team_subsets(10, 5, 50, seed=0)))
    50
    """
    if math.comb(n_teams, k) <= n_trials:
        return list(itertools.combinations(range(n_teams), k))
    stream = block_stream(seed, "teams left out", k)
    subsets: dict[tuple[int, ...], None] = {}
    while len(subsets) < n_trials:
        drawn = stream.choice(n_teams, k, replace=False, shuffle=False)
        subsets[tuple(sorted(drawn.tolist()))] = None
    return list(subsets)


def draw_trials(
    n_teams: int,
    n_topics: int,
    ks: Sequence[int],
    n_trials: int,
    *,
    sizes: Sequence[int],
    seed: int,
) -> list[Trial]:
    """The trials of every k, from k = 0 on: there, nothing but the topics can differ."""
    trials = []
    for k in (0, *ks):
        subsets = team_subsets(n_teams, k, n_trials, seed=seed)
        exhaustive = math.comb(n_teams, k) <= n_trials
        if k == 0 and min(sizes) < n_topics:
            subsets = subsets * n_trials
        for number, left_out in enumerate(subsets):
            order = block_stream(seed, f"pilot topics of k = {k}", number).permutation(n_topics)
            trials.append(
                Trial(k=k, left_out=left_out, topic_order=order, is_exhaustive=exhaustive)
            )
    return trials


def run_trials(
    pool: Pool, trials: Sequence[Trial], sizes: Sequence[int], **machine: Unpack[Machine]
) -> Estimates:
    """Score the remaining runs of every trial again and estimate the variances."""
    tasks = [(trials[at : at + BLOCK], tuple(sizes)) for at in range(0, len(trials), BLOCK)]
    parts = map_shared(_block, pool, tasks, **machine)
    variance, paired, differences, n_topics = np.concatenate(parts, axis=1)
    return Estimates(
        variance=variance,
        paired_variance=paired,
        difference_variance=differences,
        n_topics=n_topics.astype(np.int64),
    )


def _block(pool: Pool, task: tuple[Sequence[Trial], tuple[int, ...]]) -> np.ndarray:
    """[estimate, trial, measure, number of pilot topics]"""
    trials, sizes = task
    return np.stack([_one_trial(pool, trial, sizes) for trial in trials], axis=1)


def _one_trial(pool: Pool, trial: Trial, sizes: Sequence[int]) -> np.ndarray:
    kept = kept_judgments(pool, trial.left_out)
    scores = score_runs(pool, kept, pool.runs_without(trial.left_out))
    estimates = np.full((4, len(scores), len(sizes)), np.nan)
    for m, matrix in enumerate(scores):
        for s, topics in enumerate(pilot_subsets(matrix, trial.topic_order, sizes)):
            chosen = np.ascontiguousarray(matrix[:, topics])
            variances = variance_or_nan(chosen), paired_variance_or_nan(chosen)
            estimates[:, m, s] = (*variances, difference_variance(chosen), len(topics))
    return estimates


def pilot_subsets(matrix: np.ndarray, order: np.ndarray, sizes: Sequence[int]) -> list[np.ndarray]:
    """For each size, so many topics of scores [run, topic], as far as there are, nested.

    Topics on which no run scores are no longer there.

    >>> [topics.tolist() for topics in pilot_subsets(np.eye(4)[:3], np.array([3, 2, 0, 1]), [3, 1])]
    [[0, 1, 2], [2]]
    """
    alive = (np.nan_to_num(matrix) != 0.0).any(axis=0)
    left = order[alive[order]]
    # In their own order, so that the same topics give the same sums.
    return [np.sort(left[:size]) for size in sizes]


def variance_or_nan(scores: np.ndarray) -> float:
    """V_E of scores [run, topic]; NaN where no run has two topics."""
    try:
        return pooled_variance(scores).value
    except InputError:
        return math.nan


def paired_variance_or_nan(scores: np.ndarray) -> float:
    """The residual of the two-way layout, as `plan` takes it; NaN where there are no pairs."""
    complete = scores[:, ~np.isnan(scores).any(axis=0)]
    if min(complete.shape) < 2:
        return math.nan
    return variance_components(complete).variance["residual"]


def difference_variance(scores: np.ndarray) -> float:
    """The 95th percentile, over pairs of runs, of the variance of their differences over topics.

    What Webber, Moffat and Zobel (CIKM 2008, doi:10.1145/1458082.1458158) plan a paired test by:
    pairs that differ by more varying amounts are rare. NaN for one run, or fewer than two topics.

    >>> round(difference_variance(np.array([[0.1, 0.5, 0.3], [0.2, 0.2, 0.2]])), 4)
    0.04
    """
    n_runs, n_topics = scores.shape
    if n_runs < 2 or n_topics < 2:
        return math.nan
    if np.isnan(scores).any():
        sd = moments(scores, all_pairs(n_runs)).sd
        variances = sd[~np.isnan(sd)] ** 2
    else:
        errors = np.empty((1, math.comb(n_runs, 2)))
        means_and_errors(scores[None], errors)
        variances = errors[0] ** 2 * n_topics
    return float(np.quantile(variances, DIFFERENCE_QUANTILE)) if len(variances) else math.nan


def mean_and_interval(
    values: Sequence[float], *, confidence: float = 0.95
) -> tuple[float, Interval | None]:
    """Mean over the trials and Student's interval: mean ± t(n - 1) sd / sqrt(n).

    As published. It takes trials for independent samples, which sets of the same few teams are not,
    and shrinks as they grow in number; how different the single trials are, their range and
    quantiles say. Trials without a value are left out; None where fewer than two have one.

    >>> mean, interval = mean_and_interval([0.112, 0.118, 0.109])
    >>> round(mean, 3), [round(end, 4) for end in interval]
    (0.113, [0.1016, 0.1244])
    """
    known = np.array([value for value in values if not math.isnan(value)])
    mean = float(mean_of_present(known))
    n = len(known)
    if n < 2:
        return mean, None
    quantile = float(special.stdtrit(n - 1, 0.5 + 0.5 * confidence))
    half_width = quantile * float(known.std(ddof=1)) / math.sqrt(n)
    return mean, Interval(mean - half_width, mean + half_width)

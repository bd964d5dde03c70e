"""What single instances, and pools of them, say about a system that varies.

Behind Figures 7 and 9 to 11 of Jayasinghe et al. (2015, doi:10.1016/j.ipm.2015.06.005), on anyone's
scores: each instance tested alone, p-values of pools of instances, and several tests on the same
pools. A frame's `attrs` have the settings and the seed
behind it. That the paper's two tests agree follows from the statistic that they share, and says
nothing about their level.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, repeat
from typing import Any

import numpy as np
import pandas as pd

from steadyrank.compute.random import Rng, block_stream, seed_from
from steadyrank.errors import InputError, arg
from steadyrank.notebook import made_frame
from steadyrank.stats.inputs import check_open_unit, check_samples
from steadyrank.stats.instances.bootstrap import algorithm_two, two_way_bootstrap
from steadyrank.stats.pairs.tests import in_threads, paired_t
from steadyrank_lab.papers.jayasinghe2015.pvalues import (
    nested_pvalues,
    t_pvalues,
    two_way_pvalues,
    welch_pvalues,
)

METHODS = ("t_single", "bootstrap_single", "mixed_paper", "bootstrap", "mixed")
"""Tests of a comparison: a random instance by t and by Algorithm 1; all of them by the paper's
mixed model, by Algorithm 2, and by two-way random effects."""

CLOSED: dict[str, dict[str, Callable[..., np.ndarray]]] = {
    "crossed": {
        "t_single": lambda d: t_pvalues(d[..., 0, :]),
        "t_on_means": lambda d: t_pvalues(d.mean(axis=-2)),
        "mixed_paper": lambda d: t_pvalues(d.mean(axis=-2), df=_observations(d) - 1.0),
        "mixed": two_way_pvalues,
    },
    "nested": {
        "t_on_means": lambda a, b: t_pvalues(a.mean(axis=-2) - b.mean(axis=-2)),
        "mixed_paper": lambda a, b: nested_pvalues(a, b, df=_observations(a) - 1.0),
        "mixed": nested_pvalues,
        "welch": welch_pvalues,
    },
}
"""p of the tests that do not resample, of systems [..., instance, topic]: of the difference to a
deterministic system, or of two systems that vary."""

TOGETHER = 256
"""Comparisons that are held at a time."""

POOL_SIZES = (2, 3, 5, 10, 20, 50, 100)


def frame_with(data: Any, **settings: Any) -> pd.DataFrame:
    """A frame of rows or columns, whose `attrs` record how it was made."""
    frame = pd.DataFrame(data)
    frame.attrs.update(settings)
    return frame


def contradictions(
    systems: Mapping[str, np.ndarray],
    baseline: np.ndarray,
    *,
    alphas: Sequence[float] = (0.1, 0.05),
) -> pd.DataFrame:
    """Figure 7: paired t tests of each instance of each system against one baseline, counted.

    Parameters
    ----------
    systems : mapping of str to array
        Scores [instance, topic] by system; NaN where missing.
    baseline : array
        Scores [topic].
    alphas : sequence of float
        Levels of the tests.

    Returns
    -------
    DataFrame
        One row per system and level: instances with at least two topics of the baseline's, how many
        are significantly better and worse, and the chance that two of them lead to different
        conclusions.

    References
    ----------
    - Jayasinghe, Webber, Sanderson, Dharmasena & Culpepper (2015). Statistical comparisons of non-
      deterministic IR systems using two dimensional variance. IP&M. doi:10.1016/j.ipm.2015.06.005

    Examples
    --------
    >>> baseline = np.array([0.2, 0.3, 0.5, 0.4])
    >>> shifts = [[-0.1, -0.1, -0.12, -0.1], [0.1, -0.1, 0.1, -0.1], [0.1, 0.12, 0.1, 0.1]]
    >>> counts = contradictions({"sampled": baseline + np.array(shifts)}, baseline, alphas=[0.05])
    >>> counts[["instances", "better", "worse", "disagreement"]].iloc[0].tolist()
    [3.0, 1.0, 1.0, 1.0]
    """
    for alpha in alphas:
        check_open_unit("alpha", alpha)
    rows = []
    for name, scores in systems.items():
        pairs = np.stack([np.arange(len(scores)), np.full(len(scores), len(scores))], axis=1)
        test = paired_t(np.vstack([scores, baseline]), pairs)
        whole = int((test.n > 1).sum())
        for alpha in alphas:
            direction = np.sign(test.difference)[test.pvalue < alpha]
            better, worse = int((direction > 0).sum()), int((direction < 0).sum())
            alike = sum(n * (n - 1) for n in (better, worse, whole - better - worse))
            apart = 1.0 - alike / (whole * (whole - 1)) if whole > 1 else math.nan
            counts = {"instances": whole, "better": better, "worse": worse, "disagreement": apart}
            rows.append({"system": name, "alpha": alpha, **counts})
    return made_frame(rows)


def _observations(scores: np.ndarray) -> float:
    """Scores of both systems in a comparison [..., instance, topic]."""
    return 2.0 * float(np.prod(scores.shape[-2:]))


def pvalues_of(
    test: str,
    systems: Sequence[np.ndarray],
    n_samples: int = 0,
    *,
    seeds: Iterable[int] = (),
    mode: str = "sound",
) -> np.ndarray:
    """p of a test on many comparisons, those of a bootstrap each with a seed of its own.

    `systems` is the difference to a deterministic system, or both of two systems that vary:
    [comparison, instance, topic].
    """
    closed = CLOSED["nested" if len(systems) == 2 else "crossed"]
    if test in closed:
        return closed[test](*systems)
    first, *other = systems
    if test == "bootstrap":
        return np.array(
            [
                algorithm_two(d, n_samples=n_samples, mode=mode, seed=seed, jobs=1).pvalue
                for d, seed in zip(first, seeds, strict=False)
            ]
        )
    second = other[0] if other else np.zeros((len(first), 1, first.shape[-1]))
    return np.array(
        [
            two_way_bootstrap(a, b, n_samples=n_samples, seed=seed, jobs=1).pvalue
            for a, b, seed in zip(first, second, seeds, strict=False)
        ]
    )


def method_pvalues(
    comparisons: Iterable[tuple[np.ndarray, np.ndarray]],
    *,
    n_samples: int = 100,
    jobs: int | None = None,
    rng: Rng = 0,
) -> pd.DataFrame:
    """Figures 4, 10 and 11: every test of `METHODS` on every comparison.

    Parameters
    ----------
    comparisons : iterable of (array, array)
        Scores [instance, topic] and scores of a deterministic system [topic]; topics that any
        instance lacks are left out.
    n_samples : int
        Resamples of each instance, by Algorithm 2; of a single instance ten times as many.
    jobs, rng : optional
        Threads; a seed, a `Generator` or None.

    Returns
    -------
    DataFrame
        p-values: one row per comparison, one column per test.

    Notes
    -----
    "mixed_paper" is eq. (9) with crossed instances on the number of observations less one: in this
    layout its statistic is t of the topics' mean differences. Both bootstraps are in the paper's
    mode. Tests that share a statistic agree, right or wrong.

    References
    ----------
    - Jayasinghe, Webber, Sanderson, Dharmasena & Culpepper (2015). Statistical comparisons of non-
      deterministic IR systems using two dimensional variance. IP&M. doi:10.1016/j.ipm.2015.06.005

    Examples
    --------
    >>> from steadyrank import papers
    >>> tested = papers.method_pvalues(papers.paper_comparisons(20, n_instances=10))
    >>> tested.shape, bool(tested["mixed_paper"].corr(tested["bootstrap"]) > 0.98)
    ((20, 5), True)
    """
    seed = seed_from(rng)
    check_samples(n_samples)

    def test(task: tuple[int, tuple[np.ndarray, np.ndarray]]) -> list[float]:
        number, comparison = task
        first, second, _ = _shared_topics(*comparison)
        return _all_methods(first - second, n_samples, seed, number)

    tasks, rows = enumerate(comparisons), []
    while some := list(islice(tasks, TOGETHER)):
        rows += in_threads(test, some, jobs=jobs)
    columns = np.array(rows).reshape(-1, len(METHODS)).T
    return frame_with(dict(zip(METHODS, columns, strict=True)), n_samples=n_samples, seed=seed)


def _all_methods(d: np.ndarray, n_samples: int, seed: int, number: int) -> list[float]:
    """p of every test of `METHODS` on differences [instance, topic]."""
    one = int(block_stream(seed, "instance at hand", number).integers(len(d)))
    single, every = [d[None, [one]]], [d[None]]
    own: Any = {"seeds": [seed * 1_000_003 + number], "mode": "paper"}
    pvalues = (
        pvalues_of("t_single", single),
        pvalues_of("bootstrap", single, 10 * n_samples, **own),
        *(pvalues_of(test, every, n_samples, **own) for test in METHODS[2:]),
    )
    return [float(pvalue[0]) for pvalue in pvalues]


def pool_pvalues(
    a: np.ndarray,
    b: np.ndarray,
    *,
    sizes: Sequence[int] = POOL_SIZES,
    n_pools: int = 50,
    n_samples: int = 100,
    jobs: int | None = None,
    rng: Rng = 0,
) -> pd.DataFrame:
    """Figure 9: p of pools of instances, drawn with replacement, against the pool's size.

    Parameters
    ----------
    a : array
        Scores [instance, topic].
    b : array
        Of a deterministic system [topic] (tests "mixed", "mixed_paper" and "bootstrap") or of
        another [instance, topic] (the first two, nested; pools of both).
    sizes : sequence of int
        Instances of a pool.
    n_pools : int
        Pools of each size.
    n_samples : int
        Resamples of each instance, by Algorithm 2.
    jobs, rng : optional
        Threads; a seed, a `Generator` or None.

    Returns
    -------
    DataFrame
        One row per pool: its instances, and a column with p of each test. `attrs` has p of all
        instances as they are ("all_instances"; NaN for unequal numbers of them) and the topics
        that were left out ("n_topics_dropped").

    Notes
    -----
    Topics that any instance lacks are left out. A pool repeats instances, so that its p-values
    scatter somewhat more than those of as many different ones.

    References
    ----------
    - Jayasinghe, Webber, Sanderson, Dharmasena & Culpepper (2015). Statistical comparisons of non-
      deterministic IR systems using two dimensional variance. IP&M. doi:10.1016/j.ipm.2015.06.005

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(0, 0.1, 30) + rng.normal(0, 0.03, (40, 1)) + rng.normal(0, 0.05, (40, 30))
    >>> pools = pool_pvalues(a, np.full(30, -0.04), sizes=[2, 40])
    >>> spread = pools.groupby("instances").std()
    >>> bool((spread.loc[40] < spread.loc[2]).all())
    True
    """
    seed = seed_from(rng)
    check_samples(n_pools)
    if min(sizes, default=1) < 2:
        raise InputError(f"a pool needs two instances or more, got sizes {list(sizes)}")
    first, second, dropped = _shared_topics(a, b)
    pools = [
        _drawn_pools(first, second, size, n_pools, block_stream(seed, "pools", size))
        for size in sizes
    ]
    methods = METHODS[-3:] if b.ndim == 1 else ("mixed_paper", "mixed")

    def test(pool: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        one, two = pool
        if b.ndim > 1 and one.shape != two.shape:
            return np.full((len(methods), len(one)), np.nan)
        systems = [one - two] if b.ndim == 1 else [one, two]
        own: Any = {"seeds": repeat(seed), "mode": "paper"}
        return np.stack([pvalues_of(name, systems, n_samples, **own) for name in methods])

    whole, *drawn = in_threads(test, [(first[None], second[None]), *pools], jobs=jobs)
    columns = dict(zip(methods, np.concatenate(drawn, axis=1), strict=True))
    return frame_with(
        {"instances": np.repeat(sizes, n_pools), **columns},
        all_instances=dict(zip(methods, whole[:, 0].tolist(), strict=True)),
        n_topics=first.shape[1],
        n_topics_dropped=dropped,
        n_samples=n_samples,
        seed=seed,
    )


def _drawn_pools(
    first: np.ndarray, second: np.ndarray, size: int, n_pools: int, stream: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Pools [pool, instance, topic] of each system; a deterministic one stays as it is."""
    drawn = first[stream.integers(len(first), size=(n_pools, size))]
    if len(second) == 1:
        return drawn, second[None]
    return drawn, second[stream.integers(len(second), size=(n_pools, size))]


def _shared_topics(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Both systems [instance, topic] on the topics that all instances have, and how many lack."""
    first, second = np.asarray(a, dtype=np.float64), np.atleast_2d(np.asarray(b, np.float64))
    if first.ndim != 2 or second.shape[-1] != first.shape[-1]:
        raise InputError(
            f"{arg('scores')} must be [instance, topic] and [topic] on the same topics, got "
            f"{first.shape} and {np.shape(b)}"
        )
    whole = ~(np.isnan(first).any(axis=0) | np.isnan(second).any(axis=0))
    if whole.sum() < 2:
        raise InputError(f"only {whole.sum()} topics are there in every instance: give two or more")
    return first[:, whole], second[:, whole], int((~whole).sum())


def resampled_pools(
    comparisons: Sequence[tuple[np.ndarray, np.ndarray]],
    *,
    sizes: Sequence[int],
    n_pools: int,
    seed: int,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Instances [instance, topic] drawn with replacement, beside a deterministic system [topic]."""
    for place, (scores, baseline) in enumerate(comparisons):
        stream = block_stream(seed, "pools of a setting", place)
        for size in sizes:
            for chosen in stream.integers(len(scores), size=(n_pools, size)):
                yield scores[chosen], baseline

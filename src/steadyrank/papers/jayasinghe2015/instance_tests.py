"""Which tests of non-deterministic systems agree, which keep their level, and at what power?

Figures 4, 9, 10 and 11 of Jayasinghe et al. (2015, doi:10.1016/j.ipm.2015.06.005), on the paper's
simulation or on anyone's scores. That the paper's two tests agree follows from the statistic that
they share, and says nothing about their level: for that, `error_rates` simulates comparisons with
known variance components and counts the share that each test calls significant. With no difference
that share is the level, and a test that exceeds it has no claim to its power. Beside it, where
there is one, the exact rate for normal effects.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice, repeat
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from scipy import special

from steadyrank.compute.random import Rng, block_stream, blocks_of, seed_from
from steadyrank.errors import InputError, check_choice
from steadyrank.papers.jayasinghe2015.pitfalls import frame_with
from steadyrank.stats.inputs import check_samples
from steadyrank.stats.instances.bootstrap import algorithm_two, two_way_bootstrap
from steadyrank.stats.instances.power import Design, InstanceTest, InstanceVariances
from steadyrank.stats.mixed.two_way import nested_pvalues, t_pvalues, two_way_pvalues, welch_pvalues
from steadyrank.stats.pairs.tests import in_threads

Shape = Literal["normal", "skewed"]
"""Of the effects that `error_rates` draws."""

METHODS = ("t_single", "bootstrap_single", "mixed_paper", "bootstrap", "mixed")
"""Tests of a comparison: a random instance by t and by Algorithm 1; all of them by the paper's
mixed model, by Algorithm 2, and by two-way random effects."""

TESTS = {
    "crossed": ("t_single", "t_on_means", "mixed_paper", "bootstrap", "mixed", "two_way_bootstrap"),
    "nested": ("t_on_means", "mixed_paper", "mixed", "welch", "two_way_bootstrap"),
}
"""t_single: one instance alone. t_on_means: instances averaged by topic, which is also the crossed
mixed model with Satterthwaite's degrees of freedom. mixed_paper: on observations less one. welch:
on instances' means over topics."""

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

BATCH = 50
"""Replications that are made together."""

POOL_SIZES = (2, 3, 5, 10, 20, 50, 100)


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
            f"scores must be [instance, topic] and [topic] on the same topics, got {first.shape} "
            f"and {np.shape(b)}"
        )
    whole = ~(np.isnan(first).any(axis=0) | np.isnan(second).any(axis=0))
    if whole.sum() < 2:
        raise InputError(f"only {whole.sum()} topics are there in every instance: give two or more")
    return first[:, whole], second[:, whole], int((~whole).sum())


def error_rates(
    n_instances: int,
    n_topics: int,
    *,
    components: Mapping[str, float],
    difference: float = 0.0,
    design: Design = "crossed",
    tests: Sequence[str] | None = None,
    effects: Shape = "normal",
    n_replications: int = 2000,
    n_samples: int = 100,
    n_two_way_samples: int = 300,
    alpha: float = 0.05,
    jobs: int | None = None,
    rng: Rng = 0,
) -> pd.DataFrame:
    """Simulate comparisons with known variances, and count what each test calls significant.

    Parameters
    ----------
    n_instances, n_topics : int
        Of every comparison; 2 or more of each.
    components : mapping
        Variances "instance", "system_topic" and "residual".
    difference : float
        The true difference of the systems; 0 counts errors, anything else power.
    design : "crossed" or "nested"
        Crossed: d[m, n] = difference + a[m] + u[n] + e[m, n] against a deterministic system.
        Nested: two systems, each with instance, system × topic and residual effects of its own.
    tests : sequence of str, optional
        Names of tests; all of the design by default.
    effects : "normal" or "skewed"
        Skewed: exponential about 0, of the same variance.
    n_replications : int
        Simulated comparisons.
    n_samples, n_two_way_samples : int
        Resamples per instance by Algorithm 2, and of the two-way bootstrap; both in the sound
        mode, where p is at least 1 / (samples + 1): take enough for alpha.
    alpha : float
        Level of the tests.
    jobs, rng : optional
        Threads; a seed, a `Generator` or None.

    Returns
    -------
    DataFrame
        One row per test: the share of comparisons that it calls significant ("rate"), its Monte
        Carlo standard error, and the exact rate for normal effects where it is known.

    References
    ----------
    - Jayasinghe, Webber, Sanderson, Dharmasena & Culpepper (2015). Statistical comparisons of non-
      deterministic IR systems using two dimensional variance. IP&M. doi:10.1016/j.ipm.2015.06.005

    Examples
    --------
    >>> pilot = {"instance": 0.02**2, "system_topic": 0.08**2, "residual": 0.06**2}
    >>> rates = error_rates(3, 50, components=pilot, tests=("t_on_means", "mixed"))
    >>> rates["exact"].round(3).tolist(), (abs(rates["rate"] - rates["exact"]) < 0.03).tolist()
    ([0.149, 0.056], [True, True])
    """
    seed = seed_from(rng)
    variances = InstanceVariances.of(components)
    test = InstanceTest(variances=variances, design=design, difference=difference, alpha=alpha)
    check_choice("effects", effects, get_args(Shape))
    chosen = TESTS[design] if tests is None else tuple(tests)
    for name in chosen:
        check_choice("test", name, TESTS[design])
    for number in (n_replications, n_samples, n_two_way_samples):
        check_samples(number)
    if min(n_instances, n_topics) < 2:
        raise InputError(f"two instances and topics or more, got {n_instances} and {n_topics}")

    def count(block: tuple[int, int, int]) -> np.ndarray:
        number, first, stop = block
        stream = block_stream(seed, "simulated systems", number)
        systems = _systems(stream, test, (stop - first, n_instances, n_topics), effects)
        resamples = {"bootstrap": n_samples, "two_way_bootstrap": n_two_way_samples}
        seeds = range(seed * 1_000_003 + first, seed * 1_000_003 + stop)
        tested = [pvalues_of(name, systems, resamples.get(name, 0), seeds=seeds) for name in chosen]
        return np.asarray((np.array(tested) < alpha).sum(axis=1))

    counts = in_threads(count, blocks_of(n_replications, BATCH), jobs=jobs)
    rate = np.sum(counts, axis=0) / n_replications
    exact = exact_rates(n_instances, n_topics, test)
    columns = {
        "rate": rate,
        "rate_error": np.sqrt(rate * (1.0 - rate) / n_replications),
        "exact": [exact.get(name, math.nan) for name in chosen],
    }
    sizes = {"n_instances": n_instances, "n_topics": n_topics, "n_replications": n_replications}
    samples = {"n_samples": n_samples, "n_two_way_samples": n_two_way_samples}
    settings = {"design": design, "difference": difference, "effects": effects, "alpha": alpha}
    frame = frame_with(columns, **sizes, **samples, **settings, seed=seed)
    return frame.set_axis(list(chosen))


def exact_rates(n_instances: int, n_topics: int, test: InstanceTest) -> dict[str, float]:
    """How often tests reject for normal effects, by integration: level or power.

    A test that averages instances divides by sqrt(M s_u² + s_e²) what varies by
    sqrt(N s_a² + M s_u² + s_e²): its t is that factor too large.

    >>> variances = InstanceVariances(instance=0.02**2, system_topic=0.08**2, residual=0.06**2)
    >>> rates = exact_rates(10, 150, InstanceTest(variances=variances, difference=0.0))
    >>> {name: round(rate, 3) for name, rate in rates.items()}
    {'mixed': 0.051, 't_on_means': 0.152, 'mixed_paper': 0.156, 't_single': 0.456}
    """
    rates = {
        "mixed": test.power(n_topics, n_instances),
        "t_on_means": _averaged_rate(test, n_instances, n_topics, n_topics - 1.0),
    }
    if test.design == "crossed":
        observations = 2.0 * n_instances * n_topics
        rates["mixed_paper"] = _averaged_rate(test, n_instances, n_topics, observations - 1.0)
        rates["t_single"] = _averaged_rate(test, 1, n_topics, n_topics - 1.0)
    return rates


def _averaged_rate(test: InstanceTest, m: int, n: int, df: float) -> float:
    """P(|T| > critical value), T from topics' means over m instances; t taken on `df`."""
    variances, alpha = test.variances, test.alpha
    by_topic = m * variances.system_topic + variances.residual
    whole = n * variances.instance + by_topic
    if by_topic == 0.0:
        return math.nan
    error = math.sqrt(test.systems * whole / (m * n))
    critical = special.stdtrit(df, 1.0 - 0.5 * alpha) * math.sqrt(by_topic / whole)
    x, weight = np.polynomial.legendre.leggauss(64)
    spread = np.sqrt(2.0 * special.gammaincinv(0.5 * (n - 1), 0.5 * (1.0 + x)) / (n - 1))
    shift = test.difference / error
    chance = special.ndtr(shift - critical * spread) + special.ndtr(-shift - critical * spread)
    return float(0.5 * weight @ chance)


def _systems(
    stream: np.random.Generator, test: InstanceTest, size: tuple[int, int, int], effects: Shape
) -> list[np.ndarray]:
    """Scores [replication, instance, topic] of the first system, and of the second if it varies."""
    replications, m, n = size
    shapes = {"instance": (replications, m, 1), "system_topic": (replications, 1, n)}
    systems = []
    for k in range(test.systems):
        scores = np.zeros(size)
        for name, shape in (shapes | {"residual": size}).items():
            scores += math.sqrt(getattr(test.variances, name)) * _drawn(stream, shape, effects)
        systems.append(scores + (test.difference if k == 0 else 0.0))
    return systems


def _drawn(stream: np.random.Generator, size: tuple[int, ...], effects: Shape) -> np.ndarray:
    """Independent draws of mean 0 and variance 1."""
    if effects == "skewed":
        return stream.standard_exponential(size) - 1.0
    return stream.standard_normal(size)

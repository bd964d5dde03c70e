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
from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import numpy as np
import pandas as pd
from scipy import special

from steadyrank.compute.random import Rng, block_stream, blocks_of, seed_from
from steadyrank.errors import InputError, check_choice
from steadyrank.stats.inputs import check_samples
from steadyrank.stats.pairs.tests import in_threads
from steadyrank_lab.papers.jayasinghe2015.pools import frame_with, pvalues_of
from steadyrank_lab.papers.jayasinghe2015.power import Design, InstanceTest, InstanceVariances

Shape = Literal["normal", "skewed"]
"""Of the effects that `error_rates` draws."""

TESTS = {
    "crossed": ("t_single", "t_on_means", "mixed_paper", "bootstrap", "mixed", "two_way_bootstrap"),
    "nested": ("t_on_means", "mixed_paper", "mixed", "welch", "two_way_bootstrap"),
}
"""t_single: one instance alone. t_on_means: instances averaged by topic, which is also the crossed
mixed model with Satterthwaite's degrees of freedom. mixed_paper: on observations less one. welch:
on instances' means over topics."""

BATCH = 50
"""Replications that are made together."""


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

"""Experiments of Jayasinghe, Webber, Sanderson, Dharmasena & Culpepper (IP&M 2015) as frames.

The paper's simulation of one instance tested alone (Figures 2 and 3, the comparisons of Figure 4),
what instances say one by one (Figures 6 to 8), p-values of pools of instances and several tests on
the same pools (Figures 9 to 11), and what the paper lacks: how often each test rejects if there is
no difference. The paper's two tests agree because they share a statistic, which says nothing about
their level.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, product, repeat
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from scipy import special

from steadyrank.compute.random import block_stream, blocks_of
from steadyrank.data.scores import mean_of_present
from steadyrank.errors import check_choice
from steadyrank.stats.instances.bootstrap import algorithm_two, two_way_bootstrap
from steadyrank.stats.pairs.tests import in_threads, paired_t
from steadyrank_lab.papers.jayasinghe2015.pvalues import (
    means_and_errors,
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
"""p-values of the tests that do not resample, given systems [..., instance, topic]: the difference
to a deterministic system, or two systems that vary."""

SD = 0.1
"""Standard deviation of the differences of Figure 3: the paper does not give its own."""

TOGETHER = 256
"""Comparisons that are held at a time."""


def contradictions(
    systems: Mapping[str, np.ndarray], baseline: np.ndarray, *, alphas: Sequence[float]
) -> pd.DataFrame:
    """Count paired t tests of each instance of each system against one baseline (Figure 7).

    One row per system and level: instances with at least two topics of the baseline's, how many are
    significantly better and worse, and the chance that two of them lead to different conclusions.

    >>> baseline = np.array([0.2, 0.3, 0.5, 0.4])
    >>> shifts = [[-0.1, -0.1, -0.12, -0.1], [0.1, -0.1, 0.1, -0.1], [0.1, 0.12, 0.1, 0.1]]
    >>> counts = contradictions({"sampled": baseline + np.array(shifts)}, baseline, alphas=[0.05])
    >>> counts[["instances", "better", "worse", "disagreement"]].iloc[0].tolist()
    [3.0, 1.0, 1.0, 1.0]
    """
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
    return pd.DataFrame(rows)


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
    """Return p-values of a test on many comparisons; a bootstrap takes one seed each.

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
    seed: int = 0,
) -> pd.DataFrame:
    """Return p of all tests of `METHODS` on every comparison (Figures 4, 10 and 11).

    A comparison has scores [instance, topic] and scores of a deterministic system [topic]; topics
    that any instance lacks are left out. Algorithm 2 resamples each instance `n_samples` times,
    Algorithm 1 a single one ten times as often, both in the paper's mode. "mixed_paper" is eq. (9)
    with crossed instances on the number of observations less one: in this layout its statistic is t
    of the topics' mean differences.

    >>> tested = method_pvalues(paper_comparison(0, k, size=(10, 50)) for k in range(20))
    >>> tested.shape, bool(tested["mixed_paper"].corr(tested["bootstrap"]) > 0.98)
    ((20, 5), True)
    """

    def test(task: tuple[int, tuple[np.ndarray, np.ndarray]]) -> list[float]:
        number, comparison = task
        return _all_methods(_differences(*comparison), n_samples, seed, number)

    tasks, rows = enumerate(comparisons), []
    while some := list(islice(tasks, TOGETHER)):
        rows += in_threads(test, some, jobs=jobs)
    return pd.DataFrame(np.array(rows), columns=list(METHODS))


def _differences(scores: np.ndarray, baseline: np.ndarray) -> np.ndarray:
    """Return differences [instance, topic] on the topics that all instances have."""
    d = np.asarray(scores - baseline)
    return np.asarray(d[:, ~np.isnan(d).any(axis=0)])


def _all_methods(d: np.ndarray, n_samples: int, seed: int, number: int) -> list[float]:
    """Return p-values of all tests of `METHODS` on differences [instance, topic]."""
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
    scores: np.ndarray,
    baseline: np.ndarray,
    *,
    sizes: Sequence[int],
    n_pools: int = 50,
    n_samples: int = 100,
    jobs: int | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Return p of pools of instances [instance, topic], drawn with replacement, by size (Figure 9).

    One row per pool: its instances, and p of each test against a deterministic system [topic].
    `attrs` has p of all instances as they are ("all_instances"). A pool repeats instances, so that
    its p-values scatter somewhat more than those of the same number of different ones.

    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(0, 0.1, 30) + rng.normal(0, 0.03, (40, 1)) + rng.normal(0, 0.05, (40, 30))
    >>> pools = pool_pvalues(a, np.full(30, -0.04), sizes=[2, 40])
    >>> spread = pools.groupby("instances").std()
    >>> bool((spread.loc[40] < spread.loc[2]).all())
    True
    """
    d = _differences(scores, baseline)
    pools = [
        d[block_stream(seed, "pools", size).integers(len(d), size=(n_pools, size))]
        for size in sizes
    ]

    def test(pool: np.ndarray) -> np.ndarray:
        own: Any = {"seeds": repeat(seed), "mode": "paper"}
        return np.stack([pvalues_of(name, [pool], n_samples, **own) for name in METHODS[2:]])

    whole, *drawn = in_threads(test, [d[None], *pools], jobs=jobs)
    columns = dict(zip(METHODS[2:], np.concatenate(drawn, axis=1), strict=True))
    frame = pd.DataFrame({"instances": np.repeat(sizes, n_pools), **columns})
    frame.attrs["all_instances"] = dict(zip(METHODS[2:], whole[:, 0].tolist(), strict=True))
    return frame


def resampled_pools(
    comparisons: Sequence[tuple[np.ndarray, np.ndarray]],
    *,
    sizes: Sequence[int],
    n_pools: int,
    seed: int,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Instances [instance, topic] drawn with replacement, and a deterministic system [topic]."""
    for place, (scores, baseline) in enumerate(comparisons):
        stream = block_stream(seed, "pools of a setting", place)
        for size in sizes:
            for chosen in stream.integers(len(scores), size=(n_pools, size)):
                yield scores[chosen], baseline


Effects = Literal["instance", "cell"]

GRID = tuple(np.round(np.arange(21) * 0.05, 2).tolist())
"""Means and standard deviations of the instance effect: the paper does not give its own."""


def paper_scores(
    stream: np.random.Generator,
    mean: float,
    spread: float,
    *,
    size: tuple[int, ...],
    effects: Effects = "instance",
) -> np.ndarray:
    """Draw scores of the paper's non-deterministic system, of shape `size`, [..., instance, topic].

    Topic effects are uniform on (0, 1), instance effects normal and clipped to [0, 1]; a score is
    the length of both, over sqrt 2. One instance effect for each instance, or for each of its
    topics ("cell"): the text allows both. The mean score at a mean effect of .5 is not .5, as the
    paper has it, but .5229 without spread; it is .5 at .4543.
    """
    topics = stream.random((*size[:-2], 1, size[-1]))
    shape = size if effects == "cell" else (*size[:-1], 1)
    instances = np.clip(stream.normal(mean, spread, shape), 0.0, 1.0)
    return np.asarray(np.sqrt(0.5 * (topics**2 + instances**2)))


def paper_comparison(
    seed: int, number: int, effects: Effects = "instance", *, size: tuple[int, int] = (100, 50)
) -> tuple[np.ndarray, np.ndarray]:
    """One of Figure 4's comparisons: an effect for each instance, or for each of its topics."""
    by_cell = ", by cell" if effects == "cell" else ""
    stream = block_stream(seed, f"simulated comparison{by_cell}", number)
    mean, variance = stream.random(2)
    scores = paper_scores(stream, mean, np.sqrt(variance), size=size, effects=effects)
    return scores, stream.random(size[1])


def single_instance_shares(
    *,
    means: Sequence[float] = GRID,
    spreads: Sequence[float] = GRID,
    n_topics: int = 50,
    n_instances: int = 100,
    n_trials: int = 100,
    alpha: float = 0.05,
    effects: Effects = "instance",
    jobs: int | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Return the share of a system's instances that differ significantly, tested alone (Figure 2).

    Each trial draws a system (`paper_scores`) and a deterministic one whose scores are uniform on
    (0, 1), on other topics, and runs a paired t test for every instance. One row per mean and
    spread of the instance effect: the share, and its Monte Carlo standard error (trials are
    independent, instances of one are not).

    >>> shares = single_instance_shares(means=[0.45, 0.95], spreads=[0.0, 0.3], n_trials=20)
    >>> (shares["share"] < 0.1).tolist(), (shares["share"] > 0.95).tolist()
    ([True, False, False, False], [False, False, True, False])
    """
    cells = list(product(map(float, means), map(float, spreads)))
    critical = float(special.stdtrit(n_topics - 1.0, 1.0 - 0.5 * alpha))

    def tested(cell: int) -> dict[str, float]:
        mean, spread = cells[cell]
        stream = block_stream(seed, "instances tested one by one", cell)
        size = (n_trials, n_instances, n_topics)
        scores = paper_scores(stream, mean, spread, size=size, effects=effects)
        scores -= stream.random((n_trials, 1, n_topics))
        difference, error = means_and_errors(scores)
        significant = (np.abs(difference) > critical * error).mean(axis=1)
        share, off = significant.mean(), significant.std() / np.sqrt(n_trials)
        return {"mean": mean, "spread": spread, "share": float(share), "share_error": float(off)}

    return pd.DataFrame(in_threads(tested, range(len(cells)), jobs=jobs))


def equivalence_intervals(
    sizes: Sequence[int] = tuple(range(10, 1001, 10)),
    *,
    sd: float = SD,
    delta: float = 0.01,
    confidence: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """Return intervals of the mean of n differences N(0, sd²), a new sample for each n (Figure 3).

    One row per number of topics: the interval, and whether it lies within ±`delta`, into which only
    many topics bring it.

    >>> equivalence_intervals([20, 2000])["inside"].tolist()
    [False, True]
    """
    n = np.asarray(sizes, dtype=np.int64)
    samples = [block_stream(seed, "equal systems", int(size)).normal(0.0, sd, size) for size in n]
    mean = np.array([sample.mean() for sample in samples])
    error = np.array([sample.std(ddof=1) for sample in samples]) / np.sqrt(n)
    half = special.stdtrit(n - 1.0, 0.5 + 0.5 * confidence) * error
    low, high = mean - half, mean + half
    inside = (low > -delta) & (high < delta)
    return pd.DataFrame({"topics": n, "low": low, "high": high, "inside": inside})


def instance_spread(systems: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Return the spread of the means of each system's instances [instance, topic] (Figure 6).

    >>> spread = instance_spread({"sampled": np.array([[0.2, 0.4], [0.3, 0.8]])})
    >>> spread[["instances", "least", "largest"]].round(2).iloc[0].tolist()
    [2.0, 0.3, 0.55]
    """
    means = {name: pd.Series(mean_of_present(scores)) for name, scores in systems.items()}
    names = {"count": "instances", "min": "least", "max": "largest"}
    spread = {name: x.agg(["count", "mean", "std", "min", "max"]) for name, x in means.items()}
    frame = pd.DataFrame(spread).T.rename(columns=names | {"std": "sd"})
    return frame.astype({"instances": int}).rename_axis("system").reset_index()


def topic_spread(scores: np.ndarray) -> pd.DataFrame:
    """Return the spread of scores [instance, topic] over instances by topic (Figure 8)."""
    named = {"min": "least", "max": "largest", "std": "sd"}
    return pd.DataFrame(scores).agg(["median", *named]).T.rename(columns=named)


Design = Literal["crossed", "nested"]

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
    skewed: bool = False,
    n_replications: int = 2000,
    n_samples: int = 100,
    n_two_way_samples: int = 300,
    alpha: float = 0.05,
    jobs: int | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Simulate comparisons with known variances, and count what each test calls significant.

    `components` are the variances "instance", "system_topic" and "residual". Crossed: d[m, n] =
    difference + a[m] + u[n] + e[m, n] against a deterministic system. Nested: two systems with
    separate effects. Effects are normal, or exponential about 0 of the same variance (`skewed`).
    Both bootstraps are in the sound mode, where p is at least 1 / (samples + 1). One row per test:
    the share that it calls significant ("rate"), and its Monte Carlo standard error.

    >>> pilot = {"instance": 0.02**2, "system_topic": 0.08**2, "residual": 0.06**2}
    >>> rates = error_rates(3, 50, components=pilot, tests=("t_on_means", "mixed"))
    >>> (rates["rate"] > 0.1).tolist()
    [True, False]
    """
    check_choice("design", design, get_args(Design))
    chosen = TESTS[design] if tests is None else tuple(tests)
    for name in chosen:
        check_choice("test", name, TESTS[design])

    def count(block: tuple[int, int, int]) -> np.ndarray:
        number, first, stop = block
        stream = block_stream(seed, "simulated systems", number)
        size = (stop - first, n_instances, n_topics)
        n_systems = 2 if design == "nested" else 1
        systems = [_scores(stream, components, size, skewed) for _ in range(n_systems)]
        systems[0] += difference
        resamples = {"bootstrap": n_samples, "two_way_bootstrap": n_two_way_samples}
        seeds = range(seed * 1_000_003 + first, seed * 1_000_003 + stop)
        tested = [pvalues_of(name, systems, resamples.get(name, 0), seeds=seeds) for name in chosen]
        return np.asarray((np.array(tested) < alpha).sum(axis=1))

    counts = in_threads(count, blocks_of(n_replications, BATCH), jobs=jobs)
    rate = np.sum(counts, axis=0) / n_replications
    error = np.sqrt(rate * (1.0 - rate) / n_replications)
    return pd.DataFrame({"rate": rate, "rate_error": error}, index=list(chosen))


def _scores(
    stream: np.random.Generator,
    components: Mapping[str, float],
    size: tuple[int, int, int],
    skewed: bool,
) -> np.ndarray:
    """Scores [replication, instance, topic] of a system."""
    replications, m, n = size
    shapes = {"instance": (replications, m, 1), "system_topic": (replications, 1, n)}
    scores = np.zeros(size)
    for name, shape in (shapes | {"residual": size}).items():
        drawn = (
            stream.standard_exponential(shape) - 1.0 if skewed else stream.standard_normal(shape)
        )
        scores += math.sqrt(components[name]) * drawn
    return scores

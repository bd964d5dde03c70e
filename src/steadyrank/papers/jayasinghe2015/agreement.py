"""Do the tests of non-deterministic systems agree, and how many instances do they take?

Figures 4, 9, 10 and 11 of Jayasinghe et al. (2015, doi:10.1016/j.ipm.2015.06.005), on the paper's
simulation or on anyone's scores. That the paper's two tests agree follows from the statistic that
they share, and says nothing about their level: see `steadyrank.papers.jayasinghe2015.levels`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from steadyrank.compute.random import Rng, block_stream, seed_from
from steadyrank.errors import InputError, check_choice
from steadyrank.notebook import Exhibit, made_frame, shown_by
from steadyrank.papers.jayasinghe2015.levels import CLOSED
from steadyrank.papers.jayasinghe2015.pitfalls import Effects, long_frame, paper_scores
from steadyrank.papers.model import Claim, claim, page_table
from steadyrank.present.table import Table
from steadyrank.stats.inputs import check_open_unit, check_samples
from steadyrank.stats.instances.bootstrap import algorithm_two
from steadyrank.stats.pairs.tests import in_threads

if TYPE_CHECKING:
    import pandas as pd

METHODS = ("t_single", "bootstrap_single", "mixed_paper", "bootstrap", "mixed")
"""Tests of a comparison: a random instance by t and by Algorithm 1; all of them by the paper's
mixed model, by Algorithm 2, and by two-way random effects."""

TOGETHER = 256
"""Comparisons that are held at a time."""

POOL_SIZES = (2, 3, 5, 10, 20, 50, 100)

OMISSION = (
    "Both tests of the paper divide the mean difference by its standard error over topics, the "
    "instances averaged. That leaves out s_a²/M, what M other instances would add, so both are "
    "about these instances alone: the variance is 1 + N s_a² / (M s_u² + s_e²) times what they "
    "assume, and more topics make it worse. They agree with each other because they share this "
    "statistic, which says nothing about their level."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far two tests say the same of the same comparisons."""

    correlation: float
    mean_absolute_difference: float
    same_decision: float
    """Share of comparisons that both, or neither, call significant."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by()
class MethodPvalues(Exhibit):
    """Figures 4, 10 and 11: the p-values of several tests on many comparisons.

    Examples
    --------
    >>> from steadyrank import papers
    >>> tested = papers.method_pvalues(papers.paper_comparisons(5, n_instances=10), n_samples=200)
    >>> tested.pvalues.shape == (len(tested.methods), 5)
    True
    """

    methods: tuple[str, ...]
    pvalues: np.ndarray
    """[method, comparison]"""
    n_samples: int
    """Resamples of each instance; of a single instance ten times as many."""
    seed: int

    def caption(self) -> str:
        """How many comparisons, how resampled."""
        return (
            f"p-values of {self.pvalues.shape[1]} comparisons by {len(self.methods)} tests, "
            f"{self.n_samples} resamples of each instance; seed {self.seed}"
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per comparison, one column per test."""
        return made_frame(dict(zip(self.methods, self.pvalues, strict=True)))

    def of(self, method: str) -> np.ndarray:
        """The p-values of one test."""
        check_choice("method", method, self.methods)
        values: np.ndarray = self.pvalues[self.methods.index(method)]
        return values

    def descending(self) -> np.ndarray:
        """Each test's p-values from the largest down: the lower the curve, the more it finds.

        Tests that exceed their level have low curves too: this is not their power.
        """
        return np.asarray(-np.sort(-self.pvalues, axis=1))

    def agreement(self, first: str, second: str, *, alpha: float = 0.05) -> Agreement:
        """Of two tests over all comparisons. Tests that share a statistic agree, right or wrong."""
        one, two = self.of(first), self.of(second)
        return Agreement(
            correlation=float(np.corrcoef(one, two)[0, 1]),
            mean_absolute_difference=float(np.abs(one - two).mean()),
            same_decision=float(((one < alpha) == (two < alpha)).mean()),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by()
class PoolPvalues(Exhibit):
    """Figure 9: how p-values scatter with the number of instances.

    Examples
    --------
    >>> import numpy as np
    >>> from steadyrank import papers
    >>> scores = np.random.default_rng(0).normal(0, 0.1, (20, 30))
    >>> pools = papers.pool_pvalues(scores, np.zeros(30), sizes=[2, 20], n_pools=20, n_samples=200)
    >>> pools.spread().shape[1]
    2
    """

    sizes: tuple[int, ...]
    methods: tuple[str, ...]
    pvalues: np.ndarray
    """[method, size, pool]: of pools drawn with replacement from the instances."""
    whole: np.ndarray
    """[method]: of all instances as they are; NaN for unequal numbers of them."""
    n_topics: int
    n_topics_dropped: int
    """Topics that some instance, or the baseline, lacks."""
    seed: int

    def caption(self) -> str:
        """Which pools, on how many topics."""
        return (
            f"p-values of {self.pvalues.shape[2]} pools of instances, by test and pool size, on "
            f"{self.n_topics} topics; seed {self.seed}"
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per test and pool size: the quartiles over pools, and p of all instances."""
        low, median, high = np.quantile(self.pvalues, [0.25, 0.5, 0.75], axis=2)
        return long_frame(
            {"method": self.methods, "instances": self.sizes},
            lower_quartile=low,
            median=median,
            upper_quartile=high,
            all_instances=np.repeat(self.whole, len(self.sizes)),
        )

    def spread(self, level: float = 0.9) -> np.ndarray:
        """Width of the central interval that holds this share of pools, [method, size]."""
        check_open_unit("level", level)
        ends = np.quantile(self.pvalues, [0.5 - 0.5 * level, 0.5 + 0.5 * level], axis=2)
        return np.asarray(ends[1] - ends[0])


def paper_comparisons(
    n_comparisons: int = 5000, *, n_topics: int = 50, n_instances: int = 100, rng: Rng = 0
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Figure 4's comparisons: systems with mean and variance of the instance effect on (0, 1).

    Each is (scores [instance, topic], scores of a deterministic system [topic]).

    Parameters
    ----------
    n_comparisons, n_topics, n_instances : int
        Comparisons, and the topics and instances of each.
    rng : int, Generator or None
        Seed; an iterator records none: give an integer to have the same comparisons again.

    Returns
    -------
    iterator of (array, array)
        Scores of the instances [instance, topic], and of the single run [topic].

    References
    ----------
    - Jayasinghe, Webber, Sanderson, Dharmasena & Culpepper (2015). Statistical comparisons of non-
      deterministic IR systems using two dimensional variance. IP&M. doi:10.1016/j.ipm.2015.06.005

    Examples
    --------
    >>> from steadyrank import papers
    >>> scores, single = next(papers.paper_comparisons(1, n_topics=5, n_instances=3))
    >>> scores.shape, single.shape
    ((3, 5), (5,))
    """
    # Not itself a generator: `rng` is refused, or drawn from, now and not at the first comparison.
    seed, size = seed_from(rng), (n_instances, n_topics)
    return (paper_comparison(seed, number, size=size) for number in range(n_comparisons))


def paper_comparison(
    seed: int, number: int, effects: Effects = "instance", *, size: tuple[int, int] = (100, 50)
) -> tuple[np.ndarray, np.ndarray]:
    """One of Figure 4's comparisons: an effect for each instance, or for each of its topics."""
    by_cell = ", by cell" if effects == "cell" else ""
    stream = block_stream(seed, f"simulated comparison{by_cell}", number)
    mean, variance = stream.random(2)
    scores = paper_scores(stream, mean, np.sqrt(variance), size=size, effects=effects)
    return scores, stream.random(size[1])


def method_pvalues(
    comparisons: Iterable[tuple[np.ndarray, np.ndarray]],
    *,
    n_samples: int = 100,
    jobs: int | None = None,
    rng: Rng = 0,
) -> MethodPvalues:
    """Figures 4, 10 and 11: every test of `METHODS` on every comparison.

    Parameters
    ----------
    comparisons : iterable of (array, array)
        Scores [instance, topic] and scores of a deterministic system [topic]; topics that any
        instance lacks are left out.
    n_samples : int
        Resamples of each instance, by Algorithm 2.
    jobs, rng : optional
        Threads; a seed, a `Generator` or None.

    Returns
    -------
    MethodPvalues
        The p-values of every method on every comparison.

    Notes
    -----
    "mixed_paper" is eq. (9) with crossed instances on the number of observations less one: in this
    layout its statistic is t of the topics' mean differences. Both bootstraps are in the paper's
    mode.

    References
    ----------
    - Jayasinghe, Webber, Sanderson, Dharmasena & Culpepper (2015). Statistical comparisons of non-
      deterministic IR systems using two dimensional variance. IP&M. doi:10.1016/j.ipm.2015.06.005

    Examples
    --------
    >>> tested = method_pvalues(paper_comparisons(20, n_instances=10))
    >>> tested.pvalues.shape, tested.agreement("mixed_paper", "bootstrap").correlation > 0.98
    ((5, 20), True)
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
    pvalues = np.array(rows).reshape(-1, len(METHODS)).T
    return MethodPvalues(methods=METHODS, pvalues=pvalues, n_samples=n_samples, seed=seed)


def pool_pvalues(
    a: np.ndarray,
    b: np.ndarray,
    *,
    sizes: Sequence[int] = POOL_SIZES,
    n_pools: int = 50,
    n_samples: int = 100,
    jobs: int | None = None,
    rng: Rng = 0,
) -> PoolPvalues:
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
    PoolPvalues
        The p-values of every method by pool size.

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
    >>> spread = pool_pvalues(a, np.full(30, -0.04), sizes=[2, 40]).spread()
    >>> bool((spread[:, 1] < spread[:, 0]).all())
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
        return _pool_tests(*pool, deterministic=b.ndim == 1, n_samples=n_samples, seed=seed)

    rows = in_threads(test, [(first[None], second[None]), *pools], jobs=jobs)
    return PoolPvalues(
        sizes=tuple(sizes),
        methods=methods,
        pvalues=np.stack(rows[1:], axis=1),
        whole=rows[0][:, 0],
        n_topics=first.shape[1],
        n_topics_dropped=dropped,
        seed=seed,
    )


def _all_methods(d: np.ndarray, n_samples: int, seed: int, number: int) -> list[float]:
    """p of every test of `METHODS` on differences [instance, topic]."""
    one = int(block_stream(seed, "instance at hand", number).integers(len(d)))
    own = seed * 1_000_003 + number
    single = algorithm_two(d[[one]], n_samples=10 * n_samples, mode="paper", seed=own, jobs=1)
    every = algorithm_two(d, n_samples=n_samples, mode="paper", seed=own, jobs=1)
    closed = {name: float(CLOSED["crossed"][name](d)) for name in ("mixed_paper", "mixed")}
    by_t = float(CLOSED["crossed"]["t_single"](d[[one]]))
    return [by_t, single.pvalue, closed["mixed_paper"], every.pvalue, closed["mixed"]]


def _pool_tests(
    first: np.ndarray, second: np.ndarray, *, deterministic: bool, n_samples: int, seed: int
) -> np.ndarray:
    """p of each test on pools [pool, instance, topic], [method, pool]."""
    if not deterministic:
        if first.shape != second.shape:
            return np.full((2, len(first)), np.nan)
        return np.stack(
            [CLOSED["nested"][name](first, second) for name in ("mixed_paper", "mixed")]
        )
    d = first - second
    resampled = [
        algorithm_two(pool, n_samples=n_samples, mode="paper", seed=seed, jobs=1).pvalue
        for pool in d
    ]
    tests = CLOSED["crossed"]
    return np.stack([tests["mixed_paper"](d), np.array(resampled), tests["mixed"](d)])


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


def agreement_table(name: str, pvalues: Mapping[str, MethodPvalues]) -> Table:
    """How far the paper's two tests, and the sound one, say the same."""
    rows = []
    for label, result in pvalues.items():
        for second in ("bootstrap", "mixed"):
            found = result.agreement("mixed_paper", second)
            alike = (found.correlation, found.mean_absolute_difference, found.same_decision)
            rows.append((label, second, *alike))
    header = ("", "mixed paper and", "correlation", "mean distance", "same decision at 0.05")
    return page_table(name, "Agreement of p-values", header, rows)


def agreement_claim(pvalues: MethodPvalues, where: str, *, least: float) -> Claim:
    """The paper's claim that its two tests agree."""
    tests = pvalues.agreement("mixed_paper", "bootstrap")
    return claim(
        f"The bootstrap and the mixed model give similar p-values{where}: their correlation is "
        f"above {least:g}, or their mean distance below {1 - least:.2g}.",
        tests.correlation > least or tests.mean_absolute_difference < 1 - least,
        f"correlation {tests.correlation:.4f}, mean distance {tests.mean_absolute_difference:.4f}, "
        f"same decision at 0.05 in {tests.same_decision:.3f}",
    )

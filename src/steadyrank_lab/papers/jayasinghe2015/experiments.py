"""Experiments of Jayasinghe, Webber, Sanderson, Dharmasena & Culpepper (IP&M 2015) as frames.

The paper's simulation of one instance tested alone (Figures 2 and 3, the comparisons of Figure 4),
what the instances of anyone's scores say one by one (Figures 6 to 8), p-values of pools of
instances and several tests on the same pools (Figures 9 to 11), and what the paper lacks: how often
each test rejects if there is no difference. The paper's two tests agree because they share a
statistic, which says nothing about their level. A frame's `attrs` have the settings and the seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, product, repeat
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from scipy import special

from steadyrank.compute.random import Rng, block_stream, blocks_of, seed_from
from steadyrank.data.scores import mean_of_present
from steadyrank.errors import InputError, arg, check_choice
from steadyrank.notebook import made_frame
from steadyrank.stats.inputs import check_open_unit, check_samples
from steadyrank.stats.instances.bootstrap import algorithm_two, two_way_bootstrap
from steadyrank.stats.pairs.tests import in_threads, paired_t
from steadyrank_lab.papers.jayasinghe2015.power import Design, InstanceTest, InstanceVariances
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

TOGETHER = 256
"""Comparisons that are held at a time."""

POOL_SIZES = (2, 3, 5, 10, 20, 50, 100)


def frame_with(data: Any, **settings: Any) -> pd.DataFrame:
    """Return a frame of rows or columns, whose `attrs` record how it was made."""
    frame = pd.DataFrame(data)
    frame.attrs.update(settings)
    return frame


def contradictions(
    systems: Mapping[str, np.ndarray],
    baseline: np.ndarray,
    *,
    alphas: Sequence[float] = (0.1, 0.05),
) -> pd.DataFrame:
    """Count paired t tests of each instance of each system against one baseline (Figure 7).

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
    - Jayasinghe et al. (2015). IP&M 51(5). doi:10.1016/j.ipm.2015.06.005

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
    rng: Rng = 0,
) -> pd.DataFrame:
    """Return p-values of all tests of `METHODS` on every comparison (Figures 4, 10 and 11).

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
    - Jayasinghe et al. (2015). IP&M 51(5). doi:10.1016/j.ipm.2015.06.005

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
    a: np.ndarray,
    b: np.ndarray,
    *,
    sizes: Sequence[int] = POOL_SIZES,
    n_pools: int = 50,
    n_samples: int = 100,
    jobs: int | None = None,
    rng: Rng = 0,
) -> pd.DataFrame:
    """Return p-values of pools of instances, drawn with replacement, by size (Figure 9).

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
    scatter somewhat more than those of the same number of different ones.

    References
    ----------
    - Jayasinghe et al. (2015). IP&M 51(5). doi:10.1016/j.ipm.2015.06.005

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
    check_choice("effects", effects, get_args(Effects))
    topics = stream.random((*size[:-2], 1, size[-1]))
    shape = size if effects == "cell" else (*size[:-1], 1)
    instances = np.clip(stream.normal(mean, spread, shape), 0.0, 1.0)
    return np.asarray(np.sqrt(0.5 * (topics**2 + instances**2)))


def paper_comparisons(
    n_comparisons: int = 5000, *, n_topics: int = 50, n_instances: int = 100, rng: Rng = 0
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield comparisons with mean and variance of the instance effect on (0, 1) (Figure 4).

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
    - Jayasinghe et al. (2015). IP&M 51(5). doi:10.1016/j.ipm.2015.06.005

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
    rng: Rng = 0,
) -> pd.DataFrame:
    """Return the share of a system's instances that differ significantly, tested alone (Figure 2).

    Each repetition draws a system (`paper_scores`) and a deterministic one whose scores are uniform
    on (0, 1), on other topics, and runs a paired t test for every instance. Where the share
    is neither near 0 nor near 1, the conclusion hangs on the instance that one happens to have.

    Parameters
    ----------
    means, spreads : sequence of float
        Means and standard deviations of the instance effect.
    n_topics, n_instances, n_trials : int
        Topics, instances of a system, and systems drawn for each mean and spread.
    alpha : float
        Level of the tests.
    effects : str
        One effect for each "instance", or for each of its topics ("cell").
    jobs, rng : optional
        Threads; a seed, a `Generator` or None.

    Returns
    -------
    DataFrame
        One row per mean and spread: the share of instances, and its Monte Carlo standard error
        (trials are independent, instances of one are not).

    References
    ----------
    - Jayasinghe et al. (2015). IP&M 51(5). doi:10.1016/j.ipm.2015.06.005

    Examples
    --------
    >>> shares = single_instance_shares(means=[0.45, 0.95], spreads=[0.0, 0.3], n_trials=20)
    >>> (shares["share"] < 0.1).tolist(), (shares["share"] > 0.95).tolist()
    ([True, False, False, False], [False, False, True, False])
    """
    seed = seed_from(rng)
    check_open_unit("alpha", alpha)
    for number in (n_topics, n_instances, n_trials):
        check_samples(number)
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

    sizes = {"n_topics": n_topics, "n_instances": n_instances, "n_trials": n_trials}
    rows = in_threads(tested, range(len(cells)), jobs=jobs)
    return frame_with(rows, **sizes, alpha=alpha, effects=effects, seed=seed)


def equivalence_intervals(
    sizes: Sequence[int] = tuple(range(10, 1001, 10)),
    *,
    sd: float = 0.1,
    delta: float = 0.01,
    confidence: float = 0.95,
    rng: Rng = 0,
) -> pd.DataFrame:
    """Return intervals of the mean of n differences N(0, sd²), a new sample for each n (Figure 3).

    Only many topics bring the interval within ±delta: few topics find no difference either, but
    show nothing.

    Parameters
    ----------
    sizes : sequence of int
        Numbers of topics.
    sd : float
        Standard deviation of the differences; the paper does not give its own.
    delta : float
        Margin of equivalence.
    confidence : float
        Of the intervals.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    DataFrame
        One row per number of topics: the interval, and whether it lies within the margin.

    References
    ----------
    - Jayasinghe et al. (2015). IP&M 51(5). doi:10.1016/j.ipm.2015.06.005

    Examples
    --------
    >>> equivalence_intervals([20, 2000])["inside"].tolist()
    [False, True]
    """
    seed = seed_from(rng)
    check_open_unit("confidence", confidence)
    n = np.asarray(sizes, dtype=np.int64)
    if n.size == 0 or n.min() < 2:
        raise InputError(f"an interval needs two topics or more, got sizes {list(sizes)}")
    samples = [block_stream(seed, "equal systems", int(size)).normal(0.0, sd, size) for size in n]
    mean = np.array([sample.mean() for sample in samples])
    error = np.array([sample.std(ddof=1) for sample in samples]) / np.sqrt(n)
    half = special.stdtrit(n - 1.0, 0.5 + 0.5 * confidence) * error
    low, high = mean - half, mean + half
    inside = (low > -delta) & (high < delta)
    columns = {"topics": n, "low": low, "high": high, "inside": inside}
    return frame_with(columns, sd=sd, delta=delta, confidence=confidence, seed=seed)


def instance_spread(systems: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Return the spread of the means of a system's instances (Figure 6).

    Parameters
    ----------
    systems : mapping of str to array
        Scores [instance, topic] by system; NaN where missing.

    Returns
    -------
    DataFrame
        One row per system: instances, and mean, sd, least and largest of their means over topics.

    References
    ----------
    - Jayasinghe et al. (2015). IP&M 51(5). doi:10.1016/j.ipm.2015.06.005

    Examples
    --------
    >>> spread = instance_spread({"sampled": np.array([[0.2, 0.4], [0.3, 0.8]])})
    >>> spread[["instances", "least", "largest"]].round(2).iloc[0].tolist()
    [2.0, 0.3, 0.55]
    """
    means = {name: mean_of_present(scores) for name, scores in systems.items()}
    return made_frame(
        {
            "system": name,
            "instances": len(values),
            "mean": float(values.mean()),
            "sd": float(values.std(ddof=1)) if len(values) > 1 else math.nan,
            "least": float(values.min()),
            "largest": float(values.max()),
        }
        for name, values in means.items()
    )


def topic_spread(scores: np.ndarray) -> pd.DataFrame:
    """Return the spread of scores [instance, topic] over instances by topic (Figure 8)."""
    if np.isnan(scores).all(axis=0).any():
        raise InputError("a topic has no score at all; leave it out")
    ends = {"least": np.nanmin(scores, axis=0), "largest": np.nanmax(scores, axis=0)}
    sd = np.ma.masked_invalid(scores).std(axis=0, ddof=1).filled(np.nan)
    return made_frame({"median": np.nanmedian(scores, axis=0), **ends, "sd": sd})


Shape = Literal["normal", "skewed"]
"""Shape of the effects that `error_rates` draws."""

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
        Nested: two systems with separate instance, system × topic and residual effects.
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
    - Jayasinghe et al. (2015). IP&M 51(5). doi:10.1016/j.ipm.2015.06.005

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
    """Return how often tests reject for normal effects, by integration: level or power.

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

"""What goes wrong when a non-deterministic system is judged by one instance of it?

The simulations and counts behind the figures of Jayasinghe, Webber, Sanderson, Dharmasena &
Culpepper (2015, doi:10.1016/j.ipm.2015.06.005) as frames: the paper's own simulation (Figures 2 and
3, the comparisons of Figure 4), and what the instances of anyone's scores say one by one (Figures 6
to 8). `instance_tests` compares tests. A frame's `attrs` have the settings and the seed behind it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Literal, get_args

import numpy as np
import pandas as pd
from scipy import special

from steadyrank.compute.random import Rng, block_stream, seed_from
from steadyrank.data.scores import mean_of_present
from steadyrank.errors import InputError, check_choice
from steadyrank.notebook import made_frame
from steadyrank.stats.inputs import check_open_unit, check_samples
from steadyrank.stats.pairs.tests import in_threads
from steadyrank_lab.papers.jayasinghe2015.pools import frame_with
from steadyrank_lab.papers.jayasinghe2015.pvalues import means_and_errors

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
    """The paper's non-deterministic system: scores of shape `size`, the last [instance, topic].

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
    """Figure 2: test each instance of a simulated system alone; how many differ significantly?

    Each repetition draws a system (`paper_scores`) and a deterministic one whose scores are uniform
    on (0, 1), with topics of its own, and runs a paired t test for every instance. Where the share
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
    - Jayasinghe, Webber, Sanderson, Dharmasena & Culpepper (2015). Statistical comparisons of non-
      deterministic IR systems using two dimensional variance. IP&M. doi:10.1016/j.ipm.2015.06.005

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
    """Figure 3: intervals of the mean of n differences N(0, sd²), a new sample for each n.

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
    - Jayasinghe, Webber, Sanderson, Dharmasena & Culpepper (2015). Statistical comparisons of non-
      deterministic IR systems using two dimensional variance. IP&M. doi:10.1016/j.ipm.2015.06.005

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
    """Figure 6: how the means of a system's instances spread.

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
    - Jayasinghe, Webber, Sanderson, Dharmasena & Culpepper (2015). Statistical comparisons of non-
      deterministic IR systems using two dimensional variance. IP&M. doi:10.1016/j.ipm.2015.06.005

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
    """Figure 8: how scores [instance, topic] spread over instances, one row per topic."""
    if np.isnan(scores).all(axis=0).any():
        raise InputError("a topic has no score at all; leave it out")
    ends = {"least": np.nanmin(scores, axis=0), "largest": np.nanmax(scores, axis=0)}
    sd = np.ma.masked_invalid(scores).std(axis=0, ddof=1).filled(np.nan)
    return made_frame({"median": np.nanmedian(scores, axis=0), **ends, "sd": sd})

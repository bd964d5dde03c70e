"""What goes wrong when a non-deterministic system is judged by one instance of it?

The simulations and counts behind the figures of Jayasinghe, Webber, Sanderson, Dharmasena &
Culpepper (2015, doi:10.1016/j.ipm.2015.06.005), as functions with results to plot: the paper's own
simulation (Figures 2 and 3). `single_instances` has what the instances of anyone's scores say one
by one (Figures 6 to 8), and `agreement` what compares tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from scipy import special

from steadyrank.compute.random import Rng, block_stream, seed_from
from steadyrank.errors import InputError, check_choice
from steadyrank.notebook import Exhibit, shown_by
from steadyrank.stats.inputs import check_open_unit, check_samples
from steadyrank.stats.mixed.two_way import means_and_errors
from steadyrank.stats.pairs.tests import in_threads

if TYPE_CHECKING:
    import pandas as pd

Effects = Literal["instance", "cell"]

GRID = tuple(np.round(np.arange(21) * 0.05, 2).tolist())
"""Means and standard deviations of the instance effect: the paper does not give its own."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by()
class SingleInstanceShares(Exhibit):
    """Figure 2: how many instances differ significantly from the same baseline.

    Examples
    --------
    >>> from steadyrank import papers
    >>> shares = papers.single_instance_shares(means=[0.95], spreads=[0.0], n_trials=20)
    >>> shares.share.tolist()
    [[1.0]]
    """

    means: np.ndarray
    spreads: np.ndarray
    """Mean and standard deviation of the instance effect."""
    share: np.ndarray
    """Of the instances, on average, [mean, spread]; near 0 and near 1 they agree."""
    share_error: np.ndarray
    """Monte Carlo standard error: trials are independent, instances of one are not."""
    n_topics: int
    n_instances: int
    n_trials: int
    alpha: float
    effects: Effects
    seed: int

    def caption(self) -> str:
        """What is shared, and of how much."""
        return (
            f"Share of {self.n_instances} instances that differ from a baseline on {self.n_topics} "
            f"topics at alpha {self.alpha:g}, over {self.n_trials} trials, by mean and "
            f"standard deviation of the instance effect; seed {self.seed}"
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per mean and spread of the instance effect."""
        import pandas as pd

        return pd.DataFrame(
            {
                "mean": np.repeat(self.means, len(self.spreads)),
                "spread": np.tile(self.spreads, len(self.means)),
                "share": self.share.ravel(),
                "share_error": self.share_error.ravel(),
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by()
class EquivalenceIntervals(Exhibit):
    """Figure 3: intervals of a difference that is 0, against the number of topics.

    Examples
    --------
    >>> from steadyrank import papers
    >>> papers.equivalence_intervals([20, 2000]).inside.tolist()
    [False, True]
    """

    sizes: np.ndarray
    low: np.ndarray
    high: np.ndarray
    inside: np.ndarray
    """Whether the interval lies within the margin: equivalence is shown."""
    sd: float
    delta: float
    confidence: float
    seed: int

    def caption(self) -> str:
        """Of which differences these are intervals."""
        return (
            f"{self.confidence:.0%} intervals of the mean of differences N(0, {self.sd:g}²), and "
            f"whether they lie within ±{self.delta:g}; seed {self.seed}"
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per number of topics."""
        import pandas as pd

        keys = {"topics": self.sizes, "low": self.low, "high": self.high, "inside": self.inside}
        return pd.DataFrame(keys)


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
) -> SingleInstanceShares:
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
    SingleInstanceShares
        Shares by mean and spread of the instances.

    References
    ----------
    - Jayasinghe, Webber, Sanderson, Dharmasena & Culpepper (2015). Statistical comparisons of non-
      deterministic IR systems using two dimensional variance. IP&M. doi:10.1016/j.ipm.2015.06.005

    Examples
    --------
    >>> shares = single_instance_shares(means=[0.45, 0.95], spreads=[0.0, 0.3], n_trials=20)
    >>> (shares.share[0] < 0.1).tolist(), (shares.share[1] > 0.95).tolist()
    ([True, False], [True, False])
    """
    seed = seed_from(rng)
    check_open_unit("alpha", alpha)
    for number in (n_topics, n_instances, n_trials):
        check_samples(number)
    cells = [(float(mean), float(spread)) for mean in means for spread in spreads]
    size = (n_trials, n_instances, n_topics)
    critical = float(special.stdtrit(n_topics - 1.0, 1.0 - 0.5 * alpha))

    def shares(cell: int) -> tuple[float, float]:
        stream = block_stream(seed, "instances tested one by one", cell)
        scores = paper_scores(stream, *cells[cell], size=size, effects=effects)
        scores -= stream.random((n_trials, 1, n_topics))
        difference, error = means_and_errors(scores)
        significant = (np.abs(difference) > critical * error).mean(axis=1)
        return float(significant.mean()), float(significant.std() / np.sqrt(n_trials))

    pairs = np.array(in_threads(shares, range(len(cells)), jobs=jobs))
    share, error = pairs.T.reshape(2, len(means), len(spreads))
    return SingleInstanceShares(
        means=np.asarray(means, dtype=np.float64),
        spreads=np.asarray(spreads, dtype=np.float64),
        share=share,
        share_error=error,
        n_topics=n_topics,
        n_instances=n_instances,
        n_trials=n_trials,
        alpha=alpha,
        effects=effects,
        seed=seed,
    )


def equivalence_intervals(
    sizes: Sequence[int] = tuple(range(10, 1001, 10)),
    *,
    sd: float = 0.1,
    delta: float = 0.01,
    confidence: float = 0.95,
    rng: Rng = 0,
) -> EquivalenceIntervals:
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
    EquivalenceIntervals
        Intervals by number of topics, and whether each lies within the margin.

    References
    ----------
    - Jayasinghe, Webber, Sanderson, Dharmasena & Culpepper (2015). Statistical comparisons of non-
      deterministic IR systems using two dimensional variance. IP&M. doi:10.1016/j.ipm.2015.06.005

    Examples
    --------
    >>> intervals = equivalence_intervals([20, 2000])
    >>> intervals.inside.tolist()
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
    return EquivalenceIntervals(
        sizes=n,
        low=low,
        high=high,
        inside=(low > -delta) & (high < delta),
        sd=sd,
        delta=delta,
        confidence=confidence,
        seed=seed,
    )

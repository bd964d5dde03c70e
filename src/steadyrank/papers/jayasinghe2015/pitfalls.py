"""What goes wrong when a non-deterministic system is judged by one instance of it?

The simulations and counts behind the figures of Jayasinghe, Webber, Sanderson, Dharmasena &
Culpepper (2015, doi:10.1016/j.ipm.2015.06.005), as functions with results to plot: the paper's own
simulation (Figures 2 and 3), and what the instances of anyone's scores say one by one (Figures 6 to
8). `agreement` and `levels` compare tests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from scipy import special

from steadyrank.compute.random import Rng, block_stream, seed_from
from steadyrank.errors import InputError, check_choice
from steadyrank.notebook import Exhibit, made_frame, shown_by
from steadyrank.stats.inputs import check_open_unit, check_samples
from steadyrank.stats.mixed.two_way import means_and_errors
from steadyrank.stats.pairs.tests import in_threads, paired_t

if TYPE_CHECKING:
    import pandas as pd

Effects = Literal["instance", "cell"]

GRID = tuple(np.round(np.arange(21) * 0.05, 2).tolist())
"""Means and standard deviations of the instance effect: the paper does not give its own."""


def long_frame(axes: Mapping[str, Sequence[Any] | np.ndarray], **columns: Any) -> pd.DataFrame:
    """One row per combination of the axes' values, with that cell of each array."""
    values = [np.array(axis, object) for axis in axes.values()]
    grid = np.meshgrid(*values, indexing="ij")
    keys = {name: cells.ravel().tolist() for name, cells in zip(axes, grid, strict=True)}
    return made_frame(keys | {name: array.ravel() for name, array in columns.items()})


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
        axes = {"mean": self.means, "spread": self.spreads}
        return long_frame(axes, share=self.share, share_error=self.share_error)


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
        columns = {"low": self.low, "high": self.high, "inside": self.inside}
        return long_frame({"topics": self.sizes}, **columns)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by()
class Contradictions(Exhibit):
    """Figure 7: instances that differ significantly from a baseline, by direction.

    Examples
    --------
    >>> import numpy as np
    >>> from steadyrank import papers
    >>> baseline = np.array([0.2, 0.3, 0.5, 0.4])
    >>> sampled = baseline[None] + [[0.1, 0.12, 0.1, 0.1]]
    >>> counts = papers.contradictions({"sampled": sampled}, baseline)
    >>> counts.systems, counts.better.tolist()
    (('sampled',), [[1, 1]])
    """

    systems: tuple[str, ...]
    alphas: tuple[float, ...]
    better: np.ndarray
    worse: np.ndarray
    """Numbers of instances, [system, alpha]."""
    n_instances: np.ndarray
    """[system]: with at least two topics in common with the baseline."""

    @property
    def disagreement(self) -> np.ndarray:
        """Chance that two instances lead to different conclusions, [system, alpha]."""
        whole = self.n_instances[:, None]
        none = whole - self.better - self.worse
        pairs = sum(counts * (counts - 1) for counts in (self.better, self.worse, none))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(1.0 - pairs / (whole * (whole - 1)))

    def caption(self) -> str:
        """What is counted."""
        return (
            "Instances that are significantly better or worse than the baseline, by paired t tests"
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per system and alpha."""
        return long_frame(
            {"system": self.systems, "alpha": self.alphas},
            instances=np.repeat(self.n_instances, len(self.alphas)),
            better=self.better,
            worse=self.worse,
            disagreement=self.disagreement,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by()
class InstanceSpread(Exhibit):
    """Figures 6 and 8: how instances' means, and each topic's scores, vary between instances.

    Examples
    --------
    >>> import numpy as np
    >>> from steadyrank import papers
    >>> spread = papers.instance_spread({"sampled": np.array([[0.2, 0.4], [0.3, 0.8]])})
    >>> spread.systems, spread.means[0].round(2).tolist()
    (('sampled',), [0.3, 0.55])
    """

    systems: tuple[str, ...]
    means: tuple[np.ndarray, ...]
    """Of each system: the mean over topics of each instance."""
    topics: np.ndarray
    """[system, topic, 5]: least, quartiles and largest score over instances."""

    def caption(self) -> str:
        """What varies."""
        return f"Means of instances over {self.topics.shape[1]} topics"

    def to_frame(self) -> pd.DataFrame:
        """One row per system: how the means of its instances spread."""
        return made_frame(
            {
                "system": system,
                "instances": len(means),
                "mean": float(means.mean()),
                "sd": float(means.std(ddof=1)) if len(means) > 1 else np.nan,
                "least": float(means.min()),
                "largest": float(means.max()),
            }
            for system, means in zip(self.systems, self.means, strict=True)
        )


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
    critical = float(special.stdtrit(n_topics - 1.0, 1.0 - 0.5 * alpha))

    def shares(cell: int) -> tuple[float, float]:
        stream = block_stream(seed, "instances tested one by one", cell)
        size = (n_trials, n_instances, n_topics)
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
    inside = (low > -delta) & (high < delta)
    made = {"sizes": n, "low": low, "high": high, "inside": inside}
    return EquivalenceIntervals(**made, sd=sd, delta=delta, confidence=confidence, seed=seed)


def contradictions(
    systems: Mapping[str, np.ndarray],
    baseline: np.ndarray,
    *,
    alphas: Sequence[float] = (0.1, 0.05),
) -> Contradictions:
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
    Contradictions
        How many instances are significantly better and worse than the baseline, per system and
        level.

    References
    ----------
    - Jayasinghe, Webber, Sanderson, Dharmasena & Culpepper (2015). Statistical comparisons of non-
      deterministic IR systems using two dimensional variance. IP&M. doi:10.1016/j.ipm.2015.06.005

    Examples
    --------
    >>> baseline = np.array([0.2, 0.3, 0.5, 0.4])
    >>> shifts = [[-0.1, -0.1, -0.12, -0.1], [0.1, -0.1, 0.1, -0.1], [0.1, 0.12, 0.1, 0.1]]
    >>> counts = contradictions({"sampled": baseline + np.array(shifts)}, baseline)
    >>> counts.worse.tolist(), counts.better.tolist(), counts.disagreement.tolist()
    ([[1, 1]], [[1, 1]], [[1.0, 1.0]])
    """
    for alpha in alphas:
        check_open_unit("alpha", alpha)
    better, worse = np.zeros((2, len(systems), len(alphas)), np.int64)
    n_instances = np.zeros(len(systems), np.int64)
    for place, scores in enumerate(systems.values()):
        rows = np.vstack([scores, baseline])
        pairs = np.stack([np.arange(len(scores)), np.full(len(scores), len(scores))], axis=1)
        test = paired_t(rows, pairs)
        n_instances[place] = (test.n > 1).sum()
        significant = test.pvalue[:, None] < np.array(alphas)
        better[place] = (significant & (test.difference > 0.0)[:, None]).sum(axis=0)
        worse[place] = (significant & (test.difference < 0.0)[:, None]).sum(axis=0)
    return Contradictions(
        systems=tuple(systems),
        alphas=tuple(alphas),
        better=better,
        worse=worse,
        n_instances=n_instances,
    )


def instance_spread(systems: Mapping[str, np.ndarray]) -> InstanceSpread:
    """Figures 6 and 8: means of instances, and the range of each topic's scores over instances.

    Parameters
    ----------
    systems : mapping of str to array
        Scores [instance, topic] by system; NaN where missing.

    Returns
    -------
    InstanceSpread
        Per system, the spread of its instances on every topic.

    References
    ----------
    - Jayasinghe, Webber, Sanderson, Dharmasena & Culpepper (2015). Statistical comparisons of non-
      deterministic IR systems using two dimensional variance. IP&M. doi:10.1016/j.ipm.2015.06.005

    Examples
    --------
    >>> instance_spread({"sampled": np.array([[0.2, 0.4], [0.3, 0.8]])}).means[0].round(2).tolist()
    [0.3, 0.55]
    """
    for name, scores in systems.items():
        if np.isnan(scores).all(axis=0).any() or np.isnan(scores).all(axis=1).any():
            raise InputError(f"{name}: an instance or a topic has no score at all; leave it out")
    ranges = [np.nanquantile(y, [0.0, 0.25, 0.5, 0.75, 1.0], axis=0).T for y in systems.values()]
    means = tuple(np.nanmean(scores, axis=1) for scores in systems.values())
    return InstanceSpread(systems=tuple(systems), means=means, topics=np.array(ranges))

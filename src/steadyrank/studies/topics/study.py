"""`topics`: would other topics change the table? Error rates by the size of the topic set.

Theory gives the probability that two experiments contradict each other (Lin & Hauptmann, SIGIR
2005) and, for an observed difference, that a second experiment reverses it. Experiments give the
rate at which disjoint sets of these topics do so, by the size of the difference (Voorhees &
Buckley, SIGIR 2002, doi:10.1145/564376.564432), with a curve through these rates.

Other topics are assumed to be clustered and weighted like these: a variance per topic is the one
that would give the variance of the mean without clusters, and numbers of topics follow from it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack, get_args

import numpy as np

from steadyrank._version import __version__
from steadyrank.compute.executors import Progress
from steadyrank.compute.memory import check_pairs
from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.order import scores_in_order
from steadyrank.data.read.run_info import describe_topics
from steadyrank.data.read.sources import PathLike
from steadyrank.data.scores import (
    Scores,
    cluster_codes,
    measure_of,
    of_some_weight,
    position,
    topic_weights,
)
from steadyrank.errors import InputError, check_choice, check_count, check_number, warn
from steadyrank.measures.arguments import data_first
from steadyrank.measures.evaluate import scores_of
from steadyrank.notebook import Framed, shown_by
from steadyrank.present.json import picked, rows_of
from steadyrank.present.view import Finding
from steadyrank.stats.inputs import check_counts
from steadyrank.stats.pairs.decisions import Decided, adjust
from steadyrank.stats.pairs.difference_bins import WIDTH
from steadyrank.stats.pairs.max_t import max_t, max_t_level
from steadyrank.stats.pairs.result import NO_DIFFERENCE, TOO_FEW, ZERO_VARIANCE, all_pairs
from steadyrank.stats.pairs.sign_flips import Draws
from steadyrank.stats.pairs.tests import moments, paired_t
from steadyrank.stats.pairs.topic_design import TopicDesign, cluster_sums, linearised
from steadyrank.stats.planning.design import check_rates
from steadyrank.stats.planning.needed_topics import NeededTopics, needed_topics
from steadyrank.stats.planning.reversal import (
    PairVariances,
    approximate_error_rate,
    error_rate,
    pair_variances,
    predictive_rate,
    swap_chances,
)
from steadyrank.stats.planning.variance import ASSURANCE, SKEWED
from steadyrank.stats.run_means import adjusted_means
from steadyrank.studies.topics.levels import (
    Binning,
    TopicLevel,
    count_splits,
    topic_levels,
    unit_of,
)
from steadyrank.words import MISSING, by_number, counted, level_words, roughly, size

MOST_FLIPPED = 500_000
"""Most pairs of runs for which levels are those of max-t; with more, Bonferroni's."""

PAIR_BYTES = 600
"""Memory for a pair of runs, in bytes."""

MOST_SIZES = 100
"""Most default sizes of topic sets."""


CONFIDENCE = 0.95
"""Level of the intervals of numbers of topics."""

ASSURED = f"{ASSURANCE:.0%} assurance"

_MOMENTS = "difference variance_a variance_b covariance variance"
_RATES = (
    "error_rate error_rate_independent approximation predictive predictive_limit expected_reversal"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.topics.view:VIEW.text")
class TopicsResult(Framed):
    """The result of `topics`: arrays with one entry per pair, and levels of the difference.

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=20, depth=50, pool_depth=25)
    >>> scores = sr.evaluate(track.runs, track.complete, "AP")
    >>> result = sr.topics(scores, n_trials=100)
    >>> result.pairs.tolist(), result.n_topics
    ([[0, 1], [0, 2], [1, 2]], 20)
    """

    measure: str
    runs: tuple[str, ...]
    mean: np.ndarray
    n_topics: int
    n_complete: int
    """Number of topics that every run has; splits use only these."""
    n_clusters: int | None
    """Number of clusters of these topics; None if they are not clustered."""
    is_weighted: bool
    n_trials: int
    alpha: float
    beta: float
    comparisons: int
    """Number of comparisons for which `alpha` holds."""
    comparison_alpha: float
    """Level of a single comparison, for which numbers of topics are computed."""
    binning: Binning
    seed: int
    pairs: np.ndarray
    """[pair, 2]: positions of the two runs."""
    variances: PairVariances
    error_rate: np.ndarray
    error_rate_independent: np.ndarray
    approximation: np.ndarray
    predictive: np.ndarray
    predictive_limit: np.ndarray
    """Predictive rate of a second experiment with unlimited topics, the lowest one."""
    expected_reversal: np.ndarray
    """Probability that as many other topics reverse a pair, calibrated on all pairs of the table
    (`steadyrank.stats.planning.reversal`)."""
    needed: NeededTopics
    """Topics for a paired t test at `comparison_alpha` with power 1 - beta, and 95% intervals."""
    significant: np.ndarray
    """Whether a pair differs significantly already, so that no further topics are needed."""
    sizes: tuple[int, ...]
    further_sizes: tuple[int, ...]
    """Sizes to which the fits are extrapolated."""
    levels: tuple[TopicLevel, ...]
    lower_is_better: bool = False

    @property
    def n_dropped(self) -> int:
        """Number of topics that splits leave out because some run lacks them."""
        return self.n_topics - self.n_complete

    @property
    def order(self) -> list[int]:
        """Positions of the runs, best mean first."""
        gains = -self.mean if self.lower_is_better else self.mean
        best_first = np.argsort(-np.nan_to_num(gains, nan=-np.inf), kind="stable")
        return [int(run) for run in best_first]

    @property
    def leaders(self) -> tuple[str, str]:
        """The best run and the second."""
        first, second = (self.runs[run] for run in self.order[:2])
        return first, second

    def sentence(self, a: str | None = None, b: str | None = None) -> str:
        """Return in words whether other topics reverse two runs, by default the leaders."""
        return " ".join(finding.text for finding in self.of_pair(a, b))

    def of_pair(self, a: str | None = None, b: str | None = None) -> list[Finding]:
        """Return whether other topics reverse two runs, and how many would show the difference."""
        names = (a or self.leaders[0], b or self.leaders[1])
        one, other = (position(name, self.runs, "run") for name in names)
        place = self.pair(one, other)
        (row,) = self.told([place])
        keys = "a b n difference expected_reversal significant topics_needed topics_needed_interval"
        values = {key: row[key] for key in [*keys.split(), "topics_assured"]}
        first, second, gap, n = (row[key] for key in ("a", "b", "difference", "n"))
        if row["flag"] == TOO_FEW:
            text = f"{first} and {second} share {counted(n, 'topic')}: too few for an estimate."
            return [Finding("topics.too_few", text, values)]
        if row["flag"] == NO_DIFFERENCE or gap == 0.0:
            text = f"{first} and {second} have the same mean {self.measure} on {n} topics."
            return [Finding("topics.no_order", text, values)]
        if (gap < 0) != self.lower_is_better:
            first, second = second, first
        if row["flag"] == ZERO_VARIANCE:
            text = f"{first} leads {second} by {abs(gap):.4f} on every topic."
            return [Finding("topics.reversal", text, values)]
        chance = roughly(row["expected_reversal"])
        text = f"On {n} new topics, {first} falls below {second} with probability {chance}."
        said = [Finding("topics.reversal", text, values)]
        if not row["significant"]:
            most = row["topics_assured"]
            needed = "no number of topics" if most is None else f"{size(most)} topics ({ASSURED})"
            text = f"Showing its lead with {self.level_words()} requires {needed}."
            said.append(Finding("topics.needed", text, values))
            skewness = float(self.variances.skewness[place])
            if abs(skewness) > SKEWED:
                text = f"Their differences are skewed ({skewness:.1f}): topics may be too few."
                said.append(Finding("topics.skewed", text, {"skewness": skewness}))
        return said

    def test_words(self) -> str:
        """Return the test for which numbers of topics are computed."""
        kind = "paired" if self.n_clusters is None else "cluster-robust"
        return f"a {kind} t test with {self.level_words()}"

    def level_words(self) -> str:
        """Return power and level of that test."""
        return f"power {1.0 - self.beta:g} at {level_words(self.alpha, self.comparisons)}"

    def pair(self, one: int, other: int) -> int:
        """Return the place of the pair of two runs, given by their positions in either order."""
        first, second = min(one, other), max(one, other)
        if first == second:
            raise InputError(f"{self.runs[one]!r} is one run: name two")
        return first * (2 * len(self.runs) - first - 1) // 2 + second - first - 1

    def caption(self) -> str:
        """Return the measure and the sizes, for captions."""
        dropped = f" ({self.n_dropped} omitted from the splits)" if self.n_dropped else ""
        design = "" if self.n_clusters is None else f" in {counted(self.n_clusters, 'cluster')}"
        design += ", weighted" if self.is_weighted else ""
        design += " (other topics alike)" if design else ""
        return (
            f"{self.measure}, {counted(self.n_topics, 'topic')}{dropped}{design}, "
            f"{counted(self.n_trials, 'split')}, seed {self.seed}; steadyrank {__version__}."
        )

    def rows(self, which: Sequence[int] | slice = slice(None)) -> list[dict[str, Any]]:
        """Return one row per pair, with the keys of the JSON output."""
        first, second = self.pairs[which].T
        # Without an upper limit, the number at the observed difference is meaningless.
        top = self.needed.high[which]
        known = np.where(np.isfinite(top), self.needed.topics[which], np.nan)
        needed, low, high = (
            [int(n) if math.isfinite(n) else None for n in sizes.tolist()]
            for sizes in (known, self.needed.low[which], top)
        )
        return rows_of(
            {
                "a": [self.runs[run] for run in first],
                "b": [self.runs[run] for run in second],
                "n": self.variances.n[which],
                "mean_a": self.mean[first],
                "mean_b": self.mean[second],
                **{key: x[which] for key, x in picked(self.variances, _MOMENTS).items()},
                **{key: rate[which] for key, rate in picked(self, _RATES).items()},
                "significant": self.significant[which],
                "topics_needed": needed,
                "topics_needed_interval": list(zip(low, high, strict=True)),
                "flag": self.variances.flag[which],
            }
        )

    def told(self, which: Sequence[int] | slice = slice(None)) -> list[dict[str, Any]]:
        """Return these rows with the assured number of topics, which CSV does not have."""
        assured = [
            int(n) if math.isfinite(n) else None for n in self.needed.assured[which].tolist()
        ]
        return [
            row | {"topics_assured": n} for row, n in zip(self.rows(which), assured, strict=True)
        ]

    def curves(self) -> list[dict[str, Any]]:
        """Return one row per level and size: the curves of the figure."""
        return [
            {
                **picked(level, "low high pairs"),
                "size": n,
                **{key: curve[s].item() for key, curve in level.curves.items()},
                "fitted": level.fit.b1 * math.exp(-level.fit.b2 * n) if level.fit else math.nan,
            }
            for level in self.levels
            for s, n in enumerate(self.sizes)
        ]


def needed_figure(row: Mapping[str, Any]) -> str:
    """Return the topics that a pair requires for a cell of a table.

    >>> row = {"flag": "", "significant": False, "topics_assured": 811}
    >>> needed_figure(row), needed_figure(row | {"topics_assured": None})
    ('811', 'none')
    """
    if row["significant"]:
        return "significant"
    if row["topics_assured"] is None:
        return MISSING if row["flag"] == TOO_FEW else "none"
    return size(row["topics_assured"])


@data_first
def topics(
    scores: Any,
    qrels: Any = None,
    measure: str | None = None,
    *,
    sizes: Sequence[int] | None = None,
    n_trials: int = 1000,
    alpha: float = 0.05,
    beta: float = 0.2,
    decided: Decided | None = None,
    topic_info: PathLike | None = None,
    cluster_from: str | None = None,
    binning: Binning = "first",
    jobs: int | None = None,
    progress: Progress | None = None,
    rng: Rng = 0,
) -> TopicsResult:
    """Estimate how often other topics would reverse the order of two runs.

    For every pair of runs: the error rate of its difference, with the variance of paired and of
    independent scores, its closed approximation, and the predictive rate. The latter holds for an
    observed difference, with as many topics or with any number (it does not tend to 0, since the
    first experiment keeps its error). Further, the topics with which a paired t test shows the
    difference, with a 95% interval (`steadyrank.stats.planning.needed_topics`).

    For 21 levels of the difference, 0.01 wide (1 for scores up to 100, 10 up to 1,000): the
    variance, these rates at each of `sizes`, and the empirical rate over random splits. A split
    compares the first n topics of a random order with the last n, for all n up to half the topics
    that every run has; larger sizes have theory only.

    Parameters
    ----------
    scores, qrels : Scores, or runs and judgments
        Runs and judgments as in `evaluate`.
    measure : str, optional
        Required if the scores have several measures; for runs AP, or nDCG@10 if graded.
    sizes : sequence of int, optional
        Sizes of topic sets; 5, 10, … unless given.
    n_trials : int
        Number of random splits.
    alpha, beta : float
        The t test has power 1 - beta at the level of a single comparison: by default that of
        `compare`, max-t over all pairs of runs or Holm's correction.
    decided : CompareResult, optional
        A result of `compare` with the level and the pairs that are significant already.
    topic_info, cluster_from : optional
        As in `evaluate`: clusters and weights of the topics.
    binning : str
        A pair counts in the level of its difference in the "first" set; with "both" a second time
        with the sets exchanged.
    jobs : int, optional
        Number of threads.
    progress : callable, optional
        Called with (finished, total) blocks of splits.
    rng : int, Generator or None
        Seed; results do not depend on `jobs`.

    Returns
    -------
    TopicsResult
        For each pair the rates and the topics needed (`rows()`, `to_frame()`), for each level of
        the difference its curves (`levels`); `sentence(a, b)` says it in words.

    Notes
    -----
    With an observed difference d on n topics and the variance v of per-topic differences, the
    predictive rate is Phi(-|d| / sqrt(2 v / n)), and Phi(-|d| / sqrt(v / n)) for any number of
    topics of the second experiment. Missing scores are left out pair by pair; clustered or weighted
    topics must be complete, and splits keep clusters whole. The result does not apply to other
    documents, judgments or random instances of the runs.

    References
    ----------
    - Lin & Hauptmann (2005). Revisiting the effect of topic set size on retrieval error. SIGIR.
      doi:10.1145/1076034.1076166
    - Voorhees & Buckley (2002). The effect of topic set size on retrieval experiment error. SIGIR.
      doi:10.1145/564376.564432

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=3, runs_per_team=2, n_topics=40, depth=50, pool_depth=25)
    >>> scores = sr.evaluate(track.runs, track.complete, "AP")
    >>> result = sr.topics(scores, n_trials=200)
    >>> len(result.pairs), result.sizes
    (15, (4, 8, 12, 16, 20))
    """
    seed = seed_from(rng)
    scores = scores_of(scores, qrels, measure, jobs=jobs)
    scores = of_some_weight(
        describe_topics(scores, topic_info=topic_info, cluster_from=cluster_from)
    )
    name = _check(scores, measure, n_trials, binning)
    check_rates(check_number("alpha", alpha), check_number("beta", beta))
    scores = scores_in_order(scores)
    drawn = drawn_topics(scores, name)
    matrix = drawn.matrix
    pairs = all_pairs(len(matrix))
    moments = clustered_variances(pair_variances(matrix, pairs), drawn, pairs)
    complete = matrix[:, ~np.isnan(matrix).any(axis=0)]
    _warn_of_dropped(len(scores.topics), complete.shape[1])
    n = complete.shape[1] if complete.shape[1] > 1 else matrix.shape[1]
    chosen = (
        default_sizes(n) if sizes is None else tuple(sorted(check_counts("sizes", sizes, lowest=1)))
    )
    further = tuple(sorted({n, 2 * n} | {size for size in chosen if 2 * size > n}))
    unit = unit_of(matrix)
    splits = count_splits(
        complete / unit,
        chosen,
        n_trials=n_trials,
        clusters=drawn.design.clusters,
        binning=binning,
        jobs=jobs,
        progress=progress,
        seed=seed,
    )
    difference, variance = moments.difference, moments.variance
    independent = moments.variance_a + moments.variance_b
    at = np.where(moments.n > 0, moments.n, np.nan)
    comparisons = len(pairs)
    if decided is not None and decided.comparison_alpha > 0.0:
        level, significant = decided.comparison_alpha, _decided(decided, scores.runs, pairs)
        comparisons = len(decided.pairs) if level < alpha else 1
    else:
        level, significant = _decisions(drawn, pairs, alpha=alpha, seed=seed, jobs=jobs)
    return TopicsResult(
        measure=name,
        lower_is_better=scores.lower_is_better(name),
        runs=scores.runs,
        mean=adjusted_means(matrix),
        n_topics=len(scores.topics),
        n_clusters=drawn.design.n_clusters,
        is_weighted="weight" in scores.topic_info,
        n_complete=complete.shape[1],
        n_trials=n_trials,
        alpha=alpha,
        beta=beta,
        comparisons=comparisons,
        comparison_alpha=level,
        significant=significant,
        binning=binning,
        seed=seed,
        pairs=pairs,
        variances=moments,
        error_rate=error_rate(difference, variance, at),
        error_rate_independent=error_rate(difference, independent, at),
        approximation=approximate_error_rate(difference, variance, at),
        predictive=predictive_rate(difference, variance, at),
        predictive_limit=predictive_rate(difference, variance, at, math.inf),
        expected_reversal=swap_chances(drawn.drawn, pairs),
        needed=clustered_needed(moments, drawn, alpha=level, beta=beta, confidence=CONFIDENCE),
        sizes=chosen,
        further_sizes=further,
        levels=topic_levels(moments, splits, chosen, further, width=WIDTH * unit),
    )


def _decided(decided: Decided, runs: Sequence[str], pairs: np.ndarray) -> np.ndarray:
    """Return [pair], whether it is decided to be significant."""
    names = np.array(decided.runs, object)[decided.pairs[decided.significant]]
    shown = {frozenset(pair) for pair in names.tolist()}
    return np.array([frozenset((runs[a], runs[b])) in shown for a, b in pairs.tolist()], bool)


def _decisions(
    drawn: DrawnTopics, pairs: np.ndarray, **draws: Unpack[Draws]
) -> tuple[float, np.ndarray]:
    """Return the level of a single comparison and the significant pairs, as `compare` does."""
    matrix, alpha = drawn.matrix, draws["alpha"]
    if drawn.design.is_trivial and len(pairs) <= MOST_FLIPPED:
        together = max_t(matrix, pairs, **draws)
        n = moments(matrix, pairs).n
        level = max_t_level(n, together.critical, alpha) or alpha / len(pairs)
        return level, np.nan_to_num(together.pvalue, nan=1.0) <= alpha
    tests = paired_t(matrix, pairs, drawn.design)
    return alpha / len(pairs), np.nan_to_num(adjust(tests.pvalue), nan=1.0) <= alpha


def default_sizes(n_topics: int) -> tuple[int, ...]:
    """Return 5, 10, … up to half the topics, in smaller steps for fewer than 50 topics.

    For more than 1,000 topics, steps are larger, so that there are at most a hundred sizes.

    >>> default_sizes(50), default_sizes(20), default_sizes(6)
    ((5, 10, 15, 20, 25), (2, 4, 6, 8, 10), (1, 2, 3))
    >>> default_sizes(100_000)[:3], len(default_sizes(100_000))
    ((500, 1000, 1500), 100)
    """
    half = n_topics // 2
    step = max(1, min(5, half // 5)) * max(1, math.ceil(half / 5 / MOST_SIZES))
    return tuple(range(step, half + 1, step))


def _check(scores: Scores, measure: Any, n_trials: Any, binning: Any) -> str:
    """Check the arguments and return the measure's name."""
    check_count("n_trials", n_trials)
    check_choice("binning", binning, get_args(Binning))
    if len(scores.runs) < 2:
        raise InputError("topics compares runs: at least two are required")
    check_pairs(len(scores.runs), PAIR_BYTES)
    if len(scores.topics) < 2:
        raise InputError("a single topic has no variance: give scores on at least two")
    return measure_of(scores, measure)


def _warn_of_dropped(n_topics: int, n_complete: int) -> None:
    if n_complete < 2:
        have = by_number(n_complete, "has", "have")
        whole = f"{n_complete} of {n_topics} topics"
        warn(f"{whole} {have} scores of every run: there are no splits")
    elif n_complete < n_topics:
        dropped = n_topics - n_complete
        lack, them = by_number(dropped, "lacks", "lack"), by_number(dropped, "it", "them")
        warn(f"{dropped} of {n_topics} topics {lack} scores of some run: the splits omit {them}")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawnTopics:
    """The scores that the study uses, and their clusters."""

    matrix: np.ndarray
    """[run, topic]; for weighted topics, values whose plain means are the weighted means."""
    design: TopicDesign
    drawn: np.ndarray
    """[run, cluster]: one value per cluster with the means of the runs; else the matrix."""


def drawn_topics(scores: Scores, measure: str) -> DrawnTopics:
    """Return the scores of a measure; clustered or weighted topics must be complete."""
    matrix = scores.matrix(measure)
    design = TopicDesign(clusters=cluster_codes(scores), weights=topic_weights(scores))
    if design.is_plain:
        return DrawnTopics(matrix=matrix, design=design, drawn=matrix)
    kept = ~np.isnan(matrix).any(axis=0)
    matrix, design = matrix[:, kept], design.of(kept)
    if matrix.shape[1] < 2 or (design.n_clusters or 2) < 2:
        raise InputError(
            "clustered or weighted topics require two clusters on which all runs have scores"
        )
    drawn = linearised(cluster_sums(matrix, design))
    if design.weights is not None:
        matrix = linearised(cluster_sums(matrix, TopicDesign(weights=design.weights)))
    # The values now include the weights.
    return DrawnTopics(matrix=matrix, design=TopicDesign(clusters=design.clusters), drawn=drawn)


def clustered_variances(
    moments: PairVariances, topics: DrawnTopics, pairs: np.ndarray
) -> PairVariances:
    """Return variances per topic that give the cluster-robust variances of means."""
    if topics.design.clusters is None:
        return moments
    n_runs, n_topics = topics.matrix.shape
    # The difference of a run and a row of zeros has the variance of the run's mean.
    with_zero = np.vstack([topics.matrix, np.zeros(n_topics)])
    alone = np.stack([np.arange(n_runs), np.full(n_runs, n_runs)], axis=1)
    own = _per_topic(with_zero, alone, topics.design)
    robust = _per_topic(topics.matrix, pairs, topics.design)
    variance = np.where(moments.flag == "", robust, moments.variance)
    variance_a, variance_b = own[pairs[:, 0]], own[pairs[:, 1]]
    by_cluster = pair_variances(topics.drawn, pairs)
    return replace(
        moments,
        df=by_cluster.df,
        skewness=by_cluster.skewness,
        variance_a=variance_a,
        variance_b=variance_b,
        covariance=0.5 * (variance_a + variance_b - variance),
        variance=variance,
    )


def _per_topic(matrix: np.ndarray, pairs: np.ndarray, design: TopicDesign) -> np.ndarray:
    errors = paired_t(matrix, pairs, design).standard_error
    assert errors is not None
    return np.asarray(matrix.shape[1] * np.square(errors))


def clustered_needed(
    moments: PairVariances, topics: DrawnTopics, *, alpha: float, beta: float, confidence: float
) -> NeededTopics:
    """Return the topics for a test, or the topics of enough clusters of the present mean size."""
    sizes = np.where(moments.n > 0, moments.n, np.nan)
    levels: dict[str, Any] = {"alpha": alpha, "beta": beta, "confidence": confidence}
    levels |= {"variance_df": moments.df, "corrected": True}
    n_clusters = topics.design.n_clusters
    if n_clusters is None:
        return needed_topics(moments.difference, moments.variance, sizes, **levels)
    per_cluster = topics.matrix.shape[1] / n_clusters
    clusters = needed_topics(
        moments.difference, moments.variance / per_cluster, sizes / per_cluster, **levels
    )
    sizes_in_topics = picked(clusters, "topics low high assured").items()
    return NeededTopics(**{key: np.ceil(n * per_cluster) for key, n in sizes_in_topics})

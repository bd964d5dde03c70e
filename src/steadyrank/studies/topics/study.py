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
import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack, get_args

import numpy as np

from steadyrank.compute.executors import Progress
from steadyrank.compute.memory import check_pairs
from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.order import scores_in_order
from steadyrank.data.read.run_info import describe_topics
from steadyrank.data.read.run_names import run_called
from steadyrank.data.read.sources import PathLike
from steadyrank.data.scores import (
    Scores,
    cluster_codes,
    measure_of,
    of_some_weight,
    position,
    topic_weights,
)
from steadyrank.errors import (
    InputError,
    arg,
    bad_value,
    check_choice,
    check_count,
    check_number,
    warn,
)
from steadyrank.measures.arguments import data_first
from steadyrank.measures.evaluate import scores_of
from steadyrank.measures.names import counts_documents
from steadyrank.stats.pairs.decisions import Decided, adjust
from steadyrank.stats.pairs.difference_bins import WIDTH, check_width
from steadyrank.stats.pairs.max_t import max_t, max_t_level
from steadyrank.stats.pairs.result import all_pairs, pairs_with
from steadyrank.stats.pairs.sign_flips import Draws
from steadyrank.stats.pairs.tests import moments, paired_t
from steadyrank.stats.pairs.topic_design import TopicDesign, cluster_sums, linearised
from steadyrank.stats.planning.demands import check_comparisons
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
from steadyrank.stats.run_means import adjusted_means
from steadyrank.studies.topics.levels import Binning, count_splits, topic_levels
from steadyrank.studies.topics.result import CONFIDENCE, TopicsResult
from steadyrank.words import by_number

MOST_FLIPPED = 500_000
"""Most pairs of runs for which levels are those of max-t; with more, Bonferroni's."""

PAIR_BYTES = 600
"""Memory for a pair of runs, in bytes."""

MOST_SIZES = 100
"""Most default sizes of topic sets."""


@data_first
def topics(
    scores: Any,
    qrels: Any = None,
    measure: str | None = None,
    *,
    sizes: Sequence[int] | None = None,
    n_trials: int = 1000,
    target: float = 0.05,
    alpha: float = 0.05,
    beta: float = 0.2,
    comparisons: int | None = None,
    decided: Decided | None = None,
    baseline: str | None = None,
    topic_info: PathLike | None = None,
    cluster_from: str | None = None,
    binning: Binning = "first",
    level_width: float = WIDTH,
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

    For levels of the difference: the variance, these rates at each of `sizes`, and the empirical
    rate over random splits. A split compares the first n topics of a random order with the last n,
    for all n up to half the topics that every run has; larger sizes have theory only.

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
    target : float
        Pairs with a predictive rate above it are counted.
    alpha, beta : float
        The t test has power 1 - beta at the level of a single comparison: by default that of
        `compare`, max-t over all pairs of runs or Holm's correction.
    comparisons : int, optional
        Use alpha divided by this number as the level instead.
    decided : CompareResult, optional
        A result of `compare` with the level and the pairs that are significant already.
    baseline : str, optional
        Pair every run with this one only.
    topic_info, cluster_from : optional
        As in `evaluate`: clusters and weights of the topics.
    binning : str
        A pair counts in the level of its difference in the "first" set; with "both" a second time
        with the sets exchanged.
    level_width : float
        Width of the 21 levels of the difference; the last one has no upper end.
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
    baseline = run_called(baseline, scores)
    name = _check(scores, measure, n_trials, baseline, binning)
    width = check_width("level_width", level_width)
    check_rates(check_number("alpha", alpha), check_number("beta", beta))
    if not 0.0 < check_number("target", target) < 0.5:
        raise bad_value("target", "lie strictly between 0 and 0.5 (the rate of a coin)", target)
    scores = scores_in_order(scores)
    drawn = drawn_topics(scores, name)
    matrix, clusters = drawn.matrix, drawn.design.clusters
    every_pair = all_pairs(len(matrix))
    everyone = clustered_variances(pair_variances(matrix, every_pair), drawn, every_pair)
    complete = matrix[:, ~np.isnan(matrix).any(axis=0)]
    _warn_of_dropped(len(scores.topics), complete.shape[1])
    _warn_of_counts(name, width)
    n = complete.shape[1] if complete.shape[1] > 1 else matrix.shape[1]
    chosen = default_sizes(n) if sizes is None else _check_sizes(sizes)
    further = tuple(sorted({n, 2 * n} | {size for size in chosen if 2 * size > n}))
    splits = count_splits(
        complete,
        chosen,
        n_trials=n_trials,
        clusters=clusters,
        largest=None if clusters is None else drawn.largest_size,
        binning=binning,
        width=width,
        jobs=jobs,
        progress=progress,
        seed=seed,
    )
    pairs, moments = every_pair, everyone
    if baseline is not None:
        base = position(baseline, scores.runs, "run")
        pairs = pairs_with(len(matrix), base)
        moments = clustered_variances(pair_variances(matrix, pairs), drawn, pairs)
    difference, variance = moments.difference, moments.variance
    independent = moments.variance_a + moments.variance_b
    size = np.where(moments.n > 0, moments.n, np.nan)
    n_comparisons = len(pairs) if comparisons is None else check_comparisons(comparisons)
    level, significant = _decisions(
        drawn,
        scores.runs,
        pairs,
        decided,
        n_comparisons if comparisons is not None else None,
        alpha=alpha,
        seed=seed,
        jobs=jobs,
    )
    return TopicsResult(
        measure=name,
        lower_is_better=scores.lower_is_better(name),
        runs=scores.runs,
        mean=adjusted_means(matrix),
        n_topics=len(scores.topics),
        n_clusters=drawn.n_clusters,
        is_weighted="weight" in scores.topic_info,
        n_complete=complete.shape[1],
        n_trials=n_trials,
        target=target,
        alpha=alpha,
        beta=beta,
        comparisons=n_comparisons,
        comparison_alpha=level,
        significant=significant,
        binning=binning,
        baseline=baseline,
        seed=seed,
        pairs=pairs,
        variances=moments,
        error_rate=error_rate(difference, variance, size),
        error_rate_independent=error_rate(difference, independent, size),
        approximation=approximate_error_rate(difference, variance, size),
        predictive=predictive_rate(difference, variance, size),
        predictive_limit=predictive_rate(difference, variance, size, math.inf),
        expected_reversal=swap_chances(drawn.drawn, pairs),
        needed=clustered_needed(moments, drawn, alpha=level, beta=beta, confidence=CONFIDENCE),
        sizes=chosen,
        further_sizes=further,
        levels=topic_levels(everyone, splits, chosen, further, width=width),
    )


def _decisions(
    drawn: DrawnTopics,
    runs: Sequence[str],
    pairs: np.ndarray,
    decided: Decided | None,
    comparisons: int | None,
    **draws: Unpack[Draws],
) -> tuple[float, np.ndarray]:
    """Return the level of a single comparison and the significant pairs, as `compare` does."""
    if decided is not None and decided.comparison_alpha > 0.0:
        names = np.array(decided.runs, object)[decided.pairs[decided.significant]]
        shown = {frozenset(pair) for pair in names.tolist()}
        known = [frozenset((runs[a], runs[b])) in shown for a, b in pairs.tolist()]
        return decided.comparison_alpha, np.array(known, bool)
    matrix, alpha, is_plain = drawn.matrix, draws["alpha"], drawn.design.is_trivial
    if comparisons is None and is_plain and len(pairs) <= MOST_FLIPPED:
        together = max_t(matrix, pairs, **draws)
        n = moments(matrix, pairs).n
        level = max_t_level(n, together.critical, alpha) or alpha / len(pairs)
        return level, np.nan_to_num(together.pvalue, nan=1.0) <= alpha
    tests = paired_t(matrix, pairs, drawn.design)
    if comparisons is not None:
        return alpha / comparisons, np.nan_to_num(tests.pvalue, nan=1.0) <= alpha / comparisons
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


def _check(scores: Scores, measure: Any, n_trials: Any, baseline: str | None, binning: Any) -> str:
    """Check the arguments and return the measure's name."""
    check_count("n_trials", n_trials)
    check_choice("binning", binning, get_args(Binning))
    if len(scores.runs) < 2:
        raise InputError("topics compares runs: at least two are required")
    check_pairs(len(scores.runs), PAIR_BYTES)
    if len(scores.topics) < 2:
        raise InputError("a single topic has no variance: give scores on at least two")
    if baseline is not None:
        position(baseline, scores.runs, "run")
    return measure_of(scores, measure)


def _check_sizes(sizes: Sequence[int]) -> tuple[int, ...]:
    try:
        whole = [operator.index(size) for size in sizes]
    except TypeError:
        raise bad_value("sizes", "be whole numbers of topics", sizes) from None
    if not whole or min(whole) < 1:
        raise bad_value("sizes", "be numbers of topics of at least 1", sizes)
    return tuple(sorted(set(whole)))


def _warn_of_dropped(n_topics: int, n_complete: int) -> None:
    if n_complete < 2:
        have = by_number(n_complete, "has", "have")
        whole = f"{n_complete} of {n_topics} topics"
        message = f"{whole} {have} scores of every run: there are no splits"
    elif n_complete < n_topics:
        dropped = n_topics - n_complete
        lack, them = by_number(dropped, "lacks", "lack"), by_number(dropped, "it", "them")
        message = (
            f"{dropped} of {n_topics} topics {lack} scores of some run: the splits omit {them}"
        )
    else:
        return
    warn(message)


def _warn_of_counts(measure: str, width: float) -> None:
    if counts_documents(measure) and width == WIDTH:
        warn(
            f"{measure} counts documents: levels of the difference are 0.01 wide, which is meant "
            f"for scores up to 1: set {arg('level_width')}, such as 1"
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawnTopics:
    """The scores that the study uses, and their clusters."""

    matrix: np.ndarray
    """[run, topic]; for weighted topics, values whose plain means are the weighted means."""
    design: TopicDesign
    drawn: np.ndarray
    """[run, cluster]: one value per cluster with the means of the runs; else the matrix."""

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters; None if topics are not clustered."""
        return self.design.n_clusters

    @property
    def largest_size(self) -> int:
        """Largest size of two disjoint sets of topics without a common cluster in any order."""
        n_topics = int(self.matrix.shape[1])
        if self.design.clusters is None:
            return n_topics // 2
        largest = int(np.unique(self.design.clusters, return_counts=True)[1].max())
        return (n_topics - largest) // 2


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
    if topics.n_clusters is None:
        return needed_topics(moments.difference, moments.variance, sizes, **levels)
    per_cluster = topics.matrix.shape[1] / topics.n_clusters
    clusters = needed_topics(
        moments.difference, moments.variance / per_cluster, sizes / per_cluster, **levels
    )
    return NeededTopics(
        topics=np.ceil(clusters.topics * per_cluster),
        low=np.ceil(clusters.low * per_cluster),
        high=np.ceil(clusters.high * per_cluster),
        assured=np.ceil(clusters.assured * per_cluster),
    )

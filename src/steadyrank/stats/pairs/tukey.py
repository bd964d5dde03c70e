"""Which of many runs differ, when every pair is looked at: Tukey's honest differences.

For anyone who compares all runs of a track at once: one statement that holds for all pairs
together. The classical test takes the residual of the two-way model runs + topics; the randomised
one (Carterette 2012, Sakai) replaces its normality by dealing each topic's scores afresh.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steadyrank.compute.random import block_stream, blocks_of
from steadyrank.errors import check_choice
from steadyrank.stats.anova.balanced import AnovaSource, anova
from steadyrank.stats.inputs import (
    check_open_unit,
    check_samples,
    check_scores,
    checked,
    complete_topics,
)
from steadyrank.stats.pairs import studentized_range
from steadyrank.stats.pairs.kernels import permuted_ranges
from steadyrank.stats.pairs.result import CONSTANT, NO_DIFFERENCE, TOO_FEW, ZERO_VARIANCE, PairTests
from steadyrank.stats.pairs.tests import in_threads, moments, slices

WORDS_AT_ONCE = 1 << 19
"""Random words drawn at a time for the shuffles: 4 MiB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoWayAnova:
    """Runs x topics without replication, over the topics that every run has."""

    run: AnovaSource
    topic: AnovaSource
    error: AnovaSource
    n_runs: int
    n_topics: int
    n_dropped: int
    """Topics left out because some run has no score there."""
    flag: str
    """"", or why F is not an ordinary number: see `steadyrank.stats.pairs.result`."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TukeyTests:
    """Tukey's test of many pairs, with intervals that hold for all pairs together."""

    tests: PairTests
    intervals: np.ndarray
    """Low and high limit of each pair's difference, [pair, 2]."""
    anova: TwoWayAnova


def two_way_anova(scores: ArrayLike) -> TwoWayAnova:
    """Split the variation of scores [run, topic] into runs, topics and the rest.

    Model y[s, n] = mean + run[s] + topic[n] + e[s, n]; with m runs and n topics the sums of squares
    have m - 1, n - 1 and (m - 1)(n - 1) degrees of freedom, and F = MS / MS(error).
    Assumes additive effects and normal errors of equal variance; topics with a missing score are
    dropped for all runs. Do not use it when few topics are complete, or to compare chosen
    pairs: for these the paired t test makes fewer assumptions. Without error variance F is infinite
    (p = 0) or, where nothing differs, 0 (p = 1), and `flag` says so.

    Reference: Tague-Sutcliffe and Blustein, TREC-3, 1994; Banks, Over and Zhang 1999,
    doi:10.1023/A:1009984519381.

    >>> anova = two_way_anova([[1.0, 2.0, 4.0], [2.0, 4.0, 5.0]])
    >>> anova.run.df, anova.topic.df, round(anova.run.statistic, 3), round(anova.run.pvalue, 4)
    (1, 2, 16.0, 0.0572)
    """
    return _anova(*complete_topics(check_scores(scores)))


def tukey_hsd(scores: ArrayLike, pairs: ArrayLike, *, confidence: float = 0.95) -> TukeyTests:
    """Tukey's honestly significant difference of each pair among all runs, paired by topic.

    q = |mean difference| / sqrt(MSE / n), with MSE the residual mean square of `two_way_anova`;
    p is the chance that the studentised range of m means with (m - 1)(n - 1) degrees of freedom
    exceeds q. The p-values hold for all m (m - 1) / 2 pairs together, whichever are asked for, and
    need no further correction. Assumes what `two_way_anova` does, above all one variance for every
    pair: do not use it when some runs are near copies of each other (their pair is judged by the
    variance of strangers) or when only few pairs matter (Holm then rejects more).
    p-values below about 1e-25 are given as that bound.

    Reference: Tukey 1949, doi:10.2307/3001913; Carterette 2012, doi:10.1145/2094072.2094076.

    >>> result = tukey_hsd([[.3, .5, .2, .6], [.2, .4, .2, .4], [.1, .2, .1, .3]], [[0, 1], [0, 2]])
    >>> result.tests.pvalue.round(4).tolist(), result.intervals.round(3).tolist()
    ([0.0948, 0.0029], [[-0.02, 0.22], [0.105, 0.345]])
    """
    matrix, chosen = checked(scores, pairs)
    check_open_unit("confidence", confidence)
    complete, n_dropped = complete_topics(matrix)
    table = _anova(complete, n_dropped)
    difference, flag = _differences(complete, chosen, table.flag)
    statistic, pvalue = np.zeros(len(chosen)), np.ones(len(chosen))
    statistic[flag == ZERO_VARIANCE], pvalue[flag == ZERO_VARIANCE] = np.inf, 0.0
    statistic[flag == TOO_FEW] = pvalue[flag == TOO_FEW] = np.nan
    half_width = np.nan
    if table.flag == "":
        scale = np.sqrt(table.error.ms / table.n_topics)
        statistic = np.abs(difference) / scale
        pvalue = studentized_range.survival_many(statistic, table.n_runs, table.error.df)
        critical = studentized_range.critical_value(1.0 - confidence, table.n_runs, table.error.df)
        half_width = critical * scale
        statistic[flag == NO_DIFFERENCE], pvalue[flag == NO_DIFFERENCE] = 0.0, 1.0
    elif table.flag != TOO_FEW:
        half_width = 0.0
    tests = PairTests(
        n=np.full(len(chosen), table.n_topics),
        difference=difference,
        statistic=statistic,
        pvalue=pvalue,
        flag=flag,
        method=f"Tukey HSD over {table.n_runs} runs, two-way residual, {_dropped(n_dropped)}",
    )
    intervals = np.stack([difference - half_width, difference + half_width], axis=1)
    return TukeyTests(tests=tests, intervals=intervals, anova=table)


def randomized_tukey(
    scores: ArrayLike,
    pairs: ArrayLike,
    *,
    n_samples: int = 10_000,
    seed: int = 0,
    mode: str = "sound",
    confidence: float = 0.95,
    jobs: int | None = None,
) -> PairTests:
    """Randomised Tukey HSD: each topic's scores are dealt to the runs at random, all runs at once.

    Every sample records the largest minus the smallest run mean; with c samples whose range is at
    least |mean difference| (ties counted), p = (1 + c) / (1 + B), or c / B with mode="paper".
    The hypothesis is that all runs are exchangeable on every topic. p-values hold for all pairs
    together and need no further correction. Do not use it when runs differ much in spread
    (exchangeability then fails for reasons other than the mean), or for one chosen pair: the paired
    randomisation test is sharper. Topics with a missing score are dropped for all runs.

    Reference: Carterette 2012, doi:10.1145/2094072.2094076; Sakai 2018,
    doi:10.1007/978-981-13-1199-4.

    >>> scores = [[.9, .8, .9, .7], [.1, .2, .2, .1]]
    >>> randomized_tukey(scores, [[0, 1]], seed=1).pvalue.round(2)
    array([0.12])
    """
    matrix, chosen = checked(scores, pairs)
    check_open_unit("confidence", confidence)
    check_samples(n_samples)
    check_choice("mode", mode, ("sound", "paper"))
    complete, n_dropped = complete_topics(matrix)
    too_few = TOO_FEW if min(complete.shape) < 2 else ""
    difference, flag = _differences(complete, chosen, too_few)
    pvalue = np.full(len(chosen), np.nan)
    critical = np.nan
    if not too_few:
        ranges = np.sort(_sampled_ranges(complete, n_samples, seed, jobs))
        tolerance = CONSTANT * np.abs(complete).max()
        least = np.abs(difference) - tolerance
        extreme = n_samples - np.searchsorted(ranges, least, side="left")
        pvalue = (1 + extreme) / (1 + n_samples) if mode == "sound" else extreme / n_samples
        critical = _critical_range(ranges, 1.0 - confidence, mode)
    formula = "(1 + extreme) / (1 + samples)" if mode == "sound" else "extreme / samples"
    return PairTests(
        n=np.full(len(chosen), complete.shape[1]),
        difference=difference,
        statistic=np.abs(difference),
        pvalue=pvalue,
        flag=flag,
        method=f"randomised Tukey HSD over {len(complete)} runs, p = {formula}, ties counted, "
        f"{_dropped(n_dropped)}",
        n_samples=n_samples,
        pvalue_error=np.sqrt(pvalue * (1.0 - pvalue) / n_samples),
        half_width=np.full(len(chosen), critical),
    )


def _critical_range(ranges: np.ndarray, alpha: float, mode: str) -> float:
    """The sampled range that a difference must exceed for p <= alpha; infinite where none does."""
    n = len(ranges)
    extreme = alpha * (n + 1) - 1.0 if mode == "sound" else alpha * n
    allowed = math.floor(extreme + 1e-9)
    return float(ranges[n - 1 - allowed]) if allowed >= 0 else math.inf


def _dropped(n_dropped: int) -> str:
    return f"{n_dropped} incomplete topics dropped"


def _anova(complete: np.ndarray, n_dropped: int) -> TwoWayAnova:
    n_runs, n_topics = complete.shape
    dfs = {"run": n_runs - 1, "topic": n_topics - 1, "error": (n_runs - 1) * (n_topics - 1)}
    lines = {
        name: AnovaSource(source=name, ss=np.nan, df=max(df, 0), ms=np.nan)
        for name, df in dfs.items()
    }
    flag = TOO_FEW
    if n_runs >= 2 and n_topics >= 2:
        table = anova(complete, factors=("run", "topic"), effects=("run",), block="topic")
        lines = {name: table.source(name) for name in dfs}
        without = ZERO_VARIANCE if lines["run"].ss > 0.0 else NO_DIFFERENCE
        flag = without if table.flag else ""
    return TwoWayAnova(n_runs=n_runs, n_topics=n_topics, n_dropped=n_dropped, flag=flag, **lines)


def _differences(
    complete: np.ndarray, pairs: np.ndarray, family_flag: str
) -> tuple[np.ndarray, np.ndarray]:
    """Mean difference and flag of each pair, given what is wrong with the family as a whole."""
    found = moments(complete, pairs)
    if family_flag == TOO_FEW:
        return found.mean, np.full(len(pairs), TOO_FEW, dtype=object)
    otherwise = ZERO_VARIANCE if family_flag else ""
    flag = np.where(found.flag == NO_DIFFERENCE, NO_DIFFERENCE, otherwise).astype(object)
    return found.mean, flag


def _sampled_ranges(
    complete: np.ndarray, n_samples: int, seed: int, jobs: int | None
) -> np.ndarray:
    # Topic means cancel from every range; without them less is lost to rounding.
    by_topic = np.ascontiguousarray((complete - complete.mean(axis=0)).T)

    n_topics, n_runs = by_topic.shape
    at_once = max(1, WORDS_AT_ONCE // (n_topics * (n_runs - 1)))

    def one_block(task: tuple[int, int, int]) -> np.ndarray:
        block, start, stop = task
        stream, ranges = block_stream(seed, "tukey", block), np.empty(stop - start)
        for part in slices(len(ranges), at_once):
            shape = (part.stop - part.start, n_topics, n_runs - 1)
            words = stream.integers(0, 2**64, size=shape, dtype=np.uint64)
            permuted_ranges(by_topic, words, ranges[part])
        return ranges

    blocks = in_threads(one_block, blocks_of(n_samples), jobs=jobs)
    return np.asarray(np.concatenate(blocks) / n_topics)

"""Which of many runs differ? Tukey's honest differences, which hold for all pairs together."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from steadyrank.compute.random import block_stream, blocks_of
from steadyrank.errors import check_choice
from steadyrank.stats.anova.balanced import anova
from steadyrank.stats.inputs import check_open_unit, check_samples, checked, complete_topics
from steadyrank.stats.pairs import studentized_range
from steadyrank.stats.pairs.kernels import permuted_ranges
from steadyrank.stats.pairs.result import CONSTANT, NO_DIFFERENCE, TOO_FEW, ZERO_VARIANCE, PairTests
from steadyrank.stats.pairs.tests import in_threads, moments, slices

WORDS_AT_ONCE = 1 << 19
"""Number of random words drawn at a time for the shuffles: 4 MiB."""


def tukey_hsd(scores: ArrayLike, pairs: ArrayLike, *, confidence: float = 0.95) -> PairTests:
    """Tukey's honestly significant difference of each pair among all runs, paired by topic.

    q = |mean difference| / sqrt(MSE / n), with MSE the residual mean square of the two-way model
    score = run + topic; p is the probability that the studentised range of m means with (m - 1)(n -
    1) degrees of freedom exceeds q, at least about 1e-25. p-values and `half_width` hold for all
    pairs together. Topics with a missing score are dropped for all runs. Tukey 1949,
    doi:10.2307/3001913; Carterette 2012, doi:10.1145/2094072.2094076.
    """
    matrix, chosen = checked(scores, pairs)
    check_open_unit("confidence", confidence)
    complete, n_dropped = complete_topics(matrix)
    n_runs, n_topics = complete.shape
    error, family_flag, half_width = 0.0, TOO_FEW, np.nan
    if min(complete.shape) > 1:
        table = anova(complete, factors=("run", "topic"), effects=("run",), block="topic")
        error, family_flag, half_width = table.source("error").ms, table.flag, 0.0
    difference, flag = _differences(complete, chosen, family_flag)
    statistic, pvalue = np.zeros(len(chosen)), np.ones(len(chosen))
    if not family_flag:
        df, scale = (n_runs - 1) * (n_topics - 1), np.sqrt(error / n_topics)
        statistic = np.abs(difference) / scale
        pvalue = studentized_range.survival_many(statistic, n_runs, df)
        half_width = studentized_range.critical_value(1.0 - confidence, n_runs, df) * scale
    statistic[flag == NO_DIFFERENCE], pvalue[flag == NO_DIFFERENCE] = 0.0, 1.0
    statistic[flag == ZERO_VARIANCE], pvalue[flag == ZERO_VARIANCE] = np.inf, 0.0
    statistic[flag == TOO_FEW] = pvalue[flag == TOO_FEW] = np.nan
    return PairTests(
        n=np.full(len(chosen), n_topics),
        difference=difference,
        statistic=statistic,
        pvalue=pvalue,
        flag=flag,
        method=f"Tukey HSD over {n_runs} runs, two-way residual, {_dropped(n_dropped)}",
        half_width=np.full(len(chosen), half_width),
    )


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
    """Randomised Tukey HSD: the scores of each topic are permuted among all runs.

    Every sample records the largest minus the smallest run mean; with c samples whose range is at
    least |mean difference| (ties counted), p = (1 + c) / (1 + B), or c / B with mode="paper".
    Topics with a missing score are dropped for all runs. Carterette 2012,
    doi:10.1145/2094072.2094076.
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
    """Return the sampled range that a difference must exceed for p <= alpha; infinite if none."""
    n = len(ranges)
    extreme = alpha * (n + 1) - 1.0 if mode == "sound" else alpha * n
    allowed = math.floor(extreme + 1e-9)
    return float(ranges[n - 1 - allowed]) if allowed >= 0 else math.inf


def _dropped(n_dropped: int) -> str:
    return f"{n_dropped} incomplete topics dropped"


def _differences(
    complete: np.ndarray, pairs: np.ndarray, family_flag: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean difference and flag of each pair, given the flag of the whole family."""
    found = moments(complete, pairs)
    if family_flag == TOO_FEW:
        return found.mean, np.full(len(pairs), TOO_FEW, dtype=object)
    otherwise = ZERO_VARIANCE if family_flag else ""
    flag = np.where(found.flag == NO_DIFFERENCE, NO_DIFFERENCE, otherwise).astype(object)
    return found.mean, flag


def _sampled_ranges(
    complete: np.ndarray, n_samples: int, seed: int, jobs: int | None
) -> np.ndarray:
    # Topic means cancel from every range; subtracting them first reduces rounding.
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

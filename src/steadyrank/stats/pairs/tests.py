"""Do two runs differ? The t-test, Wilcoxon's, the sign test and Welch's, for many pairs at once.

All tests take scores [run, topic], NaN where missing, and pairs [pair, 2]; a topic that either run
of a pair lacks is omitted for that pair. All are two-sided; differences are first minus second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import bdtr, ndtr, stdtr

from steadyrank.compute.executors import Answer, Task, map_in_order, one_blas_thread, workers
from steadyrank.errors import bad_value
from steadyrank.stats.inputs import checked
from steadyrank.stats.interval import satterthwaite, t_intervals
from steadyrank.stats.pairs import kernels
from steadyrank.stats.pairs.corrected_t import skewness_of_mean
from steadyrank.stats.pairs.result import (
    CONSTANT,
    NO_DIFFERENCE,
    TOO_FEW,
    ZERO_VARIANCE,
    PairTests,
    degenerate_flags,
)
from steadyrank.stats.pairs.topic_design import PLAIN, TopicDesign, robust_means, takes_cr2

CHUNK = 1 << 17
"""Number of differences in memory at a time: they fit into the processor's cache."""

TASKS = 64
"""Number of parts into which a count is divided; the sum does not depend on threads."""

FEW = 1000
"""If a product of all runs has more pairs than this per pair needed, it takes longer."""

LARGEST_EXACT = 1000
"""Number of differences above which 2^n exceeds the range of a float."""


def paired_t(scores: np.ndarray, pairs: np.ndarray, design: TopicDesign = PLAIN) -> PairTests:
    """Student's paired t-test: t = mean(z) / sqrt(var(z) / n), with n - 1 degrees of freedom.

    Identical runs have p = 1 and no t; a constant difference has t = ±inf and p = 0. If topics are
    clustered or weighted, mean, variance and degrees of freedom are those of `robust_means`.
    """
    scores, pairs = checked(scores, pairs)
    found = moments(scores, pairs, design)
    return _t_tests(found, found.standard_error, f"{_t_words(found.df, design)}, two-sided")


def _t_tests(found: Moments, error: np.ndarray, method: str) -> PairTests:
    with np.errstate(divide="ignore", invalid="ignore"):
        # Without variance t is infinite, or NaN for a difference of 0.
        t = found.mean / error
        t[(found.flag == NO_DIFFERENCE) | (found.flag == TOO_FEW)] = np.nan
        pvalue = np.minimum(1.0, 2.0 * stdtr(found.df, -np.abs(t)))
    pvalue[np.isinf(t)] = 0.0
    return replace(_result(found, t, pvalue, method), standard_error=error)


def _t_words(df: np.ndarray, design: TopicDesign) -> str:
    if design.is_plain:
        return "Student's paired t"
    kind = "cluster-robust t" if design.clusters is not None else "t of weighted means"
    few = takes_cr2(float(np.nanmin(df))) if not np.isnan(df).all() else True
    variance = "CR2, Bell and McCaffrey's degrees of freedom" if few else "CR1, G − 1 df"
    return f"{kind} ({variance})"


def wilcoxon(scores: np.ndarray, pairs: np.ndarray, *, exact_up_to: int = 50) -> PairTests:
    """Wilcoxon's signed-rank test; the statistic W+ is the sum of the positive ranks.

    Zero differences are dropped, tied ones share their mean rank; differences are tied if they
    agree to 1e-12 of the largest score. Up to `exact_up_to` non-zero differences the null
    distribution is exact, ties included; above, it is normal with corrections for ties and
    continuity.
    """
    scores, pairs = checked(scores, pairs)
    if not 0 <= exact_up_to <= LARGEST_EXACT:
        raise bad_value("exact_up_to", f"be from 0 to {LARGEST_EXACT}", exact_up_to)
    w_plus, ties = np.empty(len(pairs)), np.empty(len(pairs))
    n, pvalue = np.empty(len(pairs), np.int64), np.full(len(pairs), np.nan)
    for part, z, tolerance in differences(scores, pairs):
        kernels.signed_ranks(
            z, tolerance, exact_up_to, w_plus[part], n[part], ties[part], pvalue[part]
        )
    normal = n > exact_up_to
    m, off = n[normal], w_plus[normal] - n[normal] * (n[normal] + 1) / 4
    spread = np.sqrt(m * (m + 1) * (2 * m + 1) / 24 - ties[normal] / 48)
    pvalue[normal] = 2.0 * ndtr(-np.abs(off - 0.5 * np.sign(off)) / spread)
    method = (
        f"Wilcoxon signed-rank, zeros dropped, mid-ranks; exact up to {exact_up_to} non-zero"
        " differences, else normal, corrected for ties and continuity; two-sided"
    )
    direction = np.sign(w_plus - n * (n + 1) / 4)
    return _result(moments(scores, pairs), w_plus, pvalue, method, direction)


def sign_test(scores: np.ndarray, pairs: np.ndarray) -> PairTests:
    """The sign test: the number of positive differences among the non-zero ones is binomial."""
    scores, pairs = checked(scores, pairs)
    positive, _, negative = topics_won(scores, pairs).T
    n = positive + negative
    pvalue = np.minimum(1.0, 2.0 * bdtr(np.minimum(positive, negative), n, 0.5))
    pvalue[n == 0] = 1.0
    method = "sign test, zeros dropped, exact binomial, two-sided"
    direction = np.sign(positive - negative).astype(np.float64)
    statistic = positive.astype(np.float64)
    return _result(moments(scores, pairs), statistic, pvalue, method, direction)


def topics_won(scores: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return numbers of topics that the first run of each pair wins, ties and loses, [pair, 3]."""
    counts = np.empty((len(pairs), 3), np.int64)
    for part, z, tolerance in differences(scores, pairs):
        tiny = tolerance[:, None]
        signs = (z > tiny, np.abs(z) <= tiny, z < -tiny)
        counts[part] = np.stack([sign.sum(axis=1) for sign in signs], axis=1)
    return counts


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moments:
    """Number, mean, standard deviation and skewness of the differences of each pair."""

    n: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    """0 if it is only rounding; for clustered or weighted topics, that of as many plain topics with
    the same standard error of the mean."""
    skewness: np.ndarray
    """Skewness of the mean: that of the differences, sum(e³) sqrt(n) / sum(e²)^1.5, over sqrt(n);
    0 for clustered or weighted topics."""
    flag: np.ndarray
    df: np.ndarray

    @property
    def standard_error(self) -> np.ndarray:
        """Standard error of the mean difference; 0 if the difference is constant."""
        return np.asarray(self.sd / np.sqrt(np.maximum(self.n, 1)))


def moments(scores: np.ndarray, pairs: np.ndarray, design: TopicDesign = PLAIN) -> Moments:
    """Return moments of pairs: from matrix products for complete runs, else from differences."""
    if not design.is_plain:
        return _robust_moments(scores, pairs, design)
    n, mean, sd, skewness, largest = np.zeros((5, len(pairs)))
    complete = ~np.isnan(scores).any(axis=1)
    direct = ~complete[pairs].all(axis=1)
    if scores.shape[1] < 2 or few_of_all(scores, pairs):
        direct[:] = True
    whole = np.flatnonzero(~direct)
    if len(whole):
        n[whole], mean[whole], sd[whole], skewness[whole], lost = _from_products(
            scores, complete, pairs[whole]
        )
        direct[whole[lost]] = True
    chosen = np.flatnonzero(direct)
    for part, z, _ in differences(scores, pairs[chosen]):
        at = chosen[part]
        n[at], mean[at], sd[at], skewness[at], largest[at] = row_moments(z)
    counts = n.astype(np.int64)
    flag = degenerate_flags(counts, mean, sd, largest)
    sd[sd <= CONSTANT * np.maximum(1.0, largest)] = 0.0
    return Moments(n=counts, mean=mean, sd=sd, skewness=skewness, flag=flag, df=counts - 1.0)


def _robust_moments(scores: np.ndarray, pairs: np.ndarray, design: TopicDesign) -> Moments:
    """Return moments by a design: of all complete pairs at once, of others one by one."""
    n, mean, error, df = np.zeros((4, len(pairs)))
    flag = np.full(len(pairs), "", dtype=object)
    for part, z, _ in differences(scores, pairs):
        there = ~np.isnan(z)
        rows = np.arange(part.start, part.stop)
        whole = there.all(axis=1)
        for some in (np.flatnonzero(whole), *np.flatnonzero(~whole)[:, None]):
            if not len(some):
                continue
            used, at = there[some[0]], rows[some]
            fit = robust_means(z[some][:, used], design.of(used))
            n[at], mean[at], df[at] = used.sum(), fit.mean, fit.df
            error[at], flag[at] = np.sqrt(fit.variance), fit.flag
    return Moments(
        n=n.astype(np.int64),
        mean=mean,
        sd=error * np.sqrt(n),
        skewness=np.zeros(len(pairs)),
        flag=flag,
        df=df,
    )


def differences(
    scores: np.ndarray, pairs: np.ndarray
) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Yield chunks: part of the pairs, differences [pair, topic], and sizes that count as 0."""
    for part in slices(len(pairs), max(1, CHUNK // max(1, scores.shape[1]))):
        first, second = scores[pairs[part, 0]], scores[pairs[part, 1]]
        z = first - second
        size = np.where(np.isnan(z), 0.0, np.maximum(np.abs(first), np.abs(second)))
        yield part, z, CONSTANT * size.max(axis=1, initial=0.0)


def few_of_all(scores: np.ndarray, pairs: np.ndarray) -> bool:
    """Return whether computing pairs one by one takes less time than a product of all runs.

    True only if most runs are in one pair, as in an audit: differences of two means and means of
    differences are rounded differently, so runs that are compared with each other share one method.
    """
    return 2 * len(pairs) <= len(scores) and len(pairs) * FEW < len(scores) ** 2


def slices(n: int, size: int) -> list[slice]:
    """Return slices of `size` that cover 0 to n."""
    return [slice(first, min(first + size, n)) for first in range(0, n, size)]


def in_threads(
    task: Callable[[Task], Answer], parts: Sequence[Task], *, jobs: int | None
) -> list[Answer]:
    """Return the results of all parts, in order.

    Each thread uses one BLAS thread: how BLAS divides a product may change the last bits.
    """
    with one_blas_thread(), workers(jobs=jobs) as threads:
        return map_in_order(task, parts, threads)


def add_up(
    count: Callable[[Sequence[Task]], np.ndarray],
    parts: Sequence[Task],
    size: int,
    *,
    jobs: int | None,
) -> np.ndarray:
    """Return the sum of an integer count over all parts, computed in threads."""
    step = -(-len(parts) // TASKS) or 1
    runs = [parts[cut] for cut in slices(len(parts), step)]
    total = np.zeros(size, np.int64)
    for answer in in_threads(count, runs, jobs=jobs):
        total += answer
    return total


def _from_products(
    scores: np.ndarray, complete: np.ndarray, pairs: np.ndarray
) -> tuple[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return n, means, standard deviations, skewness, and which pairs lost too many digits.

    With centred scores a and b, sum (a - b)³ = sum a³ - 3 sum a² b + 3 sum a b² - sum b³, so one
    product of squares by scores gives it for all pairs.
    """
    n_topics = scores.shape[1]
    filled = np.where(complete[:, None], scores, 0.0)
    means = filled.mean(axis=1)
    centred = filled - means[:, None]
    # Dividing by the largest keeps the cubes of large scores within the range of a float.
    unit = centred / (scale := float(np.abs(centred).max()) or 1.0)
    gram, mixed = centred @ centred.T, np.square(unit) @ unit.T
    (first, second), own, cubes = pairs.T, np.diag(gram), np.diag(mixed)
    total = own[first] + own[second]
    squares = total - 2.0 * gram[first, second]
    third = cubes[first] - cubes[second] - 3.0 * (mixed[first, second] - mixed[second, first])
    sd = np.sqrt(np.maximum(squares, 0.0) / (n_topics - 1))
    largest = np.abs(filled).max(axis=1)
    tiny = CONSTANT * np.maximum(1.0, largest[first] + largest[second])
    lost = (squares <= kernels.CANCELLED * total) | (sd <= tiny)
    skewness = third / np.where(lost, 1.0, squares / scale**2) ** 1.5
    return n_topics, means[first] - means[second], sd, skewness, lost


def row_moments(z: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return n, mean, sd, skewness and largest size of each row's present values."""
    there = ~np.isnan(z)
    filled = np.where(there, z, 0.0)
    n = there.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = filled.sum(axis=1) / n
        off = np.where(there, z - mean[:, None], 0.0)
        sd = np.sqrt((off * off).sum(axis=1) / (n - 1.0))
    return n, mean, sd, skewness_of_mean(off), np.abs(filled).max(axis=1, initial=0.0)


def means_and_errors(values: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Return mean scores [replicate, run] of complete matrices [replicate, run, topic].

    Writes the standard errors of all pairs' mean differences to `errors` [replicate, pair].
    """
    means = values.mean(axis=2)
    centred = values - means[:, :, None]
    gram = centred @ centred.transpose(0, 2, 1)
    kernels.standard_errors(centred, gram, errors)
    return np.asarray(means)


def _result(
    differences: Moments,
    statistic: np.ndarray,
    pvalue: np.ndarray,
    method: str,
    direction: np.ndarray | None = None,
) -> PairTests:
    pvalue[differences.flag == NO_DIFFERENCE] = 1.0
    pvalue[differences.flag == TOO_FEW] = np.nan
    return PairTests(
        n=differences.n,
        difference=differences.mean,
        statistic=statistic,
        pvalue=pvalue,
        flag=differences.flag,
        method=method,
        standard_error=differences.standard_error,
        df=differences.df,
        direction=direction,
    )


class RunMoments(NamedTuple):
    """Moments of each run over the topics that it has."""

    n: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    largest: np.ndarray

    @property
    def standard_error(self) -> np.ndarray:
        """Standard error of the mean; NaN for a single topic."""
        return np.asarray(self.sd / np.sqrt(np.maximum(self.n, 1)))

    def intervals(self, confidence: float) -> np.ndarray:
        """Return Student's limits of each mean, [run, 2]."""
        return t_intervals(self.mean, self.standard_error, np.maximum(self.n - 1, 1), confidence)


def run_moments(scores: np.ndarray) -> RunMoments:
    """Return number, mean and standard deviation of each run's scores, without missing ones."""
    n, mean, sd, _, largest = row_moments(scores)
    return RunMoments(n, mean, sd, largest)


def welch(scores: np.ndarray, pairs: np.ndarray) -> PairTests:
    """Welch's t test: t = (mean(a) - mean(b)) / sqrt(va / na + vb / nb), Satterthwaite's df.

    `n` is the smaller of the two numbers of topics.
    """
    scores, pairs = checked(scores, pairs)
    runs = run_moments(scores)
    first, second = pairs.T
    mean = runs.mean[first] - runs.mean[second]
    variances = np.square(runs.standard_error)
    error = np.sqrt(variances[first] + variances[second])
    flag = sample_flags(runs, pairs, mean)
    found = Moments(
        n=np.minimum(runs.n[first], runs.n[second]),
        mean=mean,
        sd=error,
        skewness=np.zeros(len(pairs)),
        flag=flag,
        df=satterthwaite(variances[pairs.T], runs.n[pairs.T] - 1.0),
    )
    constant = (flag == NO_DIFFERENCE) | (flag == ZERO_VARIANCE)
    words = "Welch's t of two samples, Satterthwaite's degrees of freedom, two-sided"
    return _t_tests(found, np.where(constant, 0.0, error), words)


def sample_flags(runs: RunMoments, pairs: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Return the flag of each pair of runs with different topics."""
    n, sd, largest = (values[pairs] for values in (runs.n, runs.sd, runs.largest))
    return degenerate_flags(n.min(axis=1), mean, sd.max(axis=1), largest.max(axis=1))

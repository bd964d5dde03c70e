"""How far simulated collections agree with the observed one, and what a second one would show.

The four comparisons are Algorithms 1 to 4 of Yang, Zhang & Song (SIGIR 2018,
doi:10.1145/3209978.3210122). They take mean scores, raw [run] and simulated [sample, run], and
standard errors of mean differences, [pair, sample], in the order of `all_pairs`.

Simulated collections S [sample, run] scatter around the observed collection, which is itself a
sample. A second one therefore has two errors: that of the observed collection and another one. With
Xb the mean of S over samples, E = 1.05 (S - Xb), and e1, e2 two independently drawn rows of E,

    Z = M + A (Xb - M) + sqrt(A) e1 + e2

predicts a second collection. M is the mean of Xb over runs, and A the share of the variance of Xb
between runs that is not error (the James-Stein estimate): runs that are close differ mostly by
chance, and differ less in a second collection. Whole rows are drawn, so that runs share documents.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from steadyrank.compute.random import block_stream, blocks_of
from steadyrank.stats.inputs import named_quantiles
from steadyrank.stats.interval import Interval
from steadyrank.stats.pairs.difference_bins import (
    N_BINS,
    WIDTH,
    bin_starts,
    count_errors,
    pair_rates,
)
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tests import in_threads, slices
from steadyrank.stats.ranks.correlation import taus_against
from steadyrank.stats.run_means import SAME_MEAN, first_ranks

RARELY, RELIABLY = 0.05, 0.95
"""A pair is significant rarely below the first rate, and reliably from the second on."""

PAIRS_A_TASK = 64
DIFFERENCE_LEVELS = (0.5, 0.75, 0.9, 0.95, 0.99)

SPREAD = 1.05
"""Factor that widens errors: shared documents vary 2 to 7% less than fresh collections do."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ErrorRate:
    """How often the better run in a simulated collection is the worse one in the observed one.

    There is one entry per bin of the simulated difference; by default 21 bins: [0, .01), [.01,
    .02), …, and .2 and above. `rate` is NaN in an empty bin; `rate_error` is its Monte Carlo
    standard error, which allows for the dependence of pairs in one sample.
    """

    low: np.ndarray
    high: np.ndarray
    count: np.ndarray
    errors: np.ndarray
    rate: np.ndarray
    rate_error: np.ndarray
    ties: int
    """Number of pairs of equal simulated means; they are in the first bin and never errors."""
    overall: float


def error_rate(
    raw: np.ndarray, simulated: np.ndarray, *, n_bins: int = N_BINS, bin_width: float = WIDTH
) -> ErrorRate:
    """Return Algorithm 1 by the size |d_i| of the simulated difference (the paper writes d_i)."""
    raw, simulated = np.ascontiguousarray(raw), np.ascontiguousarray(simulated)
    counts = np.zeros((len(simulated), n_bins), np.int64)
    errors = np.zeros_like(counts)
    ties = np.zeros(len(simulated), np.int64)
    count_errors(raw, simulated, bin_width, counts, errors, ties)
    count, wrong = counts.sum(axis=0), errors.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = wrong / count
        off = errors - np.nan_to_num(rate) * counts
        spread = np.sqrt((off**2).sum(axis=0)) / count
    low = bin_starts(n_bins, bin_width)
    return ErrorRate(
        low=low,
        high=np.append(low[1:], np.inf),
        count=count,
        errors=wrong,
        rate=rate,
        rate_error=np.where(count > 0, spread, np.nan),
        ties=int(ties.sum()),
        overall=float(wrong.sum() / count.sum()) if count.sum() else float("nan"),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CollectionCorrelation:
    """Kendall's tau-b between the observed ranking of runs and each simulated one."""

    mean: float
    mean_error: float
    sd: float
    interval: Interval
    """Interval that holds the middle 95% of the simulated collections."""
    quantiles: dict[str, float]
    taus: np.ndarray


def rank_correlation(
    raw: np.ndarray, simulated: np.ndarray, *, jobs: int | None = None
) -> CollectionCorrelation:
    """Return Algorithm 2 (KRCC)."""
    return correlation_from(np.asarray(taus_against(raw, simulated, jobs=jobs)))


def correlation_from(taus: np.ndarray) -> CollectionCorrelation:
    """Summarise the taus of all samples, without those that are not defined."""
    known = taus[~np.isnan(taus)]
    if not len(known):
        known = np.full(1, np.nan)
    quantiles = named_quantiles(known, (0.025, 0.25, 0.5, 0.75, 0.975))
    sd = float(known.std(ddof=1)) if len(known) > 1 else float("nan")
    return CollectionCorrelation(
        mean=float(known.mean()),
        mean_error=sd / len(known) ** 0.5,
        sd=sd,
        interval=Interval(quantiles["0.025"], quantiles["0.975"]),
        quantiles=quantiles,
        taus=taus,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SignificanceRates:
    """How often each pair of runs is significantly different (t test) in a simulated collection.

    The paper calls this rate ASL. It is a rejection rate, not a significance level: it is large for
    runs that clearly differ. `rarely_share` is the paper's PCT(ASL < .05).
    """

    alpha: float
    critical: float
    rate: np.ndarray
    rate_error: np.ndarray
    rarely_share: float
    """Share of pairs with a rate below .05."""
    reliably_share: float
    """Share of pairs with a rate of .95 and above."""
    estimated_difference: float
    """Algorithm 4 as printed: approximately the largest difference between two means."""
    estimated_difference_recentred: float
    """Algorithm 4 after subtracting the mean simulated difference of each pair."""
    difference_quantiles: dict[str, float]
    recentred_quantiles: dict[str, float]
    estimated_difference_error: float = 0.0
    """Monte Carlo standard error of `estimated_difference`; more samples hardly reduce it."""


def significance_rates(
    simulated: np.ndarray,
    errors: np.ndarray,
    n_topics: int,
    *,
    alpha: float = 0.05,
    jobs: int | None = None,
) -> SignificanceRates:
    """Return Algorithms 3 and 4, which compare |t| of each pair in each sample with t(n - 1).

    The estimated difference takes for each pair the sample whose |t| is the B · alpha-th largest,
    and is the largest absolute mean difference of these samples.
    """
    n_samples, n_runs = simulated.shape
    pairs = all_pairs(n_runs)
    critical = float(stdtrit(n_topics - 1, 1 - alpha / 2)) if n_topics > 1 else float("nan")
    place = max(1, round(n_samples * alpha))
    means = np.ascontiguousarray(simulated.T)
    overall = means.mean(axis=1)
    centre = overall[pairs[:, 0]] - overall[pairs[:, 1]]
    rates, differences = np.zeros(len(pairs)), np.zeros((2, len(pairs)))

    def some(part: slice) -> None:
        of_part = np.asarray(errors[part])
        pair_rates(means, of_part, pairs, part.start, critical, place, centre, rates, differences)

    in_threads(some, slices(len(pairs), PAIRS_A_TASK), jobs=jobs)
    return SignificanceRates(
        alpha=alpha,
        critical=critical,
        rate=rates,
        rate_error=np.sqrt(rates * (1 - rates) / n_samples),
        rarely_share=mean_of(rates < RARELY),
        reliably_share=mean_of(rates >= RELIABLY),
        estimated_difference=float(differences[0].max(initial=0.0)),
        estimated_difference_recentred=float(differences[1].max(initial=0.0)),
        difference_quantiles=named_quantiles(differences[0], DIFFERENCE_LEVELS),
        recentred_quantiles=named_quantiles(differences[1], DIFFERENCE_LEVELS),
        estimated_difference_error=_error_of_largest(means, errors, pairs, place, np.abs(centre)),
    )


def _error_of_largest(
    means: np.ndarray, errors: np.ndarray, pairs: np.ndarray, place: int, gaps: np.ndarray
) -> float:
    """Return the standard deviation of the largest difference over |t| next to the `place`-th.

    The rank of a quantile of |t| varies by sqrt(B alpha (1 - alpha)) between seeds, and only one
    sample per pair counts, whose difference hardly depends on its |t|.
    """
    n_samples = means.shape[1]
    width = max(2, round(math.sqrt(place * (1 - place / n_samples))))
    near = slice(max(0, place - 1 - width), min(n_samples, place + width))
    largest = np.zeros(near.stop - near.start)
    for p in np.argsort(-gaps, kind="stable"):  # early ones leave little for the rest to exceed
        d = np.abs(means[pairs[p, 0]] - means[pairs[p, 1]])
        if d.max() > largest.min():
            with np.errstate(divide="ignore", invalid="ignore"):
                t = np.where(d > 1e-12, d / errors[p], 0.0)
            largest = np.maximum(largest, d[np.argsort(-t, kind="stable")[near]])
    return float(largest.std(ddof=1)) if len(largest) > 1 else 0.0


def rank_shares(simulated: np.ndarray) -> np.ndarray:
    """Return [run, rank], the share of samples in which a run has a rank; ties share the best."""
    n_samples, n_runs = simulated.shape
    counts = sum(
        (rank_counts(simulated[part]) for part in slices(n_samples, 1024)),
        start=np.zeros((n_runs, n_runs), np.int64),
    )
    return np.asarray(counts / max(1, n_samples))


def rank_counts(simulated: np.ndarray) -> np.ndarray:
    """Return [run, rank], the number of samples in which a run has a rank."""
    n_runs = simulated.shape[1]
    flat = first_ranks(-simulated) - 1 + np.arange(n_runs) * n_runs
    return np.bincount(flat.ravel(), minlength=n_runs * n_runs).reshape(n_runs, n_runs)


def rank_intervals_of(shares: np.ndarray, *, level: float = 0.95) -> np.ndarray:
    """Return [run, 2], the lowest and highest rank, from 1, in the middle `level` of samples."""
    cumulated = np.cumsum(shares, axis=1)
    tail = (1 - level) / 2
    low = (cumulated <= tail + 1e-12).sum(axis=1) + 1
    high = (cumulated < 1 - tail - 1e-12).sum(axis=1) + 1
    return np.stack([low, high], axis=1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prediction:
    """A second collection of documents, compared with the observed one.

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=20, depth=50, pool_depth=25)
    >>> found = sr.simulate(track.runs, track.complete, n_samples=500).prediction
    >>> found.rank_share.shape, found.swap.shape, bool(0 <= found.swap_share <= 1)
    ((3, 3), (3,), True)
    """

    tau: CollectionCorrelation
    """Correlation of the observed ranking with that of a second collection."""
    rank_share: np.ndarray
    """[run, rank]: probability of each rank."""
    swap: np.ndarray
    """[pair]: probability of the opposite order; ties count half; NaN for equal observed means."""

    @property
    def first(self) -> np.ndarray:
        """[run]: probability of the first place, which runs of equal means share."""
        return np.asarray(self.rank_share[:, 0])

    @property
    def rank_interval(self) -> np.ndarray:
        """[run, 2]: 95% prediction intervals of the ranks."""
        return rank_intervals_of(self.rank_share)

    @property
    def swap_share(self) -> float:
        """Expected share of the pairs of runs that swap."""
        known = self.swap[~np.isnan(self.swap)]
        return float(known.mean()) if len(known) else math.nan


def predict(
    raw: np.ndarray, simulated: np.ndarray, *, seed: int, jobs: int | None = None
) -> Prediction:
    """Predict tau, ranks and swaps in a second collection from observed and simulated means."""
    n_samples, n_runs = simulated.shape
    taus, ranks = [], np.zeros((n_runs, n_runs), np.int64)
    first, second = all_pairs(n_runs).T
    wins = np.zeros(len(first))  # wins of a pair's first run minus those of its second
    for drawn in second_collections(simulated, seed=seed):
        taus.append(taus_against(raw, drawn, jobs=jobs))
        ranks += rank_counts(drawn)
        for run in range(n_runs - 1):
            ahead = np.sign(drawn[:, [run]] - drawn[:, run + 1 :])
            wins[first == run] += ahead.sum(axis=0)
    ahead = raw[first] - raw[second]
    swap = 0.5 - np.sign(ahead) * wins / (2 * n_samples)
    return Prediction(
        tau=correlation_from(np.concatenate(taus)),
        rank_share=ranks / n_samples,
        swap=np.where(np.abs(ahead) > SAME_MEAN, swap, np.nan),
    )


def second_collections(simulated: np.ndarray, *, seed: int) -> Iterator[np.ndarray]:
    """Yield Z [sample, run] in blocks, one row for each simulated collection."""
    centre = simulated.mean(axis=0)
    kept, level = kept_share(simulated), centre.mean()
    start = level + kept * (centre - level)
    for block, first, stop in blocks_of(len(simulated)):
        stream = block_stream(seed, "second collection", block)
        here, there = stream.integers(len(simulated), size=(2, stop - first))
        errors = np.sqrt(kept) * (simulated[here] - centre) + (simulated[there] - centre)
        yield start + SPREAD * errors


def kept_share(simulated: np.ndarray) -> float:
    """Return A, the share of the variance between runs that is not error; 1 for three or fewer."""
    n_samples, n_runs = simulated.shape
    if n_runs <= 3:
        return 1.0
    centre = simulated.mean(axis=0)
    between = float(centre.var(ddof=1))
    if not between > 0.0:
        return 0.0
    within = sum(
        float((simulated[part] - centre).var(axis=1, ddof=1).sum())
        for part in slices(n_samples, 1024)
    )
    error = SPREAD**2 * within / n_samples
    return max(0.0, 1.0 - float((n_runs - 3) / (n_runs - 1) * error / between))


def mean_of(values: np.ndarray) -> float:
    """Return the mean, NaN if there are no values."""
    return float(values.mean()) if len(values) else math.nan

"""How far simulated collections agree with the one at hand: the four comparisons.

Yang, Zhang & Song (SIGIR 2018, doi:10.1145/3209978.3210122), Algorithms 1 to 4. All take mean
scores only: raw [run], simulated [sample, run], and the standard errors of the mean
differences, [pair, sample], in the order of `all_pairs`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from steadyrank.stats.inputs import named_quantiles
from steadyrank.stats.interval import Interval
from steadyrank.stats.pairs import difference_bins as collection_kernels
from steadyrank.stats.pairs.difference_bins import N_BINS, WIDTH, bin_starts
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tests import in_threads, slices
from steadyrank.stats.ranks.correlation import taus_against
from steadyrank.stats.run_means import first_ranks

RARELY, RELIABLY = 0.05, 0.95
"""Rates below and above which a pair is significant rarely and reliably."""

PAIRS_A_TASK = 64
DIFFERENCE_LEVELS = (0.5, 0.75, 0.9, 0.95, 0.99)
"""Of the quantiles of estimated differences."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ErrorRate:
    """How often the better run of a simulated collection is the worse one of the real one.

    One entry for each bin of the simulated difference, by default 21: [0, .01), [.01, .02), …,
    and .2 and above. `rate` is NaN in an empty bin; `rate_error` is its Monte Carlo standard
    error, which allows for pairs of one sample depending on each other.
    """

    low: np.ndarray
    high: np.ndarray
    count: np.ndarray
    errors: np.ndarray
    rate: np.ndarray
    rate_error: np.ndarray
    ties: int
    """Pairs of equal simulated means, all in the first bin, never errors."""
    overall: float


def error_rate(
    raw: np.ndarray, simulated: np.ndarray, *, n_bins: int = N_BINS, bin_width: float = WIDTH
) -> ErrorRate:
    """Algorithm 1, by the size |d_i| of the simulated difference (the paper writes d_i).

    >>> bins = error_rate(np.array([0.3, 0.28]), np.array([[0.31, 0.30], [0.28, 0.30]]))
    >>> bins.count[:3].tolist(), bins.errors[:3].tolist(), bins.overall
    ([0, 1, 1], [0, 0, 1], 0.5)
    """
    raw, simulated = np.ascontiguousarray(raw), np.ascontiguousarray(simulated)
    counts = np.zeros((len(simulated), n_bins), np.int64)
    errors = np.zeros_like(counts)
    ties = np.zeros(len(simulated), np.int64)
    collection_kernels.count_errors(raw, simulated, bin_width, counts, errors, ties)
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
    """Kendall's tau-b between the raw ranking of runs and that of each simulated collection."""

    mean: float
    mean_error: float
    sd: float
    interval: Interval
    """The middle 95 % of the simulated collections."""
    quantiles: dict[str, float]
    taus: np.ndarray


def rank_correlation(
    raw: np.ndarray, simulated: np.ndarray, *, jobs: int | None = None
) -> CollectionCorrelation:
    """Algorithm 2 (KRCC)."""
    return correlation_from(np.asarray(taus_against(raw, simulated, jobs=jobs)))


def correlation_from(taus: np.ndarray) -> CollectionCorrelation:
    """The summary of one tau for each sample; those that are not defined are left out."""
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
    """How often the t-test tells each pair of runs apart in a simulated collection.

    The rate is what the paper calls ASL. It is a rejection rate, not a significance level:
    large where runs clearly differ. `rarely_share` is the paper's PCT(ASL < .05).
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
    """Algorithm 4 as printed: about the largest gap between any two runs' means."""
    estimated_difference_recentred: float
    """The same after each pair's mean simulated difference was taken off."""
    difference_quantiles: dict[str, float]
    recentred_quantiles: dict[str, float]
    estimated_difference_error: float = 0.0
    """Monte Carlo standard error of the former; more samples hardly make it smaller."""


def significance_rates(
    simulated: np.ndarray,
    errors: np.ndarray,
    n_topics: int,
    *,
    alpha: float = 0.05,
    jobs: int | None = None,
) -> SignificanceRates:
    """Algorithms 3 and 4: |t| of every pair in every sample against t(n - 1).

    The estimated difference takes, for each pair, the sample whose |t| is the B · alpha-th
    largest, and reports the largest of these samples' absolute mean differences.
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
        own = np.asarray(errors[part])
        collection_kernels.pair_rates(
            means, own, pairs, part.start, critical, place, centre, rates, differences
        )

    in_threads(some, slices(len(pairs), PAIRS_A_TASK), jobs=jobs)
    return SignificanceRates(
        alpha=alpha,
        critical=critical,
        rate=rates,
        rate_error=np.sqrt(rates * (1 - rates) / n_samples),
        rarely_share=_mean(rates < RARELY),
        reliably_share=_mean(rates >= RELIABLY),
        estimated_difference=float(differences[0].max(initial=0.0)),
        estimated_difference_recentred=float(differences[1].max(initial=0.0)),
        difference_quantiles=named_quantiles(differences[0], DIFFERENCE_LEVELS),
        recentred_quantiles=named_quantiles(differences[1], DIFFERENCE_LEVELS),
        estimated_difference_error=_error_of_largest(means, errors, pairs, place, np.abs(centre)),
    )


def _error_of_largest(
    means: np.ndarray, errors: np.ndarray, pairs: np.ndarray, place: int, gaps: np.ndarray
) -> float:
    """Standard deviation of the largest difference if |t| next to the `place`-th are taken instead.

    The rank of a quantile of |t| varies by sqrt(B alpha (1 - alpha)) from seed to seed, and of each
    pair a single sample counts, whose difference is hardly tied to its |t|.
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
    """[run, rank]: in which share of the samples each run has each rank, best first.

    Runs of equal means share the best of their ranks.
    """
    n_samples, n_runs = simulated.shape
    counts = sum(
        (rank_counts(simulated[part]) for part in slices(n_samples, 1024)),
        start=np.zeros((n_runs, n_runs), np.int64),
    )
    return np.asarray(counts / max(1, n_samples))


def rank_counts(simulated: np.ndarray) -> np.ndarray:
    """[run, rank]: in how many samples; the same for a block of them."""
    n_runs = simulated.shape[1]
    flat = first_ranks(-simulated) - 1 + np.arange(n_runs) * n_runs
    return np.bincount(flat.ravel(), minlength=n_runs * n_runs).reshape(n_runs, n_runs)


def rank_intervals_of(shares: np.ndarray, *, level: float = 0.95) -> np.ndarray:
    """[run, 2]: the ranks, from 1, between which each run is in the middle `level` of samples."""
    cumulated = np.cumsum(shares, axis=1)
    tail = (1 - level) / 2
    low = (cumulated <= tail + 1e-12).sum(axis=1) + 1
    high = (cumulated < 1 - tail - 1e-12).sum(axis=1) + 1
    return np.stack([low, high], axis=1)


def _mean(flags: np.ndarray) -> float:
    return float(flags.mean()) if len(flags) else float("nan")

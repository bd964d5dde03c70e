"""What Markov chain draws are worth, and the shortest interval that they give.

For anyone who samples a posterior: split R-hat and effective sample sizes with ranks in place of
values, as Vehtari et al. 2021 (doi:10.1214/20-BA1221) define them. Draws come as [chain, draw].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import fft, special

from steadyrank.errors import InputError, unknown_name
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.interval import Interval
from steadyrank.stats.ranks.tied import average_ranks

TAILS = (0.05, 0.95)


def hpd_interval(draws: ArrayLike, *, confidence: float = 0.95) -> Interval:
    """The shortest interval between two draws that are round(confidence n) places apart in order.

    Of equally short ones the lowest, as in R's coda. Assumes a law with one peak: where there are
    two, the interval also spans what lies between. Any shape of draws; NaN among them gives NaN.

    Reference: Chen and Shao 1999, doi:10.1080/10618600.1999.10474802.

    >>> hpd_interval([0.0, 1.0, 1.1, 1.2, 1.3, 5.0, 9.0], confidence=0.4)
    Interval(low=1.0, high=1.3)
    """
    check_open_unit("confidence", confidence)
    ordered = np.sort(np.asarray(draws, dtype=np.float64).reshape(-1))
    n = len(ordered)
    if n < 2:
        raise InputError(f"an interval requires two draws or more, got {n}")
    if np.isnan(ordered[-1]):
        return Interval(float("nan"), float("nan"))
    gap = max(1, min(n - 1, round(n * confidence)))
    start = int(np.argmin(ordered[gap:] - ordered[:-gap]))
    return Interval(float(ordered[start]), float(ordered[start + gap]))


def split_rhat(draws: ArrayLike) -> float:
    """Spread of all half chains together over that within them; 1 when they agree.

    The larger of two figures, from normal scores of the draws' ranks and from those of the
    distances to the median, so that chains must agree in place and in spread. Below 1.01 is good;
    it cannot see what all chains miss. NaN for constant draws or fewer than four a chain.

    Reference: Vehtari et al. 2021, doi:10.1214/20-BA1221.

    >>> chains = np.random.default_rng(0).normal(size=(4, 500))
    >>> split_rhat(chains) < 1.01 < split_rhat(chains + np.arange(4)[:, None])
    True
    """
    halves = _halves(draws)
    if halves.shape[1] < 2 or not np.ptp(halves) > 0.0:
        return float("nan")
    folded = np.abs(halves - np.median(halves))
    return max(_rhat(_normal_scores(halves)), _rhat(_normal_scores(folded)))


def effective_sample_size(draws: ArrayLike, *, kind: str = "bulk") -> float:
    """How many independent draws would say as much.

    `bulk` is about the middle (normal scores of ranks), `tail` about the 5% and the 95% quantile
    (the smaller of both), `mean` of the mean itself. Sums autocorrelations as far as Geyer's
    monotone sequence goes. Do not read the bulk figure as that of an interval's ends. All draws
    if they are constant, NaN below four a chain.

    Reference: Vehtari et al. 2021, doi:10.1214/20-BA1221; Geyer 1992, doi:10.1214/ss/1177011137.

    >>> chains = np.random.default_rng(0).normal(size=(4, 1000))
    >>> 3500 < effective_sample_size(chains) < 4500
    True
    """
    halves = _halves(draws)
    if kind == "bulk":
        return _ess(_normal_scores(halves))
    if kind == "mean":
        return _ess(halves)
    if kind == "tail":
        whole = np.asarray(draws, dtype=np.float64)
        return min(_ess((halves <= np.quantile(whole, tail)).astype(np.float64)) for tail in TAILS)
    raise unknown_name("kind of effective sample size", kind, ("bulk", "tail", "mean"))


def _halves(draws: ArrayLike) -> np.ndarray:
    """Each chain cut in two; the middle draw of an odd number is left out."""
    chains = np.asarray(draws, dtype=np.float64)
    if chains.ndim != 2:
        raise InputError(f"draws must be a matrix [chain, draw], got {chains.ndim} dimensions")
    half = chains.shape[1] // 2
    return np.concatenate([chains[:, :half], chains[:, chains.shape[1] - half :]])


def _normal_scores(draws: np.ndarray) -> np.ndarray:
    rank = average_ranks(draws.ravel()).reshape(draws.shape)
    return np.asarray(special.ndtri((rank - 0.375) / (draws.size + 0.25)))


def _rhat(draws: np.ndarray) -> float:
    n = draws.shape[1]
    between = n * draws.mean(axis=1).var(ddof=1)
    within = draws.var(axis=1, ddof=1).mean()
    return float(np.sqrt((between / within + n - 1.0) / n))


def _ess(draws: np.ndarray) -> float:
    m, n = draws.shape
    if n < 2:
        return float("nan")
    if not np.ptp(draws) > 0.0:
        return float(draws.size)
    covariance = _autocovariance(draws).mean(axis=0)
    within = covariance[0] * n / (n - 1.0)
    total = covariance[0] + (draws.mean(axis=1).var(ddof=1) if m > 1 else 0.0)
    correlation = 1.0 - (within - covariance) / total
    correlation[0] = 1.0
    pairs = correlation[: n - n % 2].reshape(-1, 2).sum(axis=1)[: max(1, (n - 2) // 2)]
    ends = np.flatnonzero(pairs < 0.0)
    # The pair that turns negative is left out, but for its even lag if that is still positive.
    kept = int(ends[0]) if len(ends) else len(pairs) - 1
    sums = np.minimum.accumulate(pairs[:kept])
    time = -1.0 + 2.0 * float(sums.sum()) + max(float(correlation[2 * kept]), 0.0)
    return draws.size / max(time, 1.0 / float(np.log10(draws.size)))


def _autocovariance(draws: np.ndarray) -> np.ndarray:
    """Of each chain, at lags 0 to n - 1, with divisor n."""
    n = draws.shape[1]
    centred = draws - draws.mean(axis=1, keepdims=True)
    size = fft.next_fast_len(2 * n, real=True)
    spectrum = fft.rfft(centred, size, axis=1)
    return np.asarray(fft.irfft(spectrum * spectrum.conj(), size, axis=1)[:, :n] / n)

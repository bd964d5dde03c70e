"""How surely is a rank correlation known? Intervals of tau."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from steadyrank.compute.random import block_stream, blocks_of
from steadyrank.errors import InputError
from steadyrank.stats.inputs import check_open_unit, check_samples, check_scores
from steadyrank.stats.pairs.kernels import topic_weights
from steadyrank.stats.pairs.result import CONSTANT, TOO_FEW
from steadyrank.stats.pairs.tests import in_threads
from steadyrank.stats.ranks.correlation import few_items_flag, pair_of, pairwise_tau_and_tau_ap


@dataclass(frozen=True, slots=True, kw_only=True)
class TauInterval:
    """A confidence interval for Kendall's tau, or for tau_AP."""

    tau: float
    low: float
    high: float
    confidence: float
    n: int
    """Systems in the rankings."""
    method: str
    flag: str = ""
    """"", or why the limits are NaN."""
    n_topics: int | None = None
    n_dropped: int | None = None
    """Topics left out because some system has no score there."""
    bias: float | None = None
    """Mean of the resampled tau minus tau."""
    n_samples: int | None = None
    seed: int | None = None


def kendall_interval(tau: float, n: int, *, confidence: float = 0.95) -> TauInterval:
    """The normal interval that papers print: tau ± z sqrt(2 (2n + 5)/(9 n (n - 1))), n systems.

    The standard error is the one that holds if the rankings are unrelated (tau = 0), so that a
    limit may exceed 1, and it treats the systems as the sample. Do not conclude from overlapping
    intervals that two rankings are equivalent: take `bootstrap_tau_interval` for topics.

    Reference: Kendall 1938, doi:10.1093/biomet/30.1-2.81; used in Sakai and Shang 2016, Table 2.

    >>> interval = kendall_interval(0.854, 44)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.649, 1.059)
    """
    check_open_unit("confidence", confidence)
    if n < 2:
        raise InputError(f"an interval for tau requires at least 2 systems, got n = {n}")
    if not -1.0 <= tau <= 1.0:
        raise InputError(f"tau must lie between -1 and 1, got {tau}")
    half_width = float(ndtri(0.5 + 0.5 * confidence) * np.sqrt(2 * (2 * n + 5) / (9 * n * (n - 1))))
    return TauInterval(
        tau=float(tau),
        low=tau - half_width,
        high=tau + half_width,
        confidence=confidence,
        n=n,
        method="normal, standard error under the hypothesis tau = 0",
    )


def bootstrap_tau_interval(
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    *,
    confidence: float = 0.95,
    coefficient: Literal["tau", "tau_ap"] = "tau",
    n_samples: int = 2000,
    seed: int = 0,
    jobs: int | None = None,
) -> TauInterval:
    """Interval for tau-b between two rankings by mean score, had the topics been others.

    Or, by `coefficient`, for tau_AP of the first as an estimate of the second.

    Both matrices are [system, topic] over the same systems and topics, and a resample takes the
    same topics from both; topics where some system has no score are dropped for all. Means that
    agree to 1e-12 of the largest score tie. The limits are quantiles of the resampled tau, shifted
    so that their mean is tau, and cut at ±1: a resample adds its own noise to that of the sample,
    and unshifted quantiles would count it twice. `bias` is the shift that was taken out.

    The interval is for the mean tau of topic sets of this size (in simulations .87 to .98 of the
    intervals at level .95 held it). Do not take it for the tau of the systems' true means: noise
    in the means pulls every tau away from that, and no resampling of topics puts it back.
    Resamples in which all systems tie are left out. NaN limits with a flag below two topics.

    Reference: Efron and Tibshirani 1993, chapter 10.

    >>> a = np.array([[0.5, 0.6, 0.9], [0.4, 0.6, 0.7], [0.3, 0.2, 0.4]])
    >>> interval = bootstrap_tau_interval(a, a ** 2, n_samples=500)
    >>> interval.tau, interval.low, interval.high
    (1.0, 1.0, 1.0)
    """
    check_open_unit("confidence", confidence)
    check_samples(n_samples)
    both = pair_of(check_scores(scores_a), check_scores(scores_b))
    complete = both[:, :, ~np.isnan(both).any(axis=(0, 1))]
    n_topics = complete.shape[2]
    tau = float(_taus_of_means(complete, np.ones((1, n_topics)), coefficient)[0])
    defined = n_topics > 1 and not np.isnan(tau)
    taus = _resampled_taus(complete, coefficient, n_samples, seed, jobs) if defined else np.zeros(0)
    low = high = bias = float("nan")
    if taus.size:
        bias = float(taus.mean()) - tau
        tails = np.quantile(taus, [0.5 - 0.5 * confidence, 0.5 + 0.5 * confidence]) - bias
        low, high = np.clip(tails, -1.0, 1.0).tolist()
    return TauInterval(
        tau=tau,
        low=low,
        high=high,
        confidence=confidence,
        n=complete.shape[1],
        method=f"bootstrap over topics, {n_samples} resamples, quantiles centred at tau",
        flag="" if taus.size else TOO_FEW if n_topics < 2 else few_items_flag(complete.shape[1]),
        n_topics=n_topics,
        n_dropped=both.shape[2] - n_topics,
        bias=bias,
        n_samples=n_samples,
        seed=seed,
    )


def _resampled_taus(
    complete: np.ndarray, coefficient: str, n_samples: int, seed: int, jobs: int | None
) -> np.ndarray:
    """tau of each resample of topics; those without any order are left out."""
    n_topics = complete.shape[2]

    def one_block(task: tuple[int, int, int]) -> np.ndarray:
        block, first, stop = task
        stream = block_stream(seed, "tau", block)
        drawn = stream.integers(0, n_topics, (stop - first, n_topics))
        weights = np.empty(drawn.shape)
        topic_weights(drawn, weights)
        return _taus_of_means(complete, weights, coefficient)

    taus = np.concatenate(in_threads(one_block, blocks_of(n_samples), jobs=jobs))
    return np.asarray(taus[~np.isnan(taus)])


def _taus_of_means(complete: np.ndarray, weights: np.ndarray, coefficient: str) -> np.ndarray:
    """tau-b between two rankings [2, system, topic] by mean score, for each row of weights.

    Or tau_AP, the first ranking being the estimate.
    """
    totals = np.stack([weights @ scores.T for scores in complete], axis=1)
    # Equal means must tie although their sums were rounded differently.
    step = CONSTANT * np.abs(complete).max(axis=(1, 2), initial=0.0) * max(1, weights.shape[1])
    rounded = np.round(totals / np.where(step > 0.0, step, 1.0)[:, None])
    pairwise = pairwise_tau_and_tau_ap(rounded)
    return (pairwise.tau if coefficient == "tau" else pairwise.tau_ap_first)[:, 0]

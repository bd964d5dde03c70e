"""Do two rankings agree? Kendall's tau and tau_AP, and intervals of tau.

For example of another measure, another topic set or a simulated collection. Rankings are scores;
higher is better, equal scores tie. tau weights all ranks equally; tau_AP (Yilmaz, Aslam and
Robertson 2008) gives more weight to the top.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from steadyrank.compute.executors import map_in_order, workers
from steadyrank.compute.random import block_stream, blocks_of
from steadyrank.errors import InputError, arg, bad_value, check_choice
from steadyrank.stats.inputs import check_open_unit, check_samples, check_scores
from steadyrank.stats.pairs.kernels import topic_weights
from steadyrank.stats.pairs.result import CONSTANT, TOO_FEW, all_pairs
from steadyrank.stats.pairs.tests import in_threads
from steadyrank.stats.ranks import kernels

TOO_FEW_SYSTEMS, ALL_TIED = "too_few_systems", "all_tied"
"""Flags of a correlation that is NaN: fewer than two systems, or all tied in a ranking."""

CELLS = 1 << 16
"""Number of scores that a thread ranks at a time: they fit into its cache."""

TAU_VARIANTS, AP_TIES = ("a", "b"), ("a", "b")
COEFFICIENTS = ("tau", "tau_ap")


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCounts:
    """Numbers of pairs of systems by their order in two rankings."""

    concordant: int
    discordant: int
    tied_a: int
    """Tied in the first ranking, in the second or not."""
    tied_b: int
    tied_both: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RankCorrelation:
    """Agreement of two rankings; `float(result)` is the value.

    Examples
    --------
    >>> import steadyrank as sr
    >>> tau = sr.kendall_tau([0.3, 0.2, 0.1], [0.3, 0.1, 0.2])
    >>> round(float(tau), 4), tau.n
    (0.3333, 3)
    """

    value: float
    n: int
    """Number of systems in the rankings."""
    method: str
    flag: str = ""
    """"", or why the value is NaN."""
    counts: PairCounts | None = None

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        why = f", {self.flag}" if self.flag else ""
        return f"<RankCorrelation: {self.value:.4g}, {self.method} of {self.n} systems{why}>"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairCorrelations:
    """Correlations of all pairs of measures, [..., pair], in the order of `all_pairs`."""

    tau: np.ndarray
    tau_ap_first: np.ndarray
    """The pair's first measure is the estimate, its second the reference."""
    tau_ap_second: np.ndarray

    @property
    def tau_ap(self) -> np.ndarray:
        """Mean of both directions."""
        return np.asarray(0.5 * (self.tau_ap_first + self.tau_ap_second))


def kendall_tau(a: ArrayLike, b: ArrayLike, *, variant: str = "b") -> RankCorrelation:
    """Return Kendall's tau between two score vectors over the same systems.

    Do not read it as agreement on the best systems: the bottom ranks have the same weight.

    Parameters
    ----------
    a, b : array_like
        Scores of the same systems; a missing one is an error.
    variant : str
        With S = concordant - discordant pairs and N = n (n - 1)/2, "a" is S / N, and "b" is S /
        sqrt((N - tied_a)(N - tied_b)), which is 1 for equal rankings with ties.

    Returns
    -------
    RankCorrelation
        A number between -1 and 1, with its method; NaN with a flag for n < 2 and, in variant "b",
        if all scores of a ranking are equal.

    References
    ----------
    - Kendall (1945). The treatment of ties in ranking problems. Biometrika.
      doi:10.1093/biomet/33.3.239

    Examples
    --------
    >>> tau = kendall_tau([0.3, 0.2, 0.2, 0.1], [0.5, 0.3, 0.4, 0.1])
    >>> round(tau.value, 4), tau.counts.concordant, tau.counts.tied_a
    (0.9129, 5, 1)
    """
    check_choice("variant of tau", variant, TAU_VARIANTS)
    first, second = _two_rankings(a, b)
    n, order = first.size, np.argsort(second)
    first, second = first[order], second[order]
    rows = first[None, :]
    counts = kernels.taus_against(second, rows, np.argsort(rows), np.empty(1))
    concordant, only_b, tied_a, tied_b = counts[0].tolist()
    total, tied_both = n * (n - 1) // 2, tied_b - only_b
    discordant = total - tied_a - only_b - concordant
    scale = total if variant == "a" else np.sqrt(float(total - tied_a) * float(total - tied_b))
    return RankCorrelation(
        value=float((concordant - discordant) / scale) if scale > 0 else float("nan"),
        n=n,
        method=f"Kendall's tau-{variant}",
        flag="" if scale > 0 else few_items_flag(n),
        counts=PairCounts(
            concordant=concordant,
            discordant=discordant,
            tied_a=tied_a,
            tied_b=tied_b,
            tied_both=tied_both,
        ),
    )


def taus_against(
    reference: ArrayLike, samples: ArrayLike, *, jobs: int | None = None
) -> np.ndarray:
    """Return Kendall's tau-b between one score vector and each row of `samples` [sample, system].

    The mean over simulated collections is the KRCC of Yang, Zhang and Song, SIGIR 2018. NaN if all
    scores of the row or of the reference are equal.
    """
    scores = _check_complete("the reference", reference, 1)
    rows = _check_complete("samples", samples, 2)
    n_samples, n = rows.shape
    if n != scores.size:
        raise InputError(f"the reference has {scores.size} systems, the samples have {n}")
    # Sorting upwards gives the same tau, without a negated copy.
    order = np.argsort(scores)
    sorted_scores, taus = scores[order], np.empty(n_samples)

    def fill(block: slice) -> None:
        # The systems are put into the order of the reference.
        part = rows[block].take(order, axis=1)
        kernels.taus_against(sorted_scores, part, part.argsort(axis=1), taus[block])

    step = max(1, CELLS // max(n, 1))
    blocks = [slice(first, first + step) for first in range(0, n_samples, step)]
    with workers(jobs=jobs if len(blocks) > 1 else 1) as threads:
        map_in_order(fill, blocks, threads)
    return taus


def tau_ap(estimate: ArrayLike, reference: ArrayLike, *, ties: str = "a") -> RankCorrelation:
    """Return the AP correlation, which gives more weight to the top ranks of the estimate.

    tau_AP = 2/(n - 1) sum over i = 2..n of C(i)/(i - 1), minus 1, where C(i) is the number of
    systems above rank i of the estimate that are also above it in the reference. Not symmetric.

    Parameters
    ----------
    estimate, reference : array_like
        Scores of the same systems.
    ties : str
        "a": the mean over all orders of systems tied in the estimate; a pair tied in the reference
        counts one half. Equal rankings with ties have less than 1. "b": 2/(n - t) sum of
        c(i)/(p(i) - 1), minus 1, over the systems below the estimate's top tie group of t; c(i) is
        the number strictly above i in both, p(i) the first rank of i's group.

    Returns
    -------
    RankCorrelation
        A number between -1 and 1, with its method; NaN with a flag for n < 2 and, with "b", if all
        systems tie in the estimate.

    References
    ----------
    - Yilmaz, Aslam & Robertson (2008). A new rank correlation coefficient for information
      retrieval. SIGIR. doi:10.1145/1390334.1390435
    - Urbano & Marrero (2017). The treatment of ties in AP correlation. ICTIR.
      doi:10.1145/3121050.3121106

    Examples
    --------
    >>> round(tau_ap([3, 4, 2, 1], [4, 3, 2, 1]).value, 4)
    0.3333
    >>> round(tau_ap([4, 3, 1, 2], [4, 3, 2, 1]).value, 4)
    0.7778
    """
    return _ap_result(estimate, reference, ties, "tau_ap_first", "tau_AP of the estimate")


def symmetric_tau_ap(a: ArrayLike, b: ArrayLike, *, ties: str = "a") -> RankCorrelation:
    """Return the mean of tau_AP in both directions, if neither ranking is the reference.

    Parameters
    ----------
    a, b : array_like
        Scores of the same systems.
    ties : str
        As in `tau_ap`.

    Returns
    -------
    RankCorrelation
        The mean of both directions.

    References
    ----------
    - Yilmaz, Aslam & Robertson (2008). A new rank correlation coefficient for information
      retrieval. SIGIR. doi:10.1145/1390334.1390435

    Examples
    --------
    >>> round(symmetric_tau_ap([3, 1, 2, 4], [4, 3, 2, 1]).value, 4)
    -0.2222
    """
    return _ap_result(a, b, ties, "tau_ap", "tau_AP, mean of both directions")


def correlations(scores: ArrayLike, *, coefficient: str = "tau", ties: str = "a") -> np.ndarray:
    """Return the correlations of all measures, [measure, measure].

    Parameters
    ----------
    scores : array_like
        [measure, system].
    coefficient : str
        "tau" (tau-b) or "tau_ap" (mean of both directions).
    ties : str
        As in `tau_ap`.

    Returns
    -------
    numpy.ndarray
        [measure, measure]: NaN where `kendall_tau` or `tau_ap` is NaN. The diagonal is computed as
        well: with "tau_ap" and ties "a" it is below 1 for a measure with ties.

    References
    ----------
    - Kendall (1945). The treatment of ties in ranking problems. Biometrika.
      doi:10.1093/biomet/33.3.239
    - Yilmaz, Aslam & Robertson (2008). A new rank correlation coefficient for information
      retrieval. SIGIR. doi:10.1145/1390334.1390435

    Examples
    --------
    >>> correlations([[0.3, 0.2, 0.1], [0.2, 0.3, 0.1], [0.1, 0.2, 0.3]]).round(2).tolist()
    [[1.0, 0.33, -1.0], [0.33, 1.0, -0.33], [-1.0, -0.33, 1.0]]
    """
    check_choice("coefficient", coefficient, COEFFICIENTS)
    rows = _check_complete("scores", scores, 2)
    pairwise = pairwise_tau_and_tau_ap(rows, ties=ties)
    own = pairwise_tau_and_tau_ap(np.stack([rows, rows], axis=1), ties=ties)
    matrix = np.empty((len(rows), len(rows)))
    first, second = all_pairs(len(rows)).T
    matrix[first, second] = matrix[second, first] = getattr(pairwise, coefficient)
    np.fill_diagonal(matrix, getattr(own, coefficient))
    return matrix


def pairwise_tau_and_tau_ap(values: ArrayLike, *, ties: str = "a") -> PairCorrelations:
    """Return tau-b and tau_AP of all pairs of measures, from values [..., measure, system].

    Each measure is ranked once; one pass over a pair gives tau and both directions of tau_AP.
    Releases the GIL, so that threads can process samples.
    """
    check_choice("treatment of ties", ties, AP_TIES)
    if np.ndim(values) < 2:
        raise InputError(
            f"{arg('values')} must be [..., measure, system], got shape {np.shape(values)}"
        )
    array = _check_complete("values", values, np.ndim(values))
    *lead, n_measures, n = array.shape
    stack = array.reshape(prod(lead), n_measures, n)
    pairs = n_measures * (n_measures - 1) // 2
    tau, forward, backward = np.empty((3, len(stack), pairs))
    kernels.pair_correlations(
        stack, np.argsort(-stack, axis=-1), int(ties == "a"), tau, forward, backward
    )
    return PairCorrelations(
        tau=tau.reshape(*lead, pairs),
        tau_ap_first=forward.reshape(*lead, pairs),
        tau_ap_second=backward.reshape(*lead, pairs),
    )


def _ap_result(
    a: ArrayLike, b: ArrayLike, ties: str, direction: str, words: str
) -> RankCorrelation:
    rows = _two_rankings(a, b)
    value, n = float(getattr(pairwise_tau_and_tau_ap(rows, ties=ties), direction)[0]), rows.shape[1]
    flag = few_items_flag(n) if np.isnan(value) else ""
    return RankCorrelation(value=value, n=n, method=f"{words}, ties {ties!r}", flag=flag)


def few_items_flag(n: int) -> str:
    """Return the flag of an undefined correlation of `n` systems: too few of them, or all tied."""
    return TOO_FEW_SYSTEMS if n < 2 else ALL_TIED


def pair_of(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return two rankings as one array; raise an error if they differ in shape."""
    if a.shape != b.shape:
        raise InputError(f"the two rankings differ in shape: {a.shape} and {b.shape}")
    return np.stack([a, b])


def _two_rankings(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    return pair_of(
        _check_complete("the first ranking", a, 1), _check_complete("the second ranking", b, 1)
    )


def _check_complete(name: str, values: ArrayLike, ndim: int) -> np.ndarray:
    array = np.ascontiguousarray(values, dtype=np.float64)
    if np.ndim(values) != ndim:
        raise InputError(f"{arg(name)}: expected {ndim} dimensions, got shape {np.shape(values)}")
    missing = np.isnan(array)
    if missing.any():
        place = np.argwhere(missing)[0].tolist()
        raise InputError(f"{name}: no score at {place}; omit systems without a score")
    return array


@dataclass(frozen=True, slots=True, kw_only=True)
class TauInterval:
    """A confidence interval for Kendall's tau, or for tau_AP."""

    tau: float
    low: float
    high: float
    confidence: float
    n: int
    """Number of systems in the rankings."""
    method: str
    flag: str = ""
    """"", or why the limits are NaN."""
    n_topics: int | None = None
    n_dropped: int | None = None
    """Number of topics omitted because some system has no score."""
    bias: float | None = None
    """Mean of the resampled tau minus tau."""
    n_samples: int | None = None
    seed: int | None = None


def kendall_interval(tau: float, n: int, *, confidence: float = 0.95) -> TauInterval:
    """Return the normal interval tau ± z sqrt(2 (2n + 5)/(9 n (n - 1))) of n systems, as in papers.

    The standard error is that of unrelated rankings (tau = 0), so that a limit may exceed 1.
    Kendall 1938, doi:10.1093/biomet/30.1-2.81; used in Sakai and Shang 2016, Table 2.
    """
    check_open_unit("confidence", confidence)
    if n < 2:
        raise InputError(f"an interval for tau requires at least 2 systems, got n = {n}")
    if not -1.0 <= tau <= 1.0:
        raise bad_value("tau", "lie between -1 and 1", tau)
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
    """Return an interval over topics for tau-b between two rankings by mean score.

    With the `coefficient` tau_ap, for tau_AP of the first as an estimate of the second. Both
    matrices are [system, topic], and a resample takes the same topics from both; topics for which
    some system has no score are dropped for all. Means that agree to 1e-12 of the largest score
    tie. The limits are quantiles of the resampled tau, shifted by `bias` so that their mean is tau,
    and limited to ±1: a resample adds noise to that of the sample, and unshifted quantiles would
    count it twice.

    The interval is for the mean tau of topic sets of this size (in simulations .87 to .98 of the
    intervals at level .95 contained it), not for the tau of the systems' true means. Resamples in
    which all systems tie are omitted. NaN limits with a flag below two topics.
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
    """Return tau of each resample of topics, without those in which all systems tie."""
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
    """Return tau-b between two rankings [2, system, topic] by mean score, for each row of weights.

    Or tau_AP of the first ranking as the estimate.
    """
    totals = np.stack([weights @ scores.T for scores in complete], axis=1)
    # Equal means must tie despite different rounding of their sums.
    step = CONSTANT * np.abs(complete).max(axis=(1, 2), initial=0.0) * max(1, weights.shape[1])
    rounded = np.round(totals / np.where(step > 0.0, step, 1.0)[:, None])
    pairwise = pairwise_tau_and_tau_ap(rounded)
    return (pairwise.tau if coefficient == "tau" else pairwise.tau_ap_first)[:, 0]

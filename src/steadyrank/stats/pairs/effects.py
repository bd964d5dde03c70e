"""How large is the difference of two runs, in units that do not depend on the measure's scale?

Standardised paired differences (Jayasinghe et al. 2015, eq. 8), Hedges' correction for few topics,
Cliff's delta, and the number of topics that each run wins: a significant difference may be small.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from steadyrank.stats.inputs import checked
from steadyrank.stats.pairs.result import NO_DIFFERENCE, TOO_FEW, ZERO_VARIANCE
from steadyrank.stats.pairs.tests import differences, moments, run_moments, sample_flags, topics_won

READINGS = (("negligible", 0.0), ("small", 0.2), ("medium", 0.5), ("large", 0.8))
"""Cohen's words, each with the smallest absolute effect that it denotes."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EffectSizes:
    """Effect sizes of many pairs of runs: arrays with one entry per pair."""

    n: np.ndarray
    """Number of topics that both runs of the pair have."""
    difference: np.ndarray
    sd: np.ndarray
    """Standard deviation of the differences by topic."""
    paired_d: np.ndarray
    """difference / sd."""
    reading: np.ndarray
    """negligible, small, medium or large, from |paired_d|; "" if undefined."""
    hedges_g: np.ndarray
    """paired_d, corrected for its upward bias with few topics."""
    residual_d: np.ndarray
    """difference / residual sd of the two-way model of the pair: paired_d times sqrt(2)."""
    cliffs_delta: np.ndarray
    wins: np.ndarray
    """Number of topics on which the first run of the pair scores higher."""
    ties: np.ndarray
    losses: np.ndarray
    flag: np.ndarray
    """"" or a flag of `steadyrank.stats.pairs.result`."""


def effect_sizes(
    scores: ArrayLike, pairs: ArrayLike, *, weights: np.ndarray | None = None
) -> EffectSizes:
    """Return effect sizes of each pair over the topics that both runs have; z = first - second.

    - paired_d = mean(z) / sd(z), read as small, medium, large from .2, .5, .8
    - hedges_g = J(n - 1) paired_d, see `hedges_correction`
    - residual_d = mean(z) / s with s = sd(z) / sqrt(2), the residual of the model run + topic
    - cliffs_delta = P(first > second) - P(first < second) over all n² couples of topics

    paired_d assumes differences of similar variance; outliers shrink it. It increases if runs agree
    topic by topic, so do not compare it with a d of independent groups, and do not average paired_d
    with residual_d. Cliff's delta ignores the pairing: topics differ far more than runs, so it is
    small even if one run wins on every topic; report wins then.

    With `weights` of the topics mean(z) and sd(z) are weighted; wins and delta still count topics.

    Reference: Jayasinghe et al. 2015, doi:10.1016/j.ipm.2015.06.005; Cliff 1993,
    doi:10.1037/0033-2909.114.3.494; Cohen 1988, doi:10.4324/9780203771587.

    >>> sizes = effect_sizes([[0.5, 0.7, 0.6], [0.4, 0.5, 0.6]], [[0, 1]])
    >>> sizes.paired_d.round(6).tolist(), sizes.reading.tolist(), sizes.wins.tolist()
    ([1.0], ['large'], [2])
    """
    matrix, chosen = checked(scores, pairs)
    found = moments(matrix, chosen)
    n, mean, sd, flag = found.n, found.mean, found.sd, found.flag
    if weights is not None:
        mean, sd = _weighted_moments(matrix, chosen, weights)
    effect = _standardised(mean, sd, flag)
    won = topics_won(matrix, chosen)
    correction = hedges_correction(np.maximum(n - 1, 1))
    finite = np.where(np.isinf(effect), 0.0, effect)
    return EffectSizes(
        n=n,
        difference=mean,
        sd=sd,
        paired_d=effect,
        reading=read_effect(effect),
        hedges_g=np.where(np.isinf(effect), effect, correction * finite),
        residual_d=np.sqrt(2.0) * effect,
        cliffs_delta=_cliffs_deltas(matrix, chosen),
        wins=won[:, 0],
        ties=won[:, 1],
        losses=won[:, 2],
        flag=flag,
    )


def two_sample_effects(scores: np.ndarray, pairs: np.ndarray) -> EffectSizes:
    """Return effect sizes of runs with different topics; wins and ties count shared topics.

    `paired_d` is Cohen's d of two samples, difference / sqrt((va + vb) / 2), as is `residual_d`;
    Hedges' correction has na + nb - 2 degrees of freedom. Cliff's delta is over all couples of a
    topic of one run and a topic of the other.
    """
    scores, pairs = checked(scores, pairs)
    runs = run_moments(scores)
    n, variance = runs.n[pairs], np.square(runs.sd[pairs])
    mean, sd = runs.mean[pairs[:, 0]] - runs.mean[pairs[:, 1]], np.sqrt(variance.mean(axis=1))
    flag = sample_flags(runs, pairs, mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = np.where(flag == NO_DIFFERENCE, 0.0, mean / sd)
    effect[flag == TOO_FEW] = np.nan
    correction = hedges_correction(np.maximum(n.sum(axis=1) - 2, 1))
    return replace(
        effect_sizes(scores, pairs),
        n=n.min(axis=1),
        difference=mean,
        sd=sd,
        paired_d=effect,
        reading=read_effect(effect),
        hedges_g=np.where(np.isinf(effect), effect, correction * effect),
        residual_d=effect,
        cliffs_delta=np.array(
            [cliffs_delta(*(run[~np.isnan(run)] for run in scores[pair])) for pair in pairs]
        ),
        flag=flag,
    )


def read_effect(effect: ArrayLike) -> np.ndarray:
    """Return Cohen's words for the size of standardised differences; "" for NaN.

    They are conventions of psychology, and do not say what users notice.

    >>> read_effect([-0.9, 0.1, 0.2]).tolist()
    ['large', 'negligible', 'small']
    """
    size = np.abs(np.asarray(effect, dtype=np.float64))
    words = np.full(size.shape, "", dtype=object)
    for word, least in READINGS:
        words[size >= least] = word
    return words


def hedges_correction(df: ArrayLike) -> np.ndarray:
    """Return the exact factor that removes the bias of a standardised difference.

    J(df) = Γ(df/2) / (sqrt(df/2) Γ((df - 1)/2)), about 1 - 3/(4 df - 1); J(1) = 0. Assumes normal
    differences; do not apply it to Cliff's delta, which has no such bias.

    Reference: Hedges 1981, doi:10.3102/10769986006002107.

    >>> hedges_correction([1, 10]).round(4).tolist()
    [0.0, 0.9227]
    """
    half = np.asarray(df, dtype=np.float64) / 2.0
    return np.asarray(np.exp(special.gammaln(half) - special.gammaln(half - 0.5)) / np.sqrt(half))


def _weighted_moments(
    matrix: np.ndarray, pairs: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return weighted means and standard deviations of the differences of each pair."""
    mean, sd = np.empty((2, len(pairs)))
    for part, z, _ in differences(matrix, pairs):
        weight = np.where(np.isnan(z), 0.0, weights)
        total, n = weight.sum(axis=1), (weight > 0.0).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean[part] = (weight * np.nan_to_num(z)).sum(axis=1) / total
            off = np.nan_to_num(z - mean[part, None])
            sd[part] = np.sqrt((weight * off * off).sum(axis=1) / total * n / (n - 1.0))
    return mean, sd


def _standardised(mean: np.ndarray, sd: np.ndarray, flag: np.ndarray) -> np.ndarray:
    plain = flag == ""
    effect = np.where(flag == TOO_FEW, np.nan, 0.0)
    effect[plain] = mean[plain] / sd[plain]
    constant = flag == ZERO_VARIANCE
    effect[constant] = np.copysign(np.inf, mean[constant])
    return effect


def _cliffs_deltas(matrix: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return Cliff's delta over the topics that both runs of a pair have; NaN without any."""
    deltas = np.empty(len(pairs))
    complete = ~np.isnan(matrix).any(axis=1) & bool(matrix.shape[1])
    whole = complete[pairs].all(axis=1)
    for index in np.flatnonzero(~whole):
        both = matrix[pairs[index]]
        deltas[index] = cliffs_delta(*both[:, ~np.isnan(both).any(axis=0)])
    if whole.any():
        deltas[whole] = _deltas_of_ranks(matrix, pairs[whole])
    return deltas


def cliffs_delta(first: np.ndarray, second: np.ndarray) -> float:
    """Return P(first > second) - P(first < second) over all couples; NaN without any.

    >>> cliffs_delta(np.array([0.3, 0.5]), np.array([0.3, 0.1, 0.2]))
    0.8333333333333334
    """
    if not len(first) or not len(second):
        return float("nan")
    couples, ordered = len(first) * len(second), np.sort(second)
    below = int(np.searchsorted(ordered, first, side="left").sum())
    not_above = int(np.searchsorted(ordered, first, side="right").sum())
    return (below + not_above - couples) / couples


def _deltas_of_ranks(matrix: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return Cliff's delta of complete runs, for all pairs of one run at once.

    Scores are replaced by their ranks among all, for a table of how many of a run's scores each
    score exceeds.
    """
    couples, sums = matrix.shape[1] ** 2, np.empty(len(pairs), np.int64)
    scores, ranks = np.unique(matrix, return_inverse=True)
    ranks = ranks.reshape(matrix.shape)
    # Tables are made for the side with fewer runs: with a baseline, the second.
    side = int(len(np.unique(pairs[:, 0])) > len(np.unique(pairs[:, 1])))
    order = np.argsort(pairs[:, side], kind="stable")
    owners, starts = np.unique(pairs[order, side], return_index=True)
    for owner, places in zip(owners, np.split(order, starts[1:]), strict=True):
        exceeded = np.bincount(ranks[owner], minlength=len(scores)).cumsum()
        twice = exceeded + np.concatenate([[0], exceeded[:-1]])
        sums[places] = twice[ranks[pairs[places, 1 - side]]].sum(axis=1)
    return np.asarray((sums - couples if side else couples - sums) / couples)

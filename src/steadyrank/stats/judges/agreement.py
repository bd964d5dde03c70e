"""How well does a judge agree with people? In grades of documents, scores of runs, and value.

Kappas of the grades have intervals over topics, by the jackknife. A bias of scores that is the same
for all runs changes no rank, so that its variance over runs matters. The value of a judge is the
number of topics that people need not judge: with the correlation rho of the judge's differences of
runs with people's, and N further topics, n topics of people have the precision of n / (1 - rho² N /
(n + N)).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from steadyrank.errors import InputError, check_choice
from steadyrank.stats.interval import Interval, t_half_width, t_intervals, t_limits, t_test
from steadyrank.stats.pairs.result import CONSTANT, tiny_of
from steadyrank.stats.pairs.tests import welch
from steadyrank.stats.planning.design import fewest, t_power

Weights = Literal["none", "linear", "quadratic"]
_POWER = {"none": 0, "linear": 1, "quadratic": 2}


def cohen_kappa(first: Any, second: Any, *, weights: Weights = "none") -> float:
    r"""Return Cohen's kappa of two judges' grades of the same documents, in the same order.

    \(\kappa = 1 - \sum_{ij} w_{ij} o_{ij} / \sum_{ij} w_{ij} e_{ij}\), with the observed counts
    \(o\) and the counts \(e\) expected for independent judges. It does not show whether either
    judge is right, and it is low if one grade is rare, even if the judges seldom differ. NaN if
    both judges always gave the same single grade.

    Parameters
    ----------
    first, second : array_like
        Grades by each judge.
    weights : str
        \(w_{ij} = 1\) where the grades differ ("none"), \(|i - j|\) ("linear") or \((i - j)^2\)
        ("quadratic"), the steps between the grades that occur.

    Returns
    -------
    float
        1 for perfect agreement, 0 for the agreement expected by chance.

    References
    ----------
    - Cohen (1960). A coefficient of agreement for nominal scales. Educational and Psychological
      Measurement. doi:10.1177/001316446002000104
    - Cohen (1968). Weighted kappa: nominal scale agreement with provision for scaled disagreement
      or partial credit. Psychological Bulletin. doi:10.1037/h0026256

    Examples
    --------
    >>> round(cohen_kappa([0, 0, 1, 2, 2], [0, 1, 1, 2, 1]), 3)
    0.444
    """
    grades = np.asarray(first), np.asarray(second)
    if grades[0].ndim != 1 or grades[0].shape != grades[1].shape or not len(grades[0]):
        raise InputError("expected two lists of grades of the same documents, of equal length")
    check_choice("weights", weights, _POWER)
    return float(kappa_of_counts(confusion_counts(*grades), weights))


def confusion_counts(
    first: np.ndarray, second: np.ndarray, levels: np.ndarray | None = None
) -> np.ndarray:
    """Return counts of each pair of grades by the first judge (rows) and the second."""
    if levels is None:
        levels = np.unique(np.concatenate([first, second]))
    counts = np.zeros((len(levels), len(levels)))
    np.add.at(counts, (np.searchsorted(levels, first), np.searchsorted(levels, second)), 1)
    return counts


def kappa_of_counts(counts: np.ndarray, weights: Weights = "none") -> np.ndarray:
    """Return Cohen's kappa of counts [..., grade, grade]; NaN if only one grade occurs."""
    n = counts.sum(axis=(-2, -1))
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = counts.sum(axis=-1)[..., :, None] * counts.sum(axis=-2)[..., None, :]
        expected = expected / n[..., None, None]
    steps = np.abs(np.subtract.outer(*[np.arange(counts.shape[-1])] * 2))
    weight = np.where(steps > 0, np.power(steps, float(_POWER[weights])), 0.0)
    chance = np.nan_to_num((weight * expected).sum(axis=(-2, -1)))
    kappa = np.full(np.shape(chance), np.nan)
    np.divide((weight * counts).sum(axis=(-2, -1)), chance, out=kappa, where=chance > 0)
    return np.asarray(1.0 - kappa)


def ac1_of_counts(counts: np.ndarray) -> np.ndarray:
    r"""Return Gwet's AC1 of counts [..., grade, grade], which is robust to rare grades.

    \((p_a - p_e) / (1 - p_e)\) with the share \(p_a\) of equal grades and
    \(p_e = \sum_k \pi_k (1 - \pi_k) / (q - 1)\), \(\pi_k\) the mean share of grade k for both
    judges, q grades (Gwet 2008, doi:10.1348/000711006X126600). NaN for fewer than two grades.
    """
    n, q = counts.sum(axis=(-2, -1)), counts.shape[-1]
    with np.errstate(invalid="ignore", divide="ignore"):
        agreed = np.trace(counts, axis1=-2, axis2=-1) / n
        share = (counts.sum(axis=-1) + counts.sum(axis=-2)) / (2.0 * n[..., None])
        chance = (share * (1.0 - share)).sum(axis=-1) / (q - 1.0)
        return np.asarray((agreed - chance) / (1.0 - chance))


AgreementOf = Callable[[np.ndarray], np.ndarray]
"""Function of counts [..., grade, grade]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementInterval:
    """A coefficient of agreement and its interval over topics."""

    value: float
    interval: Interval


COEFFICIENTS: dict[str, AgreementOf] = {
    "kappa": kappa_of_counts,
    "kappa_weighted": partial(kappa_of_counts, weights="quadratic"),
    "ac1": ac1_of_counts,
}


def agreement_over_topics(
    counts: np.ndarray, coefficient: AgreementOf, *, confidence: float = 0.95
) -> AgreementInterval:
    """Return a coefficient of all topics together, from counts [topic, grade, grade].

    The interval is a jackknife over topics with Student's law, within ±1. Its limits are NaN for
    fewer than two topics, or if the coefficient is undefined without some topic.
    """
    total = counts.sum(axis=0)
    value = float(coefficient(total))
    n = len(counts)
    if n < 2:
        return AgreementInterval(value=value, interval=Interval(np.nan, np.nan))
    left = coefficient(total - counts)
    limits = t_intervals(value, _jackknife_error(left), n - 1.0, confidence)
    return AgreementInterval(value=value, interval=Interval(*np.clip(limits, -1.0, 1.0).tolist()))


def _jackknife_error(left: np.ndarray) -> float:
    """Return the standard error, given the estimates without each topic."""
    return math.sqrt((len(left) - 1.0) / len(left) * float(((left - left.mean()) ** 2).sum()))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bias:
    """Mean of the judge's score minus people's, over the topics of both."""

    by_run: np.ndarray
    interval: np.ndarray
    """[run, 2]: Student's intervals, each valid for one run."""
    mean: float
    spread: float
    """Standard deviation over runs."""
    spread_by_chance: float
    """Expected standard deviation if the bias were the same for all runs."""


def bias_of_runs(human: np.ndarray, judge: np.ndarray, *, confidence: float = 0.95) -> Bias:
    """Return the bias of each run's mean, from scores [run, topic] on the same topics."""
    off = judge - human
    n_runs, n = off.shape
    by_run = off.mean(axis=1)
    # Centred over runs: effects of topics that all runs share do not contribute.
    apart = off - off.mean(axis=0)
    chance = apart.var(axis=1, ddof=1).sum() / (n_runs - 1.0) / n if n_runs > 1 else np.nan
    return Bias(
        by_run=by_run,
        interval=t_intervals(by_run, off.std(axis=1, ddof=1) / np.sqrt(n), n - 1.0, confidence),
        mean=float(by_run.mean()),
        spread=float(by_run.std(ddof=1)) if n_runs > 1 else float("nan"),
        spread_by_chance=float(np.sqrt(chance)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KinTest:
    """Whether a judge favours some runs: its bias for them minus that for others."""

    difference: float
    interval: Interval
    pvalue: float
    welch_over_runs: float
    """p-value of a test that treats runs as a sample: too small, since runs share topics."""


def favours_kin(
    human: np.ndarray,
    judge: np.ndarray,
    kin: np.ndarray,
    others: np.ndarray,
    *,
    confidence: float = 0.95,
) -> KinTest:
    """Test by t over topics the judge's bias for the related runs minus that for the others.

    `kin` and `others` are rows of the scores [run, topic]. D_t = mean over kin of (F - Y) minus the
    mean over others, topic by topic.
    """
    off = judge - human
    apart = off[kin].mean(axis=0) - off[others].mean(axis=0)
    n, difference, tiny = len(apart), float(apart.mean()), tiny_of(apart)
    error = float(apart.std(ddof=1)) / np.sqrt(n)
    error = 0.0 if error <= tiny else error
    return KinTest(
        difference=difference,
        interval=t_limits(difference, error, n - 1.0, confidence),
        pvalue=float(t_test(np.float64(difference), error, n - 1.0, tiny)[1]),
        welch_over_runs=welch_pvalue(off[kin].mean(axis=1), off[others].mean(axis=1)),
    )


def welch_pvalue(first: np.ndarray, second: np.ndarray) -> float:
    """Return the p-value of Welch's test of two samples; NaN for fewer than two in one."""
    rows = np.full((2, max(len(first), len(second))), np.nan)
    rows[0, : len(first)], rows[1, : len(second)] = first, second
    return float(welch(rows, np.array([[0, 1]])).pvalue[0])


FEWEST = 5
"""Fewest topics of people for a correction, or in a plan."""

MOST = 1_000_000
"""Largest number of topics in a plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """Correlation of the judge's differences of two runs with people's, over all pairs of runs."""

    sd: float
    """Root of the mean variance over topics of people's differences of pairs of runs."""
    correlation: float
    interval: Interval
    """Interval of the correlation, over topics."""

    def factor(self, n: int, n_more: int) -> float:
        """Return the factor by which people alone would have to judge more topics."""
        return topics_factor(self.correlation, n, n_more)

    def factor_interval(self, n: int, n_more: int) -> Interval:
        """Return the interval of the factor, which is 1 for a negative correlation."""
        low, high = (topics_factor(max(end, 0.0), n, n_more) for end in self.interval)
        return Interval(low, high)


def topics_factor(correlation: float, n: int, n_more: float) -> float:
    """Return 1 / (1 - rho² N / (n + N)); 1 for a negative correlation, for which lambda is 0."""
    share = 1.0 if math.isinf(n_more) else n_more / (n + n_more)
    explained = max(correlation, 0.0) ** 2 * share
    return 1.0 / (1.0 - explained) if explained < 1.0 else math.inf


def topics_like(width_ratio: float, n: int, population: float = math.inf) -> float:
    """Return the factor of topics of people for intervals that are narrower by this ratio.

    With a finite `population`, from which topics are sampled, fewer are needed.

    >>> topics_like(0.5, 20), topics_like(0.5, 20, 40), topics_like(0.0, 20, 40)
    (4.0, 1.6, 2.0)
    """
    inverse = width_ratio**2 * (1.0 / n - 1.0 / population) + 1.0 / population
    return 1.0 / (n * inverse) if inverse > 0.0 else math.inf


def worth_of(human: np.ndarray, judge: np.ndarray, *, confidence: float = 0.95) -> Worth:
    """Return the correlation of scores [run, topic] on the same topics, pooled over pairs of runs.

    The interval is a jackknife over topics on Fisher's scale. NaN if all runs have equal scores by
    people or by the judge.
    """
    apart = [scores - scores.mean(axis=0) for scores in (human, judge)]
    n_runs, n = human.shape
    every = np.arange(n)
    value = _correlation(apart, every)
    left = np.array([_correlation(apart, every[every != topic]) for topic in range(n)])
    variance = apart[0].var(axis=1, ddof=1).sum() * 2.0 / (n_runs - 1.0)
    return Worth(
        sd=math.sqrt(variance),
        correlation=value,
        interval=_fisher_interval(value, left, confidence),
    )


def _correlation(apart: list[np.ndarray], topics: np.ndarray) -> float:
    human, judge = (rows[:, topics] - rows[:, topics].mean(axis=1)[:, None] for rows in apart)
    sizes = [float(np.sqrt((rows**2).sum())) for rows in (human, judge)]
    # Equal runs differ only by rounding.
    if min(sizes) <= CONSTANT * human.size:
        return math.nan
    return float((human * judge).sum()) / (sizes[0] * sizes[1])


def _fisher_interval(value: float, left: np.ndarray, confidence: float) -> Interval:
    if math.isnan(value) or np.isnan(left).any():
        return Interval(math.nan, math.nan)
    if abs(value) > 1.0 - 1e-12:
        return Interval(value, value)
    z = np.arctanh(np.clip(left, -1.0 + 1e-15, 1.0 - 1e-15))
    limits = t_intervals(math.atanh(value), _jackknife_error(z), len(left) - 1.0, confidence)
    return Interval(*np.tanh(limits).tolist())


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedTopicsNeeded:
    """Number of topics that people must judge for one comparison; None if more than `MOST`."""

    alone: int | None
    with_judge: int | None
    """With the topics that the judge has judged, from which people's are sampled."""
    with_endless: int | None
    """If the judge judged any number of topics."""


def topics_for_width(
    worth: Worth, width: float, *, n_judged: int, confidence: float = 0.95
) -> JudgedTopicsNeeded:
    """Return the fewest topics for which the interval of a difference has at most this width.

    >>> worth = Worth(sd=0.2, correlation=0.8, interval=Interval(0.7, 0.9))
    >>> needed = topics_for_width(worth, 0.1, n_judged=200)
    >>> needed.alone, needed.with_judge, needed.with_endless
    (64, 32, 26)
    """

    def is_enough(n: int, error: float, paid: int) -> bool:
        return 2.0 * float(t_half_width(error, n - 1.0 - paid, confidence)) <= width

    return _needed(worth, n_judged, is_enough)


def topics_for_power(
    worth: Worth, difference: float, *, n_judged: int, alpha: float = 0.05, power: float = 0.8
) -> JudgedTopicsNeeded:
    """Return the fewest topics for which a t test finds this difference with this power."""

    def is_enough(n: int, error: float, paid: int) -> bool:
        effective = n - paid
        return float(t_power(difference, error * math.sqrt(effective), effective, alpha)) >= power

    return _needed(worth, n_judged, is_enough)


def _needed(
    worth: Worth, n_judged: int, is_enough: Callable[[int, float, int], bool]
) -> JudgedTopicsNeeded:
    def alone(n: int) -> bool:
        return is_enough(n, worth.sd / math.sqrt(n), 0)

    def corrected(n: int, n_more: float) -> bool:
        # A judge is ignored if the correction costs more than it gains.
        error = worth.sd / math.sqrt((n - 2.0) * n / (n - 1.0))
        error /= math.sqrt(topics_factor(worth.correlation, n, n_more))
        return alone(n) or (n_more > 0 and is_enough(n, error, 1))

    bounds = {"guess": 64, "least": FEWEST, "most": MOST}
    return JudgedTopicsNeeded(
        alone=fewest(alone, **bounds),
        with_judge=fewest(lambda n: corrected(n, max(0, n_judged - n)), **bounds),
        with_endless=fewest(lambda n: corrected(n, math.inf), **bounds),
    )

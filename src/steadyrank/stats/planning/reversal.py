"""Would a second experiment, on other topics, put two runs the other way round?

For anyone who reports a difference of two mean scores. The retrieval experiment error rate (REER)
of Lin & Hauptmann ("Revisiting the effect of topic set size on retrieval error", SIGIR 2005) for a
*true* difference, with the variance of two independent runs or, as runs share their topics, the
paired one; and the predictive form for an *observed* difference. Variances are per topic.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from steadyrank.errors import InputError
from steadyrank.stats.inputs import checked
from steadyrank.stats.pairs.result import CONSTANT, NO_DIFFERENCE, ZERO_VARIANCE, degenerate_flags
from steadyrank.stats.pairs.tests import differences, row_moments


def error_rate(
    difference: ArrayLike, variance: ArrayLike, n: ArrayLike, other_n: ArrayLike | None = None
) -> np.ndarray:
    """Chance that two experiments contradict each other, given the true mean difference.

    p1 (1 - p2) + p2 (1 - p1) with p = Phi(-difference / sqrt(variance / n)) the chance that an
    experiment of n topics puts the runs the wrong way round; with equal sizes eq. 8, 2 p (1 - p).
    Between 0 and 1/2 for equal sizes. `variance` is that of differences by topic: s_a² + s_b² -
    2 s_ab for runs on the same topics, s_a² + s_b² as in eq. 3 if each had topics of its own.
    Arguments broadcast, n may be real.

    Assumes close to normal means and ignores ties. Do not take an observed difference for the true
    one: use `predictive_rate`. Without variance the rate is 0, and 1/2 if there is no difference
    either. NaN for a missing argument.

    >>> error_rate(0.03, 0.04 + 0.045 - 2 * 0.03, [50, 100]).round(4).tolist()
    [0.1636, 0.0561]
    """
    wrong = ndtr(-_standardised(difference, variance, n))
    second = wrong if other_n is None else ndtr(-_standardised(difference, variance, other_n))
    return np.asarray(wrong * (1.0 - second) + second * (1.0 - wrong))


def approximate_error_rate(difference: ArrayLike, variance: ArrayLike, n: ArrayLike) -> np.ndarray:
    """Eq. 13, which decays exponentially in n: exp(-(2/pi) difference² n / variance) / 2.

    It rests on Williams' Phi(z) = (1 + sqrt(1 - exp(-2 z² / pi))) / 2 for z >= 0 (Annals of
    Mathematical Statistics 17, 1946; eq. 12 of the paper prints a 2 for a 4, with which eq. 13
    would not follow) and is below `error_rate` by 0.0058 at most; where the rate is tiny, it is too
    small by orders of magnitude.

    >>> approximate_error_rate(0.03, 0.025, [50, 100]).round(4).tolist()
    [0.159, 0.0505]
    """
    return np.asarray(0.5 * np.exp(-2.0 / np.pi * _standardised(difference, variance, n) ** 2))


def predictive_rate(
    difference: ArrayLike, variance: ArrayLike, n: ArrayLike, other_n: ArrayLike | None = None
) -> np.ndarray:
    """Chance that a second experiment reverses an *observed* mean difference.

    Phi(-|difference| / sqrt(variance / n + variance / other_n)): n topics gave the difference, and
    the second experiment has `other_n` others, as many unless given. The true difference is only
    known through the observed one, so both experiments' spread counts: with endless topics in the
    second (`other_n` infinite) the rate falls to Phi(-|difference| / sqrt(variance / n)) and no
    further, so that for most observed differences no number of topics makes it small.

    Assumes close to normal means, a variance known well enough (some 25 topics) and that, before
    looking, all true differences were equally likely. Of runs picked *because* they came out on
    top, or that are all alike, the rate is too low.

    >>> predictive_rate(0.02, 0.025, 50, [50, 1000, np.inf]).round(3).tolist()
    [0.264, 0.191, 0.186]
    """
    size = np.asarray(n, np.float64)
    other = size if other_n is None else np.asarray(other_n, np.float64)
    _check_sizes(size, other)
    return np.asarray(ndtr(-_standardised(difference, variance, 1.0 / (1.0 / size + 1.0 / other))))


def topics_for_error_rate(
    difference: ArrayLike, variance: ArrayLike, rate: float = 0.05
) -> np.ndarray:
    """Topics of each experiment with which a true difference has `error_rate` <= rate.

    ceil(variance (Phi^-1(p) / difference)²) with p = (1 - sqrt(1 - 2 rate)) / 2; at least 1, and
    infinite where there is no difference. Whole numbers, as floats.

    >>> topics_for_error_rate(0.03, 0.025, 0.05).item()
    106.0
    """
    if not 0.0 < rate < 0.5:
        raise InputError(
            "an error rate to reach must lie strictly between 0 and 0.5 (the rate of a coin), "
            f"got {rate}"
        )
    quantile = float(ndtri(rate / (1.0 + np.sqrt(1.0 - 2.0 * rate))))
    with np.errstate(divide="ignore"):
        size = (quantile / _standardised(difference, variance, 1.0)) ** 2
    # A size that only rounding put above a whole number is that number.
    return np.asarray(np.maximum(1.0, np.ceil(size * (1.0 - 1e-12))))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairVariances:
    """What the formulas need of each pair of runs, over the topics that both have."""

    n: np.ndarray
    difference: np.ndarray
    """0 where it is only rounding; so is `variance`."""
    variance_a: np.ndarray
    variance_b: np.ndarray
    covariance: np.ndarray
    variance: np.ndarray
    """Of the differences by topic: variance_a + variance_b - 2 covariance."""
    flag: np.ndarray
    """"" or one of the flags of degenerate pairs."""


def pair_variances(scores: ArrayLike, pairs: ArrayLike) -> PairVariances:
    """Means, variances (ddof 1) and covariance of pairs of rows of scores [run, topic].

    >>> variances = pair_variances([[0.3, 0.5, 0.4], [0.2, 0.5, 0.3]], [[0, 1]])
    >>> variances.covariance.round(4).tolist(), variances.variance.round(4).tolist()
    ([0.015], [0.0033])
    """
    matrix, chosen = checked(scores, pairs)
    n = np.zeros(len(chosen), np.int64)
    difference, sd, largest, variance_a, variance_b = np.empty((5, len(chosen)))
    for part, z, _ in differences(matrix, chosen):
        n[part], difference[part], sd[part], _, largest[part] = row_moments(z)
        for side, variances in enumerate((variance_a, variance_b)):
            own = np.where(np.isnan(z), np.nan, matrix[chosen[part, side]])
            variances[part] = row_moments(own)[2] ** 2
    flag = degenerate_flags(n, difference, sd, largest)
    constant = (flag == NO_DIFFERENCE) | (flag == ZERO_VARIANCE)
    variance = np.where(constant, 0.0, sd**2)
    nothing = np.abs(difference) <= CONSTANT * np.maximum(1.0, largest)
    return PairVariances(
        n=n,
        difference=np.where(nothing, 0.0, difference),
        variance_a=variance_a,
        variance_b=variance_b,
        covariance=0.5 * (variance_a + variance_b - variance),
        variance=variance,
        flag=flag,
    )


def _standardised(difference: ArrayLike, variance: ArrayLike, n: ArrayLike) -> np.ndarray:
    """|difference| in standard errors; infinite without variance, 0 without difference."""
    spread, size = np.asarray(variance, np.float64), np.asarray(n, np.float64)
    if (spread < 0.0).any():
        raise InputError(f"a variance must be at least 0, got {spread.min()}")
    _check_sizes(size)
    distance = np.abs(np.asarray(difference, np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = distance / np.sqrt(spread / size)
    return np.where((distance == 0.0) & ~np.isnan(spread + size), 0.0, z)


def _check_sizes(*sizes: np.ndarray) -> None:
    for size in sizes:
        if (size <= 0.0).any():
            raise InputError(f"a number of topics must be above 0, got {size.min():g}")

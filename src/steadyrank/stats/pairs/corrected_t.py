"""The statistic of every claim about order: t with a variance floor and corrected for skewness.

Student's law and sign flips assume that differences of two runs are symmetric, and that few topics
suffice to estimate their variance. Real scores violate both assumptions, and a table has thousands
of pairs.

**The floor.** Among many pairs, one whose sample variance happens to be very small has the largest
t. Therefore every sum of squares is increased by that of four more topics on which two runs differ
as the most similar tenth of all pairs do; a fudge factor as in Tusher, Tibshirani & Chu (PNAS
98(9), 2001, doi:10.1073/pnas.091062498).

**The skewness.** If a run loses much on a few topics, samples without these topics have both a high
mean and a small variance. A limit for the mean is c + G (2 c² + 1) / 6 standard errors away instead
of c, the first term of the Cornish-Fisher expansion of t (Johnson, JASA 73(363), 1978). G is the
sample's skewness against the claim, increased by two standard errors, since a sample without the
values of a long tail does not show the tail. The limit is linear in G and finite, and it is
inverted exactly, so that decisions and intervals agree.

Skewness here is that of a *mean*: of n equal draws, that of a draw over sqrt(n).
"""

from __future__ import annotations

import numpy as np

FLOOR, ALIKE = 4.0, 0.1
"""Number of topics that the floor adds, and the quantile of their squares among all pairs."""

WORSE = 2.0
"""Standard errors that are added to the sample's skewness against the claim."""


def variance_floor(variances: np.ndarray) -> float:
    """Return the squares of four more topics on which runs differ as the most similar pairs do.

    `variances` are those of *all* pairs' differences; those of 0 do not count. 0 for a single pair.
    """
    positive = variances[variances > 0.0]
    several = len(variances) > 1 and len(positive) > 0
    return FLOOR * float(np.quantile(positive, ALIKE)) if several else 0.0


def adverse(skewness: np.ndarray, n: np.ndarray | float) -> np.ndarray:
    """Return the skewness against a claim, plus two exact standard errors; at least 0.

    `skewness` is that of the mean in the direction of the claim; `n` is the number of draws.
    """
    n = np.maximum(n, 2.0)
    error = np.sqrt(6.0 * (n - 2.0) / (n * (n + 1.0) * (n + 3.0)))
    return np.asarray(np.maximum(0.0, WORSE * error - skewness))


def corrected_reach(critical: np.ndarray, against: np.ndarray) -> np.ndarray:
    """Return the number of standard errors from a mean to its limit, instead of `critical`."""
    with np.errstate(invalid="ignore"):
        reach = critical + against * (2.0 * np.square(critical) + 1.0) / 6.0
    return np.asarray(np.where(np.isinf(critical), critical, reach))


def inverted(t: np.ndarray | float, against: np.ndarray) -> np.ndarray:
    """Return the critical value whose limit is t standard errors away."""
    off = t - against / 6.0
    return np.asarray(2.0 * off / (1.0 + np.sqrt(np.maximum(0.0, 1.0 + against * off / 0.75))))


def corrected_t(t: np.ndarray, skewness: np.ndarray, n: np.ndarray | float) -> np.ndarray:
    """Return the corrected size of t, which is compared with a quantile.

    >>> corrected_t(np.array([3.0, -3.0]), np.array([-0.2, -0.2]), 50).round(3).tolist()
    [2.393, 3.0]
    """
    with np.errstate(invalid="ignore"):
        size = np.maximum(0.0, inverted(np.abs(t), adverse(np.sign(t) * skewness, n)))
    return np.asarray(np.where(np.isinf(t), np.inf, size))


def corrected_widths(
    critical: np.ndarray, error: np.ndarray, skewness: np.ndarray | None, n: np.ndarray | float
) -> np.ndarray:
    """Return [pair, 2]: distances from a mean down to its lower limit, and up to its upper one.

    `critical` has one column, or one for each side; without a `skewness` limits are Student's.
    """
    sides = np.broadcast_to(critical if critical.ndim == 2 else critical[:, None], (len(error), 2))
    if skewness is not None:
        against = [adverse(sign * np.asarray(skewness), n) for sign in (1.0, -1.0)]
        sides = corrected_reach(sides, np.stack(against, axis=1))
    # The width is 0 if the error is 0, even if the critical value is infinite.
    return np.asarray(np.where(error[:, None] == 0.0, 0.0, sides) * error[:, None])


def skewness_of_mean(parts: np.ndarray) -> np.ndarray:
    """Return the skewness of means from their draws' deviations [..., draw]; 0 if all are 0."""
    largest = np.abs(parts).max(axis=-1, keepdims=True, initial=0.0)
    unit = parts / np.where(largest > 0.0, largest, 1.0)
    squares = np.square(unit).sum(axis=-1)
    return np.asarray((unit**3).sum(axis=-1) / np.where(squares > 0.0, squares, 1.0) ** 1.5)

"""The statistic of every claim about order: t with a variance floor and corrected for skewness.

Student's law and sign flips take differences of two runs for symmetric, with a variance that a few
topics show well. Real scores break both assumptions, and a table has thousands of pairs in which
they may be broken.

**The floor.** Of many pairs, the one whose sample variance happens to be smallest has the largest
t. Every sum of squares therefore gains as much as four more topics would add on which two runs
differ as the most alike tenth of all pairs do; a fudge factor as in Tusher, Tibshirani & Chu (PNAS
98(9), 2001, doi:10.1073/pnas.091062498).

**The skewness.** Where a few topics lose much, samples without them have a high mean and a small
variance at once. A limit for the mean lies c + G (2 c² + 1) / 6 standard errors away in place of c,
the first term of the Cornish-Fisher expansion of t (Johnson, JASA 73(363), 1978). G is the sample's
skewness against the claim, taken for two standard errors worse than it seems, since a sample
without the values of a long tail does not show the tail either. The limit is linear in G and
finite, and it is inverted exactly: decisions and intervals cannot disagree.

Skewness here is that of a *mean*: of n equal draws, that of a draw over sqrt(n).
"""

from __future__ import annotations

import numpy as np

FLOOR, ALIKE = 4.0, 0.1
"""Topics that the floor adds, and the quantile of the squares that they are given."""

WORSE = 2.0
"""Standard errors by which the skewness may be worse than the sample's."""


def variance_floor(variances: np.ndarray) -> float:
    """What four more topics, on which runs differ as the most alike pairs do, add to the squares.

    `variances` are those of the differences of *all* pairs of the compared runs, whichever of them
    are tested; those without any variance do not count. 0 for one pair alone.

    >>> variance_floor(np.array([0.0, 1.0, 1.0, 2.0]))
    4.0
    """
    positive = variances[variances > 0.0]
    return (
        FLOOR * float(np.quantile(positive, ALIKE)) if len(variances) > 1 and len(positive) else 0.0
    )


def adverse(skewness: np.ndarray, n: np.ndarray | float) -> np.ndarray:
    """Skewness against a claim, at least 0, two exact standard errors worse than it seems.

    `skewness` is that of the mean in the direction of the claim; `n` the draws behind it.
    """
    n = np.maximum(n, 2.0)
    error = np.sqrt(6.0 * (n - 2.0) / (n * (n + 1.0) * (n + 3.0)))
    return np.asarray(np.maximum(0.0, WORSE * error - skewness))


def corrected_reach(critical: np.ndarray, against: np.ndarray) -> np.ndarray:
    """Standard errors from a mean to its limit, in place of a `critical` number of them.

    >>> reach = corrected_reach(np.array([2.0, np.inf]), np.array([0.3, 0.0]))
    >>> reach.tolist(), inverted(reach[:1], np.array([0.3])).round(9).tolist()
    ([2.45, inf], [2.0])
    """
    with np.errstate(invalid="ignore"):
        reach = critical + against * (2.0 * np.square(critical) + 1.0) / 6.0
    return np.asarray(np.where(np.isinf(critical), critical, reach))


def inverted(t: np.ndarray | float, against: np.ndarray) -> np.ndarray:
    """The critical number of standard errors whose limit lies t of them away."""
    off = t - against / 6.0
    return np.asarray(2.0 * off / (1.0 + np.sqrt(np.maximum(0.0, 1.0 + against * off / 0.75))))


def corrected_t(t: np.ndarray, skewness: np.ndarray, n: np.ndarray | float) -> np.ndarray:
    """The size of t that is compared with a quantile; `skewness` is the difference's own.

    >>> corrected_t(np.array([3.0, -3.0]), np.array([-0.2, -0.2]), 50).round(3).tolist()
    [2.393, 3.0]
    """
    with np.errstate(invalid="ignore"):
        size = np.maximum(0.0, inverted(np.abs(t), adverse(np.sign(t) * skewness, n)))
    return np.asarray(np.where(np.isinf(t), np.inf, size))


def corrected_widths(
    critical: np.ndarray, error: np.ndarray, skewness: np.ndarray | None, n: np.ndarray | float
) -> np.ndarray:
    """[pair, 2]: from a mean down to its lower limit, and up to its upper one.

    `critical` has one column, or one for each side; without a `skewness` limits are Student's.
    """
    sides = np.broadcast_to(critical if critical.ndim == 2 else critical[:, None], (len(error), 2))
    if skewness is not None:
        against = [adverse(sign * np.asarray(skewness), n) for sign in (1.0, -1.0)]
        sides = corrected_reach(sides, np.stack(against, axis=1))
    # No width where there is no error, be the critical value infinite.
    return np.asarray(np.where(error[:, None] == 0.0, 0.0, sides) * error[:, None])


def skewness_of_mean(parts: np.ndarray, axis: int = -1) -> np.ndarray:
    """From what each draw adds to the deviation of a mean from itself; 0 without any spread.

    >>> round(float(skewness_of_mean(np.array([-0.1, -0.1, 0.2]))), 4)
    0.4082
    """
    largest = np.abs(parts).max(axis=axis, keepdims=True, initial=0.0)
    unit = parts / np.where(largest > 0.0, largest, 1.0)
    squares = np.square(unit).sum(axis=axis)
    return np.asarray((unit**3).sum(axis=axis) / np.where(squares > 0.0, squares, 1.0) ** 1.5)

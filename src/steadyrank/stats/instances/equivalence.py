"""Is one system as good as another, up to a margin? Two one-sided t tests.

To show that a cheaper system is not worse, a test that finds no difference is insufficient, since
it also finds none with little data. Here the hypothesis to reject is that it is worse by the
margin. For estimates with a standard error and degrees of freedom, from any model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from scipy import special

from steadyrank.errors import bad_value, check_number
from steadyrank.stats.interval import Interval, t_limits

Verdict = Literal["better", "not worse", "worse", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EquivalenceTest:
    """Tests whether a difference is inside (-delta, delta), or at least above -delta."""

    delta: float
    alpha: float
    interval: Interval
    """Interval of level 1 - 2 alpha; the systems are equivalent if it is inside the margins."""
    equivalent: bool
    non_inferior: bool
    pvalue_equivalence: float
    """The larger of the two one-sided p-values."""
    pvalue_non_inferiority: float
    """p of the hypothesis that the difference is at most -delta."""
    pvalue_non_superiority: float
    """p of the hypothesis that the difference is at least delta."""


def equivalence_test(
    estimate: float, standard_error: float, *, df: float, delta: float, alpha: float = 0.05
) -> EquivalenceTest:
    """Two one-sided t tests of an estimate (TOST), one of which is the non-inferiority test.

    Non-inferiority: P(T > (estimate + delta) / se), rejecting that the difference is at most
    -delta. Equivalence: the larger of that and P(T < (estimate - delta) / se). Each has level
    alpha, and equivalence is shown exactly if the 1 - 2 alpha interval is inside (-delta, delta).
    Without an estimate or a standard error p-values are NaN; if se = 0 they are 0 or 1.

    Reference: Schuirmann 1987, doi:10.1007/BF01068419.
    """
    check_delta(delta)
    check_alpha(alpha)
    below = _tail(-(estimate + delta), standard_error, df)
    above = _tail(estimate - delta, standard_error, df)
    both = max(below, above) if not math.isnan(below + above) else math.nan
    return EquivalenceTest(
        delta=delta,
        alpha=alpha,
        interval=t_limits(estimate, standard_error, df, 1.0 - 2.0 * alpha),
        equivalent=both < alpha,
        non_inferior=below < alpha,
        pvalue_equivalence=both,
        pvalue_non_inferiority=below,
        pvalue_non_superiority=above,
    )


def check_delta(delta: float) -> float:
    """Return a margin, which must be a finite number above 0."""
    if not 0.0 < check_number("delta", delta) < math.inf:
        raise bad_value("delta", "be above 0", delta, "it is the smallest difference that matters")
    return float(delta)


def check_alpha(alpha: float) -> float:
    """Return the level of a one-sided test, below .5, so that there is a 1 - 2 alpha interval."""
    if not 0.0 < check_number("alpha", alpha) < 0.5:
        raise bad_value("alpha", "lie strictly between 0 and 0.5", alpha)
    return float(alpha)


def verdict_of(interval: Interval, delta: float) -> Verdict:
    """Return the verdict of an interval of the difference about the margin.

    `better` above 0, `not worse` above -delta, `worse` entirely below -delta, else `undecided`.
    """
    low, high = interval
    if low > 0.0:
        return "better"
    if low > -delta:
        return "not worse"
    return "worse" if high < -delta else "undecided"


def _tail(excess: float, standard_error: float, df: float) -> float:
    """Return P(T < excess / se); 0 or 1 if se is 0."""
    if standard_error == 0.0:
        return 0.0 if excess < 0.0 else 1.0
    return float(special.stdtr(df, excess / standard_error))

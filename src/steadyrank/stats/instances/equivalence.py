"""Is one system as good as another, to within a margin? Two one-sided t tests.

For anyone who makes a system cheaper and must show that it is not worse: a test that finds no
difference shows nothing, since it finds none in scant data either. Here the burden of proof is the
other way round. For estimates with a standard error and degrees of freedom, from any model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from scipy import special

from steadyrank.errors import bad_value, check_number
from steadyrank.stats.interval import Interval, t_intervals

Verdict = Literal["better", "not worse", "worse", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EquivalenceTest:
    """Whether a difference lies inside (-delta, delta), or at least above -delta."""

    delta: float
    alpha: float
    interval: Interval
    """Of level 1 - 2 alpha: the difference is equivalent if it lies inside the margins."""
    equivalent: bool
    non_inferior: bool
    pvalue_equivalence: float
    """The larger of the two one-sided p-values."""
    pvalue_non_inferiority: float
    """Of the hypothesis that the difference is -delta or below."""
    pvalue_non_superiority: float
    """Of the hypothesis that it is delta or above."""


def equivalence_test(
    estimate: float, standard_error: float, *, df: float, delta: float, alpha: float = 0.05
) -> EquivalenceTest:
    """Two one-sided t tests of an estimate (TOST), and the non-inferiority test among them.

    Non-inferiority: P(T > (estimate + delta) / se), rejecting that the difference is -delta or
    below. Equivalence: both that and P(T < (estimate - delta) / se), the larger of the two. Each
    has level alpha, and equivalence is shown exactly if the 1 - 2 alpha interval lies inside
    (-delta, delta). Assumes that estimate / se is close to t with `df` degrees of freedom. Choose
    delta before looking at the data: the smallest difference that matters. Without an estimate or
    a standard error p-values are NaN and nothing is shown; without spread (se = 0) they are 0 or 1.

    Reference: Schuirmann 1987, doi:10.1007/BF01068419.

    >>> test = equivalence_test(0.004, 0.0035, df=148, delta=0.01)
    >>> test.equivalent, round(test.pvalue_equivalence, 5), round(test.interval[1], 5)
    (True, 0.04428, 0.00979)
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
    """A margin: a finite number above 0."""
    if not 0.0 < check_number("delta", delta) < math.inf:
        raise bad_value("delta", "be above 0", delta, "it is the smallest difference that matters")
    return float(delta)


def check_alpha(alpha: float) -> float:
    """The level of a one-sided test: below .5, so that there is a 1 - 2 alpha interval."""
    if not 0.0 < check_number("alpha", alpha) < 0.5:
        raise bad_value("alpha", "lie strictly between 0 and 0.5", alpha)
    return float(alpha)


def t_limits(estimate: float, standard_error: float, df: float, confidence: float) -> Interval:
    """estimate ± t(df) standard errors; the estimate itself without spread."""
    return Interval(*t_intervals(estimate, standard_error, df, confidence).tolist())


def verdict_of(interval: Interval, delta: float) -> Verdict:
    """What an interval of the difference says about its margin.

    `better` above 0, `not worse` above -delta, `worse` wholly below -delta, else `undecided`. By a
    95 % interval, of a posterior too, each claim is one-sided at .025.

    >>> [verdict_of(limits, 0.01) for limits in ((0.0, 0.2), (-0.02, 0.0), (-0.03, -0.02))]
    ['not worse', 'undecided', 'worse']
    """
    low, high = interval
    if low > 0.0:
        return "better"
    if low > -delta:
        return "not worse"
    return "worse" if high < -delta else "undecided"


def _tail(excess: float, standard_error: float, df: float) -> float:
    """P(T < excess / se): small where the margin is far; 0 or 1 without spread."""
    if standard_error == 0.0:
        return 0.0 if excess < 0.0 else 1.0
    return float(special.stdtr(df, excess / standard_error))

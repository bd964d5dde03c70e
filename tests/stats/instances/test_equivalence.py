"""Equivalence within a margin, against R, statsmodels and the interval."""

from __future__ import annotations

import math

import numpy as np
import pytest
from golden_cases import golden
from hypothesis import assume, given
from hypothesis import strategies as st
from plain_tables import close, refused
from statsmodels.stats.weightstats import ttost_paired

from steadyrank.stats.instances.equivalence import equivalence_test, verdict_of
from steadyrank.stats.interval import t_limits

CASE = golden("equivalence_tests")


def test_the_case_of_r():
    given_, expected, limit = CASE["inputs"], CASE["expected"], CASE["tolerance"]
    estimate = given_["estimate"], given_["se"]
    options = {name: given_[name] for name in ("df", "delta", "alpha")}
    found = equivalence_test(*estimate, **options)
    close(found, expected, "pvalue_non_inferiority=p_lower pvalue_equivalence=tost_p", abs=limit)
    close(found, expected, "pvalue_non_superiority=p_upper interval=ci90", abs=limit)
    assert found.pvalue_non_inferiority == pytest.approx(expected["noninferiority_p"], abs=limit)
    assert t_limits(*estimate, given_["df"], 0.95) == pytest.approx(expected["ci95"], abs=limit)
    assert (found.equivalent, found.non_inferior) == (True, True)


@pytest.mark.parametrize("shift", [0.0, 0.008, -0.03, 0.05])
def test_statsmodels_agrees_on_paired_data(shift):
    z = np.random.default_rng(3).normal(shift, 0.05, 40)
    expected, lower, upper = ttost_paired(z, np.zeros(40), -0.02, 0.02)
    found = equivalence_test(z.mean(), z.std(ddof=1) / np.sqrt(40), df=39, delta=0.02)
    assert found.pvalue_equivalence == pytest.approx(expected, rel=1e-9)
    assert found.pvalue_non_inferiority == pytest.approx(lower[1], rel=1e-9)
    assert found.pvalue_non_superiority == pytest.approx(upper[1], rel=1e-9)


@given(
    st.floats(-0.1, 0.1),
    st.floats(1e-4, 0.1),
    st.floats(1.0, 500.0),
    st.floats(1e-4, 0.1),
    st.floats(0.001, 0.4),
)
def test_claims_are_what_the_interval_shows(estimate, error, df, delta, alpha):
    found = equivalence_test(estimate, error, df=df, delta=delta, alpha=alpha)
    low, high = found.interval
    assume(min(abs(low + delta), abs(high - delta)) > 1e-9)
    assert found.equivalent == (-delta < low and high < delta)
    assert found.non_inferior == (low > -delta)
    mirrored = equivalence_test(-estimate, error, df=df, delta=delta, alpha=alpha)
    close(
        mirrored,
        found,
        "pvalue_equivalence pvalue_non_inferiority=pvalue_non_superiority",
        rel=1e-12,
    )


def test_estimates_without_spread_or_without_value():
    inside = equivalence_test(0.005, 0.0, df=math.nan, delta=0.01)
    assert (inside.equivalent, inside.pvalue_equivalence) == (True, 0.0)
    assert inside.interval == (0.005, 0.005)
    above = equivalence_test(0.02, 0.0, df=math.nan, delta=0.01)
    assert (above.equivalent, above.non_inferior) == (False, True)
    nothing = equivalence_test(math.nan, math.nan, df=math.nan, delta=0.01)
    assert (nothing.equivalent, nothing.non_inferior) == (False, False)
    assert math.isnan(nothing.pvalue_equivalence)


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ((0.001, 0.02), "better"),
        ((0.0, 0.02), "not worse"),
        ((-0.009, 0.05), "not worse"),
        ((-0.01, 0.05), "undecided"),
        ((-0.05, -0.01), "undecided"),
        ((-0.05, -0.011), "worse"),
        ((math.nan, math.nan), "undecided"),
    ],
)
def test_verdicts(limits, expected):
    assert verdict_of(limits, 0.01) == expected


@pytest.mark.parametrize("delta", [0.0, -0.01, math.nan, math.inf])
def test_a_margin_is_above_nothing(delta):
    refused("delta must be above 0", equivalence_test, 0.0, 0.01, df=9, delta=delta)

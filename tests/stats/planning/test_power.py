"""Power of the paired t test against statsmodels 0.15, R (golden) and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from golden_cases import golden
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_tables import refused
from scipy import stats
from statsmodels.stats.power import TTestPower

from steadyrank.stats.planning.design import smallest_difference, t_power


@pytest.mark.parametrize("n", [2, 3, 10, 50, 249, 1000])
@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_power_as_by_statsmodels(n, alpha):
    effects = [0.0, 0.05, 0.2, 0.5, 0.8]
    found = t_power(np.array(effects) * 0.2, 0.2, n, alpha)
    theirs = np.array([TTestPower().power(effect, n, alpha) for effect in effects])
    # statsmodels' noncentral t is itself good to about 1e-8 with few topics, and NaN far out.
    known = ~np.isnan(theirs)
    np.testing.assert_allclose(found[known], theirs[known], atol=2e-8)
    assert np.all(found[~known] > 0.999)


@pytest.mark.parametrize("n", [3, 10, 50, 249])
def test_smallest_difference_as_by_statsmodels(n):
    theirs = TTestPower().solve_power(nobs=n, alpha=0.05, power=0.8)
    assert smallest_difference(1.0, n).item() == pytest.approx(theirs, rel=1e-6)


def test_topic_set_size_of_r():
    case = golden("topicsize_t_exact")
    given_, expected = case["inputs"], case["expected"]
    at_n = t_power(given_["minD"], given_["sd"], expected["paired_n"], given_["alpha"])
    # R counted one tail here; the other weighs less than the tolerance.
    assert at_n.item() == pytest.approx(expected["power_paired_at_n"], abs=1e-5)
    strict = expected["paired_n_real_strict"]
    assert t_power(0.05, 0.2, strict).item() == pytest.approx(0.8, abs=1e-7)
    assert smallest_difference(0.2, strict).item() == pytest.approx(0.05, rel=1e-6)


def test_noncentral_t_of_r():
    case = golden("noncentral_distributions")
    q, df, shifts = (case["inputs"]["t"][name] for name in ("q", "df", "ncp"))
    alpha = 2 * stats.t.sf(q, df)
    other_tail = [stats.nct.cdf(-q, df, shift) for shift in shifts]
    found = t_power(np.array(shifts) / np.sqrt(df + 1), 1.0, df + 1, alpha)
    expected = np.array(case["expected"]["t_sf"]) + other_tail
    np.testing.assert_allclose(found, expected, atol=case["tolerance"])


def test_power_is_the_share_of_rejections():
    # 20,000 replications: a band of 4.5 standard errors fails once in 150,000.
    z = np.random.default_rng(5).normal(0.4, 1.0, (20_000, 12))
    share = np.mean(stats.ttest_1samp(z, 0.0, axis=1).pvalue < 0.05)
    power = t_power(0.4, 1.0, 12).item()
    assert abs(share - power) < 4.5 * np.sqrt(power * (1 - power) / 20_000)


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(2, 400),
    alpha=st.floats(0.001, 0.3),
    power=st.floats(0.35, 0.99),
    sd=st.floats(1e-3, 1e3),
)
def test_the_smallest_difference_has_the_power_asked_for(n, alpha, power, sd):
    needed = smallest_difference(sd, n, alpha=alpha, power=power)
    assert t_power(needed, sd, n, alpha).item() == pytest.approx(power, abs=1e-9)
    assert t_power(-needed, sd, n, alpha).item() == pytest.approx(power, abs=1e-9)


def test_arguments_broadcast_and_scale():
    found = smallest_difference([[0.1], [0.2]], [10, 50])
    assert found.shape == (2, 2)
    np.testing.assert_allclose(found[1], 2 * found[0])
    assert t_power([0.1, 0.2], 0.3, [[10], [50]]).shape == (2, 2)


def test_degenerate_arguments():
    assert np.isnan(smallest_difference([0.1, np.nan], [1, 10])).all()
    assert np.isnan(t_power([0.1, np.nan], 0.1, [1, 10])).all()
    assert t_power([0.1, 0.0, 1e9], [0.0, 0.0, 1.0], 10).tolist() == [1.0, 0.0, 1.0]
    assert t_power(0.0, 1.0, 10, 0.05).item() == pytest.approx(0.05, abs=1e-12)
    assert smallest_difference(0.0, 10).item() == 0.0
    assert smallest_difference(0.3, 10, alpha=0.5, power=0.4).item() == 0.0


@pytest.mark.parametrize("wrong", [0.0, 1.0, -1.0, float("nan")])
def test_rates_lie_between_0_and_1(wrong):
    refused("alpha must lie strictly between 0 and 1", t_power, 0.1, 0.1, 10, wrong)
    refused("power must lie strictly between 0 and 1", smallest_difference, 0.1, 10, power=wrong)

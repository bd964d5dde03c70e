"""Topics that show an observed difference: against the scalar design, SciPy's law, and trials."""

from __future__ import annotations

import numpy as np
import pytest
from plain_tables import refused
from scipy import stats

from steadyrank.errors import InputError
from steadyrank.stats.planning.design import topics_for_range
from steadyrank.stats.planning.needed_topics import needed_topics


@pytest.mark.parametrize("alpha", [0.3, 0.05, 0.05 / 153, 0.05 / 5995, 1e-12])
@pytest.mark.parametrize("beta", [0.2, 0.05])
def test_numbers_are_those_of_the_exact_design(alpha, beta):
    rng = np.random.default_rng(7)
    gaps = np.exp(rng.uniform(np.log(0.01), np.log(20.0), 200))
    found = needed_topics(gaps, 1.0, 30, alpha=alpha, beta=beta).topics
    exact = [topics_for_range(gap, 0.5, paired=True, alpha=alpha, beta=beta) for gap in gaps]
    np.testing.assert_array_equal(found, exact)


def test_an_interval_is_the_design_at_the_ends_of_the_standardised_difference():
    """Against SciPy's noncentral t law: both ends put the statistic at their quantile."""
    gap, variance, n, alpha = 0.05, 0.02, 60, 0.05 / 10
    t = gap / np.sqrt(variance / n)
    found = needed_topics(gap, variance, n, alpha=alpha)
    for size, quantile in ((found.low, 0.025), (found.high, 0.975)):
        # The standardised differences between which the design gives this very number.
        ends = [_standardised(int(size) - side, alpha) * np.sqrt(n) for side in (1, 0)]
        inside = [stats.nct.cdf(t, n - 1, noncentrality) for noncentrality in ends]
        assert min(inside) - 1e-4 <= quantile <= max(inside) + 1e-4
    assert found.low < found.topics < found.high


def _standardised(n, alpha):
    """The smallest standardised difference that n topics show with power 0.8, by bisection."""
    low, high = 0.0, 50.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        critical = stats.t.isf(alpha / 2, n - 1)
        power = stats.nct.sf(critical, n - 1, middle * np.sqrt(n))
        low, high = (low, middle) if power >= 0.8 else (middle, high)
    return high


@pytest.mark.parametrize("truth", [0.1, 0.4, 1.0])
def test_intervals_hold_the_number_of_the_true_difference(truth):
    """2,000 pilots of 25 normal topics: .95 -/+ .025 is five standard errors."""
    rng = np.random.default_rng(11)
    z = rng.normal(truth, 1.0, (2000, 25))
    found = needed_topics(z.mean(axis=1), z.var(axis=1, ddof=1), 25, alpha=0.05 / 153)
    number = needed_topics(truth, 1.0, 25, alpha=0.05 / 153).topics
    held = (found.low <= number) & (number <= found.high)
    assert 0.925 <= held.mean() <= 0.985  # whole numbers hold somewhat more
    few = found.high == np.inf
    p = stats.ttest_1samp(z, 0.0, axis=1).pvalue
    np.testing.assert_array_equal(few, p > 0.05)


def test_equal_runs_have_a_lower_bound_and_no_upper_one():
    """No number exists: 1,000 pilots of equal runs give an upper end in at most 5% +/- 3.5%."""
    z = np.random.default_rng(12).normal(0.0, 1.0, (1000, 50))
    found = needed_topics(z.mean(axis=1), z.var(axis=1, ddof=1), 50)
    assert np.isfinite(found.low).all()
    assert 0.015 < np.isfinite(found.high).mean() < 0.085


def test_degenerate_pairs():
    nan, inf = np.nan, np.inf
    found = needed_topics(
        [0.0, 0.0, 0.1, 0.1, nan, 1e-12], [0.0, 1.0, 0.0, 1.0, 1.0, 1.0], [50, 50, 50, 1, 50, 50]
    )
    np.testing.assert_array_equal(found.topics[:5], [inf, inf, 2, nan, nan])
    assert found.topics[5] == inf, "beyond what can be counted"
    np.testing.assert_array_equal(found.high, [inf, inf, 2, nan, nan, inf])
    assert found.low[0] == inf, "identical runs: no number, and no bound"
    assert 100 < found.low[1] == found.low[5] < 110
    assert found.low[2] == 2
    assert np.isnan(found.low[3:5]).all()
    huge = needed_topics([1e3, 1e9], 1.0, 50)
    assert huge.low.tolist() == huge.high.tolist() == [2, 2]


def test_many_pairs_are_as_each_alone():
    """Of very many pairs, intervals come from a spline over searches for some."""
    rng = np.random.default_rng(8)
    difference = np.concatenate([rng.normal(0.0, 0.05, 6000), [0.0, 1e-9, 5.0]])
    variance = np.concatenate([rng.uniform(0.001, 0.02, 6000), [0.01, 0.01, 1e-9]])
    together = needed_topics(difference, variance, 50, alpha=0.001)
    for some in (slice(0, 300), slice(-300, None)):
        alone = needed_topics(difference[some], variance[some], 50, alpha=0.001)
        for end in ("topics", "low", "high"):
            np.testing.assert_allclose(
                getattr(together, end)[some], getattr(alone, end), rtol=1e-4, atol=1.0
            )


def test_nonsense_is_refused():
    refused("alpha must lie strictly between 0 and 1", needed_topics, 0.1, 1.0, 50, alpha=0.0)
    refused("use a larger alpha or fewer comparisons", needed_topics, 0.1, 1.0, 50, alpha=1e-13)
    with pytest.raises(InputError, match="confidence must lie strictly between 0 and 1"):
        needed_topics(0.1, 1.0, 50, confidence=1.0)

"""Topic set sizes against R (golden), statsmodels 0.15, SciPy, published tables and simulation."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from golden_cases import golden, golden_case
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_tables import refused
from scipy import special, stats
from statsmodels.stats.power import FTestAnovaPower, TTestIndPower, TTestPower

from steadyrank.stats.planning import design
from steadyrank.stats.planning.design import smallest_difference, t_power

TABLE_3 = {
    "nG@1": [(0.114, 159), (0.114, 159), (0.118, 164), (0.121, 168), (0.113, 157)],
    "P+": [(0.094, 131), (0.094, 131), (0.095, 132), (0.097, 135), (0.095, 132)],
    "nERR@10": [(0.087, 121), (0.086, 120), (0.089, 124), (0.090, 125), (0.091, 127)],
    "nDCG@10": [(0.034, 48), (0.032, 45), (0.034, 48), (0.035, 49), (0.043, 60)],
    "Q@10": [(0.029, 41), (0.028, 40), (0.030, 42), (0.029, 41), (0.041, 58)],
}
"""Sakai & Shang 2016: variances and topics for alpha .05, beta .20, minD .15, m 10."""


@pytest.mark.parametrize("df1", [1, 2, 9, 99])
@pytest.mark.parametrize("df2", [1, 5, 90, 9990, 1e7])
def test_power_of_f_as_by_scipy(df1, df2):
    for alpha in (0.2, 0.05, 0.001):
        for noncentrality in (0.5, 7.85, 40.0, 300.0):
            critical = stats.f.isf(alpha, df1, df2)
            theirs = stats.ncf.sf(critical, df1, df2, noncentrality)
            found = design.f_power(noncentrality, df1, df2, alpha)
            assert found == pytest.approx(theirs, abs=1e-10)


@pytest.mark.parametrize(("df2", "error"), [(2, 1e-13), (10, 1e-13), (1e3, 1e-13), (1e7, 1e-10)])
def test_power_of_f_with_two_degrees_of_freedom_is_elementary(df2, error):
    # P(Beta(j + 1, b) > x) is a binomial sum, and the critical value a power of alpha.
    alpha, noncentrality, b = 0.2, 0.5, df2 / 2
    critical = b * math.expm1(-math.log(alpha) / b)
    x = 2 * critical / (2 * critical + df2)
    expected = 0.0
    for j in range(40):
        terms = [math.exp((j + b) * math.log1p(-x))]
        for i in range(j):
            terms.append(terms[-1] * (j + b - i) / (i + 1) * x / (1 - x))
        expected += stats.poisson.pmf(j, noncentrality / 2) * math.fsum(terms)
    assert design.f_power(noncentrality, 2, df2, alpha) == pytest.approx(expected, rel=error)


def test_power_of_f_without_noncentrality_is_alpha():
    for alpha in (0.5, 0.05, 1e-6):
        assert design.f_power(0.0, 9, 90, alpha) == pytest.approx(alpha, rel=1e-10)


def test_noncentral_distributions_of_r():
    inputs, expected, tolerance = golden_case("noncentral_distributions")
    f = inputs["f"]
    alpha = stats.f.sf(f["q"], f["df1"], f["df2"])
    found = [design.f_power(ncp, f["df1"], f["df2"], alpha) for ncp in f["ncp"]]
    np.testing.assert_allclose(found, expected["f_sf"], atol=tolerance)
    chi2 = inputs["chi2"]
    alpha = stats.chi2.sf(chi2["q"], chi2["df"])
    found = [design.f_power(ncp, chi2["df"], 1e12, alpha) for ncp in chi2["ncp"]]
    np.testing.assert_allclose(found, expected["chi2_sf"], atol=tolerance)


@pytest.mark.parametrize("noncentrality", [1e5, 3e7, 9.9e8, 1.1e9, 1e11])
def test_power_of_f_with_few_degrees_of_freedom_and_a_large_noncentrality(noncentrality):
    # The numerator is as good as normal there: integrate over it.
    df1, df2 = 3, 2
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    numerator = noncentrality + df1 + nodes * math.sqrt(2 * df1 + 4 * noncentrality)
    for share in (0.2, 1.0, 5.0):
        critical = noncentrality * share / df1
        alpha = stats.f.sf(critical, df1, df2)
        tails = special.gammainc(df2 / 2, df2 / 2 * numerator / (df1 * critical))
        expected = weights @ tails / weights.sum()
        assert design.f_power(noncentrality, df1, df2, alpha) == pytest.approx(expected, abs=2e-5)


def test_anova_sizes_of_r():
    inputs, expected, tolerance = golden_case("topicsize_anova_exact")
    aim = {"systems": inputs["m"], "alpha": inputs["alpha"]}
    for i, variance in enumerate(inputs["sigma2"]):
        rates = {**aim, "beta": inputs["beta"]}
        assert design.topics_for_range(inputs["minD"], variance, **rates) == expected["n"][i]
        nagata = design.nagata("anova", **rates).topics(inputs["minD"], variance)
        assert nagata == expected["n_nagata"][i]
        at_nagata = design.range_power(inputs["minD"], variance, nagata, **aim)
        assert at_nagata == pytest.approx(expected["power_at_n_nagata"][i], abs=1e-8)
        at_real = design.range_power(inputs["minD"], variance, expected["n_real"][i], **aim)
        assert at_real == pytest.approx(1 - inputs["beta"], abs=tolerance)


def test_t_sizes_of_r():
    inputs, expected, _ = golden_case("topicsize_t_exact")
    difference, variance = inputs["minD"], inputs["sd"] ** 2
    rates = {"alpha": inputs["alpha"], "beta": inputs["beta"]}
    paired = design.topics_for_range(difference, variance / 2, paired=True, **rates)
    assert paired == expected["paired_n"]
    assert design.topics_for_range(difference, variance, **rates) == expected["two_sample_n"]
    strict = expected["paired_n_real_strict"]
    at_real = design.range_power(difference, variance / 2, strict, paired=True)
    assert at_real == pytest.approx(0.8, abs=1e-7)
    # R counted one tail here; the other weighs less than the tolerance.
    at_n = design.t_power(difference, inputs["sd"], expected["paired_n"]).item()
    assert at_n == pytest.approx(expected["power_paired_at_n"], abs=1e-5)
    assert smallest_difference(inputs["sd"], strict).item() == pytest.approx(difference, rel=1e-6)
    # R counted one tail for two samples, hence its power at its own real n is that tail's.
    n = expected["two_sample_n_real"]
    one_tail = stats.nct.sf(stats.t.isf(0.025, 2 * n - 2), 2 * n - 2, math.sqrt(n / 2) * 0.25)
    other_tail = stats.nct.cdf(-stats.t.isf(0.025, 2 * n - 2), 2 * n - 2, math.sqrt(n / 2) * 0.25)
    assert one_tail == pytest.approx(0.8, abs=1e-6)
    both = design.range_power(difference, variance, n)
    assert both == pytest.approx(one_tail + other_tail, abs=1e-9)


def test_interval_sizes_of_r():
    inputs, expected, _ = golden_case("topicsize_ci_exact")
    for i, (width, variance) in enumerate(zip(inputs["delta"], inputs["sigma2_d"], strict=True)):
        alpha = 1 - inputs["conf"]
        assert design.topics_for_width(width, variance / 2, alpha=alpha) == expected["n"][i]
        start = design.nagata("interval", alpha=alpha).topics(width, variance / 2)
        assert start == expected["n_initial"][i]


def test_noncentralities_of_nagata():
    inputs, expected, tolerance = golden_case("nagata_lambda")
    for i, (alpha, beta) in enumerate(inputs["alpha_beta"]):
        assert design.NAGATA[alpha, beta] == tuple(inputs["constants"][i])
        for j, phi in enumerate(inputs["phi"]):
            rates = {"systems": phi + 1, "alpha": alpha, "beta": beta}
            published = design.nagata("anova", **rates).scale / 2
            assert published == pytest.approx(expected["lambda_nagata"][i][j], rel=1e-12)
            # Endless topics: the denominator of F is constant.
            n = 1e13
            exact = n * design.smallest_range(1.0, n, **rates) ** 2 / 2
            assert exact == pytest.approx(expected["lambda_exact"][i][j], abs=tolerance)


def test_table_3_of_sakai_and_shang():
    aim = {"systems": 10, "alpha": 0.05, "beta": 0.2}
    cells = [cell for row in TABLE_3.values() for cell in row]
    nagata = design.nagata("anova", **aim)
    found = [nagata.topics(0.15, v) for v, _ in cells]
    wrong = [(v, n) for (v, n), own in zip(cells, found, strict=True) if own != n]
    assert wrong == [(0.028, 40), (0.041, 58)]
    for variance, n in wrong:
        rounded = [
            nagata.topics(0.15, v) for v in np.linspace(variance - 0.0005, variance + 0.0005, 101)
        ]
        assert n in rounded
    exact = [design.topics_for_range(0.15, v, **aim) for v, _ in cells]
    surplus = np.array(exact) - found
    assert surplus.min() >= 0
    assert surplus.max() <= 2


@pytest.mark.parametrize("systems", [2, 3, 10, 50])
@pytest.mark.parametrize("n", [2, 5, 40, 200])
def test_anova_power_as_by_statsmodels(systems, n):
    for effect in (0.05, 0.2, 0.5):
        # Their effect size f has f² = lambda / all observations.
        difference = effect * math.sqrt(2 * systems)
        theirs = FTestAnovaPower().power(effect, n * systems, 0.05, k_groups=systems)
        found = design.range_power(difference, 1.0, n, systems=systems)
        assert found == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("n", [3, 10, 50, 249])
def test_t_power_as_by_statsmodels_and_by_compare(n):
    for effect in (0.1, 0.3, 0.8):
        paired = design.range_power(effect, 0.5, n, paired=True)
        # Far out statsmodels' noncentral t is NaN.
        theirs = np.nan_to_num(TTestPower().power(effect, n, 0.05), nan=1.0)
        assert paired == pytest.approx(theirs, abs=2e-8)
        assert paired == pytest.approx(t_power(effect, 1.0, n).item(), abs=1e-10)
        unpaired = design.range_power(effect, 1.0, n)
        theirs = np.nan_to_num(TTestIndPower().power(effect, n, 0.05), nan=1.0)
        assert unpaired == pytest.approx(theirs, abs=2e-8)


designs = {
    "difference": st.floats(0.01, 2.0),
    "variance": st.floats(1e-4, 1.0),
    "systems": st.integers(2, 200),
    "paired": st.booleans(),
    "alpha": st.floats(0.001, 0.2),
    "beta": st.floats(0.01, 0.5),
}


@settings(max_examples=100, deadline=None)
@given(**designs)
def test_the_size_is_the_smallest_that_has_the_power(difference, variance, beta, **layout):
    n = design.topics_for_range(difference, variance, beta=beta, **layout)
    assert design.range_power(difference, variance, n, **layout) >= 1 - beta
    assert n == 2 or design.range_power(difference, variance, n - 1, **layout) < 1 - beta
    smallest = design.smallest_range(variance, n, beta=beta, **layout)
    assert smallest <= difference * (1 + 1e-9)
    assert design.range_power(smallest, variance, n, **layout) == pytest.approx(1 - beta, abs=1e-9)


def test_sizes_from_two_topics_to_a_million_millions(least_seconds):
    assert design.topics_for_range(0.1, 1e-9, systems=10) == 2
    assert design.nagata("anova", systems=10).topics(0.1, 1e-9) == 2
    assert design.topics_for_width(0.5, 1e-300) == 2
    assert design.topics_for_range(1e200, 1.0) == 2
    for variance in (1e4, 1e7, 1e10):
        n = design.topics_for_range(0.15, variance, systems=10)
        # In the limit n is proportional to the variance: 15.6498 by R.
        assert n == pytest.approx(2 * 15.6497978951882 * variance / 0.15**2, rel=2e-6)
        width = design.topics_for_width(0.15, variance)
        assert width == pytest.approx(8 * stats.norm.isf(0.025) ** 2 * variance / 0.15**2, rel=2e-6)
    # Bisection: hundreds of steps, not millions.
    assert least_seconds(lambda: design.topics_for_range(0.15, 1e10, systems=10)) < 0.3
    assert least_seconds(lambda: design.topics_for_width(0.15, 1e10)) < 0.3


@pytest.mark.parametrize(
    "size",
    [
        lambda: design.topics_for_range(1e-9, 1.0),
        lambda: design.topics_for_range(1e-200, 1.0),
        lambda: design.nagata("anova", systems=3).topics(1e-9, 1.0),
        lambda: design.topics_for_width(1e-200, 1.0),
    ],
)
def test_absurd_sizes_are_refused(size):
    refused("more than 1e\\+15 topics would be required: plan for", size)


@pytest.mark.parametrize("df", [1, 2, 7, 99, 999, 1001, 5000])
def test_expected_width_is_that_of_the_chi_law(df):
    # The mean of chi / sqrt(df), by SciPy and where its logarithms cancel by Stirling's series.
    expected = stats.chi.mean(df) / math.sqrt(df)
    n = df + 1
    found = design.expected_width(0.5, n) / (2 * stats.t.isf(0.025, df) / math.sqrt(n))
    assert found == pytest.approx(expected, rel=1e-10)
    unpaired = design.expected_width(1.0, n, paired=False)
    both = 2 * stats.t.isf(0.025, 2 * df) * stats.chi.mean(2 * df) / math.sqrt(2 * df)
    assert unpaired == pytest.approx(both * math.sqrt(2 / n), rel=1e-10)


@pytest.mark.parametrize("x", [1, 7, 100, 499, 501, 700, 3000])
def test_expected_standard_deviation_is_a_binomial_coefficient(x):
    # Gamma(x + 1/2) / Gamma(x) = sqrt(pi) x (2x over x) / 4^x for whole x, with df = 2 x.
    ratio = float(Fraction(x * math.comb(2 * x, x), 4**x)) * math.sqrt(math.pi)
    assert design._expected_sd(2.0 * x) == pytest.approx(ratio / math.sqrt(x), rel=2e-12)


def test_expected_width_does_not_jump_between_its_formulas():
    below, above = (design.expected_width(1.0, 1001 + step) for step in (-1e-6, 1e-6))
    assert below == pytest.approx(above, rel=1e-8)


def test_expected_width_is_the_mean_of_widths():
    # 20,000 intervals of 12 differences: a band of 4.5 standard errors fails once in 150,000.
    z = np.random.default_rng(3).normal(0.0, 0.3, (20_000, 12))
    widths = 2 * stats.t.isf(0.025, 11) * z.std(axis=1, ddof=1) / math.sqrt(12)
    expected = design.expected_width(0.09 / 2, 12)
    assert abs(widths.mean() - expected) < 4.5 * widths.std() / math.sqrt(20_000)


@pytest.mark.parametrize(("systems", "n_samples"), [(2, 20_000), (6, 20_000)])
def test_the_designed_size_has_the_designed_power_one_way(systems, n_samples):
    # A band of 4.5 binomial standard errors fails once in 150,000.
    difference, variance = 0.2, 0.05
    n = design.topics_for_range(difference, variance, systems=systems)
    means = np.zeros(systems)
    means[[0, -1]] = difference / 2, -difference / 2
    rng = np.random.default_rng(11)
    scores = rng.normal(means[:, None, None], math.sqrt(variance), (systems, n, n_samples))
    share = np.mean(stats.f_oneway(*scores).pvalue < 0.05)
    power = design.range_power(difference, variance, n, systems=systems)
    assert 0.8 <= power < 0.83
    assert abs(share - power) < 4.5 * math.sqrt(power * (1 - power) / n_samples)


def test_the_designed_size_has_the_designed_power_two_way():
    # As above, for systems that share their topics, whose difficulty cancels.
    systems, residual, n_samples = 4, 0.02, 20_000
    n = design.topics_for_range(0.1, residual, systems=systems, paired=True)
    rng = np.random.default_rng(12)
    x = rng.normal(0.0, math.sqrt(residual), (n_samples, systems, n))
    x += rng.normal(0.0, 0.3, (n_samples, 1, n))
    x[:, 0] += 0.05
    x[:, -1] -= 0.05
    by_system, by_topic = x.mean(axis=2), x.mean(axis=1)
    mean = x.mean(axis=(1, 2))
    rest = x - by_system[:, :, None] - by_topic[:, None, :] + mean[:, None, None]
    df1, df2 = systems - 1, (systems - 1) * (n - 1)
    f = n * ((by_system - mean[:, None]) ** 2).sum(1) / df1 / ((rest**2).sum((1, 2)) / df2)
    share = np.mean(f > stats.f.isf(0.05, df1, df2))
    power = design.range_power(0.1, residual, n, systems=systems, paired=True)
    assert abs(share - power) < 4.5 * math.sqrt(power * (1 - power) / n_samples)


@settings(max_examples=60, deadline=None)
@given(difference=st.floats(0.02, 0.5), variance=st.floats(0.005, 0.2), paired=st.booleans())
def test_nagata_t_sizes_are_near_the_exact_ones(difference, variance, paired):
    exact = design.topics_for_range(difference, variance, paired=paired)
    found = design.nagata("ttest", paired=paired).topics(difference, variance)
    assert abs(found - exact) <= 1
    back = design.nagata("ttest", paired=paired).size(variance, found)
    assert found <= 3 or back <= difference * (1 + 1e-9)


def test_nagata_inverse_where_there_is_none():
    assert math.isnan(design.nagata("ttest").size(0.1, 1.5))
    anova = design.nagata("anova", systems=10)
    assert anova.topics(anova.size(0.114, 159), 0.114) == 159


def test_what_nagata_has_no_coefficients_for():
    message = "no published coefficients for alpha 0.05 and beta 0.15.*exact"
    refused(message, design.nagata, "anova", systems=3, beta=0.15)
    found = design.nagata("anova", systems=10, alpha=0.05, beta=1 - 0.8)
    assert found.scale / 2 == pytest.approx(15.612)


@pytest.mark.parametrize(
    ("alpha", "beta", "message"),
    [
        (0.0, 0.2, "alpha must lie strictly between 0 and 1"),
        (0.05, 1.0, "beta must lie strictly between 0 and 1"),
        (math.nan, 0.2, "alpha must lie strictly between 0 and 1"),
        (0.5, 0.6, "beta 0.6 means a power of 0.4, no more than alpha 0.5"),
    ],
)
def test_rates_that_make_no_sense(alpha, beta, message):
    refused(message, design.topics_for_range, 0.1, 0.1, alpha=alpha, beta=beta)
    refused(message, design.smallest_range, 0.1, 10, alpha=alpha, beta=beta)


def test_powers_that_round_to_one_are_refused():
    for beta in (1e-300, 1e-10):
        refused("beta must be at least 1e-09, got", design.check_rates, 0.05, beta)
    design.check_rates(0.05, 1e-9)
    assert design.noncentrality_for_power(1 - 1e-9, 4, 45) < 200


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


def test_degenerate_arguments():
    assert np.isnan(smallest_difference([0.1, np.nan], [1, 10])).all()
    assert np.isnan(t_power([0.1, np.nan], 0.1, [1, 10])).all()
    assert t_power([0.1, 0.0, 1e9], [0.0, 0.0, 1.0], 10).tolist() == [1.0, 0.0, 1.0]
    assert t_power(0.0, 1.0, 10, 0.05).item() == pytest.approx(0.05, abs=1e-12)
    assert smallest_difference(0.0, 10).item() == 0.0
    assert smallest_difference(0.3, 10, alpha=0.5, power=0.4).item() == 0.0

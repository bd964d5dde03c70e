"""The four comparisons of Yang, Zhang & Song (2018) against golden files and plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from golden_cases import golden_case
from scipy.stats import kendalltau, rankdata, t

from steadyrank.stats.pairs.result import all_pairs
from steadyrank.studies.simulate.statistics import (
    error_rate,
    rank_correlation,
    rank_intervals_of,
    rank_shares,
    significance_rates,
)


def test_error_rate_golden():
    inputs, expected, _ = golden_case("error_rate_bins")
    found = error_rate(np.array(inputs["raw"]), np.array(inputs["simulated"]))
    assert found.count.tolist() == expected["count"]
    assert found.errors.tolist() == expected["error_count"]
    rates = [None if np.isnan(rate) else rate for rate in found.rate]
    assert rates == pytest.approx(expected["error_rate"])
    assert found.ties == expected["n_ties"]
    assert found.overall == pytest.approx(expected["overall_error_rate"])
    assert found.low[3] == 0.03
    assert found.high[-1] == np.inf


def test_error_rate_standard_error_covers_the_spread_between_studies():
    """Ten thousand samples against many studies of a hundred: within 15 %."""
    rng = np.random.default_rng(0)
    raw = np.array([0.3, 0.29, 0.27, 0.2])
    studies = [error_rate(raw, raw + rng.normal(0, 0.02, (100, 4))) for _ in range(400)]
    rates = np.array([study.rate[:4] for study in studies])
    claimed = np.array([study.rate_error[:4] for study in studies]).mean(axis=0)
    np.testing.assert_allclose(claimed, rates.std(axis=0), rtol=0.15)


def test_rank_correlation_golden():
    inputs, expected, _ = golden_case("krcc_fixed")
    found = rank_correlation(np.array(inputs["raw"]), np.array(inputs["simulated"]))
    np.testing.assert_allclose(found.taus, expected["tau_b"], atol=1e-12)
    assert found.mean == pytest.approx(expected["KRCC"], abs=1e-12)


def test_significance_and_estimated_difference_golden():
    inputs, expected, _ = golden_case("asl_ed_fixed")
    z = np.array(inputs["z"])
    means = np.stack([z.mean(axis=1), np.zeros(len(z))], axis=1)
    errors = (z.std(axis=1, ddof=1) / np.sqrt(z.shape[1]))[None, :]
    at_05 = significance_rates(means, errors, z.shape[1], alpha=inputs["alpha"])
    assert at_05.critical == pytest.approx(expected["t_crit"], abs=1e-10)
    assert at_05.rate[0] == expected["rejection_rate"]
    printed = significance_rates(means, errors, z.shape[1], alpha=inputs["alpha_ed"])
    assert printed.estimated_difference == pytest.approx(expected["ed_pair_difference"], abs=1e-12)


def test_rates_and_differences_against_plain_loops():
    rng = np.random.default_rng(1)
    n_runs, n_topics, n_samples, alpha = 5, 12, 200, 0.1
    values = rng.random((n_samples, n_runs, n_topics)) + np.linspace(0, 0.4, n_runs)[:, None]
    means, pairs = values.mean(axis=2), all_pairs(n_runs)
    errors, rates, printed, recentred = [], [], [], []
    critical = t.ppf(1 - alpha / 2, n_topics - 1)
    for a, b in pairs:
        z = values[:, a] - values[:, b]
        error = z.std(axis=1, ddof=1) / np.sqrt(n_topics)
        errors.append(error)
        rates.append((np.abs(z.mean(axis=1) / error) > critical).mean())
        for centre, into in ((0.0, printed), (z.mean(), recentred)):
            d = z.mean(axis=1) - centre
            into.append(abs(d[np.argsort(-np.abs(d / error))[round(n_samples * alpha) - 1]]))
    found = significance_rates(means, np.array(errors), n_topics, alpha=alpha, jobs=2)
    np.testing.assert_allclose(found.rate, rates)
    assert found.estimated_difference == pytest.approx(max(printed))
    assert found.estimated_difference_recentred == pytest.approx(max(recentred))
    assert found.difference_quantiles["0.5"] == pytest.approx(np.quantile(printed, 0.5))
    assert found.rarely_share == np.mean(np.array(rates) < 0.05)
    assert found.reliably_share == np.mean(np.array(rates) >= 0.95)


def test_identical_and_constant_pairs():
    means = np.array([[0.5, 0.5, 0.3]] * 4)
    errors = np.array([[0.0] * 4, [0.0] * 4, [0.0] * 4])
    found = significance_rates(means, errors, 10)
    assert found.rate.tolist() == [0.0, 1.0, 1.0]
    assert found.estimated_difference == pytest.approx(0.2)


def test_rank_shares_and_intervals():
    rng = np.random.default_rng(2)
    simulated = rng.normal(np.linspace(1, 0, 6), 0.4, (3000, 6)).round(1)
    shares = rank_shares(simulated)
    ranks = rankdata(-simulated, method="min", axis=1)
    for run in range(6):
        for rank in range(1, 7):
            assert shares[run, rank - 1] == pytest.approx((ranks[:, run] == rank).mean())
    low, high = rank_intervals_of(shares, level=0.9).T
    for run in range(6):
        assert (ranks[:, run] < low[run]).mean() <= 0.05
        assert (ranks[:, run] <= low[run]).mean() > 0.05
        assert (ranks[:, run] <= high[run]).mean() >= 0.95
        assert (ranks[:, run] < high[run]).mean() < 0.95


def test_mean_tau_against_scipy():
    rng = np.random.default_rng(3)
    raw = rng.random(30).round(2)
    simulated = (raw + rng.normal(0, 0.1, (50, 30))).round(2)
    expected = np.mean([kendalltau(raw, row).statistic for row in simulated])
    assert rank_correlation(raw, simulated).mean == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("n_bins", "bin_width"), [(21, 0.01), (7, 0.005), (3, 0.1), (40, 0.02)])
def test_bins_of_any_number_and_width_are_a_histogram(n_bins, bin_width):
    rng = np.random.default_rng(2)
    raw, simulated = rng.random(6) * 0.3, rng.random((50, 6)) * 0.3
    found = error_rate(raw, simulated, n_bins=n_bins, bin_width=bin_width)
    a, b = np.triu_indices(6, 1)
    gaps, wrong = simulated[:, a] - simulated[:, b], raw[a] - raw[b]
    edges = np.append(np.arange(n_bins) * bin_width, np.inf)
    np.testing.assert_allclose(found.low, edges[:-1], rtol=1e-12)
    assert found.count.tolist() == np.histogram(np.abs(gaps), edges)[0].tolist()
    errors = np.histogram(np.abs(gaps)[gaps * wrong < 0], edges)[0]
    assert found.errors.tolist() == errors.tolist()


def test_scores_in_percent_fall_into_the_bins_of_the_same_scores():
    rng = np.random.default_rng(3)
    raw, simulated = rng.random(5), rng.random((40, 5)).round(2)
    usual = error_rate(raw, simulated)
    percent = error_rate(100 * raw, 100 * simulated, bin_width=1.0)
    assert percent.count.tolist() == usual.count.tolist()
    np.testing.assert_allclose(percent.low, 100 * usual.low)

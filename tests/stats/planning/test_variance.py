"""Variance estimates against R (golden), statsmodels 0.15, published studies and simulation."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from golden_cases import golden_case
from plain_tables import refused
from scipy import stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from steadyrank.errors import InputError
from steadyrank.stats.anova.gstudy import GStudy, variance_components
from steadyrank.stats.planning import variance
from steadyrank.stats.planning.variance import pooled_variance


def rows(scores):
    return np.array(list(scores.values()), dtype=np.float64)


def correlated(rng, n_samples, m, n, share):
    """Normal scores [sample, run, topic] of variance 1, of which topics make up a share."""
    topics = rng.normal(0.0, math.sqrt(share), (n_samples, 1, n))
    return topics + rng.normal(0.0, math.sqrt(1 - share), (n_samples, m, n))


def test_v_e_of_r():
    inputs, expected, tolerance = golden_case("anova_oneway_VE")
    found = pooled_variance(rows(inputs["scores"]))
    assert found.value == pytest.approx(expected["V_E"], abs=tolerance)
    assert found.value == pytest.approx(np.mean(expected["per_system_variance"]), abs=tolerance)
    assert (found.df, found.n_runs, found.n_topics, found.n_missing) == (expected["df_E"], 4, 12, 0)


def test_v_e_with_missing_cells_and_of_a_single_run():
    inputs, expected, tolerance = golden_case("VE_missing_and_single_run")
    found = pooled_variance(rows(inputs["scores"]))
    assert found.value == pytest.approx(expected["V_E"], abs=tolerance)
    assert (found.df, found.n_missing) == (expected["df_E"], 11)
    single = pooled_variance([inputs["single_run"]])
    assert single.value == pytest.approx(expected["single_run_V_E"], abs=tolerance)
    assert single.df == len(inputs["single_run"]) - 1


def test_empty_runs_and_topics_do_not_count():
    inputs, _, _ = golden_case("anova_oneway_VE")
    scores = rows(inputs["scores"])
    padded = np.full((6, 15), np.nan)
    padded[1:5, 2:14] = scores
    assert pooled_variance(padded) == pooled_variance(scores)


def test_v_e_holds_topic_and_residual_variance():
    # V_E = (MS_topic + (m - 1) MS_residual) / m, whose expectation is their components' sum.
    scores = correlated(np.random.default_rng(1), 1, 7, 20, 0.6)[0]
    squares = variance_components(scores).mean_squares
    mixed = (squares["topic"] + 6 * squares["residual"]) / 7
    assert pooled_variance(scores).value == pytest.approx(mixed, rel=1e-12)


def test_the_residual_is_half_the_mean_variance_of_differences():
    scores = np.random.default_rng(2).random((6, 15))
    pairs = [(a, b) for a in range(6) for b in range(a)]
    differences = [np.var(scores[a] - scores[b], ddof=1) for a, b in pairs]
    residual = variance_components(scores).variance["residual"]
    assert 2 * residual == pytest.approx(np.mean(differences), rel=1e-12)


def test_the_interval_of_one_normal_run_is_the_textbooks():
    # Kurtosis below the normal law's, so that the topics' contributions do not widen it.
    x = np.linspace(0.1, 0.9, 30)
    found = pooled_variance([x])
    assert found.effective_df == pytest.approx(29)
    low, high = found.interval(0.9)
    assert low == pytest.approx(29 * found.value / stats.chi2.ppf(0.95, 29))
    assert high == pytest.approx(29 * found.value / stats.chi2.ppf(0.05, 29))


def test_effective_degrees_of_freedom_of_runs_that_are_copies_and_of_unrelated_ones():
    rng = np.random.default_rng(3)
    x = np.linspace(-1, 1, 40)
    assert pooled_variance([x, x, x, 3 * x]).effective_df == pytest.approx(39)
    # Orthogonal runs of equal variance: every degree of freedom counts.
    orthogonal = np.linalg.qr(np.column_stack([np.ones(40), rng.random((40, 5))]))[0][:, 1:].T
    waves = pooled_variance(orthogonal)
    assert waves.df == 5 * 39
    assert waves.effective_df <= waves.df * (1 + 1e-12)
    assert waves.effective_df > 0.3 * waves.df


def test_covariances_with_missing_cells_are_weighed_by_the_trace_of_centring_matrices():
    rng = np.random.default_rng(4)
    present = rng.random((6, 12)) < 0.6
    centrings = [np.diag(p * 1.0) - np.outer(p, p) / p.sum() for p in present]
    scores = np.where(present, rng.random((6, 12)), 0.0)
    centred = np.array([a @ x for a, x in zip(centrings, scores, strict=True)])
    expected = sum(
        (x @ y) ** 2 / np.trace(a @ b)
        for x, a in zip(centred, centrings, strict=True)
        for y, b in zip(centred, centrings, strict=True)
        if np.trace(a @ b) > 1e-9
    )
    found = variance._squared_covariances(centred, present.astype(float))
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("m", "n"), [(1, 10), (5, 25), (44, 25), (20, 100)])
def test_intervals_cover_the_variance_although_runs_share_topics(m, n):
    # 2,000 pilots: .95 -/+ .03 is 6 standard errors; the law is approximate, not the band loose.
    scores = correlated(np.random.default_rng(6), 2000, m, n, 0.7)
    found = [pooled_variance(each) for each in scores]
    intervals = np.array([each.interval() for each in found])
    cover = np.mean((intervals[:, 0] <= 1) & (intervals[:, 1] >= 1))
    assert 0.92 < cover < 0.98
    if m == 44:
        # By the nominal degrees of freedom two intervals of three would miss.
        naive = [each.df * each.value / stats.chi2.ppf([0.975, 0.025], each.df) for each in found]
        assert np.mean([low <= 1 <= high for low, high in naive]) < 0.4


@pytest.mark.slow
def test_intervals_cover_the_variance_of_skewed_scores_better_than_normal_theory():
    # AP-like scores: most topics hard. Normal theory covers about .72; 1,000 pilots, 6 errors.
    rng = np.random.default_rng(7)
    topics = rng.beta(0.5, 4, (1000, 1, 100))
    scores = rng.beta(8 * topics + 1e-3, 8 * (1 - topics) + 1e-3, (1000, 20, 100))
    true = np.mean([each.var(axis=1).mean() for each in scores])
    intervals = np.array([pooled_variance(each).interval() for each in scores])
    cover = np.mean((intervals[:, 0] <= true) & (intervals[:, 1] >= true))
    assert cover > 0.87


def test_a_variance_needs_two_topics_and_rounding_is_none():
    with pytest.raises(InputError, match="a run with scores on at least two topics"):
        pooled_variance([[0.1, np.nan], [np.nan, 0.3]])
    assert pooled_variance([[0.1 + 0.2] * 7, [0.3] * 7]).value == 0.0
    # Large means do not swallow small spreads.
    shifted = np.array([[0.1, 0.2, 0.4], [0.3, 0.1, 0.2]]) + 1e6
    assert pooled_variance(shifted).value == pytest.approx(0.5 * (0.07 / 3 + 0.01), rel=1e-6)


def test_g_study_of_r():
    inputs, expected, tolerance = golden_case("gtheory_crossed")
    g = variance_components(np.array(inputs["scores"]).T)
    mean_squares = dict(zip(("s", "t", "e"), g.mean_squares.values(), strict=True))
    assert mean_squares == pytest.approx(expected["mean_squares"], abs=tolerance)
    assert g.variance == pytest.approx(expected["variance"], abs=tolerance)
    assert g.raw == g.variance
    for n in (12, 50):
        assert g.e_rho2(n) == pytest.approx(expected["e_rho2_at"][f"n{n}"], abs=tolerance)
        assert g.phi(n) == pytest.approx(expected["phi_at"][f"n{n}"], abs=tolerance)
    assert g.topics_for_e_rho2(0.95) == expected["topics_for_e_rho2_0.95"]
    assert g.topics_for_phi(0.95) == expected["topics_for_phi_0.95"]


def test_mean_squares_as_by_statsmodels():
    scores = np.random.default_rng(8).random((5, 9)) * 3 + np.arange(9)
    frame = pd.DataFrame(
        [(str(s), str(t), scores[s, t]) for s in range(5) for t in range(9)],
        columns=["system", "topic", "score"],
    )
    table = anova_lm(ols("score ~ system + topic", frame).fit())
    found = variance_components(scores).mean_squares
    for name in ("system", "topic", "residual"):
        theirs = table.loc["Residual" if name == "residual" else name, "mean_sq"]
        assert found[name] == pytest.approx(theirs, rel=1e-10)


def from_coefficients(e_rho2, phi, *, n_systems, n_topics):
    """The G-study that has these coefficients at its own number of topics; residual 1."""
    system = e_rho2 / (n_topics * (1 - e_rho2))
    topic = n_topics * system * (1 - phi) / phi - 1
    parts = {"system": system, "topic": topic, "residual": 1.0}
    squares = {"system": 1 + n_topics * system, "topic": 1 + n_systems * topic, "residual": 1.0}
    return study(squares, parts, n_systems, n_topics)


def study(squares, parts, n_systems, n_topics):
    sizes = {"n_systems": n_systems, "n_runs": n_systems, "n_topics": n_topics, "n_dropped": 0}
    return GStudy(mean_squares=squares, df={}, raw=parts, variance=parts, **sizes)


def test_intervals_of_gt4ireval():
    # gt4ireval (R), vignette: the best 30 systems of TREC-3 Ad hoc on 50 topics, 95 %.
    g = from_coefficients(0.93265, 0.78613, n_systems=30, n_topics=50)
    assert g.interval("e_rho2", 50) == pytest.approx((0.89311, 0.96287), abs=1.5e-5)
    assert g.interval("phi", 50) == pytest.approx((0.66141, 0.88039), abs=1.5e-5)
    assert g.e_rho2(100) == pytest.approx(0.96515, abs=1e-5)
    assert g.interval("phi", 200) == pytest.approx((0.88654, 0.96715), abs=1.5e-5)
    assert (g.topics_for_e_rho2(0.95), g.topics_for_phi(0.95)) == (69, 259)
    assert g.interval("topics_for_e_rho2", 0.95) == (37, 114)
    assert g.interval("topics_for_phi", 0.95) == (130, 487)
    assert (g.topics_for_e_rho2(0.97), g.topics_for_phi(0.9)) == (117, 123)


def test_intervals_of_brennan():
    # Brennan 2001, Table 6.5 as quoted by gt4ireval's tests: 10 × 12, 80 % intervals.
    g = from_coefficients(0.729, 0.672, n_systems=10, n_topics=12)
    assert g.interval("e_rho2", 12, confidence=0.8) == pytest.approx((0.541, 0.876), abs=1.5e-3)
    assert g.interval("phi", 12, confidence=0.8) == pytest.approx((0.457, 0.845), abs=1.5e-3)


@pytest.mark.parametrize(
    ("m", "n", "parts"),
    [(8, 12, (0.0044, 0.045, 0.0036)), (30, 50, (0.0028, 0.0281, 0.0102)), (4, 10, (0.1, 1, 0.1))],
)
def test_intervals_of_coefficients_cover_them(m, n, parts):
    # 2,000 studies with known components. Feldt's law is exact: 4.5 standard errors of .95 are
    # .022, missed once in 150,000. The other is approximate: .93 to .98.
    system, topic, residual = parts
    rng = np.random.default_rng(9)
    truth = system / (system + residual / n), system / (system + (topic + residual) / n)
    expected = {
        "system": residual + n * system,
        "topic": residual + m * topic,
        "residual": residual,
    }
    dfs = {"system": m - 1, "topic": n - 1, "residual": (m - 1) * (n - 1)}
    hits = np.zeros(2)
    for _ in range(2000):
        squares = {key: expected[key] * rng.chisquare(df) / df for key, df in dfs.items()}
        g = study(squares, {}, m, n)
        for i, interval in enumerate((g.interval("e_rho2", n), g.interval("phi", n))):
            hits[i] += interval[0] <= truth[i] <= interval[1]
    assert abs(hits[0] / 2000 - 0.95) < 0.022
    assert 0.93 < hits[1] / 2000 < 0.985


def test_known_components_are_recovered():
    # Means over 400 layouts of 10 × 20; each estimate's own spread gives the band, 4.5 errors.
    rng = np.random.default_rng(10)
    truth = {"system": 0.01, "topic": 0.04, "residual": 0.02}
    found = []
    for _ in range(400):
        x = rng.normal(0, 0.1, (10, 1)) + rng.normal(0, 0.2, (1, 20))
        found.append(variance_components(x + rng.normal(0, math.sqrt(0.02), (10, 20))).raw)
    for name, value in truth.items():
        each = np.array([raw[name] for raw in found])
        assert abs(each.mean() - value) < 4.5 * each.std() / math.sqrt(400)


def test_negative_components_count_as_none_and_are_kept():
    # Two systems that win on alternate topics: their means agree better than chance would.
    scores = np.array([[0.2, 0.8] * 4, [0.8, 0.2] * 4])
    g = variance_components(scores)
    assert g.raw["system"] < 0
    assert g.variance["system"] == 0
    assert g.variance["topic"] == 0
    assert (g.e_rho2(8), g.phi(8)) == (0, 0)
    assert g.topics_for_e_rho2(0.5) == math.inf
    assert g.interval("e_rho2", 8) == (0, 0)


def test_systems_that_differ_by_a_constant_need_one_topic_to_be_ordered():
    g = variance_components(np.add.outer([0.1, 0.2, 0.4], [0.0, 0.3, 0.1, 0.25]))
    assert g.mean_squares["residual"] == 0
    assert (g.e_rho2(4), g.topics_for_e_rho2(0.99), g.interval("e_rho2", 4)) == (1, 1, (1, 1))
    assert 0 < g.phi(4) < 1
    low, high = g.interval("phi", 4)
    assert 0 <= low < g.phi(4) < high <= 1


def test_topics_that_a_run_lacks_are_left_out():
    scores = np.random.default_rng(11).random((4, 10))
    holed = np.hstack([scores, np.full((4, 2), 0.5)])
    holed[0, 10] = holed[2, 11] = np.nan
    found = variance_components(holed)
    assert found.n_dropped == 2
    assert found.variance == pytest.approx(variance_components(scores).variance)
    with pytest.raises(InputError, match="at least 2 systems, 2 topics that all runs have"):
        variance_components(np.full((3, 5), np.nan))
    refused("got 1 systems and 10 topics", variance_components, scores[:1])

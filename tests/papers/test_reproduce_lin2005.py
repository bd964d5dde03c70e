"""Reproduction of Lin & Hauptmann 2005: Table 1, the error rate, and its approximation."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from exhibiting import exhibit
from golden_cases import golden
from scipy import stats

import steadyrank as sr
from steadyrank_lab.papers import lin2005 as lin
from steadyrank_lab.papers.data import PaperData
from steadyrank_lab.papers.lin2005 import rate_by_williams
from steadyrank_lab.papers.model import Work

WILLIAMS = golden("williams_erf")


def collection(n_runs, n_topics, spread, seed):
    rng = np.random.default_rng(seed)
    topics = rng.uniform(0.1, 0.5, n_topics)
    quality = np.linspace(0.0, 0.1, n_runs)[:, None]
    return np.clip(topics + quality + rng.normal(0.0, spread, (n_runs, n_topics)), 0.0, 1.0)


@pytest.fixture(scope="module")
def scores():
    """Two collections with runs and topics of their own in one cube."""
    steady, unsteady = collection(12, 40, 0.05, 1), collection(12, 24, 0.15, 2)
    values = np.full((2, 24, 64), np.nan)
    values[0, :12, :40], values[1, 12:, 40:] = steady, unsteady
    return sr.Scores(
        measures=("easy", "hard"),
        runs=tuple(map(str, range(24))),
        topics=tuple(map(str, range(64))),
        values=values,
    )


@pytest.fixture(scope="module")
def made(scores):
    return lin.lin2005(PaperData(words="", scores=scores), Work(budget=600, seed=5))


def claims(exhibit):
    return {claim.text: claim for claim in exhibit.claims}


def test_printed_table_and_its_error_rates():
    """Eq. 8 by scipy's normal law, at the middle of each level."""
    for low, (first, second) in lin._rates_of_printed().items():
        variances = [column[low] for column in lin.PRINTED.values()]
        for rate, variance in zip((first, second), variances, strict=True):
            p = stats.norm.cdf(-(low + 0.005) / math.sqrt(variance))
            assert rate == pytest.approx(2 * p * (1 - p), abs=1e-12)
    assert lin._rates_of_printed()[0.01] == pytest.approx([0.3680, 0.4167], abs=5e-5)
    assert [claim.holds for claim in lin.printed_claims()] == [True, True]


def test_a_smaller_variance_of_trec_6_is_found(monkeypatch):
    monkeypatch.setitem(lin.PRINTED["TREC-6"], 0.02, 0.000214)
    larger, higher = lin.printed_claims()
    assert not larger.holds
    assert larger.detail == higher.detail == "2 of 3 levels agree"


def test_table_1_has_paired_variances_at_fifty_topics(made, scores):
    """By a plain loop over the pairs of a level."""
    shown = {(row[0].text, row[1].text): row for row in exhibit(made, "table-1").tables[0].rows}
    for name, block in (("easy", np.s_[:12, :40]), ("hard", np.s_[12:, 40:])):
        matrix = scores.matrix(name)[block]
        paired, independent = [], []
        for a, b in combinations(matrix, 2):
            if 0.02 <= abs(a.mean() - b.mean()) < 0.03:
                paired.append(np.var(a - b, ddof=1) / 50)
                independent.append((np.var(a, ddof=1) + np.var(b, ddof=1)) / 50)
        row = shown["0.02–0.03", name]
        assert row[2].value == len(paired) > 0
        assert row[3].value == pytest.approx(np.mean(paired))
        assert row[4].value == pytest.approx(np.mean(independent))
    assert shown["0.03–0.04", "TREC-6"][5].text == "6.84e-04"


def test_larger_variance_means_more_reversals(made):
    found = claims(exhibit(made, "table-1"))
    text = next(text for text in found if text.startswith("easy and hard"))
    assert text == "easy and hard: splits of 12 topics are reversed more where eq. 8 says so"
    assert found[text].holds
    assert found["hard: independence (eq. 3) overstates the variance"].holds


def test_more_topics_and_larger_differences_help(made):
    found = claims(exhibit(made, "equation-8"))
    assert found["easy: larger differences, fewer reversals"].holds
    assert found["easy: more topics, fewer reversals"].holds
    # Noise rules there: the claim counts the levels whose rates fall, here by Spearman's rho.
    levels = exhibit(made, "table-1").results["topics"]["hard"].levels
    rates = [level.empirical[lin._known(level)] for level in levels]
    falls = [stats.spearmanr(range(len(r)), r).statistic < 0 for r in rates if len(r) > 1]
    told = found["hard: more topics, fewer reversals"]
    assert told.detail == f"{sum(falls)} of {len(falls)} levels agree"
    assert told.holds == all(falls)


def test_distances_are_means_over_pairs():
    found = sr.topics(
        sr.Scores(
            measures=("AP",),
            runs=("a", "b"),
            topics=tuple("12345678"),
            values=collection(2, 8, 0.2, 0)[None],
        ),
        n_trials=600,
    )
    by_hand = [
        (abs(each.empirical[s] - each.predictive[s]), each.count[s])
        for each in found.levels
        for s in np.flatnonzero(lin._known(each))
        if not np.isnan(each.predictive[s])
    ]
    gaps, counts = np.array(by_hand).T
    known = lin._known_rates(found)
    assert lin._distance(known, "predictive") == pytest.approx(np.average(gaps, weights=counts))
    assert math.isnan(lin._distance(known[:0], "predictive"))


def test_equation_13_rests_on_williams_corrected():
    z, phi = np.array(WILLIAMS["inputs"]["z"]), np.array(WILLIAMS["expected"]["phi_williams"])
    found = rate_by_williams(z, 2 / math.pi)
    np.testing.assert_allclose(found, 2 * phi * (1 - phi), rtol=0, atol=1e-9)
    np.testing.assert_allclose(found, 0.5 * np.exp(-2 / math.pi * z**2), rtol=0, atol=1e-15)


def test_claims_about_equations(made):
    found = exhibit(made, "equation-13")
    assert [claim.holds for claim in found.claims] == [True, True, False, True]
    z, exact = found.results["z"], found.results["eq. 8"]
    p = stats.norm.sf(z)
    np.testing.assert_allclose(exact, 2 * p * (1 - p), rtol=0, atol=1e-12)
    gap = np.max(np.abs(exact - 0.5 * np.exp(-2 / math.pi * z**2)))
    assert f"{gap:.5f}" in found.claims[0].detail
    assert 0.005 < gap <= 0.0058


def test_fits_are_listed_with_their_residuals(made):
    found = exhibit(made, "equation-9")
    result = exhibit(made, "table-1").results["topics"]["easy"]
    (row, *_) = [row for row in found.tables[0].rows if row[0].text == "easy"]
    level = next(each for each in result.levels if lin._name(each) == row[1].text)
    assert (row[2].value, row[3].value) == (level.fit.b1, level.fit.b2)
    there = lin._known(level)
    fitted = level.fit.b1 * np.exp(-level.fit.b2 * np.array(result.sizes))
    off = (level.empirical - fitted)[there]
    assert row[4].value == pytest.approx(math.sqrt(np.mean(off**2)))

"""McNemar's test, Wilson's and Tango's intervals against statsmodels, R and their definitions."""

# Witnesses: statsmodels 0.15.0, scipy 1.17.1; R 4.2.2 with scoreci.mp of PropCIs 0.3-0.

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import norm
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

import steadyrank as sr
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tests import binary_pairs, is_binary, tango_limits, wilson_limits
from steadyrank.studies.compare.view import compare_text


def drawn(seed, n_runs=5, n_topics=40, missing=0.0):
    rng = np.random.default_rng(seed)
    difficulty = rng.uniform(0, 1, n_topics)
    scores = (rng.uniform(0, 1, (n_runs, n_topics)) < difficulty).astype(float)
    scores[rng.uniform(0, 1, scores.shape) < missing] = np.nan
    return scores


@pytest.mark.parametrize("seed", range(5))
def test_mcnemar_is_that_of_statsmodels(seed):
    scores = drawn(seed, missing=0.1 * (seed % 2))
    pairs = all_pairs(5)
    result = binary_pairs(scores, pairs, alpha=0.05, correction="holm")
    for p, (a, b) in enumerate(pairs):
        both = ~np.isnan(scores[a]) & ~np.isnan(scores[b])
        x, y = scores[a, both].astype(int), scores[b, both].astype(int)
        table = np.zeros((2, 2), int)
        np.add.at(table, (x, y), 1)
        assert (result.only_first[p], result.only_second[p]) == (table[1, 0], table[0, 1])
        assert result.pvalue[p] == pytest.approx(mcnemar(table, exact=True).pvalue, abs=1e-12)


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_wilson_is_that_of_statsmodels(level):
    n = np.array([1, 1, 7, 40, 40, 40, 1000])
    successes = np.array([0, 1, 3, 0, 13, 40, 999])
    low, high = proportion_confint(successes, n, alpha=1 - level, method="wilson")
    limits = wilson_limits(successes.astype(float), n, confidence=level)
    np.testing.assert_allclose(limits, np.stack([low, high], axis=1), rtol=0, atol=1e-12)
    assert limits.min() >= 0.0
    assert limits.max() <= 1.0


@pytest.mark.parametrize(
    ("b", "c", "n", "level", "expected"),
    [
        (5, 1, 10, 0.95, (-0.087292, 0.720146)),
        (4, 0, 44, 0.95, (0.003314, 0.211592)),
        (9, 12, 50, 0.95, (-0.238961, 0.122485)),
        (0, 0, 30, 0.95, (-0.113513, 0.113513)),
        (86, 150, 1600, 0.95, (-0.058998, -0.021362)),
        (17, 3, 25, 0.90, (0.286231, 0.742912)),
        (7, 0, 7, 0.95, (0.291339, 1.0)),
        (0, 2, 3, 0.99, (-0.959573, 0.481053)),
        (9, 21, 100, 0.95, (-0.227507, -0.013284)),
    ],
)
def test_tango_is_that_of_r(b, c, n, level, expected):
    counts = (np.array([float(count)]) for count in (b, c, n))
    limits = tango_limits(*counts, confidence=level)
    np.testing.assert_allclose(limits[0], expected, rtol=0, atol=2e-6)


def score_from_the_likelihood(b, c, n, delta):
    """The score of p12 - p21 = delta, with p21 found by maximising the multinomial likelihood."""

    def minus_log_likelihood(p21):
        p12 = p21 + delta
        rest = 1 - p12 - p21
        counts, shares = np.array([b, c, n - b - c]), np.array([p12, p21, rest])
        used = counts > 0
        if (shares[used] <= 0).any():
            return np.inf
        return -(counts[used] * np.log(shares[used])).sum()

    low, high = max(0.0, -delta), (1 - delta) / 2
    p21 = minimize_scalar(
        minus_log_likelihood, bounds=(low, high), method="bounded", options={"xatol": 1e-12}
    ).x
    return (b - c - n * delta) / np.sqrt(n * (2 * p21 + delta * (1 - delta)))


@pytest.mark.parametrize(("b", "c", "n"), [(5, 1, 10), (9, 12, 50), (3, 17, 25), (6, 6, 20)])
def test_tango_inverts_the_score_test(b, c, n):
    z = norm.ppf(0.975)
    observed = (b - c) / n
    high = brentq(lambda d: score_from_the_likelihood(b, c, n, d) + z, observed, 0.999)
    low = brentq(lambda d: score_from_the_likelihood(b, c, n, d) - z, -0.999, observed)
    limits = tango_limits(*(np.array([float(x)]) for x in (b, c, n)), confidence=0.95)[0]
    np.testing.assert_allclose(limits, [low, high], rtol=0, atol=1e-5)


@pytest.mark.slow
def test_tango_covers_the_true_difference():
    """4,000 draws: 95 % ± 1 % by chance alone; the band 93.5 to 96.5 % is missed less than once
    in 10,000 times by an interval that holds its level."""
    rng = np.random.default_rng(7)
    shares = np.array([0.2, 0.1, 0.7])
    counts = rng.multinomial(50, shares, 4_000).astype(float)
    limits = tango_limits(counts[:, 0], counts[:, 1], np.full(4_000, 50.0), confidence=0.95)
    covered = np.mean((limits[:, 0] <= 0.1) & (limits[:, 1] >= 0.1))
    assert 0.935 < covered < 0.965


def test_swapping_the_runs_mirrors_everything():
    scores = drawn(3, n_runs=2)
    one = binary_pairs(scores, np.array([[0, 1]]), alpha=0.05, correction="none")
    other = binary_pairs(scores, np.array([[1, 0]]), alpha=0.05, correction="none")
    assert one.pvalue == other.pvalue
    np.testing.assert_array_equal(one.score_interval, -other.score_interval[:, ::-1])
    assert one.only_first == other.only_second


def test_a_score_between_turns_it_off():
    scores = drawn(1)
    assert is_binary(scores)
    scores[0, 0] = 0.5
    assert binary_pairs(scores, all_pairs(5), alpha=0.05, correction="holm") is None
    assert not is_binary(np.full((2, 3), np.nan))


def scores_of(values, measure="Success@5"):
    runs = tuple(f"run{i}" for i in range(len(values)))
    topics = tuple(str(t) for t in range(values.shape[1]))
    return sr.Scores(measures=(measure,), runs=runs, topics=topics, values=values[None])


def test_compare_says_mcnemar_for_two_runs():
    scores = scores_of(drawn(2, n_runs=2))
    result = sr.compare(scores)
    text = compare_text(result, "table")
    assert "McNemar p" in text
    assert "Wilson interval" in text
    assert "McNemar adjusted" not in text
    (row,) = json.loads(compare_text(result, "json"))["pairs"]
    assert row["only_a"] == row["wins"]
    assert row["only_b"] == row["losses"]
    assert 0 < row["mcnemar_pvalue"] == row["mcnemar_pvalue_adjusted"] <= 1
    assert row["score_interval"][0] < row["difference"] < row["score_interval"][1]
    runs = json.loads(compare_text(result, "json"))["runs"]
    assert all(0 <= run["wilson_interval"][0] <= run["mean"] for run in runs)


def test_compare_names_the_family_of_mcnemar_tests():
    result = sr.compare(scores_of(drawn(2, n_runs=4)))
    text = compare_text(result, "table")
    assert result.correction == "maxt"
    assert "McNemar's exact test: Holm's correction over 6 comparisons, all pairs" in " ".join(
        text.split()
    )
    order = np.argsort(result.binary.pvalue)
    adjusted = np.maximum.accumulate(result.binary.pvalue[order] * np.arange(6, 0, -1))
    np.testing.assert_allclose(
        result.binary.pvalue_adjusted[order], np.minimum(1, adjusted), rtol=1e-12
    )


def test_other_decisions_do_not_depend_on_it():
    values = drawn(4, n_runs=4)
    nearly = values.copy()
    nearly[0, 0] += 1e-14
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = sr.compare(scores_of(values), correction="holm")
        other = sr.compare(scores_of(nearly), correction="holm")
    assert other.binary is None
    np.testing.assert_allclose(result.pvalue_adjusted, other.pvalue_adjusted, rtol=1e-6)
    assert "McNemar" not in compare_text(other, "table")


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_runs_that_never_differ(value):
    result = sr.compare(scores_of(np.full((2, 10), value)))
    assert result.binary.pvalue.tolist() == [1.0]
    low, high = result.binary.score_interval[0]
    assert low == pytest.approx(-high)
    assert "McNemar" in compare_text(result, "table")

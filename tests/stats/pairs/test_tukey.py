"""Tukey's test against R (golden), statsmodels, SciPy and full enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from golden_cases import golden
from plain_tables import refused
from scipy.stats import studentized_range
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm
from threadpoolctl import threadpool_limits

from steadyrank.errors import InputError
from steadyrank.stats.anova.balanced import anova
from steadyrank.stats.pairs import studentized_range as studentized
from steadyrank.stats.pairs.result import NO_DIFFERENCE, TOO_FEW, ZERO_VARIANCE, all_pairs
from steadyrank.stats.pairs.tukey import randomized_tukey, tukey_hsd

CASE = golden("anova_twoway_tukey")
SCORES = np.array(list(CASE["inputs"]["scores"].values()))


def random_scores(seed, n_runs=4, n_topics=9):
    random = np.random.default_rng(seed)
    return random.random(n_topics) + 0.1 * random.random((n_runs, n_topics))


def two_way(scores):
    return anova(scores, factors=("run", "topic"), effects=("run",), block="topic")


def intervals(found):
    return np.stack([found.difference - found.half_width, found.difference + found.half_width], 1)


def test_anova_as_by_r():
    found, expected = two_way(SCORES), CASE["expected"]
    for ours, theirs in (("run", "system"), ("topic", "topic"), ("error", "error")):
        row = found.source(ours)
        assert row.ss == pytest.approx(expected["ss"][theirs], abs=1e-12)
        assert row.df == expected["df"][theirs]
        assert row.ms == pytest.approx(row.ss / row.df)
    assert found.source("run").statistic == pytest.approx(expected["F_system"], rel=1e-10)
    assert found.source("run").pvalue == pytest.approx(expected["p_system"], rel=1e-9)
    assert found.source("topic").statistic == pytest.approx(expected["F_topic"], rel=1e-10)
    assert found.source("topic").pvalue == pytest.approx(expected["p_topic"], rel=1e-9)
    assert found.flag == ""


def test_hsd_as_by_r():
    rows = CASE["expected"]["tukey"]
    pairs = [["ABCD".index(name) for name in row["pair"].split("-")] for row in rows]
    found = tukey_hsd(SCORES, pairs)
    tolerance = CASE["tolerance"]
    for name, key in (("difference", "diff"), ("pvalue", "p_adj")):
        expected = [row[key] for row in rows]
        np.testing.assert_allclose(getattr(found, name), expected, rtol=0, atol=tolerance)
    limits = [[row["lwr"], row["upr"]] for row in rows]
    np.testing.assert_allclose(intervals(found), limits, rtol=0, atol=tolerance)


def test_anova_as_by_statsmodels():
    scores = random_scores(3, 5, 8)
    run, topic = np.indices(scores.shape)
    frame = pd.DataFrame({"y": scores.ravel(), "run": run.ravel(), "topic": topic.ravel()})
    table = anova_lm(ols("y ~ C(run) + C(topic)", frame).fit())
    found = two_way(scores)
    for name, row in (
        ("C(run)", found.source("run")),
        ("C(topic)", found.source("topic")),
        ("Residual", found.source("error")),
    ):
        assert row.ss == pytest.approx(table.loc[name, "sum_sq"], rel=1e-10)
        assert row.df == table.loc[name, "df"]
    assert found.source("run").statistic == pytest.approx(table.loc["C(run)", "F"], rel=1e-10)
    assert found.source("run").pvalue == pytest.approx(table.loc["C(run)", "PR(>F)"], rel=1e-9)


def test_sums_of_squares_survive_a_large_offset():
    plain, shifted = two_way(SCORES), two_way(SCORES + 2.0**30)
    assert shifted.source("error").ss == pytest.approx(plain.source("error").ss, rel=1e-5)
    assert shifted.source("run").statistic == pytest.approx(plain.source("run").statistic, rel=1e-5)


@pytest.mark.parametrize(
    ("n_means", "df"), [(2, 1), (3, 2), (4, 33), (10, 90), (30, 29), (110, 27_032)]
)
@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")  # SciPy's own
def test_studentised_range_as_by_scipy(n_means, df):
    q = np.array([0.0, 0.2, 1.0, 2.5, 4.0, 6.0, 9.0])
    found = studentized.survival_many(q, n_means, df)
    np.testing.assert_allclose(found, studentized_range.sf(q, n_means, df), rtol=0, atol=1e-10)
    critical = studentized.critical_value(0.05, n_means, df)
    assert studentized_range.sf(critical, n_means, df) == pytest.approx(0.05, abs=1e-10)


@pytest.mark.parametrize(("n_means", "df"), [(25, 24), (110, 27_032), (300, 299), (3, 4)])
@pytest.mark.parametrize("largest", [0.5, 8.0, 60.0])
def test_interpolation_agrees_with_integration(n_means, df, largest):
    q = np.linspace(0.0, largest, 2000)
    found = studentized.survival_many(q, n_means, df)
    some = np.arange(0, 2000, 37)
    direct = studentized.survival(q[some], n_means, df)
    followed = direct > 1e-24
    np.testing.assert_allclose(found[some][followed], direct[followed], rtol=1e-9)
    assert np.all(found[some][~followed] < 1e-23)
    assert np.all(np.diff(found) <= 1e-14)


def test_an_interval_excludes_0_where_p_is_small():
    found = tukey_hsd(random_scores(8, 12, 30), all_pairs(12), confidence=0.9)
    excludes = (intervals(found)[:, 0] > 0) | (intervals(found)[:, 1] < 0)
    np.testing.assert_array_equal(excludes, found.pvalue < 0.1)


def test_two_runs_give_the_paired_t_test():
    from scipy.stats import ttest_rel

    scores = random_scores(4, 2, 12)
    expected = ttest_rel(scores[0], scores[1])
    found = tukey_hsd(scores, [[0, 1]])
    assert found.pvalue[0] == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.statistic[0] == pytest.approx(np.sqrt(2) * abs(expected.statistic))


def test_incomplete_topics_are_dropped_and_counted():
    scores = random_scores(5, 4, 10)
    holed = scores.copy()
    holed[1, 3] = holed[2, 7] = np.nan
    complete = np.delete(scores, [3, 7], axis=1)
    one, other = tukey_hsd(holed, all_pairs(4)), tukey_hsd(complete, all_pairs(4))
    np.testing.assert_array_equal(one.pvalue, other.pvalue)
    assert one.n.tolist() == [8] * 6
    assert "2 incomplete topics dropped" in one.method
    sampled = [randomized_tukey(s, all_pairs(4), n_samples=50).pvalue for s in (holed, complete)]
    np.testing.assert_array_equal(*sampled)


def exact_randomized_pvalue(scores, difference):
    """Over every way to deal each topic's scores to the runs."""
    dealt = [list(itertools.permutations(column)) for column in scores.T]
    ranges = [np.ptp(np.mean(deal, axis=0)) for deal in itertools.product(*dealt)]
    return np.mean(np.array(ranges) >= abs(difference) - 1e-12)


def test_randomised_as_by_enumeration():
    scores = np.array([[0.3, 0.8, 0.5, 0.7], [0.2, 0.5, 0.5, 0.1], [0.1, 0.4, 0.2, 0.4]])
    found = randomized_tukey(scores, all_pairs(3), n_samples=40_000, seed=3)
    exact = np.array([exact_randomized_pvalue(scores, d) for d in found.difference])
    # Three pairs, a band of 4.5 standard errors: fails once in 50,000.
    error = np.sqrt(exact * (1 - exact) / 40_000)
    assert np.all(np.abs(found.pvalue - exact) < 4.5 * error + 1e-4)
    np.testing.assert_allclose(found.pvalue_error, error, rtol=0.1)


def test_randomised_modes_and_ties():
    scores = np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    sound = randomized_tukey(scores, [[0, 1]], n_samples=999, seed=1)
    paper = randomized_tukey(scores, [[0, 1]], n_samples=999, seed=1, mode="paper")
    count = paper.pvalue[0] * 999
    assert sound.pvalue[0] == pytest.approx((1 + count) / 1000)
    # All topics to one side: 2 of 8 ways, equal to the observed difference.
    assert paper.pvalue[0] == pytest.approx(0.25, abs=4.5 * np.sqrt(0.25 * 0.75 / 999))
    assert "extreme / samples" in paper.method


def test_randomised_is_close_to_the_normal_theory():
    scores = random_scores(11, 8, 60)
    classical = tukey_hsd(scores, all_pairs(8)).pvalue
    sampled = randomized_tukey(scores, all_pairs(8), n_samples=5_000).pvalue
    assert np.abs(classical - sampled).max() < 0.05


def test_same_bytes_on_any_number_of_processors():
    q = np.linspace(0.1, 9.0, 4005)
    found = []
    for blas_threads in (1, 2, 4):
        with threadpool_limits(blas_threads, user_api="blas"):
            found.append(studentized.survival_many(q, 90, 18690.0).tobytes())
    assert found[0] == found[1] == found[2]


def test_no_error_variance():
    scores = np.array([[0.1, 0.4, 0.2]] * 2 + [[0.2, 0.5, 0.3]])
    found = tukey_hsd(scores, all_pairs(3))
    assert found.flag.tolist() == [NO_DIFFERENCE, ZERO_VARIANCE, ZERO_VARIANCE]
    assert found.pvalue.tolist() == [1.0, 0.0, 0.0]
    assert found.statistic.tolist() == [0.0, np.inf, np.inf]
    np.testing.assert_allclose(intervals(found), [[0, 0], [-0.1, -0.1], [-0.1, -0.1]], atol=1e-15)
    table = two_way(scores)
    assert (table.flag, table.source("run").pvalue) == (ZERO_VARIANCE, 0.0)


def test_nothing_differs():
    found = tukey_hsd(np.full((3, 5), 0.3), all_pairs(3))
    run = two_way(np.full((3, 5), 0.3)).source("run")
    assert (run.statistic, run.pvalue) == (0.0, 1.0)
    assert found.pvalue.tolist() == [1.0] * 3
    sampled = randomized_tukey(np.full((3, 5), 0.3), all_pairs(3), n_samples=20)
    assert sampled.pvalue.tolist() == [1.0] * 3
    assert sampled.flag.tolist() == [NO_DIFFERENCE] * 3


@pytest.mark.parametrize("scores", [np.ones((3, 1)), np.ones((3, 0)), np.full((3, 4), np.nan)])
def test_too_few_topics(scores):
    for found in (tukey_hsd(scores, [[0, 1]]), randomized_tukey(scores, [[0, 1]])):
        assert found.flag.tolist() == [TOO_FEW]
        assert np.isnan(found.pvalue).all()
    assert np.isnan(intervals(tukey_hsd(scores, [[0, 1]]))).all()


def test_wrong_input_is_refused():
    refused("confidence must lie", tukey_hsd, SCORES, [[0, 1]], confidence=95)
    with pytest.raises(InputError, match="unknown mode 'papr': did you mean 'paper'"):
        randomized_tukey(SCORES, [[0, 1]], mode="papr")
    with pytest.raises(InputError, match="n_samples must be a whole number of at least 1"):
        randomized_tukey(SCORES, [[0, 1]], n_samples=0)


N_RUNS, N_TOPICS, ALPHA = 4, 15, 0.05
PAIRS = all_pairs(N_RUNS)


def null_scores(rng):
    """Runs that differ by noise alone, on topics that differ much."""
    return rng.normal(0, 0.3, N_TOPICS) + rng.normal(0, 0.1, (N_RUNS, N_TOPICS))


@pytest.mark.slow
def test_tukey_rejects_anything_at_all_in_one_of_twenty_worlds():
    # Exact under these normal errors: of 500 worlds 25 are expected with sd 4.9; outside
    # 25 ± 4 sd once in 10,000.
    rng = np.random.default_rng(31)
    rejected = sum(tukey_hsd(null_scores(rng), PAIRS).pvalue.min() < ALPHA for _ in range(500))
    assert abs(rejected - 25) < 20


@pytest.mark.slow
def test_randomized_tukey_rejects_no_more_often_than_it_says():
    # Valid by construction: at most 5 % of 400 worlds, 20, in expectation; above 20 + 4 sd
    # (37) once in 10,000. The lower bound says that it is not merely timid.
    rng = np.random.default_rng(32)
    rejected = sum(
        randomized_tukey(null_scores(rng), PAIRS, n_samples=299, seed=world, jobs=1).pvalue.min()
        <= ALPHA
        for world in range(400)
    )
    assert 4 < rejected < 38

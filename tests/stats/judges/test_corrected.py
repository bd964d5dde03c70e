"""Corrected means: ppi-python's, closed forms, brute force over pairs, and a known truth."""

from __future__ import annotations

import numpy as np
import pytest
from golden_cases import golden_case
from scipy import stats

from steadyrank.stats.judges.corrected import (
    JudgedScores,
    Weight,
    best_weight,
    corrected_parts,
    difference_uncertainty,
    mean_uncertainty,
    parts_of_these,
    rank_runs,
    shared_weight,
)
from steadyrank.stats.pairs.result import all_pairs

INPUTS, EXPECTED, TOLERANCE = golden_case("ppi_mean")


def judged(n_runs=5, n=12, n_more=40, seed=1, noise=0.5):
    rng = np.random.default_rng(seed)
    human = rng.normal(size=(n_runs, n + n_more)) + rng.normal(size=n + n_more)
    judge = 0.7 * human + noise * rng.normal(size=human.shape) + 1.0
    return JudgedScores(human=human[:, :n], judge=judge[:, :n], more=judge[:, n:])


def one_series(name):
    rows = {key: np.array([values]) for key, values in INPUTS[name].items()}
    return JudgedScores(**rows)


@pytest.mark.parametrize("name", INPUTS)
def test_lambda_and_estimate_are_those_of_ppi_python(name):
    scores, expected = one_series(name), EXPECTED[name]
    n = scores.n
    # Ours divides the covariance by n - 1, and is cut at 0 and 1 after that.
    assert best_weight(scores).value * (n - 1) / n == pytest.approx(
        expected["lambda"], abs=TOLERANCE
    )
    for value, figures in expected["at"].items():
        weight = Weight(value=float(value), is_estimated=True)
        parts = corrected_parts(scores, weight)
        assert parts.mean[0] == pytest.approx(figures["estimate"], abs=TOLERANCE)


@pytest.mark.parametrize("name", INPUTS)
def test_standard_errors_are_those_of_ppi_python_but_for_divisors(name):
    scores = one_series(name)
    for value, figures in EXPECTED[name]["at"].items():
        parts = corrected_parts(scores, Weight(value=float(value), is_estimated=False))
        theirs = (figures["high"] - figures["low"]) / 2 / stats.norm.ppf(0.95)
        own = parts.residual.var() / scores.n
        more = parts.followed.var() / scores.n_more if parts.has_two else 0.0
        assert np.sqrt(own + more) == pytest.approx(theirs, abs=TOLERANCE)
        ddof = own * scores.n / (scores.n - 1)
        ddof += more * scores.n_more / (scores.n_more - 1)
        assert mean_uncertainty(parts).error[0] == pytest.approx(np.sqrt(ddof), rel=1e-12)


def test_the_interval_pays_for_lambda_as_the_formula_says():
    scores = judged(n_runs=2)
    weight = shared_weight(scores)
    parts = corrected_parts(scores, weight)
    n, n_more = scores.n, scores.n_more
    y = scores.human[0] - scores.human[1]
    f, u = scores.judge[0] - scores.judge[1], scores.more[0] - scores.more[1]
    both = np.concatenate([f, u])
    lam = np.cov(y, f)[0, 1] / ((1 + n / n_more) * both.var(ddof=1))
    assert weight.value == pytest.approx(lam, rel=1e-12)
    first = lam**2 * u.var(ddof=1) / n_more
    second = (n - 1) / (n - 2) * (y - lam * f).var(ddof=1) / n
    total = first + second
    df = total**2 / (first**2 / (n_more - 1) + second**2 / (n - 1)) - 1
    found = difference_uncertainty(parts, all_pairs(2))
    assert found.error[0] == pytest.approx(np.sqrt(total), rel=1e-12)
    assert found.df[0] == pytest.approx(df, rel=1e-12)
    half = stats.t.ppf(0.975, df) * np.sqrt(total)
    assert found.half_width(0.95)[0] == pytest.approx(half, rel=1e-10)


def test_about_these_topics_the_sample_is_one_without_replacement():
    """A single pair, which takes its own lambda; and all of it enters the max-t statistic."""
    scores = judged(n_runs=2)
    weight = shared_weight(scores, "these")
    n, total = scores.n, scores.n + scores.n_more
    y, f = (rows[0] - rows[1] for rows in (scores.human, scores.judge))
    own = np.cov(y, f)[0, 1] / f.var(ddof=1)
    assert weight.value == pytest.approx(own, rel=1e-12)
    estimate = own * (scores.everything[0] - scores.everything[1]).mean() + (y - own * f).mean()
    variance = (1 - n / total) * (n - 1) / (n - 2) * (y - own * f).var(ddof=1) / n
    parts = parts_of_these(scores, weight)
    assert parts.mean[0] - parts.mean[1] == pytest.approx(estimate, rel=1e-12)
    found = difference_uncertainty(parts, all_pairs(2))
    assert found.error[0] == pytest.approx(np.sqrt(variance), rel=1e-12)
    assert found.df[0] == n - 2
    t = parts.residual[0] - parts.residual[1]
    assert stats.ttest_1samp(t, 0).statistic == pytest.approx(estimate / np.sqrt(variance))
    ranking = rank_runs(parts, places=np.arange(n), alpha=0.05, n_samples=99, seed=0, jobs=1)
    assert ranking.pvalue[0] == pytest.approx(
        2 * stats.t.sf(abs(estimate) / np.sqrt(variance), n - 2), rel=1e-10
    )


def test_one_lambda_makes_the_mean_variance_of_all_differences_least():
    scores = judged(n_runs=6, n=15, n_more=30)
    pairs = all_pairs(6)
    covariance = variance = 0.0
    everything = scores.everything
    for a, b in pairs:
        pair = np.cov(scores.human[a] - scores.human[b], scores.judge[a] - scores.judge[b])
        covariance += pair[0, 1]
        variance += (everything[a] - everything[b]).var(ddof=1)
    expected = covariance / ((1 + 15 / 30) * variance)
    assert shared_weight(scores).value == pytest.approx(expected, rel=1e-12)


def test_without_further_topics_people_stand_alone():
    scores = judged(n_more=0)
    weight = shared_weight(scores)
    assert (weight.value, weight.is_estimated) == (0.0, False)
    parts = corrected_parts(scores, weight)
    assert parts.mean == pytest.approx(scores.human.mean(axis=1))
    half = mean_uncertainty(parts).half_width(0.95)
    expected = stats.t.ppf(0.975, 11) * stats.sem(scores.human, axis=1)
    assert half == pytest.approx(expected, rel=1e-10)


def test_a_perfect_judge_gives_the_mean_of_all_topics_as_lambda_nears_one():
    rng = np.random.default_rng(3)
    human = rng.normal(size=(3, 4020))
    scores = JudgedScores(human=human[:, :20], judge=human[:, :20], more=human[:, 20:])
    weight = shared_weight(scores)
    # cov = var over 20 topics and N / (n + N) is all that keeps it from 1.
    own, every = (
        (rows - rows.mean(axis=0)).var(axis=1, ddof=1).sum() for rows in (human[:, :20], human)
    )
    expected = min(1.0, own / every / (1 + 20 / 4000))
    assert weight.value == pytest.approx(expected, rel=1e-12)
    parts = corrected_parts(scores, Weight(value=1.0, is_estimated=False))
    assert parts.mean == pytest.approx(human[:, 20:].mean(axis=1), abs=1e-12)
    assert np.abs(parts.residual).max() == 0.0


@pytest.mark.parametrize("constant", [0.0, 0.3, 1e6])
def test_a_constant_judge_is_not_followed_and_costs_nothing(constant):
    scores = judged()
    same = JudgedScores(
        human=scores.human,
        judge=np.full_like(scores.judge, constant),
        more=np.full_like(scores.more, constant),
    )
    assert shared_weight(same) == best_weight(same)
    weight = shared_weight(same)
    assert (weight.value, weight.is_estimated) == (0.0, False)
    pairs = all_pairs(5)
    found = difference_uncertainty(corrected_parts(same, weight), pairs)
    z = scores.human[pairs[:, 0]] - scores.human[pairs[:, 1]]
    assert found.error == pytest.approx(stats.sem(z, axis=1), rel=1e-10)
    assert found.df == pytest.approx(np.full(len(pairs), 11.0), rel=1e-12)


def test_a_judge_with_the_same_score_for_all_runs_is_not_followed():
    scores = judged()
    rows = np.tile(scores.everything[0], (5, 1))
    same = JudgedScores(human=scores.human, judge=rows[:, :12], more=rows[:, 12:])
    assert shared_weight(same).value == 0.0


def test_differences_of_corrected_means_add_up():
    scores = judged()
    parts = corrected_parts(scores, shared_weight(scores))
    ranking = rank_runs(parts, places=np.arange(52), alpha=0.05, n_samples=99, seed=0, jobs=1)
    by_pair = dict(zip(map(tuple, all_pairs(5).tolist()), ranking.difference, strict=True))
    assert by_pair[0, 1] + by_pair[1, 2] == pytest.approx(by_pair[0, 2], abs=1e-14)


@pytest.mark.slow
def test_intervals_hold_the_truth_although_the_judge_is_biased():
    """2,000 experiments with n = 15; a band of one false alarm in 100,000 around .95."""
    rng = np.random.default_rng(8)
    held = alone = 0
    n, n_more, trials = 15, 100, 2000
    for _ in range(trials):
        human = rng.normal(0.1, 0.3, (2, n + n_more))
        judge = 0.8 * human + rng.normal(0.0, 0.15, human.shape) + [[0.1], [0.0]]
        scores = JudgedScores(human=human[:, :n], judge=judge[:, :n], more=judge[:, n:])
        parts = corrected_parts(scores, shared_weight(scores))
        half = difference_uncertainty(parts, all_pairs(2)).half_width(0.95)[0]
        held += abs(parts.mean[0] - parts.mean[1]) <= half
        z = judge[0] - judge[1]
        alone += abs(z.mean()) <= stats.t.ppf(0.975, n + n_more - 1) * stats.sem(z)
    law = stats.binom(trials, 0.95)
    assert law.ppf(1e-5) <= held <= law.isf(1e-5), held / trials
    assert alone / trials < 0.3


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 20, 40])
def test_intervals_about_these_topics_hold_their_mean(n):
    """2,000 samples of 60 topics: .93 to .96, and narrower than about other topics."""
    rng = np.random.default_rng(n)
    held = 0
    widths = np.zeros(2)
    for _ in range(2000):
        human = rng.beta(2, 3, (2, 60)) * [[1.0], [0.9]]
        judge = np.clip(0.7 * human + rng.normal(0.0, 0.1, human.shape) + [[0.2], [0.0]], 0, 1)
        scores = JudgedScores(human=human[:, :n], judge=judge[:, :n], more=judge[:, n:])
        these = parts_of_these(scores, shared_weight(scores, "these"))
        other = corrected_parts(scores, shared_weight(scores))
        halves = [
            difference_uncertainty(parts, all_pairs(2)).half_width(0.95)[0]
            for parts in (these, other)
        ]
        truth = human[0].mean() - human[1].mean()
        held += abs(these.mean[0] - these.mean[1] - truth) <= halves[0]
        widths += halves
    assert 0.93 <= held / 2000 <= 0.965, held / 2000
    assert widths[0] < 0.9 * widths[1]

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from golden_cases import golden_case
from scipy import stats

from steadyrank.stats.pairs.resampled import (
    randomization,
    resampled_statistics,
    studentized_bootstrap,
    topic_draws,
)
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.sign_flips import sign_patterns
from steadyrank.stats.pairs.tests import paired_t, sign_test, wilcoxon

ONE = np.array([[0, 1]])


def t_star_of(z, weights, mean_weights):
    """t* of differences [pair, topic] of plain topics, each of which has the share 1/n."""
    n = z.shape[1]
    return resampled_statistics(z / n, np.full(n, 1.0 / n), weights, mean_weights)


def against_zero(z):
    return np.array([z, np.zeros(len(z))])


def simulated(n_runs, n_topics, seed=1, decimals=6):
    rng = np.random.default_rng(seed)
    scores = rng.beta(1, 2, n_topics) + rng.normal(0, 0.1, (n_runs, n_topics))
    return scores.round(decimals)


def weights_of(indices, n):
    return np.array([np.bincount(row, minlength=n) for row in indices], dtype=float)


def test_randomization_of_the_golden_file():
    inputs, expected, tolerance = golden_case("randomisation_exact")
    scores = np.array([inputs["a"], inputs["b"]])
    test = randomization(scores, ONE, exact_up_to=expected["n_permutations"])
    assert test.pvalue[0] == pytest.approx(expected["p_two_sided"], rel=tolerance)
    assert test.pvalue_error[0] == 0


@pytest.mark.parametrize("decimals", [1, 2, 6])
def test_exact_randomization_is_the_share_of_all_flips(decimals):
    scores = simulated(5, 9, decimals=decimals)
    pairs = all_pairs(5)
    flips = np.array(list(product([-1, 1], repeat=9)))
    # Whole numbers: ties are exact.
    z = ((scores[pairs[:, 0]] - scores[pairs[:, 1]]) * 10**decimals).round().astype(int)
    brute = (np.abs(z @ flips.T) >= np.abs(z.sum(axis=1))[:, None]).mean(axis=1)
    np.testing.assert_allclose(randomization(scores, pairs).pvalue, brute, rtol=1e-12)


def test_exact_randomization_agrees_with_scipy():
    scores = simulated(2, 11)
    peer = stats.permutation_test(
        (scores[0] - scores[1],),
        lambda z, axis: z.mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )
    assert randomization(scores, ONE).pvalue[0] == pytest.approx(peer.pvalue, rel=1e-10)


@pytest.mark.parametrize("decimals", [1, 6])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_drawn_flips_come_close_to_all_flips(decimals, missing):
    scores = simulated(6, 12, decimals=decimals)
    scores[np.random.default_rng(6).random(scores.shape) < missing] = np.nan
    pairs = all_pairs(6)
    exact = randomization(scores, pairs).pvalue
    drawn = randomization(scores, pairs, exact_up_to=0, n_samples=20_000, seed=3)
    # 15 pairs, 4.5 standard errors each: a false alarm in 10,000 seeds; 1e-4 for the +1.
    band = 4.5 * np.sqrt(exact * (1 - exact) / 20_000) + 1e-4
    assert (np.abs(drawn.pvalue - exact) <= band).all()
    np.testing.assert_allclose(
        drawn.pvalue_error, np.sqrt(exact * (1 - exact) / 20_000), rtol=0.1, atol=1e-4
    )


def test_flips_count_what_a_plain_loop_counts():
    scores = simulated(4, 30, decimals=2)
    pairs = all_pairs(4)
    signs = np.concatenate([sign_patterns(9, (b, 0, n), 30) for b, n in ((0, 256), (1, 44))])
    z = ((scores[pairs[:, 0]] - scores[pairs[:, 1]]) * 100).round().astype(int)
    extreme = (np.abs(signs.astype(int) @ z.T) >= np.abs(z.sum(axis=1))).sum(axis=0)
    sound = randomization(scores, pairs, n_samples=300, seed=9)
    np.testing.assert_allclose(sound.pvalue, (1 + extreme) / 301, rtol=1e-14)
    paper = randomization(scores, pairs, n_samples=300, seed=9, mode="paper")
    np.testing.assert_allclose(paper.pvalue, extreme / 300, rtol=1e-14)


def test_bootstrap_with_given_resamples_is_the_golden_one():
    inputs, expected, tolerance = golden_case("bootstrap_alg1_fixed_indices")
    z = np.array(inputs["z"])
    weights = weights_of(inputs["indices"], len(z))
    shift = z @ weights.mean(axis=0) / len(z)
    assert shift == pytest.approx(expected["shift"], rel=tolerance)
    t_star = t_star_of(z[None], weights, weights.mean(axis=0))[:, 0]
    np.testing.assert_allclose(t_star, expected["t_star"], rtol=tolerance)
    t = paired_t(against_zero(z), ONE).statistic[0]
    assert t == pytest.approx(expected["t_obs"], rel=tolerance)
    assert (np.abs(t_star) >= t).sum() == expected["count_two_sided"]
    assert (t_star >= t).sum() == expected["count_one_sided"]


def test_bootstrap_over_all_resamples_is_the_golden_limit():
    inputs, expected, tolerance = golden_case("bootstrap_alg1_exact_limit")
    z = np.array(inputs["z"])
    weights = weights_of(list(product(range(4), repeat=4)), 4)
    t_star = t_star_of(z[None], weights, None)[:, 0]
    t = paired_t(against_zero(z), ONE).statistic[0]
    assert t == pytest.approx(expected["t_obs"], rel=tolerance)
    assert np.isinf(t_star).sum() == expected["n_zero_variance_resamples"]
    assert (np.abs(t_star) >= t).mean() == expected["p_two_sided_abs"]
    assert (t_star >= t).mean() == expected["p_one_sided_ge"]


@pytest.mark.parametrize("mode", ["sound", "paper"])
@pytest.mark.parametrize(
    ("alternative", "name"), [("two-sided", "p_two_sided_abs"), ("greater", "p_one_sided_ge")]
)
def test_bootstrap_samples_come_close_to_the_golden_limit(mode, alternative, name):
    inputs, expected, _ = golden_case("bootstrap_alg1_exact_limit")
    test = studentized_bootstrap(
        against_zero(inputs["z"]), ONE, n_samples=40_000, mode=mode, alternative=alternative
    )
    p = expected[name]
    # 4 standard errors: a false alarm in 16,000 seeds.
    assert abs(test.pvalue[0] - p) <= 4 * np.sqrt(p * (1 - p) / 40_000)


def test_resample_means_have_the_golden_moments():
    inputs, expected, _ = golden_case("bootstrap_mean_moments")
    z = np.array(inputs["z"])
    weights = np.concatenate([topic_draws(1, (b, 0, 256), 12) for b in range(80)])
    assert (weights.sum(axis=1) == 12).all()
    means = weights @ z / 12
    # 4 standard errors, of the mean and of the standard deviation.
    assert abs(means.mean() - expected["mean"]) <= 4 * expected["se"] / np.sqrt(len(means))
    assert abs(means.std() / expected["se"] - 1) <= 4 / np.sqrt(2 * len(means))


@pytest.mark.parametrize("mode", ["sound", "paper"])
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_bootstrap_counts_what_a_plain_loop_counts(mode, alternative):
    scores = simulated(4, 15)
    pairs = all_pairs(4)
    weights = np.concatenate([topic_draws(2, (b, 0, n), 15) for b, n in ((0, 256), (1, 44))])
    found = studentized_bootstrap(
        scores, pairs, n_samples=300, seed=2, mode=mode, alternative=alternative
    )
    for p, (i, j) in enumerate(pairs):
        z = scores[i] - scores[j]
        samples = np.array([np.repeat(z, row.astype(int)) for row in weights])
        shift = z.mean() if mode == "sound" else samples.mean(axis=1).mean()
        t_star = stats.ttest_1samp(samples - shift, 0, axis=1).statistic
        t = stats.ttest_1samp(z, 0).statistic
        extreme = (np.abs(t_star) >= abs(t)) if alternative == "two-sided" else t_star >= t
        want = (1 + extreme.sum()) / 301 if mode == "sound" else extreme.mean()
        assert found.pvalue[p] == pytest.approx(want, rel=1e-12)
        assert found.statistic[p] == pytest.approx(t, rel=1e-10)


def test_resamples_without_variance_are_extreme_unless_their_mean_is_0():
    z = np.array([[0.5, 0.2, 0.2, -0.1]])
    weights = np.array([[4, 0, 0, 0], [0, 0, 0, 4], [0, 4, 0, 0], [0, 2, 2, 0]], dtype=float)
    assert t_star_of(z, weights, None)[:, 0].tolist() == [np.inf, -np.inf, 0.0, 0.0]


def test_bootstrap_of_a_constant_difference():
    scores = np.array([[0.3, 0.5, 0.9], [0.1, 0.3, 0.7]])
    sound = studentized_bootstrap(scores, ONE, n_samples=99)
    assert sound.flag[0] == "zero_variance"
    assert sound.statistic[0] == np.inf
    assert sound.pvalue[0] == 0.01
    assert studentized_bootstrap(scores, ONE, n_samples=99, mode="paper").pvalue[0] == 0


def test_missing_scores_are_as_if_their_topics_were_deleted():
    scores = simulated(5, 30)
    scores[np.random.default_rng(4).random(scores.shape) < 0.1] = np.nan
    pairs = all_pairs(5)
    for mode in ("sound", "paper"):
        found = studentized_bootstrap(scores, pairs, n_samples=500, mode=mode)
        for p, pair in enumerate(pairs):
            kept = scores[pair][:, ~np.isnan(scores[pair]).any(axis=0)]
            alone = studentized_bootstrap(kept, ONE, n_samples=500, mode=mode)
            assert (found.n[p], found.pvalue[p]) == (alone.n[0], alone.pvalue[0])
    scores = scores[:, :15]
    found = randomization(scores, pairs)
    for p, pair in enumerate(pairs):
        kept = scores[pair][:, ~np.isnan(scores[pair]).any(axis=0)]
        assert found.pvalue[p] == randomization(kept, ONE).pvalue[0]


N_TRIALS = 4000


def rejection_rates(draw, n_topics, seed):
    rng = np.random.default_rng(seed)
    z = draw(rng, (N_TRIALS, n_topics))
    scores = np.vstack([z, np.zeros(n_topics)])
    pairs = np.stack([np.arange(N_TRIALS), np.full(N_TRIALS, N_TRIALS)], axis=1)
    found = {
        "t": paired_t(scores, pairs),
        "wilcoxon": wilcoxon(scores, pairs),
        "sign": sign_test(scores, pairs),
        "randomization": randomization(scores, pairs, n_samples=1999, seed=seed),
        "bootstrap": studentized_bootstrap(scores, pairs, n_samples=1999, seed=seed),
    }
    return {name: float((test.pvalue <= 0.05).mean()) for name, test in found.items()}


# 4 standard errors of a rate of 0.05 in 4000 trials, a false alarm in 16,000 seeds.
BAND = 4 * np.sqrt(0.05 * 0.95 / N_TRIALS)


@pytest.mark.slow
@pytest.mark.parametrize("n_topics", [10, 50])
def test_type_1_error_with_normal_differences(n_topics):
    rates = rejection_rates(lambda rng, shape: rng.normal(0, 0.1, shape), n_topics, 21)
    for name in ("t", "wilcoxon", "sign", "randomization"):
        assert rates[name] <= 0.05 + BAND, name
    for name in ("t", "randomization"):
        assert rates[name] >= 0.05 - BAND, name
    # The studentized bootstrap is right in the limit, and cautious with few topics.
    slack = 0.02 if n_topics == 10 else 0.0
    assert 0.05 - BAND - slack <= rates["bootstrap"] <= 0.05 + BAND


@pytest.mark.slow
@pytest.mark.parametrize("n_topics", [10, 50])
def test_type_1_error_with_skewed_scores_of_interchangeable_runs(n_topics):
    def skewed(rng, shape):
        return rng.exponential(0.2, shape) - rng.exponential(0.2, shape)

    rates = rejection_rates(skewed, n_topics, 22)
    for name in ("wilcoxon", "sign", "randomization"):
        assert rates[name] <= 0.05 + BAND, name
    # Heavy tails make t a little conservative with few topics.
    assert 0.05 - BAND - 0.01 <= rates["t"] <= 0.05 + BAND
    assert rates["bootstrap"] <= 0.05 + BAND


@pytest.mark.slow
def test_type_1_error_with_skewed_differences_of_mean_0():
    rates = rejection_rates(lambda rng, shape: rng.exponential(0.2, shape) - 0.2, 50, 23)
    # With 50 exponential differences t rejects in 6.5 % (160,000 trials with SciPy).
    for name in ("t", "randomization"):
        assert abs(rates[name] - 0.065) <= 4 * np.sqrt(0.065 * 0.935 / N_TRIALS), name
    assert abs(rates["bootstrap"] - 0.05) <= BAND
    # These two ask about symmetry and the median: differences of mean 0 have neither here.
    assert min(rates["wilcoxon"], rates["sign"]) > 0.15

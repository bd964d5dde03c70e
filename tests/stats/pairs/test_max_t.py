"""Max-t: the same decisions as a plain loop over steps, and its level where runs are equal.

Who could be first: the same as a plain loop over runs.
"""

from __future__ import annotations

import numpy as np
import pytest
from plain_careful import careful

from steadyrank.compute.random import blocks_of
from steadyrank.stats.pairs import decisions, kernels
from steadyrank.stats.pairs import max_t as max_t_module
from steadyrank.stats.pairs.max_t import could_be_first, max_t
from steadyrank.stats.pairs.resampled import sign_patterns
from steadyrank.stats.pairs.result import NO_DIFFERENCE, all_pairs
from steadyrank.stats.pairs.tests import moments, paired_t
from steadyrank.stats.run_means import adjusted_means


def drawn_signs(n_topics, n_samples, seed=0):
    blocks = blocks_of(n_samples)
    return np.concatenate([sign_patterns(seed, b, n_topics, "largest t") for b in blocks])


def all_t(scores):
    """t of every ordered pair, by its definition."""
    z = scores[:, None] - scores[None]
    with np.errstate(invalid="ignore", divide="ignore"):
        t = z.mean(axis=2) / (z.std(axis=2, ddof=1) / np.sqrt(scores.shape[1]))
    return np.where(np.isnan(t), -np.inf, t)


def all_careful(scores):
    """The careful t of every ordered pair that has the better run first, else 0."""
    found = np.zeros((len(scores), len(scores)))
    for i, j in np.ndindex(found.shape):
        if scores[i].mean() > scores[j].mean():
            found[i, j] = careful(scores[i] - scores[j])
    return found


def stepdown(scores, signs, alpha):
    """Which ordered pairs are rejected, step by step, and the first critical value."""
    observed = all_careful(scores)
    centred = scores - scores.mean(axis=1, keepdims=True)
    flipped = np.array([all_t(centred * pattern) for pattern in signs])
    in_play = ~np.eye(len(scores), dtype=bool)
    rejected = np.zeros_like(in_play)
    place = int(np.ceil((1 - alpha) * (len(signs) + 1) - 1e-9))
    first = None
    while True:
        critical = np.sort(np.where(in_play, flipped, -np.inf).max(axis=(1, 2)))[place - 1]
        first = critical if first is None else first
        new = in_play & (observed > critical)
        if not new.any():
            return rejected, first
        rejected |= new
        in_play &= ~new


def claimed(scores, pairs, pvalue, alpha):
    tests = paired_t(scores, pairs)
    return decisions.claims(tests, pairs, pvalue, np.nanmean(scores, axis=1), alpha)


@pytest.mark.parametrize("n_runs", [2, 3, 40])
def test_counts_without_the_statistics_between_are_the_same_bytes(n_runs):
    """Near-ties, two equal runs and a constant difference among them."""
    rng = np.random.default_rng(n_runs)
    scores = np.round(rng.random((n_runs, 30)), 2)
    scores[-1] = scores[0] if n_runs == 3 else scores[0] + 0.25
    pairs = all_pairs(n_runs)
    observed = max_t_module._observed(scores, pairs, moments(scores, pairs), True)
    family = max_t_module._family(observed.size, moments(scores, pairs).mean, pairs)
    fused = observed.flipped(family.pairs, family.place)
    assert fused.rows is fused.pairs

    def values_between(sums, values):
        kernels.signed_differences(np.ascontiguousarray(sums.T), family.pairs, fused.weight, values)

    stored = max_t_module.of_values(
        family.pairs, lambda signs: (signs @ observed.centred,), values_between
    )
    signs = drawn_signs(30, 150)
    answers = []
    for statistics in (fused, stored):
        counts = np.zeros(len(family.place), np.int64)
        largest = statistics.count_steps(family.observed, signs, counts)
        answers.append((counts.tolist(), largest.tolist()))
    assert answers[0] == answers[1]


def test_progress_is_of_blocks_of_patterns():
    seen = []
    scores = np.random.default_rng(0).random((4, 30))
    max_t(scores, all_pairs(4), n_samples=600, progress=lambda *done: seen.append(done))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_a_limit_of_differences_that_a_pattern_makes_equal_is_endless():
    """Differences of ±1: one pattern in 32 makes all equal, and is the limit at level .04."""
    scores = np.zeros((2, 6))
    scores[0] = [1, -1, 1, -1, 1, -1]
    found = max_t(scores, all_pairs(2), alpha=0.04, n_samples=40)
    assert np.isinf(found.reach).all()
    assert (found.exact, found.n_patterns) == (True, 32)
    assert found.critical.tolist() == [np.inf]


@pytest.mark.parametrize("seed", range(6))
def test_the_same_decisions_as_a_loop_over_steps(seed):
    rng = np.random.default_rng(seed)
    n_topics, n_samples, alpha = 17 + seed, 300, 0.1
    scores = rng.normal(np.linspace(0, 0.8, 6)[:, None], 0.5, (6, n_topics)) + rng.normal(
        size=n_topics
    )
    pairs = all_pairs(6)
    result = max_t(scores, pairs, n_samples=n_samples, alpha=alpha)
    assert not result.exact
    rejected, critical = stepdown(scores, drawn_signs(n_topics, n_samples), alpha)
    wins = decisions.beaten(6, pairs, claimed(scores, pairs, result.pvalue, alpha))
    np.testing.assert_array_equal(wins, rejected)
    np.testing.assert_allclose(result.critical, critical, rtol=1e-10)


def test_the_steps_reject_more_than_the_first():
    rng = np.random.default_rng(4)
    scores = rng.normal(0, 0.3, (6, 30)) + np.array([0, 0.27, 2, 4, 6, 8])[:, None]
    pairs = all_pairs(6)
    result = max_t(scores, pairs, alpha=0.05)
    t = all_careful(scores)[pairs[:, 1], pairs[:, 0]]
    one_step, all_steps = t > result.critical, result.pvalue <= 0.05
    assert one_step.sum() == 14
    assert all_steps.sum() == 15


@pytest.mark.parametrize("seed", range(6))
def test_who_could_be_first_is_a_loop_over_runs(seed):
    rng = np.random.default_rng(seed)
    n_topics, n_samples, alpha = 17 + seed, 300, 0.1
    scores = rng.gamma(2.0, 0.2, (7, n_topics)) + np.linspace(0, 0.4, 7)[:, None]
    observed, expected = all_careful(scores), []
    centred = scores - scores.mean(axis=1, keepdims=True)
    flipped = np.array([all_t(centred * s) for s in drawn_signs(n_topics, n_samples)])
    for run in range(7):
        others = [i for i in range(7) if i != run]
        largest = np.sort(np.maximum(0.0, flipped[:, others, run].max(axis=1)))
        critical = largest[int(np.ceil((1 - alpha) * (n_samples + 1) - 1e-9)) - 1]
        expected.append(bool(observed[others, run].max() <= critical))
    every = could_be_first(scores, np.ones(7, bool), alpha=alpha, n_samples=n_samples)
    together = max_t(scores, all_pairs(7), alpha=alpha, n_samples=n_samples)
    assert every.tolist() == together.first.tolist() == expected
    wins = decisions.beaten(7, all_pairs(7), claimed(scores, all_pairs(7), together.pvalue, alpha))
    assert not (together.first & wins.any(axis=0)).any(), "who is beaten is not first"


def test_gaps_do_not_change_who_could_be_first_by_much():
    """A topic that one run lacks takes the other way through the kernels."""
    rng = np.random.default_rng(3)
    scores = rng.gamma(2.0, 0.2, (9, 40)) + np.linspace(0, 0.4, 9)[:, None]
    whole = max_t(scores, all_pairs(9), n_samples=2000).first
    scores[0, 0] = np.nan
    np.testing.assert_array_equal(max_t(scores, all_pairs(9), n_samples=2000).first, whole)


def test_the_leader_by_adjusted_means_could_always_be_first():
    """Behind on the few topics that it shares with another, ahead on all together."""
    rng = np.random.default_rng(8)
    scores = rng.normal(0.0, 0.05, (4, 30)) + np.linspace(0, 0.1, 4)[:, None]
    scores[3, 8:] = np.nan
    scores[2, :8] += 0.3
    scores[2, 8:] -= 0.3
    found = max_t(scores, all_pairs(4), n_samples=999)
    assert found.first[np.argmax(adjusted_means(scores))]


def test_limits_lie_where_the_careful_t_turns():
    scores = np.random.default_rng(9).gamma(1.0, 0.3, (4, 30))
    pairs = all_pairs(4)
    found = max_t(scores, pairs, n_samples=999)
    z = scores[pairs[:, 0]] - scores[pairs[:, 1]]
    error = z.std(axis=1, ddof=1) / np.sqrt(30)
    for p in range(6):
        for side, sign in ((0, 1.0), (1, -1.0)):
            limit = z[p].mean() - sign * found.reach[p, side] * error[p]
            assert careful(z[p] - limit) == pytest.approx(found.critical[p])
    assert (found.reach >= found.critical[:, None]).all()


def test_skewed_losses_lower_t_and_skewed_gains_do_not():
    """One run loses much on a few topics: what it gains on the others is not to be trusted."""
    z = np.concatenate([np.full(45, 0.02), np.full(5, -0.06)]) + np.linspace(0, 0.001, 50)
    losses, pairs = np.stack([z, np.zeros(50)]), np.array([[0, 1]])
    t = abs(paired_t(losses, pairs).statistic[0])
    assert careful(losses[0] - losses[1]) < 0.8 * t
    assert max_t(losses, pairs).pvalue[0] > max_t(losses, pairs, careful=False).pvalue[0]
    mirrored = -(z - 2 * z.mean())
    gains = np.stack([mirrored, np.zeros(50)])
    assert careful(mirrored) == pytest.approx(t, rel=0.02)
    assert max_t(gains, pairs).pvalue[0] <= max_t(losses, pairs).pvalue[0]


def test_up_to_sixteen_topics_no_figure_depends_on_the_seed():
    scores = np.random.default_rng(1).normal(size=(4, 16))
    found = [max_t(scores, all_pairs(4), seed=seed, n_samples=100) for seed in (0, 1)]
    assert found[0].exact
    assert found[0].n_patterns == 2**15
    assert found[0].pvalue.tolist() == found[1].pvalue.tolist()


def test_few_topics_are_enumerated():
    scores = np.random.default_rng(1).normal(size=(4, 8))
    result = max_t(scores, all_pairs(4))
    assert (result.n_patterns, result.exact) == (128, True)
    other = max_t(scores, all_pairs(4), seed=99)
    np.testing.assert_array_equal(result.pvalue, other.pvalue)


def test_five_topics_cannot_show_anything():
    scores = np.arange(4)[:, None] + np.random.default_rng(1).normal(0, 1e-3, (4, 5))
    result = max_t(scores, all_pairs(4))
    assert result.n_patterns == 16
    assert (result.pvalue > 0.05).all()
    assert np.isinf(result.critical).all()


def test_identical_and_constant_pairs():
    base = np.random.default_rng(2).normal(size=20)
    scores = np.stack([base, base, base + 1.0, np.random.default_rng(3).normal(size=20)])
    pairs = all_pairs(4)
    result = max_t(scores, pairs, n_samples=999)
    tests = paired_t(scores, pairs)
    assert tests.flag[0] == NO_DIFFERENCE
    assert result.pvalue[0] == 1.0
    assert result.pvalue[1] == 1 / 1000  # a constant difference: infinite t, the smallest p
    assert np.isfinite(result.critical).all()


def test_orders_of_runs_topics_and_threads_change_nothing():
    rng = np.random.default_rng(4)
    scores = rng.normal(np.linspace(0, 0.5, 7)[:, None], 0.4, (7, 25))
    pairs = all_pairs(7)
    result = max_t(scores, pairs, n_samples=2000, jobs=1)
    np.testing.assert_array_equal(
        result.pvalue, max_t(scores, pairs, n_samples=2000, jobs=4).pvalue
    )
    order = rng.permutation(7)
    again = max_t(scores[order], np.argsort(order)[pairs], n_samples=2000)
    np.testing.assert_array_equal(result.pvalue, again.pvalue)
    swapped = max_t(scores, pairs[:, ::-1], n_samples=2000)
    np.testing.assert_array_equal(result.pvalue, swapped.pvalue)


def test_a_run_with_few_topics_does_not_set_the_limit_for_all():
    rng = np.random.default_rng(5)
    scores = rng.normal(np.linspace(0, 0.8, 8)[:, None], 0.4, (8, 40))
    pairs = all_pairs(8)
    whole = max_t(scores, pairs, n_samples=2000)
    scores[3, 8:] = np.nan
    gaps = max_t(scores, pairs, n_samples=2000)
    others = (pairs != 3).all(axis=1)
    assert gaps.critical[others] == pytest.approx(whole.critical[others], rel=0.1)
    assert (gaps.critical[~others] > 1.2 * gaps.critical[others].max()).all()
    scores[3, 5:] = np.nan
    assert (max_t(scores, pairs, n_samples=500).pvalue[~others] == 1.0).all()


def test_missing_topics_that_no_run_has_are_no_topics():
    rng = np.random.default_rng(6)
    scores = rng.normal(np.linspace(0, 0.8, 5)[:, None], 0.4, (5, 13))
    with_empty = np.concatenate([scores, np.full((5, 1), np.nan)], axis=1)
    exact = max_t(scores, all_pairs(5), n_samples=8000)
    assert exact.exact
    found = max_t(with_empty, all_pairs(5), n_samples=8000)
    np.testing.assert_allclose(found.pvalue, exact.pvalue, atol=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["normal", "skewed", "gaps"])
@pytest.mark.parametrize(("n_runs", "n_topics"), [(10, 10), (10, 25), (30, 25)])
def test_a_false_claim_among_equal_runs_is_as_rare_as_alpha(kind, n_runs, n_topics):
    # 200 experiments: at a true level of .05 more than 22 happen once in 2,500.
    rng = np.random.default_rng([n_runs, n_topics])
    false = 0
    for trial in range(200):
        scores = rng.normal(size=(n_runs, n_topics))
        if kind == "skewed":
            scores = rng.exponential(size=(n_runs, n_topics)) * rng.exponential(size=n_topics)
        if kind == "gaps":
            scores[rng.random(scores.shape) < 0.1] = np.nan
        found = max_t(scores, all_pairs(n_runs), n_samples=499, seed=trial, jobs=1)
        false += bool((found.pvalue <= 0.05).any())
    assert false <= 22

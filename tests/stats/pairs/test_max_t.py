"""Max-t: the same decisions as a plain loop over steps, and its level where runs are equal."""

from __future__ import annotations

import numpy as np
import pytest
from plain_order import adjusted, corrected, of_scores, ordered, own, reach, stepdown

from steadyrank.compute.random import blocks_of
from steadyrank.stats.pairs import decisions, kernels
from steadyrank.stats.pairs import max_t as max_t_module
from steadyrank.stats.pairs.corrected_t import corrected_t, variance_floor
from steadyrank.stats.pairs.max_t import max_t, max_t_pvalues
from steadyrank.stats.pairs.result import NO_DIFFERENCE, all_pairs
from steadyrank.stats.pairs.sign_flips import sign_patterns
from steadyrank.stats.pairs.tests import paired_t
from steadyrank.stats.run_means import adjusted_means, in_order


def drawn_signs(n_topics, n_samples, seed=0):
    """The patterns that are drawn, and their negatives."""
    blocks = blocks_of(n_samples)
    drawn = [sign_patterns(seed, b, n_topics, "largest t") for b in blocks]
    return np.concatenate([*drawn, *(-one for one in drawn)])


def better_first(scores, pairs):
    means = scores.mean(axis=1)
    return [(a, b) if means[a] > means[b] else (b, a) for a, b in pairs.tolist()]


def own_of(found, scores, alpha=0.05):
    """Rank sets and tiers by own families."""
    pairs, means = all_pairs(len(scores)), np.nanmean(scores, axis=1)
    direction = np.sign(means[pairs[:, 0]] - means[pairs[:, 1]])
    claimed = decisions.own_claims(direction, pairs, found.own, means, alpha)
    names = [f"r{i}" for i in range(len(scores))]
    return decisions.own_decisions(pairs, claimed, means, in_order(means, names))


def close_runs(seed, n_runs=6, n_topics=18):
    rng = np.random.default_rng(seed)
    scores = rng.gamma(2.0, 0.2, (n_runs, n_topics)) + np.linspace(0, 0.8, n_runs)[:, None]
    return scores + rng.normal(size=n_topics)


@pytest.mark.parametrize("seed", range(8))
def test_both_levels_decide_as_loops_over_steps(seed):
    n_topics, n_samples, alpha = 16 + seed, 300, 0.1
    scores = close_runs(seed, n_topics=n_topics)
    signs = drawn_signs(n_topics, n_samples)
    if n_topics == 16:
        signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * 16)).reshape(16, -1).T
    observed, error, g, null = of_scores(scores, signs)
    pairs = all_pairs(6)
    a, b = np.argsort(-scores.mean(axis=1))[:2].tolist()
    found = max_t(scores, pairs, n_samples=n_samples, alpha=alpha, leads=[(a, b)])
    assert found.exact == (n_topics == 16)
    rejected, first, decided = stepdown(observed, null, ordered(6), alpha)
    better = better_first(scores, pairs)
    assert {pair for pair, p in zip(better, found.pvalue, strict=True) if p <= alpha} == rejected
    np.testing.assert_allclose(found.critical, first, rtol=1e-9)
    expected = adjusted(observed, null, ordered(6))
    np.testing.assert_allclose(found.pvalue, [expected[pair] for pair in better])
    np.testing.assert_allclose(max_t_pvalues(scores, pairs, n_samples=n_samples), found.pvalue)
    for pair, (i, j) in enumerate(better):
        inner = decided[i, j] if (i, j) in rejected else first
        down, up = reach(inner, g[i, j], n_topics), reach(first, -g[i, j], n_topics)
        sides = [down, up] if (i, j) == tuple(pairs[pair]) else [up, down]
        np.testing.assert_allclose(found.width[pair], np.array(sides) * error[i, j], rtol=1e-9)
    for run in range(6):
        alone, _, own_decided = stepdown(observed, null, own(6, run), alpha)
        side = np.argmax(pairs == run, axis=1)
        ours = {
            better[p]
            for p in np.flatnonzero((pairs == run).any(axis=1))
            if found.own[p, side[p]] <= alpha
        }
        assert ours == alone
        assert {pair for pair in rejected if run in pair} <= alone, "nested"
        if run == b:
            lead = reach(own_decided[a, b], g[a, b], n_topics) * error[a, b]
            assert found.lead_width[0, 0] == pytest.approx(lead, rel=1e-9)


def test_counts_without_the_statistics_between_are_the_same_bytes():
    """Near-ties, two equal runs and a constant difference among them."""
    rng = np.random.default_rng(3)
    scores = np.round(rng.random((9, 30)), 2)
    scores[-1], scores[-2] = scores[0], scores[1] + 0.25
    pairs = all_pairs(9)
    observed = max_t_module._of_scores(scores, pairs, None, careful=True)
    walk = max_t_module._walk(observed, pairs, {"n_samples": 150})
    better = walk.ordered
    centred = (scores - scores.mean(axis=1, keepdims=True)).T

    def values_between(sums, values):
        weight = walk.statistics.weight
        kernels.signed_differences(np.ascontiguousarray(sums.T), better, weight, values)

    stored = max_t_module._of_values(len(better), lambda s: (s @ centred,), values_between)
    families = max_t_module._families(better, 9)
    answers = []
    for statistics in (walk.statistics, stored):
        counts, largest = np.zeros(len(families.members), np.int64), []
        for values in statistics.values(drawn_signs(30, 150)[:150]):
            largest.append(np.empty((2, values.shape[1])))
            figures = (walk.observed, families.members, families.starts, 0, counts, largest[-1])
            kernels.step_counts(values, statistics.rows, statistics.weight, *figures)
        answers.append((counts.tolist(), np.concatenate(largest, axis=1).tolist()))
    assert answers[0] == answers[1]


@pytest.mark.parametrize("seed", range(30))
def test_own_families_contain_what_all_pairs_claim(seed):
    """Few topics, near-copies, constant differences: whatever the table, sets are nested."""
    rng = np.random.default_rng(seed)
    n_runs, n_topics = int(rng.integers(3, 9)), int(rng.integers(5, 14))
    scores = rng.gamma(0.5, 0.3, (n_runs, n_topics)) + rng.normal(0, 0.4, (n_runs, 1))
    scores[1] = scores[0] + rng.normal(0, 0.01, n_topics)
    if seed % 3 == 0:
        scores[2] = scores[0] + 0.1
    pairs = all_pairs(n_runs)
    found = max_t(scores, pairs)
    assert (found.own <= found.pvalue[:, None] + 1e-12)[found.pvalue <= 0.05].all()
    mine, means = own_of(found, scores), scores.mean(axis=1)
    direction = np.sign(means[pairs[:, 0]] - means[pairs[:, 1]])
    claimed = decisions.claims_of(direction, pairs, found.pvalue, means, 0.05)
    whole = decisions.rank_sets(decisions.beaten(n_runs, pairs, claimed))
    assert (mine.rank_set[:, 0] >= whole[:, 0]).all()
    assert (mine.rank_set[:, 1] <= whole[:, 1]).all()
    assert (mine.tier[mine.could_be_first] == 1).all()
    down = mine.tier[np.argsort(-means, kind="stable")]
    assert (np.diff(down) >= 0).all()
    assert mine.could_be_first[np.argmax(means)]
    limits = (means[pairs[:, 0]] - means[pairs[:, 1]])[:, None] + found.width * [-1, 1]
    excludes = (limits[:, 0] > 0) | (limits[:, 1] < 0)
    assert (excludes == (found.pvalue <= 0.05)).all()


def test_the_leader_line_agrees_with_who_could_be_first():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        scores = rng.exponential(0.2, (5, 9)) + np.array([0.35, 0.1, 0.0, 0.0, 0.0])[:, None]
        a, b = np.argsort(-scores.mean(axis=1))[:2].tolist()
        found = max_t(scores, all_pairs(5), leads=[(a, b)])
        low = scores[a].mean() - scores[b].mean() - found.lead_width[0, 0]
        assert own_of(found, scores).could_be_first[b] == (low <= 0)


def test_gaps_do_not_change_ranks_by_much():
    """A topic that one run lacks takes the other way through the kernels."""
    scores = close_runs(3, n_runs=9, n_topics=40)
    whole = own_of(max_t(scores, all_pairs(9), n_samples=2000), scores).rank_set
    scores[0, 0] = np.nan
    gaps = own_of(max_t(scores, all_pairs(9), n_samples=2000), scores).rank_set
    assert np.abs(whole - gaps).max() <= 1


def test_the_leader_by_adjusted_means_could_always_be_first():
    """Behind on the few topics that it shares with another, ahead on all together."""
    rng = np.random.default_rng(8)
    scores = rng.normal(0.0, 0.05, (4, 30)) + np.linspace(0, 0.1, 4)[:, None]
    scores[3, 8:] = np.nan
    scores[2, :8] += 0.3
    scores[2, 8:] -= 0.3
    pairs, means = all_pairs(4), adjusted_means(scores)
    found = max_t(scores, pairs, n_samples=999)
    direction = np.sign(paired_t(scores, pairs).difference)
    claimed = decisions.own_claims(direction, pairs, found.own, means, 0.05)
    own_ = decisions.own_decisions(pairs, claimed, means, in_order(means, list("abcd")))
    assert own_.could_be_first[np.argmax(means)]


def test_skewed_losses_lower_t_and_skewed_gains_do_not():
    """One run loses much on a few topics: what it gains on the others is not to be trusted."""
    z = np.concatenate([np.full(45, 0.02), np.full(5, -0.06)]) + np.linspace(0, 0.001, 50)
    losses, gains = np.stack([z, np.zeros(50)]), np.stack([-(z - 2 * z.mean()), np.zeros(50)])
    t, pairs = abs(paired_t(losses, np.array([[0, 1]])).statistic[0]), np.array([[0, 1]])
    e = z - z.mean()
    g = (e**3).sum() / (e**2).sum() ** 1.5
    assert corrected(t, g, 50) < 0.9 * t
    assert corrected(t, -g, 50) == pytest.approx(t)
    careful, plain = (max_t(losses, pairs, careful=is_careful) for is_careful in (True, False))
    assert careful.pvalue[0] > paired_t(losses, pairs).pvalue[0]
    assert plain.n_patterns > careful.n_patterns == 0
    assert max_t(gains, pairs).pvalue[0] < careful.pvalue[0]


def test_the_corrected_t_is_inverted_exactly():
    for t in (0.01, 0.5, 2.0, 9.0):
        for g in (-0.6, 0.0, 0.1, 0.6):
            for n in (2, 5, 30, 400):
                ours = corrected_t(np.array([t, -t]), np.array([g, -g]), n)
                assert ours == pytest.approx(corrected(t, g, n), abs=1e-12)
    assert corrected_t(np.array([np.inf]), np.array([0.0]), 9).tolist() == [np.inf]


def test_two_runs_alone_have_students_quantile_and_no_floor():
    from scipy import stats

    scores = close_runs(5, n_runs=2, n_topics=25)
    z = scores[0] - scores[1]
    e = z - z.mean()
    g = (e**3).sum() / (e**2).sum() ** 1.5 * np.sign(z.mean())
    t = stats.ttest_1samp(z, 0.0).statistic
    found = max_t(scores, all_pairs(2))
    assert found.pvalue[0] == pytest.approx(2 * stats.t.sf(corrected(t, g, 25), 24))
    half = reach(stats.t.isf(0.025, 24), g, 25) * z.std(ddof=1) / 5
    assert found.width[0, int(z.mean() < 0)] == pytest.approx(half)
    assert variance_floor(np.array([1.0])) == 0.0


def test_a_baseline_has_the_floor_of_all_pairs():
    scores = close_runs(7)
    pairs = np.array([[run, 0] for run in range(1, 6)])
    family = [pair for pair in ordered(6) if 0 in pair]
    observed, _, _, null = of_scores(scores, drawn_signs(18, 400))
    expected = adjusted(observed, null, family)
    found = max_t(scores, pairs, n_samples=400)
    ours = dict(zip(better_first(scores, pairs), found.pvalue, strict=True))
    assert ours == pytest.approx({pair: expected[pair] for pair in ours})


def test_up_to_sixteen_topics_no_figure_depends_on_the_seed():
    scores = np.random.default_rng(1).normal(size=(4, 16))
    found = [max_t(scores, all_pairs(4), seed=seed, n_samples=100) for seed in (0, 1)]
    assert found[0].exact
    assert found[0].n_patterns == 2**16
    assert found[0].pvalue.tolist() == found[1].pvalue.tolist()


def test_four_topics_cannot_show_anything_and_five_can():
    scores = np.arange(4)[:, None] + np.random.default_rng(1).normal(0, 1e-3, (4, 5))
    few = max_t(scores[:, :4], all_pairs(4))
    assert (few.n_patterns, few.exact) == (16, True)
    assert (few.pvalue > 0.05).all()
    assert np.isinf(few.critical).all()
    assert np.isinf(few.width).all()
    five = max_t(scores, all_pairs(4))
    assert five.least_pvalue == five.pvalue.min() == 1 / 33


def test_identical_and_constant_pairs():
    base = np.random.default_rng(2).normal(size=20)
    scores = np.stack([base, base, base + 1.0, np.random.default_rng(3).normal(size=20)])
    pairs = all_pairs(4)
    result = max_t(scores, pairs, n_samples=999)
    assert paired_t(scores, pairs).flag[0] == NO_DIFFERENCE
    assert result.pvalue[0] == 1.0
    assert result.pvalue[1] < 0.05, "a constant difference has the floor as its variance"
    assert np.isfinite(result.width).all()
    alone = max_t(scores[1:3], all_pairs(2))
    assert (alone.pvalue[0], alone.width.tolist()) == (0.0, [[0.0, 0.0]])


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
    scores[3, 4:] = np.nan
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
@pytest.mark.parametrize(("n_runs", "n_topics"), [(10, 6), (10, 10), (10, 25), (30, 25)])
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


@pytest.mark.slow
@pytest.mark.parametrize("n_topics", [10, 25])
def test_own_rank_sets_hold_the_true_rank_of_each_run(n_topics):
    """Runs tied in fives; 300 experiments of 15 runs: .95 less 4 errors of dependent runs."""
    rng = np.random.default_rng(n_topics)
    true = np.repeat([0.0, 0.4, 0.8], 5)
    low, high = np.repeat([11, 6, 1], 5), np.repeat([15, 10, 5], 5)
    held = np.zeros(15)
    for trial in range(300):
        scores = rng.normal(true[:, None], 1.0, (15, n_topics)) * rng.gamma(4, 0.25, n_topics)
        found = own_of(max_t(scores, all_pairs(15), n_samples=299, seed=trial, jobs=1), scores)
        held += (found.rank_set[:, 0] <= low) & (found.rank_set[:, 1] >= high)
    assert held.min() / 300 >= 0.9

"""Marks, letters, rank sets and intervals tell one family of decisions."""

from __future__ import annotations

import numpy as np
import pytest

from steadyrank.stats.pairs import decisions
from steadyrank.stats.pairs.decisions import adjust
from steadyrank.stats.pairs.max_t import max_t
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tests import paired_t, wilcoxon


def near_ties(rng, n_runs, n_topics, gap):
    """Scores of runs whose neighbours differ by `gap` standard errors of a difference."""
    true = np.arange(n_runs)[::-1] * gap * np.sqrt(2 / n_topics)
    return rng.normal(true[:, None], 1.0, (n_runs, n_topics)), true


def sets_of(scores, alpha=0.05, **options):
    pairs = all_pairs(len(scores))
    found = max_t(scores, pairs, alpha=alpha, **options)
    claimed = decisions.claims(
        paired_t(scores, pairs), pairs, found.pvalue, scores.mean(axis=1), alpha
    )
    return decisions.rank_sets(decisions.beaten(len(scores), pairs, claimed))


@pytest.mark.parametrize(("n_runs", "n_topics"), [(10, 25), (30, 25)])
@pytest.mark.parametrize("gap", [0.0, 0.1, 0.5])
def test_rank_sets_hold_all_true_ranks_at_once_where_runs_are_close(n_runs, n_topics, gap):
    # 100 experiments: at a true confidence of .95 fewer than 86 happen once in 2,000.
    rng = np.random.default_rng([n_runs, n_topics, int(10 * gap)])
    held = leader = 0
    for trial in range(100):
        scores, true = near_ties(rng, n_runs, n_topics, gap)
        low, high = sets_of(scores, n_samples=499, seed=trial, jobs=1).T
        best = 1 + (true[None] > true[:, None]).sum(axis=1)
        worst = n_runs - (true[None] < true[:, None]).sum(axis=1)
        inside = (low <= best) & (worst <= high)
        held += inside.all()
        leader += low[0] == 1
    assert held >= 86
    assert leader >= 86


def test_a_run_that_always_wins_is_first():
    scores = np.random.default_rng(0).random((6, 40))
    scores[3] = scores.max(axis=0) + 0.1
    sets = sets_of(scores)
    assert sets[3].tolist() == [1, 1]
    assert (np.delete(sets, 3, axis=0)[:, 0] >= 2).all()


def test_identical_runs_may_have_every_rank():
    scores = np.tile(np.random.default_rng(1).random(20), (3, 1))
    assert sets_of(scores).tolist() == [[1, 3]] * 3


def test_nothing_is_claimed_against_the_means():
    # One large loss against many small wins: ranks speak for the run with the lower mean.
    z = np.concatenate([np.full(30, 0.1) + np.arange(30) * 1e-3, [-9.0]])
    scores, pairs = np.stack([z, np.zeros(31)]), np.array([[0, 1]])
    test = wilcoxon(scores, pairs)
    assert test.pvalue[0] < 0.01
    assert test.direction.tolist() == [1.0]
    assert test.difference[0] < 0
    means = scores.mean(axis=1)
    assert decisions.claims(test, pairs, test.pvalue, means, 0.05).tolist() == [0]


@pytest.mark.parametrize("correction", ["none", "holm", "bonferroni", "bh"])
def test_the_level_of_an_interval_suits_the_correction(correction):
    rng = np.random.default_rng(7)
    for _ in range(200):
        pvalues = rng.random(12) ** 3
        level = decisions.comparison_alpha(pvalues, correction, 0.05)
        significant = adjust(pvalues, correction) <= 0.05
        excluded = pvalues <= level
        if correction == "holm":
            assert (excluded <= significant).all()  # the first step; later ones add claims
        else:
            np.testing.assert_array_equal(excluded, significant)


def test_intervals_agree_with_claims():
    limits = np.array([[-1.0, 2.0], [0.5, 1.0], [0.5, 1.0], [-2.0, -1.0], [-np.inf, np.inf]])
    claimed = np.array([1, 1, 0, 0, -1])
    low, high = decisions.agreeing_intervals(limits, claimed).T
    np.testing.assert_array_equal((low > 0) | (high < 0), claimed != 0)
    assert limits[1].tolist() == [low[1], high[1]]
    assert high[0] == 2.0
    assert low[4] == -np.inf

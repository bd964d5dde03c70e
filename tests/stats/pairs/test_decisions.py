"""Corrected p-values against R and statsmodels; marks, letters, rank sets and intervals."""

from __future__ import annotations

import numpy as np
import pytest
from golden_cases import golden
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_tables import refused
from statsmodels.stats.multitest import multipletests

from steadyrank.stats.pairs import decisions
from steadyrank.stats.pairs.decisions import adjust, compact_letters
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
    low, high = decisions.agreeing_intervals(limits, claimed, 1.5).T
    assert [low[1], high[1]] == limits[1].tolist()
    assert ([low[2], high[3]]) == [0.0, 0.0], "nothing is claimed"
    # What the tests do not bound, or what is beyond the scale, is no number.
    assert np.isnan([low[0], high[0], low[3], low[4], high[4]]).all()


def plain_tiers(order, lost):
    """A tier goes down to the last run that its first run does not beat."""
    tier, left, number = {}, list(order), 1
    while left:
        last = max(k for k, run in enumerate(left) if not lost[left[0], run])
        tier |= dict.fromkeys(left[: last + 1], number)
        left, number = left[last + 1 :], number + 1
    return tier


def test_tiers_never_fall_and_hold_every_run_that_could_be_first():
    rng = np.random.default_rng(5)
    pairs = all_pairs(8)
    for _ in range(60):
        means = np.round(rng.random(8), 1)
        gap = means[pairs[:, 0]] - means[pairs[:, 1]]
        claimed = np.sign(gap)[:, None] * (rng.random((28, 2)) < 0.6) * (np.abs(gap) > 0.2)[:, None]
        order = sorted(range(8), key=lambda run: (-means[run], run))
        own = decisions.own_decisions(pairs, claimed.astype(int), means, order)
        lost = np.zeros((8, 8), bool)
        for (a, b), (first, second) in zip(pairs, claimed, strict=True):
            lost[a, b], lost[b, a] = second > 0, first < 0
        assert own.tier.tolist() == [plain_tiers(order, lost)[run] for run in range(8)]
        assert (np.diff(own.tier[order]) >= 0).all()
        assert (own.tier[own.could_be_first] == 1).all()
        assert (own.rank_set[:, 0] == 1 + lost.sum(axis=0)).all()


def test_runs_without_a_mean_have_no_tier():
    nothing = np.zeros((1, 2), int)
    own = decisions.own_decisions(all_pairs(2), nothing, np.array([np.nan, 0.5]), [1])
    assert own.tier.tolist() == [0, 1]


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "bh", "none"])
def test_own_pvalues_correct_each_runs_pairs_and_are_nested(correction):
    rng = np.random.default_rng(3)
    pairs, pvalues = all_pairs(6), rng.random(15) ** 4
    pvalues[4] = np.nan
    own = decisions.own_pvalues(pvalues, pairs, 6, correction)
    for run in range(6):
        places, sides = np.nonzero(pairs == run)
        known = correction in ("holm", "bonferroni")
        alone = (
            adjust(pvalues[places], correction) if known else adjust(pvalues, correction)[places]
        )
        np.testing.assert_allclose(own[places, sides], alone)
    assert (own <= adjust(pvalues, correction)[:, None] + 1e-15)[~np.isnan(pvalues)].all()


def test_step_levels_are_where_holm_decides():
    rng = np.random.default_rng(4)
    for _ in range(100):
        pvalues = rng.random(9) ** 3
        levels = decisions.step_levels(pvalues, "holm", 0.05)
        np.testing.assert_array_equal(pvalues <= levels, adjust(pvalues, "holm") <= 0.05)
        assert levels.min() >= 0.05 / 9


CASE = golden("p_adjust")


def numbers(values):
    return np.array([np.nan if value is None else value for value in values])


@pytest.mark.parametrize("method", ["bonferroni", "holm", "bh"])
def test_adjusted_as_by_r(method):
    found = adjust(numbers(CASE["inputs"]["p"]), method)
    np.testing.assert_allclose(found, numbers(CASE["expected"][method]), atol=CASE["tolerance"])


@pytest.mark.parametrize(
    ("method", "theirs"), [("bonferroni", "bonferroni"), ("holm", "holm"), ("bh", "fdr_bh")]
)
@pytest.mark.parametrize("size", [1, 2, 17, 500])
def test_adjusted_as_by_statsmodels(method, theirs, size):
    p = np.random.default_rng(size).random(size) ** 3
    np.testing.assert_allclose(adjust(p, method), multipletests(p, method=theirs)[1], rtol=1e-12)


def test_missing_values_do_not_count_and_the_input_is_kept():
    p = np.array([[0.01, np.nan], [0.02, np.nan]])
    np.testing.assert_allclose(adjust(p, "bonferroni"), [[0.02, np.nan], [0.04, np.nan]])
    assert p[0, 0] == 0.01
    assert np.isnan(adjust([np.nan, np.nan], "holm")).all()
    assert adjust([], "bh").shape == (0,)


def test_wrong_input_is_refused():
    refused("did you mean 'holm'", adjust, [0.1], "hollm")
    refused("between 0 and 1, got 1.5", adjust, [0.1, 1.5], "none")


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.integers(1, 9), st.integers(0, 2**36 - 1))
def test_runs_share_a_letter_exactly_if_not_told_apart(n, bits):
    different = np.zeros((n, n), bool)
    for k, (i, j) in enumerate(zip(*np.triu_indices(n, 1), strict=True)):
        different[i, j] = different[j, i] = bits >> k & 1
    letters = compact_letters(different, np.arange(n))
    for i in range(n):
        assert letters[i]
        for j in range(i + 1, n):
            assert bool(set(letters[i]) & set(letters[j])) != different[i, j]


def test_the_best_run_has_the_first_letter():
    different = ~np.eye(3, dtype=bool)
    assert compact_letters(different, np.array([2, 0, 1])) == ["b", "c", "a"]


def test_more_groups_than_letters():
    assert compact_letters(~np.eye(26, dtype=bool), np.arange(26))[25] == "z"
    assert compact_letters(~np.eye(27, dtype=bool), np.arange(27)) is None
    rng = np.random.default_rng(0)
    half = np.triu(rng.random((60, 60)) < 0.5, 1)
    assert compact_letters(half | half.T, np.arange(60)) is None

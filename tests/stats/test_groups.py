"""Letters and rank intervals say what the tests and the topics say."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from steadyrank.stats.groups import compact_letters, rank_intervals


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


def test_a_run_that_always_wins_has_no_other_rank():
    rng = np.random.default_rng(0)
    scores = rng.random((6, 40))
    scores[3] = scores.max(axis=0) + 0.1
    intervals = rank_intervals(scores)
    assert intervals[3].tolist() == [1, 1]
    others = np.delete(intervals, 3, axis=0)
    assert (others[:, 0] >= 2).all()
    assert (others[:, 0] < others[:, 1]).all()


def test_identical_runs_share_their_ranks_and_missing_cells_are_left_out():
    scores = np.tile(np.random.default_rng(1).random(20), (3, 1))
    assert (rank_intervals(scores) == [2, 2]).all()
    scores[0, :5] = np.nan
    assert rank_intervals(scores).shape == (3, 2)


def test_the_interval_covers_the_true_rank_about_as_often_as_it_says():
    # 5 runs whose true means are 0.1 apart with noise of sd 0.5 over 50 topics. Percentile
    # intervals of ranks are conservative: at least 95 % of 5 x 60 must cover; with a true
    # coverage of 0.97 fewer than 0.93 happen once in 10,000.
    rng = np.random.default_rng(2)
    covered = []
    for trial in range(60):
        scores = rng.normal(np.arange(5)[::-1, None] * 0.1, 0.5, (5, 50))
        low, high = rank_intervals(scores, n_samples=400, seed=trial).T
        covered += [(low <= np.arange(1, 6)) & (np.arange(1, 6) <= high)]
    assert np.mean(covered) > 0.93

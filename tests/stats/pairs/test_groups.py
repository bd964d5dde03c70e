"""Letters say what the tests say."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from steadyrank.stats.pairs.decisions import compact_letters


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

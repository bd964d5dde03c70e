"""Tukey's tests hold their level for all pairs together where no run differs."""

from __future__ import annotations

import numpy as np
import pytest

from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tukey import randomized_tukey, tukey_hsd

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

"""Aggregates against pandas, and ranks over completions against all of them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from plain_tables import refused

from steadyrank.stats.datasets import borda_points, columns_of, completion_ranks, type_weights
from steadyrank.stats.run_means import ranks_of


def with_gaps(seed, shape=(5, 7), share=0.2):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 6, shape) / 5.0
    return np.where(rng.random(shape) < share, np.nan, scores)


@pytest.mark.parametrize("seed", range(5))
def test_borda_is_mtebs(seed):
    """Its leaderboard: n - rank(method="average", ascending=False), absent ones summed as 0."""
    scores = with_gaps(seed)
    frame = pd.DataFrame(scores)
    expected = len(frame) - frame.rank(method="average", ascending=False)
    np.testing.assert_allclose(borda_points(scores), expected.to_numpy())


@pytest.mark.parametrize("seed", range(5))
def test_wins_are_counted(seed):
    scores = with_gaps(seed)
    found = columns_of(scores, "wins").values
    for k, column in enumerate(scores.T):
        for i, own in enumerate(column):
            others = [x for j, x in enumerate(column) if j != i and not np.isnan(x)]
            if np.isnan(own):
                assert np.isnan(found[i, k])
            elif others:
                expected = np.mean([(own > x) + 0.5 * (own == x) for x in others])
                assert found[i, k] == pytest.approx(expected)


def test_every_type_weighs_the_same():
    types = ["a", "b", "a", "c", "a", "b"]
    scores = np.random.default_rng(1).random((3, 6))
    columns = columns_of(scores, "mean-of-types", types)
    by_type = pd.DataFrame(scores.T).groupby(types).mean().mean()
    np.testing.assert_allclose(columns.values @ columns.weight, by_type)
    refused("type of every dataset", type_weights, [], 6)


@pytest.mark.parametrize("seed", range(6))
def test_ranks_over_completions_are_those_of_all_completions(seed):
    """Completions at the ends of the ranges suffice: values grow with every score."""
    scores = with_gaps(seed, (4, 4), 0.25)
    scores[:, 0] = np.random.default_rng(seed).random(4)
    scores = scores[:, ~np.isnan(scores).all(axis=0)]
    weight = np.random.default_rng(seed + 9).dirichlet(np.ones(scores.shape[1]))
    holes = np.argwhere(np.isnan(scores))
    low, high = np.nanmin(scores, axis=0), np.nanmax(scores, axis=0)
    best, worst = np.full(4, 9), np.zeros(4, int)
    for ends in product((0, 1), repeat=len(holes)):
        full = scores.copy()
        for (i, k), end in zip(holes, ends, strict=True):
            full[i, k] = (low, high)[end][k]
        ranks = ranks_of(full @ weight)
        best, worst = np.minimum(best, ranks), np.maximum(worst, ranks)
    assert completion_ranks(scores, weight).tolist() == np.stack([best, worst], axis=1).tolist()

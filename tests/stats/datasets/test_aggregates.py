"""Aggregates against pandas, completions, and Friedman's test against SciPy and Demšar."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from plain_tables import refused
from scipy import stats

from steadyrank.stats.datasets import (
    borda_points,
    columns_of,
    completion_ranks,
    critical_difference,
    friedman,
    type_weights,
)
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


DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
).T
"""JMLR 7, 2006, Table 6: four classifiers on 14 datasets (one tie broken as its ranks are)."""

NEMENYI = (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164)
"""Table 5a of the same, alpha 0.05: 2 to 10 classifiers."""


def test_average_ranks_and_critical_difference_are_the_published_ones():
    found = friedman(DEMSAR)
    assert found.average_rank.round(3).tolist() == [3.143, 2.0, 2.893, 1.964]
    # The paper's chi-square does not correct for ties.
    plain = 12 * 14 / (4 * 5) * (np.square(found.average_rank).sum() - 4 * 25 / 4)
    assert plain == pytest.approx(9.28, abs=0.005)
    assert found.critical_difference == pytest.approx(1.25, abs=0.005)


@pytest.mark.parametrize(("n_runs", "q"), list(enumerate(NEMENYI, start=2)))
def test_nemenyi_has_the_tables_quantiles(n_runs, q):
    unit = np.sqrt(n_runs * (n_runs + 1) / 6.0)
    assert critical_difference(n_runs, 1, 0.05) / unit == pytest.approx(q, abs=0.0015)


def test_the_statistic_is_scipys_ties_included():
    rng = np.random.default_rng(1)
    for _ in range(10):
        scores = rng.integers(0, 5, (5, 12)).astype(float)
        peer = stats.friedmanchisquare(*scores)
        found = friedman(scores)
        assert (found.statistic, found.pvalue) == pytest.approx((peer.statistic, peer.pvalue))


def test_equal_runs_do_not_differ_and_gaps_are_refused():
    assert friedman(np.ones((3, 4))).pvalue == 1.0
    refused("complete", friedman, np.array([[1.0, np.nan], [1.0, 2.0]]))

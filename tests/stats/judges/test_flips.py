"""Flips of two kinds of topics: the same as a plain loop, and right where nothing differs."""

from __future__ import annotations

import numpy as np
import pytest
from plain_order import corrected, floor_of, ordered, own, stepdown

from steadyrank.compute.random import blocks_of
from steadyrank.stats.judges.corrected import (
    CorrectedParts,
    JudgedScores,
    Weight,
    corrected_parts,
    rank_runs,
    shared_weight,
)
from steadyrank.stats.pairs.kernels import unit_statistics
from steadyrank.stats.pairs.max_t import max_t
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.sign_flips import sign_patterns

N_RUNS, N, N_MORE = 5, 9, 21


def two_parts(seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    better = shift * np.arange(N_RUNS)[:, None]
    human = rng.normal(size=(N_RUNS, N + N_MORE)) + better
    judge = 0.8 * human + 0.4 * rng.normal(size=human.shape)
    scores = JudgedScores(human=human[:, :N], judge=judge[:, :N], more=judge[:, N:])
    return corrected_parts(scores, shared_weight(scores))


def moments_of(own_part, further, paid):
    """Mean and variance of every ordered pair by their definition, [run, run]."""
    differences = [part[:, None] - part[None] for part in (own_part, further)]
    variance = differences[1].var(axis=2, ddof=1) / N_MORE
    variance = variance + differences[0].var(axis=2, ddof=1) / N * (N - 1) / (N - 1 - paid)
    return sum(each.mean(axis=2) for each in differences), variance


def t_of_all(own_part, further, added):
    mean, variance = moments_of(own_part, further, paid=0)
    np.fill_diagonal(variance, 1.0)
    return np.where(np.eye(N_RUNS, dtype=bool), -np.inf, mean / np.sqrt(variance + added))


def draws_of(parts, i, j):
    """Welch and Satterthwaite's degrees of freedom of a pair, plus one."""
    mine, further = (part[i] - part[j] for part in (parts.residual, parts.followed))
    first, second = further.var(ddof=1) / N_MORE, mine.var(ddof=1) / N * (N - 1) / (N - 2)
    return (first + second) ** 2 / (first**2 / (N_MORE - 1) + second**2 / (N - 1))


def floor_of_all(parts):
    """What every pair's variance gains, [run, run]."""
    _, variance = moments_of(parts.residual, parts.followed, paid=1)
    n = np.ones((N_RUNS, N_RUNS))
    for i, j in all_pairs(N_RUNS):
        n[i, j] = n[j, i] = draws_of(parts, i, j)
    upper = np.triu_indices(N_RUNS, 1)
    with np.errstate(divide="ignore"):
        return np.where(n > 1, floor_of((variance * n)[upper]) / n / (n - 1), 0.0)


def corrected_of_all(parts):
    """The corrected t of every ordered pair; 0 for the worse run first."""
    mean, variance = moments_of(parts.residual, parts.followed, paid=1)
    added, found = floor_of_all(parts), np.zeros((N_RUNS, N_RUNS))
    for i, j in np.argwhere(mean > 0.0):
        mine, further = (part[i] - part[j] for part in (parts.residual, parts.followed))
        # What each topic adds to the difference of the corrected means.
        off = np.concatenate([(mine - mine.mean()) / N, (further - further.mean()) / N_MORE])
        widened = variance[i, j] + added[i, j]
        skewness = (off**3).sum() / (off**2).sum() ** 1.5 * (variance[i, j] / widened) ** 1.5
        found[i, j] = corrected(mean[i, j] / np.sqrt(widened), skewness, draws_of(parts, i, j))
    return found


@pytest.mark.parametrize("seed", range(6))
def test_the_same_decisions_as_a_loop_over_steps(seed):
    parts = two_parts(seed, shift=0.5)
    signs = np.concatenate(
        [sign_patterns(3, block, N + N_MORE, "largest t") for block in blocks_of(300)]
    )
    places = np.random.default_rng(seed).permutation(N + N_MORE)
    observed, added = corrected_of_all(parts), floor_of_all(parts)
    mine, further = (
        part - part.mean(axis=1, keepdims=True) for part in (parts.residual, parts.followed)
    )
    turned = np.concatenate([signs, -signs])[:, places]
    null = np.array([t_of_all(mine * s[:N], further * s[N:], added) for s in turned])
    rejected, critical, _ = stepdown(observed, null, ordered(N_RUNS), 0.1)
    found = rank_runs(parts, places=places, alpha=0.1, n_samples=300, seed=3, jobs=1)
    pairs = all_pairs(N_RUNS).tolist()
    expected = np.array([((i, j) in rejected) - ((j, i) in rejected) for i, j in pairs])
    assert found.claimed.tolist() == expected.tolist()
    assert np.abs(expected).sum() > 0
    first = np.abs(found.interval[:, 1] - found.difference)[expected == 0]
    assert (first >= critical * found.error[expected == 0] * (1 - 1e-9)).all()
    for run in range(N_RUNS):
        alone, _, _ = stepdown(observed, null, own(N_RUNS, run), 0.1)
        worse, better = (sum(pair[side] == run for pair in alone) for side in (1, 0))
        assert found.rank_set[run].tolist() == [1 + worse, N_RUNS - better]
        assert {pair for pair in rejected if run in pair} <= alone, "own families contain it"


def test_one_part_is_ruled_by_max_t():
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(4, 20))
    parts = CorrectedParts(
        residual=scores, followed=scores[:, :0], weight=Weight(value=0.0, is_estimated=False)
    )
    found = rank_runs(parts, places=np.arange(20), alpha=0.05, n_samples=400, seed=5, jobs=1)
    expected = max_t(scores, all_pairs(4), n_samples=400, seed=5)
    assert found.pvalue_adjusted.tolist() == expected.pvalue.tolist()


def test_a_part_that_hardly_counts_changes_nothing_but_what_lambda_costs():
    """With a tiny second part the statistic is that of people's topics alone."""
    rng = np.random.default_rng(4)
    scores = rng.normal(np.linspace(0, 1.5, 4)[:, None], 1.0, (4, 30))
    tiny = 1e-9 * rng.normal(size=(4, 50))
    parts = CorrectedParts(
        residual=scores, followed=tiny, weight=Weight(value=1e-9, is_estimated=False)
    )
    found = rank_runs(parts, places=np.arange(80), alpha=0.05, n_samples=4000, seed=5)
    expected = max_t(scores, all_pairs(4), n_samples=4000, seed=5)
    # Other signs: p-values agree within 4 Monte Carlo errors, one false alarm in 2,500.
    error = np.sqrt(2 * expected.pvalue * (1 - expected.pvalue) / 4000) + 1e-3
    assert (np.abs(found.pvalue_adjusted - expected.pvalue) < 4 * error).all()


def test_identical_runs_share_their_rank_and_a_constant_difference_has_the_floor():
    parts = two_parts(seed=1)
    residual, followed = parts.residual.copy(), parts.followed.copy()
    residual[1], followed[1] = residual[0], followed[0]
    residual[2], followed[2] = residual[0] + 0.25, followed[0]
    same = CorrectedParts(residual=residual, followed=followed, weight=parts.weight)
    found = rank_runs(same, places=np.arange(30), alpha=0.05, n_samples=500, seed=0, jobs=1)
    place = {tuple(pair): p for p, pair in enumerate(all_pairs(N_RUNS).tolist())}
    assert found.difference[place[0, 1]] == 0.0
    assert found.pvalue[place[0, 1]] == found.pvalue_adjusted[place[0, 1]] == 1.0
    low, high = found.interval[place[0, 1]]
    assert low == -high < 0.0, "the floor is the variance of runs without a difference"
    assert found.pvalue[place[0, 2]] == 0.0
    low, high = found.interval[place[0, 2]]
    assert low < -0.25 < high, "among several runs a constant difference has the floor's error"
    assert found.rank[0] == found.rank[1]


def test_a_pattern_that_leaves_no_spread_has_an_endless_statistic():
    """Differences of ±1 on every topic: some patterns make them all equal."""
    residual = np.zeros((2, 5))
    residual[0] = [1, -1, 1, -1, 0]
    followed = np.zeros((2, 4))
    followed[0] = [1, -1, 1, -1]
    values, pairs = np.empty((1, 2)), np.array([[0, 1]])
    sizes = np.array([5.0, 4.0])
    own = np.stack([residual.sum(axis=1), np.array([5.0, 0.0])]) / 5.0
    further = np.stack([followed.sum(axis=1), np.array([4.0, 0.0])]) / 4.0
    sums, factor = np.stack([own, further], axis=1), sizes / (sizes - 1.0)
    squares = (factor * np.array([5.0, 4.0]) / sizes**2)[:, None]
    cross = sums * (factor / sizes)[:, None]
    by_run = (np.ascontiguousarray(each.transpose(1, 2, 0)) for each in (sums, cross))
    unit_statistics(*by_run, pairs, squares, factor / sizes, values)
    assert values[0].tolist() == [0.0, np.inf]

"""Forecasts of swapped pairs: against the formula pair by pair, and against what happens."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
import pytest
from scipy import optimize, stats

import steadyrank as sr
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.planning.reversal import share_of, swap_chances, swap_constant, swap_share


def t_and_df(z):
    """Of the differences of a pair, as SciPy has them."""
    z = z[~np.isnan(z)]
    found = stats.ttest_1samp(z, 0.0)
    return abs(found.statistic), len(z) - 1


def by_hand(scores):
    """Constant and chances of all pairs, each quantity once more by another way."""
    pairs = list(itertools.combinations(range(len(scores)), 2))
    known = [t_and_df(scores[a] - scores[b]) for a, b in pairs]
    p = np.mean([2 * stats.t.sf(t, df) for t, df in known])
    rho = math.cos(math.pi * p)
    share = 0.5 if rho <= 0 else math.acos(2 * rho / (1 + rho)) / math.pi

    def surplus(c):
        return np.mean([stats.t.cdf(-c * t, df) for t, df in known]) - share

    own = (
        1.0
        if surplus(1.0) > 0
        else 0.02
        if surplus(0.02) < 0
        else optimize.brentq(surplus, 0.02, 1)
    )
    weight = (len(scores) - 2) / (len(scores) - 2 + 3)
    constant = math.exp(weight * math.log(own) + (1 - weight) * math.log(0.65))
    return constant, np.array([stats.t.cdf(-constant * t, df) for t, df in known])


@pytest.mark.parametrize("spread", [0.0, 0.05, 0.3, 3.0])
@pytest.mark.parametrize("shape", [(2, 10), (3, 8), (7, 40)])
def test_it_is_the_formula(spread, shape):
    rng = np.random.default_rng(7)
    scores = rng.normal(size=shape) + spread * rng.normal(size=(shape[0], 1))
    pairs = all_pairs(len(scores))
    constant, chances = by_hand(scores)
    found = swap_chances(scores, pairs)
    np.testing.assert_allclose(found, chances, rtol=1e-7)
    np.testing.assert_allclose(swap_chances(scores, pairs[:1, ::-1]), chances[:1], rtol=1e-7)
    t, df = np.array([t_and_df(scores[a] - scores[b]) for a, b in pairs]).T
    assert swap_constant(t, df, len(scores)) == pytest.approx(constant, rel=1e-7)
    assert swap_share(scores) == pytest.approx(chances.mean(), rel=1e-7)


def test_pairs_have_the_topics_that_both_have():
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(5, 20)) + 0.3 * rng.normal(size=(5, 1))
    scores[0, :6] = scores[3, 4:15] = np.nan
    np.testing.assert_allclose(swap_chances(scores, all_pairs(5)), by_hand(scores)[1], rtol=1e-7)


def test_ends():
    """Equal means swap like coins and stay out of shares; constant differences never swap."""
    base = np.array([0.2, 0.4, 0.3, 0.5])
    scores = np.array([base, base[::-1], base + 0.1, np.full(4, np.nan)])
    chances = swap_chances(scores, all_pairs(4))
    assert chances[:2].tolist() == [0.5, 0.0]
    assert np.isnan(chances[[2, 4, 5]]).all()
    assert swap_share(scores) == chances[[1, 3]].mean()
    assert math.isnan(swap_share(scores[:2]))
    assert math.isnan(share_of(np.array([0.1]), np.array([0.0])))
    assert swap_constant(np.array([]), np.array([]), 3) == 0.65


def test_of_many_pairs_a_sample_is_enough():
    """44,850 pairs in one table; the constant of every 11th by size is the same."""
    t, df = np.sort(np.abs(np.random.default_rng(5).normal(0, 3, 44_850))), np.full(44_850, 49.0)
    every = swap_constant(t[::-1], df, 300)
    assert every == pytest.approx(swap_constant(t[5::11], df[5::11], 300), rel=2e-3)


MATRICES = {
    "a track, AP": lambda: track_scores()[0],
    "a track, nDCG@10": lambda: track_scores()[1],
    "the built-in runs": lambda: builtin_scores(),
    "close runs": lambda: drawn_scores(30, 60, 0.02),
    "equal runs": lambda: drawn_scores(30, 60, 0.0),
    "a long tail": lambda: drawn_scores(60, 40, 0.1, law="exponential"),
}


@cache
def track_scores():
    track = sr.simulated_track(n_teams=12, runs_per_team=3, n_topics=80, depth=50, pool_depth=25)
    return sr.evaluate(track.runs, track.complete, ["AP", "nDCG@10"]).values


def builtin_scores():
    runs = sr.builtin_runs(depth=20)
    return sr.evaluate(runs, sr.builtin_collection().qrels, "nDCG@10").values[0]


def drawn_scores(n_runs, n_topics, spread, law="normal"):
    rng = np.random.default_rng(11)
    true = spread * getattr(rng, law)(size=(n_runs, 1))
    return true + rng.normal(0, 0.15, (n_runs, n_topics)) + rng.normal(0, 0.2, n_topics)


@pytest.mark.parametrize("name", MATRICES)
def test_forecasts_of_halves_come_true(name):
    """Forecast from one half, counted on the other, in 60 splits: within a factor of 1.2."""
    scores = MATRICES[name]()
    n_topics = scores.shape[1] // 2
    rng = np.random.default_rng(2)
    said, happened = [], []
    for _ in range(60):
        order = rng.permutation(scores.shape[1])
        here, there = (scores[:, part] for part in np.split(order[: 2 * n_topics], 2))
        a, b = all_pairs(len(scores)).T
        ahead, again = (x.mean(axis=1)[a] - x.mean(axis=1)[b] for x in (here, there))
        has_order = np.abs(ahead) > 1e-12
        said.append(swap_share(here))
        happened.append(np.mean(0.5 - 0.5 * np.sign(ahead * again)[has_order]))
    assert 1 / 1.2 < np.mean(said) / np.mean(happened) < 1.2, (np.mean(said), np.mean(happened))

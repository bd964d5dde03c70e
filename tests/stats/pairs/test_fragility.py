"""The fewest topics that carry a lead, against all subsets."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from steadyrank.stats.pairs.fragility import NO_LEAD, carried, fragility
from steadyrank.stats.run_means import SAME_MEAN


def fewest_by_enumeration(difference, weights, clusters):
    """The least number of clusters whose topics, left out, leave no lead."""
    there = ~np.isnan(difference)
    total = (weights * difference)[there].sum()
    if abs(total) <= SAME_MEAN * weights.sum():
        return NO_LEAD
    units = np.unique(clusters[there])
    for k in range(1, len(units) + 1):
        for dropped in itertools.combinations(units, k):
            left = there & ~np.isin(clusters, dropped)
            if np.sign(total) * (weights * difference)[left].sum() <= SAME_MEAN * weights.sum():
                return k
    raise AssertionError("without any topic there is no lead")


@pytest.mark.parametrize("kind", ["plain", "weights", "clusters", "gaps", "ties", "all"])
def test_the_fewest_of_all_subsets(kind):
    rng = np.random.default_rng(3)
    for n in (1, 2, 5, 9, 12):
        scores = rng.random((4, n)) + np.linspace(0.2, 0.0, 4)[:, None]
        if kind in ("ties", "all"):
            scores = np.round(scores * 4) / 4
        if kind in ("gaps", "all"):
            scores[rng.random(scores.shape) < 0.2] = np.nan
        weights = rng.integers(1, 4, n) * 0.5 if kind in ("weights", "all") else np.ones(n)
        clusters = rng.integers(0, 4, n) if kind in ("clusters", "all") else np.arange(n)
        pairs = np.array(list(itertools.combinations(range(4), 2)))
        found = fragility(scores, pairs, weights, clusters)
        for (a, b), k in zip(pairs, found, strict=True):
            difference = scores[a] - scores[b]
            assert k == fewest_by_enumeration(difference, weights, clusters), (n, a, b)
            named = carried(difference, weights, clusters)
            assert len(named.units) == max(k, 0)
            if k > 0:
                left = ~np.isnan(difference) & ~np.isin(clusters, named.units)
                total = np.nansum(weights * difference)
                rest = (weights * difference)[left].sum()
                assert np.sign(total) * rest <= SAME_MEAN * weights.sum()


def test_many_pairs_by_sorting():
    rng = np.random.default_rng(0)
    scores = rng.beta(1, 3, (40, 150)) + np.linspace(0.3, 0.0, 40)[:, None]
    pairs = np.array(list(itertools.combinations(range(40), 2)))
    found = fragility(scores, pairs)
    assert found.tolist() == [len(carried(scores[a] - scores[b]).units) for a, b in pairs]


def test_every_topic_favours_the_first():
    scores = np.array([[0.5, 0.6, 0.7], [0.4, 0.5, 0.6]])
    assert fragility(scores, np.array([[0, 1], [1, 0]])).tolist() == [3, 3]
    assert carried(scores[0] - scores[1]) == ([0, 1, 2], 3)


def test_two_runs_without_a_lead_or_a_shared_topic():
    scores = np.array([[0.5, np.nan], [np.nan, 0.4], [0.5, 0.1]])
    pairs = np.array([[0, 1], [0, 2], [1, 2]])
    assert fragility(scores, pairs).tolist() == [NO_LEAD, NO_LEAD, 1]


def test_a_gate_names_the_topics_that_carry_it():
    import steadyrank as sr

    rng = np.random.default_rng(2)
    old = rng.random(30) * 0.2
    new = old + 0.03 + rng.normal(0, 0.05, 30)
    sides = [
        sr.Scores(measures=["AP"], runs=[name], topics=range(30), values=[[values]])
        for name, values in (("old", old), ("new", new))
    ]
    (row,) = sr.gate(*sides, measures="AP", margin=0.02).rows()
    dropped = [int(topic) for topic in row["fragility"]["topics"]]
    assert row["verdict"] == "pass"
    assert len(dropped) == row["fragility"]["n"]
    gaps = new - old
    assert np.delete(gaps, dropped).mean() <= -0.02
    assert np.delete(gaps, dropped[:-1]).mean() > -0.02

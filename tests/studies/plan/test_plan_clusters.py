"""Pilots whose topics come in clusters: design effects, and the topics that follow."""

from __future__ import annotations

import math

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.stats.pairs.topic_design import design_effect, mean_difference

CLUSTERS = np.repeat(np.arange(40), [2, 3, 4, 3] * 10)


def pilot(share, seed=0, n_runs=6):
    """Differences of runs of which this share of the variance is the cluster's."""
    rng = np.random.default_rng(seed)
    own = rng.normal(0, math.sqrt(1 - share), (n_runs, len(CLUSTERS)))
    own += rng.normal(0, math.sqrt(share), (n_runs, 40))[:, CLUSTERS]
    values = 0.5 + 0.1 * own + rng.normal(0, 0.1, len(CLUSTERS))
    topics = [f"t{i}" for i in range(len(CLUSTERS))]
    runs = [f"r{i}" for i in range(n_runs)]
    made = sr.Scores(measures=["AP"], runs=runs, topics=topics, values=[values])
    return made.with_topic_info(cluster=CLUSTERS)


DEMANDS = {"method": "ttest", "minimum_difference": 0.03}


def test_the_effect_on_differences_is_that_of_all_pairs():
    matrix = pilot(0.5).matrix()
    fits = [
        mean_difference(matrix[i] - matrix[j], clusters=CLUSTERS)
        for i in range(6)
        for j in range(i)
    ]
    plain = sum(fit.variance / fit.design_effect for fit in fits)
    expected = sum(fit.variance for fit in fits) / plain
    row = sr.plan(pilot(0.5), **DEMANDS).plans[0]
    assert row.design_effect == pytest.approx(expected, rel=1e-9)
    assert row.design_effect != pytest.approx(design_effect(matrix, CLUSTERS), rel=1e-3)


def test_the_effect_is_near_the_true_one():
    """1 + rho (mean squared size / mean size - 1); over 30 pilots within 4 standard errors."""
    sizes = np.bincount(CLUSTERS)
    truth = 1 + 0.5 * ((sizes**2).mean() / sizes.mean() - 1)
    effects = [sr.plan(pilot(0.5, seed), **DEMANDS).plans[0].design_effect for seed in range(30)]
    assert np.mean(effects) == pytest.approx(truth, abs=4 * np.std(effects) / math.sqrt(30))


def test_topics_and_clusters_follow():
    alone = sr.plan(pilot(0.5).select(topics=None), **DEMANDS).plans[0]
    row = sr.plan(pilot(0.5), **DEMANDS).plans[0]
    assert row.topics == alone.topics
    assert row.topics_clustered == math.ceil(row.topics_assured * row.design_effect)
    assert row.clusters == math.ceil(row.topics_clustered / 3)
    given = sr.plan(pilot(0.5), n_topics=100, **DEMANDS).plans[0]
    assert (given.topics_clustered, given.clusters) == (None, None)
    assert given.design_effect == row.design_effect
    text = str(sr.plan(pilot(0.5), **DEMANDS))
    assert "clustered topics" in text
    assert f"{row.topics_clustered} in {row.clusters} clusters (design effect" in text


def test_clusters_by_chance_save_no_topics():
    effects = [sr.plan(pilot(0.0, seed), **DEMANDS).plans[0] for seed in range(8)]
    lucky = min(effects, key=lambda row: row.design_effect)
    assert lucky.design_effect < 1
    assert lucky.topics_clustered == lucky.topics_assured > lucky.topics


def test_pilots_without_clusters_have_no_effect():
    scores = pilot(0.5)
    bare = sr.Scores(
        measures=scores.measures, runs=scores.runs, topics=scores.topics, values=scores.values
    )
    row = sr.plan(bare, **DEMANDS).plans[0]
    assert (row.design_effect, row.topics_clustered, row.clusters) == (None, None, None)


def test_what_weights_leave_of_the_topics_is_said():
    """Simulated variances of plain and of weighted means have the ratio that the note says."""
    weights = np.r_[np.full(10, 100.0), np.ones(110)]
    plain = pilot(0.0)
    weighted = plain.with_topic_info(weight=weights)
    row = sr.plan(weighted, **DEMANDS).plans[0]
    assert row.topics == sr.plan(plain, **DEMANDS).plans[0].topics
    assert sr.plan(plain, **DEMANDS).plans[0].effective_topics is None
    scores = np.random.default_rng(1).normal(size=(20_000, 120))
    means = [scores.mean(axis=1), np.average(scores, axis=1, weights=weights)]
    ratio = np.var(means[1]) / np.var(means[0])
    assert 120 / row.effective_topics == pytest.approx(ratio, rel=0.05)
    said = f"120 weighted topics are worth {row.effective_topics:.1f}: weighted means require"
    assert said in str(sr.plan(weighted, **DEMANDS))

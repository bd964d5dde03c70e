"""Sign flips and bootstrap of clusters, against the same computed plainly, pattern by pattern."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from plain_order import adjusted, corrected, floor_of, ordered

from steadyrank.compute.random import blocks_of
from steadyrank.stats.pairs.max_t import unit_max_t
from steadyrank.stats.pairs.resampled import (
    bootstrap_t_limits,
    flip_limits,
    randomization,
    studentized_bootstrap,
    topic_draws,
)
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.topic_design import TopicDesign, cluster_sums


def world(n_clusters, seed=0, n_runs=3):
    """Runs on clusters of 1, 2 and 4 topics in turn, with weights."""
    rng = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(n_clusters), np.resize([1, 2, 4], n_clusters))
    scores = rng.normal(0.4, 0.1, (n_runs, len(clusters)))
    scores += rng.normal(0, 0.1, (n_runs, n_clusters))[:, clusters]
    scores[-1] += 0.08
    return scores, TopicDesign(clusters=clusters, weights=rng.uniform(0.5, 2.0, len(clusters)))


def clusters_max_t(units, pairs, **flips):
    return unit_max_t(units, pairs, is_centred=False, **flips)


def plain_sums(d, design):
    w = design.weights / design.weights.sum()
    return np.bincount(design.clusters, w * d), np.bincount(design.clusters, w)


def plain_t(sums, share, added=0.0):
    """The mean over its standard error."""
    mean, n = sums.sum(), len(sums)
    return mean / np.sqrt(n / (n - 1) * ((sums - share * mean) ** 2).sum() + added)


def plain_corrected(sums, share, added):
    """The corrected t, with as many equal clusters as these are worth."""
    off, n, m = sums - share * sums.sum(), 1.0 / (share**2).sum(), len(sums)
    least = m / (m - 1) * (off**2).sum()
    skewness = (off**3).sum() / (off**2).sum() ** 1.5 * (least / (least + added)) ** 1.5
    t = plain_t(sums, share, added)
    return corrected(t, np.sign(t) * skewness, n)


def test_randomization_is_that_of_all_flips_of_clusters():
    scores, design = world(9)
    pairs = all_pairs(3)
    tests = randomization(scores, pairs, design=design, n_samples=999, seed=0)
    for p, (a, b) in enumerate(pairs):
        sums, _ = plain_sums(scores[a] - scores[b], design)
        flips = [abs(np.dot(s, sums)) for s in itertools.product((-1, 1), repeat=9)]
        extreme = np.mean(np.array(flips) >= abs(sums.sum()) - 1e-12)
        assert tests.pvalue[p] == pytest.approx(extreme)


def test_limits_of_the_inverted_randomization_are_where_the_test_turns():
    scores, design = world(25)
    how = {"design": design, "n_samples": 999, "seed": 3}
    (low, high) = flip_limits(scores, np.array([[0, 2]]), alpha=0.05, **how)[0]
    for limit, inward in ((low, 1e-6), (high, -1e-6)):
        for shift, rejects in ((limit + inward, False), (limit - inward, True)):
            shifted = scores.copy()
            shifted[0] -= shift
            moved = cluster_sums(shifted, design).sums * 25
            p = randomization(moved, np.array([[0, 2]]), n_samples=999, seed=3).pvalue[0]
            assert (p <= 0.05) == rejects


def test_max_t_is_that_of_all_flips_of_clusters():
    scores, design = world(8, seed=4)
    pairs = all_pairs(3)
    together = clusters_max_t(cluster_sums(scores, design), pairs, n_samples=999)
    share = plain_sums(scores[0], design)[1]
    sums = {(a, b): plain_sums(scores[a] - scores[b], design)[0] for a, b in ordered(3)}
    n = 1 / (share**2).sum()
    variances = [8 / 7 * ((sums[a, b] - share * sums[a, b].sum()) ** 2).sum() for a, b in pairs]
    added = floor_of(np.array(variances) * n) / n / (n - 1)
    patterns = np.array(list(itertools.product((-1, 1), repeat=8)))
    null, observed = np.zeros((256, 3, 3)), np.zeros((3, 3))
    for (a, b), own in sums.items():
        null[:, a, b] = [plain_t(own * signs, share, added) for signs in patterns]
        observed[a, b] = plain_corrected(own, share, added) if own.sum() > 0 else 0.0
    expected = adjusted(observed, null, ordered(3))
    better = [(a, b) if sums[a, b].sum() > 0 else (b, a) for a, b in pairs.tolist()]
    assert (together.n_patterns, together.exact) == (256, True)
    assert together.pvalue == pytest.approx([expected[pair] for pair in better])
    limit = np.sort(null.max(axis=(1, 2)))[::-1][int(0.05 * 257) - 1]
    assert together.critical == pytest.approx(np.full(3, limit))


def test_bootstrap_is_that_of_drawn_clusters():
    scores, design = world(12, seed=5)
    pairs = np.array([[2, 0]])
    how = {"design": design, "n_samples": 200, "seed": 9}
    test = studentized_bootstrap(scores, pairs, **how)
    sums, share = plain_sums(scores[2] - scores[0], design)
    factor = np.sqrt(12 / 11)
    observed = plain_t(sums, share)
    drawn = np.concatenate([topic_draws(9, block, 12, "clusters") for block in blocks_of(200)])
    t_star = []
    for counts in drawn.astype(int):
        members = np.repeat(np.arange(12), counts)
        mean = sums[members].sum() / share[members].sum()
        off = sums[members] - share[members] * mean
        error = factor * np.sqrt((off**2).sum()) / share[members].sum()
        t_star.append((mean - sums.sum()) / error)
    t_star = np.array(t_star)
    assert test.statistic[0] == pytest.approx(observed)
    assert test.pvalue[0] == pytest.approx((1 + (np.abs(t_star) >= observed).sum()) / 201)
    limits = bootstrap_t_limits(scores, pairs, alpha=0.05, **how)[0]
    half = np.sort(np.abs(t_star))[200 - 10] * sums.sum() / observed
    assert limits == pytest.approx([sums.sum() - half, sums.sum() + half])


def test_bootstrap_and_flips_of_single_topics_need_no_clusters():
    scores, _ = world(15, seed=6)
    scores = scores[:, :15]
    pairs, design = all_pairs(3), TopicDesign(clusters=np.arange(15))
    flips = randomization(scores, pairs, design=design, n_samples=99, seed=0)
    assert flips.pvalue == pytest.approx(randomization(scores, pairs).pvalue)


@pytest.mark.parametrize("n_clusters", [10, 20])
def test_equal_runs_on_few_unequal_clusters_are_rarely_told_apart(n_clusters):
    """At level .05, 200 trials: 20 or fewer with a chance of all but .1 %."""
    clusters = np.repeat(np.arange(n_clusters), np.resize([1, 3, 11], n_clusters))
    design, pairs, wrong = TopicDesign(clusters=clusters), all_pairs(4), 0
    for trial in range(200):
        rng = np.random.default_rng(trial)
        scores = rng.normal(0, 0.1, (4, len(clusters)))
        scores += rng.normal(0, 0.1, (4, n_clusters))[:, clusters]
        together = clusters_max_t(cluster_sums(scores, design), pairs, n_samples=499, jobs=1)
        wrong += together.pvalue.min() <= 0.05
    assert wrong <= 20

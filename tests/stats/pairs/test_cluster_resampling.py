"""Sign flips and bootstrap of clusters, against the same computed plainly, pattern by pattern."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from plain_careful import lowered

from steadyrank.compute.random import blocks_of
from steadyrank.stats.pairs.resampled import (
    bootstrap_t_limits,
    flip_limits,
    randomization,
    studentized_bootstrap,
    topic_draws,
)
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tests import paired_t
from steadyrank.stats.pairs.topic_design import TopicDesign, cluster_sums
from steadyrank.stats.pairs.unit_max_t import unit_max_t


def world(n_clusters, seed=0, n_runs=3):
    """Runs on clusters of 1, 2 and 4 topics in turn, with weights."""
    rng = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(n_clusters), np.resize([1, 2, 4], n_clusters))
    scores = rng.normal(0.4, 0.1, (n_runs, len(clusters)))
    scores += rng.normal(0, 0.1, (n_runs, n_clusters))[:, clusters]
    scores[-1] += 0.08
    return scores, TopicDesign(clusters=clusters, weights=rng.uniform(0.5, 2.0, len(clusters)))


def clusters_max_t(units, pairs, errors, **flips):
    return unit_max_t(units, pairs, is_centred=False, errors=errors, **flips)


def plain_sums(d, design):
    w = design.weights / design.weights.sum()
    return np.bincount(design.clusters, w * d), np.bincount(design.clusters, w)


def plain_t(sums, share):
    """The mean over its standard error."""
    mean, n = sums.sum(), len(sums)
    return mean / np.sqrt(n / (n - 1) * ((sums - share * mean) ** 2).sum())


def plain_careful(sums, share):
    """The careful t, with as many equal clusters as these are worth."""
    off, n = sums - share * sums.sum(), 1.0 / (share**2).sum()
    skewness = (off**3).sum() / (off**2).sum() ** 1.5
    return lowered(plain_t(sums, share), skewness * np.sqrt(n), n)


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
    errors = paired_t(scores, pairs, design).standard_error
    together = clusters_max_t(cluster_sums(scores, design), pairs, errors, n_samples=999)
    sums = [plain_sums(scores[a] - scores[b], design)[0] for a, b in pairs]
    share = plain_sums(scores[0], design)[1]
    directed = np.sign([own.sum() for own in sums])
    observed = np.array([plain_careful(own, share) for own in sums])
    patterns = list(itertools.product((-1, 1), repeat=8))
    flipped = np.array([[plain_t(own * s, share) for own in sums] for s in patterns]) * directed
    order = np.argsort(-np.abs(observed))
    expected, last = np.empty(3), 0.0
    for step, p in enumerate(order):
        # The other direction of a pair is never rejected, and so always in play.
        most = np.maximum(flipped[:, order[step:]].max(axis=1), (-flipped).max(axis=1))
        count = (most >= abs(observed[p]) * (1 - 1e-12)).sum() / 2
        last = max(last, (1 + count) / (1 + 128))
        expected[p] = last
    assert (together.n_patterns, together.exact) == (128, True)
    assert together.pvalue == pytest.approx(expected)
    limit = np.sort(np.abs(flipped).max(axis=1))[int(np.ceil(0.95 * 129)) * 2 - 1]
    # The critical value counts the standard errors of the tests.
    own = [np.sqrt(8 / 7 * ((s - share * s.sum()) ** 2).sum()) for s in sums]
    assert together.critical * errors == pytest.approx(limit * np.array(own))


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


@pytest.mark.parametrize("jobs", [1, 3])
def test_any_number_of_threads_gives_the_same_bytes(jobs):
    scores, design = world(30, seed=7, n_runs=5)
    pairs = all_pairs(5)
    units, base = cluster_sums(scores, design), paired_t(scores, pairs, design)
    how = {"n_samples": 2000, "seed": 1}
    one = studentized_bootstrap(scores, pairs, design=design, jobs=jobs, **how)
    other = studentized_bootstrap(scores, pairs, design=design, jobs=2, **how)
    assert one.pvalue.tobytes() == other.pvalue.tobytes()
    first = clusters_max_t(units, pairs, base.standard_error, jobs=jobs, **how)
    second = clusters_max_t(units, pairs, base.standard_error, jobs=2, **how)
    assert first.critical.tobytes() == second.critical.tobytes()
    assert first.pvalue.tobytes() == second.pvalue.tobytes()


@pytest.mark.parametrize("n_clusters", [10, 20])
def test_equal_runs_on_few_unequal_clusters_are_rarely_told_apart(n_clusters):
    """At level .05, 200 trials: 20 or fewer with a chance of all but .1 %."""
    clusters = np.repeat(np.arange(n_clusters), np.resize([1, 3, 11], n_clusters))
    design, pairs, wrong = TopicDesign(clusters=clusters), all_pairs(4), 0
    for trial in range(200):
        rng = np.random.default_rng(trial)
        scores = rng.normal(0, 0.1, (4, len(clusters)))
        scores += rng.normal(0, 0.1, (4, n_clusters))[:, clusters]
        errors = paired_t(scores, pairs, design).standard_error
        units = cluster_sums(scores, design)
        together = clusters_max_t(units, pairs, errors, n_samples=499, jobs=1)
        wrong += together.pvalue.min() <= 0.05
    assert wrong <= 20

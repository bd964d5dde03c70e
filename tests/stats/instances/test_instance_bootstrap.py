from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from golden_cases import golden_case
from plain_tables import refused
from scipy import stats

from steadyrank.stats.instances import kernels as instance_kernels
from steadyrank.stats.instances.bootstrap import (
    _drawn_differences,
    _instances,
    _key,
    _systems,
    algorithm_two,
    two_way_bootstrap,
)
from steadyrank.stats.pairs.resampled import topic_draws


def made(n_instances, n_topics, seed=1, effect=0.03, instance=0.02):
    rng = np.random.default_rng(seed)
    topics = rng.normal(effect, 0.08, n_topics)
    instances = rng.normal(0, instance, (n_instances, 1))
    return topics + instances + rng.normal(0, 0.06, (n_instances, n_topics))


def packed(indices, n_topics):
    """Positions as the kernels take them, two a word; what is past the end lies at zeros."""
    n_words = instance_kernels.words_of(n_topics)
    positions = np.full((len(indices), 2 * n_words), 2 * n_topics, np.uint64)
    positions[:, :n_topics] = 2 * np.asarray(indices)
    words = positions[:, ::2] | (positions[:, 1::2] << np.uint64(32))
    return np.ascontiguousarray(words.reshape(-1))


def drawn_indices(seed, place, n_samples, n_topics):
    """The topics that each resample of an instance draws, [resample, topic]."""
    n_words, together = instance_kernels.words_of(n_topics), instance_kernels.TOGETHER
    words, positions = np.empty((2, together * n_words), np.uint64)
    found = []
    for block in range(-(-n_samples // together)):
        key = np.uint64(_key(seed))
        instance_kernels.drawn_positions(key, place, block, n_topics, n_words, words, positions)
        both = np.stack([positions & np.uint64(0xFFFFFFFF), positions >> np.uint64(32)], axis=1)
        rows = both.reshape(together, 2 * n_words)
        assert (rows[:, n_topics:] == 2 * n_topics).all()
        found.append(rows[:, :n_topics] // 2)
    return np.concatenate(found)[:n_samples].astype(int)


def t_of(samples):
    mean = samples.mean(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = mean / (samples.std(axis=-1, ddof=1) / np.sqrt(samples.shape[-1]))
    return np.where(np.ptp(samples, axis=-1) < 1e-14, np.copysign(np.inf, mean), t)


def listing(d, indices, *, paper):
    """Algorithm 2 line by line, with the count that the listing lacks."""
    t_z = t_of(np.nanmean(d, axis=0))
    count, stars = 0, []
    for row, drawn in zip(d, indices, strict=True):
        z = row[~np.isnan(row)]
        samples = z[drawn]
        shift = samples.mean(axis=1).mean() if paper else z.mean()
        t_star = t_of(samples - shift)
        stars.append(t_star)
        count += (np.abs(t_star) >= abs(t_z)).sum()
    return t_z, count, stars


def test_the_golden_resamples():
    inputs, expected, tolerance = golden_case("bootstrap_alg2_fixed_indices")
    d = np.array(inputs["instances"]) - np.array(inputs["b"])
    assert algorithm_two(d).statistic == pytest.approx(expected["t_obs"], rel=tolerance)
    found, extreme, above = _instances(d), 0, 0
    for m, indices in enumerate(inputs["indices"]):
        sums, squares = np.empty((2, len(indices)))
        n_words = instance_kernels.words_of(12)
        instance_kernels.sums_at(found.entries[m], packed(indices, 12), n_words, sums, squares)
        shift = (sums / 12).mean()
        assert shift + d[m].mean() == pytest.approx(expected["shift"][m], rel=tolerance)
        instance_kernels.turn_to_t(sums, squares, 12, shift, found.largest[m])
        np.testing.assert_allclose(sums, expected["t_star"][m], rtol=1e-9, atol=tolerance)
        extreme += (np.abs(sums) >= expected["t_obs"]).sum()
        above += (sums >= expected["t_obs"]).sum()
    assert extreme == expected["count_two_sided"]
    assert above == expected["count_one_sided"]
    assert extreme / 60 == pytest.approx(expected["p_two_sided"], rel=tolerance)
    _, count, stars = listing(d, np.array(inputs["indices"]), paper=True)
    assert count == expected["count_two_sided"]
    np.testing.assert_allclose(stars, expected["t_star"], rtol=1e-9, atol=tolerance)


@pytest.mark.parametrize("mode", ["sound", "paper"])
@pytest.mark.parametrize(
    ("n_instances", "n_topics"), [(3, 7), (1, 50), (4, 8), (2, 256), (2, 257), (3, 301)]
)
def test_counts_are_those_of_the_listing(n_instances, n_topics, mode):
    d, n_samples = made(n_instances, n_topics, effect=0.02), 333
    indices = [drawn_indices(5, m, n_samples, n_topics) for m in range(n_instances)]
    paper = mode == "paper"
    t_z, count, _ = listing(d, indices, paper=paper)
    test = algorithm_two(d, n_samples=n_samples, mode=mode, seed=5)
    assert test.counts.sum() == count > 0
    assert test.statistic == pytest.approx(t_z, rel=1e-12)
    total = n_samples * n_instances
    expected = count / total if paper else (count + 1) / (total + 1)
    assert test.pvalue == pytest.approx(expected, rel=1e-14)


def test_missing_topics_are_left_out_of_their_instance():
    d = made(4, 30)
    d[0, 3:9] = np.nan
    d[2, 29] = np.nan
    d[3, 1:] = np.nan
    sizes = (~np.isnan(d)).sum(axis=1)
    indices = [drawn_indices(0, m, 400, n) for m, n in enumerate(sizes[:3])]
    z = np.nanmean(d, axis=0)
    assert np.isfinite(z).all()
    test = algorithm_two(d, n_samples=400)
    count = sum(
        (np.abs(t_of(row[~np.isnan(row)][drawn] - np.nanmean(row))) >= abs(t_of(z))).sum()
        for row, drawn in zip(d[:3], indices, strict=True)
    )
    assert test.counts.sum() == count > 0
    assert test.n_instances == 3, "an instance with one topic cannot be resampled"
    assert test.n_topics == 30
    assert test.statistic == pytest.approx(t_of(z), rel=1e-12)


@pytest.mark.parametrize("n_topics", [150, 255, 300])
def test_every_topic_is_drawn_as_often(n_topics):
    drawn = drawn_indices(11, 0, 4000, n_topics)
    pvalue = stats.chisquare(np.bincount(drawn.reshape(-1), minlength=n_topics)).pvalue
    # False alarm once in 10,000 seeds, at either end: too even is as wrong as too uneven.
    assert 5e-5 < pvalue < 1 - 5e-5


@pytest.mark.parametrize("lag", [1, 2, 7, 15, 16])
def test_draws_are_independent_of_each_other(lag):
    drawn = drawn_indices(3, 0, 6000, 15)
    first, second = drawn[:, :-lag], drawn[:, lag:]
    if lag >= 15:
        # The next resample, and the one whose positions share random words.
        first, second = drawn[:-1, 0], drawn[1:, 0]
    if lag == 16:
        first, second = drawn[:-8, 4], drawn[8:, 4]
    pairs = np.bincount((15 * first + second).reshape(-1), minlength=225)
    pvalue = stats.chisquare(pairs).pvalue
    assert 5e-5 < pvalue < 1 - 5e-5


def test_all_resamples_of_a_tiny_layout():
    d = np.array([[0.05, 0.11, -0.02, 0.03], [0.01, 0.14, 0.04, -0.05]])
    everything = np.array(list(product(range(4), repeat=4)))
    t_z, count, _ = listing(d, [everything] * 2, paper=False)
    exact = count / (2 * len(everything))
    test = algorithm_two(d, n_samples=40_000)
    assert test.statistic == pytest.approx(t_z)
    assert 0.05 < exact < 0.95
    # 4.4 standard errors: false alarm once in 100,000 seeds.
    assert abs(test.pvalue - exact) < 4.4 * test.pvalue_error + 1 / 80_001
    assert test.pvalue_error == pytest.approx(np.sqrt(exact * (1 - exact) / 80_000), rel=0.1)


def test_one_instance_is_algorithm_one():
    inputs, expected, _ = golden_case("bootstrap_alg1_exact_limit")
    z = np.array(inputs["z"])
    key = next(name for name in expected if "two_sided" in name)
    test = algorithm_two(z[None, :], n_samples=100_000)
    assert abs(test.pvalue - expected[key]) < 4.4 * test.pvalue_error


def test_threads_and_chunks_change_nothing():
    d = made(3, 20)
    one, two = (algorithm_two(d, n_samples=40_000, jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.counts, two.counts)
    few = algorithm_two(d, n_samples=20_000, jobs=2)
    assert (few.counts < one.counts).all()
    _, count, _ = listing(d, [drawn_indices(0, m, 20_000, 20) for m in range(3)], paper=False)
    assert few.counts.sum() == count
    other = algorithm_two(d, n_samples=20_000, seed=1)
    assert (other.counts != few.counts).any()


@pytest.mark.parametrize("mode", ["sound", "paper"])
def test_degenerate_differences(mode):
    same = algorithm_two(np.zeros((3, 5)), mode=mode)
    assert (same.pvalue, same.flag) == (1.0, "no_difference")
    assert np.isnan(same.statistic)
    constant = algorithm_two(np.full((3, 5), 0.1), n_samples=10, mode=mode)
    assert constant.flag == "zero_variance"
    assert constant.statistic == np.inf
    assert constant.pvalue == (0.0 if mode == "paper" else 1 / 31)
    short = algorithm_two(np.full((3, 1), 0.1), mode=mode)
    assert short.flag == "too_few_topics"
    assert np.isnan(short.pvalue)
    assert np.isnan(short.pvalue_error)
    scattered = np.full((2, 2), np.nan)
    scattered[[0, 1], [0, 1]] = 0.1, 0.3
    assert np.isnan(algorithm_two(scattered, mode=mode).pvalue), "no instance has two topics"


def test_resamples_without_variance_count():
    # A resample of one topic alone has probability 2/4 with two topics.
    d = np.array([[0.1, 0.3]])
    test = algorithm_two(d, n_samples=20_000)
    # t* is ±inf for (a, a) and (b, b), and 0 for the other two.
    assert test.statistic == pytest.approx(2.0)
    assert abs(test.pvalue - 0.5) < 4.4 * test.pvalue_error


def all_two_way(a, b):
    """d* of every resample: topics × instances of a × instances of b, all equally likely."""
    n = a.shape[1]
    found = []
    for topics in product(range(n), repeat=n):
        for first in product(range(len(a)), repeat=len(a)):
            for second in product(range(len(b)), repeat=len(b)):
                found.append(drawn_difference(a, b, list(topics), list(first), list(second)))
    return np.array(found)


def drawn_difference(a, b, topics, first, second):
    differences = []
    for n in topics:
        one, two = a[first, n], b[second, n]
        one, two = one[~np.isnan(one)], two[~np.isnan(two)]
        if one.size and two.size:
            differences.append(one.mean() - two.mean())
    return np.mean(differences) if differences else np.nan


def two_way_variance(a, b):
    """Variance of d*: topics' differences, then instances and residuals of each system."""
    d = a.mean(axis=0) - b.mean(axis=0)
    total = np.square(d - d.mean()).sum() / d.size**2
    for y in (a, b):
        by_instance = y.mean(axis=1) - y.mean()
        rest = y - y.mean(axis=0) - by_instance[:, None]
        total += np.square(by_instance).sum() / len(y) ** 2 + np.square(rest).sum() / y.size**2
    return total


SMALL = np.array([[0.31, 0.22, 0.58], [0.42, 0.17, 0.66]])
OTHER = np.array([[0.30, 0.20, 0.55], [0.35, 0.28, 0.61]])


def test_the_variance_in_closed_form_is_that_of_all_resamples():
    everything = all_two_way(SMALL, OTHER)
    assert everything.mean() == pytest.approx(SMALL.mean() - OTHER.mean(), rel=1e-12)
    assert everything.var() == pytest.approx(two_way_variance(SMALL, OTHER), rel=1e-12)


@pytest.mark.parametrize("case", ["both vary", "one is fixed", "cells are missing"])
def test_two_way_against_all_resamples(case):
    a, b = SMALL.copy(), OTHER.copy()
    if case == "one is fixed":
        b = OTHER[:1]
    if case == "cells are missing":
        a[0, 1] = b[1, 1] = a[1, 2] = np.nan
    everything = all_two_way(a, b)
    undefined = np.isnan(everything)
    exact = everything[~undefined]
    share = min((exact <= 1e-12).mean(), (exact >= -1e-12).mean())
    assert 0.005 < share < 0.5
    n = 40_000
    test = two_way_bootstrap(a, b if len(b) > 1 else b[0], n_samples=n)
    # 4.4 standard errors each: false alarm once in 100,000 seeds.
    assert abs(test.pvalue - 2 * share) < 4.4 * 2 * np.sqrt(share * (1 - share) / n) + 2 / n
    assert abs(test.n_undefined / n - undefined.mean()) <= 4.4 * np.sqrt(undefined.mean() / n)
    # The sd of a variance is at most sqrt((kurtosis + 2) / n) of it; 3 + 2 bounds it here.
    assert abs(test.standard_error**2 / exact.var() - 1) < 4.4 * np.sqrt(5 / n)
    ranks = [(exact <= limit).mean() for limit in test.interval]
    assert ranks == pytest.approx([0.025, 0.975], abs=0.03)


def test_two_way_draws_have_the_variance_in_closed_form():
    a, b = 0.5 + made(8, 40, seed=2), 0.5 + made(5, 40, seed=3)
    n = 50_000
    test = two_way_bootstrap(a, b, n_samples=n)
    assert test.difference == pytest.approx(a.mean() - b.mean(), rel=1e-12)
    # d* is close to normal: its variance has relative sd sqrt(2/n).
    assert abs(test.standard_error**2 / two_way_variance(a, b) - 1) < 4.4 * np.sqrt(2.2 / n)
    half = stats.norm.ppf(0.975) * np.sqrt(two_way_variance(a, b))
    assert np.diff(test.interval)[0] == pytest.approx(2 * half, rel=0.05)


def test_missing_cells_of_the_first_block():
    a, b = made(4, 9, seed=5), made(3, 9, seed=6)
    a[1, 2:5] = np.nan
    b[0, 8] = np.nan
    systems, block = _systems(a, b), (0, 0, 60)
    found = _drawn_differences(systems, 9, block)
    topics = topic_draws(9, block, 9, "topics of both systems").astype(int)
    first, second = (
        topic_draws(9, block, len(system.scores), system.stream).astype(int) for system in systems
    )
    expected = [
        drawn_difference(a, b, *(np.repeat(np.arange(len(row)), row) for row in rows))
        for rows in zip(topics, first, second, strict=True)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    test = two_way_bootstrap(a, b, n_samples=60, seed=9)
    assert test.standard_error == pytest.approx(np.std(expected), rel=1e-10)
    assert test.difference == pytest.approx(
        (np.nanmean(a, axis=0) - np.nanmean(b, axis=0)).mean(), rel=1e-12
    )


def test_swapping_the_systems_changes_the_sign_alone():
    a, b = made(5, 30, seed=7), made(3, 30, seed=8)
    one, two = two_way_bootstrap(a, b, n_samples=2000), two_way_bootstrap(b, a, n_samples=2000)
    assert one.pvalue == two.pvalue
    assert one.difference == -two.difference
    assert one.interval == pytest.approx((-two.interval[1], -two.interval[0]), rel=1e-12)


def test_threads_change_nothing_in_two_ways():
    a, b = made(5, 30, seed=7), made(30, 30, seed=8)
    one, two = (two_way_bootstrap(a, b, n_samples=3000, jobs=jobs) for jobs in (1, 2))
    assert one == two
    assert two_way_bootstrap(a, b, n_samples=3000, seed=1).interval != one.interval


def test_degenerate_systems():
    scores = made(3, 6)
    same = two_way_bootstrap(scores[0], scores[0], n_samples=99)
    assert (same.pvalue, same.flag, same.interval) == (1.0, "no_difference", (0.0, 0.0))
    constant = two_way_bootstrap(scores[0] + 0.1, scores[0], n_samples=99)
    assert constant.flag == "zero_variance"
    assert constant.pvalue == 0.02
    short = two_way_bootstrap(scores[:, :1], scores[0, :1], n_samples=99)
    assert short.flag == "too_few_topics"
    assert np.isnan([short.pvalue, short.pvalue_error, short.standard_error, *short.interval]).all()
    apart = np.array([[0.1, np.nan, np.nan], [0.3, np.nan, np.nan]])
    none = two_way_bootstrap(apart, [np.nan, 0.2, 0.3], n_samples=99)
    assert (none.flag, none.n_undefined) == ("too_few_topics", 99)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: algorithm_two([0.1, 0.2]), "matrix"),
        (lambda: algorithm_two([[0.1, np.inf]]), "infinite"),
        (lambda: algorithm_two([[0.1, 0.2]], n_samples=0), "n_samples"),
        (lambda: algorithm_two([[0.1, 0.2]], mode="loud"), "unknown mode 'loud'"),
        (lambda: two_way_bootstrap([[0.1, 0.2]], [0.1]), "same topics"),
        (lambda: two_way_bootstrap([[0.1, 0.2]], [0.1, 0.2], confidence=1), "confidence"),
        (lambda: two_way_bootstrap(np.zeros((0, 2)), [0.1, 0.2]), "a must be a matrix"),
    ],
)
def test_wrong_input_is_named(call, message):
    refused(message, call)

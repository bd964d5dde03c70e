"""Flips of weighted datasets, whole types and topics, against plain enumeration and max-t."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import statsmodels.api as sm
from plain_order import corrected, floor_of

from steadyrank import InputError
from steadyrank.stats.datasets import AggregateColumns, dataset_units, topic_units
from steadyrank.stats.pairs.max_t import max_t, unit_max_t
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.run_means import mean_intervals

TYPES = ("a", "a", "a", "b", "b", "c", "d", "d", "d", "d", "e", "f", "f")


def units_of(scores, weight, types=()):
    return dataset_units(AggregateColumns(values=scores, weight=weight), types)


def table(seed=0, n_runs=4, n_datasets=13, shift=0.0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_runs, n_datasets)) + shift * np.arange(n_runs)[:, None]


def corrected_by(mean, off, variance, added, n):
    """Corrected t of means to which draws add `off` [draw, pair], 0 where t is negative."""
    widened = variance + added
    skewness = (off**3).sum(axis=0) / (off**2).sum(axis=0) ** 1.5 * (variance / widened) ** 1.5
    t = mean / np.sqrt(widened)
    each = zip(t, skewness, strict=True)
    return np.array([corrected(t, g, n) if t > 0 else 0.0 for t, g in each])


def stepdown(observed, null):
    """Adjusted p-values of one-sided hypotheses, [hypothesis] and [pattern, hypothesis]."""
    pvalue = np.empty(len(observed))
    left = list(np.argsort(-observed, kind="stable"))
    largest = 0.0
    while left:
        count = (null[:, left].max(axis=1) >= observed[left[0]] * (1 - 1e-12)).sum()
        largest = max(largest, (1 + count) / (1 + len(null)))
        pvalue[left.pop(0)] = min(1.0, largest)
    return pvalue


def test_equal_weights_are_max_t():
    pairs = all_pairs(4)
    for n_datasets in (13, 20):
        scores = table(n_datasets=n_datasets, shift=0.6)
        units = units_of(scores, np.full(n_datasets, 1 / n_datasets))
        ours = unit_max_t(units, pairs, n_samples=700, seed=4, jobs=1)
        theirs = max_t(scores, pairs, n_samples=700, seed=4, jobs=1)
        assert ours.exact == theirs.exact == (n_datasets == 13)
        np.testing.assert_allclose(ours.pvalue, theirs.pvalue)
        np.testing.assert_allclose(ours.critical, theirs.critical)
        np.testing.assert_allclose(ours.width, theirs.width)
        np.testing.assert_allclose(ours.own, theirs.own)
    np.testing.assert_allclose(units.intervals(0.9), mean_intervals(scores, 0.9))


def test_types_as_clusters_are_those_of_a_plain_enumeration():
    scores, pairs = table(3, shift=0.4), all_pairs(4)
    weight = np.full(13, 1 / 13)
    found = unit_max_t(units_of(scores, weight, TYPES), pairs, jobs=1)
    assert (found.exact, found.n_patterns) == (True, 64)
    names = sorted(set(TYPES))
    member = np.array([[kind == name for kind in TYPES] for name in names])
    both = np.concatenate([pairs, pairs[:, ::-1]])
    d = scores[both[:, 0]] - scores[both[:, 1]]
    mean = d.mean(axis=1)
    sums = (member[:, None, :] * (d - mean[:, None])).sum(axis=2)
    size = member.sum(axis=1)[:, None]

    n = 1 / np.square(member.sum(axis=1) / 13).sum()
    variance = 6 / 5 * np.square(sums).sum(axis=0) / 13**2
    added = floor_of(variance[:6] * n) / n / (n - 1)

    def t_of(cluster_sums):
        centre = cluster_sums.sum(axis=0) / 13
        off = cluster_sums - size * centre
        return centre / np.sqrt(6 / 5 * np.square(off).sum(axis=0) / 13**2 + added)

    null = np.array([t_of(np.array(signs)[:, None] * sums) for signs in product((1, -1), repeat=6)])
    expected = stepdown(corrected_by(mean, sums, variance, added, n), null)
    better = np.where(mean[:6] > 0, expected[:6], expected[6:])
    np.testing.assert_allclose(found.pvalue, better)


def test_the_standard_error_of_clusters_is_statsmodels():
    scores = table(1)
    units = units_of(scores, np.full(13, 1 / 13), TYPES)
    _, code = np.unique(TYPES, return_inverse=True)
    fit = sm.OLS(scores[0] - scores[2], np.ones(13)).fit(
        cov_type="cluster", cov_kwds={"groups": code}
    )
    squares = np.square(units.residual[0] - units.residual[2]).sum()
    assert np.sqrt(units.factor[0] * squares) == pytest.approx(fit.bse[0])


def test_a_constant_difference_is_found_and_identical_runs_are_not():
    scores = table(2, n_runs=3)
    scores[1] = scores[0] + 0.5
    scores[2] = scores[0]
    units = units_of(scores, np.full(13, 1 / 13), TYPES)
    found = unit_max_t(units, all_pairs(3), jobs=1)
    assert found.pvalue[1] == 1.0
    assert (found.pvalue[[0, 2]] <= 0.05).all()


def test_four_types_show_nothing_and_five_can():
    scores = table(shift=3.0)
    for n_datasets, n_patterns in ((10, 16), (11, 32)):
        units = units_of(
            scores[:, :n_datasets], np.full(n_datasets, 1 / n_datasets), TYPES[:n_datasets]
        )
        found = unit_max_t(units, all_pairs(4), jobs=1)
        assert found.n_patterns == n_patterns
        assert found.least_pvalue == pytest.approx(1 / (1 + n_patterns))
        assert np.isinf(found.critical).all() == (n_patterns == 16)


def test_one_type_is_refused():
    with pytest.raises(InputError, match="two units"):
        unit_max_t(units_of(table(), np.full(13, 1 / 13), ["a"] * 13), all_pairs(4))


def test_topics_of_one_dataset_are_max_t():
    scores, pairs = table(5, n_datasets=25, shift=0.3), all_pairs(4)
    strata, dropped = topic_units([scores], np.ones(1))
    ours = unit_max_t(strata, pairs, n_samples=900, seed=2, jobs=1)
    theirs = max_t(scores, pairs, n_samples=900, seed=2, jobs=1)
    assert dropped == 0
    np.testing.assert_allclose(ours.pvalue, theirs.pvalue)
    np.testing.assert_allclose(strata.intervals(0.95), mean_intervals(scores, 0.95))


def test_topics_of_several_datasets_are_those_of_a_plain_enumeration():
    parts, weight = [table(7, 3, 4, 0.5), table(8, 3, 5, 0.5)], np.array([0.7, 0.3])
    parts[1] = np.column_stack([parts[1], [np.nan, 1.0, 2.0]])
    strata, dropped = topic_units(parts, weight)
    assert dropped == 1
    parts[1] = parts[1][:, :5]
    pairs = all_pairs(3)
    found = unit_max_t(strata, pairs, jobs=1)
    assert found.exact
    both = np.concatenate([pairs, pairs[:, ::-1]])
    d = [scores[both[:, 0]] - scores[both[:, 1]] for scores in parts]

    def mean_and_variance(rows):
        total = sum(w * z.mean(axis=1) for w, z in zip(weight, rows, strict=True))
        squares = [
            w**2 * z.var(axis=1, ddof=1) / z.shape[1] for w, z in zip(weight, rows, strict=True)
        ]
        return total, sum(squares)

    n = 1 / (0.7**2 / 4 + 0.3**2 / 5)
    added = floor_of(mean_and_variance(d)[1][:3] * n) / n / (n - 1)

    def t_of(rows):
        total, variance = mean_and_variance(rows)
        return total / np.sqrt(variance + added)

    centred = [z - z.mean(axis=1, keepdims=True) for z in d]
    null = [
        t_of([centred[0] * signs[:4], centred[1] * signs[4:]])
        for signs in map(np.array, product((1, -1), repeat=9))
    ]
    off = np.concatenate([(w / z.shape[1] * z).T for w, z in zip(weight, centred, strict=True)])
    mean, variance = mean_and_variance(d)
    expected = stepdown(corrected_by(mean, off, variance, added, n), np.array(null))
    better = np.where(t_of(d)[:3] > 0, expected[:3], expected[3:])
    np.testing.assert_allclose(found.pvalue, better)


def test_whole_types_keep_the_level_where_datasets_of_a_type_are_alike():
    """300 experiments with equal runs: false claims in 5 % plus 4.5 standard errors at most."""
    rng = np.random.default_rng(11)
    types = [f"t{k}" for k in np.repeat(np.arange(7), [1, 1, 2, 3, 4, 6, 8])]
    weight, pairs = np.full(25, 1 / 25), all_pairs(6)
    false_claims = {"types": 0, "datasets": 0}
    for _ in range(300):
        shared = rng.normal(size=(6, 7))[:, [int(kind[1]) for kind in types]]
        scores = shared + rng.normal(size=(6, 25))
        by_type = unit_max_t(units_of(scores, weight, types), pairs, jobs=1)
        alone = max_t(scores, pairs, n_samples=199, seed=int(rng.integers(1000)), jobs=1)
        false_claims["types"] += bool((by_type.pvalue <= 0.05).any())
        false_claims["datasets"] += bool((alone.pvalue <= 0.05).any())
    assert false_claims["types"] <= 300 * 0.05 + 4.5 * np.sqrt(300 * 0.05 * 0.95)
    assert false_claims["datasets"] > 100, "taken for independent, alike datasets deceive"

"""Friedman's test and Nemenyi's critical difference against SciPy and Demšar's own example."""

from __future__ import annotations

import numpy as np
import pytest
from plain_tables import refused
from scipy import stats

from steadyrank.stats.datasets import critical_difference, friedman

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

"""Ranks that equal numbers share, against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata

from steadyrank.stats.run_means import average_ranks, first_ranks


@pytest.mark.parametrize("shape", [(0,), (1,), (9,), (7, 1), (6, 40), (2, 3, 12)])
@pytest.mark.parametrize("n_values", [1, 3, 1000])
def test_ranks_are_those_of_scipy(shape, n_values):
    values = np.random.default_rng(len(shape)).integers(-n_values, n_values, shape) / 7.0
    first, average = first_ranks(values), average_ranks(values)
    assert first.dtype == np.int64
    np.testing.assert_array_equal(first, rankdata(values, method="min", axis=-1))
    np.testing.assert_array_equal(average, rankdata(values, axis=-1))


def test_zeros_of_either_sign_are_equal_and_infinities_are_numbers():
    values = np.array([0.0, -0.0, np.inf, -np.inf, np.inf])
    np.testing.assert_array_equal(first_ranks(values), rankdata(values, method="min"))
    np.testing.assert_array_equal(average_ranks(values), rankdata(values))


def test_a_number_that_is_none_leaves_no_rank_of_its_row():
    values = np.array([[1.0, np.nan, 2.0], [3.0, 1.0, 2.0]])
    np.testing.assert_array_equal(average_ranks(values), rankdata(values, axis=-1))

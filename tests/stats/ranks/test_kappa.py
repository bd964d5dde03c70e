"""Cohen's kappa against statsmodels, and where it has no value."""

import math

import numpy as np
import pytest
from plain_tables import refused

import steadyrank as sr


@pytest.mark.parametrize(
    ("weights", "wt"), [("none", None), ("linear", "linear"), ("quadratic", "quadratic")]
)
@pytest.mark.parametrize("seed", range(5))
def test_statsmodels_says_the_same(weights, wt, seed):
    from statsmodels.stats.inter_rater import cohens_kappa

    rng = np.random.default_rng(seed)
    first = rng.integers(0, 4, 60)
    second = np.where(rng.random(60) < 0.6, first, rng.integers(0, 4, 60))
    table = np.zeros((4, 4))
    np.add.at(table, (first, second), 1)
    assert sr.cohen_kappa(first, second, weights=weights) == pytest.approx(
        cohens_kappa(table, wt=wt, return_results=False), abs=1e-12
    )


def test_perfect_chance_and_none():
    assert sr.cohen_kappa([0, 1, 2], [0, 1, 2]) == 1.0
    assert sr.cohen_kappa([0, 0, 1, 1], [0, 1, 0, 1]) == 0.0
    assert math.isnan(sr.cohen_kappa([1, 1], [1, 1]))


def test_swapping_the_judges_changes_nothing():
    first, second = [0, 2, 1, 1, 0, 2], [0, 1, 1, 2, 0, 0]
    for weights in ("none", "linear", "quadratic"):
        assert sr.cohen_kappa(first, second, weights=weights) == pytest.approx(
            sr.cohen_kappa(second, first, weights=weights), abs=1e-15
        )


@pytest.mark.parametrize(("first", "second"), [([], []), ([1], [1, 2]), ([[1]], [[1]])])
def test_lists_that_do_not_match_are_refused(first, second):
    refused("of equal length", sr.cohen_kappa, first, second)


def test_unknown_weights():
    refused("quadratic", sr.cohen_kappa, [0, 1], [0, 1], weights="quadratik")

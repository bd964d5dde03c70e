"""How alike datasets of a type are, where the truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from steadyrank.stats.datasets import type_correlation

TYPES = [f"t{k // 5}" for k in range(40)]


@pytest.mark.parametrize("truth", [0.0, 0.3, 0.7])
def test_the_correlation_within_types_is_found(truth):
    """60 runs, 8 types of 5: the estimate's standard error is below 0.03."""
    rng = np.random.default_rng(4)
    shared = np.repeat(rng.normal(size=(60, 8)), 5, axis=1)
    noise = rng.normal(size=(60, 40))
    scores = math.sqrt(truth) * shared + math.sqrt(1 - truth) * noise
    scores += rng.normal(size=(60, 1)) + rng.normal(size=40)
    assert type_correlation(scores, TYPES) == pytest.approx(truth, abs=0.12)


def test_without_groups_there_is_none():
    scores = np.random.default_rng(1).random((5, 4))
    for types in (list("abcd"), list("aaaa")):
        assert math.isnan(type_correlation(scores, types))
    assert math.isnan(type_correlation(np.ones((5, 4)), list("aabb")))

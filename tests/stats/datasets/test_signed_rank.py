"""The Bayesian signed-rank test against baycomp, and where its answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from golden_cases import golden_case
from plain_tables import refused

from steadyrank.stats.datasets.random_effects import bayesian_signed_rank

INPUTS, EXPECTED, TOLERANCE = golden_case("bayesian_signed_rank")


@pytest.mark.parametrize("name", INPUTS)
def test_probabilities_are_those_of_baycomp(name):
    """Monte Carlo of 50,000 draws: a standard error of at most 0.0023, the band is 2.6 of them."""
    case, expected = INPUTS[name], EXPECTED[name]
    found = bayesian_signed_rank(
        np.array(case["difference"]), rope=case["rope"], n_samples=50_000, seed=1
    )
    parts = [found.first, found.equivalent, found.second]
    shown = parts if len(expected) == 3 else [parts[0], parts[2]]
    assert shown == pytest.approx(expected, abs=TOLERANCE)
    assert sum(parts) == pytest.approx(1.0)


def test_swapping_the_runs_swaps_the_sides():
    d = np.random.default_rng(0).normal(0.01, 0.03, 15)
    one, other = (bayesian_signed_rank(sign * d, rope=0.01, seed=3) for sign in (1.0, -1.0))
    assert (one.first, one.second) == pytest.approx((other.second, other.first))


def test_no_difference_is_equivalent_and_without_a_rope_even():
    nothing = np.zeros(8)
    assert bayesian_signed_rank(nothing, rope=0.01).equivalent == 1.0
    even = bayesian_signed_rank(nothing)
    assert (even.first, even.equivalent, even.second) == pytest.approx((0.5, 0.0, 0.5))


def test_a_negative_rope_is_refused():
    refused("rope", bayesian_signed_rank, np.ones(3), rope=-0.1)

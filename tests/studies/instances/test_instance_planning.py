from __future__ import annotations

import math

import numpy as np
import pytest
from instance_power import power as exact_power
from scipy import special

from steadyrank.stats.mixed.two_way import (
    combined_mean_squares,
    default_df_method,
    nested_difference,
    pooled_squares,
    two_way_difference,
)
from steadyrank.stats.planning.design import t_power

PILOT = {"instance": 0.02**2, "system_topic": 0.08**2, "residual": 0.06**2}
EVEN = {"instance": 0.0, "system_topic": 0.08**2, "residual": 0.06**2}
NEITHER = {"instance": 0.0, "system_topic": 0.0, "residual": 0.06**2}
CLOSE = {"instance": 0.005**2, "system_topic": 0.01**2, "residual": 0.06**2}


def made(rng, components, topics, instances, difference=0.0):
    a, u, e = (math.sqrt(components[k]) for k in ("instance", "system_topic", "residual"))
    shape = (instances, topics)
    effects = a * rng.normal(size=(instances, 1)) + u * rng.normal(size=topics)
    return difference + effects + e * rng.normal(size=shape)


def simulated(components, topics, instances, *, replications, design, seed=1, difference=0.0):
    rng = np.random.default_rng(seed)
    for _ in range(replications):
        first = made(rng, components, topics, instances, difference)
        if design == "crossed":
            yield two_way_difference(first)
        else:
            # The topics' own effects are shared and cancel.
            shared = 0.2 * rng.normal(size=topics)
            second = made(rng, components, topics, instances)
            yield nested_difference(first + shared, second + shared)


@pytest.mark.slow
@pytest.mark.parametrize("design", ["crossed", "nested"])
@pytest.mark.parametrize(
    ("components", "topics", "instances", "difference"),
    [
        (PILOT, 50, 3, 0.0),
        (PILOT, 20, 5, 0.04),
        (EVEN, 50, 3, 0.03),
        (CLOSE, 8, 2, 0.02),
        (PILOT, 40, 2, 0.03),
    ],
)
def test_power_is_the_share_of_simulated_rejections(
    components, topics, instances, difference, design
):
    n = 3000
    found = simulated(
        components, topics, instances, replications=n, design=design, difference=difference
    )
    share = np.mean([test.pvalue < 0.05 for test in found])
    power = exact_power(components, topics, instances, design=design, difference=difference)
    # 4.4 standard errors: false alarm once in 100,000 seeds.
    assert abs(share - power) < 4.4 * math.sqrt(power * (1 - power) / n)


@pytest.mark.parametrize("design", ["crossed", "nested"])
@pytest.mark.parametrize(
    ("components", "topics", "instances", "difference"),
    [
        (PILOT, 30, 2, 0.0),
        (CLOSE, 6, 3, 0.02),
        (EVEN, 50, 5, 0.03),
        (CLOSE, 250, 2, 0.01),
        (NEITHER, 5, 5, 0.0),
        (NEITHER, 3, 7, 0.02),
    ],
)
def test_power_is_right_to_three_digits(components, topics, instances, difference, design):
    """Against mean squares drawn from their chi-square laws, and the test's rule on each."""
    n, systems = 200_000, 2 if design == "nested" else 1
    rng = np.random.default_rng(6)
    own = systems * (instances - 1)
    free = (own, topics - 1, own * (topics - 1))
    error = components["residual"]
    expected = (
        topics * components["instance"] + error,
        instances * components["system_topic"] + error,
        error,
    )
    drawn = [ms * rng.chisquare(df, n) / df for ms, df in zip(expected, free, strict=True)]
    pooled = pooled_squares(*drawn, free=free)
    method = default_df_method(instances)
    combined, df = combined_mean_squares(pooled, free=free, df_method=method)
    scale = systems / (topics * instances)
    total = expected[0] + expected[1] - expected[2]
    estimate = rng.normal(difference, math.sqrt(scale * total), n)
    pvalue = 2 * special.stdtr(df, -np.abs(estimate) / np.sqrt(scale * combined))
    power = exact_power(components, topics, instances, design=design, difference=difference)
    share = (pvalue < 0.05).mean()
    assert abs(share - power) < 4.4 * math.sqrt(power * (1 - power) / n) + 6e-4


def test_identical_instances_leave_the_paired_t_test():
    same = {"instance": 0.0, "system_topic": 0.08**2, "residual": 0.0}
    expected = float(t_power(0.03, 0.08, 50))
    assert exact_power(same, 50, 7, difference=0.03) == pytest.approx(expected, abs=2e-4)


def test_instances_and_topics_play_the_same_part():
    swapped = {**PILOT, "instance": PILOT["system_topic"], "system_topic": PILOT["instance"]}
    one = exact_power(PILOT, 20, 9, difference=0.03)
    assert one == pytest.approx(exact_power(swapped, 9, 20, difference=0.03), abs=2e-4)

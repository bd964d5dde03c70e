from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

from steadyrank.errors import InputError
from steadyrank.stats.instances.power import InstanceTest, InstanceVariances
from steadyrank.stats.mixed.two_way import (
    combined_mean_squares,
    default_df_method,
    nested_difference,
    pooled_squares,
    two_way_difference,
)
from steadyrank.stats.planning.design import t_power
from steadyrank.studies.instances.planning import plan_instances

PILOT = {"instance": 0.02**2, "system_topic": 0.08**2, "residual": 0.06**2}
EVEN = {"instance": 0.0, "system_topic": 0.08**2, "residual": 0.06**2}
NEITHER = {"instance": 0.0, "system_topic": 0.0, "residual": 0.06**2}
CLOSE = {"instance": 0.005**2, "system_topic": 0.01**2, "residual": 0.06**2}


def made(rng, components, topics, instances, difference=0.0):
    a, u, e = (math.sqrt(components[k]) for k in ("instance", "system_topic", "residual"))
    shape = (instances, topics)
    effects = a * rng.normal(size=(instances, 1)) + u * rng.normal(size=topics)
    return difference + effects + e * rng.normal(size=shape)


def planned(components, difference=0.0, **options):
    return InstanceTest(
        variances=InstanceVariances.of(components), difference=difference, **options
    )


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
    power = planned(components, difference, design=design).power(topics, instances)
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
    power = planned(components, difference, design=design).power(topics, instances)
    share = (pvalue < 0.05).mean()
    assert abs(share - power) < 4.4 * math.sqrt(power * (1 - power) / n) + 6e-4


@pytest.mark.slow
@pytest.mark.parametrize("claim", ["equivalent", "non_inferior"])
def test_power_of_one_sided_claims_is_the_simulated_share(claim):
    n, delta, difference, shown = 3000, 0.03, -0.004, 0
    for test in simulated(PILOT, 60, 8, replications=n, design="crossed", difference=difference):
        half = special.stdtrit(test.df, 0.95) * test.standard_error
        low, high = test.estimate - half, test.estimate + half
        shown += low > -delta and (claim == "non_inferior" or high < delta)
    power = planned(PILOT, difference, claim=claim, delta=delta).power(60, 8)
    assert 0.3 < power < 0.9
    assert abs(shown / n - power) < 4.4 * math.sqrt(power * (1 - power) / n)


@pytest.mark.parametrize("components", [PILOT, EVEN, CLOSE])
@pytest.mark.parametrize("design", ["crossed", "nested"])
def test_limits_are_t_tests_and_power_approaches_them(components, design):
    test, factor = planned(components, 0.02, design=design), 2 if design == "nested" else 1
    own, topic = components["instance"], components["system_topic"]
    at_topics = float(t_power(0.02, math.sqrt(factor * topic), 30))
    assert test.topic_limit(30) == pytest.approx(at_topics, abs=1e-4)
    assert test.power(30, 100_000) == pytest.approx(at_topics, abs=2e-3)
    if own and design == "crossed":
        at_instances = float(t_power(0.02, math.sqrt(own), 6))
        assert test.instance_limit(6) == pytest.approx(at_instances, abs=1e-4)
        assert test.power(1_000_000, 6) == pytest.approx(at_instances, abs=2e-3)
    if not own:
        assert test.instance_limit(2) == 1.0


def test_identical_instances_leave_the_paired_t_test():
    test = planned({"instance": 0.0, "system_topic": 0.08**2, "residual": 0.0}, 0.03)
    assert test.power(50, 7) == pytest.approx(float(t_power(0.03, 0.08, 50)), abs=2e-4)
    nothing = {"instance": 0.0, "system_topic": 0.0, "residual": 0.0}
    assert planned(nothing, 0.01).power(5, 2) == 1.0
    assert planned(nothing, 0.0).power(5, 2) == 0.0


def test_instances_and_topics_play_the_same_part():
    swapped = {**PILOT, "instance": PILOT["system_topic"], "system_topic": PILOT["instance"]}
    one, two = planned(PILOT, 0.03), planned(swapped, 0.03)
    assert one.power(20, 9) == pytest.approx(two.power(9, 20), abs=2e-4)


@pytest.mark.parametrize("claim", ["different", "equivalent", "non_inferior"])
def test_rough_power_is_close(claim):
    difference = 0.03 if claim == "different" else 0.0
    test = planned(PILOT, difference, claim=claim, delta=0.03)
    for topics, instances in [(30, 10), (100, 20), (400, 60)]:
        rough = test.rough_power(topics, instances)
        assert rough == pytest.approx(test.power(topics, instances), abs=0.02)


def brute_force(components, *, costs, most, design="crossed", **aim):
    test = planned(components, design=design, **aim)
    each = 2 if design == "nested" else 1
    designs = [
        (costs[0] * n + costs[1] * each * m, m, n)
        for n in range(2, most[0] + 1)
        for m in range(2, most[1] + 1)
    ]
    for cost, m, n in sorted(designs):
        if test.power(n, m) >= 0.8:
            return n, m, cost
    return None


@pytest.mark.parametrize("costs", [(1.0, 1.0), (1.0, 12.0), (4.0, 0.5), (1.0, 0.0)])
@pytest.mark.parametrize(
    ("components", "aim"),
    [
        (PILOT, {"difference": 0.06}),
        (EVEN, {"difference": 0.05}),
        (CLOSE, {"difference": 0.02}),
        (PILOT, {"difference": 0.08, "design": "nested"}),
        (PILOT, {"difference": 0.0, "delta": 0.06, "claim": "equivalent"}),
    ],
)
def test_no_design_is_cheaper(components, aim, costs):
    most = (70, 14)
    expected = brute_force(components, costs=costs, most=most, **aim)
    plan = plan_instances(
        components,
        cost_per_topic=costs[0],
        cost_per_instance=costs[1],
        most_topics=most[0],
        most_instances=most[1],
        **aim,
    )
    assert (plan.topics, plan.instances, plan.cost) == expected
    assert plan.reached


def test_the_cheapest_of_many_instances():
    plan = plan_instances(PILOT, difference=0.012, cost_per_instance=2.0)
    test, target = plan.test, plan.target
    assert test.power(plan.topics, plan.instances) == plan.power >= target
    for m in range(plan.instances - 8, plan.instances + 9):
        # As many topics as the same money buys, less one: not enough.
        affordable = math.ceil(plan.cost - 2.0 * m) - 1
        assert test.power(affordable, m) < target


def test_what_is_given_stays():
    plan = plan_instances(PILOT, difference=0.03, n_topics=70)
    assert plan.topics == 70
    assert plan.test.power(70, plan.instances) >= 0.8 > plan.test.power(70, plan.instances - 1)
    plan = plan_instances(PILOT, difference=0.03, n_instances=7)
    assert plan.instances == 7
    assert plan.test.power(plan.topics, 7) >= 0.8 > plan.test.power(plan.topics - 1, 7)
    both = plan_instances(PILOT, difference=0.03, n_topics=50, n_instances=10)
    assert (both.topics, both.instances, both.reached) == (50, 10, False)
    assert both.words()[0] == (
        "50 topics and 10 instances have power 0.60 to find a difference of 0.03: too few for 0.8."
    )


def test_floors_are_where_the_other_cannot_help():
    plan = plan_instances(PILOT, difference=0.03)
    test = plan.test
    assert test.topic_limit(plan.fewest_topics) >= 0.8 > test.topic_limit(plan.fewest_topics - 1)
    assert test.power(plan.fewest_topics - 1, 10_000) < 0.8
    fewest = plan.fewest_instances
    assert test.instance_limit(fewest) >= 0.8 > test.instance_limit(fewest - 1)
    assert test.power(1_000_000, fewest - 1) < 0.8
    assert plan.words()[1:] == [
        f"With fewer than {plan.fewest_topics} topics no number of instances suffices.",
        f"With fewer than {fewest} instances no number of topics suffices.",
    ]


def test_what_cannot_be_settled_is_said():
    topics = plan_instances(PILOT, difference=0.03, n_topics=40)
    assert topics.instances is None
    assert math.isnan(topics.cost)
    limit = float(t_power(0.03, 0.08, 40))
    assert topics.power == pytest.approx(limit, abs=1e-4)
    assert "With 40 topics no number of instances reaches power 0.8" in topics.words()[0]
    assert f"stays below {math.ceil(100 * limit) / 100:.2f}" in topics.words()[0]
    instances = plan_instances(PILOT, difference=0.03, n_instances=3, design="nested")
    assert "With 3 instances of each system no number of topics" in instances.words()[0]
    tight = plan_instances(PILOT, difference=0.03, n_topics=58, most_instances=50)
    assert tight.instances is None
    assert tight.words()[0] == "With 58 topics it takes more than 50 instances to reach power 0.8."
    none = plan_instances(PILOT, difference=0.001, most_topics=100, most_instances=100)
    assert not none.reached
    assert none.words()[0].startswith("No design of up to 100 topics and 100 instances")
    assert none.words()[1] == "Even 100 topics are too few, whatever the number of instances."


def test_words_of_the_claims():
    plan = plan_instances(PILOT, delta=0.03)
    assert plan.test.claim == "equivalent"
    assert (
        f"{plan.topics} topics and {plan.instances} instances reach power 0.8 to show "
        "equivalence within 0.03" in plan.words()[0]
    )
    plan = plan_instances(PILOT, delta=0.03, claim="non_inferior", difference=0.01)
    assert "non-inferiority by 0.03 where the difference is 0.01" in plan.words()[0]


def test_a_table_of_power():
    plan = plan_instances(PILOT, difference=0.03)
    table = plan.table([20, 50, 100], [2, 10])
    assert table.power[1, 1] == plan.test.power(50, 10)
    assert (np.diff(table.power, axis=0) > 0).all()
    assert (np.diff(table.power, axis=1) > 0).all()
    assert (table.power.max(axis=1) < table.limit).all()
    frame = table.to_frame()
    assert frame.loc[100, 10] == table.power[2, 1]
    assert frame.loc[20, math.inf] == table.limit[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give the difference"),
        ({"difference": 0.0}, "give a margin"),
        ({"difference": math.nan}, "finite"),
        ({"delta": -0.01}, "above 0"),
        ({"difference": 0.02, "delta": 0.01}, "not within the margin"),
        ({"difference": 0.02, "claim": "equivalent"}, "requires a margin"),
        ({"difference": 0.02, "claim": "better"}, "unknown claim"),
        ({"difference": 0.02, "design": "nest"}, "did you mean 'nested'"),
        ({"difference": 0.02, "alpha": 1.0}, "alpha"),
        ({"difference": 0.02, "power": 0.0}, "power"),
        ({"difference": 0.02, "n_topics": 1}, "topics must be at least 2"),
        ({"difference": 0.02, "cost_per_topic": -1.0}, "costs"),
        ({"difference": 0.02, "cost_per_topic": 0.0, "cost_per_instance": 0.0}, "costs"),
    ],
)
def test_wrong_demands_are_named(options, message):
    with pytest.raises(InputError, match=message):
        plan_instances(PILOT, **options)


def test_wrong_components_are_named():
    with pytest.raises(InputError, match="lack the variance 'system_topic'"):
        plan_instances({"instance": 1.0, "residual": 1.0}, difference=1.0)
    with pytest.raises(InputError, match="'residual' must be a number"):
        plan_instances({**PILOT, "residual": math.nan}, difference=1.0)
    with pytest.raises(InputError, match="at least 2"):
        plan_instances(PILOT, difference=0.03).table([1], [5])

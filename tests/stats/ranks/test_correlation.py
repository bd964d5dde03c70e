"""Rank correlations against SciPy, exact enumeration of ties, and other people's figures."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product
from math import prod

import numpy as np
import pytest
from golden_cases import golden_case
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_tables import refused
from scipy import stats

from steadyrank.errors import UnknownNameError
from steadyrank.stats.pairs.result import TOO_FEW, all_pairs
from steadyrank.stats.ranks.correlation import (
    ALL_TIED,
    TOO_FEW_SYSTEMS,
    bootstrap_tau_interval,
    correlations,
    kendall_interval,
    kendall_tau,
    pairwise_tau_and_tau_ap,
    symmetric_tau_ap,
    tau_ap,
    taus_against,
)

WORD_BORDERS = [2, 3, 10, 63, 64, 65, 127, 128, 129, 511, 512, 513, 1100]
"""Numbers of systems around the borders of words of bits, and of groups of words."""


def scores(rng, *shape, decimals=None):
    values = rng.normal(size=shape) + 0.7 * rng.normal(size=shape[-1])
    return values if decimals is None else values.round(decimals)


def scipy_tau(a, b):
    # SciPy 1.17.1; NaN for a constant ranking, as here.
    return stats.kendalltau(a, b).statistic


def groups_of(values):
    """Items from the best down, tied ones together."""
    return [
        [i for i, each in enumerate(values) if each == level]
        for level in sorted(set(values), reverse=True)
    ]


def orders_of(values):
    """Every order of the items that agrees with their scores."""
    for parts in product(*(list(permutations(group)) for group in groups_of(values))):
        yield [item for part in parts for item in part]


def enumerated_tau_ap(estimate, reference):
    """The mean over all orders of the estimate's ties; a tie in the reference is half right."""
    n, total, count = len(estimate), Fraction(0), 0
    for order in orders_of(estimate):
        count += 1
        for rank in range(1, n):
            here = reference[order[rank]]
            right = sum(
                Fraction(int(reference[item] > here) + int(reference[item] >= here), 2)
                for item in order[:rank]
            )
            total += right / rank
    return 2 * total / (count * (n - 1)) - 1


def defined_tau_ap_b(estimate, reference):
    """Variant "b", system by system from its definition."""
    n, total, outside = len(estimate), Fraction(0), 0
    for i in range(n):
        above = [j for j in range(n) if estimate[j] > estimate[i]]
        if above:
            outside += 1
            both = sum(reference[j] > reference[i] for j in above)
            total += Fraction(both, len(above))
    return 2 * total / outside - 1 if outside else None


# Kendall's tau


def test_tau_of_the_golden_files():
    inputs, expected, tolerance = golden_case("kendall_no_ties")
    found = kendall_tau(inputs["x"], inputs["y"])
    assert found.value == pytest.approx(expected["tau"], abs=tolerance)
    assert found.counts.concordant == expected["T_concordant"]
    assert found.counts.discordant == expected["n_swaps"]
    inputs, expected, tolerance = golden_case("kendall_ties")
    found = kendall_tau(inputs["x"], inputs["y"])
    assert found.value == pytest.approx(expected["tau_b"], abs=tolerance)
    assert found.counts.concordant - found.counts.discordant == expected["S"]
    plain = kendall_tau(inputs["x"], inputs["y"], variant="a")
    assert plain.value == pytest.approx(expected["tau_a"], abs=tolerance)


def test_degenerate_rankings_are_flagged():
    inputs, expected, _ = golden_case("kendall_degenerate")
    found = kendall_tau(inputs["x"], inputs["y"])
    assert expected["tau_b"] is None
    assert np.isnan(found.value)
    assert found.flag == ALL_TIED
    plain = kendall_tau(inputs["x"], inputs["y"], variant="a")
    assert (plain.value, plain.flag) == (expected["tau_a"], "")
    for few in ([], [0.3]):
        for found in (kendall_tau(few, few), kendall_tau(few, few, variant="a"), tau_ap(few, few)):
            assert np.isnan(float(found))
            assert (found.n, found.flag) == (len(few), TOO_FEW_SYSTEMS)


def test_counts_of_pairs_add_up():
    a, b = [3, 3, 2, 2, 1, 1], [1, 1, 2, 3, 3, 2]
    counts = kendall_tau(a, b).counts
    signs = [(np.sign(a[i] - a[j]), np.sign(b[i] - b[j])) for i in range(6) for j in range(i)]
    assert counts.concordant == sum(x * y > 0 for x, y in signs) == 1
    assert counts.discordant == sum(x * y < 0 for x, y in signs) == 9
    assert counts.tied_a == sum(x == 0 for x, _ in signs) == 3
    assert counts.tied_b == sum(y == 0 for _, y in signs) == 3
    assert counts.tied_both == sum(x == 0 == y for x, y in signs) == 1


def test_mean_tau_of_simulated_scores():
    inputs, expected, tolerance = golden_case("krcc_fixed")
    taus = taus_against(inputs["raw"], inputs["simulated"])
    np.testing.assert_allclose(taus, expected["tau_b"], rtol=0, atol=tolerance)
    assert taus.mean() == pytest.approx(expected["KRCC"], abs=tolerance)


@pytest.mark.parametrize("n", WORD_BORDERS)
@pytest.mark.parametrize(
    ("reference_decimals", "decimals"), [(None, None), (1, None), (None, 1), (1, 0)]
)
def test_taus_as_by_scipy(n, reference_decimals, decimals):
    rng = np.random.default_rng(n)
    reference = scores(rng, n, decimals=reference_decimals)
    samples = scores(rng, 6, n, decimals=decimals) + reference.round(0)
    expected = [scipy_tau(reference, row) for row in samples]
    np.testing.assert_allclose(taus_against(reference, samples), expected, rtol=0, atol=1e-12)
    single = [kendall_tau(reference, row).value for row in samples]
    np.testing.assert_allclose(single, expected, rtol=0, atol=1e-12)


def test_constant_rows_have_no_tau():
    taus = taus_against([3, 2, 1], [[1, 1, 1], [3, 2, 1], [1, 2, 3]])
    np.testing.assert_equal(taus, [np.nan, 1.0, -1.0])
    assert np.isnan(taus_against([1, 1, 1], [[3, 2, 1]])).all()
    assert np.isnan(taus_against([1], [[3], [4]])).all()
    assert taus_against([2, 1], np.zeros((0, 2))).shape == (0,)


def test_perfect_agreement_is_exact_for_any_number_of_systems():
    for n in range(3, 200):
        values = np.arange(n) // 1.5
        assert kendall_tau(values, values).value == 1.0
        assert kendall_tau(values, -values).value == -1.0
        assert taus_against(values, [values, -values]).tolist() == [1.0, -1.0]


# tau_AP


def test_tau_ap_of_the_golden_files():
    inputs, expected, tolerance = golden_case("tau_ap_no_ties")
    truth, estimate = inputs["truth"], inputs["estimate"]
    for ties in "ab":
        found = tau_ap(estimate, truth, ties=ties)
        assert found.value == pytest.approx(expected["tau_ap"], abs=tolerance)
        turned = tau_ap(truth, estimate, ties=ties).value
        assert turned == pytest.approx(expected["tau_ap_reversed"], abs=tolerance)
        mean = symmetric_tau_ap(truth, estimate, ties=ties).value
        assert mean == pytest.approx(expected["tau_ap_symmetric"], abs=tolerance)
        perfect = tau_ap(truth, truth, ties=ties).value
        assert perfect == pytest.approx(expected["perfect"], abs=tolerance)
        assert tau_ap(-np.array(truth), truth, ties=ties).value == expected["inverse"]
    small = expected["small"]
    top = tau_ap(small["estimate"], small["truth"]).value
    assert top == pytest.approx(small["tau_ap"], abs=tolerance)
    bottom = tau_ap(small["estimate_bottom_swap"], small["truth"]).value
    assert bottom == pytest.approx(small["tau_ap_bottom_swap"], abs=tolerance)


def test_tau_ap_with_ties_of_the_golden_file():
    inputs, expected, tolerance = golden_case("tau_ap_ties")
    found = tau_ap(inputs["estimate"], inputs["truth"])
    assert found.value == pytest.approx(expected["tau_ap"], abs=tolerance)
    assert enumerated_tau_ap(inputs["estimate"], inputs["truth"]) == Fraction(expected["fraction"])


def test_tau_ap_as_by_ircor():
    # R package ircor 1.0, the example of tauAP's manual page, seven digits.
    x = [0.67, 0.45, 0.29, 0.12, 0.57, 0.24, 0.94, 0.75, 0.08, 0.54]
    y = [0.48, 0.68, 0.32, 0.09, 0.06, 0.61, 0.87, 0.22, 0.44, 0.84]
    assert tau_ap(y, x).value == pytest.approx(0.3928571, abs=5e-8)
    y = np.round(y, 1)
    assert tau_ap(y, x).value == pytest.approx(0.39903, abs=5e-8)
    assert symmetric_tau_ap(x, y, ties="b").value == pytest.approx(0.3317019, abs=5e-8)
    x = np.round(x, 1)
    assert symmetric_tau_ap(x, y, ties="b").value == pytest.approx(0.339418, abs=5e-8)


small_rankings = st.integers(2, 7).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 3), min_size=n, max_size=n)] * 2)
)


@settings(max_examples=60, deadline=None)
@given(small_rankings)
def test_tau_ap_is_the_mean_over_all_orders_of_ties(pair):
    estimate, reference = pair
    # 7! orders take a second in exact arithmetic; up to 5! will do.
    if prod(len(list(permutations(group))) for group in groups_of(estimate)) > 120:
        estimate = estimate[:4] + list(range(10, 10 + len(estimate) - 4))
    expected = float(enumerated_tau_ap(estimate, reference))
    assert tau_ap(estimate, reference).value == pytest.approx(expected, abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(small_rankings)
def test_tau_ap_b_follows_its_definition(pair):
    estimate, reference = pair
    found, expected = tau_ap(estimate, reference, ties="b"), defined_tau_ap_b(estimate, reference)
    if expected is None:
        assert np.isnan(found.value)
        assert found.flag == ALL_TIED
    else:
        assert found.value == pytest.approx(float(expected), abs=1e-12)


def test_all_systems_tied():
    # By chance half of the pairs are in order, hence 0 in "a"; "b" has no pair to judge by.
    assert tau_ap([1, 1, 1], [3, 2, 1]).value == pytest.approx(0, abs=1e-15)
    assert tau_ap([3, 2, 1], [1, 1, 1]).value == pytest.approx(0, abs=1e-15)
    assert symmetric_tau_ap([3, 2, 1], [1, 1, 1], ties="b").flag == ALL_TIED


# all pairs of measures


@pytest.mark.parametrize("n", WORD_BORDERS)
@pytest.mark.parametrize("decimals", [None, 1, 0])
@pytest.mark.parametrize("ties", ["a", "b"])
def test_all_pairs_against_scipy_and_plain_sums(n, decimals, ties):
    rng = np.random.default_rng(n)
    values = scores(rng, 4, n, decimals=decimals)
    values[3] = scores(rng, n)
    found = pairwise_tau_and_tau_ap(values, ties=ties)
    pairs = all_pairs(4)
    expected = [scipy_tau(values[i], values[j]) for i, j in pairs]
    np.testing.assert_allclose(found.tau, expected, rtol=0, atol=1e-12)
    forward = [plain_tau_ap(values[i], values[j], ties) for i, j in pairs]
    np.testing.assert_allclose(found.tau_ap_first, forward, rtol=0, atol=1e-12)
    backward = [plain_tau_ap(values[j], values[i], ties) for i, j in pairs]
    np.testing.assert_allclose(found.tau_ap_second, backward, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.tau_ap, np.mean([forward, backward], axis=0), atol=1e-12)


def plain_tau_ap(estimate, reference, ties):
    """tau_AP with every pair of systems compared; checked by enumeration above."""
    n = len(estimate)
    higher = estimate[:, None] > estimate[None, :]
    right = reference[:, None] > reference[None, :]
    above, tied = higher.sum(0), (estimate[:, None] == estimate[None, :]).sum(0)
    concordant = (higher & right).sum(0)
    if ties == "b":
        below_top = above > 0
        if not below_top.any():
            return np.nan
        return 2 * np.mean(concordant[below_top] / above[below_top]) - 1
    half = (higher & (reference[:, None] == reference[None, :])).sum(0) / 2
    total = 0.0
    for start, size, credit in zip(above, tied, concordant + half, strict=True):
        # Each rank of its tie group is as likely; those before it in the group are half right.
        for rank in range(max(start, 1), start + size):
            total += (credit + (rank - start) / 2) / rank / size
    return 2 * total / (n - 1) - 1


def test_a_stack_of_samples_is_each_sample():
    rng = np.random.default_rng(2)
    stack = scores(rng, 3, 5, 8, 40, decimals=1)
    found = pairwise_tau_and_tau_ap(stack)
    assert found.tau.shape == found.tau_ap.shape == (3, 5, 28)
    for index in np.ndindex(3, 5):
        one = pairwise_tau_and_tau_ap(stack[index])
        assert found.tau[index].tolist() == one.tau.tolist()
        assert found.tau_ap[index].tolist() == one.tau_ap.tolist()


@pytest.mark.parametrize("coefficient", ["tau", "tau_ap"])
def test_matrix_of_correlations(coefficient):
    values = scores(np.random.default_rng(4), 5, 30, decimals=1)
    matrix = correlations(values, coefficient=coefficient)
    single = {
        "tau": lambda a, b: kendall_tau(a, b).value,
        "tau_ap": lambda a, b: symmetric_tau_ap(a, b).value,
    }[coefficient]
    expected = [[single(a, b) for b in values] for a in values]
    np.testing.assert_allclose(matrix, expected, rtol=0, atol=1e-15)
    assert (matrix == matrix.T).all()
    assert (np.diag(matrix) == 1).all() == (coefficient == "tau")
    best = np.diag(correlations(values, coefficient="tau_ap", ties="b"))
    np.testing.assert_allclose(best, 1, atol=1e-15)


def test_a_measure_without_order_correlates_with_none():
    matrix = correlations([[1, 2, 3], [2, 2, 2], [3, 2, 1]])
    np.testing.assert_equal(matrix, [[1, np.nan, -1], [np.nan] * 3, [-1, np.nan, 1]])


# intervals


def test_published_intervals():
    inputs, expected, tolerance = golden_case("kendall_ci_sakai2016_table2")
    for i, tau in enumerate(inputs["tau"]):
        found = kendall_interval(tau, inputs["n"], confidence=inputs["conf"])
        assert found.high - tau == pytest.approx(expected["half_width"], abs=1e-12)
        assert found.low == pytest.approx(expected["published_lower"][i], abs=tolerance)
        assert found.high == pytest.approx(expected["published_upper"][i], abs=tolerance)
        assert "tau = 0" in found.method


def test_the_null_standard_error_is_that_of_random_orders():
    n = 6
    taus = taus_against(range(n), list(permutations(range(n))))
    found = kendall_interval(0.0, n, confidence=0.9)
    assert found.high == pytest.approx(stats.norm.ppf(0.95) * taus.std(), abs=1e-12)


def noisy(rng, n_systems, n_topics, *, spread=0.05, agreement=0.9):
    """True means of two measures, and a function that draws scores [2, system, topic]."""
    own = rng.normal(0, spread, (2, n_systems))
    means = np.stack([own[0], agreement * own[0] + np.sqrt(1 - agreement**2) * own[1]])
    return means, lambda: means[:, :, None] + rng.normal(0, 0.2, (2, n_systems, n_topics))


def test_resampled_topics_against_all_resamples():
    _, draw = noisy(np.random.default_rng(11), 6, 5)
    both = draw()
    every = np.array(list(product(range(5), repeat=5)))
    taus = np.array([scipy_tau(*both[:, :, each].mean(axis=2)) for each in every])
    tau = scipy_tau(*both.mean(axis=2))
    found = bootstrap_tau_interval(*both, n_samples=20_000, seed=3)
    assert found.tau == pytest.approx(tau, abs=1e-12)
    # Five standard errors of a mean of 20,000: a false alarm in two of a million seeds.
    error = taus.std() / np.sqrt(20_000)
    assert found.bias == pytest.approx(taus.mean() - tau, abs=5 * error)
    # tau has few values: here .01 and .11, .93 and .99 of the resamples lie on either side of the
    # quantiles, more than 20 standard errors away.
    low, high = np.clip(np.quantile(taus, [0.025, 0.975]) - (taus.mean() - tau), -1, 1)
    assert found.low == pytest.approx(low, abs=5 * error)
    assert found.high == pytest.approx(high, abs=5 * error)


@pytest.mark.slow
def test_intervals_hold_the_mean_tau_of_other_topic_sets():
    rng, held, trials = np.random.default_rng(9), 0, 250
    for seed in range(trials):
        _, draw = noisy(rng, 50, 40)
        sets = np.stack([draw().mean(axis=2) for _ in range(60)])
        mean_tau = pairwise_tau_and_tau_ap(sets).tau.mean()
        found = bootstrap_tau_interval(*draw(), n_samples=256, seed=seed, jobs=1)
        held += found.low <= mean_tau <= found.high
    # The share is about .93 at level .95, and leaves this band for one in 5,000 seeds; with
    # quantiles that were not shifted, or mirrored, it would be .6 or .5.
    assert 0.87 <= held / trials <= 0.99


def test_equal_means_tie_however_their_sums_were_rounded():
    tied = [[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.3, 0.1]]
    assert len({a + b + c for a, b, c in tied}) > 1  # `sum` of Python 3.12 rounds once
    a, b = [*tied, [0.7, 0.8, 0.9]], [[0.1] * 3, [0.2] * 3, [0.3] * 3, [0.4] * 3]
    expected = scipy_tau([1, 1, 1, 2], [1, 2, 3, 4])
    assert bootstrap_tau_interval(a, b).tau == pytest.approx(expected, abs=1e-12)


def test_topics_that_a_system_lacks_are_dropped_for_all():
    _, draw = noisy(np.random.default_rng(2), 8, 12)
    a, b = draw()
    a[3, 4] = b[0, 7] = np.nan
    found = bootstrap_tau_interval(a, b, seed=1)
    assert (found.n, found.n_topics, found.n_dropped) == (8, 10, 2)
    keep = [k for k in range(12) if k not in (4, 7)]
    rest = bootstrap_tau_interval(a[:, keep], b[:, keep], seed=1)
    assert (found.low, found.high, found.tau) == (rest.low, rest.high, rest.tau)


def test_intervals_that_cannot_be():
    one_topic = bootstrap_tau_interval([[0.1], [0.2]], [[0.1], [0.2]])
    assert (one_topic.tau, one_topic.flag) == (1.0, TOO_FEW)
    none = bootstrap_tau_interval([[np.nan], [0.2]], [[0.1], [0.2]])
    assert (none.n_topics, none.flag) == (0, TOO_FEW)
    tied = bootstrap_tau_interval([[0.1, 0.2], [0.2, 0.1]], [[0.1, 0.2], [0.2, 0.2]])
    assert tied.flag == ALL_TIED
    alone = bootstrap_tau_interval([[0.1, 0.2]], [[0.1, 0.2]])
    assert alone.flag == TOO_FEW_SYSTEMS
    for each in (one_topic, none, tied, alone):
        assert np.isnan([each.low, each.high]).all()
    refused("at least 2 systems, got n = 1", kendall_interval, 0.5, 1)
    refused("between -1 and 1, got 1.2", kendall_interval, 1.2, 10)
    refused("confidence", kendall_interval, 0.5, 10, confidence=95)


# wrong input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kendall_tau([1, np.nan], [1, 2]), r"first ranking: no score at \[1\]"),
        (lambda: kendall_tau([1, 2], [1, 2, 3]), r"differ in shape: \(2,\) and \(3,\)"),
        (lambda: kendall_tau([[1, 2]], [[1, 2]]), r"expected 1 dimensions, got shape \(1, 2\)"),
        (lambda: taus_against([1, 2], [[1, 2, 3]]), "has 2 systems, the samples have 3"),
        (lambda: taus_against([1, 2], [[1, 2], [np.nan, 1]]), r"samples: no score at \[1, 0\]"),
        (lambda: taus_against([1, 2], [1, 2]), "samples: expected 2 dimensions"),
        (lambda: pairwise_tau_and_tau_ap([1, 2]), r"\[..., measure, system\], got shape \(2,\)"),
        (lambda: correlations([[1, np.nan]]), "no score at"),
        (lambda: bootstrap_tau_interval([[1, 2]], [[1]]), "differ in shape"),
        (lambda: bootstrap_tau_interval([[1]], [[1]], n_samples=0), "n_samples must be"),
        (
            lambda: taus_against([1, 2], [[1, 2]] * 40_000, jobs=0),
            "jobs must be a whole number of at least 1",
        ),
    ],
)
def test_wrong_input_is_named(call, message):
    refused(message, call)


@pytest.mark.parametrize(
    "call",
    [
        lambda: kendall_tau([1, 2], [1, 2], variant="c"),
        lambda: tau_ap([1, 2], [1, 2], ties="w"),
        lambda: correlations([[1, 2]], coefficient="rho"),
    ],
)
def test_unknown_choices_are_named(call):
    refused("unknown", call, error=UnknownNameError)

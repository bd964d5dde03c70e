"""Rank correlations against SciPy, exact enumeration of ties, and other people's figures."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
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
    EMPTY_RANKING,
    TOO_FEW_SYSTEMS,
    bootstrap_tau_interval,
    correlations,
    kendall_interval,
    kendall_tau,
    pairwise_tau_and_tau_ap,
    rbo,
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


def test_threads_and_blocks_change_no_bit():
    rng = np.random.default_rng(5)
    reference, samples = scores(rng, 300, decimals=1), scores(rng, 1500, 300, decimals=1)
    one = taus_against(reference, samples, jobs=1)
    assert one.tobytes() == taus_against(reference, samples, jobs=4).tobytes()
    alone = [taus_against(reference, samples[[i]])[0] for i in range(0, 1500, 97)]
    assert one[::97].tolist() == alone


def test_infinite_scores_are_ranks_like_others():
    assert kendall_tau([np.inf, 2, -np.inf], [3, 2, 1]).value == 1.0
    assert kendall_tau([np.inf, np.inf, 0], [3, 3, 1]).value == 1.0
    assert kendall_tau([0.0, -0.0, 1.0], [1, 1, 2]).value == 1.0


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


def test_threads_may_share_the_work():
    samples = scores(np.random.default_rng(3), 64, 8, 100, decimals=2)
    samples.flags.writeable = False
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(pairwise_tau_and_tau_ap, samples))
    expected = pairwise_tau_and_tau_ap(samples)
    assert [each.tau.tolist() for each in found] == expected.tau.tolist()
    assert [each.tau_ap.tolist() for each in found] == expected.tau_ap.tolist()


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


# what must not matter


rankings = st.integers(2, 90).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(-20, 20), min_size=n, max_size=n),
        st.lists(st.integers(-20, 20), min_size=n, max_size=n),
        st.permutations(range(n)),
    )
)

COEFFICIENTS = {
    "tau": lambda a, b: kendall_tau(a, b).value,
    "tau-a": lambda a, b: kendall_tau(a, b, variant="a").value,
    "tau_ap": lambda a, b: tau_ap(a, b).value,
    "tau_ap b": lambda a, b: tau_ap(a, b, ties="b").value,
    "rbo": lambda a, b: rbo(a, b).value,
    "rbo b": lambda a, b: rbo(a, b, ties="b").value,
    "rbo w": lambda a, b: rbo(a, b, ties="w").value,
}


@pytest.mark.parametrize("name", COEFFICIENTS)
@settings(max_examples=25, deadline=None)
@given(rankings)
def test_relabelling_and_rescaling_change_nothing(name, drawn):
    a, b, order = (np.array(each) for each in drawn)
    value = COEFFICIENTS[name](a, b)
    if name.startswith("rbo"):
        assert COEFFICIENTS[name](a[order], b[order]) == pytest.approx(value, abs=1e-12)
    else:
        np.testing.assert_equal(COEFFICIENTS[name](a[order], b[order]), value)
    np.testing.assert_equal(COEFFICIENTS[name](np.exp(a / 7), b**3 - 5.0), value)
    assert np.isnan(value) or -1 <= value <= 1 + 1e-12


@settings(max_examples=25, deadline=None)
@given(rankings)
def test_swapping_the_rankings_changes_nothing_where_both_are_equal(drawn):
    a, b, _ = drawn
    for name in ("tau", "tau-a", "rbo", "rbo b", "rbo w"):
        np.testing.assert_allclose(COEFFICIENTS[name](a, b), COEFFICIENTS[name](b, a), atol=1e-15)
    for ties in "ab":
        found = symmetric_tau_ap(a, b, ties=ties).value
        np.testing.assert_equal(found, symmetric_tau_ap(b, a, ties=ties).value)


@settings(max_examples=25, deadline=None)
@given(rankings)
def test_reversing_a_ranking_reverses_tau(drawn):
    a, b, order = (np.array(each) for each in drawn)
    np.testing.assert_array_equal(kendall_tau(-a, b).value, -kendall_tau(a, b).value)
    for reverse in (kendall_tau(order, -order), tau_ap(order, -order), tau_ap(-order, order)):
        assert reverse.value == -1
    assert tau_ap(order, order).value == pytest.approx(1, abs=1e-12)
    assert tau_ap(b, np.zeros(b.size)).value == pytest.approx(0, abs=1e-12)


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


def test_intervals_do_not_depend_on_threads():
    _, draw = noisy(np.random.default_rng(1), 30, 25)
    both = draw()
    one = bootstrap_tau_interval(*both, n_samples=700, seed=5, jobs=1)
    assert one == bootstrap_tau_interval(*both, n_samples=700, seed=5, jobs=3)
    assert one != bootstrap_tau_interval(*both, n_samples=700, seed=6, jobs=1)
    assert one.low < one.tau < one.high
    # Were the blocks of resamples alike, two of them would have the mean of one.
    means = [bootstrap_tau_interval(*both, n_samples=n, seed=5).bias for n in (256, 512)]
    assert means[0] != pytest.approx(means[1], abs=1e-9)
    wider = bootstrap_tau_interval(*both, n_samples=700, seed=5, confidence=0.99)
    assert wider.low <= one.low < one.high <= wider.high


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


# rank-biased overlap


def ranked(text, items):
    """Scores from a ranking such as "x (y z)": brackets hold ties, absent items are NaN."""
    found = np.full(len(items), np.nan)
    for place, (tied, single) in enumerate(re.findall(r"\(([^)]*)\)|(\w+)", text)):
        for name in (tied or single).split():
            found[items.index(name)] = -place
    return found


def webber(a, b, p):
    """Extrapolated overlap of two orders without ties (equation 32 of Webber et al. 2010)."""
    a, b = sorted((a, b), key=len)
    short, long = len(a), len(b)
    common = [len(set(a[:d]) & set(b[:d])) for d in range(long + 1)]
    seen = sum(common[d] / d * p**d for d in range(1, long + 1))
    unseen = sum(
        common[short] * (d - short) / (short * d) * p**d for d in range(short + 1, long + 1)
    )
    end = (common[long] - common[short]) / long + common[short] / short
    return (1 - p) / p * (seen + unseen) + end * p**long


def untied(values):
    """The ranked items from the best down."""
    return [int(i) for i in np.argsort(-np.asarray(values)) if not np.isnan(values[i])]


# M. Corsi's and J. Urbano's own tests: github.com/julian-urbano/sigir2024-rbo, rbo/test.csv at
# 463d6d5; ranking, ranking, p, and the extrapolated overlap with ties w, a, b.
PUBLISHED = """
(i5 i9 i13 i15 i16 i19 i20) (i3 i8),i6 (i4 i18) i2 i7 i8 i17 i14 (i11 i12) i1,0.958074765324023,\
0.0816485573277354,0.0808189832771587,0.0813693619867344
i13 (i1 i4 i5 i6),i3 i14 i11 (i10 i15) i12 (i6 i9) i4 i2,0.92238320668128,\
0.117578490431637,0.114619469221414,0.11474835409049
i13 i4 (i1 i2 i5 i6),i11 i14 i1 (i5 i6) (i3 i12) i8,0.936646766367491,\
0.419724384588563,0.400042334962327,0.410333982781949
(i4 i7 i15) (i2 i11) i8 i18,i4 i8 i17 i11 (i2 i3 i5 i7 i9 i13 i14),0.955836875418683,\
0.601671359995661,0.584235464666522,0.632087129618464
(i3 i6) (i2 i7) i10,(i3 i6 i7 i10) (i1 i2),0.965413635276732,\
0.946064537517568,0.92051534467649,0.956844651806714
(i5 i20) (i3 i8 i10 i11) i13,(i1 i2 i3 i4 i5 i6 i7 i8 i9 i10 i11 i12 i13),0.956020041658117,\
0.640387430188247,0.536528176569959,0.650587440650316
i2 i5 i3 (i1 i4),i5 i8 i2 (i3 i9),0.968922741966306,\
0.580287544332462,0.580994268838527,0.583518284931614
""".strip().splitlines()


@pytest.mark.parametrize("line", PUBLISHED)
def test_overlap_as_by_its_authors(line):
    first, second, *figures = line.split(",")
    p, *expected = map(float, figures)
    items = sorted(set(re.findall(r"\w+", first + " " + second)))
    a, b = ranked(first, items), ranked(second, items)
    for ties, value in zip("wab", expected, strict=True):
        assert rbo(a, b, p=p, ties=ties).value == pytest.approx(value, abs=1e-12)
        assert rbo(b, a, p=p, ties=ties).value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("ties", ["a", "b", "w"])
@pytest.mark.parametrize("p", [0.5, 0.9, 0.98])
def test_overlap_without_ties_as_by_webber(ties, p):
    rng = np.random.default_rng(7)
    for _ in range(30):
        a, b = rng.permuted(np.tile(np.arange(12.0), (2, 1)), axis=1)
        a[rng.random(12) < 0.3] = np.nan
        b[rng.random(12) < 0.5] = np.nan
        a[0], b[1] = 20.0, 20.0
        expected = webber(untied(a), untied(b), p)
        assert rbo(a, b, p=p, ties=ties).value == pytest.approx(expected, abs=1e-12)


def all_orders(values):
    ranked_items = [i for i in range(len(values)) if not np.isnan(values[i])]
    kept = [values[i] for i in ranked_items]
    return [[ranked_items[i] for i in order] for order in orders_of(kept)]


TIED = ["a (b c) d", "(a b) (c e)", "(a c e) b", "(b d e f)", "e f (a d)", "(a f) (b e)"]
"""Rankings of four items with ties."""


@pytest.mark.parametrize(("first", "second"), [(x, y) for x in TIED for y in TIED])
def test_overlap_is_the_mean_over_all_orders_of_ties(first, second):
    a, b = ranked(first, "abcdef"), ranked(second, "abcdef")
    every = [webber(x, y, 0.8) for x in all_orders(a) for y in all_orders(b)]
    assert rbo(a, b, p=0.8).value == pytest.approx(np.mean(every), abs=1e-12)


@pytest.mark.parametrize(("first", "second"), [(x, y) for x in TIED for y in TIED])
def test_overlap_corrected_for_ties(first, second):
    a, b = ranked(first, "abcdef"), ranked(second, "abcdef")

    def mean_common(x, y, d):
        found = [len({*i[:d]} & {*j[:d]}) for i in all_orders(x) for j in all_orders(y)]
        return np.mean(found)

    agreement = [
        mean_common(a, b, d) / np.sqrt(mean_common(a, a, d) * mean_common(b, b, d))
        for d in range(1, 5)
    ]
    weights = 0.2 * 0.8 ** np.arange(4)
    expected = weights @ agreement + 0.8**4 * agreement[-1]
    assert rbo(a, b, p=0.8, ties="b").value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("first", "second"), [(x, y) for x in TIED for y in TIED])
def test_overlap_of_truly_equal_items(first, second):
    a, b = ranked(first, "abcdef"), ranked(second, "abcdef")

    def top(values, d):
        # Everything whose group begins at rank d or before.
        return {i for i in range(6) if not np.isnan(values[i]) and (values > values[i]).sum() < d}

    agreement = [
        2 * len(top(a, d) & top(b, d)) / (len(top(a, d)) + len(top(b, d))) for d in range(1, 5)
    ]
    expected = 0.2 * 0.8 ** np.arange(4) @ agreement + 0.8**4 * agreement[-1]
    assert rbo(a, b, p=0.8, ties="w").value == pytest.approx(expected, abs=1e-12)


def test_overlap_of_equal_and_of_disjoint_rankings():
    tied = [3.0, 3.0, 2.0, 1.0, 1.0]
    assert rbo(tied, tied, ties="b").value == pytest.approx(1, abs=1e-12)
    assert rbo(tied, tied, ties="w").value == pytest.approx(1, abs=1e-12)
    assert rbo(tied, tied, ties="a").value < 0.95
    nan = np.nan
    assert rbo([2, 1, nan, nan], [nan, nan, 2, 1]).value == 0
    empty = rbo([nan, nan], [1, 2])
    assert np.isnan(empty.value)
    assert empty.flag == EMPTY_RANKING


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
        (lambda: rbo([1, 2], [1, 2], p=1), "p must lie strictly between 0 and 1"),
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
        lambda: rbo([1, 2], [1, 2], ties="c"),
    ],
)
def test_unknown_choices_are_named(call):
    refused("unknown", call, error=UnknownNameError)

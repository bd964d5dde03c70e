"""Tests of non-deterministic systems in closed form, against R, the mixed model and simulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from golden_cases import golden
from hypothesis import given, settings
from hypothesis import strategies as st
from mixed_layouts import of_array
from plain_tables import close, refused
from scipy import stats

from steadyrank.stats.mixed.fit import _rows_of, fit, scale_of
from steadyrank.stats.mixed.general import tables_of
from steadyrank.stats.mixed.search import maximise
from steadyrank.stats.mixed.two_way import (
    ONE_INSTANCE,
    ONE_TOPIC,
    nested_difference,
    two_way_difference,
)
from steadyrank.stats.pairs.result import NO_DIFFERENCE, TOO_FEW, ZERO_VARIANCE


def differences(instances, topics, sd_instance, sd_topic, sd_error, seed=0):
    rng = np.random.default_rng(seed)
    return (
        sd_instance * rng.normal(size=(instances, 1))
        + sd_topic * rng.normal(size=topics)
        + sd_error * rng.normal(size=(instances, topics))
    )


def two_way_model(d):
    terms = {"instance": "instance", "topic": "topic"}
    return of_array(d, axes=("instance", "topic"), random=terms)


def nested_model(a, b):
    terms = {
        "instance": ("system", "instance"),
        "topic": ("system", "topic"),
        "difficulty": "topic",
    }
    axes = ("system", "instance", "topic")
    return of_array(np.stack([a, b]), axes=axes, random=terms, fixed="system")


def test_difference_to_a_deterministic_system_as_by_r():
    case = golden("twoway_random_difference")
    inputs, want, tolerance = case["inputs"], case["expected"], case["tolerance"]
    d = np.empty((5, 12))
    d[inputs["instance"], inputs["topic"]] = inputs["d"]
    test = two_way_difference(d)
    assert test.estimate == pytest.approx(want["estimate"], rel=1e-10)
    close(test, want["closed_form"], "standard_error=se df", rel=1e-12)
    assert test.instance.ms == pytest.approx(want["ms"]["instance"], rel=1e-12)
    assert test.topic.ms == pytest.approx(want["ms"]["topic"], rel=1e-12)
    assert test.error.ms == pytest.approx(want["ms"]["error"], rel=1e-12)
    close(test, want, "standard_error=se df=df_satterthwaite pvalue=p", rel=tolerance)
    for ours, theirs in (("instance", "i"), ("topic", "t"), ("residual", "Residual")):
        assert test.variances[ours] == pytest.approx(want["var_reml"][theirs], rel=tolerance)


def test_two_non_deterministic_systems_as_by_r():
    case = golden("lmm_nested_small")
    want, tolerance = case["expected"], case["tolerance"]
    first, second = np.array(case["inputs"]["y"]).reshape(2, 5, 12)
    test = nested_difference(second, first)
    assert test.estimate == pytest.approx(want["fixef"][1], rel=tolerance)
    assert test.standard_error == pytest.approx(want["se"][1], rel=tolerance)
    assert test.df == pytest.approx(want["df_satterthwaite"][1], rel=tolerance)
    assert test.pvalue == pytest.approx(want["p_satterthwaite"][1], rel=tolerance)
    for ours, theirs in (("instance", "i"), ("topic", "s:t"), ("residual", "Residual")):
        assert test.variances[ours] == pytest.approx(want["var_reml"][theirs], rel=tolerance)


sizes = st.tuples(
    st.integers(2, 6),
    st.integers(2, 8),
    st.sampled_from([0.0, 0.5, 2.0]),
    st.sampled_from([0.0, 0.5, 2.0]),
    st.integers(0, 10**6),
)
methods = st.sampled_from(["satterthwaite", "kenward-roger"])


def assert_same(test, found, rel):
    """Closed form and mixed model, of which the last coefficient is the difference."""
    assert test.standard_error == pytest.approx(found.standard_errors[-1], rel=rel)
    assert test.df == pytest.approx(found.df[-1], rel=rel)
    assert test.pvalue == pytest.approx(found.pvalue[-1], rel=10 * rel, abs=1e-14)
    assert test.dropped == tuple(name for name in found.dropped if name in test.variances)
    named = {name: found.variances[name] for name in test.variances}
    assert test.variances == pytest.approx(named, rel=10 * rel, abs=1e-10)


@given(sizes, methods)
@settings(max_examples=100, deadline=None)
def test_the_rules_of_truncation_are_the_mixed_model(size, df_method):
    instances, topics, sd_instance, sd_topic, seed = size
    d = differences(instances, topics, sd_instance, sd_topic, 1.0, seed)
    test = two_way_difference(d, df_method=df_method)
    found = fit(two_way_model(d), df_method=df_method)
    assert test.estimate == pytest.approx(found.estimates[0], rel=1e-9, abs=1e-12)
    assert_same(test, found, 1e-9)


@given(sizes, methods)
@settings(max_examples=60, deadline=None)
def test_nested_rules_are_the_mixed_model_with_topics_that_vary(size, df_method):
    instances, topics, sd_instance, sd_topic, seed = size
    a = differences(instances, topics, sd_instance, sd_topic, 1.0, seed)
    b = differences(instances, topics, sd_instance, sd_topic, 1.0, seed + 1)
    difficulty = 30.0 * np.random.default_rng(seed).permutation(topics)
    test = nested_difference(a, b, df_method=df_method)
    found = fit(nested_model(a + difficulty, b + difficulty), df_method=df_method)
    assert test.estimate == pytest.approx(found.estimates[1], rel=1e-7, abs=1e-10)
    if "difficulty" in found.dropped:
        return
    assert_same(test, found, 1e-6)


def pools_once(test):
    """Whether both mean squares are below the error's, and one above it once they are pooled."""
    below = max(test.instance.ms, test.topic.ms) <= test.error.ms
    return below and len(test.dropped) == 1


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(5, 5), (3, 4), (2, 10), (6, 2)])
@pytest.mark.parametrize("systems", [1, 2])
def test_pooling_is_reml_by_the_search_for_any_layout(shape, systems):
    """The search knows no mean squares: 150 designs without effects, of which some 5% pool once."""
    rng, pooled_once = np.random.default_rng(3), 0
    for _ in range(150):
        scores = rng.normal(size=(systems, *shape))
        if systems == 1:
            test, model = two_way_difference(scores[0]), two_way_model(scores[0])
        else:
            scores = scores + 30.0 * rng.permutation(shape[1])
            test, model = nested_difference(*scores), nested_model(*scores)
        scale = scale_of(model)
        rows = _rows_of(model)
        scaled = (rows.response - scale.centre) / scale.spread
        tables = tables_of(replace(rows, response=scaled))
        best = maximise(tables, np.arange(len(model.random) + 1))
        error = np.sqrt(best.covariance[-1, -1]) * scale.spread
        assert test.standard_error == pytest.approx(error, rel=1e-5)
        searched = dict(
            zip([*model.random, "residual"], best.variances * scale.spread**2, strict=True)
        )
        assert test.variances == pytest.approx({k: searched[k] for k in test.variances}, abs=1e-5)
        pooled_once += pools_once(test)
    assert pooled_once > 2


@pytest.mark.slow
@pytest.mark.parametrize("sd_instance", [0.0, 0.02])
def test_level_by_simulation(sd_instance):
    """2,000 tests at 0.05, 10 × 50: within 4.3 standard errors of 0.05, a false alarm in 50,000.

    The t test on instance means rejects in some 8% of cases where instances differ.
    """
    made = [differences(10, 50, sd_instance, 0.08, 0.06, seed) for seed in range(2000)]
    share = np.mean([two_way_difference(d).pvalue < 0.05 for d in made])
    assert 0.029 < share < 0.071
    naive = np.mean([stats.ttest_1samp(d.mean(axis=0), 0.0).pvalue < 0.05 for d in made])
    assert (naive > 0.071) == (sd_instance > 0)


def test_one_instance_is_a_paired_t_test():
    z = np.random.default_rng(0).normal(size=(1, 9))
    test, theirs = two_way_difference(z), stats.ttest_1samp(z[0], 0.0)
    assert test.flag == ONE_INSTANCE
    assert (test.statistic, test.pvalue) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert np.isnan(test.variances["instance"])
    a, b = np.random.default_rng(1).normal(size=(2, 1, 9))
    test, theirs = nested_difference(a, b), stats.ttest_rel(a[0], b[0])
    assert test.flag == ONE_INSTANCE
    assert (test.statistic, test.pvalue) == pytest.approx((theirs.statistic, theirs.pvalue))


def test_one_topic_compares_instances():
    a, b = np.random.default_rng(1).normal(size=(2, 7, 1))
    test, theirs = nested_difference(a, b), stats.ttest_ind(a[:, 0], b[:, 0])
    assert test.flag == ONE_TOPIC
    assert (test.statistic, test.pvalue) == pytest.approx((theirs.statistic, theirs.pvalue))
    test, theirs = two_way_difference(a), stats.ttest_1samp(a[:, 0], 0.0)
    assert test.flag == ONE_TOPIC
    assert (test.statistic, test.pvalue) == pytest.approx((theirs.statistic, theirs.pvalue))


def test_degenerate_differences():
    none = two_way_difference(np.zeros((3, 4)))
    assert (none.flag, none.pvalue, none.standard_error) == (NO_DIFFERENCE, 1.0, 0.0)
    sure = two_way_difference(np.full((3, 4), -0.1))
    assert (sure.flag, sure.pvalue, sure.statistic) == (ZERO_VARIANCE, 0.0, -np.inf)
    single = two_way_difference([[0.3]])
    assert single.flag == TOO_FEW
    assert single.estimate == 0.3
    assert np.isnan([single.standard_error, single.df, single.pvalue]).all()
    scores = np.random.default_rng(0).random((3, 5))
    same = nested_difference(scores, scores)
    assert same.estimate == 0.0
    assert same.pvalue == 1.0
    alike = two_way_difference(np.repeat(scores[:1], 4, axis=0))
    paired = stats.ttest_1samp(scores[0], 0.0)
    assert alike.dropped == ("instance",)
    assert alike.pvalue == pytest.approx(paired.pvalue, rel=1e-10)


def test_wrong_input_is_explained():
    refused(r"\[instance, topic\], got shape \(3,\)", two_way_difference, [0.1, 0.2, 0.3])
    refused("fit a mixed model", two_way_difference, [[0.1, np.nan], [0.2, 0.3]])
    refused(r"\(2, 3\) and \(2, 4\)", nested_difference, np.ones((2, 3)), np.ones((2, 4)))

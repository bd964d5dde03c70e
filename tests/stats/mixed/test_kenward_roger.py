"""Kenward and Roger's adjustment against R's pbkrtest, dense matrices and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from golden_cases import golden
from instance_power import power
from mixed_layouts import of_array
from plain_tables import close, refused
from scipy import special

from steadyrank.stats.mixed.fit import NO_RESIDUAL, MixedModel, fit
from steadyrank.stats.mixed.two_way import (
    combined_mean_squares,
    nested_difference,
    pooled_squares,
    two_way_difference,
)

CASE = golden("kenward_roger")
NAMES = list(CASE["inputs"])
COMPLETE = [name for name in NAMES if "missing" not in name]


def model_of(name):
    inputs = {key: np.array(values) for key, values in CASE["inputs"][name].items()}
    random = {"i": inputs["instance"], "t": inputs["topic"]}
    if "system" not in inputs:
        return MixedModel(inputs["y"], random=random)
    random["s:t"] = (inputs["system"], inputs["topic"])
    # lme4's coefficient is the later level minus the earlier one.
    return MixedModel(inputs["y"], random=random, fixed=inputs["system"] == "b")


@pytest.mark.parametrize("name", NAMES)
def test_covariance_and_degrees_of_freedom_as_by_pbkrtest(name):
    want, tolerance = CASE["expected"][name], CASE["tolerance"]
    found = fit(model_of(name), df_method="kenward-roger")
    assert found.estimates[-1] == pytest.approx(want["estimate"], rel=tolerance)
    assert found.standard_errors[-1] == pytest.approx(want["se_kr"], rel=tolerance)
    assert found.df[-1] == pytest.approx(want["df_kr"], rel=tolerance)
    assert found.pvalue[-1] == pytest.approx(want["p_kr"], rel=tolerance)
    variances = {"Residual" if k == "residual" else k: v for k, v in found.variances.items()}
    assert variances == pytest.approx(want["var_reml"], rel=tolerance, abs=1e-12)
    assert found.df_method == "kenward-roger"
    assert "Kenward and Roger" in found.method


@pytest.mark.parametrize("name", COMPLETE)
def test_the_closed_form_as_by_pbkrtest(name):
    want, tolerance = CASE["expected"][name], CASE["tolerance"]
    y = np.array(CASE["inputs"][name]["y"])
    instances = len(set(CASE["inputs"][name]["instance"]))
    if "nested" in name:
        a, b = y.reshape(2, instances // 2, -1)
        test = nested_difference(b, a)
    else:
        test = two_way_difference(y.reshape(instances, -1))
    close(test, want, "standard_error=se_kr df=df_kr pvalue=p_kr", rel=tolerance)
    assert test.df_method == "kenward-roger"


def dense_kenward_roger(y, groups, X, found):
    """The definitions of the paper, with whole matrices; Φ's adjustment and 2 f² / var(f)."""
    parts = [np.equal.outer(labels, labels).astype(float) for labels in groups] + [np.eye(len(y))]
    V = sum(v * part for v, part in zip(found.variances.values(), parts, strict=True))
    inverse = np.linalg.inv(V)
    phi = np.linalg.inv(X.T @ inverse @ X)
    P = inverse - inverse @ X @ phi @ X.T @ inverse
    W = 2.0 * np.linalg.inv([[np.trace(P @ a @ P @ b) for b in parts] for a in parts])
    first = [-X.T @ inverse @ a @ inverse @ X for a in parts]
    inner = sum(
        W[k, m] * (X.T @ inverse @ a @ inverse @ b @ inverse @ X - first[k] @ phi @ first[m])
        for k, a in enumerate(parts)
        for m, b in enumerate(parts)
    )
    slopes = np.array([np.diag(-phi @ each @ phi) for each in first])
    df = 2.0 * np.diag(phi) ** 2 / np.einsum("kj,kl,lj->j", slopes, W, slopes)
    return phi + 2.0 * phi @ inner @ phi, df


@pytest.mark.parametrize("seed", range(8))
def test_unbalanced_layouts_as_by_dense_matrices(seed):
    rng = np.random.default_rng(seed)
    first = np.repeat([True, False], [3 * 7, 2 * 7])
    topic, instance = np.tile(np.arange(7), 5), np.repeat(np.arange(5), 7)
    kept = rng.random(35) < 0.85
    first, topic, instance = first[kept], topic[kept], instance[kept]
    cell = topic + 10 * first
    y = rng.normal(size=len(topic)) + rng.normal(size=7)[topic]
    y += seed % 2 * rng.normal(size=5)[instance]
    random = {"instance": instance, "topic": topic, "cell": cell}
    found = fit(MixedModel(y, random=random, fixed=first), df_method="kenward-roger")
    X = np.stack([np.ones(len(y)), first], axis=1)
    covariance, df = dense_kenward_roger(y, (instance, topic, cell), X, found)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-7)
    np.testing.assert_allclose(found.df, df, rtol=1e-7)


def test_with_all_components_above_0_a_balanced_layout_is_satterthwaites():
    name = "nested, balanced, 2 + 2 x 8"
    one, other = (fit(model_of(name), df_method=m) for m in ("kenward-roger", "satterthwaite"))
    np.testing.assert_allclose(one.df, other.df, rtol=1e-8)
    np.testing.assert_allclose(one.covariance, other.covariance, rtol=1e-10)


def test_a_component_at_0_keeps_its_uncertainty():
    d = np.array(CASE["inputs"]["crossed, balanced, 2 x 10, instances at 0"]["y"]).reshape(2, 10)
    few, many = two_way_difference(d), two_way_difference(d, df_method="satterthwaite")
    assert few.df < many.df == 9
    assert few.standard_error == many.standard_error
    assert two_way_difference(np.tile(d, (3, 1))).df_method == "satterthwaite"


def test_what_it_cannot_adjust():
    model = model_of(NAMES[0])
    refused("kenward", fit, model, df_method="kenward")
    y = np.add.outer(np.arange(3.0), np.arange(5.0) ** 2)
    terms = {"instance": "instance", "topic": "topic"}
    exact = of_array(y, axes=("instance", "topic"), random=terms)
    found = fit(exact, df_method="kenward-roger")
    assert (found.flag, found.df_method) == (NO_RESIDUAL, "satterthwaite")


WORST = {"instance": 0.04**2, "system_topic": 0.08**2, "residual": 0.06**2}


@pytest.mark.parametrize(
    ("design", "instances", "level"),
    [("crossed", 2, 0.121), ("crossed", 3, 0.075), ("nested", 2, 0.072), ("nested", 3, 0.057)],
)
def test_level_near_its_worst_case_by_simulation(design, instances, level):
    """What is left of .05 with 2 and 3 instances, 150 topics: stated, not wished for.

    100,000 draws of the mean squares; bands of 4.4 standard errors, a false alarm in 100,000.
    """
    n, topics, systems = 100_000, 150, 2 if design == "nested" else 1
    own = systems * (instances - 1)
    free = (own, topics - 1, own * (topics - 1))
    error = WORST["residual"]
    by_instance, by_topic = topics * WORST["instance"], instances * WORST["system_topic"]
    expected = (by_instance + error, by_topic + error, error)
    rng = np.random.default_rng(8)
    drawn = [ms * rng.chisquare(df, n) / df for ms, df in zip(expected, free, strict=True)]
    squares = pooled_squares(*drawn, free=free)
    combined, df = combined_mean_squares(squares, free=free, df_method="kenward-roger")
    t = rng.normal(0.0, np.sqrt(expected[0] + expected[1] - error), n) / np.sqrt(combined)
    rate = (2.0 * special.stdtr(df, -np.abs(t)) < 0.05).mean()
    band = 4.4 * np.sqrt(level / n)
    assert abs(rate - power(WORST, topics, instances, design=design)) < band + 6e-4
    assert abs(rate - level) < band + 1e-3

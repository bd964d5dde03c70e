"""Mixed models against R's lme4 and lmerTest, statsmodels, dense matrices and simulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from golden_cases import golden
from hypothesis import given, settings
from hypothesis import strategies as st
from mixed_layouts import of_array
from plain_tables import close, refused, words
from scipy import optimize, stats

from steadyrank.errors import InputError
from steadyrank.stats.mixed import fit as mixed_model
from steadyrank.stats.mixed.balanced import LayoutStrata, best_of_strata
from steadyrank.stats.mixed.fit import (
    NO_RESIDUAL,
    MixedModel,
    _satterthwaite,
    component_intervals,
    fit,
    likelihood_of,
    scale_of,
)
from steadyrank.stats.mixed.general import RowTables, tables_of
from steadyrank.stats.mixed.search import identified, maximise, residual_df, search
from steadyrank.stats.pairs.result import NO_DIFFERENCE, TOO_FEW, ZERO_VARIANCE

AXES = ("system", "instance", "topic")
TERMS = {
    "topic": ("topic",),
    "system_topic": ("system", "topic"),
    "nested": ("system", "instance"),
    "crossed": ("instance",),
    "cell": ("instance", "topic"),
}
NESTED = {name: TERMS[name] for name in ("topic", "system_topic", "nested")}


def golden_model(name):
    inputs = {key: np.array(values) for key, values in golden(name)["inputs"].items()}
    system, topic = inputs["system"], inputs["topic"]
    random = {"s:t": (system, topic), "t": topic, "i": inputs["instance"]}
    # lme4's coefficient is the later level minus the earlier one.
    return MixedModel(inputs["y"], random=random, fixed=system == np.unique(system)[1])


def simulated(shape, sds, seed=0):
    """Scores [system, instance, topic]: effects of the five terms in their order, and noise."""
    rng = np.random.default_rng(seed)
    systems, instances, topics = shape
    sizes = [(1, 1, topics), (systems, 1, topics), (systems, instances, 1)]
    sizes += [(1, instances, 1), (1, instances, topics), shape]
    return sum(sd * rng.normal(size=size) for sd, size in zip(sds, sizes, strict=True))


def array_model(values, names=tuple(NESTED), fixed="system"):
    return of_array(values, axes=AXES, random={k: TERMS[k] for k in names}, fixed=fixed)


def general(model):
    """The same likelihood from tables, whatever the layout."""
    scale = scale_of(model)
    rows = mixed_model._rows_of(model)
    return tables_of(replace(rows, response=(rows.response - scale.centre) / scale.spread))


def with_missing(values, share, seed=0):
    values = values.copy()
    values[np.random.default_rng(seed).random(values.shape) < share] = np.nan
    return values


@pytest.mark.parametrize("name", ["lmm_crossed_small", "lmm_nested_small", "lmm_unbal_small"])
def test_fits_of_lme4(name):
    want, tolerance = golden(name)["expected"], golden(name)["tolerance"]
    model = golden_model(name)
    found = fit(model)
    assert found.converged
    assert not found.dropped
    close(found, want, "estimates=fixef standard_errors=se statistic=t", rel=tolerance)
    assert found.df == pytest.approx(want["df_satterthwaite"], rel=1e-4)
    assert found.pvalue == pytest.approx(want["p_satterthwaite"], rel=10 * tolerance)
    assert found.variances["residual"] == pytest.approx(want["var_reml"]["Residual"], rel=tolerance)
    for term in ("s:t", "t", "i"):
        assert found.variances[term] == pytest.approx(want["var_reml"][term], rel=tolerance)
    assert found.log_likelihood == pytest.approx(want["logLik_reml"], abs=1e-6)
    # Ours may only be better: lme4 stops a little short of the maximum.
    assert found.log_likelihood >= want["logLik_reml"] - 1e-10


def test_singular_fit_of_lme4():
    case = golden("lmm_singular")
    want, tolerance = case["expected"], case["tolerance"]
    found = fit(golden_model("lmm_singular"))
    assert want["singular"]
    assert found.dropped == ("i",)
    assert found.variances["i"] == 0.0
    close(found, want, "estimates=fixef standard_errors=se df=df_satterthwaite", rel=tolerance)
    for term, name in (("s:t", "s:t"), ("t", "t"), ("residual", "Residual")):
        assert found.variances[term] == pytest.approx(want["var_reml"][name], rel=tolerance)
    assert found.log_likelihood == pytest.approx(want["logLik_reml"], abs=1e-6)


@pytest.mark.parametrize("place", [0, 3])
def test_profile_intervals_are_where_the_least_deviance_is_higher_by_chi_square(place):
    """Covariance matrices of all rows, minimised over the other variances without derivatives."""
    model = golden_model("lmm_unbal_small")
    name = [*model.random, "residual"][place]
    found, others = fit(model), [k for k in range(4) if k != place]
    start = np.sqrt(np.array(list(found.variances.values())))[others] + 0.01
    for limit in component_intervals(model)[name]:

        def deviance(roots, limit=limit):
            variances = np.full(4, limit)
            variances[others] = roots**2
            return dense_deviance(model, variances)[0]

        options = {"xatol": 1e-7, "fatol": 1e-9}
        least = optimize.minimize(deviance, start, method="Nelder-Mead", options=options).fun
        rise = least + 2 * found.log_likelihood
        assert rise == pytest.approx(stats.chi2.ppf(0.95, 1), rel=1e-5)


def test_profile_of_the_residual_alone():
    """Without random terms: df log(v) + SS / v exceeds its minimum by chi²(1) at both limits."""
    values = np.random.default_rng(1).normal(size=12)
    (low, high) = component_intervals(MixedModel(values, random={}))["residual"]
    ss, df = ((values - values.mean()) ** 2).sum(), 11
    rise = [df * np.log(v) + ss / v - df * np.log(ss / df) - df for v in (low, high)]
    assert low < ss / df < high
    assert rise == pytest.approx([stats.chi2.ppf(0.95, 1)] * 2, rel=1e-5)


def test_the_order_of_rows_and_the_names_of_groups_do_not_matter():
    values = simulated((2, 4, 9), (1, 0.5, 0.4, 0, 0, 1))
    whole = fit(array_model(values))
    system, instance, topic = (index.reshape(-1) for index in np.indices(values.shape))
    order = np.random.default_rng(0).permutation(values.size)
    random = {
        "topic": np.array([f"topic {k}" for k in range(9)])[topic][order],
        "system_topic": (system[order], topic[order] * 7 - 3),
        "nested": (system[order], instance[order]),
    }
    rows = fit(MixedModel(values.reshape(-1)[order], random=random, fixed=(system == 0)[order]))
    assert rows.groups == whole.groups == {"topic": 9, "system_topic": 18, "nested": 8}
    close(rows, whole, "estimates df variances log_likelihood", rel=1e-10, abs=1e-12)


layouts = st.tuples(
    st.integers(1, 5),
    st.integers(1, 7),
    st.lists(st.sampled_from(list(TERMS)), unique=True, max_size=4),
    st.sampled_from(["system", None]),
    st.tuples(*[st.sampled_from([0.0, 0.2, 1.0, 3.0])] * 5),
    st.integers(0, 10**6),
)


@given(layouts)
@settings(max_examples=60, deadline=None)
def test_closed_form_is_the_maximum_that_the_search_finds(layout):
    """Crossed, nested and confounded terms, many fits at the boundary."""
    instances, topics, names, fixed, sds, seed = layout
    model = array_model(simulated((2, instances, topics), (*sds, 1.0), seed), names, fixed)
    scale = scale_of(model)
    if scale.flag:
        return
    strata, tables = likelihood_of(model, scale), general(model)
    assert isinstance(strata, LayoutStrata)
    free = identified(strata)
    np.testing.assert_array_equal(free, identified(tables))
    closed, searched = best_of_strata(strata, free), maximise(tables, free)
    assert closed.converged
    assert searched.converged
    assert closed.value == pytest.approx(searched.value, abs=1e-7)
    np.testing.assert_allclose(closed.variances, searched.variances, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(closed.estimates, searched.estimates, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(_satterthwaite(closed), _satterthwaite(searched), rtol=1e-3)
    # No component at 0 may have a downhill slope.
    at_zero = free[closed.variances[free] == 0.0]
    assert (tables.slopes(closed.variances).gradient[at_zero] > -1e-6).all()


def dense_deviance(model, variances):
    """Straight from the definition, with the covariance matrix of all rows."""
    rows = mixed_model._rows_of(model)
    n = len(rows.response)
    covariance = variances[-1] * np.eye(n)
    for labels, variance in zip(rows.labels, variances, strict=False):
        covariance += variance * (labels[:, None] == labels)
    x = np.ones((n, 1)) if rows.first is None else np.stack([np.ones(n), rows.first], axis=1)
    inverse = np.linalg.inv(covariance)
    information = x.T @ inverse @ x
    b = np.linalg.solve(information, x.T @ inverse @ rows.response)
    off = rows.response - x @ b
    value = np.linalg.slogdet(covariance)[1] + off @ inverse @ off
    value += np.linalg.slogdet(information)[1]
    return value + (n - x.shape[1]) * np.log(2 * np.pi), b, np.linalg.inv(information)


@pytest.mark.parametrize(
    "names", ["", "topic", "nested topic", " ".join(NESTED), "cell nested system_topic topic"]
)
def test_tables_against_dense_matrices(names):
    values, names = (
        with_missing(simulated((2, 4, 7), (1, 0.5, 0.4, 0.3, 0.6, 1)), 0.3),
        words(names),
    )
    model = array_model(values, names)
    tables = tables_of(model.rows)
    variances = np.random.default_rng(len(names)).uniform(0.1, 1.0, len(names) + 1)
    slopes = tables.slopes(variances)
    value, b, covariance = dense_deviance(model, variances)
    assert slopes.point.value == pytest.approx(value, rel=1e-11)
    np.testing.assert_allclose(slopes.point.estimates, b, rtol=1e-9)
    np.testing.assert_allclose(slopes.point.covariance, covariance, rtol=1e-9)
    for k, step in enumerate(1e-5 * np.eye(len(variances))):
        ahead, behind = (dense_deviance(model, variances + sign * step) for sign in (1.0, -1.0))
        assert slopes.gradient[k] == pytest.approx((ahead[0] - behind[0]) / 2e-5, rel=1e-6)
        change = (ahead[2] - behind[2]) / 2e-5
        np.testing.assert_allclose(slopes.covariance_slopes[k], change, rtol=1e-6, atol=1e-9)
        gradients = [tables.slopes(variances + s * step).gradient for s in (1.0, -1.0)]
        second = (gradients[0] - gradients[1]) / 2e-5
        np.testing.assert_allclose(slopes.hessian[k], second, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_unbalanced_maximum_against_a_search_without_derivatives(seed):
    rng = np.random.default_rng(seed)
    values = simulated((2, 4, 8), (1, 0.5, rng.choice([0, 0.4]), 0, 0, 1), seed)
    model = array_model(with_missing(values, 0.35, seed), ("topic", "system_topic", "nested"))
    found = fit(model)
    assert "any layout" in found.method

    def deviance(roots):
        return dense_deviance(model, np.maximum(roots**2, [0, 0, 0, 1e-4]))[0]

    starts = [np.full(4, 0.7), np.sqrt(list(found.variances.values())) + 0.02]
    options = {"xatol": 1e-6, "fatol": 1e-9, "maxiter": 2000}
    best = min(
        optimize.minimize(deviance, start, method="Nelder-Mead", options=options).fun
        for start in starts
    )
    assert -2 * found.log_likelihood == pytest.approx(best, abs=1e-5)
    assert -2 * found.log_likelihood <= best + 1e-9


def test_the_search_leaves_zero_where_the_likelihood_rises():
    """In standard deviations the gradient vanishes at 0 and holds a search there."""
    model = array_model(with_missing(simulated((2, 5, 9), (1, 0.5, 0.7, 0, 0, 1)), 0.2))
    tables = tables_of(model.rows)
    free = np.arange(4)
    best = maximise(tables, free)
    assert (best.variances > 0).all()
    again, settled = search(tables, free, np.array([0.0, 0.0, 0.0, 1.0]))
    assert settled
    np.testing.assert_allclose(again, best.variances, rtol=1e-6)


def test_statsmodels_agrees_on_a_one_way_model():
    values = with_missing(simulated((2, 3, 12), (1, 0, 0, 0, 0, 1)), 0.2, seed=3)
    found = fit(array_model(values, ("topic",)))
    rows = mixed_model._rows_of(array_model(values, ("topic",)))
    design = np.stack([np.ones(len(rows.response)), rows.first], axis=1)
    theirs = sm.MixedLM(rows.response, design, groups=rows.labels[0]).fit(reml=True, gtol=1e-9)
    # Their standard errors invert the Hessian of coefficients and variances together, and differ.
    assert found.estimates == pytest.approx(theirs.fe_params, rel=1e-8)
    assert found.log_likelihood == pytest.approx(theirs.llf, abs=1e-9)
    assert found.variances["topic"] == pytest.approx(theirs.cov_re.item(), rel=1e-6)
    assert found.variances["residual"] == pytest.approx(theirs.scale, rel=1e-6)


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_factors_of_instances_nested_in_each_other(share):
    """Samples, partitions of these, and resources of those: the solvers and matrices agree."""
    rng = np.random.default_rng(4)
    values = (
        rng.normal(size=(2, 3, 1, 1, 1))
        + 0.7 * rng.normal(size=(2, 3, 2, 1, 1))
        + rng.normal(size=(1, 1, 1, 1, 6))
        + rng.normal(size=(2, 3, 2, 2, 6))
    )
    random = {
        "sample": ("system", "sample"),
        "partition": ("system", "sample", "partition"),
        "csi": ("system", "sample", "partition", "csi"),
        "topic": "topic",
        "system_topic": ("system", "topic"),
    }
    axes = ("system", "sample", "partition", "csi", "topic")
    model = of_array(with_missing(values, share), axes=axes, random=random, fixed="system")
    found = fit(model)
    assert ("balanced" in found.method) == (share == 0.0)
    assert found.groups == {"sample": 6, "partition": 12, "csi": 24, "topic": 6, "system_topic": 12}
    value, b, covariance = dense_deviance(model, np.array(list(found.variances.values())))
    assert -2 * found.log_likelihood == pytest.approx(value, abs=1e-8)
    np.testing.assert_allclose(found.estimates, b, rtol=1e-9)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-8)
    other = maximise(general(model), np.arange(6))
    scale = scale_of(model)
    ours = np.array(list(found.variances.values()))
    np.testing.assert_allclose(ours, other.variances * scale.spread**2, rtol=1e-6, atol=1e-8)


def test_instances_shared_by_both_systems_leave_a_paired_t_test():
    values = simulated((2, 6, 15), (1, 0.5, 0, 0.6, 0, 0.5), seed=2)
    found = fit(array_model(values, ("topic", "system_topic", "crossed")))
    assert not found.dropped
    by_topic = values.mean(axis=1)
    paired = stats.ttest_rel(by_topic[0], by_topic[1])
    assert found.statistic[1] == pytest.approx(paired.statistic, rel=1e-10)
    assert found.df[1] == pytest.approx(14, rel=1e-10)
    assert found.pvalue[1] == pytest.approx(paired.pvalue, rel=1e-9)


@pytest.mark.parametrize("share", [0.0, 0.2])
@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_units_and_names_do_not_matter(share, seed):
    values = with_missing(simulated((2, 3, 6), (1, 0.5, 0.4, 0, 0, 1), seed), share, seed)
    found = fit(array_model(values))
    moved = fit(array_model(50.0 - 0.01 * values[::-1, ::-1]))
    assert moved.estimates[1] == pytest.approx(0.01 * found.estimates[1], rel=1e-6, abs=1e-9)
    assert moved.pvalue[1] == pytest.approx(found.pvalue[1], rel=1e-5)
    assert moved.df[1] == pytest.approx(found.df[1], rel=1e-5)
    assert moved.dropped == found.dropped
    for name, variance in found.variances.items():
        assert moved.variances[name] == pytest.approx(1e-4 * variance, rel=1e-4, abs=1e-10)


@pytest.mark.parametrize("share", [0.0, 0.15])
def test_recovery_of_known_variances(share):
    """Means over 60 fits lie within 4 standard errors of the truth, per component: 6e-5 each."""
    truth = np.array([1.0, 0.25, 0.16, 0.49])
    fits = []
    for seed in range(60):
        values = simulated((2, 8, 30), (1.0, 0.5, 0.4, 0, 0, 0.7), seed)
        fits.append(fit(array_model(with_missing(values, share, seed))).variances)
    found = np.array([list(variances.values()) for variances in fits])
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - truth) < 4 * error).all()


@pytest.mark.slow
def test_intervals_cover_variances():
    """Of 100 intervals of level 0.9 for instances and residual, 90 are expected to cover.

    The band of 4 standard deviations, ±12, has a false-alarm rate of 6e-5; it is shifted by 2 for
    the shortness of profile intervals with 14 degrees of freedom.
    """
    covered = np.zeros(2, np.int64)
    for seed in range(100):
        values = simulated((2, 8, 12), (1.0, 0.5, 0.8, 0, 0, 1.0), seed)
        found = component_intervals(array_model(values), confidence=0.9)
        for k, (name, truth) in enumerate((("nested", 0.64), ("residual", 1.0))):
            covered[k] += found[name][0] <= truth <= found[name][1]
    assert (np.abs(covered - [88, 90]) <= 12).all()


@pytest.mark.slow
def test_level_of_the_nested_test_by_simulation():
    """1,000 tests at 0.05 without a difference: 50 are expected, 4 standard deviations are 28."""
    rejected = 0
    for seed in range(1000):
        values = simulated((2, 5, 25), (0.1, 0.08, 0.02, 0, 0, 0.06), seed)
        rejected += fit(array_model(values)).pvalue[1] < 0.05
    assert 22 <= rejected <= 78


def test_a_constant_response_has_no_difference():
    for values in (np.full((2, 3, 4), 0.3), with_missing(np.full((2, 3, 4), 0.3), 0.2)):
        found = fit(array_model(values))
        assert found.flag == NO_DIFFERENCE
        assert found.estimates == pytest.approx([0.3, 0.0])
        assert found.standard_errors.tolist() == [0.0, 0.0]
        assert found.pvalue[1] == 1.0
        assert set(found.variances.values()) == {0.0}
        assert np.isnan(found.statistic[1])
        assert np.isnan(component_intervals(array_model(values))["residual"]).all()


def test_a_constant_difference_is_certain():
    values = np.full((2, 3, 4), 0.3)
    values[0] += 0.2
    found = fit(array_model(values))
    assert found.flag == ZERO_VARIANCE
    assert found.estimates == pytest.approx([0.3, 0.2])
    assert found.statistic[1] == np.inf
    assert found.pvalue[1] == 0.0
    by_topic = values + np.random.default_rng(0).random(4)
    found = fit(array_model(by_topic))
    assert found.flag == ZERO_VARIANCE
    assert found.pvalue[1] == 0.0
    assert found.df[0] == pytest.approx(3)


def test_one_instance_leaves_the_paired_t_test():
    values = simulated((2, 1, 12), (1, 0, 0, 0, 0, 0.3))
    found = fit(array_model(values))
    assert found.unidentified == ("system_topic", "nested")
    assert np.isnan(found.variances["system_topic"])
    paired = stats.ttest_rel(values[0, 0], values[1, 0])
    assert found.statistic[1] == pytest.approx(paired.statistic, rel=1e-10)
    assert found.df[1] == pytest.approx(11)


def test_one_topic_leaves_the_two_sample_t_test():
    values = simulated((2, 5, 1), (0, 0, 1, 0, 0, 0.3))
    found = fit(array_model(values))
    assert found.unidentified == ("topic", "system_topic", "nested")
    theirs = stats.ttest_ind(values[0, :, 0], values[1, :, 0])
    assert found.statistic[1] == pytest.approx(theirs.statistic, rel=1e-10)
    assert found.pvalue[1] == pytest.approx(theirs.pvalue, rel=1e-9)


def test_one_row_a_system_is_too_little():
    found = fit(array_model(np.array([[[0.4]], [[0.1]]])))
    assert found.flag == TOO_FEW
    assert found.estimates == pytest.approx([0.1, 0.3])
    assert np.isnan(found.pvalue).all()
    empty = fit(MixedModel(np.array([np.nan, np.nan]), random={"topic": [0, 1]}))
    assert empty.flag == TOO_FEW
    assert empty.n == 0
    assert empty.n_missing == 2


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_identical_instances_leave_no_residual(share):
    values = np.repeat(simulated((2, 1, 10), (1, 0.5, 0, 0, 0, 0)), 4, axis=1)
    found = fit(array_model(with_missing(values, share)))
    assert found.flag == NO_RESIDUAL
    assert found.converged
    assert found.variances["residual"] == 0.0
    assert found.log_likelihood == np.inf
    assert found.dropped == ("nested",)
    paired = stats.ttest_rel(values[0, 0], values[1, 0])
    assert found.statistic[1] == pytest.approx(paired.statistic, rel=1e-5)
    assert found.df[1] == pytest.approx(9.0, rel=1e-4)


def test_no_random_terms_are_least_squares():
    values = np.random.default_rng(5).normal(size=20)
    first = np.arange(20) % 3 == 0
    found = fit(MixedModel(values, random={}, fixed=first))
    theirs = stats.ttest_ind(values[first], values[~first])
    assert found.statistic[1] == pytest.approx(theirs.statistic, rel=1e-10)
    assert found.df[1] == pytest.approx(18)
    assert found.pvalue[1] == pytest.approx(theirs.pvalue, rel=1e-9)


def test_equal_terms_are_told():
    topic = np.repeat(np.arange(6), 4)
    values = np.random.default_rng(6).normal(size=24) + topic
    found = fit(MixedModel(values, random={"topic": topic, "again": 5 - topic}))
    alone = fit(MixedModel(values, random={"topic": topic}))
    assert found.unidentified == ("again",)
    assert found.variances["topic"] == pytest.approx(alone.variances["topic"])
    assert found.df == pytest.approx(alone.df)


@pytest.mark.parametrize("seed", range(12))
def test_degrees_of_freedom_of_the_residual(seed):
    """Rows less the rank of all effects; terms that leave nothing are not significant from it."""
    rng = np.random.default_rng(seed)
    values = simulated((2, 3, 4), (1, 0.5, 0.4, 0.3, 0.6, 1), seed)
    names = [name for name in TERMS if rng.random() < 0.7]
    model = array_model(with_missing(values, 0.5, seed), names)
    tables, rows = general(model), model.rows
    terms = np.arange(len(names) + 1)
    effects = [np.ones(len(rows.response)), rows.first]
    for labels, size in zip(rows.labels, rows.sizes, strict=True):
        effects += [labels == group for group in range(size)]
    left = len(rows.response) - np.linalg.matrix_rank(np.array(effects, dtype=float))
    assert residual_df(tables, terms) == left
    assert residual_df(tables, identified(tables)) > 0
    assert fit(model).converged


def test_the_size_of_groups_does_not_make_balance():
    """Even groups that meet unevenly are no balanced layout."""
    a = np.repeat(np.arange(4), 4)
    b = np.array([0, 0, 1, 2, 0, 1, 1, 3, 2, 2, 3, 0, 3, 3, 2, 1])
    model = MixedModel(np.random.default_rng(0).normal(size=16), random={"a": a, "b": b})
    assert isinstance(likelihood_of(model, scale_of(model)), RowTables)
    crossed = MixedModel(model.response, random={"a": a, "b": np.tile(np.arange(4), 4)})
    assert isinstance(likelihood_of(crossed, scale_of(crossed)), LayoutStrata)


def test_wrong_input_is_explained():
    y = np.arange(6.0)
    with pytest.raises(InputError, match="true or false for each of the 6 rows"):
        MixedModel(y, random={}, fixed=[0, 1, 0, 1, 0, 1])
    refused("label, not a float", MixedModel, y, random={"topic": y})
    refused("'topic' must hold", MixedModel, y, random={"topic": [1, 2]})
    refused("one entry per row", MixedModel, y.reshape(2, 3), random={})
    refused("both systems", MixedModel, y, random={}, fixed=np.ones(6, dtype=bool))
    refused("infinite", MixedModel, [0.0, np.inf], random={})
    refused("name of the error term", MixedModel, y, random={"residual": [1, 1, 2, 2, 3, 3]})
    refused("confidence", component_intervals, MixedModel(y, random={}), confidence=1.0)

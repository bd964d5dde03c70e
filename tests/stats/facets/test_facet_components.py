"""Components of graded answers: lme4, the likelihood written out, statsmodels, a textbook."""

from __future__ import annotations

import numpy as np
import pytest
from plain_tables import refused

from steadyrank.stats.facets.components import INDICES, graded_components, terms_of
from steadyrank.stats.facets.likelihood import FacetLikelihood
from tests.golden_cases import golden_case

AXES = "stajd"


def scores_of(case: dict) -> np.ndarray:
    scores = np.full(case["shape"], np.nan)
    scores[tuple(np.array(case["places"]).T)] = case["values"]
    return scores


CASES, EXPECTED, TOLERANCE = golden_case("facets_lme4")


@pytest.mark.parametrize("place", range(len(CASES["cases"])))
def test_components_are_those_of_lme4(place):
    case = CASES["cases"][place]
    found = graded_components(scores_of(case))
    expected = EXPECTED["variance"][place]
    assert found.variance.keys() == expected.keys()
    for name, value in expected.items():
        assert found.variance[name] == pytest.approx(value, abs=TOLERANCE)
    names = (*(name for name in expected if name != "residual"), "residual")
    likelihood = FacetLikelihood(scores_of(case), names)
    point = likelihood.point(np.array([expected[name] for name in names]))
    assert -0.5 * point.value == pytest.approx(EXPECTED["log_likelihood"][place], abs=1e-8)
    assert point.estimates[0] == pytest.approx(EXPECTED["mean"][place], abs=1e-6)
    is_balanced = "balanced" in case["name"]
    assert found.method.startswith("expected" if is_balanced else "restricted")


def written_out(scores, terms, variances):
    """Deviance, gradient and average information from matrices as large as the rows."""
    there = ~np.isnan(scores.ravel())
    index = np.indices(scores.shape).reshape(5, -1)[:, there]
    y = scores.ravel()[there]
    parts = []
    for name in terms:
        same = np.ones((len(y), len(y)), bool)
        for axis in INDICES[name]:
            own = index[AXES.index(axis)]
            same &= own[:, None] == own
        parts.append(same.astype(float))
    v = sum(value * part for value, part in zip(variances, parts, strict=True))
    inverse = np.linalg.inv(v)
    ones = inverse.sum(axis=1)
    p = inverse - np.outer(ones, ones) / ones.sum()
    deviance = np.linalg.slogdet(v)[1] + np.log(ones.sum()) + y @ p @ y
    deviance += (len(y) - 1) * np.log(2 * np.pi)
    gradient = [np.trace(p @ part) - y @ p @ part @ p @ y for part in parts]
    information = [[y @ p @ a @ p @ b @ p @ y for a in parts] for b in parts]
    return deviance, np.array(gradient), np.array(information)


@pytest.mark.parametrize("at_zero", [(), (0, 4, 6)])
def test_likelihood_and_derivatives_are_those_written_out(at_zero):
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(4, 5, 2, 3, 2))
    scores[rng.random(scores.shape) < 0.25] = np.nan
    terms = (*(name for name in INDICES if name != "residual"), "residual")
    variances = rng.random(len(terms))
    variances[list(at_zero)] = 0.0
    deviance, gradient, information = written_out(scores, terms, variances)
    found = FacetLikelihood(scores, terms).slopes(variances)
    assert found.point.value == pytest.approx(deviance, rel=1e-12)
    np.testing.assert_allclose(found.gradient, gradient, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.hessian, information, rtol=1e-9, atol=1e-9)


def test_balanced_components_solve_the_equations_of_the_textbook():
    """Brennan's p × i × o design, its equations written out."""
    rng = np.random.default_rng(3)
    s, t, j = 6, 9, 4
    y = rng.normal(size=(s, t, j)) + rng.normal(size=(s, 1, j)) + rng.normal(size=(1, t, 1))
    m = y.mean()
    ms = {
        "s": t * j * ((y.mean((1, 2)) - m) ** 2).sum() / (s - 1),
        "t": s * j * ((y.mean((0, 2)) - m) ** 2).sum() / (t - 1),
        "j": s * t * ((y.mean((0, 1)) - m) ** 2).sum() / (j - 1),
    }
    a, b, c = y.mean((1, 2)), y.mean((0, 2)), y.mean((0, 1))
    st = y.mean(2) - a[:, None] - b + m
    sj = y.mean(1) - a[:, None] - c + m
    tj = y.mean(0) - b[:, None] - c + m
    rest = y - y.mean(2)[:, :, None] - y.mean(1)[:, None] - y.mean(0)[None]
    rest = rest + a[:, None, None] + b[None, :, None] + c - m
    ms |= {
        "st": j * (st**2).sum() / ((s - 1) * (t - 1)),
        "sj": t * (sj**2).sum() / ((s - 1) * (j - 1)),
        "tj": s * (tj**2).sum() / ((t - 1) * (j - 1)),
        "e": (rest**2).sum() / ((s - 1) * (t - 1) * (j - 1)),
    }
    expected = {
        "system": (ms["s"] - ms["st"] - ms["sj"] + ms["e"]) / (t * j),
        "topic": (ms["t"] - ms["st"] - ms["tj"] + ms["e"]) / (s * j),
        "judge": (ms["j"] - ms["sj"] - ms["tj"] + ms["e"]) / (s * t),
        "system:topic": (ms["st"] - ms["e"]) / j,
        "system:judge": (ms["sj"] - ms["e"]) / t,
        "topic:judge": (ms["tj"] - ms["e"]) / s,
        "residual": ms["e"],
    }
    found = graded_components(y[:, :, None, :, None]).raw
    assert found == pytest.approx(expected, abs=1e-12)


def test_statsmodels_finds_no_better_likelihood_on_gaps():
    """Its variance components in one group of all rows, which is slow and the same model."""
    import pandas as pd
    import statsmodels.formula.api as smf

    case = CASES["cases"][2]
    scores = scores_of(case)
    place = np.argwhere(~np.isnan(scores))
    frame = pd.DataFrame(place, columns=list(AXES)).astype(str)
    frame["y"], frame["all"] = scores[tuple(place.T)], 1
    for pair in ("st", "sj", "tj"):
        frame[pair] = frame[pair[0]] + "_" + frame[pair[1]]
    formulas = {name: f"0 + C({name})" for name in ("s", "t", "j", "st", "sj", "tj")}
    model = smf.mixedlm("y ~ 1", frame, groups="all", vc_formula=formulas, re_formula="0")
    model.cov_pen = model.fe_pen = None  # which fit() would set, and take minutes
    found = graded_components(scores)
    order = dict(zip(("s", "t", "j", "st", "sj", "tj"), found.variance.values(), strict=False))
    variances = np.array([order[name] for name in model.exog_vc.names])
    from statsmodels.regression.mixed_linear_model import MixedLMParams

    params = MixedLMParams.from_components(
        fe_params=np.zeros(1), cov_re=np.zeros((0, 0)), vcomp=variances / found.variance["residual"]
    )
    ours = model.loglike(params, profile_fe=True)
    assert ours == pytest.approx(EXPECTED["log_likelihood"][2], abs=1e-4)


def test_judges_of_other_topics_leave_nothing_of_topic_by_judge():
    """Each topic has one judge: topic and topic × judge are the same groups."""
    rng = np.random.default_rng(5)
    scores = np.full((5, 12, 1, 3, 1), np.nan)
    for topic in range(12):
        scores[:, topic, 0, topic % 3, 0] = rng.normal(size=5)
    found = graded_components(scores)
    assert "topic:judge" in found.unidentified
    assert "system:topic" in found.unidentified
    assert set(found.variance) == {"system", "topic", "judge", "system:judge", "residual"}


@pytest.mark.parametrize(
    ("shape", "confounded"),
    [
        ((3, 10, 1, 4, 1), {"system:topic": ("system:topic", "answer")}),
        ((3, 10, 5, 1, 1), {"residual": ("answer", "answer:judge", "residual")}),
        ((3, 10, 2, 3, 1), {"residual": ("answer:judge", "residual")}),
        ((3, 10, 2, 3, 2), {}),
    ],
)
def test_what_cannot_be_separated_is_named(shape, confounded):
    terms, held = terms_of(shape)
    for name, members in confounded.items():
        assert held[name] == members
    assert sorted(member for members in held.values() for member in members) == sorted(
        name for name in INDICES if name != "judge" or shape[3] > 1
    )
    assert list(terms)[-1] == "residual"


def test_one_system_has_no_components():
    refused("at least 2 systems", graded_components, np.zeros((1, 5, 1, 3, 1)))

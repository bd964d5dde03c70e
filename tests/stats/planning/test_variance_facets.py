"""The G-study with a third facet: against hand, book, least squares, REML and known truth."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from plain_tables import refused, words
from statsmodels.stats.anova import anova_lm

from steadyrank.stats.anova.gstudy import (
    DESIGNS,
    GStudy,
    mean_square_loads,
    nested_components,
    pivotal_draws,
    variance_components,
)
from steadyrank.stats.facets.components import Sizes, graded_components

NESTED = ("system", "topic", "instance", "system_topic", "residual")
CROSSED = words("system topic judge system:topic system:judge topic:judge residual")


def brennan():
    """Synthetic data set 3 of Brennan (2001, Table 3.1): 10 persons × 4 items × 2 occasions."""
    first = "2675 4567 5546 5986 4356 4447 2665 3445 0545 6876"
    second = "2555 6757 5455 5776 4564 6478 2775 6664 5553 6886"
    by_occasion = [[list(map(int, person)) for person in half.split()] for half in (first, second)]
    return np.moveaxis(np.array(by_occasion, float), 0, 2)


def crossed(cube):
    """Components of scores [system, topic, judge]."""
    return graded_components(cube[:, :, None, :, None])


def test_the_books_crossed_study():
    # As printed there, to four digits: variance components, and D-study coefficients by hand.
    g = crossed(brennan())
    printed = [0.5528, 0.4417, 0.0074, 0.5750, 0.1009, 0.1565, 0.9352]
    assert list(g.variance.values()) == pytest.approx(printed, abs=5e-5)
    assert list(g.variance) == list(CROSSED)
    relative = 0.5750 / 4 + 0.1009 / 2 + 0.9352 / 8
    absolute = relative + 0.4417 / 4 + 0.0074 / 2 + 0.1565 / 8
    assert g.e_rho2(g.sizes) == pytest.approx(0.5528 / (0.5528 + relative), abs=1e-4)
    assert g.phi(Sizes(topics=4, judges=2)) == pytest.approx(0.5528 / (0.5528 + absolute), abs=1e-4)


def test_a_nested_study_by_hand():
    # Two systems of two runs on two topics. Means by system and topic 2, 4; 3, 9; within systems
    # the runs are 1 and 2 off on topic 1 and 1 and 0 off on topic 2:
    # SS_system = 2 × 2 × (1.5² + 1.5²) = 18, SS_topic = 2 × 2 × (2² + 2²) = 32,
    # SS_system_topic = 2 × 4 × 1² = 8, runs' means 1 and -1, 1 and -1 off: SS_instance = 8,
    # residual: (1 - 1)² × 4 and (2 - 1)² × 4 on one system = 4.
    scores = [[3, 5], [1, 3], [5, 9], [1, 9]]
    g = nested_components(scores, ["a", "a", "b", "b"])
    assert g.mean_squares == pytest.approx(
        {"system": 18, "topic": 32, "instance": 4, "system_topic": 8, "residual": 2}
    )
    assert g.df == {"system": 1, "topic": 1, "instance": 2, "system_topic": 1, "residual": 2}
    assert g.raw == pytest.approx(
        {
            "system": (18 - 8 - 4 + 2) / 4,
            "topic": (32 - 8) / 4,
            "instance": (4 - 2) / 2,
            "system_topic": (8 - 2) / 2,
            "residual": 2,
        }
    )
    assert g.e_rho2(3, 2) == pytest.approx(2 / (2 + 3 / 3 + 1 / 2 + 2 / 6))
    assert g.phi(3, 2) == pytest.approx(2 / (2 + 6 / 3 + 3 / 3 + 1 / 2 + 2 / 6))
    # 3/n + 1/2 + 2/(2n) <= 2 (1 - level) / level: at level .7, .857 - .5 = 4 / 11.2.
    assert g.topics_for_e_rho2(0.7, 2) == 12
    assert g.topics_for_e_rho2(0.8, 2) == math.inf
    assert g.topics_for_e_rho2(0.8, 4) == math.ceil((3 + 2 / 4) / (0.5 - 0.25))


def test_expected_mean_squares_as_tables_of_textbooks_have_them():
    m, n, k = 4, 10, 3
    nested = [
        [n * k, 0, n, k, 1],
        [0, m * k, 0, k, 1],
        [0, 0, n, 0, 1],
        [0, 0, 0, k, 1],
        [0, 0, 0, 0, 1],
    ]
    crossed = [
        [n * k, 0, 0, k, n, 0, 1],
        [0, m * k, 0, k, 0, m, 1],
        [0, 0, m * n, 0, n, m, 1],
        [0, 0, 0, k, 0, 0, 1],
        [0, 0, 0, 0, n, 0, 1],
        [0, 0, 0, 0, 0, m, 1],
        [0, 0, 0, 0, 0, 0, 1],
    ]
    shared = ("s", "t", "i", "st", "si", "ti", "sti")
    for indices, table in ((list(DESIGNS["nested"].values()), nested), (shared, crossed)):
        loads = mean_square_loads(indices, {"s": m, "t": n, "i": k})
        np.testing.assert_array_equal(loads, table)


def labels(sizes, systems=None):
    """Component to the number of its effect in each cell [run, topic]."""
    m, n, k = sizes
    systems = np.repeat(np.arange(m), k) if systems is None else np.asarray(systems)
    runs = np.arange(len(systems))
    s, t, i = np.broadcast_arrays(systems[:, None], np.arange(n), runs[:, None])
    return {
        "system": s,
        "topic": t,
        "instance": i,
        "system_topic": n * s + t,
        "residual": np.arange(len(runs) * n).reshape(-1, n),
    }


def indicators(codes):
    return [(codes == code).astype(float) for code in np.unique(codes)]


@pytest.mark.parametrize("systems", [None, [0, 0, 0, 1, 1, 2, 3, 3, 3, 3]])
def test_nested_estimates_are_unbiased_exactly(systems):
    # An estimate is a quadratic form y'Ay, so its expectation is the sum over components of the
    # variance times sum z'Az over the indicators z of that component's effects: 1 for its own, 0
    # for all others. Nothing of the equations of expected mean squares goes into this.
    codes = np.repeat(np.arange(3), 2) if systems is None else systems
    found = labels((len(set(codes)), 4, None), codes)
    table = [
        [
            sum(nested_components(z, codes).raw[name] for z in indicators(found[each]))
            for each in NESTED
        ]
        for name in NESTED
    ]
    np.testing.assert_allclose(table, np.eye(5), atol=1e-12)


def test_crossed_estimates_are_unbiased_exactly():
    s, t, j = np.indices((3, 4, 2))
    effects = (s, t, j, 4 * s + t, 2 * s + j, 2 * t + j, 8 * s + 2 * t + j)
    found = [[crossed(z).raw for z in indicators(codes)] for codes in effects]
    table = [[sum(raw[name] for raw in each) for each in found] for name in CROSSED]
    np.testing.assert_allclose(table, np.eye(7), atol=1e-12)


def long_frame(cube):
    rows = [(*place, cube[place]) for place in np.ndindex(cube.shape)]
    return pd.DataFrame(rows, columns=["s", "t", "i", "y"])


def test_mean_squares_by_least_squares():
    # statsmodels 0.14: sums of squares of nested least-squares fits.
    cube = np.random.default_rng(1).random((4, 5, 3))
    frame = long_frame(cube)
    table = anova_lm(smf.ols("y ~ C(s) + C(t) + C(s):C(t) + C(s):C(i)", frame).fit())
    own = nested_components(cube.transpose(0, 2, 1).reshape(12, 5), np.repeat(range(4), 3))
    terms = {
        "C(s)": "system",
        "C(t)": "topic",
        "C(s):C(t)": "system_topic",
        "C(s):C(i)": "instance",
        "Residual": "residual",
    }
    for term, name in terms.items():
        assert own.mean_squares[name] == pytest.approx(table["sum_sq"][term] / table["df"][term])
        assert own.df[name] == table["df"][term]


def drawn(rng, sizes, variance, systems=None):
    """Scores [run, topic] with normal effects of these variances."""
    return sum(
        rng.normal(0, math.sqrt(variance[name]), codes.max() + 1)[codes]
        for name, codes in labels(sizes, systems).items()
    )


def test_restricted_maximum_likelihood_agrees_where_nothing_is_negative():
    # statsmodels 0.14 MixedLM: on balanced data REML and mean squares have the same solution as
    # long as no component is negative.
    truth = dict(zip(NESTED, (2.0, 2.0, 0.4, 0.5, 0.2), strict=True))
    scores = drawn(np.random.default_rng(12), (4, 6, 3), truth)
    g = nested_components(scores, np.repeat(range(4), 3))
    assert min(g.raw.values()) > 0
    cube = scores.reshape(4, 3, 6).transpose(0, 2, 1)
    frame = long_frame(cube).assign(all=1)
    parts = {
        "system": "0 + C(s)",
        "topic": "0 + C(t)",
        "system_topic": "0 + C(s):C(t)",
        "instance": "0 + C(s):C(i)",
    }
    fit = smf.mixedlm("y ~ 1", frame, groups="all", vc_formula=parts).fit(method="lbfgs")
    found = dict(zip(fit.model.exog_vc.names, fit.vcomp, strict=True)) | {"residual": fit.scale}
    for name in NESTED:
        assert found[name] == pytest.approx(g.variance[name], rel=2e-3)


@pytest.mark.parametrize(
    ("sizes", "systems"),
    [((8, 12, 3), None), ((6, 10, None), [0, 0, 0, 0, 1, 1, 2, 3, 4, 4, 5, 5])],
)
def test_known_components_are_recovered(sizes, systems):
    # Means over 300 studies; each estimate's own spread gives the band of 4.5 standard errors.
    # 5 components in 2 designs: a false alarm once in 14,000.
    rng = np.random.default_rng(3)
    truth = dict(zip(NESTED, (1.0, 2.0, 0.5, 0.4, 0.3), strict=True))
    m, _, k = sizes
    codes = np.repeat(np.arange(m), k) if systems is None else systems
    found = []
    for _ in range(300):
        found.append(nested_components(drawn(rng, sizes, truth, systems), codes).raw)
    for name in NESTED:
        each = np.array([raw[name] for raw in found])
        assert abs(each.mean() - truth[name]) < 4.5 * each.std() / math.sqrt(300)


def test_copies_of_runs_leave_the_closed_intervals_of_two_facets():
    # Without variance within systems only two mean squares stand behind E rho², whose interval is
    # then Feldt's. The ends stand at 2.5 ± .05 % of draws (1 standard error), where the density
    # makes .002 of .1 points; 6 standard errors. Phi's closed form is another approximation.
    scores = np.random.default_rng(5).random((9, 15)) + np.linspace(0, 1, 9)[:, None]
    plain = variance_components(scores)
    copied = nested_components(np.repeat(scores, 2, axis=0), np.repeat(range(9), 2))
    assert copied.variance["instance"] == copied.variance["residual"] == 0
    draws = pivotal_draws(copied, n_draws=100_000, rng=1)
    for n in (5, 15, 60):
        assert copied.e_rho2(n, 7) == pytest.approx(plain.e_rho2(n))
        assert copied.phi(n, 1) == pytest.approx(plain.phi(n))
        assert draws.interval("e_rho2", n, 2) == pytest.approx(
            plain.interval("e_rho2", n), abs=0.005
        )
        assert draws.interval("phi", n, 2) == pytest.approx(plain.interval("phi", n), abs=0.02)
    for level in (0.8, 0.95):
        assert copied.topics_for_e_rho2(level, 1) == plain.topics_for_e_rho2(level)
        assert copied.topics_for_phi(level, 3) == plain.topics_for_phi(level)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "systems", "variance"),
    [
        ((10, 25, 3), None, (0.005, 0.03, 0.001, 0.005, 0.004)),
        ((5, 10, 3), None, (0.005, 0.03, 0, 0, 0.01)),
        (
            (7, 20, None),
            [0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 3, 4, 5, 6, 6],
            (0.005, 0.03, 0.001, 0.005, 0.004),
        ),
    ],
)
def test_intervals_cover_the_coefficients(sizes, systems, variance):
    # 300 studies with known components, for their own design and for 100 topics × 1 instance.
    # 2,000 studies gave coverages of .94 to .965, which 300 miss by 3 standard errors, below .90
    # or above .995, once in 700: 12 figures, a false alarm with one seed in 60.
    rng = np.random.default_rng(6)
    truth = dict(zip(NESTED, variance, strict=True))
    m, n, k = sizes
    codes = np.repeat(np.arange(m), k) if systems is None else np.array(systems)
    hits = np.zeros((2, 2))
    for seed in range(300):
        g = nested_components(drawn(rng, sizes, truth, systems), codes)
        known = GStudy(**{**as_dict(g), "variance": truth})
        draws = pivotal_draws(g, n_draws=600, rng=seed)
        for i, at in enumerate([(n, g.n_instances), (100, 1)]):
            low, high = draws.interval("e_rho2", *at)
            hits[i, 0] += low <= known.e_rho2(*at) <= high
            low, high = draws.interval("phi", *at)
            hits[i, 1] += low <= known.phi(*at) <= high
    assert hits.min() / 300 > 0.9
    assert hits.max() / 300 < 0.995


def as_dict(g):
    return {name: getattr(g, name) for name in g.__slots__}


def test_a_level_is_needed_by_as_many_topics_as_reach_it_surely():
    # The upper end of topics for a level is where the lower end of the coefficient reaches it.
    scores = drawn(
        np.random.default_rng(7),
        (10, 20, 4),
        dict(zip(NESTED, (1, 1, 0.01, 0.3, 0.3), strict=True)),
    )
    draws = pivotal_draws(nested_components(scores, np.repeat(range(10), 4)), n_draws=2001)
    low, high = draws.interval("topics_for_e_rho2", 0.9, 4)
    assert 1 < low < high < math.inf
    assert draws.interval("e_rho2", high, 4)[0] >= 0.9 > draws.interval("e_rho2", high - 1, 4)[0]
    assert draws.interval("e_rho2", low, 4)[1] >= 0.9 > draws.interval("e_rho2", low - 1, 4)[1]


def test_negative_components_are_kept_and_carried_as_none():
    # Runs that differ by less than chance on other topics would let them.
    rng = np.random.default_rng(9)
    noise = rng.normal(0, 1, (6, 8))
    noise -= noise.mean(axis=1, keepdims=True)
    g = nested_components(noise + np.repeat([0.0, 3.0], 3)[:, None], np.repeat(range(2), 3))
    assert g.raw["instance"] == pytest.approx(-g.mean_squares["residual"] / 8)
    assert g.variance["instance"] == 0
    left = g.variance["system_topic"] / 8 + g.variance["residual"] / 24
    assert g.e_rho2(8, 3) == pytest.approx(g.variance["system"] / (g.variance["system"] + left))
    # The others' equations have the raw value: system holds - MS_instance + MS_residual.
    squares = g.mean_squares
    assert g.raw["system"] == pytest.approx(
        (squares["system"] - squares["system_topic"] - squares["instance"] + squares["residual"])
        / 24
    )


def test_topics_that_a_run_lacks_are_left_out_and_nonsense_is_refused():
    cube = np.random.default_rng(11).random((3, 6, 2))
    holed = np.concatenate([cube, np.full((3, 2, 2), 0.5)], axis=1)
    holed[0, 6, 1] = holed[2, 7, 0] = np.nan
    flat, systems = holed.transpose(0, 2, 1).reshape(6, 8), [0, 0, 1, 1, 2, 2]
    g = nested_components(flat, systems)
    assert (g.n_topics, g.n_dropped) == (6, 2)
    assert g.raw == pytest.approx(nested_components(flat[:, :6], systems).raw)
    refused("a system with at least 2 runs; got 6 systems", nested_components, flat, range(6))
    refused("got 1 systems", nested_components, flat, [0] * 6)
    refused("got 3 systems and 0 topics", nested_components, np.full((6, 4), np.nan), systems)
    refused("level must lie strictly", g.topics_for_phi, 1.0, 2)

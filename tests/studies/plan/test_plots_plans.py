"""Plans and stability as figures: labelled axes, and what was found in them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import steadyrank as sr

PLANS = {
    "anova": {"minimum_difference": 0.1, "systems": 5},
    "ttest": {"minimum_difference": 0.1, "method": "ttest"},
    "interval": {"method": "interval", "width": 0.1},
    "given": {"systems": 5, "n_topics": 50},
}


def planned(name):
    return sr.plan(variance={"AP": 0.04, "P@10": 0.08}, **PLANS[name])


def shown(figure):
    return [axes for axes in figure.axes if axes.axison]


def marks(axes):
    """The single points on some axes."""
    return [tuple(line.get_xydata()[0]) for line in axes.lines if len(line.get_xydata()) == 1]


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        (
            "anova",
            [
                ("minimum difference", "topics"),
                ("number of systems", "topics"),
                ("number of topics", "power"),
            ],
        ),
        ("ttest", [("minimum difference", "topics"), ("number of topics", "power")]),
        ("interval", [("expected width of the interval", "topics")]),
        ("given", [("minimum difference", "topics")]),
    ],
)
def test_a_plan_has_a_panel_for_each_of_its_curves(name, labels):
    result = planned(name)
    panels = shown(sr.plot(result))
    assert [(axes.get_xlabel(), axes.get_ylabel()) for axes in panels] == labels
    for axes, against in zip(panels, result.curves, strict=True):
        curve = result.curve(against)
        lines = [line for line in axes.lines if line.get_label() in curve.measures]
        assert [line.get_label() for line in lines] == ["AP", "P@10"]
        expected = curve.power if against == "topics" else curve.topics
        np.testing.assert_array_equal([line.get_ydata() for line in lines], expected)
        assert {text.get_text() for text in axes.get_legend().get_texts()} == {"AP", "P@10"}


def test_the_plan_itself_is_marked():
    result = planned("anova")
    by_difference, by_systems, by_topics = shown(sr.plot(result))
    rows = result.plans
    assert marks(by_difference) == [(0.1, row.topics) for row in rows]
    assert marks(by_systems) == [(5, row.topics) for row in rows]
    assert marks(by_topics) == [(row.topics, row.power) for row in rows]
    assert marks(shown(sr.plot(planned("given")))[0]) == []


def scores(seed=0):
    rng = np.random.default_rng(seed)
    parts = [(0.2, (4, 1, 1)), (0.2, (1, 1, 12)), (0.05, (4, 3, 1)), (0.1, (4, 1, 12))]
    cube = sum(rng.normal(0, sd, shape) for sd, shape in [*parts, (0.1, (4, 3, 12))])
    runs = [f"s{i // 3}.{i % 3}" for i in range(12)]
    return sr.Scores(
        measures=["AP"],
        runs=runs,
        topics=[str(t) for t in range(12)],
        values=[cube.reshape(12, 12)],
        run_info={"system": [run[:2] for run in runs]},
    )


def test_stability_has_a_line_for_each_number_of_instances():
    result = sr.stability(scores(), n_instances=[1, 10], levels=[0.9])
    relative, absolute = shown(sr.plot(result))
    assert relative.get_xlabel() == absolute.get_xlabel() == "number of topics"
    assert (relative.get_ylabel(), absolute.get_ylabel()) == ("E rho² of AP", "Phi of AP")
    names = [text.get_text() for text in relative.get_legend().get_texts()]
    assert names == ["1 instance", "3 instances", "10 instances"]
    g = result.components
    for axes, coefficient in ((relative, g.e_rho2), (absolute, g.phi)):
        for k, name in zip((1, 3, 10), names, strict=True):
            (line,) = (line for line in axes.lines if line.get_label() == name)
            x, y = line.get_data()
            np.testing.assert_allclose(y, [coefficient(n, k) for n in x])
        assert marks(axes) == [(12, coefficient(12, 3))]
        assert [0.9, 0.9] in [list(line.get_ydata()) for line in axes.lines]
    band = relative.collections[0].get_paths()[0].vertices
    ends = [12, result.coefficients[0].e_rho2_interval[1]]
    assert np.isclose(band, ends).all(axis=1).any()


def test_stability_of_two_facets():
    result = sr.stability(replace(scores(), run_info={}))
    relative, absolute = shown(sr.plot(result))
    assert absolute.get_legend() is None
    assert (marks(relative), marks(absolute)) == ([(12, result.e_rho2)], [(12, result.phi)])

"""Every pitfall's figure and the plan's curves: drawn, with labelled axes and the data in them."""

from __future__ import annotations

import numpy as np
import pytest

import steadyrank as sr
from steadyrank import papers

rng = np.random.default_rng(0)
SCORES = rng.normal(0.3, 0.1, (6, 20)) + rng.normal(0, 0.05, (6, 1))
BASELINE = rng.normal(0.3, 0.1, 20)


def few_comparisons():
    return papers.paper_comparisons(4, n_topics=10, n_instances=4)


RESULTS = {
    "shares": lambda: papers.single_instance_shares(
        means=[0.3, 0.5], spreads=[0.0, 0.2], n_topics=10, n_instances=5, n_trials=3
    ),
    "intervals": lambda: papers.equivalence_intervals([10, 20, 40]),
    "methods": lambda: papers.method_pvalues(few_comparisons(), n_samples=50),
    "directions": lambda: papers.contradictions({"mine": SCORES, "yours": SCORES + 0.1}, BASELINE),
    "pools": lambda: papers.pool_pvalues(SCORES, BASELINE, sizes=[2, 4], n_pools=5),
    "plan": lambda: sr.plan(
        variance={"AP": 0.04, "P@10": 0.06}, minimum_difference=0.1, systems=5
    ).curve("minimum_difference", [0.05, 0.1, 0.2]),
}


@pytest.mark.parametrize("name", RESULTS)
def test_every_figure_has_labelled_axes(name):
    figure = sr.plot(RESULTS[name]())
    axes = figure.axes[0]
    assert axes.get_xlabel()
    assert axes.get_ylabel() or axes.get_yticklabels()
    assert axes.has_data()


def test_what_is_drawn_is_what_was_found():
    found = papers.method_pvalues(few_comparisons(), n_samples=50)
    points = sr.plot(found).axes[0].lines[-1]
    np.testing.assert_array_equal(points.get_xdata(), found.of("mixed_paper"))
    np.testing.assert_array_equal(points.get_ydata(), found.of("bootstrap"))
    points = sr.plot(found, first="mixed", second="t_single").axes[0].lines[-1]
    np.testing.assert_array_equal(points.get_xdata(), found.of("mixed"))
    np.testing.assert_array_equal(points.get_ydata(), found.of("t_single"))
    curves = sr.plot(found, kind="descending").axes[0].lines
    np.testing.assert_array_equal(curves[0].get_ydata(), found.descending()[0])
    curve = sr.plan(variance=0.04, minimum_difference=0.1, systems=5).curve("systems", [2, 5, 10])
    line = sr.plot(curve).axes[0].lines[0]
    np.testing.assert_array_equal(line.get_ydata(), curve.topics[0])

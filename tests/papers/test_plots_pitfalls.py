"""Every pitfall's figure: drawn, with labelled axes and the data in them."""

from __future__ import annotations

import numpy as np
import pytest

from steadyrank.present.figures import svg_text
from steadyrank.present.plot_style import COLOURS
from steadyrank_lab.papers.jayasinghe2015 import experiments as papers
from steadyrank_lab.papers.jayasinghe2015 import plots
from steadyrank_lab.papers.model import blank_figure

rng = np.random.default_rng(0)
SCORES = rng.normal(0.3, 0.1, (6, 20)) + rng.normal(0, 0.05, (6, 1))
BASELINE = rng.normal(0.3, 0.1, 20)


def few_comparisons():
    return [papers.paper_comparison(0, k, size=(4, 10)) for k in range(4)]


def shares():
    return papers.single_instance_shares(
        means=[0.2, 0.5, 0.8], spreads=[0.0, 0.3], n_topics=10, n_instances=8, n_trials=4
    )


def counts(level):
    found = papers.contradictions(
        {"mine": SCORES, "yours": SCORES + 0.1}, BASELINE, alphas=(0.1, 0.05)
    )
    return found[found["alpha"] == level]


def pools():
    return papers.pool_pvalues(SCORES, BASELINE, sizes=[2, 4], n_pools=5)


def drawn(draw, frame, **options):
    figure, ax = blank_figure(5.6, 4.0)
    draw(ax, frame, **options)
    return figure


def methods(**options):
    return papers.method_pvalues(few_comparisons(), **options)


def test_what_is_drawn_is_what_was_found():
    found = methods(n_samples=50)
    for names in ({}, {"first": "mixed", "second": "t_single"}):
        points = drawn(plots.agreement_on, found, **names).axes[0].lines[-1]
        first, second = names.values() or ("mixed_paper", "bootstrap")
        np.testing.assert_array_equal(points.get_xdata(), found[first])
        np.testing.assert_array_equal(points.get_ydata(), found[second])
    curves = drawn(plots.descending_on, found).axes[0].lines
    for curve, test in zip(curves, found, strict=True):
        assert (np.diff(curve.get_ydata()) <= 0).all()
        np.testing.assert_array_equal(np.sort(curve.get_ydata()), np.sort(found[test]))


@pytest.mark.parametrize("level", [0.1, 0.05])
def test_directions_count_instances(level):
    found = counts(level)
    ax = drawn(plots.contradictions_on, found).axes[0]
    bars_of = {bars.get_label(): [bar.get_width() for bar in bars] for bars in ax.containers}
    better, worse = found["better"].tolist(), (-found["worse"]).tolist()
    assert bars_of == {f"better, p < {level:g}": better, f"worse, p < {level:g}": worse}


def test_shares_are_cells_of_mean_and_spread():
    found = shares()
    figure = drawn(plots.shares_on, found.sample(frac=1, random_state=1))
    cells = np.asarray(figure.axes[0].collections[0].get_array())
    np.testing.assert_array_equal(cells.ravel(), found["share"])
    row = found.iloc[3]
    text = f"<title>mean 0.5, sd 0.3: {row['share']:.1%} ± {row['share_error']:.1%}"
    assert svg_text(figure).count(text) == 1
    assert figure.axes[0].get_ylabel() == "mean of the instance effect"


def test_pools_are_boxes_beside_all_instances():
    found = pools()
    ax = drawn(plots.pools_on, found, test="bootstrap").axes[0]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["2", "4"]
    medians = [line.get_ydata()[0] for line in ax.lines if line.get_color() == COLOURS[0]]
    assert medians == found.groupby("instances")["bootstrap"].median().tolist()
    assert ax.lines[-1].get_ydata()[0] == found.attrs["all_instances"]["bootstrap"]

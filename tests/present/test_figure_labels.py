"""Legends and labels of figures cover nothing that is written there, however narrow the panels."""

from __future__ import annotations

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import steadyrank as sr


def overlaps(ax):
    """Labels along the top of the axes that the legend covers."""
    figure = ax.get_figure()
    figure.draw_without_rendering()
    frame = ax.get_legend().get_window_extent()
    labels = [tick.label2 for tick in ax.xaxis.get_major_ticks() if tick.label2.get_visible()]
    return [text.get_text() for text in labels if frame.overlaps(text.get_window_extent())]


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(1)
    values = np.clip(rng.beta(2, 3, 20) + rng.normal(0, 0.1, (40, 20)), 0, 1)
    return sr.Scores(measures=["AP"], runs=range(40), topics=range(20), values=[values])


def test_of_more_rows_than_an_axis_below_serves(scores):
    result = sr.compare(scores, baseline="0")
    ax = next(ax for ax in sr.plot(result).axes if ax.get_legend() is not None)
    assert ax.xaxis.get_tick_params()["labeltop"]
    assert overlaps(ax) == []
    plt.close("all")


MEASURES = ("nDCG(gains=(0,1,3))@10", "AP(rel=2)", "ERR(max_rel=4)@20")


@pytest.fixture(scope="module")
def results():
    rng = np.random.default_rng(3)
    values = 0.3 + 0.03 * np.arange(6)[:, None] + 0.2 * rng.standard_normal((3, 6, 30))
    names = [f"run_of_some_system_{k}" for k in range(6)]
    scores = sr.Scores(measures=MEASURES, runs=names, topics=range(30), values=values)
    return {"compare": sr.compare(scores), "stability": sr.stability(scores, measure=MEASURES[0])}


@pytest.mark.filterwarnings("ignore::steadyrank.SteadyrankWarning")
@pytest.mark.parametrize("width", [None, 5.0, 3.3])
@pytest.mark.parametrize("study", ["compare", "stability"])
def test_labels_of_panels_do_not_overlap(results, study, width):
    figure = sr.plot(results[study], figsize=width)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    labels = [
        axis.label.get_window_extent(renderer)
        for ax in figure.axes
        for axis in (ax.xaxis, ax.yaxis)
        if axis.label.get_text()
    ]
    assert labels
    for one, other in itertools.combinations(labels, 2):
        assert not one.overlaps(other)
    width, height = figure.get_size_inches() * figure.dpi
    assert all(label.y0 > -2.0 and label.y1 < height + 2.0 for label in labels)

"""A legend on top of the axes hides nothing that is written there."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

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

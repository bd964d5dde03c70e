"""Figures of `agree` and `components` show the result's numbers, and are the same bytes."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

import steadyrank as sr


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(2)
    quality = rng.random((12, 1)) + rng.random((12, 20))
    values = quality + np.array([0.1, 0.2, 2.0])[:, None, None] * rng.random((3, 12, 20))
    return sr.Scores(
        measures=("AP", "nDCG", "odd"),
        runs=range(12),
        topics=range(20),
        values=values,
        run_info={"stemmer": ["none", "porter", "lovins"] * 4, "model": ["bm25", "lm"] * 6},
    )


@pytest.fixture(scope="module")
def agreement(scores):
    return sr.agree(scores, topic_sizes=[4, 8, 12, 16, 18], system_sizes=[9, 3, 6], n_samples=10)


@pytest.fixture(scope="module")
def grid(scores):
    return sr.components(scores, measure="AP", factors=["stemmer", "model"])


def panels(figure):
    """The axes that show something; the first one only keeps the place."""
    assert not figure.axes[0].axison
    return figure.axes[1:]


def test_sizes_are_a_panel_a_number_of_topics(agreement):
    figure = sr.plot(agreement, pair=("odd", "AP"))
    axes = panels(figure)
    assert [ax.get_title() for ax in axes] == [f"{n} topics" for n in (4, 8, 12, 16, 18)]
    pair = agreement.pair("AP", "odd")
    for t, ax in enumerate(axes):
        for container, samples in zip(
            ax.containers, (agreement.tau, agreement.tau_ap), strict=True
        ):
            x, y = container.lines[0].get_data()
            assert x.tolist() == [3, 6, 9]
            np.testing.assert_allclose(y, samples[pair, t].mean(axis=-1)[[1, 2, 0]])
        ends = np.array(ax.containers[0].lines[2][0].get_segments())[:, :, 1]
        np.testing.assert_allclose(ends, agreement.interval[pair, t][[1, 2, 0]])
    assert [text.get_text() for text in axes[0].get_legend().get_texts()] == ["tau", "tau_AP"]
    assert axes[0].get_ylabel() == "AP – odd"
    assert [ax.get_xlabel() for ax in axes] == ["", "systems", "systems", "systems", "systems"]
    with pytest.raises(sr.UnknownNameError, match="unknown measure 'ap'"):
        sr.plot(agreement, pair=("ap", "odd"))


def test_pairs_are_centred_and_carry_both_ranks(agreement):
    (ax,) = sr.plot(agreement, kind="pairs").axes
    rows = agreement.ranking()
    for line, key in zip(ax.lines, ("tau", "tau_ap"), strict=False):
        x, y = line.get_data()
        means = np.array([row[key] for row in rows])
        np.testing.assert_allclose(x, means - means.mean())
        assert y.tolist() == [0, 1, 2]
    names = [label.get_text() for label in ax.get_yticklabels()]
    first = rows[0]
    assert names[0] == f"{first['measure_a']} – {first['measure_b']}  (1 / {first['rank_tau_ap']})"
    assert f"RMSE {agreement.rmse:.4f}" in ax.get_xlabel()


def test_measures_are_a_heat_map_of_adjacent_similar_measures(agreement):
    (heat,) = sr.plot(agreement, kind="measures").axes
    order = agreement.likeness.order
    names = [agreement.measures[i] for i in order]
    assert [label.get_text() for label in heat.get_yticklabels()] == names
    shown = np.asarray(heat.collections[0].get_array()).reshape(3, 3)
    np.testing.assert_allclose(shown, agreement.likeness.tau[np.ix_(order, order)])


def test_levels_have_hsd_intervals(grid):
    axes = panels(sr.plot(grid))
    assert [ax.get_title() for ax in axes] == ["stemmer", "model"]
    for ax, name in zip(axes, grid.factors, strict=True):
        rows, half = grid.ordered_levels(name), grid.main_effects[name].half_width
        assert [label.get_text() for label in ax.get_yticklabels()] == [row[0] for row in rows]
        ends = np.array(ax.containers[0].lines[2][0].get_segments())[:, :, 0]
        np.testing.assert_allclose(ends, [[mean - half, mean + half] for _, mean in rows])
    (only,) = panels(sr.plot(grid, factor="model"))
    assert only.get_title() == "model"
    with pytest.raises(sr.UnknownNameError, match="unknown factor 'models'"):
        sr.plot(grid, factor="models")


def test_panels_go_into_a_place_of_a_grid_only(agreement):
    figure = Figure()
    free = figure.add_axes((0.1, 0.1, 0.8, 0.8))
    with pytest.raises(sr.InputError, match="several panels: omit ax"):
        sr.plot(agreement, ax=free)
    assert sr.plot(agreement, ax=figure.add_subplot(1, 2, 1)) is figure

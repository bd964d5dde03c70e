"""Figures show the result's numbers, and are the same bytes each time."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

import steadyrank as sr
from steadyrank.present.figures import save_figure
from steadyrank.present.plot_style import COLOURS, MOST_NAMES
from steadyrank.studies.registry import all_plots

KINDS = list(all_plots()["SimulateResult"])


@pytest.fixture(scope="module")
def result():
    track = sr.simulated_track(n_teams=5, runs_per_team=1, n_topics=12, depth=60, pool_depth=40)
    return sr.simulate(track.runs, track.qrels, n_samples=300, no_relevant="skip")


def bars(container):
    """(x, y) of both ends of every bar of an errorbar's container."""
    return np.array(container.lines[2][0].get_segments())


def test_the_default_is_the_error_rate_by_bins(result):
    figure = sr.plot(result)
    assert isinstance(figure, Figure)
    (ax,) = figure.axes
    (line,) = ax.containers
    x, y = line.lines[0].get_data()
    assert x == pytest.approx(np.arange(21) / 100 + 0.005)
    np.testing.assert_array_equal(y, result.error_rate.rate)
    filled = result.error_rate.count > 0
    tops = np.array([ends[1][1] for ends in line.lines[2][0].get_segments()])[filled]
    expected = (result.error_rate.rate + result.error_rate.rate_error)[filled]
    np.testing.assert_allclose(tops, expected)
    assert ax.get_ylim()[0] == 0
    assert ax.get_xlabel() == "difference in mean AP between two runs in a simulated collection"
    assert ax.get_ylabel() == "error rate"
    assert [tick.get_text() for tick in ax.get_xticklabels()][-1] == "≥ 0.20"


def test_a_second_result_stands_beside_the_first(result):
    worse = replace(result.error_rate, rate=np.full(21, 0.9), rate_error=np.zeros(21))
    figure = sr.plot(result)
    other = replace(result, documents="independent", model="kde", error_rate=worse)
    assert sr.plot(other, ax=figure.axes[0]) is figure
    first, second = figure.axes[0].containers
    assert first.lines[0].get_color() == COLOURS[0] != second.lines[0].get_color()
    assert first.lines[0].get_marker() != second.lines[0].get_marker()
    texts = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert texts == ["shared documents", "KDE, scott"]
    assert figure.axes[0].get_ylim()[0] == 0
    assert figure.axes[0].get_ylim()[1] > 0.9


def test_topics_show_one_runs_means_and_spreads(result):
    name = result.runs[2]
    (ax,) = sr.plot(result, kind="topics", run=name).axes
    (points,) = ax.containers
    x, y = points.lines[0].get_data()
    np.testing.assert_array_equal(x, result.raw[2])
    np.testing.assert_array_equal(y, result.cell_mean[2])
    ends = bars(points)[:, :, 1]
    np.testing.assert_allclose(ends[:, 1] - ends[:, 0], 2 * result.cell_sd[2], atol=1e-12)
    assert name in ax.get_xlabel()
    best = result.runs[int(np.argmax(result.raw_mean))]
    assert best in sr.plot(result, kind="topics").axes[0].get_xlabel()
    with pytest.raises(sr.UnknownNameError, match=f"unknown run {name + 'x'!r}: did you mean"):
        sr.plot(result, kind="topics", run=name + "x")


def test_a_long_name_leaves_the_axis_its_room(result):
    long = "a_reranker_with_a_name_of_sixty_characters_and_the_seed_0042"
    named = replace(result, runs=(long, *result.runs[1:]))
    (ax,) = sr.plot(named, kind="topics", run=long).axes
    assert ax.get_xlabel() == "AP of a_reranker_with_…and_the_seed_0042 on a topic"


def test_ranks_have_the_best_run_on_top(result):
    (ax,) = sr.plot(result, kind="ranks").axes
    rows = result.rows()
    assert [label.get_text() for label in ax.get_yticklabels()] == [row["run"] for row in rows]
    bottom, top = ax.get_ylim()
    assert top < 0 < bottom
    ends = bars(ax.containers[0])[:, :, 0]
    np.testing.assert_allclose(ends, [[row["rank_low"], row["rank_high"]] for row in rows])


def test_many_runs_name_some_and_stay_printable(result):
    n = 4 * MOST_NAMES
    rng = np.random.default_rng(0)
    many = replace(
        result,
        runs=tuple(f"run{i}" for i in range(n)),
        raw=rng.random((n, 3)),
        simulated=rng.random((10, n)),
        rank_share=np.full((n, n), 1 / n),
        rank_interval=np.tile([1, n], (n, 1)),
    )
    figure = sr.plot(many, kind="ranks")
    assert len(figure.axes[0].get_yticks()) == MOST_NAMES
    assert 200 * figure.get_figheight() < 2**16, "the pixels that a PNG may be high"


@pytest.mark.parametrize(
    ("kind", "form"), [*((kind, "svg") for kind in KINDS), ("ranks", "png"), ("ranks", "pdf")]
)
def test_the_same_figure_is_the_same_bytes(result, tmp_path, kind, form):
    saved = []
    for i in range(2):
        save_figure(sr.plot(result, kind=kind), tmp_path / f"{i}.{form}")
        saved.append((tmp_path / f"{i}.{form}").read_bytes())
    assert saved[0] == saved[1]
    assert saved[0].startswith({"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[form])


def test_names_are_text_whatever_they_hold(result, tmp_path):
    odd = ("$x$_{1", "caf\udce9", "tab\there", "<b>&amp;", "%")
    for kind in KINDS:
        save_figure(sr.plot(replace(result, runs=odd), kind=kind), tmp_path / "odd.svg")
    save_figure(sr.plot(replace(result, runs=odd), kind="ranks"), tmp_path / "odd.svg")
    texts = "".join(ElementTree.parse(tmp_path / "odd.svg").getroot().itertext())
    for shown in ("$x$_{1", r"caf\xe9", r"tab\x09here", "<b>&amp;"):
        assert shown in texts


def test_files_are_whole_or_not_at_all(result, tmp_path):
    figure = sr.plot(result)
    target = tmp_path / "figure.svg"
    target.write_text("before")
    figure.axes[0].set_title("$x^$", parse_math=True)  # mathematics that cannot be drawn
    with pytest.raises(ValueError, match="(?s)x\\^"):
        save_figure(figure, target)
    assert target.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["figure.svg"]
    with pytest.raises(sr.InputError, match="must end in .svg, .png or .pdf"):
        save_figure(figure, tmp_path / "figure.gif")


def test_what_cannot_be_drawn_is_told(result):
    with pytest.raises(sr.UnknownNameError, match="'rank': did you mean 'ranks'"):
        sr.plot(result, kind="rank")
    with pytest.raises(sr.InputError, match="there is no plot of a dict"):
        sr.plot({})


def test_nothing_is_left_behind():
    code = (
        "import sys, steadyrank as sr; sr.plot; print('matplotlib' in sys.modules);"
        "from matplotlib import rcParams; before = rcParams.copy();"
        "from steadyrank.present.figures import save_figure;"
        "from matplotlib.figure import Figure; import tempfile, os;"
        "save_figure(Figure(), os.path.join(tempfile.mkdtemp(), 'f.svg'));"
        "print(before == rcParams.copy(), 'matplotlib.pyplot' in sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == ["False", "True", "False"]

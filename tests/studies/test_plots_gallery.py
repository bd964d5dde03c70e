"""The gallery shows every kind of plot, and figures show what was found: every number drawn."""

from __future__ import annotations

import importlib.util
import re
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from functools import cache, partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

import steadyrank as sr
from steadyrank.present.figures import _TOLD, svg_text
from steadyrank.stats.run_means import adjusted_means, expected_means
from steadyrank.studies.plotting import alt_text
from steadyrank.studies.registry import all_plots

DOCS = Path(__file__).parents[2] / "docs"
KEYS = [(name, kind) for name, kinds in all_plots().items() for kind in kinds]

TESTED_ELSEWHERE = {"FacetsResult", "InstancesResult", "PlanResult", "StabilityResult"}
"""Drawn by the functions of other classes, or tested with their own study: SVG takes time."""


def load_gallery():
    if "make_gallery" not in sys.modules:
        spec = importlib.util.spec_from_file_location("make_gallery", DOCS / "make_gallery.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules["make_gallery"] = module
        spec.loader.exec_module(module)
    return sys.modules["make_gallery"]


gallery = load_gallery()


@cache
def drawn(key):
    return gallery.drawn(gallery.ENTRIES[key], gallery.names())


def _bare(code):
    """Code as it is however it was wrapped: a formatter adds commas, too."""
    return "".join(code.split()).replace(",)", ")").replace(",]", "]").replace(",}", "}")


def test_every_kind_is_on_the_page_with_its_picture():
    assert gallery.missing() == [], "add an entry, then: python docs/make_gallery.py"
    assert set(gallery.ENTRIES) == set(KEYS)
    page = (DOCS / "gallery.md").read_text("utf-8")
    for key, entry in gallery.ENTRIES.items():
        assert f"]({gallery.picture(key)})" in page, "python docs/make_gallery.py"
        assert entry.question in page
        assert f"\\\n{entry.shows}" in page, "python docs/make_gallery.py"
        assert f"`{entry.call}`" in page
    for name, call in gallery.RESULTS.items():
        assert _bare(f"{name} = {call}") in _bare(page)


def test_pictures_are_small_and_made_of_shapes():
    found = sorted((DOCS / gallery.PICTURES).iterdir())
    assert {path.name for path in found} == {Path(gallery.picture(key)).name for key in KEYS}
    assert sum(path.stat().st_size for path in found) < 1_500_000
    for path in found:
        assert path.stat().st_size < 60_000, path.name
        drawing = ElementTree.parse(path).getroot()
        tags = {element.tag.rpartition("}")[2] for element in drawing.iter()}
        assert "image" not in tags, path.name
        assert drawing.get("aria-label")


@pytest.mark.parametrize("key", KEYS, ids="-".join)
def test_each_figure_is_made_again_and_stands_in_a_page(key, monkeypatch):
    # On a machine that takes seconds for a legend, too, which matplotlib would warn of.
    clock = SimpleNamespace(perf_counter=partial(next, count(step=10.0)))
    monkeypatch.setattr("matplotlib.legend.time", clock)
    figure, result, kind = drawn(key)
    assert (type(result).__name__, kind or next(iter(all_plots()[key[0]]))) == key
    shown = [ax for ax in figure.axes if ax.axison]
    assert shown
    assert any(ax.get_xlabel() for ax in shown)
    # Rows of names need no label; numbers do.
    assert any(ax.get_ylabel() or ax.get_yticklabels() for ax in shown)
    alt = alt_text(result, kind)
    assert re.fullmatch(r"[A-Z].*[.]", alt), alt
    if key[0] in TESTED_ELSEWHERE:
        return
    text = svg_text(figure, alt=alt, prefix="here-")
    root = ElementTree.fromstring(text)
    told = sum(len([text for text in _TOLD[a] if text]) for a in figure.findobj(_TOLD.__contains__))
    titles = [element for element in root.iter() if element.tag.endswith("}title")]
    assert titles
    # Points without a place (NaN) are not drawn; all others tell what they are.
    unplaced = {("SimulateResult", "error_rate"), ("TopicsResult", "error_rate")}
    assert len(titles) == told or (key in unplaced and len(titles) < told)


def test_each_alt_text_is_its_own():
    texts = {}
    for key in KEYS:
        _, result, kind = drawn(key)
        texts.setdefault(alt_text(result, kind), set()).add(key[1])
    assert all(len(kinds) == 1 for kinds in texts.values())


@pytest.fixture(scope="module")
def known():
    """The small results of the gallery, by name."""
    return gallery.names()


def only(figure):
    (ax,) = [ax for ax in figure.axes if ax.axison]
    return ax


def points(container):
    return np.column_stack(container.lines[0].get_data())


def ends(container, axis):
    """Both ends of every bar of an errorbar, along one axis."""
    return np.array(container.lines[2][0].get_segments())[:, :, axis]


def names(ax, axis="y"):
    labels = ax.get_yticklabels() if axis == "y" else ax.get_xticklabels()
    return [label.get_text() for label in labels]


def words(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


# Scores


def test_means_have_t_intervals_over_topics(known):
    scores = known["scores"]
    ax = only(sr.plot(scores, measure="P@10", level=0.9))
    matrix = scores.matrix("P@10")
    order = np.argsort(-matrix.mean(axis=1), kind="stable")
    expected = expected_means(matrix).mean
    for r, (low, high) in zip(order, ends(ax.containers[0], 0), strict=True):
        alone = stats.ttest_1samp(matrix[r], 0).confidence_interval(0.9)
        shift = expected[r] - matrix[r].mean()
        assert low == pytest.approx(alone.low + min(shift, 0.0))
        assert high == pytest.approx(alone.high + max(shift, 0.0))
    assert names(ax) == [scores.runs[r] for r in order]
    assert ax.get_xlabel() == (
        "mean P@10 with 90% interval over topics,\nfor one run at a time, corrected for selection"
    )
    assert "mean AP" in only(sr.plot(scores)).get_xlabel()
    with pytest.raises(sr.UnknownNameError, match="unknown measure 'ap'"):
        sr.plot(scores, measure="ap")


def test_missing_scores_are_left_out_of_means_and_blank_in_the_heat_map(known):
    values = known["scores"].values.copy()
    values[0, 3, 5] = np.nan
    values[0, 4] = np.nan
    scores = replace(known["scores"], values=values)
    ax = only(sr.plot(scores))
    left = values[0, 3][~np.isnan(values[0, 3])]
    row = names(ax).index(scores.runs[3])
    limits = stats.ttest_1samp(left, 0).confidence_interval(0.95)
    mean = adjusted_means(scores.matrix("AP"))[3]
    shift = expected_means(scores.matrix("AP")).mean[3] - mean
    bar = ax.containers[0].lines[2][0].get_segments()[row]
    moved = np.array([limits.low + min(shift, 0.0), limits.high + max(shift, 0.0)])
    np.testing.assert_allclose(bar[:, 0], moved + mean - left.mean())
    assert ax.get_xlabel().startswith("least-squares mean AP")
    assert names(ax)[-1] == scores.runs[4]


# compare


@pytest.mark.parametrize("run", [None, "team3-s1"])
def test_intervals_are_differences_to_one_run(known, run):
    result = known["compared"]
    best = result.runs[int(result.mean.argmax())]
    ax = only(sr.plot(result, run=run))
    reference = run or best
    found = {}
    for row in result.rows():
        if reference in (row["a"], row["b"]):
            sign = 1 if row["b"] == reference else -1
            other = row["a"] if sign == 1 else row["b"]
            low, high = sorted(sign * end for end in row["interval"])
            found[other] = (sign * row["difference"], low, high, row["significant"])
    assert names(ax) == sorted(found, key=lambda name: -result.mean[result.runs.index(name)])
    drawn = {}
    for container in ax.containers:
        for (x, y), (low, high) in zip(points(container), ends(container, 0), strict=True):
            drawn[names(ax)[int(y)]] = (x, low, high, container.get_label() == "significant")
    assert drawn.keys() == found.keys()
    for name, expected in found.items():
        np.testing.assert_allclose(drawn[name], expected, atol=1e-12)
    assert (
        ax.get_xlabel() == f"mean AP less that of {reference},\n95% intervals (simultaneous, max-t)"
    )


def test_intervals_keep_to_the_baseline(known):
    result = sr.compare(known["scores"], measure="AP", baseline="team3-s1")
    ax = only(sr.plot(result))
    assert "team3-s1" in ax.get_xlabel()
    assert len(names(ax)) == len(result.runs) - 1
    with pytest.raises(sr.InputError, match="compared with team3-s1, not with team1-s1"):
        sr.plot(result, run="team1-s1")
    with pytest.raises(sr.UnknownNameError, match="did you mean 'team1-s1'"):
        sr.plot(known["compared"], run="team1-s11")
    assert len(only(sr.plot(result, kind="ranks")).get_yticks()) == len(result.runs)


def test_ranks_carry_letters(known):
    result = known["compared"]
    ax = only(sr.plot(result, kind="ranks"))
    order = np.argsort(-result.mean, kind="stable")
    np.testing.assert_allclose(ends(ax.containers[0], 0), result.rank_set[order])
    assert ax.lines[-1].get_xdata().tolist() == result.rank[order].tolist()
    assert names(ax)[0] == f"{result.runs[order[0]]}  ({result.letters[order[0]]})"
    assert "share a letter" in ax.get_xlabel()


# simulate


def test_two_models_of_one_run_have_a_legend(known):
    ax = only(sr.plot([known["simulated"], known["smooth"]], kind="topics"))
    assert words(ax) == ["shared documents", "KDE, scott"]
    assert only(sr.plot(known["simulated"], kind="topics")).get_legend() is None


# agree, components


def test_sizes_have_bands_of_the_samples(known):
    result = known["agreement"]
    panels = sr.plot(result, kind="sizes", pair=("AP", "RR")).axes[1:]
    pair = result.pair("AP", "RR")
    for t, ax in enumerate(panels):
        # The first band is tau's: the middle 95 % of the samples at each size.
        corners = ax.collections[0].get_paths()[0].vertices
        low, high = np.quantile(result.tau[pair, t], [0.025, 0.975], axis=-1)
        for size, bottom, top in zip(result.system_sizes, low, high, strict=True):
            at = corners[corners[:, 0] == size, 1]
            assert (at.min(), at.max()) == pytest.approx((bottom, top))


def test_effects_are_omega_squared(known):
    ax = only(sr.plot(known["components"], kind="effects"))
    kept = [s for s in known["components"].anova.sources if not np.isnan(s.omega_squared)]
    assert [bar.get_width() for bar in ax.containers[0]] == [s.omega_squared for s in kept]


# Names


def test_names_are_text_in_every_kind_of_compare_and_scores(known):
    odd = ["$x$_{1", "caf\udce9", "tab\there", "<b>&amp;", *known["scores"].runs[4:]]
    scores = replace(known["scores"], runs=tuple(odd), measures=("$m_{", "b", "c", "d"))
    result = sr.compare(scores, measure="$m_{")
    for each in (scores, result):
        for kind in all_plots()[type(each).__name__]:
            text = svg_text(sr.plot(each, kind=kind), alt="x")
            assert "$m_{" in text
            assert kind == "topics" or r"caf\xe9" in text

"""The gallery shows every kind of plot, and each of its figures can stand in a page."""

from __future__ import annotations

import importlib.util
import re
import sys
import xml.etree.ElementTree as ElementTree
from functools import cache, partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from steadyrank.present.figures import _TOLD, svg_text
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


def test_each_caption_says_what_to_see_in_one_sentence():
    shown = [entry.shows for entry in gallery.ENTRIES.values()]
    assert len(set(shown)) == len(shown)
    for sentence in shown:
        assert re.fullmatch(r"[^.?!]{30,}(\.\d[^.?!]*)*\.", sentence), sentence
        assert len(sentence) <= 200, sentence


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
    if key[1] == "heatmap":  # bars of colours start from where they are
        assert text == svg_text(figure, alt=alt, prefix="here-")
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

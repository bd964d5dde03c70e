"""Drawings in fewer letters show the same marks at the same places, and tell the same."""

from __future__ import annotations

import re
from collections import Counter
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

from steadyrank.present import svg
from steadyrank.present.svg import shorten, svg_text, tell

SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
PASSED_ON = re.compile("fill.*|stroke.*|font-.*|text-anchor|clip-path")


def many_runs(n=40):
    """Bars that tell, markers that tell, a grid, a second axis, rotated labels and a legend."""
    figure = Figure(figsize=(6, 8), layout="constrained")
    left, right = figure.subplots(1, 2)
    bars = left.barh(np.arange(n), np.linspace(1, 2, n), color="#888888", alpha=0.4)
    tell(bars, [f"bar {i}" for i in range(n)])
    left.set_yticks(np.arange(n), [f"run {i}" for i in range(n)])
    left.grid(color="#dddddd")
    left.tick_params(axis="x", labelrotation=45, top=True)
    (line,) = right.plot(np.arange(n), np.arange(n) ** 2, "o-", label="squares")
    tell(line, [f"point {i}" for i in range(n)])
    right.twinx().plot([0, 1], [3, 5], ":", color="red")
    right.set_yscale("symlog")
    right.legend()
    return figure


def heat_map():
    figure = Figure()
    ax = figure.add_subplot()
    mesh = ax.pcolormesh(np.arange(12.0).reshape(3, 4))
    tell(mesh, [f"cell {i}" for i in range(12)])
    figure.colorbar(mesh)
    return figure


def marks(root):
    """Every drawn element with the attributes that reach it, what it tells and what it says."""
    found = []

    def walk(element, passed):
        own = {key: value for key, value in element.attrib.items() if PASSED_ON.fullmatch(key)}
        for child in element:
            if child.tag == f"{SVG}title":
                passed = {**passed, "told": child.text}
        if element.tag.removeprefix(SVG) in ("path", "use", "text"):
            found.append((element.tag, {**passed, **element.attrib}, "".join(element.itertext())))
        for child in element:
            if element.tag != f"{SVG}defs":
                walk(child, {**passed, **own})

    walk(root, {})
    return found


def segments(root):
    """All straight lines from one point to another, with what they look like."""
    shapes = {f"#{path.get('id')}": path for path in root.iter(f"{SVG}path")}
    lines = Counter()
    for tag, looks, _ in marks(root):
        at = np.zeros(2)
        if tag == f"{SVG}use":
            at += [float(looks.pop("x")), float(looks.pop("y"))]
            looks |= shapes[looks.pop(HREF)].attrib
        pieces = re.findall(r"([MLl])(-?[\d.]+) (-?[\d.]+)", looks.pop("d", "-"))
        if {letter for letter, *_ in pieces[1:]} - {"M", "L", "l"} or not pieces:
            continue
        # A line has no inside to be filled, and ids are numbered anew.
        looks = {k: v for k, v in looks.items() if k not in ("id", "fill", "clip-path")}
        here = at
        for letter, *place in pieces:
            there = np.array(place, float) + (here if letter == "l" else at)
            if letter != "M":
                ends = tuple(np.round([*here, *there], 2).tolist())
                lines[ends, tuple(sorted(looks.items()))] += 1
            here = there
    return lines


@pytest.mark.parametrize("figure", [many_runs, heat_map])
def test_every_mark_looks_the_same_and_tells_the_same(figure, monkeypatch):
    short = svg_text(figure())
    monkeypatch.setattr(svg, "shorten", lambda root: None)
    long = svg_text(figure())
    kept = [mark for mark in marks(ElementTree.fromstring(long)) if "id" not in mark[1]]
    assert [m for m in marks(ElementTree.fromstring(short)) if "id" not in m[1]] == kept
    assert len(short) < 0.8 * len(long)


def test_grids_and_ticks_are_the_same_lines_at_the_same_places(monkeypatch):
    short = svg_text(many_runs())
    monkeypatch.setattr(svg, "ticks_as_paths", lambda root: None)
    long = svg_text(many_runs())
    lines = segments(ElementTree.fromstring(short))
    assert lines == segments(ElementTree.fromstring(long))
    assert sum(lines.values()) > 100
    assert len(short) < 0.75 * len(long)
    assert short.count("<text") == long.count("<text")


def test_what_shines_through_is_not_joined():
    drawing = ElementTree.fromstring(
        "<svg>" + '<path d="M0 0" fill="red" opacity="0.5"/>' * 3 + "</svg>"
    )
    shorten(drawing)
    (group,) = drawing
    assert group.attrib == {"fill": "red"}
    assert {path.get("opacity") for path in group} == {"0.5"}


def test_what_is_cut_out_stays_with_what_is_moved():
    moved = '<path d="M0 0" clip-path="url(#a)" fill="red" transform="translate(1 2)"/>'
    drawing = ElementTree.fromstring(f"<svg>{moved * 3}</svg>")
    shorten(drawing)
    (group,) = drawing
    assert group.attrib == {"fill": "red"}
    assert {path.get("clip-path") for path in group} == {"url(#a)"}


def test_a_group_that_tells_something_stays():
    drawing = ElementTree.fromstring("<svg><g><title>a</title><path d='M0 0'/></g></svg>")
    shorten(drawing)
    assert [child.tag for child in drawing] == ["g"]

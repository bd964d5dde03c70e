"""SVG for pages: well-formed whatever names hold, the same bytes, ids that never clash."""

from __future__ import annotations

import io
import re
import warnings
import xml.etree.ElementTree as ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

import steadyrank as sr
from steadyrank.present.figures import SAVED, SETTINGS, _drawn_once, svg_text, tell

SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
NASTY = "a<b>&\"'\x00\x1b\udce9 ]]> é"


def axes():
    return Figure(figsize=(4, 3), layout="constrained").add_subplot()


def titles(ax, **options):
    root = ElementTree.fromstring(svg_text(ax.get_figure(), **options))
    return [element.text for element in root.iter(f"{SVG}title")]


def places(ax):
    """(x, y) of every marker that tells something, with its text."""
    root = ElementTree.fromstring(svg_text(ax.get_figure()))
    uses = [use for use in root.iter(f"{SVG}use") if use.find(f"{SVG}title") is not None]
    return [
        (float(use.get("x")), float(use.get("y")), use.find(f"{SVG}title").text) for use in uses
    ]


def test_markers_tell_their_own_text_and_those_without_a_place_none():
    ax = axes()
    (line,) = ax.plot([1, 2, np.nan, 4], [1, 2, 3, 0], "o-")
    tell(line, ["first", "second", "nowhere", "fourth"])
    found = places(ax)
    assert [text for _, _, text in found] == ["first", "second", "fourth"]
    # Where they are drawn is where the data are: pixels, from the top down.
    pixels = ax.transData.transform([[1, 1], [2, 2], [4, 0]]) * 72 / ax.get_figure().dpi
    height = 72 * ax.get_figure().get_figheight()
    expected = np.column_stack([pixels[:, 0], height - pixels[:, 1]])
    np.testing.assert_allclose([(x, y) for x, y, _ in found], expected, atol=0.02)


def test_collections_bars_and_error_bars_tell_too():
    ax = axes()
    tell(ax.scatter([1, 2, 3], [1, np.nan, 3]), ["a", "b", "c"])
    tell(ax.scatter([2], [2]), ["alone"])
    tell(ax.barh([1, 2], [0.0, 3.0]), ["none", "three"])
    tell(ax.errorbar([1, 2], [2, 1], yerr=1, capsize=2, fmt="o"), ["left", "right"])
    (curve,) = ax.plot([0, 1, 2], [0, 1, 0])
    tell(curve, ["the curve"])
    assert sorted(titles(ax)) == sorted(
        ["a", "c", "alone", "none", "three", "left", "right", "the curve"]
    )


def test_cells_tell_row_by_row_and_empty_ones_are_not_drawn():
    ax = axes()
    mesh = ax.pcolormesh(np.ma.masked_invalid([[1.0, np.nan], [3.0, 4.0]]))
    tell(mesh, ["one", None, "three", "four"])
    root = ElementTree.fromstring(svg_text(ax.get_figure()))
    cells = [path for path in root.iter(f"{SVG}path") if path.find(f"{SVG}title") is not None]
    assert [cell.find(f"{SVG}title").text for cell in cells] == ["one", "three", "four"]
    (group,) = [g for g in root.iter(f"{SVG}g") if g.get("shape-rendering") == "crispEdges"]
    assert len(list(group.iter(f"{SVG}path"))) == 3
    assert len({cell.get("fill") for cell in cells}) == 3
    corner = np.reshape(re.findall(r"[\d.]+", cells[0].get("d")), (-1, 2)).astype(float)
    (x, y), (right, bottom) = corner[0], corner[2]
    corners = ax.transData.transform([[0, 0], [1, 1]]) * 72 / ax.get_figure().dpi
    height = 72 * ax.get_figure().get_figheight()
    np.testing.assert_allclose([x, right], corners[:, 0], atol=0.02)
    np.testing.assert_allclose([y, bottom], height - corners[:, 1], atol=0.02)


def coloured():
    figure = Figure(layout="constrained", facecolor="#ffeecc", dpi=90)
    ax = figure.add_subplot()
    figure.colorbar(ax.pcolormesh([[1.0, 2.0], [3.0, 4.0]]), label="a bar")
    ax.set_ylabel("a long label")
    return figure


def test_drawing_once_gives_the_bytes_of_savefig_and_leaves_the_figure_as_it_was():
    expected = io.BytesIO()
    with mpl.rc_context(SETTINGS):
        coloured().savefig(expected, format="svg", metadata=SAVED["svg"], transparent=True)
    figure = coloured()
    ax, canvas = figure.axes[0], figure.canvas
    assert _drawn_once(figure) == expected.getvalue()
    assert (figure.canvas, figure.dpi) == (canvas, 90)
    assert mpl.colors.to_hex(figure.get_facecolor()) == "#ffeecc"
    assert mpl.colors.to_hex(ax.get_facecolor()) == "#ffffff"


def test_a_wrong_number_of_texts_is_refused():
    ax = axes()
    (line,) = ax.plot([1, 2, 3], [1, 2, 3], "o")
    (curve,) = ax.plot([1, 2, 3], [1, 2, 3])
    mesh = ax.pcolormesh([[1.0, 2.0]])
    for artist, count in (
        (line, 2),
        (curve, 3),
        (mesh, 1),
        (ax.bar([1], [2]), 2),
        (ax.scatter([1], [1]), 3),
    ):
        with pytest.raises(sr.InputError, match=f"cannot carry {count} texts"):
            tell(artist, ["x"] * count)


def test_names_are_text_whatever_they_hold():
    ax = axes()
    (line,) = ax.plot([1, 2], [1, 2], "o")
    tell(line, [NASTY, "<script>alert(1)</script>"])
    ax.set_xlabel("bell \x07 <&>", parse_math=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # no font has a bell
        text = svg_text(ax.get_figure(), alt=NASTY)
    assert "<script" not in text
    root = ElementTree.fromstring(text)
    clean = NASTY.replace("\x00", r"\x00").replace("\x1b", r"\x1b").replace("\udce9", r"\xe9")
    assert root.get("aria-label") == clean
    assert root.find(f"{SVG}desc").text == clean
    found = [element.text for element in root.iter(f"{SVG}title")]
    assert found == [clean, "<script>alert(1)</script>"]
    assert r"bell \x07 <&>" in "".join(root.itertext())
    text.encode("utf-8")


def references(root):
    for element in root.iter():
        for key, value in element.attrib.items():
            yield from re.findall(r"url\(#([^)]+)\)", value)
            if key == HREF and value.startswith("#"):
                yield value[1:]


def busy():
    ax = axes()
    (line,) = ax.plot([1, 2], [1, 2], "o")
    tell(line, ["a", "b"])
    ax.barh([1], [2], hatch="//", edgecolor="white")
    mesh = ax.pcolormesh([[1.0, 2.0]])
    ax.get_figure().colorbar(mesh)
    return ax.get_figure()


def test_ids_have_the_prefix_wherever_they_stand():
    roots = [ElementTree.fromstring(svg_text(busy(), prefix=p)) for p in ("one-", "two-")]
    ids = [[e.get("id") for e in root.iter() if e.get("id")] for root in roots]
    for root, own, prefix in zip(roots, ids, ("one-", "two-"), strict=True):
        assert len(own) == len(set(own))
        assert all(each.startswith(prefix) for each in own)
        used = set(references(root))
        assert len(used) > 2
        assert used == set(own), "no id that nothing refers to"
    assert not set(ids[0]) & set(ids[1])


def test_the_same_figure_is_the_same_text():
    assert svg_text(busy(), alt="x") == svg_text(busy(), alt="x")


def test_a_page_can_be_dark():
    ax = axes()
    ax.plot([1, 2], [1, 2], color="black")
    ax.plot([1, 2], [2, 1], color="#0072B2")
    ax.grid(color="#dddddd")
    ax.set_xlabel("label")
    text = svg_text(ax.get_figure())
    root = ElementTree.fromstring(text)
    assert root.get("fill") == "currentColor", "what has no colour of its own follows the page"
    assert "#000000" not in text
    assert "#ffffff" not in text
    assert "#dddddd" not in text
    assert "#0072b2" in text
    assert 'stroke="currentColor"' in text
    assert "style" not in {element.tag.removeprefix(SVG) for element in root.iter()}
    assert not [element for element in root.iter() if element.get("style")]
    groups = {child: group for group in root.iter() for child in group}
    for label in root.iter(f"{SVG}text"):
        assert label.get("fill") is None
        assert label.get("font-size") or groups[label].get("font-size")
    behind = ElementTree.fromstring(svg_text(ax.get_figure(), background="#ffffff"))
    assert behind.find(f"{SVG}rect").get("fill") == "#ffffff"
    assert behind.get("color") == "#000000"

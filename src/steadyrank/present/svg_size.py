"""The same drawing in fewer letters: a page holds a dozen figures of a hundred runs each.

Matplotlib wraps every mark into groups and repeats for each what all of its kind have in common.
Nothing here changes what is seen, or what a mark tells.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

_INHERITED = re.compile("fill.*|stroke.*|font-.*|text-anchor")
"""Attributes that a group passes on to what stands in it."""

_MARKS = ("path", "text", "use")

_AXIS = "matplotlib.axis"
"""How the ids of its axes begin."""

_MARK = re.compile(r"M0 0L\S+ \S+")
"""The mark of a tick: a line from where it stands."""


def shorten(parent: ElementTree.Element) -> None:
    """Leave out what draws and says nothing, and say once what neighbours of one kind share.

    >>> drawing = ElementTree.fromstring('<svg><g><g><use x="1" fill="red"/></g></g></svg>')
    >>> shorten(drawing)
    >>> ElementTree.tostring(drawing).decode()
    '<svg><use x="1" fill="red" /></svg>'
    """
    children: list[ElementTree.Element] = []
    for child in parent:
        shorten(child)
        if (parent.tag == "defs" and "id" not in child.attrib) or (
            child.tag == "defs" and not len(child)
        ):
            continue  # nothing refers to it
        is_plain = child.tag == "g" and not child.attrib and all(e.tag != "title" for e in child)
        children += list(child) if is_plain else [child]
    parent[:] = children
    _share(parent)


def _share(parent: ElementTree.Element) -> None:
    """Say once, for neighbours of one kind, what all of them have in common."""
    children: list[ElementTree.Element] = []
    for _, run in groupby(parent, _kind):
        alike = list(run)
        shared = _in_common(alike) if len(alike) > 2 and alike[0].tag in _MARKS else {}
        if not shared:
            children += alike
            continue
        for child in alike:
            for key in shared:
                del child.attrib[key]
        if len(alike) == len(parent) and parent.tag == "g" and not shared.keys() & parent.attrib:
            parent.attrib |= shared
            return
        group = ElementTree.Element("g", shared)
        group.extend(alike)
        children.append(group)
    parent[:] = children


def _kind(element: ElementTree.Element) -> tuple[str, ...]:
    """What neighbours must have in common to be worth a group."""
    looks = ("fill", "stroke", "stroke-width", "font-size", "text-anchor", "clip-path")
    return element.tag, *(element.get(key, "") for key in looks)


def _in_common(elements: Sequence[ElementTree.Element]) -> dict[str, str]:
    """The attributes that a group can have in the place of all its elements.

    What is cut out is the same for each, and so for all; what shines through is not, where two
    overlap.
    """
    is_moved = any("transform" in element.attrib for element in elements)
    return {
        key: value
        for key, value in elements[0].attrib.items()
        if (_INHERITED.fullmatch(key) or (key == "clip-path" and not is_moved))
        and all(element.get(key) == value for element in elements)
    }


def ticks_as_paths(root: ElementTree.Element) -> None:
    """Every axis with its grid as one path and its marks as another, and its texts behind them."""
    marks = {
        f"#{path.get('id')}": path
        for path in root.iter("path")
        if _MARK.fullmatch(path.get("d", ""))
    }
    for axis in [group for group in root.iter("g") if group.get("id", "").startswith(_AXIS)]:
        lines: dict[tuple[tuple[str, str], ...], list[str]] = {}
        for tick in axis:
            if "tick_" in tick.get("id", "") and _is_simple(tick, marks):
                for looks, path in _lines_of(tick, marks):
                    lines.setdefault(tuple(sorted(looks.items())), []).append(path)
        for place, (looks_of_all, paths) in enumerate(lines.items()):
            together = ElementTree.Element("path", {**dict(looks_of_all), "d": "".join(paths)})
            axis.insert(place, together)


def _lines_of(
    tick: ElementTree.Element, marks: Mapping[str, ElementTree.Element]
) -> Iterator[tuple[dict[str, str], str]]:
    """What the lines of a tick look like and where they go; they are taken out of it."""
    for parent in list(tick.iter("g")):
        for child in [line for line in parent if line.tag in ("path", "use")]:
            looks = dict(child.attrib)
            if child.tag == "use":
                mark = marks[looks.pop("xlink:href")]
                start = f"M{looks.pop('x')} {looks.pop('y')}"
                looks |= mark.attrib | {"fill": "none", "d": start + mark.attrib["d"][4:].lower()}
                del looks["id"]
            yield looks, looks.pop("d")
            parent.remove(child)


def _is_simple(tick: ElementTree.Element, marks: Mapping[str, ElementTree.Element]) -> bool:
    """Whether a tick has no lines but those that can be moved from where they stand."""
    return all(use.get("xlink:href") in marks for use in tick.iter("use")) and all(
        "transform" not in element.attrib for element in tick.iter() if element.tag != "text"
    )


def cells_as_rectangles(group: ElementTree.Element) -> None:
    """Cells of a heat map in fewer letters, sharp where they meet: a group for each colour.

    Cells that tell nothing are one shape per colour: with a hundred runs there are thousands.
    """
    group.set("shape-rendering", "crispEdges")
    shades: dict[str, ElementTree.Element] = {}
    silent: dict[str, list[_Corners]] = {}
    for cell in list(group):
        corners = _corners(cell.get("d", ""))
        if cell.tag != "path" or corners is None or set(cell.attrib) - {"d", "fill", "clip-path"}:
            continue
        clip = cell.attrib.pop("clip-path", "")
        if clip:
            group.set("clip-path", clip)
        group.remove(cell)
        colour = cell.attrib.pop("fill", "currentColor")
        if len(cell):
            if colour not in shades:
                shades[colour] = ElementTree.SubElement(group, "g", {"fill": colour})
            cell.set("d", _rectangle(corners))
            shades[colour].append(cell)
        else:
            silent.setdefault(colour, []).append(corners)
    for colour, cells in silent.items():
        shape = "".join(_rectangle(corners) for corners in _in_rows(cells))
        ElementTree.SubElement(group, "path", {"fill": colour, "d": shape})


_Corners = tuple[str, str, str, str]


def _corners(path: str) -> _Corners | None:
    """Left, top, right and bottom of a cell, if the path is one."""
    numbers = re.findall(r"-?[\d.]+", path)
    if len(numbers) != 10 or numbers[:2] != numbers[8:]:
        return None
    return numbers[0], numbers[1], numbers[2], numbers[5]


def _rectangle(corners: _Corners) -> str:
    left, top, right, bottom = corners
    return f"M{left} {top}H{right}V{bottom}H{left}z"


def _in_rows(cells: list[_Corners]) -> list[_Corners]:
    """The same area in fewer rectangles: cells that touch sideways are one."""
    joined: list[_Corners] = []
    for left, top, right, bottom in cells:
        if joined and joined[-1][1:] == (top, left, bottom):
            joined[-1] = (joined[-1][0], top, right, bottom)
        else:
            joined.append((left, top, right, bottom))
    return joined

"""A drawing as it may stand inside a page: inline SVG without styles, scripts or outside links.

`page_svg` draws a figure for a page; `inline_svg` takes SVG from elsewhere. A page that forbids
inline styles would show a drawing without its colours, so what style attributes say moves into
attributes of the same name, which mean the same. Only elements and properties that draw are kept.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from typing import TYPE_CHECKING
from xml.parsers import expat

from steadyrank.errors import InputError
from steadyrank.present.svg import svg_tree
from steadyrank.visible import visible

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

ELEMENTS = re.compile(
    "circle|clipPath|defs|desc|ellipse|g|image|line|linearGradient|marker|mask|path|pattern|polygon"
    "|polyline|radialGradient|rect|stop|svg|symbol|text|title|tspan|use"
)
"""Elements that draw, or say what is drawn."""
PROPERTIES = re.compile(
    r"fill(-opacity|-rule)?|stroke(-\w+)?|(stop-)?color|(stop-)?opacity|clip-(path|rule)"
    r"|font-\w+|text-anchor|dominant-baseline|letter-spacing|(image|shape)-rendering"
    r"|display|visibility|pointer-events"
)
"""Properties that SVG takes as attributes too."""

_FONT = re.compile(
    r"(?:(?P<style>italic|oblique) )?(?:(?P<weight>bold|\d{3}) )?"
    r"(?P<size>[\d.]+(?:px|pt)) (?P<family>.+)"
)


def page_svg(figure: Figure, *, alt: str, prefix: str) -> Markup:
    """The figure as one `<svg>` element, ready for a page: drawn, read and written once.

    `prefix` goes before every id: give each figure of a page another.
    """
    return _inlined(svg_tree(figure, alt=alt, prefix=prefix), alt)


def inline_svg(svg: str, *, alt: str) -> Markup:
    """SVG from anywhere as one `<svg>` element that says `alt` to those who do not see it.

    >>> drawing = '<svg><script>alert()</script><path style="fill: red" d="M0 0"/></svg>'
    >>> str(inline_svg(drawing, alt="A dot.").partition(">")[2])
    '<path d="M0 0" fill="red"/></svg>'
    """
    return _inlined(_parsed(svg), alt)


def _inlined(drawing: ElementTree.Element, alt: str) -> Markup:
    from markupsafe import Markup

    for element in drawing.iter():
        _style_to_attributes(element)
        _keep_what_draws(element)
    drawing.set("role", "img")
    drawing.set("aria-label", visible(alt))
    drawing.set("xmlns", "http://www.w3.org/2000/svg")
    drawing.set("preserveAspectRatio", "xMinYMin")  # where a page leaves it more room
    for child in list(drawing):
        # A title of the whole drawing would hover over all of it; `alt` says the same.
        if _local(child.tag) == "title":
            _remove(drawing, child)
    # No text and no attribute holds a bare ">": this is how empty elements end, and nothing else.
    return Markup(ElementTree.tostring(drawing, encoding="unicode").replace(" />", "/>"))


def _parsed(svg: str) -> ElementTree.Element:
    """The tree with names as they are written, prefixes included: a page knows no namespaces.

    Without comments, instructions and CDATA, which HTML reads otherwise.
    """
    builder = ElementTree.TreeBuilder()
    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = builder.start, builder.end
    parser.CharacterDataHandler = builder.data
    parser.StartCdataSectionHandler = lambda: setattr(parser, "CharacterDataHandler", None)
    parser.EndCdataSectionHandler = lambda: setattr(parser, "CharacterDataHandler", builder.data)
    start = max(svg.find("<svg"), 0)  # behind the declarations of a file
    try:
        parser.Parse(svg[start:].encode(), True)
    except expat.ExpatError as error:
        raise InputError(f"a figure is not well-formed SVG ({error}): draw it again") from None
    drawing = builder.close()
    if _local(drawing.tag) != "svg":
        raise InputError("a figure must have <svg> as its outermost element")
    return drawing


def _local(name: str) -> str:
    """A name without its prefix."""
    return name.rpartition(":")[2]


def _style_to_attributes(element: ElementTree.Element) -> None:
    for declaration in element.get("style", "").split(";"):
        name, _, value = (part.strip() for part in declaration.partition(":"))
        font = _FONT.fullmatch(value) if name == "font" else None
        if font:
            for part, of_font in font.groupdict().items():
                if of_font:
                    element.set(f"font-{part}", of_font)
        elif PROPERTIES.fullmatch(name):
            element.set(name, value)


def _keep_what_draws(element: ElementTree.Element) -> None:
    for child in list(element):
        if not ELEMENTS.fullmatch(_local(child.tag)):
            _remove(element, child)
    for name, value in list(element.attrib.items()):
        plain = _local(name.lower())
        leads_out = plain == "href" and not value.strip().startswith(("#", "data:image/"))
        if plain == "style" or plain.startswith("on") or leads_out:
            del element.attrib[name]


def _remove(parent: ElementTree.Element, child: ElementTree.Element) -> None:
    """Take a child out, but not the text behind it."""
    place = list(parent).index(child)
    if place:
        parent[place - 1].tail = (parent[place - 1].tail or "") + (child.tail or "")
    else:
        parent.text = (parent.text or "") + (child.tail or "")
    parent.remove(child)

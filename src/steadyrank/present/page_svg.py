"""A drawing as it may stand inside a page: inline SVG without styles, scripts or outside links.

A page that forbids inline styles would show a drawing without its colours, so what style
attributes say moves into attributes of the same name, which mean the same. Only elements and
properties that draw are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.dom import Node, minidom
from xml.parsers.expat import ExpatError

from steadyrank.errors import InputError

ELEMENTS = frozenset(
    {
        "circle",
        "clipPath",
        "defs",
        "desc",
        "ellipse",
        "g",
        "image",
        "line",
        "linearGradient",
        "marker",
        "mask",
        "path",
        "pattern",
        "polygon",
        "polyline",
        "radialGradient",
        "rect",
        "stop",
        "svg",
        "symbol",
        "text",
        "title",
        "tspan",
        "use",
    }
)
PROPERTIES = re.compile(
    r"fill(-opacity|-rule)?|stroke(-\w+)?|(stop-)?color|(stop-)?opacity|clip-(path|rule)"
    r"|font-\w+|text-anchor|dominant-baseline|letter-spacing|(image|shape)-rendering"
    r"|display|visibility|pointer-events"
)
"""Properties that SVG takes as attributes too."""

_FONT = re.compile(r"(?:(italic|oblique) )?(?:(bold|\d{3}) )?([\d.]+(?:px|pt)) (.+)")


def inline_svg(svg: str, *, alt: str) -> str:
    """The drawing as one `<svg>` element that says `alt` to those who do not see it.

    >>> drawing = '<svg><script>alert()</script><path style="fill: red" d="M0 0"/></svg>'
    >>> inline_svg(drawing, alt="A dot.").partition(">")[2]
    '<path d="M0 0" fill="red"/></svg>'
    """
    drawing = _parsed(svg)
    for element in _elements(drawing):
        _style_to_attributes(element)
        _keep_what_draws(element)
    drawing.setAttribute("role", "img")
    drawing.setAttribute("aria-label", alt)
    drawing.setAttribute("xmlns", "http://www.w3.org/2000/svg")
    drawing.setAttribute("preserveAspectRatio", "xMinYMin")  # where a page leaves it more room
    for child in list(drawing.childNodes):
        # A title of the whole drawing would hover over all of it; `alt` says the same.
        if child.localName == "title":
            drawing.removeChild(child)
    return drawing.toxml()


def _parsed(svg: str) -> minidom.Element:
    start = max(svg.find("<svg"), 0)  # behind the declarations of a file
    try:
        drawing = minidom.parseString(svg[start:].encode()).documentElement
    except ExpatError as error:
        raise InputError(f"a figure is not well-formed SVG ({error}): draw it anew") from None
    if drawing is None or drawing.localName != "svg":
        raise InputError("a figure must have <svg> as its outermost element")
    return drawing


def _elements(element: minidom.Element) -> Iterator[minidom.Element]:
    """The element and all below it, each before its children are asked for."""
    yield element
    for child in list(element.childNodes):
        if isinstance(child, minidom.Element):
            yield from _elements(child)


def _style_to_attributes(element: minidom.Element) -> None:
    for declaration in element.getAttribute("style").split(";"):
        name, _, value = (part.strip() for part in declaration.partition(":"))
        font = _FONT.fullmatch(value) if name == "font" else None
        if font:
            for part, of_font in zip(
                ("style", "weight", "size", "family"), font.groups(), strict=True
            ):
                if of_font:
                    element.setAttribute(f"font-{part}", of_font)
        elif PROPERTIES.fullmatch(name):
            element.setAttribute(name, value)


def _keep_what_draws(element: minidom.Element) -> None:
    for child in list(element.childNodes):
        is_text = child.nodeType == Node.TEXT_NODE  # not CDATA, which HTML reads otherwise
        if not is_text and child.localName not in ELEMENTS:
            element.removeChild(child)
    for name, value in list(element.attributes.items()):
        plain = name.lower().rpartition(":")[2]
        leads_out = plain == "href" and not value.strip().startswith(("#", "data:image/"))
        if plain == "style" or plain.startswith("on") or leads_out:
            element.removeAttribute(name)

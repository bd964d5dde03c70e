"""Figures as files, and as SVG for pages with tooltips and in the page's colours.

`tell` sets the tooltips of points, and `svg_text` writes the figure with them. The same figure
gives the same bytes. Ids have a prefix, so that a page can have many figures, and black is replaced
by the page's text colour, so that a page can be dark.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from steadyrank.compute.files import source_date, write_whole
from steadyrank.errors import InputError
from steadyrank.visible import spelled, visible
from steadyrank.words import filled, minus_signs

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

SAVED = {
    "svg": {"Date": None, "Creator": "steadyrank"},
    "png": {"Software": "steadyrank"},
    "pdf": {"CreationDate": None, "Creator": "steadyrank"},
}
"""Formats with their metadata: no date, so that the same figure gives the same bytes."""

SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "steadyrank",
    "svg.fonttype": "none",  # text stays text: it can be searched, read aloud and restyled
    "pdf.fonttype": 42,  # publishers refuse matplotlib's Type 3 fonts
    "savefig.dpi": 200,
}


@dataclass(frozen=True, slots=True)
class Plot:
    """One way to draw a result."""

    draw: Callable[..., None]
    size: Callable[[Any], tuple[float, float]]
    """Width and height in inches."""
    words: str | Callable[[Any], str]
    """The alternative text with the main numbers, for `filled`, or a function of the result."""
    height: Callable[[Any, float], float] | None = None
    """Height in inches at a given width; by default in proportion."""

    def alt(self, result: Any) -> str:
        """Return the alternative text."""
        return filled(self.words, result) if isinstance(self.words, str) else self.words(result)


@contextlib.contextmanager
def own_style() -> Iterator[None]:
    """Use matplotlib's defaults whatever a `matplotlibrc` says, for pages and files of commands."""
    # Matplotlib logs that it has no folder for its cache.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    mpl = load_matplotlib()
    with mpl.rc_context():
        mpl.rcdefaults()
        yield


def load_matplotlib() -> Any:
    """Import matplotlib; raise our error if the environment names an unknown backend."""
    try:
        import matplotlib
    except ValueError as error:
        raise InputError(f"matplotlib cannot be loaded ({error}): unset MPLBACKEND") from None
    return matplotlib


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as SVG, PNG or PDF, by the file's suffix; replace the file as a whole."""
    import matplotlib as mpl

    form = figure_format(path)
    buffer = io.BytesIO()
    with mpl.rc_context(SETTINGS):
        figure.savefig(buffer, format=form, metadata=SAVED[form])
    write_whole(path, buffer.getvalue())


def figure_format(path: str | os.PathLike[str]) -> str:
    """Return the format of a file's suffix.

    >>> figure_format("figures/ranks.SVG")
    'svg'
    """
    form = Path(path).suffix.lower().removeprefix(".")
    source_date()  # Matplotlib reads it for PDF, without a clear error.
    if form not in SAVED:
        raise InputError(f"{path}: the name of a figure must end in .svg, .png or .pdf")
    return form


MOST_TOLD = 4000
"""Number of points above which an artist has no tooltips, as the page would become too large."""

GRID = "#dddddd"

_TOLD: WeakKeyDictionary[Any, tuple[str | None, ...]] = WeakKeyDictionary()
_COUNTS: WeakKeyDictionary[Any, int] = WeakKeyDictionary()

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_FONTS = "'DejaVu Sans', Verdana, Geneva, Arial, Helvetica, sans-serif"
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LONG = re.compile(r"-?\d+\.\d{3,}")
"""Coordinates of which a hundredth of a point is not seen."""
_REFERENCE = re.compile(r"url\(#([^)]+)\)")


def tell(artist: Any, texts: Sequence[str | None]) -> None:
    """Set the tooltips of an artist's points, cells or bars.

    `artist` is a line with markers, a collection, a heat map (cells row by row; None leaves a cell
    blank), or a container of bars or error bars; a curve without markers has one text. Its gid is
    its number among the figure's artists with tooltips.

    >>> from matplotlib.figure import Figure
    >>> (line,) = Figure().add_subplot().plot([1, 2], [3, 4], "o")
    >>> tell(line, ["first", "second"])
    >>> line.get_gid()
    'told-1'
    """
    patches = getattr(artist, "patches", None)
    points = artist if patches is not None else getattr(artist, "lines", (artist,))[0]
    count = len(patches) if patches is not None else _n_points(points)
    is_line = hasattr(points, "get_xydata")
    if is_line and points.get_marker() in ("", " ", "None", "none", None):
        count = 1
    if len(texts) != count and not (is_line and len(texts) == 1):
        raise InputError(f"{count} points, cells or bars cannot carry {len(texts)} texts")
    if patches is None:
        _mark(points, tuple(texts))
        return
    for patch, text in zip(patches, texts, strict=True):
        _mark(patch, (text,))


def _n_points(artist: Any) -> int:
    """Return the number of points or cells of an artist, including those that are not visible."""
    if hasattr(artist, "get_xydata"):
        return len(artist.get_xydata())
    if hasattr(artist, "get_coordinates"):
        return int(artist.get_array().size)
    return len(artist.get_offsets())


def _mark(artist: Artist, texts: tuple[str | None, ...]) -> None:
    is_told = len(texts) <= MOST_TOLD
    texts = tuple(text and (minus_signs(text) if is_told else "") for text in texts)
    figure = artist.get_figure()
    _COUNTS[figure] = number = _COUNTS.get(figure, 0) + 1
    _TOLD[artist] = texts
    # The id of a mesh must keep its prefix.
    mesh = "QuadMesh-" if hasattr(artist, "get_coordinates") else ""
    artist.set_gid(f"{mesh}told-{number}")


def svg_text(figure: Figure, *, alt: str = "", prefix: str = "", background: str = "none") -> str:
    """Return the figure as an SVG element for a page: the same text for the same figure.

    `prefix` begins every id; each figure of a page needs a different one. `alt` is the alternative
    text. Without a `background` the figure is transparent.

    >>> from matplotlib.figure import Figure
    >>> figure = Figure()
    >>> _ = figure.add_subplot().plot([1, 2], [3, 4])
    >>> svg_text(figure, alt="A line that rises.", prefix="rise-")[:48]
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xl'
    """
    root = _parsed(figure)
    for child in list(root):
        if child.tag in ("metadata", f"{_SVG}metadata"):
            root.remove(child)
    _tell_all(root, figure)
    for element in root.iter():
        _lighten(element)
    for group in list(root.iter("g")):
        if group.get("id", "").startswith("QuadMesh"):
            group.set("shape-rendering", "crispEdges")  # no seams between cells
    _name_ids(root, prefix)
    for defined in root.iter("defs"):
        # The style sheet, which has no id, would apply to the whole page.
        defined[:] = [part for part in defined if "id" in part.attrib]
    drawing = _framed(root, visible(minus_signs(alt)), background)
    # Only the end of an empty element matches, as ">" is escaped in texts and attributes.
    return ElementTree.tostring(drawing, encoding="unicode").replace(" />", "/>")


def clean(text: str) -> str:
    """Return a text with codes instead of characters that XML cannot hold.

    >>> print(clean("bell \\x07"))
    bell \\x07
    """
    return _NOT_XML.sub(lambda match: spelled(match[0]), text)


def _parsed(figure: Figure) -> ElementTree.Element:
    return ElementTree.fromstring(clean(_drawn_once(figure).decode()))


def _drawn_once(figure: Figure) -> bytes:
    """Return what `savefig` writes without a background, in two thirds of the time.

    `savefig` draws a figure with a layout twice.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    buffer = io.BytesIO()
    canvas, dpi = figure.canvas, figure.dpi
    patches = [figure.patch, *(ax.patch for ax in figure.axes)]
    colours = [(patch.get_facecolor(), patch.get_edgecolor()) for patch in patches]
    try:
        for patch in patches:
            patch.set(facecolor="none", edgecolor="none")
        figure.dpi = SETTINGS["savefig.dpi"]
        once: Any = FigureCanvasSVG(figure)
        with mpl.rc_context(SETTINGS):
            once.print_svg(buffer, metadata=SAVED["svg"])
    finally:
        for patch, (face, edge) in zip(patches, colours, strict=True):
            patch.set(facecolor=face, edgecolor=edge)
        figure.dpi = dpi
        figure.set_canvas(canvas)
    return buffer.getvalue()


def _tell_all(root: ElementTree.Element, figure: Figure) -> None:
    """Add the tooltips of the figure's artists."""
    groups = {group.get("id"): group for group in root.iter(f"{_SVG}g")}
    for artist in [told for told in _TOLD if told.get_figure() is figure]:
        group = groups.get(artist.get_gid())
        if group is None:  # not visible
            continue
        texts, shapes = _texts_of(artist), _shapes(group)
        if len(texts) == len(shapes):
            for text, (parent, shape) in zip(texts, shapes, strict=True):
                if text is None:
                    parent.remove(shape)
                elif text:
                    _title(shape, text)
        elif len(texts) == 1 and texts[0] is not None:
            _title(group, texts[0])


def _texts_of(artist: Any) -> list[str | None]:
    """Return the texts of the points that are drawn: those with finite coordinates."""
    texts = list(_TOLD[artist])
    if hasattr(artist, "get_xydata"):
        points = np.asarray(artist.get_xydata(), dtype=np.float64)
    elif hasattr(artist, "get_coordinates") or not hasattr(artist, "get_offsets"):
        return texts  # a mesh also draws empty cells; a bar is one shape
    else:
        points = np.ma.filled(np.ma.asarray(artist.get_offsets(), dtype=np.float64), np.nan)
    if len(points) != len(texts):
        return texts
    return [texts[place] for place in np.flatnonzero(np.isfinite(points).all(axis=1))]


def _shapes(group: ElementTree.Element) -> list[tuple[ElementTree.Element, ElementTree.Element]]:
    """Return the markers, or paths if there are none, each with its parent."""
    shapes = list(_drawn(group))
    return [(parent, shape) for parent, shape in shapes if shape.tag == f"{_SVG}use"] or shapes


def _drawn(group: ElementTree.Element) -> Iterator[tuple[ElementTree.Element, ElementTree.Element]]:
    for child in group:
        if child.tag in (f"{_SVG}use", f"{_SVG}path"):
            yield group, child
        elif child.tag != f"{_SVG}defs":
            yield from _drawn(child)


def _title(element: ElementTree.Element, text: str) -> None:
    title = ElementTree.Element(f"{_SVG}title")
    title.text = clean(text)
    element.insert(0, title)


def _lighten(element: ElementTree.Element) -> None:
    element.tag = element.tag.removeprefix(_SVG)
    attributes = element.attrib
    if _HREF in attributes:
        attributes["xlink:href"] = attributes.pop(_HREF)
    for key in attributes.keys() & {"d", "x", "y", "transform"}:
        attributes[key] = _LONG.sub(lambda found: f"{float(found[0]):.2f}", attributes[key])
    # Attributes instead of a style, which the page's policy forbids.
    attributes |= _page_colours(_declared(attributes.pop("style", "")))
    if element.tag not in ("text", "tspan", "title", "style") and not (element.text or "").strip():
        element.text = None
    if not (element.tail or "").strip():
        element.tail = None


def _declared(text: str) -> dict[str, str]:
    """Parse a style; of fonts, keep size, slope and weight."""
    pairs = (part.partition(":") for part in text.split(";") if ":" in part)
    style = {key.strip(): value.strip() for key, _, value in pairs}
    font = re.match(r"(?:(italic|oblique) )?(?:(bold|\d+) )?([\d.]+p[xt])", style.pop("font", ""))
    if font:
        named = zip(("font-style", "font-weight", "font-size"), font.groups(), strict=True)
        style |= {key: value for key, value in named if value}
    style.pop("font-family", None)
    return style


def _page_colours(style: dict[str, str]) -> dict[str, str]:
    """Replace black by the page's text colour, and the colour of grids by a shade of it."""
    for key in ("fill", "stroke"):
        if style.get(key) == "#000000":
            style[key] = "currentColor"
        elif style.get(key) == GRID:
            style |= {key: "currentColor", f"{key}-opacity": "0.15"}
    return style


def _name_ids(root: ElementTree.Element, prefix: str) -> None:
    """Remove ids without references; shorten the others and add the prefix."""
    needed = set()
    for element in root.iter():
        for key, value in element.attrib.items():
            needed |= set(_REFERENCE.findall(value))
            if key == "xlink:href" and value.startswith("#"):
                needed.add(value[1:])
    short: dict[str, str] = {}
    for element in root.iter():
        own = element.attrib.pop("id", None)
        if own is not None and own in needed:
            short.setdefault(own, f"{prefix}a{len(short) + 1}")
            element.set("id", short[own])
    for element in root.iter():
        for key, value in element.attrib.items():
            if key == "xlink:href" and value.startswith("#"):
                element.set(key, f"#{short[value[1:]]}")
            elif "url(#" in value:
                element.set(key, _REFERENCE.sub(lambda at: f"url(#{short[at[1]]})", value))


def _framed(root: ElementTree.Element, alt: str, background: str) -> ElementTree.Element:
    """Return the drawing in an `<svg>` element with an alternative text."""
    framed = ElementTree.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "xmlns:xlink": "http://www.w3.org/1999/xlink",
            "viewBox": root.get("viewBox", ""),
            "width": root.get("width", ""),
            "height": root.get("height", ""),
            "role": "img",
            "fill": "currentColor",
            # matplotlib sets these in a style sheet, which would apply to the whole page.
            "stroke-linejoin": "round",
            "stroke-linecap": "butt",
            "font-family": _FONTS,
        },
    )
    if alt:
        framed.set("aria-label", clean(alt))
        ElementTree.SubElement(framed, "desc").text = clean(alt)
    if background == "none":
        framed.set("preserveAspectRatio", "xMinYMin")
    else:
        framed.set("color", "#000000")
        ElementTree.SubElement(
            framed, "rect", {"width": "100%", "height": "100%", "fill": background}
        )
    framed.extend(root)
    return framed

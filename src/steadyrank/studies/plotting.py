"""Results as figures: `plot(result)` draws what a paper would print.

Figures are matplotlib's own objects, made without pyplot, so nothing is shown, kept or left
behind. The drawings of a result are in `plots.py` of its study's folder, under the name of its
class, the default kind first.
"""

from __future__ import annotations

import functools
import pkgutil
import warnings
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from steadyrank.errors import InputError, unknown_name
from steadyrank.present.figures import Plot
from steadyrank.present.page import PageFigure
from steadyrank.present.page_svg import page_svg
from steadyrank.present.plot_style import tidy
from steadyrank.present.svg import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROOMS = ("studies", "papers")
"""Where folders with plots are."""


def plot(result: Any, *, kind: str | None = None, ax: Axes | None = None, **options: Any) -> Figure:
    """Draw a result and return the figure, as a matplotlib `Figure`.

    Each class of results has its kinds of plot, the first being the default; the gallery
    (docs/gallery.md) shows them all, and a kind's options are those of its `draw_…` function.
    A list of results of one class is drawn on the same axes, as two models of `simulate` or
    several measures' `discriminative_power`. With `ax` the drawing goes there: a second result
    beside the first.

    >>> import steadyrank as sr
    >>> sr.plot("a result")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    steadyrank.errors.InputError: there is no plot of a str, only of: AgreeResult, ...
    """
    results = list(result) if isinstance(result, (list, tuple)) and result else [result]
    drawing = drawing_of(results[0], kind)
    if ax is None:
        from matplotlib.figure import Figure

        ax = Figure(figsize=drawing.size(results[0]), layout="constrained").add_subplot()
        tidy(ax)
    for each in results:
        drawing_of(each, kind).draw(each, ax, **options)
    return ax.get_figure()  # type: ignore[return-value]


def drawing_of(result: Any, kind: str | None = None) -> Plot:
    """How a result is drawn: by this kind of plot, or by its class's default."""
    name = type(result).__name__
    plots = all_plots()
    if name not in plots:
        raise InputError(f"there is no plot of a {name}, only of: {', '.join(plots)}")
    kinds = plots[name]
    if kind is not None and kind not in kinds:
        raise unknown_name("kind of plot", kind, kinds)
    return kinds[kind or next(iter(kinds))]


@functools.cache
def all_plots() -> Mapping[str, Mapping[str, Plot]]:
    """Result class to its kinds of plot, the default first, of all folders that have plots."""
    plots: dict[str, Mapping[str, Plot]] = {}
    for folder in _folders():
        if find_spec(f"{folder}.plots") is not None:
            plots |= import_module(f"{folder}.plots").PLOTS
    return plots


def _folders() -> Iterator[str]:
    for room in ROOMS:
        package = import_module(f"steadyrank.{room}")
        for folder in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            if folder.ispkg:
                yield folder.name


def alt_text(result: Any, kind: str | None = None) -> str:
    """What a figure of a result shows, in a sentence, for those who do not see it."""
    from steadyrank.studies.plot_words import WORDS

    drawing_of(result, kind)  # refuses what has no plot
    name = type(result).__name__
    kinds = all_plots()[name]
    chosen = kind or next(iter(kinds))
    words = WORDS.get((name, chosen))
    if words is not None:
        return clean(words(result))
    return (kinds[chosen].draw.__doc__ or name).strip().split("\n")[0]


def figure(id: str, caption: str, result: Any, kind: str, **options: Any) -> list[PageFigure]:
    """A result drawn as `plot` draws it; nothing where it has no such plot."""
    with warnings.catch_warnings():
        # The page's reader has fonts of their own: text stays text.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        try:
            drawn = plot(result, kind=kind, **options)
            alt = alt_text(result, kind)
        except InputError:
            return []
        svg = page_svg(drawn, prefix=f"{id}-", alt=alt)
    return [PageFigure(id=id, caption=caption, alt=alt, svg=svg)]

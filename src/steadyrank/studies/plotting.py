"""Results as figures: `plot(result)` draws what a paper would print.

Figures are matplotlib objects made without pyplot, so that nothing is shown or kept. The drawings
of a result are in `plots.py` of its study's folder (`registry` lists the studies), under the name
of its class, the default kind first.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from steadyrank.errors import InputError, unknown_name
from steadyrank.present.figures import Plot, clean, load_matplotlib, svg_text
from steadyrank.present.page import PageFigure
from steadyrank.present.plot_style import PAGE_WIDTH, SMALL, tidy
from steadyrank.studies.registry import all_plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot(
    result: Any,
    *,
    kind: str | None = None,
    ax: Axes | None = None,
    figsize: float | tuple[float, float] | None = None,
    **options: Any,
) -> Figure:
    """Draw a result and return the figure, as a matplotlib `Figure`.

    Parameters
    ----------
    result : object
        A result, or a list of results of one class to draw on the same axes.
    kind : str, optional
        Each class of results has its kinds of plot, the first being the default; the gallery
        (docs/gallery.md) shows them all.
    ax : matplotlib Axes, optional
        Axes to draw on, for example those of another result.
    figsize : float or pair of floats, optional
        Width, or width and height, in inches; by default what the plot needs. Below 7.5 inches,
        in one or two columns of a paper, letters are smaller.
    **options
        Those of the kind's `draw_…` function.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; that of `ax` where one is given.

    Examples
    --------
    >>> import steadyrank as sr
    >>> sr.plot("a result")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    steadyrank.errors.InputError: there is no plot of a str, only of: AgreeResult, ...
    """
    results = list(result) if isinstance(result, (list, tuple)) and result else [result]
    results = [getattr(one, "first_result", one) for one in results]  # of several measures
    drawing = drawing_of(results[0], kind)
    if ax is not None and figsize is not None:
        raise InputError("give either ax, which has its size, or figsize")
    size = inches(drawing, results[0], figsize)
    mpl = load_matplotlib()
    with mpl.rc_context(SMALL if figsize is not None and size[0] < PAGE_WIDTH else {}):
        if ax is None:
            from matplotlib.figure import Figure

            ax = Figure(figsize=size, layout="constrained").add_subplot()
            tidy(ax)
        for one in results:
            drawing_of(one, kind).draw(one, ax, **options)
    return ax.get_figure()  # type: ignore[return-value]


def inches(
    drawing: Plot, result: Any, figsize: float | tuple[float, float] | None
) -> tuple[float, float]:
    """Return width and height: as given, in proportion to a given width, or what the plot needs."""
    width, height = drawing.size(result)
    if figsize is None:
        return width, height
    if isinstance(figsize, tuple | list):
        return float(figsize[0]), float(figsize[1])
    if drawing.height is not None:
        return float(figsize), drawing.height(result, float(figsize))
    return float(figsize), height * float(figsize) / width


def drawing_of(result: Any, kind: str | None = None) -> Plot:
    """Return the plot of this kind for a result, by default the first kind of its class."""
    name = type(result).__name__
    plots = all_plots()
    if name not in plots:
        raise InputError(f"there is no plot of a {name}, only of: {', '.join(plots)}")
    kinds = plots[name]
    if kind is not None and kind not in kinds:
        raise unknown_name("kind of plot", kind, kinds)
    return kinds[kind or next(iter(kinds))]


def alt_text(result: Any, kind: str | None = None) -> str:
    """Return the alternative text of a figure of a result."""
    return clean(drawing_of(result, kind).alt(result))


def figure(id: str, caption: str, result: Any, kind: str, **options: Any) -> list[PageFigure]:
    """Draw a result for a page; return an empty list where it has no such plot."""
    with warnings.catch_warnings():
        # Text stays text, drawn in a font of the reader's browser.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        try:
            drawn = plot(result, kind=kind, **options)
            alt = alt_text(result, kind)
        except InputError:
            return []
        svg = svg_text(drawn, prefix=f"{id}-", alt=alt)
    return [PageFigure(id=id, caption=caption, alt=alt, svg=svg)]

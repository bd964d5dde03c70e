"""Results as figures: `plot(result)` draws what a paper would print.

Figures are matplotlib's own objects, made without pyplot, so nothing is shown, kept or left
behind. A study has its plots by registering them in `PLOTS`, the default first; the drawings are in
`plots_*`, one module for each study.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steadyrank.compute.files import write_whole
from steadyrank.errors import InputError, unknown_name
from steadyrank.render.plots_agree import AGREE_DRAWINGS
from steadyrank.render.plots_compare import COMPARE_DRAWINGS
from steadyrank.render.plots_instances import INSTANCE_DRAWINGS
from steadyrank.render.plots_looks import COLOURS, MARKERS, MOST_NAMES, QUIET, tidy
from steadyrank.render.plots_looks import shown as _name
from steadyrank.render.plots_looks import tidy as _tidy
from steadyrank.render.plots_pitfalls import PITFALL_DRAWINGS
from steadyrank.render.plots_plans import PLAN_DRAWINGS
from steadyrank.render.plots_pools import POOL_DRAWINGS
from steadyrank.render.plots_simulate import SIMULATE_DRAWINGS
from steadyrank.render.plots_topics import TOPIC_DRAWINGS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "MARKERS", "MOST_NAMES", "PLOTS", "QUIET", "Plot", "_name", "_tidy",
           "figure_format", "plot", "save_figure"]  # fmt: skip

SAVED = {
    "svg": {"Date": None, "Creator": "steadyrank"},
    "png": {"Software": "steadyrank"},
    "pdf": {"CreationDate": None, "Creator": "steadyrank"},
}
"""Formats, and what files say about themselves: no date, so the same figure is the same bytes."""

SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "steadyrank",
    "svg.fonttype": "none",  # text stays text: it can be searched, read aloud and restyled
    "pdf.fonttype": 42,  # publishers refuse matplotlib's Type 3 fonts
    "savefig.dpi": 200,
}


@dataclass(frozen=True, slots=True)
class Plot:
    """One way to draw a result, and the inches that it needs."""

    draw: Callable[..., None]
    size: Callable[[Any], tuple[float, float]]


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
    steadyrank.errors.InputError: there is no plot of a str, only of: SimulateResult, ...
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


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as SVG, PNG or PDF, as the file's name says, whole or not at all.

    The same figure gives the same bytes.
    """
    import matplotlib as mpl

    form = figure_format(path)
    buffer = io.BytesIO()
    unplace(figure)
    with mpl.rc_context(SETTINGS):
        figure.savefig(buffer, format=form, metadata=SAVED[form])
    write_whole(path, buffer.getvalue())


def figure_format(path: str | os.PathLike[str]) -> str:
    """The format that a file's name asks for.

    >>> figure_format("figures/ranks.SVG")
    'svg'
    """
    form = Path(path).suffix.lower().removeprefix(".")
    if form not in SAVED:
        raise InputError(f"{path}: a figure's name ends in .svg, .png or .pdf")
    return form


def unplace(figure: Figure) -> None:
    """Move axes to where they were before anything was drawn.

    Layout starts from their present place, so a figure drawn before would differ by a hair.
    """
    for ax in figure.axes:
        cell = ax.get_subplotspec()
        if cell is not None and ax.get_in_layout():
            ax.set_position(cell.get_position(figure))
            ax.set_in_layout(True)
    shaded: Any
    for shaded in figure.findobj(lambda artist: hasattr(getattr(artist, "colorbar", None), "ax")):
        bar, place = shaded.colorbar.ax, shaded.axes.get_position()
        bar.set_position((place.x1, place.y0, 0.05, place.height))
        bar.set_in_layout(True)


def drawing_of(result: Any, kind: str | None = None) -> Plot:
    """How a result is drawn: by this kind of plot, or by its class's default."""
    name = type(result).__name__
    if name not in PLOTS:
        raise InputError(f"there is no plot of a {name}, only of: {', '.join(PLOTS)}")
    kinds = PLOTS[name]
    if kind is not None and kind not in kinds:
        raise unknown_name("kind of plot", kind, kinds)
    return kinds[kind or next(iter(kinds))]


PLOTS: Mapping[str, Mapping[str, Plot]] = {
    name: {kind: Plot(*drawing) for kind, drawing in drawings.items()}
    for name, drawings in {
        "SimulateResult": SIMULATE_DRAWINGS,
        **COMPARE_DRAWINGS,
        **AGREE_DRAWINGS,
        "InstancesResult": INSTANCE_DRAWINGS,
        "InstancesTable": INSTANCE_DRAWINGS,
        "PoolsResult": POOL_DRAWINGS,
        "TopicsResult": TOPIC_DRAWINGS,
        **PITFALL_DRAWINGS,
        **PLAN_DRAWINGS,
    }.items()
}
"""Result class to its kinds of plot, the default first."""

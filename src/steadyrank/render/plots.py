"""Results as figures: `plot(result)` draws what a paper would print.

Figures are matplotlib's own objects, made without pyplot, so nothing is shown, kept or left
behind. A study has its plots by registering them in `PLOTS`, the default first.
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from steadyrank.compute.files import write_whole
from steadyrank.errors import InputError, unknown_name
from steadyrank.render.plots_agree import AGREE_DRAWINGS, COMPONENT_DRAWINGS
from steadyrank.render.plots_instances import INSTANCE_DRAWINGS
from steadyrank.render.plots_pitfalls import PITFALL_DRAWINGS
from steadyrank.render.plots_pools import POOL_DRAWINGS
from steadyrank.render.plots_topics import TOPIC_DRAWINGS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from steadyrank.studies.simulate import SimulateResult

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's, which people with any colour vision can tell apart."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
"""One for each colour, for those who print without."""

QUIET = "#888888"
"""For lines that only guide the eye."""

MOST_NAMES = 150
"""Names along an axis; of more runs only every second, third, … is named."""

SAVED = {
    "svg": {"Date": None, "Creator": "steadyrank"},
    "png": {"Software": "steadyrank"},
    "pdf": {"CreationDate": None, "Creator": "steadyrank"},
}
"""Formats, and what files say about themselves: no date, so the same figure is the same bytes."""

_SETTINGS: dict[Any, Any] = {
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

    What `simulate` found can be drawn as `kind="error_rate"`, by the size of the difference
    (the default); as "ranks", the interval of every run; and as "topics", the spread of one
    run (`run=NAME`; else the best) on each topic. What `instances` found: as "margin", the
    differences and their intervals (the default); as "means", of the instances; and as "topics",
    the spread of one system's instances on each. With `ax` the drawing goes there: a second
    result, of another model, beside the first.

    >>> import steadyrank as sr
    >>> sr.plot("a result")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    steadyrank.errors.InputError: there is no plot of a str, only of: SimulateResult, ...
    """
    drawing = _chosen(result, kind)
    if ax is None:
        from matplotlib.figure import Figure

        ax = Figure(figsize=drawing.size(result), layout="constrained").add_subplot()
        _tidy(ax)
    drawing.draw(result, ax, **options)
    return ax.get_figure()  # type: ignore[return-value]


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as SVG, PNG or PDF, as the file's name says, whole or not at all.

    The same figure gives the same bytes.
    """
    import matplotlib as mpl

    form = figure_format(path)
    buffer = io.BytesIO()
    _unplace(figure)
    with mpl.rc_context(_SETTINGS):
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


def _unplace(figure: Figure) -> None:
    """Move axes to where they were before anything was drawn.

    Layout starts from their present place, so a figure drawn before would differ by a hair.
    """
    for ax in figure.axes:
        cell = ax.get_subplotspec()
        if cell is not None and ax.get_in_layout():
            ax.set_position(cell.get_position(figure))
            ax.set_in_layout(True)


def _chosen(result: Any, kind: str | None) -> Plot:
    name = type(result).__name__
    if name not in PLOTS:
        raise InputError(f"there is no plot of a {name}, only of: {', '.join(PLOTS)}")
    kinds = PLOTS[name]
    if kind is not None and kind not in kinds:
        raise unknown_name("kind of plot", kind, kinds)
    return kinds[kind or next(iter(kinds))]


def _tidy(ax: Axes) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)


def _look(ax: Axes) -> dict[str, Any]:
    """Colour and marker of the next result on these axes."""
    place = len(ax.containers)
    return {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}


def _name(text: str) -> str:
    """A run's name as a font can draw it: it may hold bytes that are no text."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def draw_error_rate(result: SimulateResult, ax: Axes) -> None:
    """Error rate against the simulated difference, with Monte Carlo standard errors: Figure 2."""
    found = result.error_rate
    width = found.low[1] - found.low[0]
    model = "bootstrap" if result.model == "bootstrap" else f"KDE, {result.bandwidth}"
    below = np.minimum(found.rate_error, found.rate)
    ax.errorbar(
        found.low + width / 2, found.rate, yerr=np.stack([below, found.rate_error]), label=model,
        markersize=4, linewidth=1.2, elinewidth=1.0, capsize=2, clip_on=False, **_look(ax),
    )  # fmt: skip
    shown = np.arange(0, len(found.low), 5)
    # The last bin has no upper end, and stands where it would if it had one.
    ax.set_xticks(
        np.append(found.low[shown[:-1]], found.low[-1] + width / 2),
        labels=[*(f"{low:.2f}" for low in found.low[shown[:-1]]), f"≥ {found.low[-1]:.2f}"],
    )
    ax.set_xlim(0, found.low[-1] + 1.5 * width)
    ax.set_ylim(bottom=0, auto=True)  # a second result may reach higher
    ax.set_xlabel(f"difference of two runs' mean {result.measure} in a simulated collection")
    ax.set_ylabel("error rate")
    ax.legend(frameon=False)


def draw_topics(result: SimulateResult, ax: Axes, *, run: str | None = None) -> None:
    """One run's simulated means ± one standard deviation against its raw values: Figure 1."""
    if run is None:
        run = result.runs[int(np.argmax(result.raw_mean))]
    if run not in result.runs:
        raise unknown_name("run", run, result.runs)
    r = result.runs.index(run)
    if not ax.containers:
        ax.axline((0, 0), slope=1, color=QUIET, linewidth=0.8)
    spread = np.nan_to_num(result.cell_sd[r])  # one sample has no spread to draw
    ax.errorbar(
        result.raw[r], result.cell_mean[r], yerr=spread, linestyle="none", markersize=4,
        elinewidth=1.0, **_look(ax),
    )  # fmt: skip
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_xlabel(f"{result.measure} of {_name(run)} on a topic", parse_math=False)
    ax.set_ylabel(f"simulated {result.measure}, mean ± sd")


def draw_ranks(result: SimulateResult, ax: Axes) -> None:
    """Each run's rank as it is, and between which ranks it is in 95 % of the samples."""
    from matplotlib.ticker import MaxNLocator

    rows, look = result.rows(), _look(ax)
    place = np.arange(len(rows))
    ranks, low, high = (
        np.array([row[key] for row in rows]) for key in ("rank", "rank_low", "rank_high")
    )
    ax.errorbar(
        (low + high) / 2, place, xerr=(high - low) / 2, fmt="none", ecolor=look["color"],
        elinewidth=2.5,
    )  # fmt: skip
    ax.plot(ranks, place, linestyle="none", markersize=4, color=COLOURS[-1], marker=look["marker"])
    named = place[:: math.ceil(len(rows) / MOST_NAMES)]
    ax.set_yticks(named, labels=[_name(rows[i]["run"]) for i in named], parse_math=False)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlim(0.5, len(rows) + 0.5)
    ax.set_xlabel(f"rank by {result.measure} (dot), and in 95% of simulated collections (line)")


def _rank_size(result: SimulateResult) -> tuple[float, float]:
    return 6.4, 1.2 + 0.2 * min(len(result.runs), MOST_NAMES)


PLOTS: Mapping[str, Mapping[str, Plot]] = {
    "SimulateResult": {
        "error_rate": Plot(draw_error_rate, lambda result: (6.4, 4.0)),
        "ranks": Plot(draw_ranks, _rank_size),
        "topics": Plot(draw_topics, lambda result: (4.9, 4.8)),
    },
    "AgreeResult": {kind: Plot(*drawing) for kind, drawing in AGREE_DRAWINGS.items()},
    "ComponentsResult": {kind: Plot(*drawing) for kind, drawing in COMPONENT_DRAWINGS.items()},
    "InstancesResult": {kind: Plot(*drawing) for kind, drawing in INSTANCE_DRAWINGS.items()},
    "InstancesTable": {kind: Plot(*drawing) for kind, drawing in INSTANCE_DRAWINGS.items()},
    "PoolsResult": {kind: Plot(*drawing) for kind, drawing in POOL_DRAWINGS.items()},
    "TopicsResult": {kind: Plot(*drawing) for kind, drawing in TOPIC_DRAWINGS.items()},
    **{
        name: {kind: Plot(*drawing) for kind, drawing in drawings.items()}
        for name, drawings in PITFALL_DRAWINGS.items()
    },
}
"""Result class to its kinds of plot, the default first."""

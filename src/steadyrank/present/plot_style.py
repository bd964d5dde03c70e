"""Elements of all figures: colours, names, panels, rows of names and heat maps.

Colours and markers suit any colour vision; names are drawn literally; points of runs, topics and
pairs have tooltips (`steadyrank.present.figures`).
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from steadyrank.errors import InputError
from steadyrank.present.figures import tell
from steadyrank.present.run_names import elided, name_in_figure
from steadyrank.visible import spelled
from steadyrank.words import typeset

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.gridspec import GridSpecFromSubplotSpec

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""The colours of Okabe and Ito, which suit any colour vision."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
"""One for each colour, for black-and-white prints."""

QUIET = "#888888"
"""Colour of guide lines."""

DASHED: dict[str, Any] = {"color": QUIET, "linewidth": 1.0, "linestyle": "--"}
"""A line that marks a level or a target."""

FAINT = "#dddddd"
"""Colour of grids."""

DARK = "#111111"
"""Colour of text on bright cells, also on dark pages."""

MOST_NAMES = 150
"""Number of names along an axis; of more runs only every second, third, … is named."""

TALL = 25
"""Number of rows above which a figure also has its axis at the top."""

SHADES = 12
"""Number of colours of a heat map."""

TALLEST_BAR = 5.0
"""Height of a heat map's colour bar, in inches."""

NARROW, LONGEST_LINE = 4.5, 26
"""Width in inches below which a figure or a panel is narrow; characters per line of its labels."""

PAGE_WIDTH = 7.5
"""Width in inches below which a figure with a given width is for a paper."""

SMALL = {"font.size": 8.0, "axes.linewidth": 0.6, "lines.markersize": 4.0}
"""Settings of a figure for a paper."""

LOWEST_ROWS = 0.8
"""Share of their height that rows of names need in small letters."""

Size = Callable[[Any], tuple[float, float]]


def look(place: int) -> dict[str, Any]:
    """Return the colour and marker of the first, second, … series."""
    return {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}


LONGEST_NAME = 36
"""Number of characters of a name along an axis; the tooltip has the rest."""

SHORTEST_NAME, NAMES_PER_INCH = 18, 7.0
"""In narrow figures: the least number of characters, and the number per inch of width."""


def shown(text: str) -> str:
    """Return a name that a font can draw; it may hold bytes that are no text.

    >>> shown("tab\\there")
    'tab\\\\x09here'
    """
    return "".join(c if c.isprintable() else spelled(c) for c in text)


def shortened(name: str, longest: int = LONGEST_NAME) -> str:
    """Return a name for an axis; a long one loses its middle.

    >>> shortened("a_reranker_with_a_name_of_sixty_characters_and_the_seed_0042")
    'a_reranker_with_a…_and_the_seed_0042'
    """
    return elided([shown(name_in_figure(name))], longest)[0]


def longest_name(ax: Axes, *, in_panel: bool = False) -> int:
    """Return the number of characters of a name along an axis, which narrow figures reduce.

    `in_panel` if every panel has names, instead of only the first of a row.
    """
    figure: Any = ax.get_figure()
    width = panel_width(ax) if in_panel else float(figure.get_figwidth())
    return max(SHORTEST_NAME, min(LONGEST_NAME, round(NAMES_PER_INCH * width)))


def panel_width(ax: Axes) -> float:
    """Return the width of a panel with its names and labels, in inches."""
    figure: Any = ax.get_figure()
    place = ax.get_subplotspec()
    return float(figure.get_figwidth()) / (1 if place is None else place.get_geometry()[1])


def tidy(ax: Axes) -> None:
    """Show two spines and a faint grid."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color=FAINT, linewidth=0.6)
    ax.set_axisbelow(True)


def label(ax: Axes, *, x: str = "", y: str = "") -> None:
    """Label the axes with text that may hold names."""
    if x:
        ax.set_xlabel(_wrapped(ax, shown_lines(x)), parse_math=False)
    if y:
        ax.set_ylabel(shown_lines(y), parse_math=False)


def _wrapped(ax: Axes, text: str, longest: int = LONGEST_LINE) -> str:
    """Wrap the label of a narrow figure or panel."""
    from matplotlib import rcParams

    if panel_width(ax) >= NARROW or rcParams["font.size"] > SMALL["font.size"]:
        return text
    return "\n".join(
        textwrap.fill(line, longest, break_long_words=False, break_on_hyphens=False)
        for line in text.split("\n")
    )


def shown_lines(text: str) -> str:
    """Return several lines that a font can draw."""
    return "\n".join(map(shown, text.split("\n")))


def legend(ax: Axes, **options: Any) -> None:
    """Add a legend without a frame, whose texts may hold names."""
    # With loc="best" given, matplotlib does not warn if that is slow.
    looks = {"frameon": False, "fontsize": "small", "loc": "best", **options}
    for text in ax.legend(**looks).get_texts():
        text.set_parse_math(False)
        text.set_text(shown_lines(text.get_text()))


def fixed(width: float, height: float) -> Size:
    """Return a constant size in inches."""
    return lambda result: (width, height)


def with_rows(names: str, *, width: float = 6.4, least: float = 1.2, each: float = 0.2) -> Size:
    """Return the size of a figure with a row for each item of an attribute of the result."""
    return lambda result: (width, rows_height(len(getattr(result, names)), least=least, each=each))


def rows_height(n: int, *, least: float = 1.2, each: float = 0.2) -> float:
    """Return the height of a figure with n rows of names, in inches."""
    return least + each * max(3, min(n, MOST_NAMES))


def height_of_rows(size: Size) -> Callable[[Any, float], float]:
    """Return the height of a figure with rows of names, which is little less in a narrow one."""

    def height(result: Any, width: float) -> float:
        full_width, full_height = size(result)
        return full_height * max(width / full_width, LOWEST_ROWS)

    return height


def name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Label rows with names from the top down; of many names, only every second, third, …."""
    place = _named(len(names))
    longest = longest_name(ax)
    ax.set_yticks(place, labels=_labels(names, place, longest), parse_math=False)
    ax.set_ylim(len(names) - 0.5, -0.5)
    if len(names) > TALL:
        # The axis at the bottom is far from the first rows.
        ax.tick_params(axis="x", top=True, labeltop=True)


def _labels(names: Sequence[str], places: Iterable[int], longest: int) -> list[str]:
    """Return the names at these places, shortened such that all names look different."""
    short = elided([shown(name_in_figure(name)) for name in names], longest)
    return [short[place] for place in places]


def name_columns(ax: Axes, names: Sequence[str]) -> None:
    """Label columns with names, rotated so that they do not overlap."""
    place = _named(len(names))
    labels = _labels(names, place, longest_name(ax, in_panel=True))
    ax.set_xticks(place, labels=labels, rotation=90, parse_math=False)


def legend_above(ax: Axes, *, loc: str = "lower right", **options: Any) -> None:
    """Add a legend above the axes and their top labels."""
    x = {"lower right": 1.0, "lower center": 0.5}[loc]
    options = {"ncols": 2, "borderaxespad": 0.2, **options}
    legend(ax, loc=loc, bbox_to_anchor=(x, 1.0), bbox_transform=_above_labels(ax), **options)


def _above_labels(ax: Axes) -> Any:
    """Return the axes' coordinates, moved up by the height of their top labels."""
    from matplotlib.transforms import ScaledTranslation

    axis: Any = ax.xaxis
    above = [tick.label2 for tick in axis.get_major_ticks() if tick.label2.get_visible()]
    points = list(map(_height, above))
    figure: Any = ax.get_figure()
    up = (max(points) + 6.0) / 72 if points else 0.0
    return ax.transAxes + ScaledTranslation(0.0, up, figure.dpi_scale_trans)


def _height(label: Any) -> float:
    """Return the approximate height of a tick label, in points."""
    if not label.get_rotation():
        return float(label.get_fontsize())
    # Letters are rarely wider than two thirds of their height.
    return float(len(label.get_text()) * label.get_fontsize() * 2 / 3)


def _named(n: int) -> np.ndarray:
    return np.arange(n)[:: max(1, math.ceil(n / MOST_NAMES))]


def inside(ax: Axes, rows: int, columns: int, **options: Any) -> GridSpecFromSubplotSpec:
    """Replace axes by a grid for panels."""
    place = ax.get_subplotspec()
    if place is None:
        raise InputError("this plot has several panels: omit ax, or give one of a grid")
    ax.set_axis_off()
    return place.subgridspec(rows, columns, **options)


def panels(ax: Axes, n: int, *, across: int, sharey: bool = True) -> list[Axes]:
    """Replace axes by n panels, `across` in a row."""
    columns = min(n, across)
    grid = inside(ax, math.ceil(n / columns), columns)
    figure: Any = ax.get_figure()
    made: list[Axes] = []
    for k in range(n):
        shared = made[0] if sharey and made else None
        panel = figure.add_subplot(grid[k // columns, k % columns], sharey=shared)
        tidy(panel)
        if sharey and k % columns:
            panel.tick_params(labelleft=False)
        made.append(panel)
    return made


def heat(
    ax: Axes,
    values: np.ndarray,
    *,
    low: float,
    high: float,
    bar: str = "",
    texts: Sequence[str | None] | None = None,
) -> Any:
    """Draw a heat map of values [row, column], first row on top, NaN blank, `texts` as tooltips.

    Cells are shapes, which are sharp at any size and can have tooltips.
    """
    import matplotlib as mpl

    palette = mpl.colormaps["cividis"].resampled(SHADES)
    rows, columns = values.shape
    mesh = ax.pcolormesh(
        np.arange(columns + 1) - 0.5,
        np.arange(rows + 1) - 0.5,
        np.ma.masked_invalid(values),
        cmap=palette,
        norm=mpl.colors.Normalize(low, high),
    )
    ax.set_ylim(rows - 0.5, -0.5)
    ax.grid(visible=False)
    if bar:
        # The bar of a tall figure would otherwise be as wide as a column.
        figure: Any = ax.get_figure()
        place = ax.get_subplotspec()
        n_rows = 1 if place is None else place.get_geometry()[0]
        part = min(1.0, TALLEST_BAR * n_rows / figure.get_figheight())
        made = figure.colorbar(mesh, ax=ax, shrink=part, anchor=(0.0, 1.0))
        made.set_label(_wrapped(ax, shown_lines(bar), SHORTEST_NAME), parse_math=False)
    if texts is not None:
        there = np.isfinite(values).ravel()
        tell(mesh, [text if known else None for text, known in zip(texts, there, strict=True)])
    return mesh


BRIGHT = 0.6
"""Share of a heat map's range above which cells have dark text."""


def write_in_cells(
    ax: Axes, values: np.ndarray, texts: Sequence[str], *, low: float = 0.0, **looks: Any
) -> None:
    """Write texts in the cells of a heat map from `low` to 1, in a shade that contrasts."""
    looks = {"ha": "center", "va": "center", "fontsize": "x-small", **looks}
    for ((i, j), value), text in zip(np.ndenumerate(values), texts, strict=True):
        if not math.isnan(value):
            shade = DARK if value - low > BRIGHT * (1.0 - low) else "white"
            ax.text(j, i, typeset(text), color=shade, **looks)


def dots(ax: Axes, x: Any, y: Any, texts: Sequence[str], **options: Any) -> None:
    """Draw markers with tooltips, by `plot`, without a line unless one is given."""
    (markers,) = ax.plot(x, y, **{"linestyle": "none", "markersize": 4, **options})
    tell(markers, texts)


def error_bars(ax: Axes, x: Any, y: Any, texts: Sequence[str], **options: Any) -> None:
    """Draw markers and error bars with tooltips, by `errorbar`."""
    tell(ax.errorbar(x, y, **{"markersize": 4, "elinewidth": 1.0, **options}), texts)


def row_bars(
    ax: Axes, x: Any, rows: Any, xerr: Any, texts: Sequence[str], *, place: int = 0, **options: Any
) -> None:
    """Draw the values of rows with error bars and tooltips, in the look of a series."""
    looks = {"linestyle": "none", "elinewidth": 1.5, **look(place), **options}
    error_bars(ax, x, rows, texts, xerr=xerr, **looks)


def draw_rank_rows(
    ax: Axes,
    names: Sequence[str],
    ranks: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    *,
    place: int = 0,
    what: str,
) -> None:
    """Draw a row for each run: a dot at its rank, and a line over the ranks that it may have."""
    rows, style = np.arange(len(names)), look(place)
    middle, arm = (low + high) / 2, (high - low) / 2
    ax.errorbar(middle, rows, xerr=arm, fmt="none", ecolor=style["color"], elinewidth=2.5)
    figures = zip(names, ranks, low, high, strict=True)
    texts = [f"{name}: rank {rank:g}, {first:g} to {last:g}" for name, rank, first, last in figures]
    dots(ax, ranks, rows, texts, color=COLOURS[-1], marker=style["marker"])
    name_rows(ax, names)
    whole_numbers(ax)
    ax.set_xlim(0.5, max(len(names), float(np.max(high))) + 0.5)
    label(ax, x=what)


def whole_numbers(ax: Axes, most: int = 10) -> None:
    """Put at most `most` ticks on the horizontal axis, at whole numbers."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(most, integer=True))

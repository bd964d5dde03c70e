"""Drawings that several studies share: correlations as a heat map, sources of variance as bars."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from steadyrank.present import plot_style as style
from steadyrank.present.anova import source_words
from steadyrank.present.svg import tell

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.stats.anova.balanced import Anova, AnovaSource


def draw_taus(ax: Axes, tau: np.ndarray, names: Sequence[str]) -> None:
    """Correlations of measures as a heat map with their values; NaN stays blank."""
    low = min(0.0, float(np.nanmin(tau, initial=0.0)))
    texts = [
        f"{a} – {b}: tau {tau[i, j]:.4f}" for i, a in enumerate(names) for j, b in enumerate(names)
    ]
    style.heat(ax, tau, low=low, high=1.0, texts=texts)
    style.write_in_cells(ax, tau, [f"{value:.2f}" for value in tau.flat], low=low)
    style.name_columns(ax, names)
    style.name_rows(ax, names)


def draw_omegas(
    ax: Axes,
    tables: Mapping[str, Anova],
    limits: Mapping[str, Mapping[str, tuple[float, float]]] | None = None,
) -> None:
    """Partial omega squared of all effects, a bar for each table, with intervals if any."""
    first = next(iter(tables.values()))
    names = [s.source for s in first.sources if not math.isnan(s.omega_squared)]
    height = 0.8 / len(tables)
    for k, (words, table) in enumerate(tables.items()):
        lines = [table.source(name) for name in names]
        place = np.arange(len(names)) + height * (k - (len(tables) - 1) / 2)
        bars = ax.barh(
            place,
            [line.omega_squared for line in lines],
            height,
            label=words,
            color=style.COLOURS[k],
            hatch="//" if k else "",
            edgecolor="white",
        )
        ends = (limits or {}).get(words, {})
        for y, line in zip(place, lines, strict=True):
            if line.source in ends:
                ax.plot(ends[line.source], [y, y], color=style.DARK, linewidth=1.0)
        tell(
            bars,
            [
                f"{words}, {source_words(line.source)}: {_omega(line, ends.get(line.source))}"
                for line in lines
            ],
        )
    style.name_rows(ax, [source_words(name) for name in names])
    ax.set_xlim(left=0)
    style.label(ax, x="share of variance explained (partial omega squared)")
    style.legend(ax, loc="lower right")


def _omega(line: AnovaSource, limits: tuple[float, float] | None) -> str:
    """An effect size with its interval or test, whichever there is."""
    text = f"omega² {line.omega_squared:.4f}"
    if limits is not None:
        return f"{text} [{limits[0]:.4f}, {limits[1]:.4f}]"
    tested = not math.isnan(line.pvalue)
    return f"{text}, F {line.statistic:.4g}, p {line.pvalue:.3g}" if tested else text

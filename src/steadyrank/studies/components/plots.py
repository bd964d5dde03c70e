"""Figures of `components`: the levels of a factor, and what each component explains."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from steadyrank.errors import unknown_name
from steadyrank.present import plot_style as style
from steadyrank.present.anova import source_words
from steadyrank.present.figures import Plot, tell

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.components.study import ComponentsResult


def draw_levels(result: ComponentsResult, ax: Axes, *, factor: str | None = None) -> None:
    """Draw the means of the levels with Tukey's intervals, a panel per factor or of `factor` alone.

    Intervals do not overlap where two levels differ significantly.
    """
    if factor is not None and factor not in result.factors:
        raise unknown_name("factor", factor, result.factors)
    chosen = result.factors if factor is None else (factor,)
    made = style.panels(ax, len(chosen), across=len(chosen), sharey=False)
    for panel, name in zip(made, chosen, strict=True):
        rows, half = result.ordered_levels(name), result.main_effects[name].half_width
        means = np.array([mean for _, mean in rows])
        texts = [f"{name} {level}: {mean:.4f} ± {half:.4f}" for level, mean in rows]
        looks = {"linestyle": "none", "capsize": 2, "elinewidth": 1.2, **style.look(0)}
        style.error_bars(panel, means, np.arange(len(rows)), texts, xerr=half, **looks)
        # Levels whose intervals do not reach this band differ from the best.
        panel.axvspan(
            means[0] - half, means[0] + half, color=style.COLOURS[0], alpha=0.12, linewidth=0
        )
        style.name_rows(panel, [level for level, _ in rows])
        panel.set_title(style.shown(name), fontsize="medium", parse_math=False)
        style.label(panel, x=f"mean {result.measure} and {result.confidence:.0%} HSD interval")


def draw_effects(result: ComponentsResult, ax: Axes) -> None:
    """Draw how much of the scores' variance each component and interaction explains."""
    lines = [line for line in result.anova.sources if not math.isnan(line.omega_squared)]
    names = [source_words(line.source) for line in lines]
    sizes = [line.omega_squared for line in lines]
    looks: dict[str, Any] = {"label": result.measure, "color": style.COLOURS[0]}
    bars = ax.barh(np.arange(len(lines)), sizes, 0.8, edgecolor="white", **looks)
    texts = [
        f"{result.measure}, {name}: omega² {line.omega_squared:.4f}"
        + ("" if math.isnan(line.pvalue) else f", F {line.statistic:.4g}, p {line.pvalue:.3g}")
        for name, line in zip(names, lines, strict=True)
    ]
    tell(bars, texts)
    style.name_rows(ax, names)
    ax.set_xlim(left=0)
    style.label(ax, x="share of variance explained (partial omega squared)")
    style.legend(ax, loc="lower right")


def _levels_size(result: ComponentsResult) -> tuple[float, float]:
    longest = max(len(levels) for levels in result.levels.values())
    return 1.0 + 3.0 * len(result.factors), style.rows_height(longest, least=1.4)


def _effects_words(result: ComponentsResult) -> str:
    strongest = max(result.factors, key=lambda name: result.anova.source(name).omega_squared)
    return (
        f"Bars of the share of variance in {result.measure} that each component and interaction "
        f"explains; the component that explains most is {strongest}."
    )


PLOTS = {
    "ComponentsResult": {
        "levels": Plot(
            draw_levels,
            _levels_size,
            lambda result: (
                f"Mean {result.measure} of the levels of {', '.join(result.factors)} with Tukey's "
                "intervals, best first."
            ),
        ),
        "effects": Plot(
            draw_effects,
            lambda result: (6.4, style.rows_height(len(result.anova.sources), each=0.3)),
            _effects_words,
        ),
    }
}

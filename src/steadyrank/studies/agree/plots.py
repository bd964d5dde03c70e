"""What `agree` and `components` found, drawn.

Correlations against the number of systems, a panel a number of topics (Figure 1 of Ferro 2018), and
the other way round; measure pairs by both coefficients (Figure 2); what drives the correlation
(Tables 1 and 2); measures by likeness, with their dendrogram and discriminative power; the levels
of a factor with Tukey's intervals. `steadyrank.studies.plotting` lists the drawings.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from steadyrank.errors import InputError, unknown_name
from steadyrank.present.figures import Plot
from steadyrank.present.plot_style import (
    COLOURS,
    DARK,
    QUIET,
    Drawing,
    heat,
    inside,
    label,
    legend,
    look,
    name_columns,
    name_rows,
    panels,
    rows_height,
    shown,
)
from steadyrank.present.svg import tell

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.stats.anova.balanced import Anova, AnovaSource
    from steadyrank.studies.agree.study import AgreeResult
    from steadyrank.studies.components.study import ComponentsResult

SYMBOLS = {"tau": "tau", "tau_ap": "tau_AP"}
ACROSS = 4
"""Panels side by side, at most."""

BRIGHT = 0.6
"""Cells of a heat map above this share of its range are bright enough for dark text."""


def draw_sizes(result: AgreeResult, ax: Axes, *, pair: Sequence[str] | None = None) -> None:
    """Mean correlation of one pair of measures with intervals: Figure 1.

    A panel a number of topics, systems across, both coefficients; bands hold 95 % of the samples.
    `pair` names two measures (the first two unless given).
    """
    _draw_sizes(result, ax, pair, swapped=False)


def draw_topic_sizes(result: AgreeResult, ax: Axes, *, pair: Sequence[str] | None = None) -> None:
    """The same against the number of topics, a panel a number of systems."""
    _draw_sizes(result, ax, pair, swapped=True)


def _draw_sizes(
    result: AgreeResult, ax: Axes, pair: Sequence[str] | None, *, swapped: bool
) -> None:
    from matplotlib.ticker import MaxNLocator

    chosen = 0 if pair is None else result.pair(*pair)
    sizes = {"topics": result.topic_sizes, "systems": result.system_sizes}
    over, along = ("systems", "topics") if swapped else ("topics", "systems")
    made = panels(ax, len(sizes[over]), across=ACROSS)
    order = np.argsort(sizes[along])
    x = np.array(sizes[along])[order]
    low = 0.0
    for k, name in enumerate(("tau", "tau_ap")):
        means, ends = (each[chosen] for each in result.means_and_intervals(name))  # type: ignore[arg-type]
        samples = (result.tau if name == "tau" else result.tau_ap)[chosen]
        if swapped:
            means, ends, samples = (each.swapaxes(0, 1) for each in (means, ends, samples))
        low = min(low, float(np.nanmin(ends, initial=0.0)))
        for panel, mean, limits, each in zip(made, means, ends, samples, strict=True):
            _draw_curve(panel, x, mean[order], limits[order], each[order], k, SYMBOLS[name], along)
    pair_name = result.pair_name(chosen)
    for t, panel in enumerate(made):
        panel.set_title(f"{sizes[over][t]} {over}", fontsize="medium")
        panel.set_ylim(low, 1.0)
        panel.set_xlim(0, 1.05 * x[-1])
        panel.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        if t + ACROSS >= len(made):
            label(panel, x=along)
        if t % ACROSS == 0:
            label(panel, y=pair_name)
    legend(made[0], loc="lower right")


def _draw_curve(
    ax: Axes,
    x: np.ndarray,
    mean: np.ndarray,
    limits: np.ndarray,
    samples: np.ndarray,
    place: int,
    name: str,
    along: str,
) -> None:
    """Means with intervals, and the band of the middle 95 % of the samples."""
    whole = ~np.isnan(samples).any(axis=1)
    band = np.quantile(samples[whole], [0.025, 0.975], axis=1)
    ax.fill_between(x[whole], *band, color=COLOURS[place], alpha=0.15, linewidth=0)
    bars = ax.errorbar(
        x,
        mean,
        yerr=np.abs(limits - mean[:, None]).T,
        label=name,
        markersize=3,
        linewidth=1.0,
        elinewidth=0.8,
        capsize=1.5,
        **look(place),
    )
    tell(
        bars,
        [
            f"{name}, {size} {along}: {value:.4f} [{first:.4f}, {last:.4f}]"
            for size, value, (first, last) in zip(x, mean, limits, strict=True)
        ],
    )


def draw_pairs(result: AgreeResult, ax: Axes) -> None:
    """Marginal means of the measure pairs by both coefficients, each centred: Figure 2."""
    rows = result.ranking()
    place = np.arange(len(rows))
    for k, key in enumerate(("tau", "tau_ap")):
        means = np.array([row[key] for row in rows])
        words = f"{SYMBOLS[key]}, mean {means.mean():.3f}"
        (line,) = ax.plot(
            means - means.mean(), place, markersize=4, linewidth=1.0, label=words, **look(k)
        )
        tell(
            line,
            [
                f"{_pair(row)}: {SYMBOLS[key]} {row[key]:.4f}, rank {row[f'rank_{key}']}"
                for row in rows
            ],
        )
    ax.axvline(0.0, color=QUIET, linewidth=0.8)
    name_rows(ax, [f"{_pair(row)}  ({row['rank_tau']} / {row['rank_tau_ap']})" for row in rows])
    label(ax, x=f"mean correlation over all sizes, centred; RMSE {result.rmse:.4f}")
    legend(ax)


def _pair(row: Mapping[str, Any]) -> str:
    return f"{row['measure_a']} – {row['measure_b']}"


def draw_ranks(result: AgreeResult, ax: Axes) -> None:
    """Ranks of the measure pairs by both coefficients, side by side; crossing lines are swaps."""
    rows = result.ranking()
    swapped = {int(pair) for swap in result.swaps for pair in swap}
    for row in rows:
        crossing = result.pair(row["measure_a"], row["measure_b"]) in swapped
        style = COLOURS[1] if crossing else COLOURS[0]
        (line,) = ax.plot(
            [0, 1],
            [row["rank_tau"], row["rank_tau_ap"]],
            color=style,
            marker="o",
            markersize=4,
            linewidth=1.6 if crossing else 1.0,
        )
        tell(
            line,
            [
                f"{_pair(row)}: rank {row['rank_tau']} by tau ({row['tau']:.4f})",
                f"{_pair(row)}: rank {row['rank_tau_ap']} by tau_AP ({row['tau_ap']:.4f})",
            ],
        )
    n = len(rows)
    names = [shown(f"{_pair(row)}  {row['rank_tau']}") for row in rows]
    ax.set_yticks(range(1, n + 1), labels=names, parse_math=False)
    other = ax.secondary_yaxis("right")
    by_other = sorted(rows, key=lambda row: row["rank_tau_ap"])
    names = [shown(f"{row['rank_tau_ap']}  {_pair(row)}") for row in by_other]
    other.set_yticks(range(1, n + 1), labels=names, parse_math=False)
    for axis in (ax.spines, other.spines):
        axis[:].set_visible(False)
    ax.tick_params(length=0)
    other.tick_params(length=0)
    ax.grid(visible=False)
    ax.set_ylim(n + 0.5, 0.5)
    ax.set_xlim(-0.05, 1.05)
    ax.set_xticks([0, 1], labels=["tau", "tau_AP"])
    label(ax, x=f"rank by mean correlation; {len(result.swaps)} swaps in colour")


def draw_effects(result: AgreeResult, ax: Axes) -> None:
    """How much of the correlations' variance each source explains: Tables 1 and 2, drawn."""
    tables = {SYMBOLS[key]: table for key, table in result.anovas.items() if table is not None}
    if not tables:
        raise InputError(
            "there is no analysis of variance to draw: some correlation does not exist, or there "
            "is one pair of measures and one combination of sizes only"
        )
    limits = {SYMBOLS[key]: found for key, found in result.omega_squared_intervals.items()}
    _draw_omegas(ax, tables, limits)


def draw_component_effects(result: ComponentsResult, ax: Axes) -> None:
    """How much of the scores' variance each component and interplay explains."""
    _draw_omegas(ax, {result.measure: result.anova})


def _draw_omegas(
    ax: Axes,
    tables: Mapping[str, Anova],
    limits: Mapping[str, Mapping[str, tuple[float, float]]] | None = None,
) -> None:
    """Partial omega squared of all effects, a bar for each table, with intervals if any."""
    first = next(iter(tables.values()))
    names = [s.source for s in first.sources if not math.isnan(s.omega_squared)]
    height = 0.8 / len(tables)
    for k, (words, table) in enumerate(tables.items()):
        found = [table.source(name) for name in names]
        place = np.arange(len(names)) + height * (k - (len(tables) - 1) / 2)
        bars = ax.barh(
            place,
            [s.omega_squared for s in found],
            height,
            label=words,
            color=COLOURS[k],
            hatch="//" if k else "",
            edgecolor="white",
        )
        ends = (limits or {}).get(words, {})
        for y, line in zip(place, found, strict=True):
            if line.source in ends:
                ax.plot(ends[line.source], [y, y], color=DARK, linewidth=1.0)
        texts = [f"{words}, {_source(s.source)}: {_omega(s, ends.get(s.source))}" for s in found]
        tell(bars, texts)
    name_rows(ax, [_source(name) for name in names])
    ax.set_xlim(left=0)
    label(ax, x="share of variance explained (partial omega squared)")
    legend(ax, loc="lower right")


def _omega(line: AnovaSource, limits: tuple[float, float] | None) -> str:
    """An effect size with its interval or test, whichever there is."""
    text = f"omega² {line.omega_squared:.4f}"
    if limits is not None:
        return f"{text} [{limits[0]:.4f}, {limits[1]:.4f}]"
    return (
        text if math.isnan(line.pvalue) else f"{text}, F {line.statistic:.4g}, p {line.pvalue:.3g}"
    )


def _source(name: str) -> str:
    return name.replace("_", " ").replace(":", " × ")


def draw_measures(result: AgreeResult, ax: Axes) -> None:
    """Measures by tau on all the data: heat map, dendrogram above, discriminative power beside."""
    like, order = result.likeness, result.likeness.order
    names = [result.measures[i] for i in order]
    grid = inside(ax, 2, 2, height_ratios=[1, 4], width_ratios=[4, 1])
    figure: Any = ax.get_figure()
    tree, cells, bars = (figure.add_subplot(cell) for cell in (grid[0, 0], grid[1, 0], grid[1, 1]))
    _draw_tree(tree, like.linkage, len(names))
    draw_taus(cells, like.tau[np.ix_(order, order)], names)
    label(cells, x=f"tau on {result.n_systems} systems, {result.n_topics} topics")
    power = 100.0 * np.nan_to_num(like.discriminative_power[order])
    shapes = bars.barh(np.arange(len(names)), power, color=COLOURS[0])
    tell(shapes, [f"{name}: {share:.1f}%" for name, share in zip(names, power, strict=True)])
    bars.set_yticks([])
    bars.set_ylim(len(names) - 0.5, -0.5)
    bars.set_xlabel("pairs of\nsystems told\napart, %", fontsize="small")
    bars.spines[["top", "right"]].set_visible(False)


def draw_taus(ax: Axes, tau: np.ndarray, names: Sequence[str]) -> None:
    """Correlations of measures as a heat map with their values; NaN stays blank."""
    low = min(0.0, float(np.nanmin(tau, initial=0.0)))
    texts = [
        f"{a} – {b}: tau {tau[i, j]:.4f}" for i, a in enumerate(names) for j, b in enumerate(names)
    ]
    heat(ax, tau, low=low, high=1.0, texts=texts)
    for (i, j), value in np.ndenumerate(tau):
        if not math.isnan(value):
            shade = DARK if value - low > BRIGHT * (1.0 - low) else "white"
            ax.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize="x-small", color=shade)
    name_columns(ax, names)
    name_rows(ax, names)


def _draw_tree(ax: Axes, linkage: np.ndarray, n: int) -> None:
    """The dendrogram above its leaves; heights are 1 - tau."""
    from scipy.cluster.hierarchy import dendrogram

    found = dendrogram(linkage, no_plot=True)
    for x, y in zip(found["icoord"], found["dcoord"], strict=True):
        # SciPy puts leaf i at 10 i + 5.
        ax.plot((np.array(x) - 5.0) / 10.0, y, color=QUIET, linewidth=1.0)
    ax.set_xlim(-0.5, n - 0.5)
    ax.set_ylim(bottom=0.0)
    ax.set_xticks([])
    ax.set_ylabel("1 − tau", fontsize="small")
    ax.spines[["top", "right", "bottom"]].set_visible(False)


def draw_levels(result: ComponentsResult, ax: Axes, *, factor: str | None = None) -> None:
    """Means of the levels with Tukey's intervals, which do not overlap where two levels differ.

    A panel a factor; `factor` draws one only.
    """
    if factor is not None and factor not in result.factors:
        raise unknown_name("factor", factor, result.factors)
    chosen = result.factors if factor is None else (factor,)
    made = panels(ax, len(chosen), across=len(chosen), sharey=False)
    for panel, name in zip(made, chosen, strict=True):
        rows, half = result.ordered_levels(name), result.main_effects[name].half_width
        means = np.array([mean for _, mean in rows])
        bars = panel.errorbar(
            means,
            np.arange(len(rows)),
            xerr=half,
            linestyle="none",
            markersize=4,
            capsize=2,
            elinewidth=1.2,
            **look(0),
        )
        halves = np.broadcast_to(half, means.shape)
        tell(
            bars,
            [
                f"{name} {level}: {mean:.4f} ± {arm:.4f}"
                for (level, mean), arm in zip(rows, halves, strict=True)
            ],
        )
        # What does not reach this band differs from the best.
        panel.axvspan(means[0] - half, means[0] + half, color=COLOURS[0], alpha=0.12, linewidth=0)
        name_rows(panel, [level for level, _ in rows])
        panel.set_title(shown(name), fontsize="medium", parse_math=False)
        label(panel, x=f"mean {result.measure} and {result.confidence:.0%} HSD interval")


def _sizes_size(result: AgreeResult) -> tuple[float, float]:
    return _panels_size(len(result.topic_sizes))


def _topic_sizes_size(result: AgreeResult) -> tuple[float, float]:
    return _panels_size(len(result.system_sizes))


def _panels_size(n: int) -> tuple[float, float]:
    return 1.2 + 2.4 * min(n, ACROSS), 0.9 + 2.2 * math.ceil(n / ACROSS)


def _rows_size(result: AgreeResult) -> tuple[float, float]:
    return 6.8, rows_height(len(result.pairs), least=1.4)


def _effects_size(result: AgreeResult) -> tuple[float, float]:
    return 6.4, rows_height(7, each=0.34)


def _component_effects_size(result: ComponentsResult) -> tuple[float, float]:
    return 6.4, rows_height(len(result.anova.sources), each=0.3)


def _measures_size(result: AgreeResult) -> tuple[float, float]:
    return 3.4 + 0.45 * len(result.measures), 2.6 + 0.42 * len(result.measures)


def _levels_size(result: ComponentsResult) -> tuple[float, float]:
    longest = max(len(levels) for levels in result.levels.values())
    return 1.0 + 3.0 * len(result.factors), rows_height(longest, least=1.4)


AGREE_DRAWINGS: dict[str, dict[str, Drawing]] = {
    "AgreeResult": {
        "sizes": (draw_sizes, _sizes_size),
        "pairs": (draw_pairs, _rows_size),
        "measures": (draw_measures, _measures_size),
        "topics": (draw_topic_sizes, _topic_sizes_size),
        "ranks": (draw_ranks, _rows_size),
        "effects": (draw_effects, _effects_size),
    },
    "ComponentsResult": {
        "levels": (draw_levels, _levels_size),
        "effects": (draw_component_effects, _component_effects_size),
    },
}
"""Class of a result to its kinds of plot, the default first."""


PLOTS = {
    name: {kind: Plot(*drawing) for kind, drawing in kinds.items()}
    for name, kinds in AGREE_DRAWINGS.items()
}
"""Class of a result to its kinds of plot, the default first."""

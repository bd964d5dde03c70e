"""Figures of `instances`: intervals with the margin, instances' means, topics' spread.

They are Figures 6, 8, 12 and 13 of Jayasinghe et al. 2015 (doi:10.1016/j.ipm.2015.06.005).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from steadyrank.errors import check_choice
from steadyrank.present import plot_style as style
from steadyrank.present.figures import Plot, tell

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.stats.instances.systems import System
    from steadyrank.studies.instances.result import InstancesResult, InstancesTable

    Result = InstancesResult | InstancesTable

LEVEL_NAMES = 6
"""Largest number of names along an axis that are not tilted."""

QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)


def comparisons_of(result: Result) -> tuple[InstancesResult, ...]:
    """Return the comparisons of a table, or the result as the only one."""
    several: tuple[InstancesResult, ...] | None = getattr(result, "comparisons", None)
    return several or (cast("InstancesResult", result),)


def draw_margin(result: Result, ax: Axes) -> None:
    """Draw each difference with its shortest posterior interval, or t interval, and the margin.

    Settings of a sweep are on the horizontal axis, smallest first; other pairs are rows.
    """
    pairs = comparisons_of(result)
    centre = np.array([pair.difference for pair in pairs])
    ends = np.array([pair.interval if pair.hpd is None else pair.hpd for pair in pairs])
    place = np.arange(len(pairs))
    looks: dict[str, Any] = {"linestyle": "none", "markersize": 4, "elinewidth": 2.0, "capsize": 3}
    arms = np.abs(ends - centre[:, None]).T
    what = f"{pairs[0].measure}, difference with {1 - pairs[0].alpha:.0%}\n{_kind(pairs)}"
    delta = pairs[0].equivalence.delta
    sweep = _sweep(result)
    x, y, side = (place, centre, "yerr") if sweep else (centre, place, "xerr")
    texts = [
        f"{pair.a} − {pair.b}: {pair.difference:+.4f} [{low:+.4f}, {high:+.4f}]"
        for pair, (low, high) in zip(pairs, ends, strict=True)
    ]
    tell(ax.errorbar(x, y, **{side: arms}, **looks, **style.look(0)), texts)
    line = ax.axhline if sweep else ax.axvline
    line(0.0, color=style.QUIET, linewidth=0.8)
    line(-delta, color=style.COLOURS[1], linewidth=0.8, linestyle="--", label=f"margin −{delta:g}")
    if sweep:
        names = [style.shown(pair.a.removeprefix(f"{sweep}=")) for pair in pairs]
        ax.set_xticks(place, labels=names, parse_math=False)
        style.label(ax, x=sweep, y=f"{what}, from {pairs[0].b}")
    else:
        style.name_rows(ax, [f"{pair.a} − {pair.b}" for pair in pairs])
        style.label(ax, x=what)
    style.legend(ax)


def _kind(pairs: tuple[InstancesResult, ...]) -> str:
    """Return the kind of the intervals; posterior intervals are not simultaneous."""
    if pairs[0].hpd is not None:
        return "posterior interval" if len(pairs) == 1 else "posterior interval, one by one"
    return "t interval" if len(pairs) == 1 else "simultaneous t interval"


def draw_means(result: Result, ax: Axes) -> None:
    """Draw the means of each system's or setting's instances as boxes and points.

    Single runs are lines. A box shows how much the choice of one instance changes a comparison.
    """
    systems = _systems(result)
    varied = [system for system in systems.values() if len(system.runs) > 1]
    sweep = _sweep(result)
    names = [system.name.removeprefix(f"{sweep}=") for system in varied]
    texts = [
        [f"{run}: {mean:.4f}" for run, mean in zip(each.runs, each.instance_means, strict=True)]
        for each in varied
    ]
    looks: dict[str, Any] = {"widths": 0.5, "medianprops": {"color": style.COLOURS[0]}}
    looks |= {part: {"color": style.QUIET} for part in ("boxprops", "whiskerprops", "capprops")}
    for place, values in enumerate(system.instance_means for system in varied):
        ax.boxplot([values], positions=[place], showfliers=False, **looks)
        # Not at random, so that the figure is the same each time.
        across = place + 0.3 * (np.argsort(np.argsort(values)) / max(len(values) - 1, 1) - 0.5)
        (dots,) = ax.plot(across, values, "o", color=style.COLOURS[0], markersize=2.5, alpha=0.6)
        tell(dots, texts[place])
    tilt, shown = 0 if len(names) <= LEVEL_NAMES else 60, list(map(style.shown, names))
    ax.set_xticks(range(len(names)), labels=shown, parse_math=False, rotation=tilt)
    ax.set_xlim(-0.5, max(len(names), 1) - 0.5)
    single = [system for system in systems.values() if len(system.runs) == 1]
    for colour, system in zip(np.resize(style.COLOURS[1:], len(single)), single, strict=True):
        ax.axhline(system.mean, color=str(colour), linewidth=1.0, label=system.name)
    if single:
        style.legend(ax)
    style.label(
        ax, x=sweep or "system", y=f"mean {comparisons_of(result)[0].measure} of an instance"
    )


def draw_topic_spread(result: Result, ax: Axes, *, system: str | None = None) -> None:
    """Draw one system's scores on each topic, by median: quartiles thick, range thin."""
    systems = _systems(result)
    if system is None:
        system = max(systems, key=lambda name: len(systems[name].runs))
    check_choice("system", system, systems)
    scores = systems[system].scores
    known = np.flatnonzero(~np.isnan(scores).all(axis=0))
    low, first, median, third, high = np.nanquantile(scores[:, known], QUARTERS, axis=0)
    pairs = comparisons_of(result)
    topics = next(each.pair.topics for each in pairs if system in (each.a, each.b))
    order = np.argsort(-median, kind="stable")
    place = np.arange(len(order))
    ax.vlines(place, low[order], high[order], color=style.QUIET, linewidth=0.8)
    ax.vlines(place, first[order], third[order], color=style.COLOURS[0], linewidth=2.5)
    (dots,) = ax.plot(place, median[order], "o", color=style.COLOURS[-1], markersize=2.5)
    words = "topic {}: median {:.4f}, from {:.4f} to {:.4f}"
    tell(dots, [words.format(topics[known[t]], median[t], low[t], high[t]) for t in order])
    y = f"{pairs[0].measure} of {len(scores)} instances"
    style.label(ax, x=f"topics by the median of {system}", y=y)


def _sweep(result: Result) -> str:
    return getattr(result, "sweep", None) or ""


def _systems(result: Result) -> dict[str, System]:
    pairs = [one.pair for one in comparisons_of(result)]
    return {system.name: system for pair in pairs for system in (pair.a, pair.b)}


def _margin_size(result: Result) -> tuple[float, float]:
    if _sweep(result):
        return 6.4, 4.0
    return 6.4, style.rows_height(len(comparisons_of(result)), least=1.3, each=0.3)


def _margin_words(result: Result) -> str:
    pairs = comparisons_of(result)
    non_inferior = sum(pair.equivalence.non_inferior for pair in pairs)
    return (
        f"Differences in {pairs[0].measure} of {len(pairs)} comparisons of systems with intervals, "
        f"and the margin {pairs[0].equivalence.delta:g}: {non_inferior} are shown to be no worse "
        "by it."
    )


KINDS = {
    "margin": Plot(draw_margin, _margin_size, _margin_words),
    "means": Plot(
        draw_means,
        lambda result: (max(4.0, min(1.6 + 0.8 * len(_systems(result)), 16.0)), 4.0),
        lambda result: (
            f"Mean {comparisons_of(result)[0].measure} of each instance as points and boxes, a box "
            "for each system or setting; single runs are lines."
        ),
    ),
    "topics": Plot(
        draw_topic_spread,
        lambda result: (
            max(6.4, min(0.08 * max(one.n_topics for one in comparisons_of(result)), 16.0)),
            4.0,
        ),
        lambda result: (
            f"Range, quartiles and median of {comparisons_of(result)[0].measure} over one system's "
            f"instances on each of {comparisons_of(result)[0].n_topics} topics, by median."
        ),
    ),
}

PLOTS = {"InstancesResult": KINDS, "InstancesTable": KINDS}

"""What `instances` found, drawn: intervals with the margin, instances' means, topics' spread.

After Figures 6, 8, 12 and 13 of Jayasinghe et al. 2015 (doi:10.1016/j.ipm.2015.06.005), on any
data. `steadyrank.studies.plotting` lists the drawings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from steadyrank.errors import unknown_name
from steadyrank.present.figures import Plot
from steadyrank.present.plot_style import (
    COLOURS,
    QUIET,
    Drawing,
    label,
    legend,
    look,
    name_rows,
    rows_height,
    shown,
)
from steadyrank.present.svg import tell

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.stats.instances.systems import System
    from steadyrank.studies.instances.result import InstancesResult, InstancesTable

    Result = InstancesResult | InstancesTable

LEVEL_NAMES = 6
"""Names of systems that stand level along an axis; more are tilted."""

QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)


def draw_margin(result: Result, ax: Axes) -> None:
    """Each difference with its shortest posterior interval, or t interval, and 0 and -delta.

    Settings of a sweep stand along the horizontal axis, smallest first; other pairs below each
    other.
    """
    found = _comparisons(result)
    centre = np.array([each.difference for each in found])
    ends = np.array([each.interval if each.hpd is None else each.hpd for each in found])
    place = np.arange(len(found))
    style: dict[str, Any] = {
        "linestyle": "none",
        "markersize": 4,
        "elinewidth": 2.0,
        "capsize": 3,
        **look(0),
    }
    arms = np.abs(ends - centre[:, None]).T
    what = f"{found[0].measure}, difference with {1 - found[0].alpha:.0%} {_kind(found)}"
    delta = found[0].equivalence.delta
    sweep = _sweep(result)
    bars = (
        ax.errorbar(place, centre, yerr=arms, **style)
        if sweep
        else ax.errorbar(centre, place, xerr=arms, **style)
    )
    tell(
        bars,
        [
            f"{each.a} − {each.b}: {each.difference:+.4f} [{low:+.4f}, {high:+.4f}]"
            for each, (low, high) in zip(found, ends, strict=True)
        ],
    )
    line = ax.axhline if sweep else ax.axvline
    line(0.0, color=QUIET, linewidth=0.8)
    line(-delta, color=COLOURS[1], linewidth=0.8, linestyle="--", label=f"margin −{delta:g}")
    if sweep:
        names = [shown(each.a.removeprefix(f"{sweep}=")) for each in found]
        ax.set_xticks(place, labels=names, parse_math=False)
        label(ax, x=sweep, y=f"{what}\nto {found[0].b}")
    else:
        name_rows(ax, [f"{each.a} − {each.b}" for each in found])
        label(ax, x=what)
    legend(ax)


def _kind(found: tuple[InstancesResult, ...]) -> str:
    """Of the intervals; those of several posteriors are of each comparison alone."""
    if len(found) == 1:
        return "t interval" if found[0].hpd is None else "posterior interval"
    return "simultaneous t interval" if found[0].hpd is None else "posterior interval, one by one"


def draw_means(result: Result, ax: Axes) -> None:
    """Means of the instances of each system or setting as boxes and points; single runs as lines.

    The spread of a box is what a comparison of one instance would leave to chance.
    """
    systems = _systems(result)
    varied = [system for system in systems.values() if len(system.runs) > 1]
    sweep = _sweep(result)
    names = [system.name.removeprefix(f"{sweep}=") for system in varied]
    texts = [
        [f"{run}: {mean:.4f}" for run, mean in zip(each.runs, each.instance_means, strict=True)]
        for each in varied
    ]
    draw_boxes(ax, names, [system.instance_means for system in varied], texts)
    single = [system for system in systems.values() if len(system.runs) == 1]
    for colour, system in zip(np.resize(COLOURS[1:], len(single)), single, strict=True):
        ax.axhline(system.mean, color=str(colour), linewidth=1.0, label=system.name)
    if single:
        legend(ax)
    label(ax, x=sweep or "system", y=f"mean {_comparisons(result)[0].measure} of an instance")


def draw_boxes(
    ax: Axes, names: Sequence[str], means: Sequence[np.ndarray], texts: Sequence[Sequence[str]]
) -> None:
    """Means of instances as boxes and points, one box per system; single runs are lines."""
    for place, values in enumerate(means):
        ax.boxplot(
            [values],
            positions=[place],
            widths=0.5,
            showfliers=False,
            medianprops={"color": COLOURS[0]},
            boxprops={"color": QUIET},
            whiskerprops={"color": QUIET},
            capprops={"color": QUIET},
        )
        # Side by side rather than at random: the same figure each time.
        across = place + 0.3 * (np.argsort(np.argsort(values)) / max(len(values) - 1, 1) - 0.5)
        (dots,) = ax.plot(across, values, "o", color=COLOURS[0], markersize=2.5, alpha=0.6)
        tell(dots, texts[place])
    tilt = 0 if len(names) <= LEVEL_NAMES else 60
    ax.set_xticks(
        range(len(names)), labels=list(map(shown, names)), parse_math=False, rotation=tilt
    )
    ax.set_xlim(-0.5, max(len(names), 1) - 0.5)


def draw_topic_spread(result: Result, ax: Axes, *, system: str | None = None) -> None:
    """One system's scores on each topic, topics by their median: quartiles thick, range thin."""
    systems = _systems(result)
    if system is None:
        system = max(systems, key=lambda name: len(systems[name].runs))
    if system not in systems:
        raise unknown_name("system", system, systems)
    scores = systems[system].scores
    known = np.flatnonzero(~np.isnan(scores).all(axis=0))
    spread = np.nanquantile(scores[:, known], QUARTERS, axis=0)
    pair = next(
        each.pair for each in _comparisons(result) if system in (each.pair.a.name, each.pair.b.name)
    )
    topics = pair.topics
    draw_spread(ax, spread, [topics[t] for t in known])
    label(ax, x=f"topics by the median of {system}")
    label(ax, y=f"{_comparisons(result)[0].measure} of {len(scores)} instances")


def draw_spread(ax: Axes, spread: np.ndarray, topics: Sequence[str]) -> None:
    """Range, quartiles and medians [5, topic], the highest median first."""
    low, first, median, third, high = spread
    order = np.argsort(-median, kind="stable")
    place = np.arange(len(order))
    ax.vlines(place, low[order], high[order], color=QUIET, linewidth=0.8)
    ax.vlines(place, first[order], third[order], color=COLOURS[0], linewidth=2.5)
    (dots,) = ax.plot(place, median[order], "o", color=COLOURS[-1], markersize=2.5)
    tell(
        dots,
        [
            f"topic {topics[t]}: median {median[t]:.4f}, from {low[t]:.4f} to {high[t]:.4f}"
            for t in order
        ],
    )


def _comparisons(result: Result) -> tuple[InstancesResult, ...]:
    """Those of a table, or the one that the result is."""
    several: tuple[InstancesResult, ...] | None = getattr(result, "comparisons", None)
    return several or (cast("InstancesResult", result),)


def _sweep(result: Result) -> str:
    """The column that a sweep went over, or nothing."""
    return getattr(result, "sweep", None) or ""


def _systems(result: Result) -> dict[str, System]:
    """All systems of a result, by name, in their order."""
    pairs = [found.pair for found in _comparisons(result)]
    return {system.name: system for pair in pairs for system in (pair.a, pair.b)}


def _margin_size(result: Result) -> tuple[float, float]:
    if _sweep(result):
        return 6.4, 4.0
    return 6.4, rows_height(len(_comparisons(result)), least=1.3, each=0.3)


def boxes_size(n: int) -> tuple[float, float]:
    """Inches for so many boxes."""
    return max(4.0, min(1.6 + 0.8 * n, 16.0)), 4.0


def topics_size(n: int) -> tuple[float, float]:
    """Inches for so many topics."""
    return max(6.4, min(0.08 * n, 16.0)), 4.0


INSTANCE_DRAWINGS: dict[str, Drawing] = {
    "margin": (draw_margin, _margin_size),
    "means": (draw_means, lambda result: boxes_size(len(_systems(result)))),
    "topics": (
        draw_topic_spread,
        lambda result: topics_size(max(found.n_topics for found in _comparisons(result))),
    ),
}
"""Kind to how it is drawn and the inches that it needs, the default first."""

PLOTS = {
    name: {kind: Plot(*drawing) for kind, drawing in kinds.items()}
    for name, kinds in {
        "InstancesResult": INSTANCE_DRAWINGS,
        "InstancesTable": INSTANCE_DRAWINGS,
    }.items()
}
"""Class of a result to its kinds of plot, the default first."""

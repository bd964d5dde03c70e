"""What `instances` found, drawn: intervals with the margin, instances' means, topics' spread.

After Figures 6, 8, 12 and 13 of Jayasinghe et al. 2015 (doi:10.1016/j.ipm.2015.06.005), on any
data. `steadyrank.render.plots` lists the drawings.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from steadyrank.errors import unknown_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.instance_results import InstancesResult, InstancesTable
    from steadyrank.studies.instance_systems import System

    Result = InstancesResult | InstancesTable

LEVEL_NAMES = 6
"""Names of systems that stand level along an axis; more are tilted."""


def draw_margin(result: Result, ax: Axes) -> None:
    """Each difference with its shortest posterior interval, or t interval, and 0 and -delta.

    Settings of a sweep stand along the horizontal axis, smallest first; other pairs below each
    other.
    """
    from steadyrank.render.plots import COLOURS, MOST_NAMES, QUIET, _name

    found = _comparisons(result)
    centre = np.array([each.difference for each in found])
    ends = np.array([each.interval if each.hpd is None else each.hpd for each in found])
    place = np.arange(len(found))
    looks: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 4,
                             "elinewidth": 2.0, "capsize": 3, "color": COLOURS[0]}  # fmt: skip
    arms = np.abs(ends - centre[:, None]).T
    kind = "t interval" if found[0].hpd is None else "posterior interval"
    what = f"{found[0].measure}, difference with {1 - found[0].alpha:.0%} {kind}"
    delta = found[0].equivalence.delta
    sweep = _sweep(result)
    if sweep:
        ax.errorbar(place, centre, yerr=arms, **looks)
        ax.axhline(0.0, color=QUIET, linewidth=0.8)
        ax.axhline(
            -delta, color=COLOURS[1], linewidth=0.8, linestyle="--", label=f"margin −{delta:g}"
        )
        ax.set_xticks(place, labels=[_name(each.a.removeprefix(f"{sweep}=")) for each in found])
        ax.set_xlabel(_name(sweep), parse_math=False)
        ax.set_ylabel(f"{what}\nto {_name(found[0].b)}", parse_math=False)
    else:
        ax.errorbar(centre, place, xerr=arms, **looks)
        ax.axvline(0.0, color=QUIET, linewidth=0.8)
        ax.axvline(
            -delta, color=COLOURS[1], linewidth=0.8, linestyle="--", label=f"margin −{delta:g}"
        )
        named = place[:: math.ceil(len(found) / MOST_NAMES)]
        labels = [_name(f"{found[i].a} − {found[i].b}") for i in named]
        ax.set_yticks(named, labels=labels, parse_math=False)
        ax.set_ylim(len(found) - 0.5, -0.5)
        ax.set_xlabel(what)
    ax.legend(frameon=False)


def draw_means(result: Result, ax: Axes) -> None:
    """Means of the instances of each system or setting as boxes and points; single runs as lines.

    The spread of a box is what a comparison of one instance would leave to chance.
    """
    from steadyrank.render.plots import COLOURS, QUIET, _name

    systems = _systems(result)
    varied = [system for system in systems.values() if len(system.runs) > 1]
    for place, system in enumerate(varied):
        means = system.instance_means
        ax.boxplot(
            [means], positions=[place], widths=0.5, showfliers=False,
            medianprops={"color": COLOURS[0]}, boxprops={"color": QUIET},
            whiskerprops={"color": QUIET}, capprops={"color": QUIET},
        )  # fmt: skip
        # Side by side rather than at random: the same figure each time.
        across = place + 0.3 * (np.argsort(np.argsort(means)) / max(len(means) - 1, 1) - 0.5)
        ax.plot(across, means, "o", color=COLOURS[0], markersize=2.5, alpha=0.6)
    single = [system for system in systems.values() if len(system.runs) == 1]
    for colour, system in zip(np.resize(COLOURS[1:], len(single)), single, strict=True):
        ax.axhline(system.mean, color=str(colour), linewidth=1.0, label=_name(system.name))
    if single:
        ax.legend(frameon=False)
    sweep = _sweep(result)
    names = [_name(system.name.removeprefix(f"{sweep}=")) for system in varied]
    tilt = 0 if len(names) <= LEVEL_NAMES else 60
    ax.set_xticks(range(len(varied)), labels=names, parse_math=False, rotation=tilt)
    ax.set_xlim(-0.5, max(len(varied), 1) - 0.5)
    if sweep:
        ax.set_xlabel(_name(sweep), parse_math=False)
    ax.set_ylabel(f"mean {_comparisons(result)[0].measure} of an instance")


def draw_topic_spread(result: Result, ax: Axes, *, system: str | None = None) -> None:
    """One system's scores on each topic, topics by their median: quartiles thick, range thin."""
    from steadyrank.render.plots import COLOURS, QUIET, _name

    systems = _systems(result)
    if system is None:
        system = max(systems, key=lambda name: len(systems[name].runs))
    if system not in systems:
        raise unknown_name("system", system, systems)
    scores = systems[system].scores
    known = ~np.isnan(scores).all(axis=0)
    low, first, median, third, high = np.nanquantile(
        scores[:, known], [0.0, 0.25, 0.5, 0.75, 1.0], axis=0
    )
    order = np.argsort(-median, kind="stable")
    place = np.arange(len(order))
    ax.vlines(place, low[order], high[order], color=QUIET, linewidth=0.8)
    ax.vlines(place, first[order], third[order], color=COLOURS[0], linewidth=2.5)
    ax.plot(place, median[order], "o", color=COLOURS[-1], markersize=2.5)
    ax.set_xlabel(f"topics by the median of {_name(system)}", parse_math=False)
    ax.set_ylabel(f"{_comparisons(result)[0].measure} of {len(scores)} instances")


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
    from steadyrank.render.plots import MOST_NAMES

    return 6.4, 1.3 + 0.3 * min(len(_comparisons(result)), MOST_NAMES)


def _means_size(result: Result) -> tuple[float, float]:
    return max(4.0, min(1.6 + 0.8 * len(_systems(result)), 16.0)), 4.0


def _spread_size(result: Result) -> tuple[float, float]:
    n_topics = max(found.n_topics for found in _comparisons(result))
    return max(6.4, min(0.08 * n_topics, 16.0)), 4.0


INSTANCE_DRAWINGS: dict[str, tuple[Callable[..., None], Callable[[Any], tuple[float, float]]]] = {
    "margin": (draw_margin, _margin_size),
    "means": (draw_means, _means_size),
    "topics": (draw_topic_spread, _spread_size),
}
"""Kind to how it is drawn and the inches that it needs, the default first."""

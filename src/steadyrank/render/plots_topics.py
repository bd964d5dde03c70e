"""What `topics` found, drawn: error rates against the number of topics, by the difference.

Points are rates of disjoint sets of topics, lines the curve through them and the theory. The
figures of Voorhees & Buckley (SIGIR 2002). `steadyrank.render.plots` lists the drawings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from steadyrank.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.topic_levels import TopicLevel
    from steadyrank.studies.topics import TopicsResult

SHOWN = (1, 2, 4, 8)
"""Levels that are drawn unless others are named: of differences of .01, .02, .04 and .08."""


def draw_error_rates(
    result: TopicsResult, ax: Axes, *, levels: Sequence[float] | None = None
) -> None:
    """Empirical rates ± Monte Carlo errors, their fit, and both theories; a colour a level.

    `levels` are differences, such as .02 for the level from .02 to .03.
    """
    from matplotlib.lines import Line2D

    from steadyrank.render.plots import COLOURS, MARKERS, QUIET

    chosen = _chosen(result) if levels is None else [_level_of(result, low) for low in levels]
    handles: list[Any] = []
    for place, level in enumerate(chosen):
        look: dict[str, Any] = {"color": COLOURS[place % len(COLOURS)]}
        marker = MARKERS[place % len(MARKERS)]
        _draw_level(result, level, ax, look, marker)
        handles.append(Line2D([], [], marker=marker, markersize=4, label=_name(level), **look))
    kinds: Any = (("fit", "-"), ("eq. 8, paired", "--"), ("predictive", ":"))
    handles += [Line2D([], [], color=QUIET, linestyle=style, label=name) for name, style in kinds]
    ax.set_ylim(0, 0.52)
    ax.set_xlim(left=0)
    ax.set_xlabel("topics in each of two sets")
    ax.set_ylabel(f"reversals by mean {result.measure}", parse_math=False)
    ax.legend(handles=handles, frameon=False, fontsize="small")


def _draw_level(
    result: TopicsResult, level: TopicLevel, ax: Axes, look: dict[str, Any], marker: str
) -> None:
    sizes = np.array(result.sizes)
    error = np.nan_to_num(level.empirical_error)
    below = np.minimum(error, np.nan_to_num(level.empirical))
    ax.errorbar(sizes, level.empirical, yerr=np.stack([below, error]), linestyle="none",
                marker=marker, markersize=4, elinewidth=1.0, capsize=2, **look)  # fmt: skip
    if level.fit is not None:
        span = np.linspace(sizes[0], max(sizes[-1], result.n_complete), 200)
        ax.plot(span, level.fit.b1 * np.exp(-level.fit.b2 * span), linewidth=1.2, **look)
        ahead = [size for size in result.further_sizes if size <= span[-1]]
        low, high = level.fit.band[: len(ahead)].T
        ax.vlines(ahead, low, high, linewidth=4, alpha=0.3, **look)
    ax.plot(sizes, level.error_rate, linewidth=1.0, linestyle="--", **look)
    ax.plot(sizes, level.predictive, linewidth=1.0, linestyle=":", **look)


def _chosen(result: TopicsResult) -> list[TopicLevel]:
    """The usual levels, or the first that have anything to show."""
    usual = [result.levels[place] for place in SHOWN]
    full = [level for level in result.levels if level.count.any() or level.pairs]
    return [level for level in usual if level in full] or full[: len(SHOWN)]


def _level_of(result: TopicsResult, difference: float) -> TopicLevel:
    for level in result.levels:
        if level.low <= difference + 1e-9 < level.high:
            return level
    raise InputError(f"a level is named by a difference from 0 on, got {difference!r}")


def _name(level: TopicLevel) -> str:
    if np.isinf(level.high):
        return f"{level.low:.2f} and above"
    return f"{level.low:.2f}–{level.high:.2f}"


TOPIC_DRAWINGS: dict[str, tuple[Callable[..., None], Callable[[Any], tuple[float, float]]]] = {
    "error_rate": (draw_error_rates, lambda result: (6.4, 4.4)),
}
"""Kind of plot to what draws it and the inches that it needs, the default first."""

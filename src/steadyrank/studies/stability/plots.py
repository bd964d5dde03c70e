"""Figures of `stability`: E rho² and Phi by topics and instances, and shares of a difference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steadyrank.present.figures import Plot
from steadyrank.present.plot_style import (
    COLOURS,
    QUIET,
    fixed,
    height_of_rows,
    label,
    legend,
    legend_above,
    look,
    panels,
)
from steadyrank.words import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steadyrank.studies.stability.facets import FacetsResult
    from steadyrank.studies.stability.study import StabilityResult

N_POINTS = 40

MOST_TOPICS = 1000
"""Curves end here if a level requires more topics."""


def draw_stability(result: StabilityResult, ax: Axes) -> None:
    """Draw E rho² and Phi by the number of topics in two panels."""
    for panel, kind in zip(panels(ax, 2, across=2), ("e_rho2", "phi"), strict=True):
        _draw_coefficient(result, panel, kind)


def _draw_coefficient(result: StabilityResult, ax: Axes, kind: str) -> None:
    """Draw E rho² or Phi by the number of topics, a line for each number of instances."""
    g, sizes = result.components, _topics_shown(result)
    smooth = np.linspace(1, sizes[-1], 200)
    # The legend has the order of the lines: more instances are higher.
    numbers: list[Any] = sorted(result.instances) or [None]
    for place, k in enumerate(numbers):
        with_instances = () if k is None else (k,)
        values = [getattr(g, kind)(n, *with_instances) for n in smooth]
        style = {"color": look(place)["color"]}
        words = "" if k is None else counted(k, "instance", form=".3g")
        ax.plot(smooth, values, linewidth=1.4, label=words, **style)
        if k is None or k == result.instances[0]:
            curve = result.d_study(sizes.tolist(), with_instances)
            low, high = zip(*(getattr(own, f"{kind}_interval") for own in curve), strict=True)
            ax.fill_between(sizes, low, high, alpha=0.18, linewidth=0, **style)
            own = getattr(result.coefficients[0], kind)
            ax.plot(g.n_topics, own, markersize=5, **look(place))
    for level in dict.fromkeys(needed.level for needed in result.topics_needed):
        ax.axhline(level, color=QUIET, linestyle="--", linewidth=0.8)
    ax.set_xlim(0, sizes[-1])
    ax.set_ylim(0, 1.0)
    name = "E rho²" if kind == "e_rho2" else "Phi"
    label(ax, x="number of topics", y=f"{name} of {result.measure}")
    if numbers != [None]:
        legend(ax, loc="best")


def _topics_shown(result: StabilityResult) -> np.ndarray:
    """Return numbers of topics up to twice the collection's and to requested or required ones."""
    asked = [own.topics for own in result.coefficients]
    levels = {needed.level for needed in result.topics_needed}
    own = result.topics_needed[: len(levels)]
    needed = [n for level in own for n in (level.e_rho2, level.phi) if n <= MOST_TOPICS]
    last = max([2 * result.components.n_topics, *asked, *needed])
    return np.union1d(np.round(np.geomspace(1, last, N_POINTS)).astype(int), asked)


def draw_shares(result: FacetsResult, ax: Axes) -> None:
    """Draw the shares of the variance of a difference, stacked in a bar."""
    left = 0.0
    for place, part in enumerate(SHARES):
        share = float(np.nan_to_num(result.difference_shares[part]))
        if share > 0.0:
            bar: dict[str, Any] = {"color": COLOURS[place], "height": 0.6}
            ax.barh([result.measure], share, left=left, label=part, **bar)
        if share >= 0.06:
            words: dict[str, Any] = {"ha": "center", "va": "center", "color": "white"}
            ax.text(left + share / 2.0, 0, f"{share:.0%}", **words)
        left += share
    ax.set_xlim(0, 1)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    label(ax, x="share of the variance of a difference of two systems")
    if ax.containers:  # one judge may have no known share
        legend_above(ax, ncols=len(SHARES))


SHARES = ("topics", "judges", "answers", "rest")


def _shares_words(result: FacetsResult) -> str:
    known = {name: own for name, own in result.difference_shares.items() if not np.isnan(own)}
    said = ", ".join(f"{name} {own:.0%}" for name, own in known.items() if name != "rest")
    return f"Shares of the variance of a difference in {result.measure}: {said}."


PLOTS = {
    "StabilityResult": {
        "coefficients": Plot(
            draw_stability,
            fixed(8.4, 3.8),
            "Stability of {measure} against the number of topics with an interval: with "
            "{coefficients[0].topics} topics E rho² is {coefficients[0].e_rho2:.2f} and Phi "
            "{coefficients[0].phi:.2f}.",
            height_of_rows(fixed(8.4, 3.8)),
        )
    },
    "FacetsResult": {"shares": Plot(draw_shares, fixed(6.4, 1.9), _shares_words)},
}

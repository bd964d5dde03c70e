"""Variance components for `stability`: of all systems, and without each of them.

Runs of one system (`run_info["system"]`) are instances nested in it. E rho² grows with the spread
of the systems' means, so that a single broken run can make a collection look stable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steadyrank.data.scores import Scores
from steadyrank.errors import InputError
from steadyrank.stats.anova.gstudy import GStudy, nested_components, variance_components
from steadyrank.stats.inputs import complete_topics
from steadyrank.stats.instances.systems import systems_of

FEWEST, MOST = 3, 300
"""Fewest systems that remain if one is left out, and most of which each is left out."""

LARGE_CHANGE = 0.1
"""Change of E rho² by one system that is reported, as is one above half its interval's width."""


def systems_by_run(scores: Scores) -> list[str]:
    """Return the system of each run: the run itself if no system is known to have several."""
    systems = list(scores.runs)
    groups = systems_of(scores) if "system" in scores.run_info else {}
    if len(groups) == 1 < len(systems):
        raise InputError(
            f"all {len(systems)} runs are of one system, {next(iter(groups))}: stability compares "
            "systems; correct the column system, or omit it to treat every run as a system"
        )
    if len(groups) < len(systems):
        for name, places in groups.items():
            for place in places:
                systems[place] = name
    return systems


def study_components(matrix: np.ndarray, systems: Sequence[str]) -> GStudy:
    """Return the G-study of scores [run, topic], with instances if a system has several runs."""
    if len(set(systems)) == len(systems):
        return variance_components(matrix)
    return nested_components(matrix, systems)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveOneOut:
    """The coefficients for the collection's topics without each of the systems."""

    e_rho2: tuple[float, float]
    phi: tuple[float, float]
    system: str
    """System whose removal changes E rho² most."""
    e_rho2_without: float
    phi_without: float
    carried: bool
    """Whether this change is above 0.1, or above half the width of the interval of E rho²."""


def leave_one_out(
    matrix: np.ndarray, systems: Sequence[str], whole: GStudy, half_width: float
) -> LeaveOneOut | None:
    """Return the coefficients without each system; None for fewer than four systems or too many.

    `whole` are the components of all systems, `half_width` is that of the interval of their E rho².
    """
    names = list(dict.fromkeys(systems))
    if not FEWEST < len(names) <= MOST:
        return None
    complete, column = complete_topics(matrix)[0], np.asarray(systems)
    at, pairs = (whole.n_topics, whole.n_instances), np.full((len(names), 2), np.nan)
    for pair, name in zip(pairs, names, strict=True):
        g = study_components(complete[column != name], column[column != name].tolist())
        if g.design == whole.design:  # others have several runs, too
            pair[:] = g.e_rho2(*at), g.phi(*at)
    if np.isnan(pairs).all():
        return None
    change = np.abs(pairs[:, 0] - whole.e_rho2(*at))
    worst = int(np.nanargmax(change))
    lows, highs = np.nanmin(pairs, axis=0).tolist(), np.nanmax(pairs, axis=0).tolist()
    return LeaveOneOut(
        e_rho2=(lows[0], highs[0]),
        phi=(lows[1], highs[1]),
        system=names[worst],
        e_rho2_without=float(pairs[worst, 0]),
        phi_without=float(pairs[worst, 1]),
        carried=bool(change[worst] > min(LARGE_CHANGE, half_width)),
    )

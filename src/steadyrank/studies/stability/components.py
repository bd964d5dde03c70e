"""Variance components for `stability`: of all systems, without each of them, of the better half.

Runs of one system (`run_info["system"]`) are instances nested in it; a column that has the same
values for every system, such as an assessor, is a crossed facet. E rho² grows with the spread of
the systems' means, so that a single broken run can make a collection look stable that cannot order
its best systems.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steadyrank.data.scores import Scores, mean_of_present
from steadyrank.errors import InputError, unknown_name
from steadyrank.stats.anova.gstudy import (
    GStudy,
    components_without_each,
    crossed_components,
    nested_components,
    variance_components,
)
from steadyrank.stats.inputs import complete_topics
from steadyrank.stats.instances.systems import Groups, systems_of
from steadyrank.words import counted

COMPONENT_NAMES = ("system", "topic", "residual")
"""Names that a third facet cannot have."""


def study_components(scores: Scores, measure: str, facet: str) -> GStudy:
    """Return the G-study of systems, topics and the facet.

    `facet`: "auto", for instances nested in systems if a system has several runs; "none", to treat
    every run as a system; or a column of `run_info`.
    """
    matrix = scores.matrix(measure)
    if facet == "none" or (facet == "auto" and "system" not in scores.run_info):
        return variance_components(matrix)
    groups = systems_of(scores)
    if facet == "auto" and len(groups) == len(scores.runs):
        return variance_components(matrix)
    if len(groups) < 2:
        raise InputError(
            f"all {len(scores.runs)} runs are of one system, {next(iter(groups))}: stability "
            "compares systems; correct the column system, or treat every run as a system "
            "(facet none)"
        )
    if facet == "auto":
        return nested_components(matrix, _system_codes(groups))
    levels = _levels(scores, facet)
    _check_single_runs(groups, levels, facet)
    by_system = [{levels[place] for place in places} for places in groups.values()]
    if sum(map(len, by_system)) == len(set(levels)):  # no value occurs in two systems
        return nested_components(matrix, _system_codes(groups), facet=facet)
    places = _crossing(scores, groups, levels, facet)
    return crossed_components(matrix[places].transpose(0, 2, 1), facet=facet)


def _system_codes(groups: Groups) -> list[int]:
    codes = {place: code for code, places in enumerate(groups.values()) for place in places}
    return [codes[place] for place in range(len(codes))]


def _levels(scores: Scores, facet: str) -> Sequence[str]:
    if facet in COMPONENT_NAMES:
        raise InputError(
            f"facet {facet!r}: this is the name of another component; rename the column"
        )
    if facet not in scores.run_info:
        known = [name for name in scores.run_info if name not in COMPONENT_NAMES]
        raise unknown_name("facet", facet, ["auto", "none", *known])
    column = scores.run_info[facet]
    empty = [run for run, value in zip(scores.runs, column, strict=True) if not value]
    if empty:
        without = counted(len(empty), "run has", "runs have")
        raise InputError(f"facet {facet}: {without} no value of it, such as {empty[0]}")
    return column


def _check_single_runs(groups: Groups, levels: Sequence[str], facet: str) -> None:
    """Raise an error if several runs are the same instance of one system."""
    for system, places in groups.items():
        value, count = Counter(levels[place] for place in places).most_common(1)[0]
        if count > 1:
            raise InputError(
                f"facet {facet}: system {system} has {count} runs with {facet} {value}; omit "
                "all but one of them, or name a column that distinguishes them"
            )


def _crossing(scores: Scores, groups: Groups, levels: Sequence[str], facet: str) -> np.ndarray:
    """Return the run of each system at each value of the facet: [system, value]."""
    values = list(dict.fromkeys(levels))
    by_value = {value: code for code, value in enumerate(values)}
    table = np.full((len(groups), len(values)), -1)
    for row, places in enumerate(groups.values()):
        for place in places:
            table[row, by_value[levels[place]]] = place
    row, column = next(iter(np.argwhere(table < 0)), (-1, -1))
    if row >= 0:
        raise InputError(
            f"facet {facet}: system {list(groups)[row]} has no run with {facet} "
            f"{values[column]}, which another system has: omit incomplete systems or values, "
            f"or, if {facet} has another meaning in each system, treat runs as instances of their "
            "systems (facet auto)"
        )
    return table


LEADING = 20
"""Most systems of the leading group."""

FEWEST = 3
"""Fewest systems that remain: two have a single difference."""

LARGE_CHANGE = 0.1
"""Change of E rho² by one system that is reported, as is one above half its interval's width."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveOneOut:
    """The coefficients for the collection's topics without each of the systems."""

    e_rho2: tuple[float, float]
    """The smallest and the largest."""
    phi: tuple[float, float]
    system: str
    """System whose removal changes E rho² most."""
    e_rho2_without: float
    phi_without: float
    carried: bool
    """Whether this change is above 0.1, or above half the width of the interval of E rho²."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadingGroup:
    """The coefficients of the better half of the systems by mean score, at most 20."""

    systems: tuple[str, ...]
    """Best first."""
    e_rho2: float
    phi: float


def leave_one_out(
    scores: Scores, measure: str, facet: str, whole: GStudy, half_width: float
) -> LeaveOneOut | None:
    """Return the coefficients without each system; None for fewer than four systems.

    `whole` are the components of all systems, `half_width` is that of the interval of their E rho².
    """
    names, places = _systems(scores, whole)
    if len(names) <= FEWEST:
        return None
    if not whole.facet:
        left: list[GStudy | None] = list(components_without_each(scores.matrix(measure)))
    else:
        left = [
            _components(scores, measure, facet, [p for q in places if q is not own for p in q])
            for own in places
        ]
    pairs = np.array([_coefficients(g, whole) for g in left])
    if np.isnan(pairs).all(axis=0).any():
        return None
    change = np.abs(pairs[:, 0] - _coefficients(whole, whole)[0])
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


def leading_group(scores: Scores, measure: str, facet: str, whole: GStudy) -> LeadingGroup | None:
    """Return the coefficients of the better half; None if it has fewer than three systems."""
    names, places = _systems(scores, whole)
    size = min(LEADING, math.ceil(len(names) / 2))
    if size < FEWEST:
        return None
    matrix = scores.matrix(measure)
    means = [float(mean_of_present(matrix[own].ravel())) for own in places]
    order = sorted(range(len(names)), key=lambda system: -np.nan_to_num(means[system], nan=-np.inf))
    best = order[:size]
    rows = sorted(place for system in best for place in places[system])
    g = (
        _components(scores, measure, facet, rows)
        if whole.facet
        else variance_components(complete_topics(matrix)[0][rows])
    )
    e_rho2, phi = _coefficients(g, whole)
    if math.isnan(e_rho2):
        return None
    return LeadingGroup(systems=tuple(names[system] for system in best), e_rho2=e_rho2, phi=phi)


def _systems(scores: Scores, whole: GStudy) -> tuple[list[str], list[list[int]]]:
    if not whole.facet:
        return list(scores.runs), [[place] for place in range(len(scores.runs))]
    groups = systems_of(scores)
    return list(groups), [list(places) for places in groups.values()]


def _components(scores: Scores, measure: str, facet: str, places: Sequence[int]) -> GStudy | None:
    """Return the G-study of some runs; None if they do not have the facets."""
    try:
        return study_components(
            scores.select(runs=[scores.runs[place] for place in sorted(places)]), measure, facet
        )
    except InputError:
        return None


def _coefficients(g: GStudy | None, whole: GStudy) -> tuple[float, float]:
    """Return E rho² and Phi for the topics and instances of the whole; NaN without a G-study."""
    if g is None or bool(g.facet) != bool(whole.facet):
        return math.nan, math.nan
    at = (whole.n_topics, whole.n_instances)
    return g.e_rho2(*at), g.phi(*at)

"""Does one system carry the stability of a collection, and how stable is its leading group?

E rho² grows with the spread of the systems' means, so that a single broken run can make a
collection look stable that cannot order its best systems. For `stability`: the
coefficients without each system in turn, and those of the better half.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from steadyrank.data.scores import Scores, mean_of_present
from steadyrank.errors import InputError
from steadyrank.stats.instances.systems import systems_of
from steadyrank.stats.planning.variance import (
    VarianceComponents,
    components_without_each,
    variance_components,
)
from steadyrank.studies.stability.layouts import Components, study_components

LEADING = 20
"""Systems of the leading group at most."""

FEWEST = 3
"""Systems that are left at least: two have one difference, and say nothing about others."""

LARGE_CHANGE = 0.1
"""Of E rho², by one system: said in words, as is one above half the width of its interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveOneOut:
    """The coefficients of the collection's own topics, each system left out in turn."""

    e_rho2: tuple[float, float]
    """The smallest and the largest."""
    phi: tuple[float, float]
    system: str
    """Whose absence changes E rho² most."""
    e_rho2_without: float
    phi_without: float
    is_carried: bool
    """Whether that change is above 0.1, or above half the width of the interval of E rho²."""

    def row(self) -> dict[str, Any]:
        """The keys of the JSON output."""
        row = asdict(self)
        return row | {"carried": row.pop("is_carried")}


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadingGroup:
    """The same coefficients of the better half of the systems by mean score, at most 20."""

    systems: tuple[str, ...]
    """Best first."""
    e_rho2: float
    phi: float

    def row(self) -> dict[str, Any]:
        """The keys of the JSON output."""
        return asdict(self)


def leave_one_out(
    scores: Scores, measure: str, facet: str, whole: Components, half_width: float
) -> LeaveOneOut | None:
    """The coefficients without each system; None of fewer than four systems.

    `whole` are the components of all systems, `half_width` that of the interval of their E rho².
    """
    names, places = _systems(scores, whole)
    if len(names) <= FEWEST:
        return None
    if isinstance(whole, VarianceComponents):
        left: list[Components | None] = list(components_without_each(scores.matrix(measure)))
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
        is_carried=bool(change[worst] > min(LARGE_CHANGE, half_width)),
    )


def leading_group(
    scores: Scores, measure: str, facet: str, whole: Components
) -> LeadingGroup | None:
    """The coefficients of the better half; None where that is fewer than three systems."""
    names, places = _systems(scores, whole)
    size = min(LEADING, math.ceil(len(names) / 2))
    if size < FEWEST:
        return None
    matrix = scores.matrix(measure)
    means = [float(mean_of_present(matrix[own].ravel())) for own in places]
    order = sorted(range(len(names)), key=lambda system: -np.nan_to_num(means[system], nan=-np.inf))
    best = order[:size]
    rows = sorted(place for system in best for place in places[system])
    g: Components | None
    if isinstance(whole, VarianceComponents):
        g = variance_components(matrix[rows][:, ~np.isnan(matrix).any(axis=0)])
    else:
        g = _components(scores, measure, facet, rows)
    e_rho2, phi = _coefficients(g, whole)
    if math.isnan(e_rho2):
        return None
    return LeadingGroup(systems=tuple(names[system] for system in best), e_rho2=e_rho2, phi=phi)


def _systems(scores: Scores, whole: Components) -> tuple[list[str], list[list[int]]]:
    if isinstance(whole, VarianceComponents):
        return list(scores.runs), [[place] for place in range(len(scores.runs))]
    groups = systems_of(scores)
    return list(groups), [list(places) for places in groups.values()]


def _components(
    scores: Scores, measure: str, facet: str, places: Sequence[int]
) -> Components | None:
    """The G-study of some runs; None where they have none of the same facets."""
    try:
        return study_components(
            scores.select(runs=[scores.runs[place] for place in sorted(places)]), measure, facet
        )
    except InputError:
        return None


def _coefficients(g: Components | None, whole: Components) -> tuple[float, float]:
    """E rho² and Phi for the numbers of topics and instances of the whole; NaN of none."""
    if g is None or isinstance(g, VarianceComponents) != isinstance(whole, VarianceComponents):
        return math.nan, math.nan
    if isinstance(g, VarianceComponents):
        return g.e_rho2(whole.n_topics), g.phi(whole.n_topics)
    own = getattr(whole, "n_instances", 1)
    return g.e_rho2(whole.n_topics, own), g.phi(whole.n_topics, own)

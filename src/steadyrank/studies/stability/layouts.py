"""Which runs are systems and which their instances, for the G-study of `stability`.

Runs of one system (`run_info["system"]`) are its own instances, nested in it; a column that has
the same values for every system, such as an assessor, is a facet that all systems cross.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from steadyrank.data.scores import Scores
from steadyrank.errors import InputError, unknown_name
from steadyrank.stats.instances.systems import Groups, systems_of
from steadyrank.stats.planning.variance import VarianceComponents, variance_components
from steadyrank.stats.planning.variance_facets import (
    FacetComponents,
    crossed_components,
    nested_components,
)

COMPONENT_NAMES = ("system", "topic", "residual")
"""What no third facet can be called."""

Components = VarianceComponents | FacetComponents


def study_components(scores: Scores, measure: str, facet: str) -> Components:
    """The G-study that the runs' systems and the facet require.

    `facet`: "auto", instances nested in systems where a system has several runs, and else systems
    and topics alone; "none", every run a system; or a column of `run_info`.
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
            f"facet {facet!r}: that is the name of another component; rename the column"
        )
    if facet not in scores.run_info:
        known = [name for name in scores.run_info if name not in COMPONENT_NAMES]
        raise unknown_name("facet", facet, ["auto", "none", *known])
    column = scores.run_info[facet]
    empty = [run for run, value in zip(scores.runs, column, strict=True) if not value]
    if empty:
        raise InputError(f"facet {facet}: {empty[0]} has no value of it ({len(empty)} such runs)")
    return column


def _check_single_runs(groups: Groups, levels: Sequence[str], facet: str) -> None:
    """Refuse several runs that are the same instance of one system."""
    for system, places in groups.items():
        value, count = Counter(levels[place] for place in places).most_common(1)[0]
        if count > 1:
            raise InputError(
                f"facet {facet}: system {system} has {count} runs with {facet} {value}; omit "
                "all but one of them, or name a column that distinguishes them"
            )


def _crossing(scores: Scores, groups: Groups, levels: Sequence[str], facet: str) -> np.ndarray:
    """The run of each system at each value of the facet: [system, value]."""
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
            f"or, if the same {facet} means nothing in another system, treat its runs as its "
            "own instances (facet auto)"
        )
    return table

"""The topics that the variances of `pools` require, by the same rules as those of `plan`.

V_E for one-way ANOVA and for unpaired designs; for paired ones the paired variance of the runs that
are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from steadyrank.stats.interval import Interval
from steadyrank.stats.planning.demands import Demands
from steadyrank.stats.planning.variance import Pilot
from steadyrank.studies.pools.result import LeaveOut
from steadyrank.studies.pools.trials import mean_and_interval


def with_topics(cells: Sequence[LeaveOut], demands: Demands | None) -> list[LeaveOut]:
    """The cells with the topics that their variances require."""
    if demands is None:
        return list(cells)
    planned = [_planned(cell, demands.paired) for cell in cells]
    asked = [
        value
        for cell, (by_trial, mean, ends) in zip(cells, planned, strict=True)
        for value in (mean, cell.difference_mean / 2.0, *(ends or ()), *by_trial)
    ]
    topics = dict(zip(asked, topics_for_all(demands, asked), strict=True))
    with_needed = []
    for cell, (by_trial, mean, ends) in zip(cells, planned, strict=True):
        needed = tuple(topics.get(value) for value in by_trial)
        known = [size for size in needed if size is not None]
        with_needed.append(
            replace(
                cell,
                topics_needed=topics.get(mean),
                topics_extent=(min(known), max(known)) if len(known) > 1 else None,
                topics_interval=(topics[ends[0]], topics[ends[1]]) if ends else None,
                topics_each=needed,
                difference_topics=topics.get(cell.difference_mean / 2.0),
            )
        )
    return with_needed


def _planned(cell: LeaveOut, paired: bool) -> tuple[tuple[float, ...], float, Interval | None]:
    """What topics rest on: each trial's variance, their mean, and the ends of an interval.

    Of paired designs the paired variance, as in `plan`; twice V_E stands for it where one run is
    left, and no published interval belongs to it.
    """
    if not paired:
        return cell.variances, cell.mean, cell.interval
    both = zip(cell.paired_variances, cell.variances, strict=True)
    by_trial = tuple(own if own > 0.0 else score for own, score in both)
    return by_trial, mean_and_interval(by_trial)[0], None


def pilot_variances(pilot: Pilot, paired: bool) -> tuple[float, float, float]:
    """What topics rest on, as in `plan`, and both ends of its interval."""
    if paired and pilot.residual_variance > 0.0:
        return (pilot.residual_variance, *pilot.residual_interval)
    return (pilot.variance, *pilot.variance_interval)


def topics_for_all(demands: Demands | None, variances: Sequence[float]) -> list[int | None]:
    """The topics that each variance requires; None where it is not above 0, or without demands.

    Topics grow with the variance: what two variances agree on holds for all between them.
    """
    if demands is None:
        return [None] * len(variances)
    order = sorted({v for v in variances if v > 0.0})
    known: dict[float, int] = {}

    def fill(first: int, last: int) -> None:
        for place in (first, last):
            if order[place] not in known:
                known[order[place]] = demands.topics(order[place])
        if known[order[first]] == known[order[last]]:
            known.update(dict.fromkeys(order[first:last], known[order[first]]))
        elif last - first > 1:
            middle = (first + last) // 2
            fill(first, middle)
            fill(middle, last)

    if order:
        fill(0, len(order) - 1)
    return [known.get(v) for v in variances]

"""What a verdict about runs rests on, beside the topics: one entry per assumption.

Each looks at the results of all measures, the one that ranks the runs first, and answers with what
another assumption would change, or None where it does not apply.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from steadyrank.present.view import Assumption, Finding, weakest
from steadyrank.stats.facets.pairs import CARRY_LITTLE, FEWEST_JUDGES, MORE_JUDGES
from steadyrank.stats.run_means import SAME_MEAN
from steadyrank.studies.compare.result import CompareResult
from steadyrank.words import number_word, some

ANOTHER_LEADS, NOTHING_KNOWN, UNSEEN_SPREAD, LEAST = 1.5, 3.0, 1.2, 0.5
"""Weights: another row would lead; nothing is known about others; the leader's spread is not; what
hardly changes anything."""

LARGER_ERROR = 1.2
"""From so many times the error over topics on, judges are what intervals are wide by."""


def _judges(results: Sequence[CompareResult]) -> Assumption | None:
    """Few judges are no sample of judges; what a sample of them does to errors."""
    result = results[0]
    names, ratio, narrow = result.judges, result.judges_ratio, result.judges_narrow
    n = len(names)
    values: dict[str, Any] = {"judges": list(names), "fixed": result.judges_fixed, "ratio": ratio}
    weight = NOTHING_KNOWN
    if not n:
        return None
    if n == 1:
        text = f"Whether other judges agree with {names[0]} is unknown: {MORE_JUDGES}."
    elif result.judges_fixed:
        few = f": {FEWEST_JUDGES} or more count as a sample" if n < FEWEST_JUDGES else ""
        text = f"The verdict is about these {number_word(n)} judges, {some(names, 3)}{few}."
    else:
        text = f"The {n} judges are a sample"
        if n < CARRY_LITTLE:
            text = f"{number_word(n).capitalize()} judges, a sample, carry little"
        if not math.isnan(ratio):
            text += f": errors are {ratio:.1f} times those over topics"
        if ratio >= LARGER_ERROR:
            values |= {"n_judges": 2 * n, "narrower": 1.0 - narrow}
            text += f"; {2 * n} would narrow intervals by {1.0 - narrow:.0%}"
        text += "."
        weight = ratio if ratio >= LARGER_ERROR else LEAST
    return Assumption(Finding("compare.judges", text, values), weight)


def _one_measure(results: Sequence[CompareResult]) -> Assumption | None:
    """By another measure another row leads."""
    first, *others = results
    leader = first.runs[first.order[0]]
    for other in others:
        known = other.mean[other.runs.index(leader)] if leader in other.runs else -float("inf")
        best = other.order[0]
        if other.mean[best] - known > SAME_MEAN:
            name = other.runs[best]
            text = f"By mean {other.measure} {name} leads."
            values = {"measure": other.measure, "leader": name}
            return Assumption(Finding("compare.other_measure", text, values), ANOTHER_LEADS)
    return None


def _one_instance(results: Sequence[CompareResult]) -> Assumption | None:
    """The leader has one run, while others show how much runs of a system vary."""
    result = results[0]
    leader = result.order[0]
    if not result.n_instances or result.n_instances[leader] > 1 or max(result.n_instances) < 2:
        return None
    name = result.runs[leader]
    text = f"{name} has one run only: how much its runs vary is unknown."
    return Assumption(Finding("compare.one_instance", text, {"system": name}), UNSEEN_SPREAD)


ASSUMPTIONS: tuple[Callable[[Sequence[CompareResult]], Assumption | None], ...] = (
    _judges,
    _one_measure,
    _one_instance,
)


def assumption(results: Sequence[CompareResult]) -> Assumption | None:
    """The one that would change the verdict most; with a baseline, which has no leader, judges."""
    if results[0].baseline is not None:
        return _judges(results)
    return weakest(entry(results) for entry in ASSUMPTIONS)

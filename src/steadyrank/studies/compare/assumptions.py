"""What a verdict about runs rests on, beside the topics: one entry per assumption.

Each looks at the results of all measures, the one that ranks the runs first, and answers with what
another assumption would change, or None where it does not apply.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from steadyrank.present.view import Assumption, Finding, weakest
from steadyrank.stats.run_means import SAME_MEAN
from steadyrank.studies.compare.result import CompareResult
from steadyrank.words import listed, number_word

ANOTHER_LEADS, NOTHING_KNOWN, UNSEEN_SPREAD = 1.5, 3.0, 1.2
"""Weights: another row would lead; nothing is known about others; the leader's spread is not."""


def _few_judges(results: Sequence[CompareResult]) -> Assumption | None:
    """Two judges are no sample of judges."""
    result = results[0]
    if not result.judges_fixed:
        return None
    n = number_word(len(result.judges))
    text = f"The verdict is about these {n} judges: {listed(result.judges)}."
    values = {"judges": list(result.judges)}
    return Assumption(Finding("compare.these_judges", text, values), NOTHING_KNOWN)


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
    _few_judges,
    _one_measure,
    _one_instance,
)


def assumption(results: Sequence[CompareResult]) -> Assumption | None:
    """The one that would change the verdict most; none with a baseline, which has no leader."""
    if results[0].baseline is not None:
        return None
    return weakest(entry(results) for entry in ASSUMPTIONS)

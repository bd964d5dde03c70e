"""What a verdict about a leaderboard rests on: which datasets are resampled, and which aggregate.

Each entry answers with what another assumption would change, or None where it does not apply.
"""

from __future__ import annotations

from collections.abc import Callable

from steadyrank.present.view import Assumption, Finding, weakest
from steadyrank.studies.datasets.result import DatasetsResult
from steadyrank.words import counted

BY = {
    "mean": "mean score",
    "mean-of-types": "the mean over types",
    "borda": "average rank",
    "wins": "share of wins",
}
"""Aggregates, in short."""

ANOTHER_LEADS = 1.5
"""Weight of an assumption by which another run would lead."""


def _types(result: DatasetsResult) -> Assumption | None:
    """Whole types of datasets resampled: more runs could be first."""
    n, total = result.first_by_types, len(result.runs)
    if n is None or n == len(result.first_names()):
        return None
    kinds = counted(len(set(result.types)), "type")
    which = f"any of the {total:,} runs" if n == total else f"{counted(n, 'run', form=',')}"
    text = f"If the {kinds} of datasets were resampled, {which} could be first."
    finding = Finding("datasets.by_types", text, {"could_be_first": n, "n_rows": total})
    return Assumption(finding, abs(n - len(result.first_names())) / total)


def _aggregate(result: DatasetsResult) -> Assumption | None:
    """Another aggregate puts another run first."""
    leader = result.runs[result.order[0]]
    for aggregate, name in result.leaders.items():
        if name != leader:
            text = f"By {BY[aggregate]} {name} leads."
            values = {"aggregate": aggregate, "leader": name}
            return Assumption(Finding("datasets.aggregate", text, values), ANOTHER_LEADS)
    return None


ASSUMPTIONS: tuple[Callable[[DatasetsResult], Assumption | None], ...] = (_aggregate, _types)


def assumption(result: DatasetsResult) -> Assumption | None:
    """The one that would change the verdict most."""
    return weakest(entry(result) for entry in ASSUMPTIONS)


def assumptions(result: DatasetsResult) -> list[Finding]:
    """All that apply, the weightiest first."""
    known = [one for entry in ASSUMPTIONS if (one := entry(result)) is not None]
    return [one.finding for one in sorted(known, key=lambda one: -one.weight)]

"""The studies that a report runs, and their numbers of samples.

Each study has a fast and a full number. The choice does not depend on measured times, so that the
same data and the same budget give the same page everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from steadyrank.errors import bad_value
from steadyrank.studies.material import MOST_COMPARED
from steadyrank.studies.registry import Study, studies_by_turn

Budget = str | float

DEFAULT_BUDGET = "2m"

FAST_BELOW = 60.0
"""Budget in seconds below which studies draw their fast number of samples."""

LARGE = 30_000
"""Runs times topics, or runs squared, above which they do so whatever the budget."""

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportPlan:
    """The plan of a report."""

    budget: float
    """Seconds."""
    given: bool
    """Whether the number of samples was given."""
    n_samples: Mapping[str, int]
    """Study to its number of samples, 0 if it draws none, in the order in which they run."""

    def drawn(self, study: Study) -> str:
        """Return the number of samples of a study as text; nothing if it draws none."""
        n, kind = self.n_samples.get(study.name), study.part.samples
        return f"{n:,} {kind.noun}" if n and kind else ""

    def lines(self) -> list[str]:
        """Return the studies that run and those that are omitted, as lines for a terminal."""
        named = [s for s in studies_by_turn() if s.is_command and not s.part.is_read]
        run = [
            f"{study.name} ({drawn})" if (drawn := self.drawn(study)) else study.name
            for study in named
            if study.name in self.n_samples
        ]
        left_out = [study.name for study in named if study.name not in self.n_samples]
        budget = f"for a budget of {self.budget:g} s"
        why = "with the given number of samples" if self.given else budget
        lines = [f"studies ({why}): {', '.join(run)}"]
        return lines + ([f"omitted (the page says why): {', '.join(left_out)}"] if left_out else [])


def parse_budget(budget: Budget) -> float:
    """Return a budget in seconds; it is a number, or a number with s, m or h.

    >>> parse_budget("90s"), parse_budget("2m"), parse_budget("0.5h"), parse_budget(45)
    (90.0, 120.0, 1800.0, 45.0)
    """
    match = re.fullmatch(r"[ \t]*([0-9]+(?:\.[0-9]+)?|\.[0-9]+)[ \t]*([smh]?)[ \t]*", str(budget))
    if match is None or isinstance(budget, bool) or not float(match[1]) > 0.0:
        raise bad_value("budget", "be a time such as 45s, 2m or 1h", budget)
    return float(match[1]) * _UNITS[match[2]]


def make_plan(
    n_runs: int,
    n_topics: int,
    *,
    budget: float,
    why_not: Mapping[str, str],
    n_samples: int | None = None,
) -> ReportPlan:
    """Choose the fast or the full number of samples of every study that the data support.

    `why_not` has the studies that the data do not support. `n_samples` replaces the number of each
    study, up to twice the full number.
    """
    compared = min(n_runs, MOST_COMPARED)
    is_fast = budget < FAST_BELOW or compared * max(compared, n_topics) > LARGE

    planned = {}
    for study in studies_by_turn():
        if study.name not in why_not:
            kind = study.part.samples
            number = 0 if kind is None else kind.fast if is_fast else kind.full
            if kind is not None and n_samples is not None:
                number = min(n_samples, 2 * kind.full)
            planned[study.name] = number
    return ReportPlan(budget=budget, given=n_samples is not None, n_samples=planned)

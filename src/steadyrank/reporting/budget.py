"""Which studies a report runs, and with how many samples, within a budget of time.

The numbers of samples come from a model of costs: how many runs, topics, documents and measures
there are, times constants that were measured once. A stopwatch would give other numbers on
another day, and with them another page; so the same data and the same budget give the same
numbers everywhere, and a slow machine takes longer than the budget says.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from steadyrank.errors import InputError
from steadyrank.studies.part import Cost, Shape
from steadyrank.studies.registry import studies_by_turn

Budget = str | float

DEFAULT_BUDGET = "2m"

SAFETY = 0.5
"""Share of the budget that the model may spend: the rest is for slower machines."""

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPlan:
    """What is planned for one study."""

    seconds: float = 0.0
    """By the model, on one processor."""
    n_samples: int | None = None
    noun: str = ""
    """What the samples are."""
    why_not: str = ""

    @property
    def drawn(self) -> str:
        """The samples in words; nothing where there are none."""
        return f"{self.n_samples:,} {self.noun}" if self.n_samples else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportPlan:
    """What is planned for all studies, in the order in which they run."""

    budget: float
    given: bool
    """Whether the number of samples was given, whatever the budget."""
    studies: Mapping[str, StudyPlan]

    def runs(self, study: str) -> bool:
        """Whether a study is to run."""
        return study in self.studies and not self.studies[study].why_not

    def samples(self, study: str) -> int:
        """The samples of a study that draws some."""
        return self.studies[study].n_samples or 0

    def lines(self) -> list[str]:
        """What somebody who waits wants to know."""
        named = {s.name for s in studies_by_turn() if s.is_command and not s.part.is_read}
        studies = {name: plan for name, plan in self.studies.items() if name in named}
        run = [
            f"{name} ({plan.drawn})" if plan.drawn else name
            for name, plan in studies.items()
            if not plan.why_not
        ]
        left_out = [name for name, plan in studies.items() if plan.why_not]
        why = (
            "with the given number of samples"
            if self.given
            else f"for a budget of {duration(self.budget)}"
        )
        lines = [f"studies ({why}): {', '.join(run)}"]
        return lines + ([f"omitted (the page says why): {', '.join(left_out)}"] if left_out else [])


def parse_budget(budget: Budget) -> float:
    """Seconds of a budget: a number, or a number with s, m or h.

    >>> parse_budget("90s"), parse_budget("2m"), parse_budget("0.5h"), parse_budget(45)
    (90.0, 120.0, 1800.0, 45.0)
    """
    match = re.fullmatch(r"[ \t]*([0-9]+(?:\.[0-9]+)?|\.[0-9]+)[ \t]*([smh]?)[ \t]*", str(budget))
    if match is None or isinstance(budget, bool) or not float(match[1]) > 0.0:
        raise InputError(
            f"budget {budget!r}: give seconds, or a number followed by s, m or h, such as 90s, "
            "2m or 1h"
        )
    return float(match[1]) * _UNITS[match[2]]


def duration(seconds: float) -> str:
    """A time in words.

    >>> duration(45), duration(120), duration(5400), duration(0.5)
    ('45 s', '2 min', '1.5 h', '0.5 s')
    """
    for size, unit in ((3600.0, "h"), (60.0, "min")):
        if seconds >= size and round(10 * seconds / size) * size == round(10 * seconds):
            return f"{seconds / size:g} {unit}"
    return f"{seconds:g} s"


def step_down(number: float) -> int:
    """The largest of 1, 2, 5, 10, 20, 50, … that is not above; 0 below 1.

    >>> [step_down(number) for number in (0.5, 1, 4.9, 37, 1e4, 99_999)]
    [0, 1, 2, 20, 10000, 50000]
    """
    if number < 1.0:
        return 0
    power = 10 ** math.floor(math.log10(number) + 1e-12)
    return int(next(step for step in (5, 2, 1) if step * power <= number * (1 + 1e-12)) * power)


def costs(shape: Shape) -> dict[str, Cost]:
    """Seconds of one processor for every study that runs, in the order of their importance."""
    return {study.name: study.part.cost(shape) for study in studies_by_turn()}


def make_plan(
    shape: Shape, *, budget: float, why_not: Mapping[str, str], n_samples: int | None = None
) -> ReportPlan:
    """Give every study that the data support its samples, the largest number that the budget pays.

    `why_not` says of studies why the data do not support them. With `n_samples` each study has so
    many, or the most that make sense. Otherwise each has the least at first; those that do not
    fit are left out, from the last on; then a tenth of what is left goes to each, and the rest
    to the study that has use for it.
    """
    model = costs(shape)
    planned = {name: StudyPlan(why_not=why_not.get(name, "")) for name in model}
    open_studies = [name for name in model if not planned[name].why_not]
    if n_samples is not None:
        for name in open_studies:
            planned[name] = _planned(model[name], min(n_samples, model[name].most))
        return ReportPlan(budget=budget, given=True, studies=planned)
    spent = 0.0
    for name in open_studies:
        least = _planned(model[name], model[name].least)
        if not model[name].is_free and spent + least.seconds > budget:
            enough = step_up((spent + least.seconds) / SAFETY)
            planned[name] = StudyPlan(
                why_not=f"is estimated to take longer than the budget of {duration(budget)}: "
                f"give more time, such as --budget {enough}"
            )
        else:
            planned[name] = least
            spent += least.seconds
    # Evaluating and checking the runs, figures and tables take their time, too.
    left = SAFETY * budget - (10.0 + 1.4e-6 * shape.n_documents) - spent
    share = max(0.0, 0.1 * left)
    for name in sorted(open_studies, key=lambda study: model[study].takes_rest):
        if planned[name].n_samples:
            room = left if model[name].takes_rest else share
            more = _planned(model[name], _affordable(model[name], planned[name], room))
            left -= more.seconds - planned[name].seconds
            planned[name] = more
    return ReportPlan(budget=budget, given=False, studies=planned)


def _planned(cost: Cost, n_samples: int) -> StudyPlan:
    if not cost.least:
        return StudyPlan(seconds=cost.fixed)
    return StudyPlan(seconds=cost.seconds(n_samples), n_samples=n_samples, noun=cost.noun)


def _affordable(cost: Cost, planned: StudyPlan, room: float) -> int:
    """Samples that the time planned and some more room pay, in steps of 1, 2 and 5."""
    paid = (planned.n_samples or 0) + max(0.0, room) / cost.per_sample
    return max(cost.least, min(cost.most, step_down(paid)))


def step_up(seconds: float) -> str:
    """A round budget that is not below some seconds, as the option takes it.

    >>> step_up(10), step_up(100), step_up(4000)
    ('1m', '2m', '2h')
    """
    for budget in ("1m", "2m", "5m", "10m", "30m", "1h", "2h", "5h", "10h"):
        if parse_budget(budget) >= seconds:
            return budget
    return f"{math.ceil(seconds / 3600)}h"

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
from steadyrank.studies.agree.samples import DRAWS, RESAMPLES
from steadyrank.studies.pools.study import MOST_TEAMS
from steadyrank.studies.topics.study import default_sizes

Budget = str | float

DEFAULT_BUDGET = "2m"

SAFETY = 0.5
"""Share of the budget that the model may spend: the rest is for slower machines."""

MOST_COMPARED = 300
"""Runs that are compared pair by pair; of more, the best."""

MOST_ERRORS = 500_000_000
"""Standard errors of pairs that a simulation may keep at a time: two gigabytes."""

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How large the data are: all that costs depend on."""

    n_runs: int
    n_topics: int
    n_measures: int
    n_documents: int = 0
    """Of all runs together; 0 where there are scores alone."""
    n_teams: int = 0
    n_pairs_of_systems: int = 0
    """Comparisons of systems whose runs are instances."""

    @property
    def n_compared(self) -> int:
        """Runs that are compared pair by pair."""
        return min(self.n_runs, MOST_COMPARED)

    @property
    def n_pairs(self) -> int:
        """Pairs of runs that are compared."""
        return math.comb(self.n_compared, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Seconds of one processor: once, and for each sample."""

    fixed: float
    each: float = 0.0
    least: int = 0
    """Samples below which the study is not worth its time; 0 if it draws none."""
    most: int = 0
    """Samples above which more say nothing new."""

    def seconds(self, n_samples: int) -> float:
        """All together."""
        return self.fixed + n_samples * self.each


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPlan:
    """What is planned for one study."""

    seconds: float = 0.0
    """By the model, on one processor."""
    n_samples: int | None = None
    why_not: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportPlan:
    """What is planned for all studies, in the order in which they run."""

    budget: float
    given: bool
    """Whether the number of samples was asked for, whatever the budget."""
    studies: Mapping[str, StudyPlan]

    def runs(self, study: str) -> bool:
        """Whether a study is to run."""
        return study in self.studies and not self.studies[study].why_not

    def samples(self, study: str) -> int:
        """The samples of a study that draws some."""
        return self.studies[study].n_samples or 0

    def lines(self) -> list[str]:
        """What somebody who waits wants to know."""
        drawn = [
            f"{name} ({plan.n_samples:,} {NOUNS[name]})" if plan.n_samples else name
            for name, plan in self.studies.items()
            if not plan.why_not
        ]
        left_out = [name for name, plan in self.studies.items() if plan.why_not]
        why = "as asked for" if self.given else f"for a budget of {duration(self.budget)}"
        lines = [f"studies, {why}: {', '.join(drawn)}"]
        return lines + ([f"left out, the page says why: {', '.join(left_out)}"] if left_out else [])


NOUNS = {
    "simulate": "collections",
    "topics": "splits",
    "agree": "samples of each size",
    "instances": "resamples",
    "pools": "trials",
}
"""What the samples of a study are."""


def parse_budget(budget: Budget) -> float:
    """Seconds of a budget: a number, or a number with s, m or h.

    >>> parse_budget("90s"), parse_budget("2m"), parse_budget("0.5h"), parse_budget(45)
    (90.0, 120.0, 1800.0, 45.0)
    """
    found = re.fullmatch(r"[ \t]*([0-9]+(?:\.[0-9]+)?|\.[0-9]+)[ \t]*([smh]?)[ \t]*", str(budget))
    if found is None or isinstance(budget, bool) or not float(found[1]) > 0.0:
        raise InputError(
            f"budget {budget!r}: give seconds, or a number with s, m or h, such as 90s, 2m or 1h"
        )
    return float(found[1]) * _UNITS[found[2]]


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
    """The model: seconds of one processor for every study, in the order of their importance.

    Measured on a processor of 2024; reading is counted wherever a study reads the runs again.
    """
    pairs, cells = shape.n_pairs, shape.n_compared * shape.n_topics
    reading = 7e-7 * shape.n_documents
    splits = len(default_sizes(shape.n_topics))
    measure_pairs = math.comb(shape.n_measures, 2)
    sampled = 2e-4 + 4e-7 * measure_pairs * min(shape.n_runs, 2000)
    trials = min(shape.n_teams, MOST_TEAMS)
    compared = pairs * (4e-5 + 1.6e-7 * shape.n_topics)
    return {
        "compare": Cost(fixed=shape.n_measures * compared),
        "stability": Cost(fixed=0.02 * shape.n_measures),
        "plan": Cost(fixed=shape.n_measures * (0.05 + 8e-8 * shape.n_runs**2)),
        "topics": Cost(
            fixed=0.05 + 2e-7 * pairs * shape.n_topics,
            each=2e-5 + 1e-9 * pairs * splits,
            least=100,
            most=10_000,
        ),
        "simulate": Cost(
            fixed=0.1 + reading,
            each=2.5e-7 * cells + 8e-8 * pairs,
            least=100,
            most=min(20_000, max(100, MOST_ERRORS // max(1, pairs))),
        ),
        "instances": Cost(
            fixed=0.5 * shape.n_pairs_of_systems,
            each=1e-5 + 5e-5 * shape.n_pairs_of_systems,
            least=200,
            most=10_000,
        ),
        "components": Cost(fixed=0.05 + 1e-6 * shape.n_runs * shape.n_topics),
        "agree": Cost(fixed=0.1 + RESAMPLES * DRAWS * sampled, each=sampled, least=10, most=1000),
        "pools": Cost(
            fixed=0.2 + reading,
            each=1e-4 + 7e-7 * trials * shape.n_runs * shape.n_topics * shape.n_measures,
            least=5,
            most=100,
        ),
    }


FREE = ("compare", "stability", "plan", "topics")
"""Studies without which there is no report."""


def make_plan(
    shape: Shape, *, budget: float, why_not: Mapping[str, str], n_samples: int | None = None
) -> ReportPlan:
    """Give every study that the data support its samples, the largest number that the budget pays.

    `why_not` says of studies why the data do not support them. With `n_samples` each study has so
    many, or the most that make sense. Otherwise each has the least at first; those that do not
    fit are left out, from the last on; then a tenth of what is left goes to each, and the rest
    to the simulation, which has use for it.
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
        if name not in FREE and spent + least.seconds > budget:
            planned[name] = StudyPlan(why_not=_too_long(spent + least.seconds, budget))
        else:
            planned[name] = least
            spent += least.seconds
    left = SAFETY * budget - _reading_and_page(shape) - spent
    share = max(0.0, 0.1 * left)
    for name in sorted(open_studies, key=lambda study: study == "simulate"):
        if planned[name].n_samples:
            room = left if name == "simulate" else share
            more = _planned(model[name], _affordable(model[name], planned[name], room))
            left -= more.seconds - planned[name].seconds
            planned[name] = more
    return ReportPlan(budget=budget, given=False, studies=planned)


def _planned(cost: Cost, n_samples: int) -> StudyPlan:
    if not cost.least:
        return StudyPlan(seconds=cost.fixed)
    return StudyPlan(seconds=cost.seconds(n_samples), n_samples=n_samples)


def _affordable(cost: Cost, planned: StudyPlan, room: float) -> int:
    """Samples that the time planned and some more room pay, in steps of 1, 2 and 5."""
    paid = (planned.n_samples or 0) + max(0.0, room) / cost.each
    return max(cost.least, min(cost.most, step_down(paid)))


def _reading_and_page(shape: Shape) -> float:
    """Seconds for evaluating and checking the runs, and for figures and tables."""
    return 10.0 + 1.4e-6 * shape.n_documents


def _too_long(seconds: float, budget: float) -> str:
    return (
        f"would take longer than the budget of {duration(budget)} allows, by the model of costs: "
        f"give more time, such as --budget {step_up(seconds / SAFETY)}"
    )


def step_up(seconds: float) -> str:
    """A round budget that is not below some seconds, as the option takes it.

    >>> step_up(10), step_up(100), step_up(4000)
    ('1m', '2m', '2h')
    """
    for budget in ("1m", "2m", "5m", "10m", "30m", "1h", "2h", "5h", "10h"):
        if parse_budget(budget) >= seconds:
            return budget
    return f"{math.ceil(seconds / 3600)}h"

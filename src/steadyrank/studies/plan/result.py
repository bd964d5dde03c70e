"""What `plan` returns: a plan per measure, and curves of its topics against what was requested."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from steadyrank._version import __version__
from steadyrank.errors import check_choice
from steadyrank.notebook import Framed, shown_by
from steadyrank.present.json import picked
from steadyrank.stats.interval import Interval
from steadyrank.stats.planning.demands import Demands, check_positive, check_whole
from steadyrank.stats.planning.variance import ASSURANCE, Pilot
from steadyrank.words import counted, level_words

Against = Literal["minimum_difference", "systems", "width", "topics"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurePlan:
    """The topics for one measure, and what they buy; NaN or None where there is no answer."""

    measure: str
    variance: float
    """Of a system's scores over topics: given, or V_E of the pilot."""
    difference_variance: float
    """Of the differences of two systems, where the design is paired."""
    topics: int
    """For each system, if the design is unpaired."""
    power: float
    """Exact power at `topics` for the minimum difference."""
    smallest_difference: float
    """That `topics` show with power 1 - beta."""
    expected_width: float
    pilot: Pilot | None = None
    topics_assured: int | None = None
    """Topics that will do with `assurance`, where topics were asked for of a pilot: by a variance
    that few pilots underestimate."""
    topics_interval: Interval | None = None
    """Topics at both ends of the interval of the variance used, where topics were asked for."""
    power_interval: Interval | None = None
    """Likewise the power, where topics were given."""
    topics_two_way: int | None = None
    """Topics by the two-way residual, for an analysis that takes topics' difficulty out."""
    design_effect: float | None = None
    """Of the pilot's clusters of topics, on the variance that the plan rests on."""
    topics_clustered: int | None = None
    """Topics, where these will be clustered as in the pilot; never fewer than `advised`."""
    clusters: int | None = None
    """The clusters of so many topics, of the pilot's mean size."""
    effective_topics: float | None = None
    """What the pilot's topics are worth in topics of equal weight; None where they have none."""
    documents_per_topic: float | None = None
    hours: float | None = None
    """Assessors' hours for all topics that are advised."""
    cheapest: bool | None = None

    @property
    def advised(self) -> int:
        """The number to build: the assured one, where there is one."""
        return self.topics if self.topics_assured is None else self.topics_assured

    @property
    def assurance(self) -> float | None:
        """Share of pilots whose `topics_assured` reach the power that they promise."""
        return None if self.topics_assured is None else ASSURANCE

    @property
    def is_by_differences(self) -> bool:
        """Whether the plan rests on the variance of differences of the pilot's pairs of runs."""
        return self.pilot is not None and self.difference_variance == self.pilot.difference_variance

    @property
    def pilot_interval(self) -> Interval | None:
        """Of the variance that the plan rests on: that of differences, or of scores."""
        if self.pilot is None:
            return None
        by_differences = self.is_by_differences
        return self.pilot.difference_interval if by_differences else self.pilot.variance_interval

    @property
    def pilot_df(self) -> float:
        """Effective degrees of freedom of the chi-square law behind that interval."""
        if self.pilot is None:
            return math.nan
        by_differences = self.is_by_differences
        return self.pilot.residual_effective_df if by_differences else self.pilot.effective_df

    def row(self) -> dict[str, Any]:
        """The keys of the JSON output."""
        of_pilot = (
            "variance_interval topic_variance residual_variance residual_interval df effective_df "
            "residual_effective_df"
        )
        sizes = ("topics", "runs", "missing")
        return {
            **picked(self, "measure variance topics power smallest_difference"),
            **picked(self, "difference_variance expected_width topics_interval power_interval"),
            "topics_two_way": self.topics_two_way,
            **picked(self, "design_effect topics_clustered clusters effective_topics"),
            **{f"pilot_{size}": getattr(self.pilot, f"n_{size}", None) for size in sizes},
            **{key: getattr(self.pilot, key, None) for key in of_pilot.split()},
            **picked(self, "documents_per_topic hours cheapest"),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The topics with which a t test detects a difference."""

    measure: str
    runs: tuple[str, str] | None
    """The two runs that differ as much, the better first; None of any two."""
    difference: float
    variance: float
    """Of the differences of these runs, or of the pilot's mean pair; of scores if unpaired."""
    topics: int
    topics_assured: int | None
    """With 80 % assurance against the variance that the pilot has."""
    topics_interval: Interval | None
    """At both ends of what the pilot knows of the variance, and for two runs of the difference:
    infinite above where the interval of that difference contains 0."""

    def row(self) -> dict[str, Any]:
        """The keys of the JSON output."""
        better, worse = self.runs or (None, None)
        numbers = picked(self, "difference variance topics topics_interval")
        return {"measure": self.measure, "a": better, "b": worse, **numbers}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by()
class PlanCurve(Framed):
    """Numbers of topics, or the power of given ones, against something that was requested."""

    against: Against
    values: np.ndarray
    measures: tuple[str, ...]
    topics: np.ndarray
    """[measure, value]"""
    power: np.ndarray
    """[measure, value]: exact, at these topics."""

    def caption(self) -> str:
        """What stands against what."""
        return f"Topics and their power against {self.against.replace('_', ' ')}."

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per measure and value."""
        return [
            {"measure": measure, self.against: value, "topics": topics, "power": power}
            for measure, *curve in zip(self.measures, self.topics, self.power, strict=True)
            for value, topics, power in zip(self.values, *curve, strict=True)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
@shown_by("studies.plan.view:VIEW.text")
class PlanResult(Framed):
    """What `plan` found: one plan per measure.

    Examples
    --------
    >>> import steadyrank as sr
    >>> result = sr.plan(variance={"AP": 0.05, "nDCG@10": 0.1}, minimum_difference=0.15, systems=10)
    >>> [(plan.measure, plan.topics) for plan in result.plans]
    [('AP', 71), ('nDCG@10', 140)]
    """

    demands: Demands
    given_topics: int | None
    """The number of topics that was asked about, if it was not asked for."""
    confidence: float
    """Of the intervals that pilot data give."""
    plans: tuple[MeasurePlan, ...]
    minutes_per_document: float | None = None
    documents_are_bounds: bool = False
    """Whether documents per topic are systems times pool depth, as if no document were shared."""
    differences: tuple[Difference, ...] = ()
    """Of a pilot alone: the topics for the difference of its first two runs, then for others."""

    def caption(self) -> str:
        """What a table of this result must say: aim, design, formula, version."""
        demands = self.demands
        pairing = "paired" if demands.paired else "unpaired"
        family = f" over {demands.comparisons:,} comparisons" if demands.comparisons > 1 else ""
        test = {
            "anova": f"one-way ANOVA of {demands.systems} systems",
            "ttest": f"{pairing} t test of two systems",
            "interval": f"{1 - demands.alpha:.0%} intervals of two systems' difference{family}, "
            f"{pairing}",
        }[demands.method]
        formula = {
            "exact": "exact",
            "nagata": "Nagata's approximation",
            "corrected": "corrected for skewness as in compare, exact power",
        }[demands.formula]
        return f"{self._aim()}; {test}, {formula}; steadyrank {__version__}."

    def _aim(self) -> str:
        demands = self.demands
        rates = f"power {1 - demands.beta:g} at {level_words(demands.alpha, demands.comparisons)}"
        if self.given_topics is not None:
            asked = f"What {counted(self.given_topics, 'topic')} can detect"
            smallest = f"the smallest difference detected with {rates}"
            if demands.minimum_difference is None:
                return f"{asked}: {smallest}"
            return f"{asked}: power for a difference of {demands.minimum_difference:g}, {smallest}"
        if demands.method == "interval":
            return f"Topics for intervals of expected width {demands.width:g}"
        where = "best and worst" if demands.method == "anova" else "two means"
        return f"Topics for a difference of {demands.minimum_difference:g} between {where}, {rates}"

    def curve(
        self, against: Against = "minimum_difference", values: Sequence[float] | None = None
    ) -> PlanCurve:
        """Topics against minimum differences, numbers of systems or widths; power against topics.

        Without values: around what was requested, systems from 2 to 100, topics up to twice those
        planned.

        >>> import steadyrank as sr
        >>> result = sr.plan(variance=0.114, minimum_difference=0.15, systems=10)
        >>> result.curve("systems", [2, 5, 10, 20]).topics.tolist()
        [[81, 122, 160, 210]]
        >>> result.curve("topics", [50, 100]).power.round(2).tolist()
        [[0.27, 0.55]]
        """
        check_choice(f"curve of this {self.demands.method} plan", against, self.curves)
        x = self._default_values(against) if values is None else list(values)
        check = check_whole if against in ("systems", "topics") else check_positive
        checked = [check(against, value) for value in x]
        topics = np.zeros((len(self.plans), len(checked)), np.int64)
        power = np.full(topics.shape, np.nan)
        for i, row in enumerate(self.plans):
            # The formulas take half the variance of differences where these are tested.
            variance = row.difference_variance / 2.0 if self.demands.paired else row.variance
            for j, value in enumerate(checked):
                changed: Any = {} if against == "topics" else {against: value}
                asked = replace(self.demands, **changed)
                topics[i, j] = value if against == "topics" else asked.topics(variance)
                power[i, j] = asked.power(variance, float(topics[i, j]))
        return PlanCurve(
            against=against,
            values=np.array(checked),
            measures=tuple(row.measure for row in self.plans),
            topics=topics,
            power=power,
        )

    @property
    def curves(self) -> tuple[Against, ...]:
        """What this plan has curves against, topics last."""
        if self.demands.method == "interval":
            return ("width",)
        if self.demands.minimum_difference is None:
            return ("minimum_difference",)
        if self.demands.method == "ttest":
            return ("minimum_difference", "topics")
        return ("minimum_difference", "systems", "topics")

    def _default_values(self, against: Against) -> Sequence[float]:
        if against == "systems":
            return range(2, 101)
        if against == "topics":
            last = 2 * max(row.topics for row in self.plans)
            return sorted({round(n) for n in np.linspace(2, last, 100)})
        known = self.demands.width if against == "width" else self.demands.minimum_difference
        if known is None:
            key = "expected_width" if against == "width" else "smallest_difference"
            known = max(getattr(row, key) for row in self.plans)
            if math.isinf(known):  # too few topics for the corrected test
                known = max(row.difference_variance for row in self.plans) ** 0.5
        return [known * factor for factor in np.linspace(0.25, 2.0, 71)]

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary a measure with the JSON's keys; of a pilot alone, one a difference."""
        return [row.row() for row in self.differences or self.plans]

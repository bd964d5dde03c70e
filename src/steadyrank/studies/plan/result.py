"""The result of `plan`: a plan per measure, and curves of topics against each demand."""

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
    """Topics for one measure, their power and smallest difference; NaN or None where undefined."""

    measure: str
    variance: float
    """Variance of a system's scores over topics: given, or V_E of the pilot."""
    difference_variance: float
    """Variance of the differences of two systems, in a paired design."""
    topics: int
    """Number of topics; per system in an unpaired design."""
    power: float
    """Exact power of `topics` for the minimum difference."""
    smallest_difference: float
    """Smallest difference that `topics` detect with power 1 - beta."""
    expected_width: float
    pilot: Pilot | None = None
    topics_assured: int | None = None
    """Topics that suffice with probability `assurance`, by a variance that few pilots
    underestimate; None without a pilot or if topics were given."""
    topics_interval: Interval | None = None
    """Topics at both ends of the variance's interval; None if topics were given."""
    power_interval: Interval | None = None
    """Power at both ends of the variance's interval, if topics were given."""
    topics_two_way: int | None = None
    """Topics by the two-way residual, for an analysis that removes topic effects."""
    design_effect: float | None = None
    """Factor by which the pilot's clusters of topics raise the variance of the plan."""
    topics_clustered: int | None = None
    """Topics in clusters like the pilot's; never fewer than `advised`."""
    clusters: int | None = None
    """Number of clusters of `topics_clustered`, of the pilot's mean size."""
    effective_topics: float | None = None
    """Number of equally weighted topics equivalent to the pilot's weighted ones; None without
    weights."""

    @property
    def advised(self) -> int:
        """Number of topics to build: `topics_assured` if known, else `topics`."""
        return self.topics if self.topics_assured is None else self.topics_assured

    @property
    def assurance(self) -> float | None:
        """Share of pilots whose `topics_assured` reach the power that they promise."""
        return None if self.topics_assured is None else ASSURANCE

    @property
    def is_by_differences(self) -> bool:
        """Whether the plan uses the variance of differences of the pilot's pairs of runs."""
        return self.pilot is not None and self.difference_variance == self.pilot.difference_variance

    @property
    def pilot_interval(self) -> Interval | None:
        """Interval of the variance of the plan: that of differences, or of scores."""
        if self.pilot is None:
            return None
        by_differences = self.is_by_differences
        return self.pilot.difference_interval if by_differences else self.pilot.variance_interval

    @property
    def pilot_df(self) -> float:
        """Effective degrees of freedom of `pilot_interval`."""
        if self.pilot is None:
            return math.nan
        by_differences = self.is_by_differences
        return self.pilot.residual_effective_df if by_differences else self.pilot.effective_df

    def row(self) -> dict[str, Any]:
        """Return the fields of the JSON output."""
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
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Topics with which a t test detects a difference."""

    measure: str
    runs: tuple[str, str] | None
    """The two runs with this difference, the better first; None for any two runs."""
    difference: float
    variance: float
    """Variance of differences of these runs, or of the pilot's mean pair; of scores if unpaired."""
    topics: int
    topics_assured: int | None
    """Topics with 80 % assurance against the pilot's variance."""
    topics_interval: Interval | None
    """Topics at both ends of the variance's interval, and for two runs of the difference's:
    infinite above if the interval of the difference contains 0."""

    def row(self) -> dict[str, Any]:
        """Return the fields of the JSON output."""
        better, worse = self.runs or (None, None)
        numbers = picked(self, "difference variance topics topics_interval")
        return {"measure": self.measure, "a": better, "b": worse, **numbers}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by()
class PlanCurve(Framed):
    """Numbers of topics, or the power of given ones, against one demand."""

    against: Against
    values: np.ndarray
    measures: tuple[str, ...]
    topics: np.ndarray
    """[measure, value]"""
    power: np.ndarray
    """[measure, value]: exact, at these topics."""

    def caption(self) -> str:
        """Return the caption of the table."""
        return f"Topics and their power against {self.against.replace('_', ' ')}."

    def rows(self) -> list[dict[str, Any]]:
        """Return one dictionary per measure and value."""
        return [
            {"measure": measure, self.against: value, "topics": topics, "power": power}
            for measure, *curve in zip(self.measures, self.topics, self.power, strict=True)
            for value, topics, power in zip(self.values, *curve, strict=True)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
@shown_by("studies.plan.view:VIEW.text")
class PlanResult(Framed):
    """The result of `plan`: one plan per measure.

    Examples
    --------
    >>> import steadyrank as sr
    >>> result = sr.plan(variance={"AP": 0.05, "nDCG@10": 0.1}, minimum_difference=0.15, systems=10)
    >>> [(plan.measure, plan.topics) for plan in result.plans]
    [('AP', 71), ('nDCG@10', 140)]
    """

    demands: Demands
    given_topics: int | None
    """Number of topics whose power was requested; None if topics are the answer."""
    confidence: float
    """Level of the intervals of pilot data."""
    plans: tuple[MeasurePlan, ...]
    differences: tuple[Difference, ...] = ()
    """For a pilot alone: topics for the difference of its first two runs, then for others."""

    def caption(self) -> str:
        """Return the caption of a table: aim, design, formula and version."""
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
        """Return topics against minimum differences, systems or widths; or power against topics.

        Default values are around the demand, 2 to 100 systems, or up to twice the planned topics.

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
            # The formulas take half the variance of differences in paired designs.
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
        """Demands that this plan has curves against, topics last."""
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
        """Return one dictionary per measure; for a pilot alone, one per difference."""
        return [row.row() for row in self.differences or self.plans]

"""What `plan` says of one measure, and its curves against what was requested."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from steadyrank.notebook import Exhibit, shown_by
from steadyrank.present.json import picked
from steadyrank.stats.interval import Interval
from steadyrank.stats.planning.variance import Pilot

if TYPE_CHECKING:
    import pandas as pd

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
    topics_interval: Interval | None = None
    """Topics at both ends of the interval of the variance used, where topics were asked for."""
    power_interval: Interval | None = None
    """Likewise the power, where topics were given."""
    topics_two_way: int | None = None
    """Topics by the two-way residual, for an analysis that takes topics' difficulty out."""
    design_effect: float | None = None
    """Of the pilot's clusters of topics, on the variance that the plan rests on."""
    topics_clustered: int | None = None
    """Topics, where these will be clustered as in the pilot; never fewer than `topics`."""
    clusters: int | None = None
    """The clusters of so many topics, of the pilot's mean size."""
    effective_topics: float | None = None
    """What the pilot's topics are worth in topics of equal weight; None where they have none."""
    documents_per_topic: float | None = None
    hours: float | None = None
    """Assessors' hours for all topics."""
    cheapest: bool | None = None

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by()
class PlanCurve(Exhibit):
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

    def to_frame(self) -> pd.DataFrame:
        """One row a measure and value."""
        import pandas as pd

        columns = {
            "measure": np.repeat(np.array(self.measures, object), len(self.values)),
            self.against: np.tile(self.values, len(self.measures)),
            "topics": self.topics.ravel(),
            "power": self.power.ravel(),
        }
        return pd.DataFrame(columns)

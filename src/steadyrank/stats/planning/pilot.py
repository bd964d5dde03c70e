"""What pilot data say about a variance, and how surely.

For a plan that rests on them: V_E of eq. 1 of Sakai & Shang (EVIA 2016) for a measure, its
interval, the part of it that is topics' difficulty, and warnings about pilots too small to trust.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyrank.data.scores import Scores
from steadyrank.errors import InputError, warn
from steadyrank.stats.interval import Interval
from steadyrank.stats.planning.variance import pooled_variance, variance_components

STEADY_PILOT = 25
"""Topics from which on Sakai & Shang found variance estimates quite accurate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pilot:
    """How well pilot data know the variance of a measure, and what it consists of."""

    variance: float
    """V_E: of a system's scores over topics, pooled over runs."""
    variance_interval: Interval
    n_topics: int
    n_runs: int
    n_missing: int
    df: int
    effective_df: float
    """Of the chi-square law behind `variance_interval`."""
    topic_variance: float
    """Component of the two-way layout that V_E contains; NaN for one run."""
    residual_variance: float
    """What is left when topics' differences in difficulty are taken out; NaN in the same cases."""
    residual_interval: Interval
    residual_effective_df: float
    """Of the chi-square law behind `residual_interval`, as `effective_df` is of the other."""

    @property
    def difference_variance(self) -> float:
        """Mean over pairs of runs of the variance of their differences: twice the residual."""
        return 2.0 * self.residual_variance

    @property
    def difference_interval(self) -> Interval:
        """Of `difference_variance`."""
        low, high = self.residual_interval
        return Interval(2.0 * low, 2.0 * high)


def pilot_variance(matrix: np.ndarray, measure: str, *, confidence: float = 0.95) -> Pilot:
    """V_E of scores [run, topic]; refuses a pilot that has none."""
    try:
        pooled = pooled_variance(matrix)
    except InputError as error:
        raise InputError(f"{measure}: {error}: a pilot requires more topics") from None
    if pooled.value == 0.0:
        raise InputError(
            f"{measure}: the variance is 0, as every run scores the same on all its topics: "
            "omit the measure, or give a variance"
        )
    components = _components(matrix, confidence)
    return Pilot(
        variance=pooled.value,
        variance_interval=pooled.interval(confidence),
        n_topics=pooled.n_topics,
        n_runs=pooled.n_runs,
        n_missing=pooled.n_missing,
        df=pooled.df,
        effective_df=pooled.effective_df,
        **components,
    )


def _components(matrix: np.ndarray, confidence: float) -> dict[str, Any]:
    """Topic and residual variance of the two-way layout, and how well the residual is known.

    NaN where the layout is too small for them.
    """

    def named(topic: float, residual: float, low: float, high: float, df: float) -> dict[str, Any]:
        return {
            "topic_variance": topic,
            "residual_variance": residual,
            "residual_interval": Interval(low, high),
            "residual_effective_df": df,
        }

    there = matrix[~np.isnan(matrix).all(axis=1)]
    complete = there[:, ~np.isnan(there).any(axis=0)]
    n_runs, n_topics = complete.shape
    if n_runs < 2 or n_topics < 2:
        return named(*[math.nan] * 5)
    variance = variance_components(complete).variance
    if variance["residual"] == 0.0:
        return named(variance["topic"], 0.0, 0.0, 0.0, math.nan)
    # With each topic's mean taken out, the runs' pooled variance is the residual but for a factor.
    rest = pooled_variance(complete - complete.mean(axis=0))
    low, high = (end * n_runs / (n_runs - 1) for end in rest.interval(confidence))
    return named(variance["topic"], variance["residual"], low, high, rest.effective_df)


def warn_if_few_topics(
    pilot: Pilot, measure: str, ends: Interval, topics: Interval | None, confidence: float
) -> None:
    """Say what a small pilot leaves open: the variance, and with it the number of topics."""
    if pilot.n_topics >= STEADY_PILOT:
        return
    low, high = ends
    then = f", and the topics needed from {topics[0]} to {topics[1]}" if topics else ""
    warn(
        f"the pilot has only {pilot.n_topics} topics: the variance of {measure} may be "
        f"anything from {low:.4g} to {high:.4g} ({confidence:.0%} interval){then}; pilots of "
        f"{STEADY_PILOT} topics or more are more reliable"
    )


def warn_if_one_team(scores: Scores) -> None:
    """One team's runs are alike, whatever the number of topics."""
    if len(set(scores.run_info.get("team", ()))) == 1 and len(scores.runs) > 1:
        warn("all runs of the pilot are of one team: other teams' runs may vary quite differently")

"""Two runs on many datasets: how large is the difference, and on the next dataset?"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyrank.data.leaderboard import Leaderboard
from steadyrank.data.scores import position
from steadyrank.errors import InputError
from steadyrank.stats.datasets.random_effects import (
    RandomEffects,
    SignedRankPosterior,
    bayesian_signed_rank,
    next_dataset,
    random_effects,
)
from steadyrank.stats.interval import Interval
from steadyrank.stats.planning.needed_topics import needed_topics
from steadyrank.stats.run_means import mean_intervals

ROPE = 0.01
"""Half-width of the region of practical equivalence unless given: one point of a hundred."""

PERCENT = 1.5
"""Scores above are on a scale of 100."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveOneOut:
    """The pair without one dataset."""

    dataset: str
    difference: float
    interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DatasetPair:
    """Two runs in depth; all intervals are for this pair alone."""

    a: str
    b: str
    datasets: tuple[str, ...]
    """Those that both have."""
    per_dataset: np.ndarray
    """Score of a less score of b, one per dataset."""
    error: np.ndarray
    """Its standard error over topics; NaN where topics are not known."""
    difference: float
    """Random-effects mean, or the plain mean where topics are not known."""
    interval: Interval
    prediction_interval: Interval
    """Of the true difference on the next dataset; of its observed difference where topics are not
    known."""
    effects: RandomEffects | None
    """None where topics are not known."""
    leave_one_out: tuple[LeaveOneOut, ...]
    posterior: SignedRankPosterior
    significant: bool
    """Whether the two are among the pairs that differ significantly, all pairs taken together."""
    datasets_needed: float
    """With which a paired t test at `comparison_alpha` shows the difference; infinite where no
    number is certain to."""
    datasets_needed_interval: Interval
    comparison_alpha: float
    """The family's, or alpha over the number of pairs where that is not one of datasets."""
    alpha: float

    @property
    def wins(self) -> tuple[int, int, int]:
        """Datasets on which a is better, equal and worse."""
        d = self.per_dataset
        return int((d > 0).sum()), int((d == 0).sum()), int((d < 0).sum())

    def row(self) -> dict[str, Any]:
        """With the keys that the JSON output has."""
        effects, posterior = self.effects, self.posterior
        return {
            "a": self.a,
            "b": self.b,
            "difference": self.difference,
            "interval": list(self.interval),
            "prediction_interval": list(self.prediction_interval),
            "tau2": None if effects is None else effects.tau2,
            "i2": None if effects is None else effects.i2,
            "q": None if effects is None else effects.q,
            "q_pvalue": None if effects is None else effects.q_pvalue,
            "per_dataset": [
                {"dataset": name, "difference": float(gap), "se": float(error)}
                for name, gap, error in zip(
                    self.datasets, self.per_dataset, self.error, strict=True
                )
            ],
            "leave_one_out": [
                {
                    "dataset": left.dataset,
                    "difference": left.difference,
                    "interval": list(left.interval),
                }
                for left in self.leave_one_out
            ],
            "posterior": {
                "a": posterior.first,
                "equivalent": posterior.equivalent,
                "b": posterior.second,
                "rope": posterior.rope,
            },
            "significant": self.significant,
            "datasets_needed": self.datasets_needed,
            "datasets_needed_interval": list(self.datasets_needed_interval),
            "comparison_alpha": self.comparison_alpha,
        }


def default_rope(scores: np.ndarray) -> float:
    """One point: 0.01, or 1 for scores in percent."""
    return ROPE * (100.0 if np.nanmax(np.abs(scores)) > PERCENT else 1.0)


def pair_in_depth(
    table: Leaderboard,
    a: str,
    b: str,
    *,
    significant: Callable[[int, int], bool],
    comparison_alpha: float,
    n_pairs: int,
    rope: float | None,
    alpha: float,
    seed: int,
) -> DatasetPair:
    """What the datasets that both have say of two runs."""
    first, second = (position(name, table.runs, "run") for name in (a, b))
    if first == second:
        raise InputError(f"a and b are both {a!r}: name two runs")
    gap = table.values[first] - table.values[second]
    shared = np.flatnonzero(~np.isnan(gap))
    if len(shared) < 2:
        raise InputError(f"{a} and {b} have fewer than two datasets in common")
    names = tuple(table.datasets[k] for k in shared)
    d, error = gap[shared], _topic_errors(table, names, first, second)
    level = comparison_alpha or alpha / n_pairs
    needed = needed_topics(d.mean(), d.var(ddof=1), len(d), alpha=level, confidence=1 - alpha)
    mean, interval, prediction, effects = _together(d, error, 1 - alpha)
    low, high = float(needed.low), float(needed.high)
    return DatasetPair(
        a=a,
        b=b,
        datasets=names,
        per_dataset=d,
        error=error,
        difference=mean,
        interval=interval,
        prediction_interval=prediction,
        effects=effects,
        leave_one_out=_leave_one_out(names, d, error, 1 - alpha),
        posterior=bayesian_signed_rank(
            d, rope=default_rope(table.values) if rope is None else rope, seed=seed
        ),
        significant=significant(first, second),
        datasets_needed=float(needed.topics) if math.isfinite(high) else math.inf,
        datasets_needed_interval=Interval(low, high),
        comparison_alpha=level,
        alpha=alpha,
    )


def _topic_errors(
    table: Leaderboard, names: tuple[str, ...], first: int, second: int
) -> np.ndarray:
    """Standard errors of the differences over topics; NaN unless known for every dataset."""
    errors = np.full(len(names), np.nan)
    for k, name in enumerate(names):
        if name not in table.topic_scores:
            return np.full(len(names), np.nan)
        gap = table.topic_scores[name][first] - table.topic_scores[name][second]
        gap = gap[~np.isnan(gap)]
        if len(gap) > 1:
            errors[k] = gap.std(ddof=1) / math.sqrt(len(gap))
    return errors if not np.isnan(errors).any() else np.full(len(names), np.nan)


def _together(
    d: np.ndarray, error: np.ndarray, confidence: float
) -> tuple[float, Interval, Interval, RandomEffects | None]:
    """Mean difference, its interval, that of the next dataset, and the model where there is one."""
    if np.isnan(error).any() or not (error > 0.0).any():
        low, high = mean_intervals(d[np.newaxis], confidence)[0]
        ahead = next_dataset(d, confidence=confidence)
        return float(d.mean()), Interval(float(low), float(high)), ahead, None
    effects = random_effects(d, error, confidence=confidence)
    return effects.difference, effects.interval, effects.prediction, effects


def _leave_one_out(
    names: tuple[str, ...], d: np.ndarray, error: np.ndarray, confidence: float
) -> tuple[LeaveOneOut, ...]:
    if len(d) < 3:
        return ()
    rows = []
    for k, name in enumerate(names):
        mean, interval, _, _ = _together(np.delete(d, k), np.delete(error, k), confidence)
        rows.append(LeaveOneOut(dataset=name, difference=mean, interval=interval))
    return tuple(rows)

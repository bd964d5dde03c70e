"""What `datasets` returns: one family of decisions about a leaderboard, and what follows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from steadyrank._version import __version__
from steadyrank.notebook import Framed, shown_by
from steadyrank.present.json import picked
from steadyrank.stats.datasets.aggregates import Aggregate, Friedman, NextRanks
from steadyrank.stats.datasets.random_effects import RandomEffects
from steadyrank.stats.interval import Interval
from steadyrank.stats.pairs.decisions import OwnDecisions, Placed
from steadyrank.stats.run_means import in_order
from steadyrank.words import counted

Drawn = Literal["datasets", "types", "topics", "both"]

AGGREGATES = {
    "mean": "mean score",
    "mean-of-types": "mean of the types' mean scores",
    "borda": "Borda points per dataset",
    "wins": "share of the other runs beaten",
}
"""How sentences name them."""

MEANS = ("mean", "mean-of-types")
"""Aggregates whose values have the sign of the scores; the others count ranks."""

DRAWN = {
    "datasets": "other datasets of this kind",
    "types": "other types of datasets",
    "topics": "these datasets with other topics",
    "both": "other datasets of this kind with other topics",
}
"""What decisions are about, in words."""


Gaps = Literal["complete", "pairwise", "zero"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GapRow:
    """A run that lacks datasets."""

    run: str
    missing: int
    """Datasets that it lacks."""
    kept_without: int
    """Datasets that all other runs have once this run and those that lack more are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Influence:
    """The ranking without one dataset."""

    dataset: str
    tau: float
    """Kendall's, between the ranking with and without it."""
    leader: str
    """Who is first without it."""


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
    significant: bool
    """Whether the two are among the pairs that differ significantly, all pairs taken together."""
    datasets_needed: float
    """With which a paired t test at `comparison_alpha` shows the difference; infinite where no
    number is certain to."""
    datasets_assured: float
    """Datasets that separate the two with 80 % assurance, if their difference is as observed."""
    datasets_needed_interval: Interval
    comparison_alpha: float
    """The family's, or alpha over the number of pairs where that is not one of datasets."""
    alpha: float
    lower_is_better: bool = False

    @property
    def wins(self) -> tuple[int, int, int]:
        """Datasets on which a is better, equal and worse."""
        d = -self.per_dataset if self.lower_is_better else self.per_dataset
        return int((d > 0).sum()), int((d == 0).sum()), int((d < 0).sum())

    def with_sign_of_file(self) -> DatasetPair:
        """Return the pair of scores with the other sign, of which lower is better."""
        effects = self.effects
        if effects is not None:
            effects = replace(
                effects,
                difference=-effects.difference,
                interval=_mirrored(effects.interval),
                prediction=_mirrored(effects.prediction),
            )
        return replace(
            self,
            lower_is_better=True,
            per_dataset=-self.per_dataset,
            difference=-self.difference,
            interval=_mirrored(self.interval),
            prediction_interval=_mirrored(self.prediction_interval),
            effects=effects,
            leave_one_out=tuple(
                replace(left, difference=-left.difference, interval=_mirrored(left.interval))
                for left in self.leave_one_out
            ),
        )

    def row(self) -> dict[str, Any]:
        """With the keys that the JSON output has."""
        effects = self.effects
        return {
            "a": self.a,
            "b": self.b,
            "difference": self.difference,
            "interval": list(self.interval),
            "prediction_interval": list(self.prediction_interval),
            **{key: getattr(effects, key, None) for key in ("tau2", "i2", "q", "q_pvalue")},
            "per_dataset": [
                {"dataset": name, "difference": float(gap), "se": float(error)}
                for name, gap, error in zip(
                    self.datasets, self.per_dataset, self.error, strict=True
                )
            ],
            "leave_one_out": [
                picked(left, "dataset difference") | {"interval": list(left.interval)}
                for left in self.leave_one_out
            ],
            "significant": self.significant,
            "datasets_needed": self.datasets_needed,
            "datasets_assured": self.datasets_assured,
            "datasets_needed_interval": list(self.datasets_needed_interval),
            "comparison_alpha": self.comparison_alpha,
        }


class DatasetLead(NamedTuple):
    """The best run against the next, by the comparisons of the next run alone."""

    first: int
    second: int
    difference: float
    interval: np.ndarray
    """[2]; 0 lies outside exactly where `significant`, where the next run could not be first."""
    significant: bool


class DatasetFragility(NamedTuple):
    """Without so many datasets, the rival is level with the first run or above it."""

    n: int
    rival: str
    datasets: list[str]


def _mirrored(interval: Interval) -> Interval:
    return Interval(-interval.high, -interval.low)


def _ends_or_none(limits: np.ndarray) -> list[int] | None:
    return None if np.isnan(limits).any() else [int(end) for end in limits]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.datasets.view:VIEW.text")
class DatasetsResult(Placed, Framed):
    """What `datasets` found: arrays with one entry per run, and per pair.

    `significant` and `rank_set` express the same family of decisions; `rank` is the rank by
    value, and `pair` holds what was found about two runs in depth.

    Examples
    --------
    >>> import numpy as np, pandas as pd, steadyrank as sr
    >>> values = np.random.default_rng(1).normal(size=(3, 12)) + [[0], [0], [3]]
    >>> result = sr.datasets(pd.DataFrame(values, index=list("xyz"), columns=map(str, range(12))))
    >>> result.first_names(), result.rank.tolist()
    (['z'], [2, 3, 1])
    """

    aggregate: Aggregate
    drawn: Drawn
    gaps: Gaps
    alpha: float
    runs: tuple[str, ...]
    datasets: tuple[str, ...]
    types: tuple[str, ...]
    """One per dataset; empty where none are known."""
    left_out: tuple[str, ...]
    """Datasets that some run lacks, where only complete ones are taken."""
    n_missing: int
    """Scores that are missing in the table as it was given."""
    n_topics_dropped: int
    """Topics left out because some run lacks them, where topics are resampled."""
    scores: np.ndarray
    """[run, dataset]: as they were used, NaN where missing."""
    value: np.ndarray
    interval: np.ndarray
    """[run, 2]: of each value, for one run at a time."""
    rank: np.ndarray
    """By value; equal values share the better rank."""
    own: OwnDecisions
    """What each run's own comparisons decide about it."""
    rank_set_simultaneous: np.ndarray
    """[run, 2]: the ranks that the decisions about all pairs leave to the runs, all at once."""
    lead: DatasetLead
    """The best run and the next."""
    leaders: dict[Aggregate, str]
    """The best run by each aggregate of complete scores."""
    first_by_types: int | None
    """How many runs could be first if whole types of datasets were resampled; None where these are
    unknown, or resampled anyway."""
    next_ranks: NextRanks
    """Between which ranks each run lies on another dataset drawn alike."""
    fragility: DatasetFragility | None
    """How few datasets carry the first place; None where it is shared."""
    pairs: np.ndarray
    """[pair, 2]: positions of the two runs."""
    pvalue_adjusted: np.ndarray
    significant: np.ndarray
    """Whether the run with the higher value is shown to be better."""
    comparison_alpha: float
    """Level of one comparison that the first step of the correction amounts to; 0 where nothing
    could be significant."""
    n_patterns: int
    """Sign patterns that the null distribution consists of."""
    exact: bool
    """Whether these are all the patterns there are."""
    seed: int
    gap_rows: tuple[GapRow, ...]
    """Runs that lack datasets, those that lack most first."""
    completion_ranks: np.ndarray | None
    """[run, 2]: ranks over all completions of the missing scores; None without gaps, or for Borda
    and wins."""
    influence: tuple[Influence, ...]
    """One per dataset, the one that carries the ranking most first."""
    type_correlation: float
    """Intraclass correlation of datasets within types; NaN where there is none to speak of."""
    friedman: Friedman | None
    """None where scores are missing."""
    pair: DatasetPair | None
    """The pair that was asked for, or the two best runs; None where these share too little."""
    pair_asked: bool
    lower_is_better: bool = False
    """Whether lower scores are better; `value` then ranks from the lowest, unless it counts
    ranks."""

    def with_sign_of_file(self) -> DatasetsResult:
        """Return the result of scores with the other sign as one of the scores themselves.

        Decisions and ranks stay, as do Borda points and wins: they say which run is better.
        """
        value, interval, lead = self.value, self.interval, self.lead
        if self.aggregate in MEANS:
            value, interval = -value, -interval[:, ::-1]
            lead = lead._replace(difference=-lead.difference, interval=-lead.interval[::-1])
        return replace(
            self,
            lower_is_better=True,
            scores=-self.scores,
            value=value,
            interval=interval,
            lead=lead,
            pair=self.pair and self.pair.with_sign_of_file(),
        )

    @property
    def lowest_leads(self) -> bool:
        """Whether the run with the lowest value is the best."""
        return self.lower_is_better and self.aggregate in MEANS

    @property
    def order(self) -> list[int]:
        """Positions of the runs, best value first; equal values in the order of their names."""
        ranked = in_order(-self.value if self.lowest_leads else self.value, self.runs)
        return [*ranked, *np.flatnonzero(np.isnan(self.value)).tolist()]

    @property
    def told_apart_share(self) -> float:
        """Share of the pairs that differ significantly."""
        return float(self.significant.mean()) if len(self.significant) else 0.0

    @property
    def n_different(self) -> np.ndarray:
        """How many other runs each run differs from significantly."""
        return np.bincount(self.pairs[self.significant].ravel(), minlength=len(self.runs))

    @property
    def adjacent_not_told_apart(self) -> int:
        """Neighbours in the ranking that do not differ significantly."""
        place = np.argsort(self.order)
        near = np.abs(np.diff(place[self.pairs], axis=1)).ravel() == 1
        return int((near & ~self.significant).sum())

    @property
    def can_be_significant(self) -> bool:
        """Whether any p-value could fall below alpha, with as many sign patterns as there are."""
        total = self.n_patterns if self.exact else 2 * self.n_patterns
        return 1.0 / (1.0 + total) <= self.alpha

    @property
    def n_units(self) -> int:
        """What is resampled, counted: datasets, or their types."""
        return len(set(self.types)) if self.drawn == "types" else len(self.datasets)

    @property
    def aggregate_words(self) -> str:
        """What ranks the runs, as sentences name it."""
        return AGGREGATES[self.aggregate] + " (lower is better)" * self.lowest_leads

    def first_names(self) -> list[str]:
        """The runs that could be first, best value first."""
        return [self.runs[i] for i in self.order if self.could_be_first[i]]

    def method_words(self) -> str:
        """How decisions were made."""
        flips = "all sign patterns" if self.exact else "studentized sign flips"
        what = {"types": "types", "topics": "topics"}.get(self.drawn, "datasets")
        if not self.n_patterns:
            return f"corrected t over {what}"
        count = f"{self.n_patterns:,}"
        return f"corrected t, max-t over {len(self.pairs):,} pairs, {flips} of {what} ({count})"

    def caption(self) -> str:
        """What a table of this result must say: aggregate, resampling, alpha, sizes, seed."""
        kinds = f" of {counted(len(set(self.types)), 'type')}" if self.types else ""
        return (
            f"{self.aggregate_words.capitalize()} over "
            f"{counted(len(self.datasets), 'dataset')}{kinds}; about {DRAWN[self.drawn]}; "
            f"{self.method_words()}, stepdown; alpha {self.alpha:g}; seed {self.seed}; steadyrank "
            f"{__version__}."
        )

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per run, best first, with the keys that the JSON output has."""
        rows, different = [], self.n_different.tolist()
        fragile = None if self.fragility is None else self.fragility._asdict()
        for i in self.order:
            completed = None if self.completion_ranks is None else self.completion_ranks[i].tolist()
            rows.append(
                {
                    "run": self.runs[i],
                    "value": float(self.value[i]),
                    "interval": [float(end) for end in self.interval[i]],
                    "rank": int(self.rank[i]),
                    "rank_set": [int(end) for end in self.rank_set[i]],
                    "rank_set_simultaneous": self.rank_set_simultaneous[i].tolist(),
                    "could_be_first": bool(self.could_be_first[i]),
                    "n_different": different[i],
                    "tier": int(self.tier[i]) or None,
                    "next_rank": _ends_or_none(self.next_ranks.limits[i]),
                    "first_share": float(self.next_ranks.first_share[i]),
                    "fragility": fragile if i == self.order[0] else None,
                    "missing": int(self.missing(i)),
                    "completion_ranks": completed,
                }
            )
        return rows

    def missing(self, run: int) -> int:
        """Datasets that a run lacks in the table as it was given."""
        return next((row.missing for row in self.gap_rows if row.run == self.runs[run]), 0)

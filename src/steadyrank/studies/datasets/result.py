"""The result of `datasets`: one family of decisions about a leaderboard, and what follows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from steadyrank._version import __version__
from steadyrank.notebook import Framed, shown_by
from steadyrank.present.json import picked
from steadyrank.stats.datasets import Aggregate, Friedman, NextRanks, RandomEffects
from steadyrank.stats.interval import Interval
from steadyrank.stats.pairs.decisions import OwnDecisions, Placed
from steadyrank.stats.pairs.family import Lead
from steadyrank.stats.run_means import in_order
from steadyrank.words import counted

Drawn = Literal["datasets", "types", "topics", "both"]

AGGREGATES = {
    "mean": "mean score",
    "mean-of-types": "mean of the types' mean scores",
    "borda": "Borda points per dataset",
    "wins": "share of the other runs beaten",
}
"""Names of the aggregates in sentences."""

MEANS = ("mean", "mean-of-types")
"""Aggregates whose values have the sign of the scores; the others count ranks."""

DRAWN = {
    "datasets": "other datasets of this kind",
    "types": "other types of datasets",
    "topics": "these datasets with other topics",
    "both": "other datasets of this kind with other topics",
}
"""What the decisions are about, in sentences."""

Gaps = Literal["complete", "pairwise", "zero"]


class GapRow(NamedTuple):
    """A run that lacks datasets."""

    run: str
    missing: int
    """Number of datasets that it lacks."""
    kept_without: int
    """Number of datasets that the other runs have, without this run and those that lack more."""


class Influence(NamedTuple):
    """The ranking without one dataset: tau with the whole ranking, and the best run."""

    dataset: str
    tau: float
    leader: str


class LeaveOneOut(NamedTuple):
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
    """Datasets that both have."""
    per_dataset: np.ndarray
    """[dataset]: score of a minus score of b."""
    error: np.ndarray
    """[dataset]: standard error of the difference over topics; NaN without scores by topic."""
    difference: float
    """Random-effects mean, or the plain mean without scores by topic."""
    interval: Interval
    prediction_interval: Interval
    """Interval of the true difference on the next dataset; of its observed difference without
    scores by topic."""
    effects: RandomEffects | None
    """The random-effects model; None without scores by topic."""
    leave_one_out: tuple[LeaveOneOut, ...]
    significant: bool
    """Whether the two differ significantly in the family of all pairs."""
    datasets_needed: float
    """Number of datasets with which a paired t test at `comparison_alpha` shows the difference;
    infinite where no number is certain to suffice."""
    datasets_assured: float
    """Number of datasets that separate the two with 80 % assurance, for the observed difference."""
    datasets_needed_interval: Interval
    comparison_alpha: float
    """Level of one comparison of the family; alpha over the number of pairs where topics are
    resampled."""
    alpha: float
    lower_is_better: bool = False

    @property
    def wins(self) -> tuple[int, int, int]:
        """Numbers of datasets on which a is better, equal and worse."""
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
                left._replace(difference=-left.difference, interval=_mirrored(left.interval))
                for left in self.leave_one_out
            ),
        )

    def row(self) -> dict[str, Any]:
        """Return the JSON object of the pair."""
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


class DatasetFragility(NamedTuple):
    """The fewest datasets without which the rival is level with the first run or above it."""

    n: int
    rival: str
    datasets: list[str]


def _mirrored(interval: Interval) -> Interval:
    return Interval(-interval.high, -interval.low)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.datasets.view:VIEW.text")
class DatasetsResult(Placed, Framed):
    """The comparison of runs over datasets: arrays with one entry per run, and per pair.

    `significant` expresses the decisions about all pairs, `rank_set` those of each run's own pairs;
    `rank` is the rank by value, and `pair` compares two runs in depth.

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
    """[dataset]: its type; empty without types."""
    left_out: tuple[str, ...]
    """Datasets left out because some run lacks them."""
    n_missing: int
    """Number of missing scores in the given table."""
    n_topics_dropped: int
    """Number of topics left out because some run lacks them, where topics are resampled."""
    scores: np.ndarray
    """[run, dataset]: the scores used, NaN where missing."""
    value: np.ndarray
    interval: np.ndarray
    """[run, 2]: interval of each value, for one run at a time."""
    rank: np.ndarray
    """[run]: rank by value; equal values share the better rank."""
    own: OwnDecisions
    """Rank sets and tiers by each run's own comparisons."""
    rank_set_simultaneous: np.ndarray
    """[run, 2]: ranks of all runs simultaneously, by the decisions about all pairs."""
    lead: Lead
    """The best run and the next."""
    leaders: dict[Aggregate, str]
    """The best run by each aggregate of complete scores."""
    first_by_types: int | None
    """Number of runs that could be first if whole types of datasets were resampled; None without
    types, or where they are resampled anyway."""
    next_ranks: NextRanks
    """Ranks of each run on another dataset of the same kind."""
    fragility: DatasetFragility | None
    """The fewest datasets that decide the first place; None where it is shared."""
    pairs: np.ndarray
    """[pair, 2]: positions of the two runs."""
    pvalue_adjusted: np.ndarray
    significant: np.ndarray
    """[pair]: whether the run with the higher value is shown to be better."""
    comparison_alpha: float
    """Level of one comparison at the first step of the correction; 0 where no difference could be
    significant."""
    n_patterns: int
    """Number of sign patterns in the null distribution."""
    exact: bool
    """Whether these are all possible patterns."""
    seed: int
    gap_rows: tuple[GapRow, ...]
    """Runs that lack datasets, those that lack most first."""
    completion_ranks: np.ndarray | None
    """[run, 2]: ranks over all completions of the missing scores; None without gaps, or for Borda
    and wins."""
    influence: tuple[Influence, ...]
    """One per dataset, the one that changes the ranking most first."""
    friedman: Friedman | None
    """None where scores are missing."""
    pair: DatasetPair | None
    """The requested pair, or the two best runs; None where these share too few datasets."""
    pair_asked: bool
    lower_is_better: bool = False
    """Whether lower scores are better; `value` then ranks from the lowest, unless it counts
    ranks."""

    def with_sign_of_file(self) -> DatasetsResult:
        """Return the result of negated scores as one of the scores; decisions and ranks stay."""
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
    def adjacent_not_told_apart(self) -> int:
        """Number of neighbours in the ranking that do not differ significantly."""
        place = np.argsort(self.order)
        near = np.abs(np.diff(place[self.pairs], axis=1)).ravel() == 1
        return int((near & ~self.significant).sum())

    @property
    def can_be_significant(self) -> bool:
        """Whether any p-value could be below alpha with this number of sign patterns."""
        total = self.n_patterns if self.exact else 2 * self.n_patterns
        return 1.0 / (1.0 + total) <= self.alpha

    @property
    def n_units(self) -> int:
        """Number of datasets, or of types where types are resampled."""
        return len(set(self.types)) if self.drawn == "types" else len(self.datasets)

    @property
    def aggregate_words(self) -> str:
        """Name of the aggregate in sentences."""
        return AGGREGATES[self.aggregate] + " (lower is better)" * self.lowest_leads

    def first_names(self) -> list[str]:
        """Return the runs that could be first, best value first."""
        return [self.runs[i] for i in self.order if self.could_be_first[i]]

    def caption(self) -> str:
        """Return the caption of a table: aggregate, resampling, method, alpha, sizes, seed."""
        kinds = f" of {counted(len(set(self.types)), 'type')}" if self.types else ""
        flips = "all sign patterns" if self.exact else "studentized sign flips"
        what = {"types": "types", "topics": "topics"}.get(self.drawn, "datasets")
        method = f"corrected t over {what}"
        if self.n_patterns:
            pairs = f"max-t over {len(self.pairs):,} pairs"
            method = f"corrected t, {pairs}, {flips} of {what} ({self.n_patterns:,})"
        return (
            f"{self.aggregate_words.capitalize()} over "
            f"{counted(len(self.datasets), 'dataset')}{kinds}; about {DRAWN[self.drawn]}; "
            f"{method}, stepdown; alpha {self.alpha:g}; seed {self.seed}; steadyrank {__version__}."
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return one dictionary per run, best first, with the keys of the JSON output."""
        rows, different = [], self.n_different.tolist()
        fragile = None if self.fragility is None else self.fragility._asdict()
        for i in self.order:
            completed = None if self.completion_ranks is None else self.completion_ranks[i].tolist()
            following = self.next_ranks.limits[i]
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
                    "next_rank": None
                    if np.isnan(following).any()
                    else following.astype(int).tolist(),
                    "first_share": float(self.next_ranks.first_share[i]),
                    "fragility": fragile if i == self.order[0] else None,
                    "missing": int(self.missing(i)),
                    "completion_ranks": completed,
                }
            )
        return rows

    def missing(self, run: int) -> int:
        """Return the number of datasets that a run lacks in the given table."""
        return next((row.missing for row in self.gap_rows if row.run == self.runs[run]), 0)

"""The result of `judges`: three rankings of the runs, and the audit of each judge."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyrank._version import __version__
from steadyrank.data.scores import position
from steadyrank.notebook import Framed, shown_by
from steadyrank.stats.interval import Interval
from steadyrank.stats.judges.agreement import (
    AgreementInterval,
    Bias,
    JudgedTopicsNeeded,
    KinTest,
    Worth,
    topics_like,
)
from steadyrank.stats.judges.corrected import About, RunRanking, Weight
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.ranks.correlation import TauInterval
from steadyrank.words import counted


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Confusion:
    """The grades that people and a judge gave to the same documents, and their agreement."""

    grades: tuple[int, ...]
    """Grades that occur."""
    counts: np.ndarray
    """[people's grade, judge's grade]: number of documents."""
    n_documents: int
    same_scale: bool
    """Whether the largest grades of both are equal; if not, coefficients of grades are None."""
    coefficients: dict[str, AgreementInterval | None]
    """`kappa`, `kappa_weighted` (quadratic weights), `ac1`, and `kappa_relevant` (grade 1 and
    above, or not)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TauOfRuns:
    """Agreement of people's and a judge's ranking of some of the runs, on the topics of both."""

    runs: str
    """Runs that are ranked: "all", "best half" or "best 10" by people."""
    tau: TauInterval
    tau_ap: TauInterval
    """With people's ranking as the reference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kin:
    """Runs made with the same kind of model as the judge, and whether it favours them."""

    pattern: str
    runs: tuple[str, ...]
    others: tuple[str, ...]
    near: bool
    """Whether the others are only runs whose mean by people is within the range of the kin's."""
    test: KinTest


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRow:
    """Number of topics that people must judge for one goal."""

    goal: str
    """"width" (of a difference's interval), or "difference" (that a test is to find)."""
    value: float
    topics: JudgedTopicsNeeded


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgeResult:
    """The rankings by one judge, alone and corrected, and its audit."""

    judge: str
    n_judge_topics: int
    """Number of topics that it judged and people did not."""
    n_dropped: int
    """Number of such topics left out because some run has no score."""
    weight: Weight
    """lambda, the weight of its scores."""
    alone: RunRanking
    """Ranking by its judgments of all topics, as if they were people's."""
    on_human_topics: RunRanking
    """Ranking by its judgments of the topics that people also judged."""
    corrected: RunRanking
    confusion: Confusion | None
    """None where scores were given instead of judgments."""
    taus: tuple[TauOfRuns, ...]
    """For all runs, the best half, and the best `top` runs if requested."""
    bias: Bias
    worth: Worth
    kin: Kin | None
    plan: tuple[PlanRow, ...]
    pvalue_of_sample: float
    """p of the hypothesis that its scores on people's topics and on the others have the same mean,
    as for random samples; NaN without other topics."""
    unconfirmed_share: float
    """Share of its significant pairs on people's topics that people do not confirm."""
    opposite_share: float
    """Share of these pairs that people order the other way round, significantly or not."""
    lost_share: float
    """Share of its significant pairs on all topics that are not significant after correction."""
    reversed_share: float
    """Share of these pairs that the corrected means order the other way round."""
    width_ratio: float
    """Median over pairs of the corrected interval's width over that of people's interval."""
    n_wider: int
    """Number of pairs whose corrected interval is wider than people's."""
    largest_width_ratio: float

    @property
    def tau(self) -> TauInterval:
        """tau of all runs."""
        return self.taus[0].tau

    @property
    def tau_top(self) -> TauInterval:
        """tau of the best half, or of the best `top` runs if requested."""
        return self.taus[-1].tau


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.judges.view:VIEW.text")
class JudgesResult(Framed):
    """The result of `judges`: runs sorted by name, and all pairs of them in that order.

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=4, runs_per_team=1, n_topics=40, depth=50, pool_depth=25)
    >>> scores = sr.evaluate(track.runs, track.complete, "AP")
    >>> people = scores.select(topics=scores.topics[::4])
    >>> result = sr.judges(people, {"copy": scores}, n_samples=500)
    >>> len(result.runs), len(result.pairs), result.of("copy").judge
    (4, 6, 'copy')
    """

    measure: str
    alpha: float
    population: int | None = None
    """Number of topics that the rankings are about; None for other topics of the same kind."""
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    """Topics that people judged."""
    n_dropped: int
    """Number of people's topics left out because some run has no score."""
    human: RunRanking
    """Ranking by people's judgments alone."""
    judges: tuple[JudgeResult, ...]
    power: float
    """Power of the planned test."""
    n_samples: int
    seed: int

    @property
    def about(self) -> About:
        """Return "these" topics, or "other" topics of the same kind."""
        return "other" if self.population is None else "these"

    def topics_like(self, judge: JudgeResult) -> float:
        """Return the factor of people's topics that would give intervals as narrow as a judge's."""
        return topics_like(judge.width_ratio, len(self.topics), self.population or math.inf)

    @property
    def pairs(self) -> np.ndarray:
        """[pair, 2]: positions of the two runs."""
        return all_pairs(len(self.runs))

    def of(self, judge: str | None = None) -> JudgeResult:
        """Return the part of one judge, by default of the first."""
        if judge is None:
            return self.judges[0]
        return self.judges[position(judge, [one.judge for one in self.judges], "judge")]

    def about_words(self) -> str:
        """Return the topics that the corrected ranking and people's are about, in words."""
        if self.population is None:
            return "other topics like these"
        return f"these {self.population:,} topics"

    def caption(self) -> str:
        """Return the caption of a table: measure, numbers, method, alpha, seed, version."""
        names = ", ".join(f"{one.judge} {one.n_judge_topics:,}" for one in self.judges)
        dropped = f" ({self.n_dropped} dropped)" if self.n_dropped else ""
        return (
            f"{self.measure}; {counted(len(self.runs), 'run')}; people judged "
            f"{counted(len(self.topics), 'topic')}{dropped}, {names} more; about "
            f"{self.about_words()}; alpha {self.alpha:g} over "
            f"{counted(len(self.pairs), 'pair', form=',')} (studentized sign flips, stepdown, "
            f"{self.n_samples:,} samples, seed {self.seed}); steadyrank {__version__}."
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return one dictionary per judge and run."""
        return [{"judge": one.judge, **row} for one in self.judges for row in self.run_rows(one)]

    def run_rows(self, judge: JudgeResult) -> list[dict[str, Any]]:
        """Return one dictionary per run, with the keys of the JSON output."""
        return [
            {
                "run": run,
                "human_mean": float(self.human.mean[i]),
                "judge_mean": float(judge.alone.mean[i]),
                "corrected_mean": float(judge.corrected.mean[i]),
                **_placed("", judge.corrected, i),
                "could_be_first": bool(judge.corrected.could_be_first[i]),
                "group": judge.corrected.letters[i] if judge.corrected.letters else None,
                **_placed("human_", self.human, i),
                **_placed("judge_", judge.alone, i),
                "bias": float(judge.bias.by_run[i]),
                "bias_interval": _ends(judge.bias.interval[i]),
            }
            for i, run in enumerate(self.runs)
        ]

    def pair_rows(self, judge: JudgeResult) -> list[dict[str, Any]]:
        """Return one dictionary per pair, with the keys of the JSON output."""
        return [
            {
                "a": self.runs[a],
                "b": self.runs[b],
                "difference": float(judge.corrected.difference[p]),
                "interval": _ends(judge.corrected.interval[p]),
                "pvalue": float(judge.corrected.pvalue[p]),
                "pvalue_adjusted": float(judge.corrected.pvalue_adjusted[p]),
                "significant": bool(judge.corrected.significant[p]),
                "human_difference": float(self.human.difference[p]),
                "human_significant": bool(self.human.significant[p]),
                "judge_difference": float(judge.alone.difference[p]),
                "judge_significant": bool(judge.alone.significant[p]),
            }
            for p, (a, b) in enumerate(self.pairs.tolist())
        ]


def _ends(limits: np.ndarray) -> Interval:
    return Interval(*limits.tolist())


def _placed(whose: str, ranking: RunRanking, run: int) -> dict[str, Any]:
    return {
        f"{whose}interval": _ends(ranking.mean_interval[run]),
        f"{whose}rank": int(ranking.rank[run]),
        f"{whose}rank_set": ranking.rank_set[run].tolist(),
    }


def share_of(chosen: np.ndarray, among: np.ndarray) -> float:
    """Return the share of the pairs `among` that are `chosen`; NaN without such pairs.

    >>> share_of(np.array([True, False, True]), np.array([True, True, False]))
    0.5
    """
    return float(chosen[among].mean()) if among.any() else float("nan")


def names_of(runs: Sequence[str], chosen: np.ndarray) -> list[str]:
    """Return the runs that are chosen, in their order."""
    return [run for run, is_chosen in zip(runs, chosen, strict=True) if is_chosen]

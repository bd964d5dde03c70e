"""What `judges` returns: three rankings of the runs, and how far each judge can be trusted."""

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
from steadyrank.stats.judges.corrected import About, Weight
from steadyrank.stats.judges.ranking import RunRanking
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.ranks.correlation import TauInterval
from steadyrank.words import counted


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Confusion:
    """The grades that people and a judge gave to the same documents, and how alike these are."""

    grades: tuple[int, ...]
    """Grades that occur, of either."""
    counts: np.ndarray
    """[people's grade, judge's grade]: documents."""
    n_documents: int
    same_scale: bool
    """Whether the largest grades of both are equal; if not, coefficients of grades are None."""
    coefficients: dict[str, AgreementInterval | None]
    """`kappa`, `kappa_weighted` (quadratic weights), `ac1`, and `kappa_relevant`: of relevant,
    grade 1 and above, or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TauOfRuns:
    """How alike people and a judge rank some of the runs, on the topics of both."""

    runs: str
    """Which, in words: "all", "best half", "best 10"; the best are those of people."""
    tau: TauInterval
    tau_ap: TauInterval
    """With people's ranking as the reference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kin:
    """Runs that are kin to the judge, and whether it favours them."""

    pattern: str
    runs: tuple[str, ...]
    others: tuple[str, ...]
    near: bool
    """Whether the others are those whose mean, by people, lies within the range of the kin."""
    test: KinTest


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRow:
    """How many topics people have to judge for one aim."""

    goal: str
    """"width" of an interval of a difference, or "difference" that a test is to find."""
    value: float
    topics: JudgedTopicsNeeded


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgeResult:
    """One judge: what it says alone, what holds after correction, and how it was audited."""

    judge: str
    n_judge_topics: int
    """Topics that it judged and people did not."""
    n_dropped: int
    """Of these, how many were left out because some run has no score."""
    weight: Weight
    """lambda: how far its differences are followed."""
    alone: RunRanking
    """By its judgments of all its topics, as if they were people's."""
    on_human_topics: RunRanking
    """Likewise, on the topics that people judged as well."""
    corrected: RunRanking
    confusion: Confusion | None
    """None where scores were given instead of judgments."""
    taus: tuple[TauOfRuns, ...]
    """Of all runs, of the best half, and of the best so many that were asked for."""
    bias: Bias
    worth: Worth
    kin: Kin | None
    plan: tuple[PlanRow, ...]
    pvalue_of_sample: float
    """Of the hypothesis that people's topics and the others score alike by this judge, as random
    samples do; NaN without others."""
    unconfirmed_share: float
    """Of the pairs that it calls significant on people's topics, how many people do not."""
    opposite_share: float
    """Of the same pairs, how many people order the other way round, significantly or not."""
    lost_share: float
    """Of the pairs that it calls significant alone, how many are not after correction."""
    reversed_share: float
    """Of the same pairs, how many the corrected means order the other way round."""
    width_ratio: float
    """Of intervals of differences, corrected to people's own: median over pairs."""
    n_wider: int
    """Pairs whose interval is wider than people's own."""
    largest_width_ratio: float

    @property
    def tau(self) -> TauInterval:
        """Of all runs."""
        return self.taus[0].tau

    @property
    def tau_top(self) -> TauInterval:
        """Of the best half, or of the best so many that were asked for."""
        return self.taus[-1].tau


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.judges.view:VIEW.text")
class JudgesResult(Framed):
    """What `judges` found. Runs are sorted by name; pairs are all pairs of them, in that order.

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
    """The number of topics that the rankings are about; None for other topics like these."""
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    """Those that people judged."""
    n_dropped: int
    """Topics of people that were left out because some run has no score."""
    human: RunRanking
    """By people's judgments alone."""
    judges: tuple[JudgeResult, ...]
    power: float
    """That `plan` asks for."""
    n_samples: int
    seed: int

    @property
    def about(self) -> About:
        """The topics at hand, or other topics like these."""
        return "other" if self.population is None else "these"

    def topics_like(self, judge: JudgeResult) -> float:
        """How many times as many topics of people would have intervals as narrow as the judge's."""
        return topics_like(judge.width_ratio, len(self.topics), self.population or math.inf)

    @property
    def pairs(self) -> np.ndarray:
        """[pair, 2]: positions of the two runs."""
        return all_pairs(len(self.runs))

    def of(self, judge: str | None = None) -> JudgeResult:
        """The part of one judge; of the first unless named."""
        if judge is None:
            return self.judges[0]
        return self.judges[position(judge, [one.judge for one in self.judges], "judge")]

    def about_words(self) -> str:
        """Which topics the corrected ranking, and people's own, are about."""
        if self.population is None:
            return "other topics like these"
        return f"these {self.population:,} topics"

    def caption(self) -> str:
        """What a table of this result must say."""
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
        """One dictionary per judge and run."""
        return [{"judge": one.judge, **row} for one in self.judges for row in self.run_rows(one)]

    def run_rows(self, judge: JudgeResult) -> list[dict[str, Any]]:
        """One dictionary per run, with the keys that the JSON output has."""
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
        """One dictionary per pair, with the keys that the JSON output has."""
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
    return Interval(float(limits[0]), float(limits[1]))


def _placed(whose: str, ranking: RunRanking, run: int) -> dict[str, Any]:
    return {
        f"{whose}interval": _ends(ranking.mean_interval[run]),
        f"{whose}rank": int(ranking.rank[run]),
        f"{whose}rank_set": ranking.rank_set[run].tolist(),
    }


def share_of(chosen: np.ndarray, among: np.ndarray) -> float:
    """Of the pairs `among`, the share that is `chosen`; NaN of none.

    >>> share_of(np.array([True, False, True]), np.array([True, True, False]))
    0.5
    """
    return float(chosen[among].mean()) if among.any() else float("nan")


def names_of(runs: Sequence[str], chosen: np.ndarray) -> list[str]:
    """The runs that are chosen, in their order."""
    return [run for run, is_chosen in zip(runs, chosen, strict=True) if is_chosen]

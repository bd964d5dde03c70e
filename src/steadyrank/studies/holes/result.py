"""The results of `holes`: scores and differences with their bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from steadyrank._version import __version__
from steadyrank.measures.holes.bounds import Ask
from steadyrank.notebook import Framed, shown_by
from steadyrank.present.json import picked
from steadyrank.stats.interval import Interval
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.studies.holes.completions import FEWEST_RUNS, Rehearsal
from steadyrank.studies.holes.prior import PriorCheck
from steadyrank.words import by_number, counted

DECIDED = 1e-12
"""A bound this close to 0 may be a rounding error and does not decide a pair."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HolesRun:
    """One run with its mean scores over topics."""

    run: str
    unjudged_share: float
    """Share of its documents within the cutoff that are unjudged, over all topics."""
    score: float
    """Score that counts unjudged documents as not relevant."""
    lowest: float
    """Lowest score over all completions."""
    highest: float
    judged_only: float
    """Score of the ranking without unjudged documents."""
    imputed: float | None
    """Mean score over completions drawn from the prior."""
    imputed_interval: Interval | None


class GradeChange(NamedTuple):
    """A changed judgment."""

    topic: str
    document: str
    before: int
    after: int


class JudgmentFragility(NamedTuple):
    """The fewest judgments that undo the lead of a pair if they are changed."""

    n: int
    kind: Literal["exact", "upper"]
    """"upper" if fewer judgments may suffice."""
    documents: tuple[GradeChange, ...]
    """Changes, the most effective first; empty if there are more than 20."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HolesPair:
    """Two runs; differences are first minus second."""

    a: str
    b: str
    difference: float
    lowest: float
    highest: float
    decided: bool
    """Whether no completion makes the other run better or equally good."""
    bounds: Literal["exact", "outer"]
    """"exact" if completions attain both bounds, else "outer"."""
    pvalue: float
    """p-value of the uncorrected paired t test; unjudged documents count as not relevant."""
    difference_imputed: float | None
    sign_share: float | None
    """Share of the drawn completions in which a is above b."""
    pvalue_imputed: float | None
    """p-value of this test over drawn completions, by Rubin's rules."""
    fragility: JudgmentFragility | None = None
    """Known for P, RBP, SetP, NumRelRet, nDCG, nG, R, SetR and AP if one run leads."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.holes.view:VIEW.text")
class HolesResult(Framed):
    """The result of `holes`: bounds and estimates per run, and decided pairs.

    Examples
    --------
    >>> import steadyrank as sr
    >>> qrels = sr.qrels_from_dict({"301": {"d1": 1, "d2": 0}})
    >>> runs = {"old": {"301": {"d1": 2.0, "d2": 1.0}}, "new": {"301": {"d3": 2.0, "d1": 1.0}}}
    >>> result = sr.holes(runs, qrels, measure="P@2", n_samples=0)
    >>> result.n_holes, result.n_decided, len(result.pairs)
    (1, 0, 1)
    """

    measure: str
    bounds: Literal["exact", "outer"]
    """"exact" if completions attain all bounds of runs and pairs, else "outer"."""
    run_bounds: Literal["exact", "outer"]
    """"exact" if completions attain all bounds of runs, else "outer"."""
    n_topics: int
    n_judged: int
    """Number of judgments."""
    n_holes: int
    """Number of unjudged documents, counted per topic, that some run ranks within the cutoff."""
    top_grade: int
    runs: tuple[HolesRun, ...]
    pairs: tuple[HolesPair, ...]
    prior: PriorCheck
    rehearsal: Rehearsal
    """Check of the intervals on runs whose judgments are complete."""
    n_samples: int
    confidence: float
    ask: tuple[Ask, ...] = ()
    topic_texts: dict[str, str] | None = None
    seed: int

    def caption(self) -> str:
        """Return sizes, bounds and completions, for captions."""
        drawn = f"; {self.n_samples:,} completions, seed {self.seed}" if self.n_samples else ""
        return (
            f"{self.measure} of {counted(len(self.runs), 'run')} on "
            f"{counted(self.n_topics, 'topic')}; {self.run_bounds} bounds over grades 0 to "
            f"{self.top_grade} of unjudged documents{drawn}; steadyrank {__version__}."
        )

    @property
    def interval_warning(self) -> str:
        """A clause that says why the imputed intervals are unchecked, if they are."""
        if not self.n_samples or self.rehearsal.n_scores:
            return ""
        n_pooled = self.n_fully_judged
        if n_pooled >= FEWEST_RUNS:
            lacking = (
                "too few documents were found by only some of the runs without unjudged documents"
            )
        else:
            lacking = (
                f"{FEWEST_RUNS} runs without unjudged documents are required for the check, "
                f"and there {by_number(n_pooled, 'is', 'are')} {n_pooled or 'none'}"
            )
        return (
            f"the imputed intervals are unchecked, as {lacking}: in such cases, 52% to 100% of "
            "the 95% intervals contained the true score on known data"
        )

    @property
    def n_fully_judged(self) -> int:
        """Number of runs without unjudged documents within the cutoff."""
        return sum(row.unjudged_share == 0.0 for row in self.runs)

    @property
    def n_decided(self) -> int:
        """Number of pairs whose order no completion changes."""
        return sum(pair.decided for pair in self.pairs)

    @property
    def leader_pair(self) -> HolesPair | None:
        """The leader and the rival that the fewest grade changes raise to its level or above."""
        leader = max(self.runs, key=lambda row: row.score).run
        found = [
            (pair.fragility.n, abs(pair.difference), place)
            for place, pair in enumerate(self.pairs)
            if pair.fragility and leader in (pair.a, pair.b)
        ]
        return self.pairs[min(found)[-1]] if found else None

    @property
    def decided(self) -> np.ndarray:
        """[run, run]: 1 if the first is above the second in every completion, -1 if below, or 0."""
        signs = np.zeros((len(self.runs), len(self.runs)), np.int64)
        for (a, b), pair in zip(all_pairs(len(self.runs)).tolist(), self.pairs, strict=True):
            if pair.decided:
                signs[a, b] = 1 if pair.lowest > 0 else -1
                signs[b, a] = -signs[a, b]
        return signs

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per run, best score first."""
        best_first = sorted(self.runs, key=lambda row: -row.score)
        return [
            {
                **picked(row, "run unjudged_share score lowest highest judged_only imputed"),
                "imputed_low": row.imputed_interval and row.imputed_interval.low,
                "imputed_high": row.imputed_interval and row.imputed_interval.high,
            }
            for row in best_first
        ]

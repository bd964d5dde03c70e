"""What `holes` found: scores and differences between what they could be at worst and at best."""

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
"""A bound this close to 0 does not decide a pair: it may be a rounding error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HolesRun:
    """One run: mean scores over topics."""

    run: str
    unjudged_share: float
    """Of its documents within the cutoff, on all topics together."""
    score: float
    """As usual: unjudged documents are not relevant."""
    lowest: float
    """Over all completions."""
    highest: float
    judged_only: float
    """Unjudged documents left out of the ranking."""
    imputed: float | None
    """Mean over completions drawn from the prior."""
    imputed_interval: Interval | None


class GradeChange(NamedTuple):
    """A judgment, and the grade that it is changed to."""

    topic: str
    document: str
    before: int
    after: int


class JudgmentFragility(NamedTuple):
    """The fewest judgments whose grade, changed, undoes the lead of a pair."""

    n: int
    kind: Literal["exact", "upper"]
    """Whether no fewer do, or perhaps fewer."""
    documents: tuple[GradeChange, ...]
    """What lowers the lead most first; empty where they are more than 20."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HolesPair:
    """Two runs; differences are first less second."""

    a: str
    b: str
    difference: float
    lowest: float
    highest: float
    decided: bool
    """Whether no completion makes the other run better, or as good."""
    bounds: Literal["exact", "outer"]
    """Whether completions attain both bounds, or none passes them."""
    pvalue: float
    """Paired t test, unjudged documents being not relevant, not corrected."""
    difference_imputed: float | None
    sign_share: float | None
    """Share of the drawn completions in which a is above b."""
    pvalue_imputed: float | None
    """The same test over drawn completions, by Rubin's rules."""
    fragility: JudgmentFragility | None = None
    """None without a lead, and for measures other than P, RBP, SetP, NumRelRet, nDCG, nG, R, SetR
    and AP."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.holes.view:VIEW.text")
class HolesResult(Framed):
    """What `holes` found: bounds and estimates per run, and which pairs are decided.

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
    """Whether some completion attains each bound, of runs and of pairs, or none passes it."""
    run_bounds: Literal["exact", "outer"]
    """The same of the runs alone."""
    n_topics: int
    n_judged: int
    """Judgments."""
    n_holes: int
    """Unjudged documents, each counted once per topic, that some run ranks within the cutoff."""
    top_grade: int
    runs: tuple[HolesRun, ...]
    pairs: tuple[HolesPair, ...]
    prior: PriorCheck
    rehearsal: Rehearsal
    """How imputed scores of runs whose judgments are complete came out."""
    n_samples: int
    confidence: float
    ask: tuple[Ask, ...] = ()
    topic_texts: dict[str, str] | None = None
    seed: int

    def caption(self) -> str:
        """What a table of this result must say: sizes, bounds, completions."""
        drawn = f"; {self.n_samples:,} completions, seed {self.seed}" if self.n_samples else ""
        return (
            f"{self.measure} of {counted(len(self.runs), 'run')} on "
            f"{counted(self.n_topics, 'topic')}; {self.run_bounds} bounds over grades 0 to "
            f"{self.top_grade} of unjudged documents{drawn}; steadyrank {__version__}."
        )

    @property
    def interval_warning(self) -> str:
        """Why the imputed intervals may be too short, in a clause; nothing where they were checked
        or there are none.
        """
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
        """Runs without unjudged documents within the cutoff."""
        return sum(row.unjudged_share == 0.0 for row in self.runs)

    @property
    def n_decided(self) -> int:
        """Pairs whose order no completion can change."""
        return sum(pair.decided for pair in self.pairs)

    @property
    def leader_pair(self) -> HolesPair | None:
        """The leader and the rival that the fewest grade changes put level with it or above."""
        leader = max(self.runs, key=lambda row: row.score).run
        found = [
            (pair.fragility.n, abs(pair.difference), place)
            for place, pair in enumerate(self.pairs)
            if pair.fragility and leader in (pair.a, pair.b)
        ]
        return self.pairs[min(found)[-1]] if found else None

    @property
    def decided(self) -> np.ndarray:
        """[run, run]: 1 where the run of the row is above that of the column in every completion,
        -1 where it is below, 0 where completions differ.
        """
        signs = np.zeros((len(self.runs), len(self.runs)), np.int64)
        for (a, b), pair in zip(all_pairs(len(self.runs)).tolist(), self.pairs, strict=True):
            if pair.decided:
                signs[a, b] = 1 if pair.lowest > 0 else -1
                signs[b, a] = -signs[a, b]
        return signs

    def rows(self) -> list[dict[str, Any]]:
        """One row per run, best score first."""
        best_first = sorted(self.runs, key=lambda row: -row.score)
        return [
            {
                **picked(row, "run unjudged_share score lowest highest judged_only imputed"),
                "imputed_low": row.imputed_interval and row.imputed_interval.low,
                "imputed_high": row.imputed_interval and row.imputed_interval.high,
            }
            for row in best_first
        ]

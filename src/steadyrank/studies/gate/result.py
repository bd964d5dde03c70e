"""What a gate says: one verdict, and the difference on each measure and segment behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from steadyrank.notebook import Framed, shown_by
from steadyrank.stats.interval import Interval
from steadyrank.words import counted

if TYPE_CHECKING:
    from steadyrank.studies.gate.history import GateHistory

Verdict = Literal["pass", "fail", "cannot tell", "holes"]
Unsure = Literal["pass", "fail"]

EXIT_CODES = {"pass": 0, "fail": 3, "cannot tell": 4, "holes": 4}
"""What `steadyrank gate` exits with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRow:
    """One measure on all topics, or on those of one segment."""

    measure: str
    margin: float
    """The loss of the candidate that is still acceptable."""
    segment: str | None = None
    n_topics: int
    n_clusters: int
    effective_topics: float
    """(sum of weights)² / sum of squared weights: as many topics of equal weight."""
    design_effect: float
    baseline: float
    """Mean of the baseline, weighted where topics have weights."""
    candidate: float
    difference: float
    """Candidate less baseline."""
    interval: Interval
    """Two one-sided limits: of level alpha for a measure, of alpha over their number for
    segments."""
    pvalue_pass: float
    """Of the hypothesis that the candidate is worse by the margin; adjusted among segments."""
    pvalue_fail: float
    """Of the hypothesis that the candidate is not worse; adjusted among all rows."""
    verdict: Verdict
    topics_needed: int | None = None
    """Where the verdict is open: topics with which it would be settled with a power of 80%."""
    lowest: float | None = None
    highest: float | None = None
    """Of the difference, over all grades of unjudged documents; None where not known."""
    bounds: Literal["exact", "outer"] | None = None
    """Whether completions attain these, or only none lies beyond them."""
    n_unjudged: int | None = None
    """Unjudged documents that one of the runs ranks above the cutoff."""
    method: str
    """How the variance is estimated: "t", "CR1" or "CR2"."""

    @property
    def name(self) -> str:
        """The measure, and the segment if it is of one."""
        return self.measure if self.segment is None else f"{self.measure}, {self.segment}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.gate.view:VIEW.text")
class GateResult(Framed):
    """May this change ship? The verdict, and what it rests on.

    Examples
    --------
    >>> import steadyrank as sr
    >>> old, new = (
    ...     sr.Scores(measures=["AP"], runs=[name], topics=range(12), values=[[values]])
    ...     for name, values in (("old", [0.1, 0.2, 0.4] * 4), ("new", [0.2, 0.3, 0.4] * 4))
    ... )
    >>> result = sr.gate(old, new, measures="AP", margin=0.05)
    >>> result.verdict, round(result.measures[0].difference, 3)
    ('pass', 0.067)
    """

    verdict: Verdict
    alpha: float
    baseline: str
    candidate: str
    measures: tuple[GateRow, ...]
    segments: tuple[GateRow, ...] = ()
    by: str | None = None
    """The column of the topics that cuts them into segments."""
    unjudged: Literal["bounded", "not-relevant"] = "bounded"
    n_topics: int
    n_clusters: int | None
    """None where topics are not clustered."""
    is_weighted: bool
    rare_breakage: float
    """The share of broken topics of which a sample of this size shows none with probability
    alpha."""
    guards_breakage: bool = False
    """Whether the lower limits allow for one more topic, at the lowest possible difference."""
    is_ranking_lost: bool = False
    """Whether the ranking behind kept scores is not at hand: holes cannot be looked for."""
    history: GateHistory | None = None

    def exit_code(self, unsure: Unsure | None = None) -> int:
        """0 pass, 3 fail, 4 cannot tell or holes; or what `unsure` makes of the last two."""
        code = EXIT_CODES[self.verdict]
        return EXIT_CODES[unsure] if code == 4 and unsure is not None else code

    def caption(self) -> str:
        """The verdict, and on what."""
        return (
            f"{self.verdict}: {self.candidate} against {self.baseline} on "
            f"{counted(len(self.measures), 'measure')} and {counted(self.n_topics, 'topic')}, "
            f"alpha {self.alpha:g}"
        )

    def rows(self) -> list[dict[str, Any]]:
        """One row per measure, then one per measure and segment, as in JSON."""
        return [row_json(row) for row in (*self.measures, *self.segments)]


def row_json(row: GateRow) -> dict[str, Any]:
    """A row under its keys."""
    keys = [key for key in GateRow.__dataclass_fields__ if key != "segment"]
    segment = {} if row.segment is None else {"segment": row.segment}
    return segment | {key: getattr(row, key) for key in keys}

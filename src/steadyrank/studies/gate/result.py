"""What a gate says: one verdict, the difference on each measure and segment behind it, and the
gates of a project over time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

from steadyrank.errors import check_choice
from steadyrank.measures.holes.bounds import Ask
from steadyrank.notebook import Framed, shown_by
from steadyrank.stats.interval import Interval
from steadyrank.words import counted

Verdict = Literal["pass", "fail", "cannot tell", "holes"]
Unsure = Literal["pass", "fail"]
OnHoles = Literal["pass", "fail", "ask"]
Unjudged = Literal["auto", "bounded", "not-relevant"]

ROLES = ("baseline", "candidate")

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
    lower_is_better: bool = False
    interval: Interval
    """Two one-sided limits: of level alpha for a measure, of alpha over their number for
    segments. Of a rebuild, where a further build would lie."""
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
    unjudged: Literal["bounded", "prior", "not-relevant"] | None = None
    """Whether bounds or a prior decided what they do to the verdict, or they count as not relevant;
    None without rankings."""
    unjudged_share: float | None = None
    """Of the documents of the baseline above the cutoff, those without a grade."""
    is_certain: bool | None = None
    """Whether no grades of unjudged documents change the verdict; None where not known."""
    sweep: tuple[Outlook, ...] = ()
    """The verdict by how likely unjudged documents are to be relevant, where it is not certain."""
    judge_first: tuple[Ask, ...] = ()
    """The documents that can change most, at most ten, where there are holes."""
    fragility: GateFragility | None = None
    """The topics that carry the side of the margin on which the difference lies."""
    losses: tuple[TopicLoss, ...] = ()
    """The topics that lost most, at most ten, the worst first."""
    outlier: TopicLoss | None = None
    """The worst of them, if it lost far more than any other topic changed."""
    decided_after: int | None = None
    """Topics after which the verdict was reached, where they are taken one after another."""
    method: str
    """How the variance is estimated: "t", "CR1", "CR2", "mixed" (runs vary) or "rebuild"."""

    @property
    def gain(self) -> float:
        """By how much the candidate is better: the difference, or minus it if lower is better."""
        return -self.difference if self.lower_is_better else self.difference

    @property
    def gain_limits(self) -> Interval:
        """Limits of the gain."""
        low, high = self.interval
        return Interval(-high, -low) if self.lower_is_better else self.interval

    def with_sign_of_file(self) -> GateRow:
        """Return the row of scores with the other sign, of which lower is better."""
        losses = tuple(loss.mirrored() for loss in self.losses)
        return replace(
            self,
            lower_is_better=True,
            baseline=-self.baseline,
            candidate=-self.candidate,
            difference=-self.difference,
            interval=Interval(-self.interval.high, -self.interval.low),
            losses=losses,
            outlier=self.outlier and self.outlier.mirrored(),
        )

    @property
    def name(self) -> str:
        """The measure, and the segment if it is of one."""
        return self.measure if self.segment is None else f"{self.measure}, {self.segment}"


class Outlook(NamedTuple):
    """What would be said if so many of the unjudged documents were relevant."""

    ratio: float
    """What the chances of judged documents at these ranks are multiplied by."""
    share: float
    """Of the unjudged documents, relevant ones to be expected."""
    difference: float
    verdict: Verdict


class GateFragility(NamedTuple):
    """The fewest topics, or clusters, without which the difference is across the margin."""

    n: int
    topics: list[str]


class TopicLoss(NamedTuple):
    """A topic on which the candidate is worse than the baseline."""

    topic: str
    baseline: float
    candidate: float
    difference: float

    def mirrored(self) -> TopicLoss:
        """Return the loss of scores with the other sign."""
        return TopicLoss(self.topic, -self.baseline, -self.candidate, -self.difference)


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
    unjudged: Unjudged = "auto"
    """What was requested; rows say what was done."""
    n_topics: int
    n_clusters: int | None
    """None where topics are not clustered."""
    is_weighted: bool
    rare_breakage: float
    """The share of broken topics of which a sample of this size shows none with probability
    alpha."""
    guards_breakage: bool = False
    """Whether the lower limits allow for one more topic, at the lowest possible difference."""
    judges: tuple[str, ...] = ()
    """Who graded both, where it is known: the verdict is about these alone."""
    is_ranking_lost: bool = False
    """Whether the ranking behind kept scores is not at hand: holes cannot be looked for."""
    n_runs: tuple[int, int] = (1, 1)
    """Of the baseline and of the candidate: more than one where these are systems that vary."""
    is_rebuild: bool = False
    """Whether the margins are what builds of the baseline differ by."""
    reversed_topics: frozenset[str] = frozenset()
    """Where the candidate has the documents of the baseline from last to first."""
    seed: int | None = None
    """Of the order of topics, where they are taken one after another."""
    history: GateHistory | None = None

    @property
    def passed(self) -> bool:
        """Whether the verdict is "pass"."""
        return self.verdict == "pass"

    def exit_code(self, unsure: Unsure | None = None, on_holes: OnHoles | None = None) -> int:
        """0 pass, 3 fail, 4 cannot tell or holes.

        `unsure` makes "cannot tell" a pass or a fail, `on_holes` holes ("ask" leaves these);
        neither makes a pass of a candidate that is significantly worse on a measure left open.
        """
        for what, way, ways in (("unsure", unsure, Unsure), ("on_holes", on_holes, OnHoles)):
            if way is not None:
                check_choice(f"value of {what}", way, get_args(ways))
        if self.verdict in ("pass", "fail"):
            return EXIT_CODES[self.verdict]
        rows = [row for row in self.measures if row.verdict != "pass"]
        rows += [row for row in self.segments if row.verdict == "holes"]
        given = {"cannot tell": unsure, "holes": on_holes}
        meant = {given[row.verdict] for row in rows}
        if "fail" in meant:
            return EXIT_CODES["fail"]
        is_worse = any(row.pvalue_fail < self.alpha for row in rows)
        return EXIT_CODES["pass" if meant == {"pass"} and not is_worse else self.verdict]

    def caption(self) -> str:
        """The verdict, and on what."""
        return (
            f"{self.verdict}: {self.candidate} against {self.baseline} on "
            f"{counted(len(self.measures), 'measure')} and {counted(self.n_topics, 'topic')}, "
            f"alpha {self.alpha:g}"
        )

    def rows(self) -> list[dict[str, Any]]:
        """One row per measure, then one per measure and segment; JSON has more."""
        every = [row_json(row) for row in (*self.measures, *self.segments)]
        return [{key: row[key] for key in row if key not in ONLY_JSON} for row in every]


ONLY_JSON = (
    "lower_is_better",
    *("unjudged", "unjudged_share", "certain", "sweep", "judge_first", "losses", "outlier"),
    "decided_after",
)
"""Keys of a row that the frame and CSV lack."""


def row_json(row: GateRow) -> dict[str, Any]:
    """A row under its keys."""
    keys = [key for key in GateRow.__dataclass_fields__ if key != "segment"]
    segment = {} if row.segment is None else {"segment": row.segment}
    found = {key.replace("is_certain", "certain"): getattr(row, key) for key in keys}
    found["outlier"] = row.outlier and row.outlier._asdict()
    for key in ("sweep", "judge_first", "losses"):
        found[key] = [one._asdict() for one in found[key]]
    return segment | found | {"fragility": row.fragility and row.fragility._asdict()}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.gate.view:HISTORY.text")
class GateHistory(Framed):
    """All gates of a folder, the oldest first.

    Examples
    --------
    >>> import tempfile
    >>> import steadyrank as sr
    >>> old, new = (
    ...     sr.Scores(measures=["AP"], runs=[name], topics=range(12), values=[[values]])
    ...     for name, values in (("old", [0.1, 0.2, 0.4] * 4), ("new", [0.2, 0.3, 0.4] * 4))
    ... )
    >>> result = sr.gate(old, new, measures="AP", margin=0.05, history=tempfile.mkdtemp())
    >>> len(result.history.gates), result.history.drifted()
    (1, [])
    """

    folder: str
    gates: tuple[dict[str, Any], ...]
    """As in the file: `date`, `baseline`, `candidate`, `sha256`, `verdict`, `alpha`, `level` (of
    the night's test of the total), `measures`."""

    def caption(self) -> str:
        """How many gates, and since when."""
        return f"{counted(len(self.gates), 'gate')} since {self.gates[0]['date']}"

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per gate and measure; `gate` is the verdict of the whole gate."""
        common = ("date", "baseline", "candidate", "sha256", "verdict")
        return [
            {key: gate[key] for key in common} | row | {"gate": gate["verdict"]}
            for gate in self.gates
            for row in gate["measures"]
        ]

    @property
    def n_candidates(self) -> int:
        """Different candidates that the topics have served to judge."""
        return len({gate["sha256"] for gate in self.gates})

    def drifted(self) -> list[dict[str, Any]]:
        """Measures of the last gate that are significantly, and by more than the margin, worse than
        the first baseline; limits hold over all nights together.
        """
        found = []
        for row in self.gates[-1]["measures"]:
            if row["total"] is None:
                continue
            total, (low, high) = row["total"], row["total_interval"]
            if row.get("lower_is_better"):
                total, high = -total, -low
            if total < -row["margin"] and high < 0.0:
                found.append(row)
        return found

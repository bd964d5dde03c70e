"""The results of `gate`: a verdict, its rows, and the history of a project's gates."""

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

ROLES = ("baseline", "candidate")

EXIT_CODES = {"pass": 0, "fail": 3, "cannot tell": 4, "holes": 4}
"""Exit codes of `steadyrank gate`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRow:
    """One measure on all topics, or on those of one segment."""

    measure: str
    margin: float
    """Acceptable loss of the candidate."""
    segment: str | None = None
    n_topics: int
    n_clusters: int
    effective_topics: float
    """(sum of weights)² / sum of squared weights: equivalent number of topics of equal weight."""
    design_effect: float
    baseline: float
    """Mean of the baseline, weighted if topics have weights."""
    candidate: float
    difference: float
    """Candidate minus baseline."""
    lower_is_better: bool = False
    interval: Interval
    """Two one-sided limits: at level alpha for a measure, at alpha over their number for segments.
    For a rebuild, the prediction interval of a further build."""
    pvalue_pass: float
    """p-value for the hypothesis of being worse by the margin; adjusted for segments."""
    pvalue_fail: float
    """p-value for the hypothesis of not being worse; adjusted for all rows."""
    verdict: Verdict
    topics_needed: int | None = None
    """Number of topics that would settle an open verdict with power 80%."""
    lowest: float | None = None
    """Lowest difference over all grades of unjudged documents; None if unknown."""
    highest: float | None = None
    bounds: Literal["exact", "outer"] | None = None
    """"exact" if some grades attain the lowest and highest difference, else "outer"."""
    n_unjudged: int | None = None
    """Number of unjudged documents that one of the runs ranks above the cutoff."""
    unjudged: Literal["bounded", "prior", "not-relevant"] | None = None
    """Treatment of unjudged documents: by bounds, by a prior, or as not relevant; None without
    rankings."""
    unjudged_share: float | None = None
    """Share of the baseline's documents above the cutoff that are unjudged."""
    is_certain: bool | None = None
    """Whether no grades of unjudged documents change the verdict; None if unknown."""
    sweep: tuple[Outlook, ...] = ()
    """Verdicts by the probability of relevance of unjudged documents, if not certain."""
    judge_first: tuple[Ask, ...] = ()
    """Up to ten documents that can change the verdict most, if it is "holes"."""
    losses: tuple[TopicLoss, ...] = ()
    """Up to ten topics that lost most, the worst first."""
    outlier: TopicLoss | None = None
    """The worst of them, if it lost far more than any other topic changed."""
    decided_after: int | None = None
    """Number of topics after which the verdict was reached, if they are taken one by one."""
    method: str
    """Estimator of the variance: "t", "CR1", "CR2", "mixed" (runs vary) or "rebuild"."""

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
        return replace(
            self,
            lower_is_better=True,
            baseline=-self.baseline,
            candidate=-self.candidate,
            difference=-self.difference,
            interval=Interval(-self.interval.high, -self.interval.low),
            losses=tuple(loss.mirrored() for loss in self.losses),
            outlier=self.outlier and self.outlier.mirrored(),
        )

    @property
    def name(self) -> str:
        """The measure, with the segment of a segment's row."""
        return self.measure if self.segment is None else f"{self.measure}, {self.segment}"


class Outlook(NamedTuple):
    """The verdict for one probability of relevance of unjudged documents."""

    ratio: float
    """Factor of the probabilities of judged documents at the same ranks."""
    share: float
    """Expected share of relevant documents among the unjudged ones."""
    difference: float
    verdict: Verdict


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
    """The result of `gate`: the verdict and its rows.

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
    """Column of the topics that divides them into segments."""
    n_topics: int
    n_clusters: int | None
    """None if topics are not clustered."""
    is_weighted: bool
    rare_breakage: float
    """Share of broken topics of which this many topics show none with probability alpha."""
    guards_breakage: bool = False
    """Whether the lower limits allow for one more topic with the lowest possible difference."""
    judges: tuple[str, ...] = ()
    """Judges who graded both, if known: the verdict is about these alone."""
    is_ranking_lost: bool = False
    """Whether the ranking of given scores is not available, so that holes are unknown."""
    n_runs: tuple[int, int] = (1, 1)
    """Number of runs of baseline and candidate: more than one for systems that vary."""
    is_rebuild: bool = False
    """Whether the margins are the tolerances of a further build."""
    seed: int | None = None
    """Seed of the order of topics, if they are taken one by one."""
    history: GateHistory | None = None

    @property
    def passed(self) -> bool:
        """Whether the verdict is "pass"."""
        return self.verdict == "pass"

    def exit_code(self, unsure: Unsure | None = None, on_holes: OnHoles | None = None) -> int:
        """Return 0 for pass, 3 for fail, 4 for cannot tell or holes.

        `unsure` turns "cannot tell" into a pass or a fail, `on_holes` turns "holes" ("ask" keeps
        it). A candidate that is significantly worse on an open measure never passes.
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
        """Return the verdict and its sizes."""
        return (
            f"{self.verdict}: {self.candidate} against {self.baseline} on "
            f"{counted(len(self.measures), 'measure')} and {counted(self.n_topics, 'topic')}, "
            f"alpha {self.alpha:g}"
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per measure, then one per measure and segment; JSON has more keys."""
        every = [row_json(row) for row in (*self.measures, *self.segments)]
        return [{key: row[key] for key in row if key not in ONLY_JSON} for row in every]


ONLY_JSON = (
    "lower_is_better",
    *("unjudged", "unjudged_share", "certain", "sweep", "judge_first", "losses", "outlier"),
    "decided_after",
)
"""Keys of a row that are not in the frame and CSV."""


def row_json(row: GateRow) -> dict[str, Any]:
    """Return a row as in JSON."""
    keys = [key for key in GateRow.__dataclass_fields__ if key != "segment"]
    segment = {} if row.segment is None else {"segment": row.segment}
    found = {key.replace("is_certain", "certain"): getattr(row, key) for key in keys}
    found["outlier"] = row.outlier and row.outlier._asdict()
    for key in ("sweep", "judge_first", "losses"):
        found[key] = [one._asdict() for one in found[key]]
    return segment | found


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
        """Return the number of gates and the first date."""
        return f"{counted(len(self.gates), 'gate')} since {self.gates[0]['date']}"

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per gate and measure; `gate` is the verdict of the whole gate."""
        common = ("date", "baseline", "candidate", "sha256", "verdict")
        return [
            {key: gate[key] for key in common} | row | {"gate": gate["verdict"]}
            for gate in self.gates
            for row in gate["measures"]
        ]

    @property
    def n_candidates(self) -> int:
        """Number of different candidates that these topics have judged."""
        return len({gate["sha256"] for gate in self.gates})

    def drifted(self) -> list[dict[str, Any]]:
        """Return the measures of the last gate that have drifted from the first baseline.

        They are significantly worse than it, and by more than the margin; limits hold over all
        gates.
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

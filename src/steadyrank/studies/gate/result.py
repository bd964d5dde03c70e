"""What a gate says, and the gates of a project over time.

One verdict, and the difference on each measure and segment behind it. A folder keeps the scores of
the first baseline and one line per gate: each candidate is compared with its own baseline, which
is the gate, and with the first one, which adds up what is lost in steps too small to show.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from steadyrank.compute.files import locked, write_whole
from steadyrank.data.order import scores_in_order
from steadyrank.data.read.score_files import read_scores
from steadyrank.data.read.sources import PathLike
from steadyrank.data.scores import Scores, cluster_codes, topic_weights
from steadyrank.data.write.files import write_scores
from steadyrank.errors import FormatError, InputError
from steadyrank.notebook import Framed, shown_by
from steadyrank.present.json import picked, to_json
from steadyrank.stats.interval import Interval
from steadyrank.stats.pairs.result import TOO_FEW
from steadyrank.stats.pairs.topic_design import mean_difference, reach_of
from steadyrank.words import counted

Verdict = Literal["pass", "fail", "cannot tell", "holes"]
Unsure = Literal["pass", "fail"]
Unjudged = Literal["auto", "bounded", "not-relevant"]

SPARSE = 0.5
"""Where more than this share of what a measure sees of the baseline's ranking is unjudged, few
judgments per query are meant to be all: its unjudged documents count as not relevant."""

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
    unjudged: Literal["bounded", "not-relevant"] | None = None
    """Whether they may take any grade, or count as not relevant; None without rankings."""
    unjudged_share: float | None = None
    """Of the documents of the baseline above the cutoff, those without a grade."""
    fragility: GateFragility | None = None
    """The topics that carry the side of the margin on which the difference lies."""
    method: str
    """How the variance is estimated: "t", "CR1" or "CR2"."""

    @property
    def name(self) -> str:
        """The measure, and the segment if it is of one."""
        return self.measure if self.segment is None else f"{self.measure}, {self.segment}"


class GateFragility(NamedTuple):
    """The fewest topics, or clusters, without which the difference is across the margin."""

    n: int
    topics: list[str]


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
        """One row per measure, then one per measure and segment; JSON has more."""
        every = [row_json(row) for row in (*self.measures, *self.segments)]
        return [{key: row[key] for key in row if key not in ONLY_JSON} for row in every]


ONLY_JSON = ("unjudged", "unjudged_share")
"""Keys of a row that the frame and CSV lack."""


def row_json(row: GateRow) -> dict[str, Any]:
    """A row under its keys."""
    keys = [key for key in GateRow.__dataclass_fields__ if key != "segment"]
    segment = {} if row.segment is None else {"segment": row.segment}
    found = {key: getattr(row, key) for key in keys}
    return segment | found | {"fragility": row.fragility and row.fragility._asdict()}


LINES, FIRST, LOCK = "history.jsonl", "first.parquet", ".lock"
"""Names of the files in the folder: a line per gate, the scores of the first baseline."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by()
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
    """As in the file: `date`, `baseline`, `candidate`, `sha256`, `verdict`, `alpha`, `measures`."""

    def caption(self) -> str:
        """How many gates, and since when."""
        return f"{counted(len(self.gates), 'gate')} since {self.gates[0]['date']}"

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per gate and measure."""
        common = ("date", "baseline", "candidate", "sha256", "verdict")
        return [
            {key: gate[key] for key in common} | row
            for gate in self.gates
            for row in gate["measures"]
        ]

    def drifted(self) -> list[dict[str, Any]]:
        """Measures of the last gate that are significantly, and by more than the margin, below the
        first baseline.
        """
        return [
            row
            for row in self.gates[-1]["measures"]
            if row["total"] is not None
            and row["total"] < -row["margin"]
            and row["total_interval"][1] < 0.0
        ]


def add_to_history(folder: PathLike, scores: Scores, result: GateResult) -> GateHistory:
    """Keep this gate in the folder, which its first gate makes."""
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"{place}: this is a file: name a folder to hold the history") from None
    with locked(place / LOCK):  # gates that end together must not lose each other's lines
        gates = _read_lines(place / LINES)
        if not (place / FIRST).exists():
            write_scores(_first_baseline(scores), place / FIRST)
        first = scores_in_order(read_scores(place / FIRST))
        _check_first(first, scores, place)
        gates.append(_line(first, scores, result))
        write_whole(place / LINES, "".join(map(to_json, gates)))
    return GateHistory(folder=str(place), gates=tuple(gates))


def _first_baseline(scores: Scores) -> Scores:
    baseline = scores.select(runs=scores.runs[0])
    return replace(baseline, run_info={}, meta={"judgments": _judgments(scores)})


def _judgments(scores: Scores) -> str | None:
    """SHA-256 of the candidate's judgments; None where they were no file."""
    meta = scores.meta["candidate"]
    digest = meta["sha256"].get(meta.get("qrels"))
    return None if digest is None else str(digest)


def _check_first(first: Scores, scores: Scores, folder: Path) -> None:
    before, now = first.meta.get("judgments"), _judgments(scores)
    changed = before is not None and now is not None and before != now
    if changed or first.topics != scores.topics:
        what = "judgments" if changed else "topics"
        raise InputError(
            f"{folder}: this history began with different {what}: name another folder to start "
            "a new one"
        )


def _line(first: Scores, scores: Scores, result: GateResult) -> dict[str, Any]:
    return {
        "date": _now(),
        **picked(result, "baseline candidate"),
        "sha256": _digest(scores),
        **picked(result, "verdict alpha"),
        "measures": [
            picked(row, "measure margin difference")
            | {"interval": list(row.interval)}
            | _total(first, scores, row.measure, result.alpha)
            for row in result.measures
        ],
    }


def _total(first: Scores, scores: Scores, measure: str, alpha: float) -> dict[str, Any]:
    """The difference from the first baseline; None for a measure that it was not evaluated by."""
    if measure not in first.measures:
        return {"total": None, "total_interval": None}
    before, now = first.matrix(measure)[0], scores.matrix(measure)[1]
    fit = mean_difference(
        now - before,
        clusters=cluster_codes(scores),
        weights=topic_weights(scores),
        reach=reach_of(np.stack([before, now])),
    )
    if fit.flag == TOO_FEW:
        return {"total": None, "total_interval": None}
    return {"total": fit.mean, "total_interval": list(fit.interval(alpha))}


def _digest(scores: Scores) -> str:
    """SHA-256 of the candidate's file, or of its scores where it was none."""
    meta = scores.meta["candidate"]
    name = meta.get("files", {}).get("candidate")
    if name in meta["sha256"]:
        return str(meta["sha256"][name])
    return hashlib.sha256(np.ascontiguousarray(scores.values[:, 1]).tobytes()).hexdigest()


def _now() -> str:
    """The time in UTC, or the one that reproducible builds set."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    moment = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)
    return moment.isoformat(timespec="seconds")


def _read_lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    gates = []
    for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), start=1):
        try:
            gate = json.loads(line)
            _check_line(gate)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise FormatError(
                path, "this line is not an entry of a gate: remove it", number
            ) from None
        gates.append(gate)
    return gates


def _check_line(gate: dict[str, Any]) -> None:
    """Raise whatever Python raises where a line lacks what a history shows."""
    datetime.fromisoformat(gate["date"])
    for row in gate["measures"]:
        str(row["measure"]), float(row["margin"]), gate["verdict"].upper()
        if row["total"] is not None:
            low, high = row["total_interval"]
            float(low), float(row["total"]), float(high)

"""`check`: find errors and oddities in runs and judgments before evaluating, pooling or submitting.

A finding is *wrong* if it would make results wrong, and *odd* if it is only worth knowing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np

from steadyrank.compute.executors import Progress, map_in_order, workers
from steadyrank.data.qrels import JudgedRun, Qrels
from steadyrank.data.read.run_files import judgments_of
from steadyrank.data.read.runs import ReadingOptions, Source, read_runs
from steadyrank.data.run import SCORES_RISE, Run, counted_oddity
from steadyrank.errors import InputError
from steadyrank.measures.arguments import data_first
from steadyrank.measures.scoring import find_judged_documents
from steadyrank.notebook import Framed, shown_by
from steadyrank.words import by_number, counted, some

DEPTHS = (10, 100)
FIGURES = ("run", "topics", "missing", "unknown", "shallowest", "deepest")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckFinding:
    """A finding: `wrong` if it would make results wrong, else `odd`."""

    level: Literal["wrong", "odd"]
    where: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCheck:
    """Figures of one run."""

    run: str
    topics: int
    missing: int
    """Number of judged topics that it lacks."""
    unknown: int
    """Number of its topics without judgments."""
    shallowest: int
    deepest: int
    judged: tuple[float, ...]
    """Share of judged documents at each of DEPTHS, mean over its judged topics."""
    tied: float
    """Share of documents that share their score with another document of the topic."""


@dataclass(frozen=True, slots=True, kw_only=True)
@shown_by("studies.check.view:VIEW.text")
class CheckResult(Framed):
    """Result of `check`: figures of each run, and findings that are wrong or odd.

    Examples
    --------
    >>> import steadyrank as sr
    >>> qrels = sr.qrels_from_dict({"1": {"d1": 1}})
    >>> result = sr.check(sr.run_from_dict({"1": {"d1": 2.0, "d2": 1.0}}, name="a"), qrels)
    >>> result.is_sound, len(result.runs)
    (True, 1)
    """

    n_topics: int
    n_judgments: int
    grades: Mapping[int, int]
    """Number of documents of each grade."""
    runs: tuple[RunCheck, ...]
    findings: tuple[CheckFinding, ...] = field(default=())

    @property
    def is_sound(self) -> bool:
        """Whether there is no finding that would make results wrong."""
        return all(finding.level != "wrong" for finding in self.findings)

    def caption(self) -> str:
        """Return a line with the numbers of runs, topics and findings."""
        return (
            f"{counted(len(self.runs), 'run')}, {counted(self.n_topics, 'topic')}, "
            f"{counted(len(self.findings), 'finding')}, "
            f"{'nothing wrong' if self.is_sound else 'results would be wrong'}"
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per run."""
        return [
            {
                **{name: getattr(row, name) for name in FIGURES},
                **{f"Judged@{d}": share for d, share in zip(DEPTHS, row.judged, strict=True)},
                "tied": row.tied,
            }
            for row in self.runs
        ]


@data_first
def check(
    runs: Any,
    qrels: Any,
    *,
    jobs: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    **reading_options: Unpack[ReadingOptions],
) -> CheckResult:
    """Check runs and judgments, and report what is wrong or odd.

    Parameters
    ----------
    runs, qrels : object
        As in `evaluate`.
    jobs, executor : optional
        Number of threads, or any `concurrent.futures.Executor`.
    progress : callable, optional
        Called with the numbers of finished and of all runs.
    **reading_options : optional
        `name_from`, `duplicates`, `run_info`, `team_from`, `system_from` and `names`, as in
        `read_runs`.

    Returns
    -------
    CheckResult
        Figures of each run, and findings, each wrong or odd; `is_sound` if none would make results
        wrong.

    Examples
    --------
    >>> import steadyrank as sr
    >>> qrels = sr.qrels_from_dict({"1": {"d1": 1}})
    >>> result = sr.check(sr.run_from_dict({"1": {"doc1": 2.0, "doc2": 2.0}}, name="a"), qrels)
    >>> result.is_sound, [finding.level for finding in result.findings]
    (False, ['wrong', 'wrong', 'odd'])
    """
    judged = judgments_of(qrels)
    sources = read_runs(runs, **reading_options).sources
    with workers(jobs=jobs, executor=executor) as pool:
        one = partial(_check_one, qrels=judged)
        outcomes = map_in_order(one, sources, pool, progress=progress)
    rows = [row for row, _ in outcomes if row is not None]
    findings = [finding for _, found in outcomes for finding in found]
    findings += [*_check_qrels(judged), *_check_names(sources), *_check_together(rows)]
    return CheckResult(
        n_topics=len(judged.topics),
        n_judgments=len(judged),
        grades=dict(sorted(Counter(judged.grades.tolist()).items())),
        runs=tuple(rows),
        findings=tuple(sorted(findings, key=lambda finding: finding.level != "wrong")),
    )


def _check_one(source: Source, *, qrels: Qrels) -> tuple[RunCheck | None, list[CheckFinding]]:
    try:
        with source.opened() as run:
            return _check_run(run, qrels)
    except InputError as error:
        path = source.given
        if not isinstance(path, Path):
            raise
        what = str(error).removeprefix(f"{path}").lstrip(": ")
        return None, [CheckFinding(level="wrong", where=str(path), what=what)]


def _check_run(run: Run, qrels: Qrels) -> tuple[RunCheck, list[CheckFinding]]:
    judged = find_judged_documents(run, qrels)
    there = judged.lengths >= 0
    sizes = np.diff(run.blocks)
    row = RunCheck(
        run=run.name,
        topics=len(run.topics),
        missing=int((~there).sum()),
        unknown=len(run.topics) - int(there.sum()),
        shallowest=int(sizes.min()) if len(sizes) else 0,
        deepest=int(sizes.max(initial=0)),
        judged=tuple(_judged_share(judged, depth) for depth in DEPTHS),
        tied=_tied_share(run),
    )
    found: list[Found] = [("odd", counted_oddity(*each)) for each in run.oddities.items()]
    found += [*_odd_topics(run, row, qrels), *_odd_scores(run, row)]
    found += _odd_documents(run, row, qrels)
    if run.scores_rise:
        found.append(("wrong", SCORES_RISE))
    return row, [CheckFinding(level=level, where=run.name, what=what) for level, what in found]


def _judged_share(judged: JudgedRun, depth: int) -> float:
    """Return the share of judged documents in the top `depth`, mean over judged topics."""
    there = np.flatnonzero(judged.lengths > 0)
    if len(there) == 0:
        return float("nan")
    counted = np.concatenate([[0], np.cumsum(judged.ranks <= depth)])
    counts = (counted[judged.blocks[1:]] - counted[judged.blocks[:-1]])[there]
    return float(np.mean(counts / np.minimum(judged.lengths[there], depth)))


def _tied_share(run: Run) -> float:
    if len(run) == 0:
        return 0.0
    same = np.zeros(len(run) + 1, bool)
    same[1:-1] = run.scores[1:] == run.scores[:-1]
    same[run.blocks] = False  # documents of two topics
    return float(np.mean(same[:-1] | same[1:]))


Found = tuple[Literal["wrong", "odd"], str]


def _odd_topics(run: Run, row: RunCheck, qrels: Qrels) -> Iterator[Found]:
    if row.missing == len(qrels.topics):
        ids = f"{run.topics[0]!r} here, {qrels.topics[0]!r} in the qrels" if run.topics else "none"
        yield "wrong", f"no topic of the qrels: do the ids differ ({ids})?"
    elif row.missing:
        score = by_number(row.missing, "it scores", "they score")
        yield "odd", f"lacks {row.missing} of {len(qrels.topics)} judged topics: {score} 0"
    if row.shallowest < row.deepest and row.shallowest < 10:
        yield "odd", f"a topic with only {counted(row.shallowest, 'document')}"


def _odd_documents(run: Run, row: RunCheck, qrels: Qrels) -> Iterator[Found]:
    if row.missing == len(qrels.topics) or len(run) == 0:
        return
    if row.judged[-1] == 0.0:
        ids = f"{run.documents[0]!r} here, {qrels.documents[0]!r} in the qrels"
        yield "wrong", f"no judged document in any top {DEPTHS[-1]}: do the ids differ ({ids})?"
    elif row.judged[0] < 0.5:
        unjudged = f"{1 - row.judged[0]:.0%} of the top {DEPTHS[0]} are unjudged"
        yield "odd", f"{unjudged}: see what they could change with steadyrank holes"


def _odd_scores(run: Run, row: RunCheck) -> Iterator[Found]:
    """Find scores that do not order the documents, or not all of them."""
    sizes = np.diff(run.blocks)
    long = np.flatnonzero(sizes > 1)
    if len(long) == 0:
        return
    first, last = run.scores[run.blocks[long]], run.scores[run.blocks[long + 1] - 1]
    constant = int((first == last).sum())
    if constant == len(long):
        yield "wrong", "all scores of each topic are equal: documents rank by their ids alone"
        return
    if constant:
        rank = by_number(constant, "it ranks", "they rank")
        what = counted(constant, "topic")
        yield "odd", f"{what} whose scores are all equal: {rank} by ids alone"
    if row.tied > 0.25:
        yield "odd", f"{row.tied:.0%} of the documents tie with another: their ids decide"


def _check_qrels(qrels: Qrels) -> Iterator[CheckFinding]:
    for what, count in qrels.oddities.items():
        yield CheckFinding(level="odd", where="qrels", what=counted_oddity(what, count))
    barren = int((qrels.best_grades < 1).sum())
    if barren == len(qrels.topics):
        yield CheckFinding(level="wrong", where="qrels", what="no topic has a relevant document")
    elif barren:
        have, score = by_number(barren, "has", "have"), by_number(barren, "it scores", "they score")
        what = f"{barren} of {len(qrels.topics)} topics {have} no relevant document: {score} 0"
        yield CheckFinding(level="odd", where="qrels", what=what)
    if len(qrels) and (qrels.grades > 0).all():
        what = "no document is judged non-relevant: unjudged and non-relevant look alike"
        yield CheckFinding(level="odd", where="qrels", what=what)


def _check_names(sources: Sequence[Source]) -> Iterator[CheckFinding]:
    """Find runs that are named by their files because another run has the same name."""
    files = [s for s in sources if isinstance(s.given, Path) and not s.is_called]
    names = [source.name for source in files if source.name is not None]
    if names:
        what = f"share their names with others, so that files name them ({some(names, 3)})"
        yield CheckFinding(
            level="odd", where="all runs", what=f"{counted(len(names), 'run')} {what}"
        )


def _check_together(rows: list[RunCheck]) -> Iterator[CheckFinding]:
    """Find what only a comparison of several runs shows."""
    names = [row.run for row in rows]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            what = f"{names.count(name)} runs have this name: rename all but one"
            yield CheckFinding(level="wrong", where=name, what=what)
    depths = sorted({row.deepest for row in rows})
    if len(depths) > 1 and depths[0] < 0.9 * depths[-1]:
        shallow = [row.run for row in rows if row.deepest < 0.9 * depths[-1]]
        shown = ", ".join(shallow[:3]) + (", …" if len(shallow) > 3 else "")
        who = counted(len(shallow), "run is", "runs are")
        their = by_number(len(shallow), "its", "their")
        what = f"{who} shallower than {depths[-1]} ({shown}): so is {their} recall"
        yield CheckFinding(level="odd", where="all runs", what=what)

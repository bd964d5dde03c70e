"""The first sections of a report: all runs by their mean, and systems with several runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from steadyrank.compute.random import seed_from
from steadyrank.data.scores import Scores
from steadyrank.present.cells import name, number, span, table, whole
from steadyrank.present.table import Cell, Table
from steadyrank.present.view import Finding, View, Words
from steadyrank.stats.instances.mixed_tests import has_instances
from steadyrank.stats.run_means import (
    SAME_MEAN,
    adjusted_means,
    expected_means,
    intervals_as_picked,
    ranks_of,
)
from steadyrank.studies.compare.correcting import CompareSettings
from steadyrank.studies.compare.findings import assumption, first
from steadyrank.studies.compare.front import against_baseline, front
from steadyrank.studies.compare.result import CompareResult
from steadyrank.studies.compare.study import compare_each
from steadyrank.studies.compare.view import AGAINST, RUNS
from steadyrank.studies.compare.wording import rank_words
from steadyrank.studies.material import MOST_COMPARED, Material, named_systems
from steadyrank.studies.part import Body, Drawing, Findings, Front, Job, Part, part_of
from steadyrank.words import counted, listed, number_word, some

NOT_COMPARED = Cell("–")
FILTERS = ("team", "type")
"""Columns of the run information by which rows can be filtered."""

MOST_NAMED = 3
"""Number of possible firsts that the section names."""


def _body(scores: Scores, findings: Findings) -> Body:
    """Return the section: all runs by their mean, with intervals, possible ranks and groups."""
    result: CompareResult = findings.results["compare"][0]
    drawing = (
        Drawing("ranks", "Possible ranks of each run.", result, "ranks")
        if result.baseline is None
        else Drawing("baseline", "Every run compared with the baseline.", result, "intervals")
    )
    # Comparisons with a baseline are not about the first place.
    firsts = [] if result.baseline is not None else [first(result, MOST_NAMED)]
    return Body(
        answer=(*firsts, *measures(scores)),
        figures=(drawing,),
        tables=(_leaderboard_table(scores, result),),
    )


def measures(scores: Scores) -> list[Finding]:
    """Say whether all measures put the same run first, where there are several."""
    if len(scores.measures) < 2:
        return []
    of_measure = {}
    for measure in scores.measures:
        means = adjusted_means(scores.matrix(measure))
        firsts = np.flatnonzero(np.nanmax(means) - means <= SAME_MEAN)
        of_measure[measure] = [scores.runs[run] for run in firsts]
    return [Finding("evaluate.measures", f"{_measures_words(of_measure)}.", {"first": of_measure})]


def _measures_words(firsts: dict[str, list[str]]) -> str:
    shared = set.intersection(*map(set, firsts.values()))
    if shared:
        all_of = "both" if len(firsts) == 2 else f"all {number_word(len(firsts))}"
        verb = "is" if len(shared) == 1 else "are"
        return f"{some(sorted(shared))} {verb} first by {all_of} measures"
    measures_of: dict[tuple[str, ...], list[str]] = {}
    for measure, runs in firsts.items():
        measures_of.setdefault(tuple(runs), []).append(measure)
    (leaders, by), *others = measures_of.items()
    verb = "is" if len(leaders) == 1 else "are"
    parts = [f"{some(runs)} by {listed(their)}" for runs, their in others]
    return ", ".join([f"{some(leaders)} {verb} first by {listed(by)}", *parts])


def _leaderboard_table(scores: Scores, result: CompareResult) -> Table:
    measure = scores.measures[0]
    matrix = scores.matrix(measure)
    means = np.stack([adjusted_means(values) for values in scores.values])
    ranks = ranks_of(means[0])
    known = expected_means(matrix)
    intervals, expected = intervals_as_picked(matrix, 1 - result.alpha, known), known.mean
    compared = {run: i for i, run in enumerate(result.runs)}
    info = {key: [str(value) for value in scores.run_info.get(key, [])] for key in FILTERS}
    info = {key: values for key, values in info.items() if any(values)}
    against = {i: whole(n) for i, n in enumerate(result.n_better.tolist())}
    if result.baseline is not None:
        against = {i: name(word) for i, word in against_baseline(result).items()}
    rows: list[dict[str, Any]] = []
    for run in np.argsort(ranks, kind="stable").tolist():
        i = compared.get(scores.runs[run], -1)
        row = {"": whole(ranks[run]), "run": name(scores.runs[run])}
        row |= {key: name(values[run]) for key, values in info.items()}
        row |= {measure: number(means[0, run])}
        row |= {f"{1 - result.alpha:.0%} interval": span(intervals[run])}
        row |= {"expected": number(expected[run])}
        if result.baseline is None:
            ends = "{} to {}".format(*result.rank_set[i])
            row["ranks"] = Cell(ends, ends) if i >= 0 else NOT_COMPARED
            row["tier"] = whole(result.tier[i]) if i >= 0 else NOT_COMPARED
        title = "better than" if result.baseline is None else "against the baseline"
        row |= {title: against.get(i, NOT_COMPARED)}
        if result.letters:
            row["group"] = name(result.letters[i]) if i >= 0 else NOT_COMPARED
        others = zip(scores.measures[1:], means[1:, run], strict=True)
        rows.append(row | {other: number(mean) for other, mean in others})
    caption = f"Runs by mean {measure} over {counted(matrix.shape[1], 'topic', form=',')}."
    if result.baseline is None:
        caption += f" Ranks and tiers: each run's own comparisons, {rank_words(result)}."
    if len(result.runs) < len(scores.runs):
        caption += f" Compared pair by pair: the best {len(result.runs):,}."
    header, cells = list(rows[0]), [list(row.values()) for row in rows]
    made = table("leaderboard", caption, header, cells)
    return replace(made, picks=1, filter_by=tuple(range(2, 2 + len(info))))


PART = Part(
    title="Leaderboard",
    question="Who leads, and who might?",
    means=(
        "Runs are ordered by their mean over topics. All pairs of runs, or all runs and the "
        "baseline, are compared by paired tests that are corrected together; letters, marks and "
        "intervals of differences follow from these. The ranks of a run, its tier and whether it "
        "could be first follow from its comparisons with all others, corrected for these alone."
    ),
    means_not=(
        "Runs whose intervals overlap may differ significantly: topics are hard or easy for all "
        "runs, which the paired tests take into account and the intervals of means do not. Runs "
        "that share a letter are not necessarily equal. The same scores selected the leader and "
        "gave its mean, so that its mean on new topics is expected to be lower."
    ),
    body=_body,
    run=lambda job: job.material.scores,
    is_read=True,
    is_required=True,
)


def _why_not(material: Material) -> str:
    if not has_instances(material.scores):
        return "no system has several runs: name systems with --system-from or --run-info"
    n = len(named_systems(material.scores))
    if n < 2:
        return "all runs are instances of one system: a comparison requires two systems"
    return "" if n <= MOST_COMPARED else f"{n:,} systems are more than {MOST_COMPARED}"


def _run(job: Job) -> CompareResult:
    given, scores = job.material.settings, job.material.scores
    systems = named_systems(scores)
    settings = CompareSettings(
        test="mixed",
        baseline=given.baseline if given.baseline in systems else None,
        alpha=given.alpha,
        jobs=job.machine.jobs,
        seed=seed_from(given.seed),
    )
    (result,) = compare_each(scores.select(measures=job.material.measure), settings, by="system")
    return result


def _front(result: CompareResult, findings: Findings) -> Front:
    # The cautions about the scores are those of the comparison of runs.
    made = front(result, n_runs=len(result.runs), study="systems", link="systems")
    return replace(made, cautions=(), assumption=assumption([result]))


SYSTEMS = View(
    words=Words(
        title="Systems",
        question="Which system leads, over its runs?",
        means=(
            "Runs of one system are instances of it, such as seeds, and its score is the mean over "
            "them. A mixed model treats topics and instances as random, so decisions are about "
            "other topics and other instances."
        ),
        means_not="The best single run may be of another system: it is partly the luckiest.",
    ),
    findings=lambda results: [replace(first(results[0], 3), id="systems.first")],
    tables=(replace(RUNS, id="systems-board"), replace(AGAINST, id="systems-against")),
    fields=lambda results: {},
)

SYSTEMS_PART = part_of(
    SYSTEMS, run=_run, why_not=_why_not, subject_of=lambda result: [result], front=_front
)

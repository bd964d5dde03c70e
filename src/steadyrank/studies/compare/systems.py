"""The section of a report about systems with several runs each: the page's verdict is theirs."""

from __future__ import annotations

from dataclasses import replace

from steadyrank.compute.random import seed_from
from steadyrank.present.view import View, Words
from steadyrank.stats.instances.mixed_tests import has_instances
from steadyrank.studies.compare.assumptions import assumption
from steadyrank.studies.compare.correcting import CompareSettings
from steadyrank.studies.compare.front import front
from steadyrank.studies.compare.result import CompareResult
from steadyrank.studies.compare.study import compare_each
from steadyrank.studies.compare.view import AGAINST, RUNS, first
from steadyrank.studies.material import MOST_COMPARED, Material, named_systems
from steadyrank.studies.part import Findings, Front, Job, part_of


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
    # What must be known of the scores, the study of runs says.
    made = front(result, n_runs=len(result.runs), study="systems", link="systems")
    return replace(made, cautions=(), assumption=assumption([result]))


VIEW = View(
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

PART = part_of(VIEW, run=_run, why_not=_why_not, subject_of=lambda result: [result], front=_front)

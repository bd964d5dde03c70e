"""How a report runs `judges`."""

from __future__ import annotations

import numpy as np

from steadyrank.data.scores import mean_of_present
from steadyrank.present.view import Finding
from steadyrank.stats.run_means import share_turned
from steadyrank.studies.judge_scores import JudgeInput
from steadyrank.studies.judges.inputs import AuditSettings
from steadyrank.studies.judges.result import JudgesResult
from steadyrank.studies.judges.study import judge_scores
from steadyrank.studies.judges.view import VIEW
from steadyrank.studies.material import Material
from steadyrank.studies.part import Findings, Front, Job, part_of
from steadyrank.studies.two_runs import TwoRuns, decided, signed_texts, values_at
from steadyrank.words import swap_words

FLIPS = 10_000


def _why_not(material: Material) -> str:
    if material.judge_scores:
        return ""
    return f"no other judge was given: {_remedy(material)}"


def _remedy(material: Material) -> str:
    if material.runs is None:
        return "add a column judge with two more judges"
    return "name one with --judge NAME=QRELS"


def _run(job: Job) -> JudgesResult:
    material, settings = job.material, job.material.settings
    human = material.compared.select(measures=material.measure)
    inputs = [
        JudgeInput(
            name=name, scores=scores.select(runs=human.runs), qrels=material.judge_qrels.get(name)
        )
        for name, scores in material.judge_scores.items()
    ]
    asked = AuditSettings(alpha=settings.alpha, minimum_difference=settings.minimum_difference)
    return judge_scores(
        human,
        inputs,
        asked,
        people=material.qrels,
        n_samples=FLIPS,
        jobs=job.machine.jobs,
        seed=settings.seed,
    )


def _front(result: JudgesResult, findings: Findings) -> Front:
    share = swap_share(result)
    text = f"By another judge {swap_words(share, len(result.runs))}."
    return Front(swap=Finding("judges.swap", text, {"share": share}))


def swap_share(result: JudgesResult) -> float:
    """Pairs that one judge orders otherwise than people on the same topics, mean over judges."""
    by_people = result.human.difference
    shares = [share_turned(by_people, judge.on_human_topics.difference) for judge in result.judges]
    return float(mean_of_present(np.array(shares)))


def _of_two(panel: TwoRuns, result: JudgesResult, findings: Findings) -> None:
    place, sign = panel.aligned(result.runs, result.pairs)
    for i, judge in enumerate(result.judges, start=1):
        ranking = judge.corrected
        panel.add(
            f"By judge {judge.judge}, corrected",
            f"{{judge{i}}}, {{judged{i}}}",
            **{
                f"judge{i}": signed_texts(sign * values_at(ranking.difference, place), "+.3f"),
                f"judged{i}": decided(ranking.significant, ranking.pvalue_adjusted, place),
            },
        )


PART = part_of(
    VIEW,
    run=_run,
    why_not=_why_not,
    front=_front,
    varies="Other judges",
    examine=lambda material: "" if material.n_levels("judge") > 1 else _remedy(material),
    of_two=_of_two,
)

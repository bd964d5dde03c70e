"""How a report runs `judges`."""

from __future__ import annotations

from steadyrank.studies.judges.inputs import AuditSettings, JudgeInput
from steadyrank.studies.judges.result import JudgesResult
from steadyrank.studies.judges.study import judge_scores
from steadyrank.studies.judges.view import VIEW
from steadyrank.studies.material import Material
from steadyrank.studies.part import Cost, Job, Shape, part_of

FLIPS = 10_000


def _why_not(material: Material) -> str:
    if material.judge_scores:
        return ""
    return "no other judge was given: name one with --judge NAME=QRELS"


def _cost(shape: Shape) -> Cost:
    return Cost(fixed=0.1 + 8e-4 * shape.n_pairs)


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


PART = part_of(VIEW, run=_run, cost=_cost, why_not=_why_not)

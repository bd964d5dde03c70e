"""The section of a report about judges: what one alone would have said, and what holds."""

from __future__ import annotations

from dataclasses import replace

from steadyrank.present.table import Table
from steadyrank.studies.judges.audit import AuditSettings
from steadyrank.studies.judges.inputs import JudgeInput
from steadyrank.studies.judges.result import JudgesResult
from steadyrank.studies.judges.sentences import (
    NO_REPAIR,
    PEOPLE_NEEDED,
    RANDOM_SAMPLE,
    judge_sentences,
    paper_sentence,
    sample_sentence,
)
from steadyrank.studies.judges.study import judge_scores
from steadyrank.studies.judges.tables import audit_table, plan_table, ranking_table
from steadyrank.studies.material import Material
from steadyrank.studies.part import Body, Cost, Drawing, Findings, Job, Part, Shape

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


def _body(result: JudgesResult, findings: Findings) -> Body:
    """Each judge's sentences, figures and ranking; then the judges side by side."""
    answer: list[str] = []
    figures: list[Drawing] = []
    tables: list[Table] = []
    notes: list[str] = []
    for place, judge in enumerate(result.judges, start=1):
        answer += judge_sentences(result, judge)
        figures += _drawings(result, judge.judge, place)
        tables.append(replace(ranking_table(result, judge), id=f"judge-{place}-ranking"))
        notes += [note for note in (sample_sentence(judge),) if note]
        notes.append(f"For a paper: {paper_sentence(result, judge)}")
    tables.append(replace(audit_table(result), id="judges-audit", shown=50))
    tables.append(replace(plan_table(result), id="judges-plan"))
    return Body(answer=tuple(answer), figures=tuple(figures), tables=tuple(tables), notes=(*notes,))


def _drawings(result: JudgesResult, judge: str, place: int) -> list[Drawing]:
    captions = {
        "ranks": f"Ranks by people, by {judge} corrected, and by {judge} alone.",
        "means": f"Means by {judge} against those by people, on the same topics.",
        "confusion": f"Grades by {judge} for each grade by people.",
        "bias": f"Bias of {judge} by run: only its spread moves ranks.",
        "topics": f"What {judge} saves people.",
    }
    if result.of(judge).confusion is None:
        del captions["confusion"]
    return [
        Drawing(f"judge-{place}-{kind}", caption, result, kind, {"judge": judge})
        for kind, caption in captions.items()
    ]


PART = Part(
    title="Judges",
    question="Would other judges change it?",
    means=(
        "A corrected mean follows the judge's differences as far as they agree with people's "
        "(lambda), and removes the error observed where both have judged. Its intervals and "
        "decisions are valid whatever the judge's errors are; a better judge only makes the "
        "intervals narrower. The judge alone carries no such guarantee."
    ),
    means_not=f"{PEOPLE_NEEDED} {RANDOM_SAMPLE} {NO_REPAIR}",
    body=_body,
    run=_run,
    why_not=_why_not,
    cost=_cost,
)

"""How a report runs `holes`."""

from __future__ import annotations

from steadyrank.errors import InputError
from steadyrank.measures.check import DEPTHS
from steadyrank.studies.holes.measures import parse_holed
from steadyrank.studies.holes.result import HolesResult
from steadyrank.studies.holes.study import holes
from steadyrank.studies.holes.view import VIEW
from steadyrank.studies.material import NO_RUNS, Material
from steadyrank.studies.part import Cost, Job, Shape, part_of


def _why_not(material: Material) -> str:
    if material.runs is None or material.qrels is None:
        return NO_RUNS
    if _measure(material) is None:
        return (
            f"none of the measures ({', '.join(material.scores.measures)}) has bounds over "
            "missing judgments: choose nDCG@k, P@k, AP or RBP with -m"
        )
    measure = parse_holed(_measure(material) or "", material.qrels.max_grade)
    depth = min((d for d in DEPTHS if d >= measure.depth), default=DEPTHS[-1])
    looked_over = () if material.check is None else material.check.runs
    if looked_over and all(row.judged[DEPTHS.index(depth)] >= 1.0 for row in looked_over):
        return f"every document in the top {depth} of every run is judged"
    return ""


def _measure(material: Material) -> str | None:
    """The first measure that has bounds."""
    for text in material.scores.measures:
        try:
            parse_holed(text, material.qrels.max_grade if material.qrels is not None else 1)
        except InputError:
            continue
        return text
    return None


def _cost(shape: Shape) -> Cost:
    cells = shape.n_compared * shape.n_topics
    per_topic = shape.n_documents / max(1, shape.n_runs * shape.n_topics)
    return Cost(
        fixed=0.05 + shape.reading + 4e-6 * shape.n_pairs * shape.n_topics,
        per_sample=5e-4 + 1.5e-6 * cells * max(1.0, per_topic / 1000),
        least=50,
        most=1000,
        noun="completions",
    )


def _run(job: Job) -> HolesResult:
    material, machine = job.material, job.machine
    return holes(
        material.compared_runs,
        material.qrels,
        measure=_measure(material) or "nDCG@10",
        n_samples=job.n_samples,
        scheduler=machine.scheduler,
        reading=machine.progress("runs read"),
        progress=machine.progress("completions of the judgments"),
        **job.common,
    )


PART = part_of(VIEW, run=_run, cost=_cost, why_not=_why_not)

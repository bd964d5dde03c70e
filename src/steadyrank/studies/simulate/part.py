"""How a report runs `simulate`."""

from __future__ import annotations

import math

import numpy as np

from steadyrank.errors import InputError
from steadyrank.present.view import Finding
from steadyrank.studies.material import Material
from steadyrank.studies.part import Findings, Front, Job, Samples, part_of
from steadyrank.studies.simulate.measures import parse_shared
from steadyrank.studies.simulate.study import SimulateResult, simulate
from steadyrank.studies.simulate.view import VIEW, swap
from steadyrank.studies.two_runs import TwoRuns
from steadyrank.words import MISSING, chance


def _why_not(material: Material) -> str:
    if material.runs is None:
        return "requires runs; a table of scores was given"
    if _measure(material) is None:
        return (
            f"none of the measures ({', '.join(material.scores.measures)}) can be simulated: "
            "with -m, name AP, nDCG@10, P@10, RR, RBP or another measure that depends only on "
            "the ranks of relevant documents"
        )
    return "" if len(material.compared.runs) > 1 else "requires two runs to compare"


def _measure(material: Material) -> str | None:
    """The measure that ranks the runs, or else the first that can be simulated."""
    measures = (material.measure, *material.scores.measures)
    return next((text for text in measures if _can_be_simulated(text)), None)


def _can_be_simulated(measure: str) -> bool:
    try:
        parse_shared(measure)
    except InputError:
        return False
    return True


def _run(job: Job) -> SimulateResult:
    material, machine, settings = job.material, job.machine, job.material.settings
    result: SimulateResult = simulate(
        material.compared_runs,
        material.qrels,
        measure=_measure(material) or "AP",
        n_samples=job.n_samples,
        alpha=settings.alpha,
        no_relevant=settings.no_relevant,
        store=machine.store and machine.store / "simulate",
        scheduler=machine.scheduler,
        reading=machine.progress("runs read"),
        progress=machine.progress("simulated collections"),
        **job.common,
    )
    return result


def _beside(result: SimulateResult, findings: Findings) -> list[Finding]:
    """Whether the first two keep their order; or that the ranking measure is another one."""
    ranking = findings.material.measure
    if ranking != result.measure:
        text = f"By {result.measure}: {ranking} cannot be simulated."
        values = {"measure": result.measure, "ranking": ranking}
        return [Finding("simulate.measure", text, values)]
    a, b = np.argsort(-result.raw_mean, kind="stable")[:2].tolist()
    share = float(result.above[a, b])
    if math.isnan(share) or len(result.runs) == 2:
        return []
    first, second = result.runs[a], result.runs[b]
    likely = chance(1.0 - share, result.n_samples)
    text = f"In a second collection, {second} is above {first} with probability {likely}."
    return [Finding("simulate.reversal", text, {"a": first, "b": second, "share": 1.0 - share})]


def _of_two(panel: TwoRuns, result: SimulateResult, findings: Findings) -> None:
    place = {run: i for i, run in enumerate(result.runs)}
    shares = [
        float(result.above[place[a], place[b]]) if a in place and b in place else math.nan
        for a, b in panel.names
    ]
    panel.add(
        f"In other documents (by {result.measure})",
        "{a} is above {b} with probability {kept} in a second document collection",
        kept=[MISSING if math.isnan(one) else chance(one, result.n_samples) for one in shares],
    )


PART = part_of(
    VIEW,
    run=_run,
    samples=Samples(noun="collections", fast=1000, full=10_000),
    why_not=_why_not,
    beside=_beside,
    front=lambda result, findings: Front(swap=swap(result)),
    varies="Other documents",
    examine=lambda material: "" if material.runs else "runs instead of scores",
    of_two=_of_two,
)

"""The studies of a report, one after the other, each with the samples that were planned for it.

A study that finds out that the data are not sufficient says so in its error, which becomes the
page's reason for leaving it out; what a study warns about goes to its section.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steadyrank.errors import InputError
from steadyrank.reporting.budget import ReportPlan
from steadyrank.reporting.inputs import kept_warnings
from steadyrank.stats.pairs.decisions import Decided
from steadyrank.studies.material import Machine, Material, named_systems, named_teams
from steadyrank.studies.part import Findings, Job, Shape
from steadyrank.studies.registry import studies_by_turn


def why_not(material: Material) -> dict[str, str]:
    """Of each study that the data do not support, what it lacks."""
    works_on = f"{material.unit}s"
    reasons = {
        study.name: study.part.why_not(material)
        if study.part.works_on == works_on
        else _other_scores(study.part.works_on)
        for study in studies_by_turn()
    }
    return {study: reason for study, reason in reasons.items() if reason}


def _other_scores(works_on: str) -> str:
    if works_on == "topics":
        return "requires scores per topic; a table of scores per dataset was given"
    return "requires scores on several datasets: give a table of them with --datasets FILE"


def shape_of(material: Material) -> Shape:
    """How large the data are."""
    scores = material.scores
    documents = material.check.runs if material.check else ()
    return Shape(
        n_runs=len(scores.runs),
        n_topics=len(scores.topics),
        n_measures=len(scores.measures),
        n_documents=sum(run.topics * run.deepest for run in documents),
        n_teams=len(named_teams(scores)),
        n_systems=len(named_systems(scores)),
    )


def run_studies(
    material: Material, planned: ReportPlan, why_not: Mapping[str, str], machine: Machine
) -> Findings:
    """Run what was planned; keep results, reasons and warnings apart."""
    results: dict[str, Any] = {}
    reasons = dict(why_not) | {
        name: study.why_not for name, study in planned.studies.items() if study.why_not
    }
    warned: dict[str, tuple[str, ...]] = {}
    # What was odd about the data stands in the first section that has to be there.
    odd, known = material.warnings, set(material.warnings)
    decided: Decided | None = None
    for study in studies_by_turn():
        name, part = study.name, study.part
        if not planned.runs(name):
            continue
        machine.progress(name)
        n_samples = planned.samples(name)
        job = Job(material=material, machine=machine, n_samples=n_samples, decided=decided)
        with kept_warnings() as raised:
            try:
                result = part.run(job)
            except InputError as error:
                if part.is_required or _is_of_the_user(error, machine):
                    raise
                reasons[name] = str(error)
                continue
        if result is not None:
            results[name] = result
        decided = part.decides(result) if part.decides else decided
        about, odd = (odd, ()) if part.is_required else ((), odd)
        warned[name] = (*about, *(warning for warning in raised if warning not in known))
    return Findings(material=material, results=results, why_not=reasons, warnings=warned)


def _is_of_the_user(error: InputError, machine: Machine) -> bool:
    """Whether it is about where to work, not about the data."""
    places = [str(place) for place in (machine.store, machine.scheduler) if place is not None]
    return any(place in str(error) for place in places)

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
from steadyrank.studies.instances.part import n_pairs_of_systems
from steadyrank.studies.material import Machine, Material
from steadyrank.studies.part import Findings, Job, Shape
from steadyrank.studies.pools.part import teams_of
from steadyrank.studies.registry import studies_by_turn

ANSWERS = ("compare", "datasets")
"""Studies without which a page has no answer to lead with."""


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
        n_teams=len(teams_of(scores)),
        n_pairs_of_systems=n_pairs_of_systems(material),
    )


def run_studies(
    material: Material, planned: ReportPlan, why_not: Mapping[str, str], machine: Machine
) -> Findings:
    """Run what was planned; keep results, reasons and warnings apart."""
    results: dict[str, Any] = {}
    if material.leaderboard is None:
        results["evaluate"] = material.scores
    if material.check is not None:
        results["check"] = material.check
    reasons = dict(why_not) | {
        name: study.why_not for name, study in planned.studies.items() if study.why_not
    }
    first = "evaluate" if material.leaderboard is None else "datasets"
    warned: dict[str, tuple[str, ...]] = {first: material.warnings}
    known = set(material.warnings)
    for study in studies_by_turn():
        name, run = study.name, study.part.run
        if run is None or not planned.runs(name):
            continue
        machine.progress(name)
        decided = results["compare"][0] if "compare" in results else None
        n_samples = planned.samples(name)
        job = Job(material=material, machine=machine, n_samples=n_samples, decided=decided)
        with kept_warnings() as raised:
            try:
                results[name] = run(job)
            except InputError as error:
                if name in ANSWERS or _is_of_the_user(error, machine):
                    raise
                reasons[name] = str(error)
        own = tuple(warning for warning in raised if warning not in known)
        warned[name] = (*warned.get(name, ()), *own)
    return Findings(material=material, results=results, why_not=reasons, warnings=warned)


def _is_of_the_user(error: InputError, machine: Machine) -> bool:
    """Whether it is about where to work, not about the data."""
    places = [str(place) for place in (machine.store, machine.scheduler) if place is not None]
    return any(place in str(error) for place in places)

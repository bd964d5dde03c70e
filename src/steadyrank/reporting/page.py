"""The page of a report: the answer first, then the section of every study, in its own words."""

from __future__ import annotations

from collections.abc import Mapping

from steadyrank._version import __version__
from steadyrank.present.figures import own_style
from steadyrank.present.page import Page, PageFigure, Section
from steadyrank.reporting.budget import ReportPlan
from steadyrank.reporting.headline import lead_sentences
from steadyrank.reporting.provenance import provenance
from steadyrank.reporting.settling import combined
from steadyrank.studies.material import Machine
from steadyrank.studies.part import Body, Drawing, Findings
from steadyrank.studies.plotting import figure
from steadyrank.studies.registry import Study, studies_by_place
from steadyrank.words import counted

NOTES: Mapping[str, str] = {
    "max-t correction": (
        "Compares every difference with the largest that chance alone shows among all pairs, by "
        "flipping the signs of topics, so that the chance of any false claim stays below alpha."
    ),
    "ranks": (
        "A run's best possible rank is 1 + the number of runs significantly better than it, its "
        "worst the number of runs less those that it is significantly better than."
    ),
    "expected": (
        "Empirical Bayes estimate of a run's mean on new topics, given how far all runs lie apart."
    ),
    "predictive rate": (
        "The chance that a second experiment on other topics reverses an observed difference."
    ),
    "simulated document collections": (
        "Collections in which each run's relevant and other documents have been drawn anew from "
        "its own scores."
    ),
    "omega squared": "Share of the variance that an effect explains, corrected for chance.",
    "E rho²": "Generalizability coefficient: how well the order of systems is kept.",
    "Phi": "Index of dependability: how well the scores themselves are kept.",
    "tau": "Kendall's rank correlation: 1 for the same order, −1 for the reverse.",
    "power": "The chance that a test finds a difference that is there.",
    "HPD": "The shortest interval that holds a given share of the posterior probability.",
}
"""Terms of the page, explained."""


@own_style()
def make_page(
    planned: ReportPlan, findings: Findings, *, title: str, command: str, machine: Machine
) -> Page:
    """The page of what was found."""
    material, scores = findings.material, findings.material.scores
    studies = studies_by_place()
    before = combined(findings.results)
    progress = machine.progress("sections")
    sections = []
    for place, study in enumerate(studies, start=1):
        sections.append(make_section(study, findings, before.get(study.name)))
        if progress is not None:
            progress(place, len(studies))
    return Page(
        title=title,
        subtitle=(
            f"{counted(len(scores.runs), 'run', form=',')}, "
            f"{counted(len(scores.topics), material.unit, form=',')}, "
            f"{counted(len(scores.measures), 'measure', form=',')}; "
            f"steadyrank {__version__}, seed {material.settings.seed}"
        ),
        lead=lead_sentences(findings.results),
        sections=tuple(sections),
        provenance=provenance(planned, findings),
        command=command,
        notes=NOTES,
    )


def make_section(study: Study, findings: Findings, before: Body | None = None) -> Section:
    """The section of a study, after what several studies say together; or why there is none."""
    name, part, before = study.name, study.part, before or Body()
    if name in findings.why_not:
        why_not = findings.why_not[name]
        return Section(id=name, title=part.title, question=part.question, why_not=why_not)
    own = part.body(findings.results.get(name), findings)
    warned = findings.warnings.get(name, ())
    return Section(
        id=name,
        title=part.title,
        question=part.question,
        answer=(*before.answer, *own.answer),
        means=" ".join([part.means, *own.notes]),
        means_not=part.means_not,
        figures=_drawn([*before.figures, *own.figures]),
        tables=(*before.tables, *own.tables),
        sliders=own.sliders,
        warnings=tuple(warning for warning in warned if warning not in own.repeated),
    )


def _drawn(drawings: list[Drawing]) -> tuple[PageFigure, ...]:
    return tuple(
        made
        for drawing in drawings
        for made in figure(
            drawing.id, drawing.caption, drawing.result, drawing.kind, **drawing.options
        )
    )

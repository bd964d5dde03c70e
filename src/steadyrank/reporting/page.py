"""The page of a report: the answer first, then the section of every study, in its own words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from steadyrank._version import __version__
from steadyrank.errors import InputError
from steadyrank.present.figures import own_style
from steadyrank.present.page import Card, Page, PageFigure, Section
from steadyrank.present.plot_style import rows_height
from steadyrank.present.run_names import RunNames, shown_as
from steadyrank.present.table import Table
from steadyrank.reporting.budget import ReportPlan
from steadyrank.reporting.card import make_card
from steadyrank.reporting.dataset_card import make_dataset_card
from steadyrank.reporting.pairs import make_pairs
from steadyrank.reporting.provenance import provenance
from steadyrank.reporting.settling import combined
from steadyrank.studies.compare.result import CompareResult
from steadyrank.studies.datasets.result import DatasetsResult
from steadyrank.studies.material import Machine, Settings
from steadyrank.studies.part import Body, Drawing, Findings
from steadyrank.studies.plotting import drawing_of, figure
from steadyrank.studies.registry import Study, studies_by_place
from steadyrank.words import counted

NOTES: Mapping[str, str] = {
    "max-t correction": (
        "Compares every difference with the largest difference that chance alone produces "
        "among all pairs, by flipping the signs of topics; a careful t allows for skewed "
        "differences. The probability of any false claim is close to alpha."
    ),
    "All ranks at once": (
        "Who is the best is one question, and needs no correction over runs. The ranks of a table "
        "are right for all runs at once, which is stricter and leaves more runs rank 1."
    ),
    "ranks": (
        "A run's best possible rank is 1 plus the number of runs that are significantly "
        "better than it; its worst is the number of runs minus those that it is significantly "
        "better than."
    ),
    "expected": (
        "Empirical Bayes estimate of a run's mean on new topics, given the spread of all runs."
    ),
    "predictive rate": (
        "The probability that a second experiment on other topics reverses an observed difference."
    ),
    "second document collection": (
        "Other documents of the same kind for the same topics, predicted by resampling those "
        "that were retrieved, topic by topic."
    ),
    "omega squared": "Share of the variance that an effect explains, corrected for bias.",
    "E rho²": "Generalizability coefficient: how reproducible the order of the systems is.",
    "Phi": "Index of dependability: how reproducible the scores themselves are.",
    "tau": "Kendall's rank correlation: 1 for the same order, −1 for the reverse.",
    "power": "The probability that a test detects a true difference.",
    "HPD": "The shortest interval that contains a given share of the posterior probability.",
}
"""Terms of the page, explained."""


PAGE_WIDTH = 9.6
"""Inches of a figure: the width of the page, with letters as large as its text."""

CARD_WIDTH, CARD_RUNS = 4.6, 10
"""Inches of the card's picture, and the runs in it."""

OPEN = ("evaluate", "datasets")
"""Sections that are unfolded at first."""


@own_style()
def make_page(
    planned: ReportPlan,
    findings: Findings,
    *,
    title: str,
    names: RunNames,
    command: str,
    machine: Machine,
) -> Page:
    """The page of what was found; `names` has what it calls the runs."""
    material, scores = findings.material, findings.material.scores
    with shown_as(names):
        sections, card = _sections(findings, machine), _card(findings.results)
    return Page(
        title=title,
        subtitle=(
            f"{counted(len(scores.runs), 'run', form=',')}, "
            f"{counted(len(scores.topics), material.unit, form=',')}, "
            f"{counted(len(scores.measures), 'measure', form=',')}; "
            f"steadyrank {__version__}, seed {material.settings.seed}"
        ),
        lead=card.sentences,
        card=card,
        sections=sections,
        provenance=provenance(planned, findings),
        command=command,
        notes=NOTES,
        names=names,
        pairs=make_pairs(findings.results) if "compare" in findings.results else None,
    )


def _sections(findings: Findings, machine: Machine) -> tuple[Section, ...]:
    studies = studies_by_place()
    before = combined(findings.results)
    progress = machine.progress("sections")
    sections = []
    for place, study in enumerate(studies, start=1):
        sections.append(make_section(study, findings, before.get(study.name)))
        if progress is not None:
            progress(place, len(studies))
    return tuple(sections)


def _card(results: Mapping[str, Any]) -> Card:
    """The card with its picture."""
    main: CompareResult | DatasetsResult = (
        results["datasets"] if "datasets" in results else results["compare"][0]
    )
    kept = min(CARD_RUNS, len(main.runs))
    size = (CARD_WIDTH, rows_height(kept, least=1.4))
    who = f"the first {kept} of {len(main.runs):,} runs" if kept < len(main.runs) else "all runs"
    if isinstance(main, DatasetsResult) or main.baseline is None:
        caption = f"Possible ranks of {who}."
        drawn = figure("card-ranks", caption, main, "ranks", figsize=size, top=kept)
    else:
        caption = f"Differences between {who} and the baseline, with intervals."
        order = main.order[:kept]
        drawn = figure("card-baseline", caption, main, "intervals", figsize=size, order=order)
    card = make_dataset_card(main) if isinstance(main, DatasetsResult) else make_card(results)
    return replace(card, figure=next(iter(drawn), None))


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
        tables=tuple(
            _cut(table, findings.material.settings.top) for table in (*before.tables, *own.tables)
        ),
        sliders=own.sliders,
        warnings=tuple(warned),
        is_open=name in OPEN,
    )


def _cut(table: Table, top: int) -> Table:
    """A table with so many rows at first, unless it has a number of its own."""
    return replace(table, shown=top) if table.shown == Settings().top else table


def _drawn(drawings: list[Drawing]) -> tuple[PageFigure, ...]:
    return tuple(made for drawing in drawings for made in _as_wide_as_the_page(drawing))


def _as_wide_as_the_page(drawing: Drawing) -> list[PageFigure]:
    """As high as the plot needs to be, and wider than that where the page has room."""
    options = dict(drawing.options)
    try:
        width, height = drawing_of(drawing.result, drawing.kind).size(drawing.result)
        options.setdefault("figsize", (max(PAGE_WIDTH, width), height))
    except InputError:
        pass  # `figure` leaves out what has no such plot
    return figure(drawing.id, drawing.caption, drawing.result, drawing.kind, **options)

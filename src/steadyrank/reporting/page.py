"""The page of a report: the answer, the section of each study, and the provenance of its numbers.

The verdict with its line and board is that of the last study that has one. The provenance has the
files with their hashes, versions, settings and samples, but no date, host or folder, so that the
same data give the same page everywhere.
"""

from __future__ import annotations

import importlib.metadata
import math
import os
import platform
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from steadyrank._version import __version__
from steadyrank.errors import InputError
from steadyrank.present.cells import name, table, whole
from steadyrank.present.figures import own_style
from steadyrank.present.page import Bar, FirstScreen, Page, PageFigure, Section
from steadyrank.present.pair_panel import PairPanel
from steadyrank.present.run_names import RunNames, shown_as
from steadyrank.present.table import Cell, Table
from steadyrank.present.view import Finding, weakest
from steadyrank.reporting.budget import ReportPlan
from steadyrank.studies.material import Machine, Material
from steadyrank.studies.part import Body, Drawing, Findings, Front
from steadyrank.studies.plotting import drawing_of, figure
from steadyrank.studies.registry import Study, studies_by_place, studies_by_turn
from steadyrank.words import counted

NOTES: Mapping[str, str] = {
    "max-t correction": (
        "Compares every difference with the largest difference that chance alone produces "
        "among all pairs, by flipping the signs of topics; t is corrected for skewed differences "
        "and has a variance floor. The probability of any false claim is close to alpha."
    ),
    "ranks": (
        "A run's best possible rank is 1 plus the number of runs that are significantly "
        "better than it among its own comparisons; its worst is the number of runs minus those "
        "that it is significantly better than."
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
    "E rho²": "Generalizability coefficient: how reproducible the order of the systems is.",
    "Phi": "Index of dependability: how reproducible the scores themselves are.",
}
"""Terms of the page with their explanations."""


PAGE_WIDTH = 9.6
"""Width of a figure in inches: as wide as the page, with letters as large as its text."""


@own_style()
def make_page(
    planned: ReportPlan,
    findings: Findings,
    *,
    title: str,
    names: RunNames,
    command: str,
    machine: Machine,
) -> tuple[Page, tuple[Finding, ...]]:
    """Return the page and all its findings; `names` has the runs' names as shown."""
    material = findings.material
    with shown_as(names):
        fronts = fronts_of(findings)
        first, said = first_screen(findings, fronts), said_first(fronts)
        sections = []
        for study, body in _bodies(findings, machine):
            said_before = {finding.id for finding in said}
            new = [finding for finding in body.answer if finding.id not in said_before]
            sections.append(make_section(study, findings, replace(body, answer=tuple(new))))
            said += new
    page = Page(
        title=title,
        subtitle=_subtitle(material),
        description=first.verdict,
        first=first,
        sections=tuple(sections),
        provenance=provenance(planned, findings),
        command=command,
        notes=NOTES,
        names=names,
        pairs=two_runs(findings),
    )
    return page, tuple(said)


def _subtitle(material: Material) -> str:
    if material.battles is not None:
        return repr(material.battles).removeprefix("<Battles: ").removesuffix(">")
    scores = material.scores
    runs, topics = counted(len(scores.runs), "run"), counted(len(scores.topics), material.unit)
    return f"{runs} · {topics} · {_measures(scores.measures)}"


def _measures(measures: tuple[str, ...]) -> str:
    first, *others = measures
    return f"{first} first, then {', '.join(others)}" if others else first


def _bodies(findings: Findings, machine: Machine) -> Iterator[tuple[Study, Body]]:
    """Yield the content of each study, in the order of the page; empty if it did not run."""
    studies = [s for s in studies_by_place() if s.is_command or s.name not in findings.why_not]
    progress = machine.progress("sections")
    for place, study in enumerate(studies, start=1):
        ran = study.name not in findings.why_not
        result = findings.results.get(study.name)
        yield study, study.part.body(result, findings) if ran else Body()
        if progress is not None:
            progress(place, len(studies))


def two_runs(findings: Findings) -> PairPanel | None:
    """Return the panel of pairs, which one study creates and others extend."""
    known = [
        (study.part, findings.results[study.name])
        for study in studies_by_turn()
        if study.name in findings.results
    ]
    opened = next((p.two_runs(result, findings) for p, result in known if p.two_runs), None)
    if opened is None:
        return None
    for part, result in known:
        part.of_two(opened, result, findings)
    return opened


def make_section(study: Study, findings: Findings, body: Body) -> Section:
    """Return the section of a study, or the reason why it is omitted."""
    name, part = study.name, study.part
    if name in findings.why_not:
        why_not = findings.why_not[name]
        return Section(id=name, title=part.title, question=part.question, why_not=why_not)
    return Section(
        id=name,
        title=part.title,
        question=part.question,
        answer=tuple(finding.text for finding in body.answer),
        means=" ".join([part.means, *body.notes]),
        means_not=part.means_not,
        figures=tuple(made for one in body.figures for made in _as_wide_as_the_page(one)),
        tables=body.tables,
        warnings=tuple(findings.warnings.get(name, ())),
        is_open=part.is_open,
    )


def _as_wide_as_the_page(drawing: Drawing) -> list[PageFigure]:
    """Draw a figure at least as wide as the page, as high as the plot requires."""
    options = dict(drawing.options)
    try:
        width, height = drawing_of(drawing.result, drawing.kind).size(drawing.result)
        options.setdefault("figsize", (max(PAGE_WIDTH, width), height))
    except InputError:
        pass  # the result has no such plot, and `figure` returns nothing
    return figure(drawing.id, drawing.caption, drawing.result, drawing.kind, **options)


Fronts = Mapping[str, Front]
"""Study to its part of the first screen, in the order in which studies ran."""


def fronts_of(findings: Findings) -> Fronts:
    """Return each study's part of the first screen."""
    return {
        study.name: study.part.front(findings.results[study.name], findings)
        for study in studies_by_turn()
        if study.name in findings.results
    }


def first_screen(findings: Findings, fronts: Fronts) -> FirstScreen:
    """Combine the studies' parts of the first screen."""
    leading = _leading(fronts)
    bars = _bars(fronts)
    n_rows = 0 if leading.board is None else leading.board.n_ranks
    rows = "runs" if findings.material.battles is None else "models"
    rests_on = weakest(front.assumption for front in fronts.values())
    return FirstScreen(
        verdict=leading.verdict.text if leading.verdict else "",
        line=leading.line.text if leading.line else "",
        cautions=tuple(caution.text for front in fronts.values() for caution in front.cautions),
        board=leading.board,
        bars=bars,
        bars_note=f"pairs of {rows} that swap" if n_rows > 2 else "probability that the two swap",
        not_examined=_not_examined(findings, {bar.link for bar in bars}),
        tiles=tuple(tile for front in fronts.values() for tile in front.tiles),
        assumption="" if rests_on is None else rests_on.finding.text,
    )


def said_first(fronts: Fronts) -> list[Finding]:
    """Return all findings of the first screen, the verdict first."""
    leading, rests_on = _leading(fronts), weakest(front.assumption for front in fronts.values())
    swaps = [swap for front in fronts.values() for swap in front.swaps if _share(swap) >= 0.0]
    swaps.sort(key=lambda swap: -swap.values["share"])
    tiles = [tile for front in fronts.values() for tile in front.tiles]
    return [
        *(one for one in (leading.verdict, leading.line) if one is not None),
        *([] if rests_on is None else [rests_on.finding]),
        *(caution for front in fronts.values() for caution in front.cautions),
        *swaps,
        *(Finding(tile.id, f"{tile.figure} {tile.text}.", tile.values) for tile in tiles),
    ]


def _leading(fronts: Fronts) -> Front:
    return next((front for front in reversed([*fronts.values()]) if front.verdict), Front())


def _bars(fronts: Fronts) -> tuple[Bar, ...]:
    made = [
        Bar(
            about=about,
            share=share,
            text=f"{share:.0%}" if share >= 0.005 else "< 1%",
            link=study.name,
        )
        for study in studies_by_turn()
        if study.name in fronts
        for about, swap in (
            (study.part.varies, fronts[study.name].swap),
            *fronts[study.name].more_swaps,
        )
        if not math.isnan(share := _share(swap))
    ]
    return tuple(sorted(made, key=lambda bar: -bar.share))


def _share(swap: Finding | None) -> float:
    return math.nan if swap is None else float(swap.values["share"])


def _not_examined(findings: Findings, examined: Iterable[str]) -> str:
    """List what was not examined, each with the option that would examine it."""
    material = findings.material
    unknown = [
        study
        for study in studies_by_place()
        if study.part.varies and study.name not in examined and study.name in findings.why_not
    ]
    if material.battles is not None:
        return ""
    if material.leaderboard is not None:
        left = ", ".join(_lower(study) for study in unknown if study.is_command)
        return f"Not examined: {left} (report QRELS RUN... on one collection)."
    named = ", ".join(text for study in unknown for text in _how_to_examine(study, material))
    return f"Not examined: {named}." if named else ""


def _how_to_examine(study: Study, material: Material) -> list[str]:
    """Return a study that did not run, with the option for it; nothing if nothing varies."""
    if not study.part.why_not(material):
        return [_lower(study)]  # it failed, and no option helps
    how = study.part.examine(material)
    return [f"{_lower(study)} ({how})"] if how else []


def _lower(study: Study) -> str:
    return study.part.varies[:1].lower() + study.part.varies[1:]


PACKAGES = ("numpy", "scipy", "numba", "matplotlib")

_SHOWN_FILES = 10


def provenance(plan: ReportPlan, findings: Findings) -> tuple[Table, ...]:
    """Return tables of files, samples, settings and versions."""
    material = findings.material
    files = [
        [name(file.role), name(file.path), whole(file.size), name(file.sha256)]
        for file in material.files
    ]
    tables = [
        _samples_table(plan, findings.why_not),
        _settings_table(material, plan),
        _versions_table(),
    ]
    if files:
        header = ["", "file", "bytes", "SHA-256"]
        files_table = table("files-read", "Input files.", header, files, shown=_SHOWN_FILES)
        tables.insert(0, files_table)
    return tuple(tables)


def with_names_alone(material: Material) -> Material:
    """Return the material with files without folders."""
    files = tuple(replace(file, path=Path(file.path).name) for file in material.files)
    settings, reading = material.settings, material.settings.reading
    if reading.run_info is not None:
        settings = replace(settings, reading=replace(reading, run_info=Path(reading.run_info).name))
    if settings.topic_info is not None:
        settings = replace(settings, topic_info=Path(settings.topic_info).name)
    return replace(material, files=files, settings=settings)


def without_folders(command: str) -> str:
    """Remove the folders of files in a command, which then works in a single folder.

    >>> without_folders("steadyrank report /a/qrels.txt 'b/*.run' --judge x=c/d.txt -m P@10")
    "steadyrank report qrels.txt '*.run' --judge x=d.txt -m P@10"
    """
    return shlex.join(map(_name_alone, shlex.split(command)))


def _name_alone(word: str) -> str:
    """Remove the folder of a file, alone or after NAME=; regular expressions stay."""
    head, equals, path = word.rpartition("=")
    is_file = ("/" in path or os.sep in path) and not re.search(r"[\^()$]", path)
    return f"{head}{equals}{Path(path).name}" if is_file else word


def _samples_table(plan: ReportPlan, why_not: Mapping[str, str]) -> Table:
    rows = [
        [
            name(study.name),
            name(study.part.title),
            name("left out" if study.name in why_not else plan.drawn(study) or "no sampling"),
        ]
        for study in studies_by_turn()
    ]
    caption = (
        "Numbers of samples as given."
        if plan.given
        else f"Numbers of samples for a budget of {plan.budget:g} s; they depend only on the "
        "data and the budget."
    )
    return table("samples", caption, ["study", "section", "samples"], rows)


def _settings_table(material: Material, plan: ReportPlan) -> Table:
    settings: dict[str, Any] = {
        "measures": ", ".join(material.scores.measures),
        "runs": len(material.scores.runs),
        f"{material.unit}s": len(material.scores.topics),
        "budget": f"{plan.budget:g} s",
        **{key.replace("_", " "): value for key, value in material.settings.flat().items()},
    }
    rows = [[name(key), Cell(_shown(value))] for key, value in settings.items()]
    return table("settings", "Settings.", ["setting", "value"], rows, shown=50)


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return "not given" if value is None else str(value)  # "none" is a correction


def _versions_table() -> Table:
    versions = {
        "steadyrank": __version__,
        "Python": platform.python_version(),
        **{package: importlib.metadata.version(package) for package in PACKAGES},
    }
    rows = [[name(package), name(version)] for package, version in versions.items()]
    return table("versions", "Versions.", ["package", "version"], rows)

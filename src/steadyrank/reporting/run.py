"""`report`: all studies that the data support, on one page.

The same data, settings and budget give the same page, byte for byte. If the data are not sufficient
for a study, the page shows its error as the reason why it is omitted. Warnings of a study are shown
in its section.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Unpack

from steadyrank._version import __version__
from steadyrank.compute.files import check_still_there, write_whole
from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.battles import Battles
from steadyrank.data.interop.objects import scores_in_table
from steadyrank.data.read.run_info import run_called
from steadyrank.data.read.runs import ReadingOptions, make_reading, read_runs
from steadyrank.data.read.sources import PathLike
from steadyrank.data.scores import Scores
from steadyrank.errors import InputError, SteadyrankWarning
from steadyrank.measures.arguments import data_first
from steadyrank.measures.evaluate import Missing, NoRelevant, Ties, may_be_scores
from steadyrank.notebook import Framed, shown_by
from steadyrank.present.json import to_json
from steadyrank.present.page import Page, page_html
from steadyrank.present.run_names import run_names
from steadyrank.present.table import Table, render, text_rows
from steadyrank.present.view import Finding, findings_json
from steadyrank.reporting.budget import DEFAULT_BUDGET, Budget, ReportPlan, make_plan, parse_budget
from steadyrank.reporting.inputs import kept_warnings, read_material, source_file
from steadyrank.reporting.page import make_page, with_names_alone, without_folders
from steadyrank.stats.inputs import check_counts, check_open_unit
from steadyrank.stats.instances.equivalence import check_delta
from steadyrank.stats.pairs.decisions import Decided
from steadyrank.stats.planning.demands import check_positive
from steadyrank.studies.material import Machine, Material, Settings, Told
from steadyrank.studies.part import Findings, Job
from steadyrank.studies.registry import studies_by_turn
from steadyrank.words import by_number

TITLE = "How far can you trust this leaderboard?"

SETTINGS = {field.name for field in fields(Settings)}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
@shown_by("reporting.run:report_text")
class ReportResult(Framed):
    """A report: the page and the results that it shows.

    Examples
    --------
    >>> import os, tempfile
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=20, depth=50, pool_depth=25)
    >>> scores = sr.evaluate(track.runs, track.complete, "AP")
    >>> page = os.path.join(tempfile.mkdtemp(), "report.html")
    >>> result = sr.report(scores=scores, out=page, budget="1s")
    >>> os.path.exists(result.path), "compare" in result.results, "pools" in result.left_out
    (True, True, True)
    """

    page: Page
    path: Path
    command: str
    """The command that makes the page again, where one did."""
    findings: tuple[Finding, ...]
    """All findings of the page, those of the first screen first; ids are unique."""
    results: Mapping[str, Any]
    """Study to its result; `compare` and `stability` have one result per measure."""
    left_out: Mapping[str, str]
    """Study to the reason why it is not on the page."""
    n_samples: Mapping[str, int]
    """Study to its number of samples, for studies that sample."""
    seed: int
    """The `rng` that makes the same page again."""

    def __repr__(self) -> str:
        n = len(self.results)
        return f"<ReportResult: {self.path}, {n} {by_number(n, 'study', 'studies')}>"

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    @property
    def sentences(self) -> list[str]:
        """The texts of the findings."""
        return [finding.text for finding in self.findings]

    def rows(self) -> list[dict[str, Any]]:
        """Return one dictionary per finding, the most interesting first."""
        return [{"id": finding.id, "finding": finding.text} for finding in self.findings]

    def _repr_html_(self) -> str:
        from html import escape

        return "".join(f"<p>{escape(sentence)}</p>" for sentence in self.sentences)


@data_first
def report(
    runs: Any = None,
    qrels: Any = None,
    measures: str | Sequence[str] = (),
    *,
    scores: Scores | PathLike | Sequence[PathLike] | Mapping[str, PathLike] | None = None,
    datasets: Any = None,
    out: PathLike = "report.html",
    rel: int | None = None,
    judges: Mapping[str, Any] | None = None,
    budget: Budget = DEFAULT_BUDGET,
    n_samples: int | None = None,
    title: str | None = None,
    test: str = "t",
    correction: str | None = None,
    baseline: str | None = None,
    alpha: float = 0.05,
    delta: float = 0.01,
    minimum_difference: float = 0.05,
    pool_depth: int = 10,
    factors: str | Sequence[str] = (),
    instance_factors: str | Sequence[str] = (),
    topic_info: PathLike | None = None,
    cluster_from: str | None = None,
    by: str | None = None,
    drawn: str = "datasets",
    aggregate: str = "mean",
    missing: Missing = "zero",
    no_relevant: NoRelevant = "zero",
    ties: Ties = "trec_eval",
    runs_in_rows: bool = False,
    lower_is_better: str | Sequence[str] = (),
    higher_is_better: str | Sequence[str] = (),
    form: str | None = None,
    command: str = "",
    store: PathLike | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    announce: Callable[[str], None] | None = None,
    progress: Told | None = None,
    rng: Rng = 0,
    **reading_options: Unpack[ReadingOptions],
) -> ReportResult:
    """Run every study that the data support and write one page about them.

    The page lists the studies that the data do not support, with the reason: `agree` requires
    several measures, `instances` a column `system` in `run_info` (or `system_from`), `components`
    columns of a full grid, `pools` three teams, and `judges` another judge. The page is written as
    a whole or not at all. Warnings of a study appear in its section; oddities of the data are also
    warnings of this function.

    Parameters
    ----------
    runs, qrels : object, optional
        As `evaluate` takes them; or, first and alone, `scores`.
    measures : str or sequence of str
        The first ranks the runs.
    scores : Scores, table or paths, optional
        Instead of runs: a `Scores`, anything that `as_scores` takes, a file, several to join, or
        one wide file per measure, `{"AP": "ap.csv"}`.
    datasets : path, DataFrame or Leaderboard, optional
        Instead of runs: scores of runs on several datasets, as `datasets` takes them.
    out : path
        Where to write the page.
    rel : int, optional
        As in `evaluate`.
    judges : mapping, optional
        Other judges, `{name: judgments}`, who judged the same topics and more; with `scores`, the
        `Scores` of each: as in `judges`.
    budget : str or float
        A time such as "90s", "2m" or "1h". Below a minute, or with very large data, studies draw
        fewer samples. It is a plan and not a limit.
    n_samples : int, optional
        Number of samples of every study, at most twice its full number.
    title : str, optional
        Title of the page.
    test, correction, baseline : str, optional
        How pairs of runs are compared, as in `compare`; all marks, letters, ranks and intervals of
        the page depend on it. With a baseline, every run is compared only with it.
    alpha : float
        Level of tests and intervals.
    delta : float
        Margin of equivalence in `instances`.
    minimum_difference : float
        Difference that `plan` is to detect.
    pool_depth : int
        As in `pools`.
    factors, instance_factors : str or sequence of str
        As in `components` (by default all columns that make a full grid) and in `instances`.
    topic_info, cluster_from : optional
        As in `evaluate`. Clusters of topics widen intervals in `compare`, `topics` and `plan`.
    by : str, optional
        A column of the topics' information: the section on pairs of runs shows its segments.
    drawn, aggregate : str
        For a leaderboard over datasets, what to resample, "datasets" or "types", and the aggregate
        that ranks its runs, as in `datasets`.
    missing, no_relevant, ties : str
        As in `evaluate`.
    runs_in_rows, lower_is_better, higher_is_better, form : optional
        As in `read_scores`; datasets of a leaderboard have directions as well.
    command : str
        The command that the page shows for making it again.
    store : path, optional
        Folder that keeps finished samples: the same call continues where it was interrupted.
    jobs, scheduler : optional
        As in `evaluate`.
    announce : callable, optional
        Called with each line of the plan, before the studies start.
    progress : callable, optional
        Called with (what, finished, total).
    rng : int, Generator or None
        Seed.
    **reading_options : optional
        `name_from`, `duplicates`, `run_info`, `team_from`, `system_from` and `names`, as in
        `read_runs`. No number depends on `names`; by default, the page omits the common parts of
        the runs' names.

    Returns
    -------
    ReportResult
        The path of the page, its findings, the results of all studies by name (`results`), and the
        reasons why others were omitted (`left_out`).

    Examples
    --------
    >>> import steadyrank as sr, tempfile, os
    >>> track = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=20, depth=50, pool_depth=25)
    >>> scores = sr.evaluate(track.runs, track.complete, "AP")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = sr.report(scores, out=os.path.join(folder, "r.html"), budget="1s")
    >>> list(result.results)
    ['evaluate', 'compare', 'stability', 'plan', 'topics']
    >>> result.left_out["agree"]
    'one measure only: name a second with -m'
    """
    chosen = {key: value for key, value in locals().items() if key in SETTINGS}
    seed = seed_from(rng)
    names = reading_options.get("names")
    target = check_target(out)
    if qrels is scores is datasets is None and (isinstance(runs, Battles) or may_be_scores(runs)):
        runs, scores = None, runs
    if (held := scores_in_table(scores)) is not None:
        scores = held
    to_read = None if runs is None else read_runs(runs, **reading_options)
    several = ("factors", "instance_factors", "lower_is_better", "higher_is_better")
    chosen |= {key: _names(chosen[key]) for key in several}
    reading = make_reading(reading_options) if to_read is None else to_read.reading
    settings = Settings(**chosen, reading=reading, seed=seed)
    if datasets is None and (drawn, aggregate) != ("datasets", "mean"):
        raise InputError("drawn and aggregate are about a leaderboard: give datasets")
    seconds = _check(settings, budget, n_samples)
    machine = Machine(
        jobs=jobs, scheduler=scheduler, store=None if store is None else Path(store), told=progress
    )
    data: Any = {"scores": scores, "datasets": datasets, "judges": judges or {}}
    data |= {"measures": _names(measures), "settings": settings}
    material = read_material(to_read, qrels, **data, machine=machine)
    own = material.own_names
    if baseline is not None and baseline not in material.scores.runs:
        baseline = {before: name for name, before in own.items()}.get(baseline, baseline)
    settings = replace(settings, baseline=run_called(baseline, material.scores))
    material = replace(material, settings=settings)
    shown = run_names(material.scores.runs, own, material.scores.measures)
    if isinstance(names, (str, os.PathLike)):
        names_file = source_file("names of runs", Path(names))
        material = replace(material, files=(*material.files, names_file))
    lacking = why_not(material)
    size = len(material.scores.runs), len(material.scores.topics)
    planned = make_plan(*size, budget=seconds, why_not=lacking, n_samples=n_samples)
    if announce is not None:
        for line in filter(None, [material.read_as, *planned.lines()]):
            announce(line)
    findings = run_studies(material, planned, lacking, machine)
    findings = replace(findings, material=with_names_alone(material))
    page, said = make_page(
        planned,
        findings,
        title=title or TITLE,
        names=shown,
        command=without_folders(command),
        machine=machine,
    )
    check_still_there(target.parent)
    write_whole(target, page_html(page))
    for sentence in material.warnings:
        warnings.warn(sentence, SteadyrankWarning, stacklevel=2)
    return ReportResult(
        page=page,
        path=target,
        command=command,
        findings=tuple(said),
        results=findings.results,
        left_out=findings.why_not,
        n_samples={
            name: number
            for name, number in planned.n_samples.items()
            if number and name in findings.results
        },
        seed=seed,
    )


def report_text(result: ReportResult, form: str, **looks: Any) -> str:
    """Return the findings of a report in one of the output formats."""
    if form == "table":
        names = result.page.names
        legend = names.legend("the page has them in full")
        said = [*map(names.text, _terminal_lines(result.page)), *([legend] if legend else [])]
        return "\n".join([*said, f"\nThe page: {result.path}\n"])
    if form == "json":
        return to_json(
            {
                "out": str(result.path),
                "findings": findings_json(result.findings),
                "studies": list(result.results),
                "n_samples": dict(result.n_samples),
                "left_out": dict(result.left_out),
                "command": result.command,
                "version": __version__,
            }
        )
    findings = enumerate(result.sentences, start=1)
    rows = text_rows([str(place), sentence] for place, sentence in findings)
    return render(
        Table(header=["", "finding"], rows=rows, n_names=2, caption=result.path.name), form, **looks
    )


def _names(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(map(str, names))


def _check(settings: Settings, budget: Budget, n_samples: Any) -> float:
    """Check the settings before any study starts; return the budget in seconds."""
    check_open_unit("alpha", settings.alpha)
    check_delta(settings.delta)
    check_positive("minimum_difference", settings.minimum_difference)
    check_counts("pool_depth", settings.pool_depth, lowest=1)
    if n_samples is not None:
        check_counts("n_samples", n_samples, lowest=2)
    return parse_budget(budget)


def check_target(out: PathLike) -> Path:
    """Return the path of the page; refuse it before any study starts."""
    target = Path(out)
    if target.is_dir():
        raise InputError(f"{target}: this is a folder: name a file, such as report.html")
    if not target.parent.is_dir():
        raise InputError(f"{target}: the folder {target.parent} does not exist: create it first")
    return target


def _terminal_lines(page: Page) -> list[str]:
    first = page.first
    if first is None:
        return []
    swaps = ", ".join(f"{bar.about.lower()} {bar.text}" for bar in first.bars)
    note = f"{first.bars_note[:1].upper()}{first.bars_note[1:]}"
    tiles = [f"{tile.figure} {tile.text}." for tile in first.tiles]
    return [
        *first.cautions,
        first.verdict,
        *filter(None, [first.line, first.assumption]),
        *([f"{note}: {swaps}."] if swaps else []),
        *([" ".join(tiles)] if tiles else []),
        *([first.not_examined] if first.not_examined else []),
    ]


def why_not(material: Material) -> dict[str, str]:
    """Return what the data lack, for each study that they do not support."""
    works_on = f"{material.unit}s"
    reasons = {
        study.name: study.part.why_not(material)
        if study.part.works_on == works_on
        else _other_scores(study.part.works_on, material)
        for study in studies_by_turn()
    }
    return {study: reason for study, reason in reasons.items() if reason}


def _other_scores(works_on: str, material: Material) -> str:
    if works_on == "prompts":
        return "requires battles: rows of two models and the winner"
    if material.battles is not None:
        return "requires scores; battles of pairs of models were given"
    if works_on == "topics":
        return "requires scores per topic; a table of scores per dataset was given"
    return "requires scores on several datasets: give a table of them with --datasets FILE"


def run_studies(
    material: Material, planned: ReportPlan, why_not: Mapping[str, str], machine: Machine
) -> Findings:
    """Run the planned studies; return results, reasons of failures, and warnings."""
    results: dict[str, Any] = {}
    reasons = dict(why_not)
    warned: dict[str, tuple[str, ...]] = {}
    # Oddities of the data are shown in the first required section.
    odd, known = material.warnings, set(material.warnings)
    decided: Decided | None = None
    for study in studies_by_turn():
        name, part = study.name, study.part
        if name not in planned.n_samples:
            continue
        machine.progress(name)
        n_samples = planned.n_samples[name]
        job = Job(material=material, machine=machine, n_samples=n_samples, decided=decided)
        with kept_warnings() as raised:
            try:
                result = part.run(job)
            except InputError as error:
                # A folder or a scheduler that cannot be used stops all studies.
                if part.is_required or error.code == "place":
                    raise
                reasons[name] = str(error)
                continue
        if result is not None:
            results[name] = result
        decided = part.decides(result) if part.decides else decided
        about, odd = (odd, ()) if part.is_required else ((), odd)
        warned[name] = (*about, *(warning for warning in raised if warning not in known))
    return Findings(material=material, results=results, why_not=reasons, warnings=warned)

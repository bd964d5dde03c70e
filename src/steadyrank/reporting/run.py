"""`report`: everything that these data say about how far the leaderboard can be trusted.

For whoever has runs and judgments, or scores, and an hour or two minutes: all studies that the
data support, on one page that needs nothing else, with the answer first. The same data, settings
and budget give the same page, byte for byte.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steadyrank._version import __version__
from steadyrank.compute.files import check_still_there, write_whole
from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.read.runs import NameFrom
from steadyrank.data.read.sources import PathLike
from steadyrank.data.run import Duplicates
from steadyrank.data.scores import Scores
from steadyrank.errors import InputError, SteadyrankWarning
from steadyrank.measures.evaluate import Missing, NoRelevant, Ties
from steadyrank.present.page import Page, Section
from steadyrank.present.page_html import page_html
from steadyrank.reporting.budget import DEFAULT_BUDGET, Budget, ReportPlan, make_plan, parse_budget
from steadyrank.reporting.headline import lead_sentences, settling_words
from steadyrank.reporting.inputs import Machine, Material, Settings, Told, read_material
from steadyrank.reporting.needs import shape_of, why_not
from steadyrank.reporting.provenance import library_call, provenance
from steadyrank.reporting.runs_sections import hardest, leaderboard, left_out, pairs, the_files
from steadyrank.reporting.steadiness_sections import (
    documents,
    plan_section,
    stability_section,
    topics_section,
)
from steadyrank.reporting.studies import Findings, run_studies
from steadyrank.reporting.texts import NOTES, TEXTS
from steadyrank.reporting.variation_sections import (
    components_section,
    instances_section,
    measures_section,
    pools_section,
)
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.instances.equivalence import check_delta
from steadyrank.stats.planning.demands import check_positive
from steadyrank.studies.pools.study import check_counts
from steadyrank.words import by_number, counted

TITLE = "How far can you trust this leaderboard?"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ReportResult:
    """A report: the page as it was written, and the results that it shows."""

    page: Page
    path: Path
    findings: tuple[str, ...]
    """Sentences, the most interesting first."""
    results: Mapping[str, Any]
    """Study to what it found: `compare` and `stability` one result a measure, `evaluate` the
    scores."""
    left_out: Mapping[str, str]
    """Study to why it is not on the page."""
    n_samples: Mapping[str, int]
    """Study to how many samples it drew, of those that draw some."""
    seed: int
    """The `rng` that makes the same page again."""

    def __repr__(self) -> str:
        n = len(self.results)
        return f"<ReportResult: {self.path}, {n} {by_number(n, 'study', 'studies')}>"

    def __str__(self) -> str:
        return "\n".join(self.findings)

    def _repr_html_(self) -> str:
        from html import escape

        return "".join(f"<p>{escape(sentence)}</p>" for sentence in self.findings)


def report(
    runs: Any = None,
    qrels: Any = None,
    *,
    scores: Scores | PathLike | Sequence[PathLike] | Mapping[str, PathLike] | None = None,
    out: PathLike = "report.html",
    measures: str | Sequence[str] = (),
    budget: Budget = DEFAULT_BUDGET,
    n_samples: int | None = None,
    title: str | None = None,
    alpha: float = 0.05,
    delta: float = 0.01,
    minimum_difference: float = 0.05,
    pool_depth: int = 10,
    factors: str | Sequence[str] = (),
    instance_factors: str | Sequence[str] = (),
    missing: Missing = "zero",
    no_relevant: NoRelevant = "zero",
    ties: Ties = "trec_eval",
    name_from: NameFrom = "tag",
    duplicates: Duplicates = "error",
    run_info: PathLike | None = None,
    team_from: str | None = None,
    system_from: str | None = None,
    runs_in_rows: bool = False,
    command: str = "",
    store: PathLike | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    announce: Callable[[str], None] | None = None,
    progress: Told | None = None,
    rng: Rng = 0,
) -> ReportResult:
    """Run every study that the data support and write one page about them.

    `runs` and `qrels` as `evaluate` takes them, or `scores`: a `Scores`, a file, several to
    join, or one wide file per measure, `{"AP": "ap.csv"}`. The first of `measures` ranks the runs.
    What the data do not support is on the page with the reason: several measures are needed for
    `agree`, a column `system` in `run_info` (or `system_from`) for `instances`, columns of a full
    grid for `components` (all that make one, unless `factors` names them), three teams for
    `pools`.

    `budget` is a time such as "90s", "2m" or "1h": studies that draw samples draw as many as a
    model of their costs affords, which depends on the data and the budget alone, never on how
    fast this machine happens to be. So it is a plan and no limit: a slow machine takes longer.
    Kernels that compile on first use are not counted. `n_samples` sets the number instead.

    `alpha` is that of tests and intervals, `delta` the margin of equivalence of `instances`,
    `minimum_difference` what `plan` is to find. `store` names a folder that keeps finished
    samples: the same call again takes up where it stopped. `announce` is given what is planned,
    in lines, before it starts; `progress` (what, finished, total) as it goes on. `command` is
    what the page gives as the way to make it again, this call unless given.

    The page is written whole or not at all. What studies warn about stands in their sections;
    warnings are given of what was odd about the data.

    >>> import steadyrank as sr, tempfile, os
    >>> track = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=20, depth=50, pool_depth=25)
    >>> scores = sr.evaluate(track.runs, track.complete, "AP")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = sr.report(scores=scores, out=os.path.join(folder, "r.html"), budget="1s")
    >>> list(result.results)
    ['evaluate', 'compare', 'stability', 'plan', 'topics']
    >>> result.left_out["agree"]
    'one measure only: name a second with -m'
    """
    seed = seed_from(rng)
    settings = Settings(
        alpha=alpha,
        delta=delta,
        minimum_difference=minimum_difference,
        pool_depth=pool_depth,
        factors=_names(factors),
        instance_factors=_names(instance_factors),
        missing=missing,
        no_relevant=no_relevant,
        ties=ties,
        name_from=name_from,
        duplicates=duplicates,
        run_info=run_info,
        team_from=team_from,
        system_from=system_from,
        runs_in_rows=runs_in_rows,
        seed=seed,
    )
    seconds = _check(settings, budget, n_samples)
    target = check_target(out)
    machine = Machine(
        jobs=jobs, scheduler=scheduler, store=None if store is None else Path(store), told=progress
    )
    named = _names(measures)
    call = command or library_call(
        runs,
        qrels,
        scores=scores,
        measures=named,
        budget=budget,
        n_samples=n_samples,
        settings=settings,
    )
    material = read_material(
        runs, qrels, scores=scores, measures=named, settings=settings, machine=machine
    )
    lacking = why_not(material)
    planned = make_plan(shape_of(material), budget=seconds, why_not=lacking, n_samples=n_samples)
    if announce is not None:
        for line in planned.lines():
            announce(line)
    found = run_studies(material, planned, lacking, machine)
    page = make_page(material, planned, found, title=title or TITLE, command=call, machine=machine)
    check_still_there(target.parent)
    write_whole(target, page_html(page))
    for sentence in material.warnings:
        warnings.warn(sentence, SteadyrankWarning, stacklevel=2)
    return ReportResult(
        page=page,
        path=target,
        findings=_findings(page),
        results=found.results,
        left_out=found.why_not,
        n_samples={
            name: study.n_samples
            for name, study in planned.studies.items()
            if study.n_samples and name in found.results
        },
        seed=seed,
    )


def _names(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(map(str, names))


def _check(settings: Settings, budget: Budget, n_samples: Any) -> float:
    """Refuse at once what a study would refuse after an hour; return the budget in seconds."""
    check_open_unit("alpha", settings.alpha)
    check_delta(settings.delta)
    check_positive("minimum difference", settings.minimum_difference)
    check_counts("pool depth", settings.pool_depth, lowest=1)
    if n_samples is not None:
        check_counts("n_samples", n_samples, lowest=2)
    return parse_budget(budget)


def check_target(out: PathLike) -> Path:
    """Where the page goes; refused now rather than when it is finished."""
    target = Path(out)
    if target.is_dir():
        raise InputError(f"{target}: this is a folder: name a file in it, such as report.html")
    if not target.parent.is_dir():
        raise InputError(f"{target}: the folder {target.parent} does not exist: make it first")
    return target


def make_page(
    material: Material,
    planned: ReportPlan,
    found: Findings,
    *,
    title: str,
    command: str,
    machine: Machine,
) -> Page:
    """The page of what was found."""
    scores = material.scores
    names = list(TEXTS)
    tell = machine.progress("sections")
    sections = []
    for place, study in enumerate(names, start=1):
        sections.append(_section(study, material, found))
        if tell is not None:
            tell(place, len(names))
    return Page(
        title=title,
        subtitle=(
            f"{counted(len(scores.runs), 'run', form=',')}, "
            f"{counted(len(scores.topics), 'topic', form=',')}, "
            f"{counted(len(scores.measures), 'measure', form=',')}; steadyrank {__version__}, seed "
            f"{material.settings.seed}"
        ),
        lead=lead_sentences(found.results),
        sections=tuple(sections),
        provenance=provenance(material, planned, found.why_not),
        command=command,
        notes=NOTES,
    )


def _section(study: str, material: Material, found: Findings) -> Section:
    if study in found.why_not:
        return left_out(study, found.why_not[study])
    results, odd = found.results, found.warnings.get(study, ())
    made: dict[str, Callable[[], Section]] = {
        "evaluate": lambda: leaderboard(material.scores, results["compare"][0], odd),
        "compare": lambda: pairs(results["compare"], odd),
        "simulate": lambda: documents(results["simulate"], measure=material.measure, warnings=odd),
        "topics": lambda: topics_section(results["topics"], odd),
        "agree": lambda: measures_section(results["agree"], odd),
        "instances": lambda: instances_section(results["instances"], odd),
        "components": lambda: components_section(results["components"], odd),
        "plan": lambda: plan_section(
            results["plan"],
            results["compare"][0],
            results.get("topics"),
            settling=settling_words(results),
            warnings=odd,
        ),
        "stability": lambda: stability_section(results["stability"], odd),
        "pools": lambda: pools_section(results["pools"], odd),
        "hardest": lambda: hardest(material.scores),
        "check": lambda: the_files(results["check"]),
    }
    return made[study]()


def _findings(page: Page) -> tuple[str, ...]:
    """The lead, then the first sentence of every section that says something else."""
    first = [
        section.answer[0]
        for section in page.sections
        if section.answer and section.id != "evaluate"
    ]
    return tuple(dict.fromkeys([*page.lead, *first]))

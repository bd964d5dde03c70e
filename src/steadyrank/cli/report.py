"""`steadyrank report`: all studies that the data support, on one page."""

from __future__ import annotations

import contextlib
import shlex
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steadyrank.cli.inputs import files_by_measure, scores_options, split_assignment
from steadyrank.cli.options import columns_option, measures_option, output_options, together
from steadyrank.cli.output import (
    check_folders,
    choose_format,
    emit,
    progress_bar,
    tell,
    tell_if_compiling,
    told_on_stderr,
)
from steadyrank.errors import InputError

if TYPE_CHECKING:
    from steadyrank.reporting.inputs import Told
    from steadyrank.reporting.run import ReportResult

WITHOUT_EFFECT = ("form", "output", "jobs", "scheduler", "quiet", "store", "out")
"""Options that do not change the page, and where it goes: not in the command that rebuilds it."""


report_options = together(
    click.option(
        "--out",
        metavar="FILE",
        type=click.Path(),
        default="report.html",
        show_default=True,
        help="The page, written whole or not at all.",
    ),
    click.option(
        "--budget",
        metavar="TIME",
        default="2m",
        show_default=True,
        help="Time to plan for: 90s, 2m, 1h. More time, more samples.",
    ),
    click.option(
        "--samples",
        "n_samples",
        type=click.IntRange(min=2),
        metavar="N",
        help="Samples of every study, whatever the budget.",
    ),
    click.option("--title", metavar="TEXT", help="Of the page."),
    click.option(
        "--store",
        metavar="DIR",
        type=click.Path(file_okay=False),
        help="Keep finished samples in DIR, and take up where it stopped.",
    ),
)

study_options = together(
    click.option(
        "--alpha",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=0.05,
        show_default=True,
        help="Level of tests and intervals.",
    ),
    click.option(
        "--delta",
        type=float,
        default=0.01,
        show_default=True,
        help="Margin of equivalence, for systems with instances.",
    ),
    click.option(
        "--minimum-difference",
        type=float,
        default=0.05,
        show_default=True,
        metavar="D",
        help="The difference that planned topics must show.",
    ),
    click.option(
        "--pool-depth",
        type=int,
        default=10,
        show_default=True,
        metavar="N",
        help="Documents of each run that were pooled.",
    ),
    columns_option(
        "--factors", "Run-info columns of components [default: those that make a full grid]."
    ),
    columns_option("--instance-factors", "Run-info columns that instances nest in, largest first."),
)


@click.command("report")
@scores_options
@measures_option
@report_options
@study_options
@output_options
def command(
    files: tuple[str, ...],
    scores_files: tuple[str, ...],
    measures: tuple[str, ...],
    form: str | None,
    output: str | None,
    seed: int,
    quiet: bool,
    out: str,
    **options: Any,
) -> None:
    """Run every study that the data support, and write one page about all of them.

    Takes QRELS RUN... or scores. The first measure ranks the runs. The page needs no network
    and says of every study that it leaves out what would make it possible. What was found is
    also printed, the most interesting first.
    """
    kind = choose_format(form, output)
    check_folders(out, output)
    sources = _sources(files, scores_files, measures)
    with told_on_stderr(quiet), bars(quiet) as progress:
        from steadyrank.reporting.run import report
        from steadyrank.studies.simulate.sampler_kernels import sample_cells

        tell_if_compiling(quiet, None if scores_files else sample_cells)
        result = report(
            **sources,
            out=out,
            command=_rebuilding(),
            announce=None if quiet else announce,
            progress=progress,
            rng=seed,
            **options,
        )
    emit(report_text(result, kind), output)


def _sources(
    files: tuple[str, ...], scores_files: tuple[str, ...], measures: tuple[str, ...]
) -> dict[str, Any]:
    """Runs and qrels, or scores, and the names of measures."""
    named = [split_assignment(measure) for measure in measures]
    by_measure = files_by_measure(named)
    if not scores_files and not by_measure:
        if len(files) < 2:
            raise InputError("give QRELS and at least two RUNs, or --scores FILE")
        return {"runs": list(files[1:]), "qrels": files[0], "measures": measures}
    if files:
        raise InputError("give either QRELS RUN... or scores, not both")
    if scores_files and by_measure:
        raise InputError("give either --scores FILE or -m NAME=FILE, not both")
    if by_measure and len(by_measure) < len(named):
        bare = next(name for name, path in named if path is None)
        raise InputError(f"-m {bare} names no file: write -m {bare}=FILE for each measure")
    one_or_more = scores_files[0] if len(scores_files) == 1 else scores_files
    return {"scores": by_measure or one_or_more, "measures": () if by_measure else measures}


def announce(line: str) -> None:
    """What is planned, on stderr."""
    tell(line)


@contextlib.contextmanager
def bars(quiet: bool) -> Iterator[Told | None]:
    """One bar at a time, a new one whenever something else is being done."""
    if quiet:
        yield None
        return
    with contextlib.ExitStack() as alive:
        now: dict[str, Any] = {"what": None, "bar": None}
        began = time.monotonic()

        def show(what: str, finished: int, total: int) -> None:
            if what != now["what"]:
                alive.close()
                now["bar"] = alive.enter_context(progress_bar(what, quiet, since=began))
                now["what"] = what
            now["bar"](finished, total)

        yield show


def _rebuilding() -> str:
    """The command that makes the same page again, quoted for a shell."""
    context = click.get_current_context()
    words = ["steadyrank", "report"]
    given: list[str] = []
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        if isinstance(parameter, click.Argument):
            given += list(value or ())
        elif _is_told(context, parameter):
            words += _spelled(parameter, value)
    if any(name.startswith("-") for name in given):
        return shlex.join([*words, "--out", "report.html", "--", *given])
    return shlex.join([*words[:2], *given, *words[2:], "--out", "report.html"])


def _is_told(context: click.Context, parameter: click.Parameter) -> bool:
    if parameter.name is None or parameter.name in WITHOUT_EFFECT or not parameter.expose_value:
        return False
    source = context.get_parameter_source(parameter.name)
    return source is not click.core.ParameterSource.DEFAULT


def _spelled(parameter: click.Parameter, value: Any) -> list[str]:
    """An option as it would be typed."""
    option = max(parameter.opts, key=len)
    if getattr(parameter, "is_flag", False):
        return [option] if value else []
    if parameter.multiple and isinstance(value, tuple):
        return [word for each in value for word in (option, str(each))]
    return [option, str(value)]


def report_text(result: ReportResult, form: str) -> str:
    """What was found, in one of the output formats."""
    if form == "table":
        return "\n".join([*result.findings, f"\nThe page: {result.path}\n"])
    if form == "json":
        from steadyrank.present.json import to_json

        return to_json(
            {
                "out": str(result.path),
                "findings": list(result.findings),
                "studies": list(result.results),
                "n_samples": dict(result.n_samples),
                "left_out": dict(result.left_out),
                "command": result.page.command,
            }
        )
    from steadyrank.present.table import Table, render, text_rows

    findings = enumerate(result.findings, start=1)
    rows = text_rows([str(place), sentence] for place, sentence in findings)
    table = Table(header=["", "finding"], rows=rows, n_names=2, caption=f"{Path(result.path).name}")
    return render(table, form)

"""`steadyrank demo`: the whole of it on data that need no download."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steadyrank.cli.command import subcommand
from steadyrank.cli.options import choice_option, folder_option, measures_option, output_options
from steadyrank.cli.output import Output, bars, emit, tell, tell_if_compiling

if TYPE_CHECKING:
    from steadyrank.reporting.run import ReportResult

MOST = 3
"""Findings that are printed; the page has them all."""


@subcommand("demo")
@folder_option("--out", default="steadyrank-demo", help="Write the track and its report to DIR.")
@choice_option(
    "--data",
    ["builtin", "simulated"],
    "Use real text, or a simulated track whose truth is known.",
    default="builtin",
)
@click.option("--data-only", is_flag=True, help="Write only the track, without a report.")
@click.option(
    "--budget",
    metavar="TIME",
    default="45s",
    help="Plan for this much time, such as 45s or 2m; more time means more samples.",
)
@measures_option
@output_options
def command(
    out: str,
    data: Any,
    data_only: bool,
    budget: str,
    measures: tuple[str, ...],
    output: Output,
    seed: int,
    jobs: int | None,
    **unused: Any,
) -> None:
    """Write a track as files, with a report on it, and print the main findings.

    The track is eighteen runs of six teams and eight instances of selective search on the
    built-in collection: docstrings of Python's libraries, sixty topics, and judgments by two
    judges. Try any other command on the files.
    """
    with bars(output.quiet) as progress:
        from steadyrank.data.write.kernels import put_lines

        tell_if_compiling(output.quiet, put_lines)
        from steadyrank.reporting.demo import demo

        result = demo(
            out=out,
            data=data,
            measures=measures,
            budget=budget,
            data_only=data_only,
            jobs=jobs,
            announce=None if output.quiet else tell,
            progress=progress,
            rng=seed,
        )
    if result is None:
        emit(f"The track: {Path(out) / 'qrels.txt'}, {Path(out) / 'runs'}\n", output.path)
    else:
        emit(_text(result, output.format), output.path)


def _text(result: ReportResult, form: str) -> str:
    if form != "table":
        from steadyrank.reporting.run import report_text

        return report_text(result, form)
    lines = [f"{place}. {words}" for place, words in enumerate(result.findings[:MOST], start=1)]
    return "\n".join([*lines, "", f"The page: {result.path}", f"Again: {result.page.command}\n"])

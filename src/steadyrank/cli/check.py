"""`steadyrank check`: what is wrong or odd with these files."""

from __future__ import annotations

import warnings
from typing import Any

import click

from steadyrank.cli import options as opt
from steadyrank.cli.command import subcommand
from steadyrank.cli.output import Output, tell_if_compiling


@subcommand("check")
@opt.qrels_argument
@opt.runs_argument
@opt.name_option
@opt.names_option
@opt.output_options
def command(qrels: str, runs: tuple[str, ...], output: Output, **reading: Any) -> None:
    """Check runs and judgments before computing with them.

    Shows, for each run, the topics that it lacks and those that nobody judged, its depth, the share
    of judged documents at 10 and 100, and tied scores; then lists what is wrong or odd. Exits with
    code 2 if something would make results wrong.
    """
    # Warnings of reading are among the results.
    with warnings.catch_warnings(), output.progress("runs") as progress:
        warnings.simplefilter("ignore")
        from steadyrank.measures.check import check

        tell_if_compiling(output.quiet)
        result = check(list(runs), qrels, jobs=output.jobs, progress=progress, **reading)
    from steadyrank.studies.check.view import VIEW

    output.show(VIEW.text, result)
    if not result.is_sound:
        click.get_current_context().exit(2)
